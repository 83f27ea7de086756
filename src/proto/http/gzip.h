/* SPDX-License-Identifier: MIT */
/* gzip.h - gzip compression of texts (RFC 1952). */
#ifndef PROTO_HTTP_GZIP_H
#define PROTO_HTTP_GZIP_H

#include "base/wr.h"

#include <stdbool.h>

/* Appends the compressed text to `out`. Returns false if it would not be smaller or exceeds the
 * limit of `out`, whose content is undefined then. Takes about a millisecond for 32 KB. */
bool http_gzip(struct wr *out, const void *data, size_t size);

/* A text that many clients get, each with its own key in several places, is compressed only once.
 * The text contains http_gzip_hole in each place of a key. The first one becomes a stored block,
 * whose bytes are replaced for each client; the later ones are compressed to references to the
 * first. */
enum { HTTP_GZIP_KEY = 32 };
extern const char http_gzip_hole[HTTP_GZIP_KEY + 1]; /* bytes that occur in no text */

struct http_gzip_keyed {
    size_t at;            /* offset of the key in the compressed form */
    uint32_t crc, factor; /* CRC of the text with zeros for keys, and the factor for the key's
                           * contribution to it */
    uint32_t size;        /* bytes of the text */
};

/* Appends the compressed form to `out`. Returns false as above, or if the text has no hole. A copy
 * is a valid response only after http_gzip_fill(). Takes twice the time of http_gzip(), because the
 * result is decompressed for a check. */
bool http_gzip_keyed(struct wr *out, const char *text, size_t size, struct http_gzip_keyed *k);
/* Puts the key, HTTP_GZIP_KEY bytes, into a copy of the compressed form. */
void http_gzip_fill(uint8_t *packed, size_t size, const struct http_gzip_keyed *k,
                    const char *key);

/* A text that many clients get, each with its own texts of any length in a few places, is cut at
 * these places, and each piece is compressed only once. */
struct http_gzip_piece {
    uint32_t size;        /* bytes of the text; all pieces together are less than 1 GB */
    uint32_t own; /* index, in http_gzip_join(), of the client's text that follows this piece */
    uint32_t end; /* end of the compressed piece; it begins at the end of the previous one */
    uint32_t crc, factor; /* CRC of the piece's text, and the factor it applies to the CRC of
                           * everything before it */
};

/* Appends the compressed pieces of `text` to `out` and sets all fields except `size` and `own`.
 * Returns false as above. Takes the time of http_gzip(). */
bool http_gzip_pieces(struct wr *out, const char *text, struct http_gzip_piece *pieces, size_t n);
/* Appends the response of one client. `packed` is the output of http_gzip_pieces(), own[i] a text
 * of the client, which may be empty. Costs a copy of the compressed form and a CRC of the client's
 * texts. */
void http_gzip_join(struct wr *w, const uint8_t *packed, const struct http_gzip_piece *pieces,
                    size_t n, const struct wr *own);

#endif
