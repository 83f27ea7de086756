/* SPDX-License-Identifier: MIT */
/* gzip.h - compress a text: RFC 1952. */
#ifndef PROTO_HTTP_GZIP_H
#define PROTO_HTTP_GZIP_H

#include "base/wr.h"

#include <stdbool.h>

/* Append the compressed form to `out`. False: it would not be smaller, or is over out's limit;
 * what is in `out` is of no use then. Takes about a millisecond for 32 KB. */
bool http_gzip(struct wr *out, const void *data, size_t size);

/* A text that many clients get with a key of their own in many places, compressed once for all.
 *
 * The text has http_gzip_hole wherever a key goes. Its first one becomes a stored block, whose
 * bytes are replaced for each client; all later ones are compressed to references to that. */
enum { HTTP_GZIP_KEY = 32 };
extern const char http_gzip_hole[HTTP_GZIP_KEY + 1]; /* bytes that no text has */

struct http_gzip_keyed {
    size_t at;            /* of the key in the compressed form */
    uint32_t crc, factor; /* of the text with zeros for keys, and what a key adds to it */
    uint32_t size;        /* of the text */
};

/* Append the compressed form to `out`. False as above, or there is no hole. A copy of it is no
 * answer before http_gzip_fill(). Twice the time of http_gzip(): the result is read back. */
bool http_gzip_keyed(struct wr *out, const char *text, size_t size, struct http_gzip_keyed *k);
/* Put the key, HTTP_GZIP_KEY bytes, into a copy of the compressed form. */
void http_gzip_fill(uint8_t *packed, size_t size, const struct http_gzip_keyed *k,
                    const char *key);

/* A text that many clients get with texts of their own, of any length, in a few places: cut there,
 * and each piece compressed once for all. */
struct http_gzip_piece {
    uint32_t size;        /* bytes of the text; below 1 GB all together */
    uint32_t own;         /* which of the client's texts follows it: an index of http_gzip_join() */
    uint32_t end;         /* of its compressed form, which begins where the one before ends */
    uint32_t crc, factor; /* of its text, and what it multiplies the CRC of all before it by */
};

/* Append the compressed pieces of `text` to `out`, and set all but `size` and `own`. False as
 * above. Takes the time of http_gzip(). */
bool http_gzip_pieces(struct wr *out, const char *text, struct http_gzip_piece *pieces, size_t n);
/* Append what a client gets: `packed` is what http_gzip_pieces() made, own[i] a text of its own,
 * which may be empty. A copy of the compressed form, and a CRC of the client's texts. */
void http_gzip_join(struct wr *w, const uint8_t *packed, const struct http_gzip_piece *pieces,
                    size_t n, const struct wr *own);

#endif
