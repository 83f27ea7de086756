/* SPDX-License-Identifier: MIT */
/* gzip.c - gzip compression of texts. */
#include "proto/http/gzip.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    LEVEL = 4,             /* half the time of the default 6 for slightly more bytes; the lowest
                            * level at which zlib finds each match within its window */
    WINDOW = 32 * 1024,
    GZIP = 15 + 16,        /* this window, and a gzip header instead of zlib's */
    MEMORY = 8,
};

bool http_gzip(struct wr *out, const void *data, size_t size)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size };
    uint8_t *packed;
    int rc;

    if (size > UINT32_MAX / 2)
        return false;
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    packed = mem_try(size);
    if (!packed) {
        (void)deflateEnd(&z);
        return false;
    }
    z.next_out = packed;
    z.avail_out = (uInt)size;
    rc = deflate(&z, Z_FINISH);
    if (rc == Z_STREAM_END)
        wr_bytes(out, packed, size - z.avail_out);
    (void)deflateEnd(&z);
    free(packed);
    return rc == Z_STREAM_END && !out->bad;
}

/* ---- compressing a text once for clients that each get their own content in it
 * A key of fixed length, in any number of places:
 *     header | text up to the first key, compressed | that key, stored | the rest | CRC, size
 * The rest is compressed with everything before it as its window. The bytes of a hole occur nowhere
 * else, so each later hole becomes a copy of an earlier one, and finally of the client's key. zlib
 * does not guarantee this, so the result is decompressed with a test key before it is used.
 *
 * Texts of any length, in a few places:
 *     header | piece, compressed | client's text, stored | piece | ... | empty block | CRC, size
 * Each piece ends at a byte boundary and refers to nothing before it, so the client's texts may
 * differ.
 *
 * The CRC of the whole is not recomputed for each client, because a CRC is linear. The CRC of a
 * text with a key is the CRC of the text with zeros in its place, plus the key times a constant.
 * The CRC of two pieces is the CRC of the first times a constant that depends only on the second's
 * length, plus the CRC of the second. */

enum {
    SLACK = 64,            /* added to deflateBound(), which does not count flushes */
    STORED = 5,            /* size of the head of a stored block */
    STORED_MOST = 65535,   /* largest content of a stored block: RFC 1951 3.2.4 */
    TRAILER = 8,
    MOST = 1 << 30,
};

static const uint8_t header[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };

#define POLYNOMIAL 0xedb88320u /* CRC-32 polynomial, bits reversed: RFC 1952 8 */

/* No playlist contains control characters or bytes that are not UTF-8. */
const char http_gzip_hole[HTTP_GZIP_KEY + 1] =
    "\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13"
    "\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f\x80\x81\x82";

static const char *find_hole(const char *p, const char *end)
{
    return memmem(p, (size_t)(end - p), http_gzip_hole, HTTP_GZIP_KEY);
}

/* ---- CRC */

/* Multiplies polynomials modulo the CRC polynomial; bit 31 is the constant term. */
static uint32_t times(uint32_t a, uint32_t b)
{
    uint32_t product = 0;

    for (; a; a <<= 1) {
        if (a & 0x80000000u)
            product ^= b;
        b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
    }
    return product;
}

/* CRC without its initial and final inversion: linear in the bytes. */
static uint32_t linear_crc(const uint8_t *p, size_t n)
{
    static const uint8_t zeros[4096];
    uLong crc = crc32(0, p, (uInt)n), none = crc32(0, NULL, 0);

    for (size_t at = 0; at < n; at += sizeof(zeros))
        none = crc32(none, zeros, (uInt)(n - at < sizeof(zeros) ? n - at : sizeof(zeros)));
    return (uint32_t)(crc ^ none);
}

/* Remainder of the key. Its last four bytes are not yet multiplied by x^32. */
static uint32_t remainder_of(const uint8_t *key)
{
    const uint8_t *last = key + HTTP_GZIP_KEY - 4;

    return linear_crc(key, HTTP_GZIP_KEY - 4) ^
           ((uint32_t)last[0] | (uint32_t)last[1] << 8 | (uint32_t)last[2] << 16 |
            (uint32_t)last[3] << 24);
}

/* Computes the CRC of the text with zeros for keys, and the factor: the sum of the factors of a key
 * in all its places, which is the CRC of a text of zeros with a 1 at the end of each place. */
static bool measure(const char *text, size_t size, struct http_gzip_keyed *k)
{
    uint8_t *zeroed = mem_try(size), *ends = mem_try(size);

    if (zeroed && ends) {
        memcpy(zeroed, text, size);
        memset(ends, 0, size);
        for (const char *p = text; (p = find_hole(p, text + size)); p += HTTP_GZIP_KEY) {
            memset(zeroed + (p - text), 0, HTTP_GZIP_KEY);
            ends[p - text + HTTP_GZIP_KEY - 1] = 0x80;
        }
        k->crc = (uint32_t)crc32(0, zeroed, (uInt)size);
        k->factor = linear_crc(ends, size);
        k->size = (uint32_t)size;
    }
    free(zeroed);
    free(ends);
    return zeroed && ends;
}

/* ---- compression */

/* Compresses the text from `from` to `to`, with the text before it as the window. */
static bool put(struct wr *out, const char *text, size_t from, size_t to, int flush)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)(text + from), .avail_in = (uInt)(to - from) };
    size_t window = from < WINDOW ? from : WINDOW, room;
    uint8_t *p;
    int rc;

    if (deflateInit2(&z, LEVEL, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    if (window > 0)
        (void)deflateSetDictionary(&z, (const Bytef *)text + from - window, (uInt)window);
    room = deflateBound(&z, (uLong)(to - from)) + SLACK;
    p = wr_reserve(out, room);
    z.next_out = p;
    z.avail_out = p ? (uInt)room : 0;
    rc = deflate(&z, flush);
    if (p)
        out->len += room - z.avail_out;
    (void)deflateEnd(&z);
    return p && z.avail_in == 0 && rc == (flush == Z_FINISH ? Z_STREAM_END : Z_OK);
}

static bool compress_around(struct wr *out, const char *text, size_t size, size_t hole,
                            struct http_gzip_keyed *k)
{
    static const uint8_t stored[] = { 0, HTTP_GZIP_KEY, 0, 0xff ^ HTTP_GZIP_KEY, 0xff };
    static const uint8_t trailer[TRAILER];

    wr_bytes(out, header, sizeof(header));
    if (hole > 0 && !put(out, text, 0, hole, Z_SYNC_FLUSH))
        return false;
    wr_bytes(out, stored, sizeof(stored));
    k->at = out->len;
    wr_bytes(out, http_gzip_hole, HTTP_GZIP_KEY);
    if (!put(out, text, hole + HTTP_GZIP_KEY, size, Z_FINISH))
        return false;
    wr_bytes(out, trailer, sizeof(trailer));
    return !out->bad;
}

static void put_trailer(uint8_t *at, uint32_t crc, uint32_t size)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t)(crc >> 8 * i);
        at[4 + i] = (uint8_t)(size >> 8 * i);
    }
}

/* ---- check by decompression */

/* Checks that this is the text with the key in all places. zlib checks the CRC. */
static bool is_text(const uint8_t *got, const char *text, size_t size, const char *key)
{
    size_t at = 0;

    for (const char *p = text; (p = find_hole(p, text + size)); p += HTTP_GZIP_KEY) {
        size_t n = (size_t)(p - text) - at;

        if (memcmp(got + at, text + at, n) != 0 || memcmp(got + at + n, key, HTTP_GZIP_KEY) != 0)
            return false;
        at += n + HTTP_GZIP_KEY;
    }
    return memcmp(got + at, text + at, size - at) == 0;
}

/* Fills in a test key, decompresses, and compares. */
static bool reads_back(uint8_t *packed, size_t n, const char *text, size_t size,
                       const struct http_gzip_keyed *k)
{
    static const char key[] = "0aZ1bY2cX3dW4eV5fU6gT7hS8iR9jQkP";
    z_stream z = { .next_in = packed, .avail_in = (uInt)n };
    uint8_t *got = mem_try(size);
    bool same = false;

    http_gzip_fill(packed, n, k, key);
    if (got && inflateInit2(&z, 15 + 16) == Z_OK) {
        z.next_out = got;
        z.avail_out = (uInt)size;
        same = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_out == 0 &&
               is_text(got, text, size, key);
        (void)inflateEnd(&z);
    }
    free(got);
    return same;
}

bool http_gzip_keyed(struct wr *out, const char *text, size_t size, struct http_gzip_keyed *k)
{
    const char *hole = size < MOST ? find_hole(text, text + size) : NULL;
    struct wr w;
    bool good;

    if (!hole)
        return false;
    wr_init(&w, size + size / 8 + 1024);
    good = measure(text, size, k) && compress_around(&w, text, size, (size_t)(hole - text), k) &&
           reads_back(w.buf, w.len, text, size, k);
    if (good)
        wr_bytes(out, w.buf, w.len);
    wr_free(&w);
    return good && !out->bad;
}

void http_gzip_fill(uint8_t *packed, size_t size, const struct http_gzip_keyed *k,
                    const char *key)
{
    uint32_t crc = k->crc ^ times(remainder_of((const uint8_t *)key), k->factor);

    memcpy(packed + k->at, key, HTTP_GZIP_KEY);
    put_trailer(packed + size - TRAILER, crc, k->size);
}

/* ---- pieces */

/* Compresses the pieces of one text. A full flush makes zlib forget what it has seen. */
static bool put_pieces(z_stream *z, const uint8_t *begin, struct http_gzip_piece *v, size_t n)
{
    const uLong one = 0x80000000; /* the polynomial 1: its product is the factor itself */

    for (size_t i = 0; i < n; i++) {
        const Bytef *text = z->next_in;

        z->avail_in = v[i].size;
        if (v[i].size > 0 && (deflate(z, Z_FULL_FLUSH) != Z_OK || z->avail_in > 0 ||
                              z->avail_out == 0))
            return false;
        v[i].end = (uint32_t)(z->next_out - begin);
        v[i].crc = v[i].size > 0 ? (uint32_t)crc32(0, text, v[i].size) : 0;
        v[i].factor = (uint32_t)crc32_combine(one, 0, (z_off_t)v[i].size);
    }
    return true;
}

bool http_gzip_pieces(struct wr *out, const char *text, struct http_gzip_piece *v, size_t n)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)text };
    size_t size = 0, room;
    uint8_t *p = NULL;
    bool good;

    for (size_t i = 0; i < n && size < MOST; i++)
        size += v[i].size;
    if (size >= MOST ||
        deflateInit2(&z, LEVEL, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    room = deflateBound(&z, (uLong)size) + n * SLACK;
    p = mem_try(room);
    z.next_out = p;
    z.avail_out = p ? (uInt)room : 0;
    good = p && put_pieces(&z, p, v, n);
    room -= z.avail_out;
    good = good && room + n * STORED + sizeof(header) + TRAILER < size;
    if (good)
        wr_bytes(out, p, room);
    (void)deflateEnd(&z);
    free(p);
    return good && !out->bad;
}

static void put_stored(struct wr *w, const uint8_t *p, size_t n)
{
    for (size_t now; n > 0; p += now, n -= now) {
        now = n < STORED_MOST ? n : STORED_MOST;
        wr_bytes(w, (const uint8_t[STORED]){ 0, (uint8_t)now, (uint8_t)(now >> 8), (uint8_t)~now,
                                             (uint8_t)(~now >> 8) }, STORED);
        wr_bytes(w, p, now);
    }
}

void http_gzip_join(struct wr *w, const uint8_t *packed, const struct http_gzip_piece *v, size_t n,
                    const struct wr *own)
{
    static const uint8_t last[] = { 3, 0 }; /* an empty block that is also the last one */
    uint8_t trailer[TRAILER];
    uint32_t crc = 0, size = 0, at = 0;

    wr_bytes(w, header, sizeof(header));
    for (size_t i = 0; i < n; i++) {
        const struct wr *text = &own[v[i].own];

        wr_bytes(w, packed + at, v[i].end - at);
        put_stored(w, text->buf, text->len);
        crc = times(v[i].factor, crc) ^ v[i].crc;
        if (text->len > 0)
            crc = (uint32_t)crc32(crc, text->buf, (uInt)text->len);
        size += v[i].size + (uint32_t)text->len;
        at = v[i].end;
    }
    put_trailer(trailer, crc, size);
    wr_bytes(w, last, sizeof(last));
    wr_bytes(w, trailer, TRAILER);
}
