/* SPDX-License-Identifier: MIT */
/* test_http_parts.c - urls, ranges, dates, types and WebSocket frames, row by row. */
#include "proto/http/gzip.h"
#include "proto/http/range.h"
#include "proto/http/response.h"
#include "proto/http/url.h"
#include "proto/http/ws.h"
#include "serve/http/live.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void paths(void **state)
{
    static const struct {
        const char *in, *out; /* NULL: ERR_HTTP */
    } rows[] = {
        { "/", "/" },
        { "/a/b.flv", "/a/b.flv" },
        { "/a%20b", "/a b" },
        { "/a+b", "/a+b" },          /* '+' is itself in a path */
        { "/%2e%2e/x", NULL },
        { "/../etc/passwd", NULL },
        { "/a/../../x", NULL },
        { "/a/../b", "/b" },
        { "/a/./b/", "/a/b/" },
        { "/a/..", "/" },
        { "/a/b/..", "/a/" },
        { "/a/.", "/a/" },
        { "//a///b", "/a/b" },
        { "/..a/b..", "/..a/b.." },
        { "/a%2fb", "/a/b" },
        { "/%", NULL },
        { "/%2", NULL },
        { "/%zz", NULL },
        { "/%2 ", NULL },
        { "/a%00b", NULL },
        { "/%41%6a", "/Aj" },
        { "a", NULL },
        { "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char path[64];

        (void)snprintf(path, sizeof(path), "%s", rows[i].in);
        assert_err(http_url_path(path), rows[i].out ? ERR_OK : ERR_HTTP);
        if (rows[i].out)
            assert_string_equal(path, rows[i].out);
    }
}

static void params(void **state)
{
    static const struct {
        const char *query, *key, *value;
    } rows[] = {
        { "a=1&b=2", "b", "2" },
        { "a=1&b=2", "c", NULL },
        { "ab=1&b=2", "b", "2" },
        { "b", "b", "" },
        { "b=", "b", "" },
        { "&&b=x&b=y", "b", "x" },
        { "b=x+y%2B", "b", "x y+" },   /* '+' is a space in a query */
        { "b=%4", "b", NULL },
        { "b=1=2", "b", "1=2" },
        { "b=123456789", "b", "1234567" }, /* truncated to the buffer */
        { "", "b", NULL },
    };
    char buf[8];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *got = http_url_param(rows[i].query, rows[i].key, buf, sizeof(buf));

        if (rows[i].value)
            assert_string_equal(got, rows[i].value);
        else
            assert_null(got);
    }
}

static void hosts(void **state)
{
    static const struct {
        const char *in, *out;
        int port;
    } rows[] = {
        { "A.b", "a.b", 0 },           { "a.b:8080", "a.b", 8080 },
        { "[::1]:80", "::1", 80 },     { "[FE80::1]", "fe80::1", 0 },
        { "::1", "::1", 0 },           { "", "", 0 },
        { "a:0", "a", 0 },             { "a:99999", "a", 0 },
        { "a:x", "a", 0 },             { ":80", "", 80 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char host[32];

        (void)snprintf(host, sizeof(host), "%s", rows[i].in);
        assert_int_equal(http_url_host(host), rows[i].port);
        assert_string_equal(host, rows[i].out);
    }
}

static void ranges(void **state)
{
    static const struct {
        const char *text;
        int64_t size;
        enum http_range kind;
        int64_t begin, end;
    } rows[] = {
        { NULL, 100, HTTP_RANGE_ALL, 0, 0 },
        { "bytes=0-0", 100, HTTP_RANGE_PART, 0, 1 },
        { "bytes=0-99", 100, HTTP_RANGE_PART, 0, 100 },
        { "bytes=50-", 100, HTTP_RANGE_PART, 50, 100 },
        { "bytes=-10", 100, HTTP_RANGE_PART, 90, 100 },
        { "bytes=-1000", 100, HTTP_RANGE_PART, 0, 100 },
        { "bytes=99-1000", 100, HTTP_RANGE_PART, 99, 100 },
        { "Bytes = 1-2", 100, HTTP_RANGE_PART, 1, 3 },
        { "bytes=100-", 100, HTTP_RANGE_BAD, 0, 0 },
        { "bytes=-0", 100, HTTP_RANGE_BAD, 0, 0 },
        { "bytes=0-", 0, HTTP_RANGE_BAD, 0, 0 },
        { "bytes=-5", 0, HTTP_RANGE_BAD, 0, 0 },
        { "bytes=99999999999999999999-", 100, HTTP_RANGE_BAD, 0, 0 },
        { "bytes=0-99999999999999999999", 100, HTTP_RANGE_PART, 0, 100 },
        { "bytes=5-4", 100, HTTP_RANGE_ALL, 0, 0 },
        { "bytes=0-1,5-6", 100, HTTP_RANGE_ALL, 0, 0 }, /* several: the whole is a valid answer, too */
        { "bytes=-", 100, HTTP_RANGE_ALL, 0, 0 },
        { "bytes=x-y", 100, HTTP_RANGE_ALL, 0, 0 },
        { "bytes=1", 100, HTTP_RANGE_ALL, 0, 0 },
        { "items=0-1", 100, HTTP_RANGE_ALL, 0, 0 },
        { "bytes", 100, HTTP_RANGE_ALL, 0, 0 },
        { "", 100, HTTP_RANGE_ALL, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t begin = 0, end = 0;

        assert_int_equal(http_range_parse(rows[i].text, rows[i].size, &begin, &end), rows[i].kind);
        assert_int_equal(begin, rows[i].begin);
        assert_int_equal(end, rows[i].end);
    }
}

static void dates(void **state)
{
    static const char *const bad[] = {
        "", "Sun, 06 Nov 1994 08:49:37", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun, 06 Nix 1994 08:49:37 GMT", "Sun, xx Nov 1994 08:49:37 GMT",
        "Sun  06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
    };
    struct http_clock clock = { 0 };
    char buf[HTTP_DATE_SIZE];

    (void)state;
    assert_string_equal(http_date_put(buf, 784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
    for (time_t t = 0; t < 4000000000; t += 86400 * 17 + 12345)
        assert_int_equal(http_date_get(http_date_put(buf, t)), t);
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(http_date_get(bad[i]), -1);
    assert_int_equal(strlen(http_clock_text(&clock)), 29);
    assert_true(time(NULL) - http_date_get(http_clock_text(&clock)) <= 1);
}

static void types(void **state)
{
    (void)state;
    assert_string_equal(http_type_of("/a/b.m3u8"), "application/vnd.apple.mpegurl");
    assert_string_equal(http_type_of("/a/B.TS"), "video/MP2T");
    assert_string_equal(http_type_of("/a.ts/b"), "application/octet-stream");
    assert_string_equal(http_type_of("x"), "application/octet-stream");
    assert_string_equal(http_status_text(404), "Not Found");
    assert_string_equal(http_status_text(999), "Status");
}

static void gzip(void **state)
{
    static char text[20000], back[sizeof(text)];
    z_stream z = { 0 };
    struct wr w;

    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = "the same again "[i % 15];
    wr_init(&w, sizeof(text));
    assert_true(http_gzip(&w, text, sizeof(text)));
    assert_true(w.len < 500);
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_in = w.buf;
    z.avail_in = (uInt)w.len;
    z.next_out = (Bytef *)back;
    z.avail_out = sizeof(back);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_out, 0);
    assert_memory_equal(back, text, sizeof(text));
    (void)inflateEnd(&z);
    wr_free(&w);
    assert_false(http_gzip(&w, "abc", 3)); /* it would be larger */
    wr_free(&w);
}

/* `size` bytes without repetition, like a playlist; a key after each line if `keys`. */
static void write_list(struct wr *w, size_t lines, size_t every, const char *key)
{
    uint32_t x = 1;

    w->len = 0;
    for (size_t i = 0; i < lines; i++) {
        x = x * 1664525 + 1013904223;
        wr_printf(w, "#EXTINF:%u.%03u,\nlive/s-%zu.ts%s", x >> 30, x >> 22, i,
                  i % every == 0 ? "?hls_ctx=" : "");
        if (i % every == 0)
            wr_bytes(w, key, HTTP_GZIP_KEY);
        wr_u8(w, '\n');
    }
}

static void assert_unpacks(uint8_t *packed, size_t n, const struct wr *text)
{
    z_stream z = { .next_in = packed, .avail_in = (uInt)n };
    uint8_t *back = malloc(text->len);

    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_out = back;
    z.avail_out = (uInt)text->len;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END); /* and its CRC is right */
    assert_int_equal(z.avail_in, 0);
    assert_int_equal(z.avail_out, 0);
    assert_memory_equal(back, text->buf, text->len);
    (void)inflateEnd(&z);
    free(back);
}

static void gzip_keyed(void **state)
{
    static const char *const keys[] = { "0123456789abcdefghijklmnopqrstuv",
                                        "00000000000000000000000000000000",
                                        "s-1.ts?hls_ctx=#EXTINF:live/s-2." };
    static const struct {
        size_t lines, every;
    } rows[] = { { 1, 1 }, { 2, 1 }, { 7, 3 }, { 500, 1 }, { 3000, 1 }, { 3000, 100 },
                 { 20000, 1 }, { 3000, 2000 } };
    struct http_gzip_keyed k;
    struct wr text, out;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool near = rows[i].every < 2000; /* within the window of 32 KB */

        wr_init(&text, 4 << 20);
        write_list(&text, rows[i].lines, rows[i].every, http_gzip_hole);
        wr_init(&out, text.len + 100);
        assert_int_equal(http_gzip_keyed(&out, (const char *)text.buf, text.len, &k), near);
        assert_true(!near || rows[i].lines < 100 || out.len < text.len / 4);
        for (size_t n = 0; near && n < 3; n++) {
            write_list(&text, rows[i].lines, rows[i].every, keys[n]);
            http_gzip_fill(out.buf, out.len, &k, keys[n]);
            assert_unpacks(out.buf, out.len, &text);
        }
        wr_free(&out);
        wr_free(&text);
    }
    wr_init(&out, 100);
    assert_false(http_gzip_keyed(&out, "no key", 6, &k));
    wr_free(&out);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* `n` pieces of the text, split by the seed, each followed by one of a client's texts. */
static void pieces_of(struct http_gzip_piece *v, size_t n, size_t size, uint32_t *seed)
{
    for (size_t i = 0; i < n; i++) {
        size_t rest = i + 1 < n ? next_random(seed) % (size / n * 2 + 1) : size;

        v[i] = (struct http_gzip_piece){ .size = (uint32_t)(rest < size ? rest : size),
                                         .own = next_random(seed) % 4 };
        size -= v[i].size;
    }
}

/* As one client gets them, joined and plain. */
static void assert_joins(const struct wr *text, const struct wr *packed,
                         const struct http_gzip_piece *v, size_t n, const struct wr *own)
{
    struct wr plain, joined;
    size_t at = 0;

    wr_init(&plain, 4 << 20);
    wr_init(&joined, 4 << 20);
    for (size_t i = 0; i < n; i++) {
        wr_bytes(&plain, text->buf + at, v[i].size);
        wr_bytes(&plain, own[v[i].own].buf, own[v[i].own].len);
        at += v[i].size;
    }
    assert_int_equal(at, text->len);
    http_gzip_join(&joined, packed->buf, v, n, own);
    assert_int_equal(plain.bad | joined.bad, ERR_OK);
    assert_unpacks(joined.buf, joined.len, &plain);
    wr_free(&plain);
    wr_free(&joined);
}

static void own_texts(struct wr *own, uint32_t *seed)
{
    static const size_t sizes[] = { 0, 1, 43, 65535, 65536, 140000 };

    for (size_t i = 0; i < 4; i++) {
        size_t size = sizes[next_random(seed) % COUNT(sizes)];

        own[i].len = 0;
        while (own[i].len < size)
            wr_u8(&own[i], (uint8_t)(next_random(seed) >> 3));
    }
}

static void gzip_pieces(void **state)
{
    static struct http_gzip_piece v[40];
    struct wr text, packed, own[4];
    uint32_t seed = 7;

    (void)state;
    wr_init(&text, 4 << 20);
    write_list(&text, 300, 1, "0123456789abcdefghijklmnopqrstuv");
    for (size_t i = 0; i < 4; i++)
        wr_init(&own[i], 1 << 20);
    for (size_t round = 0; round < 60; round++) {
        size_t n = 1 + round % COUNT(v);

        pieces_of(v, n, text.len, &seed);
        wr_init(&packed, text.len);
        assert_true(http_gzip_pieces(&packed, (const char *)text.buf, v, n));
        assert_true(packed.len < text.len / 2);
        for (size_t client = 0; client < 3; client++) {
            own_texts(own, &seed);
            assert_joins(&text, &packed, v, n, own);
        }
        wr_free(&packed);
    }
    for (size_t i = 0; i < 4; i++)
        wr_free(&own[i]);
    wr_free(&text);
}

static void gzip_pieces_at_each_cut(void **state)
{
    static const char words[] = "the same again and again and again, the same again and again and "
                                "again, the same again and again and again, and so on and so on.";
    struct wr text = { .buf = (uint8_t *)(uintptr_t)words, .len = sizeof(words) - 1 }, packed;
    struct wr own[1];

    (void)state;
    wr_init(&own[0], 100);
    wr_text(&own[0], "mine");
    for (uint32_t cut = 0; cut <= text.len; cut++) {
        struct http_gzip_piece v[2] = { { .size = cut }, { .size = (uint32_t)text.len - cut } };

        wr_init(&packed, text.len);
        if (http_gzip_pieces(&packed, words, v, 2))
            assert_joins(&text, &packed, v, 2, own);
        else
            assert_true(cut > 8 && cut < text.len - 8); /* two short ones */
        wr_free(&packed);
    }
    wr_init(&packed, 100);
    assert_false(http_gzip_pieces(&packed, "abc", &(struct http_gzip_piece){ .size = 3 }, 1));
    assert_false(http_gzip_pieces(&packed, "", NULL, 0));
    wr_free(&packed);
    wr_free(&own[0]);
}

/* ---- WebSocket */

struct heard {
    struct wr bytes; /* kind, fin, payload, and '|' at the end of each frame */
};

static err_t on_payload(void *arg, const struct http_ws_in *in, const uint8_t *data, size_t size,
                        bool end)
{
    struct heard *h = arg;

    if (in->at == size) {
        wr_u8(&h->bytes, (uint8_t)("0tb56789cpo"[in->op]));
        wr_u8(&h->bytes, in->fin ? '.' : '-');
    }
    wr_bytes(&h->bytes, data, size);
    if (end)
        wr_u8(&h->bytes, '|');
    return NULL;
}

static const struct http_ws_handler handler = { on_payload };

static size_t put_frame(uint8_t *out, enum http_ws_op op, const char *payload, size_t size)
{
    static const uint8_t mask[4] = { 0x11, 0xfe, 0x00, 0x7f };
    size_t n = http_ws_head(out, op, size, mask);

    memcpy(out + n, payload, size);
    http_ws_mask(out + n, size, mask, 0);
    return n + size;
}

static void ws_accept(void **state)
{
    char out[HTTP_WS_KEY_SIZE];

    (void)state;
    assert_true(http_ws_accept("dGhlIHNhbXBsZSBub25jZQ==", out)); /* RFC 6455 1.3 */
    assert_string_equal(out, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_false(http_ws_accept("short", out));
    assert_false(http_ws_accept("", out));
}

static void ws_heads(void **state)
{
    static const uint64_t sizes[] = { 0, 125, 126, 65535, 65536, 1ull << 32 };
    static const size_t heads[] = { 2, 2, 4, 4, 10, 10 };
    uint8_t out[HTTP_WS_HEAD_MAX], mask[4] = { 0 };

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        assert_int_equal(http_ws_head(out, HTTP_WS_BINARY, sizes[i], NULL), heads[i]);
        assert_int_equal(http_ws_head_size(sizes[i], false), heads[i]);
        assert_int_equal(http_ws_head(out, HTTP_WS_BINARY, sizes[i], mask), heads[i] + 4);
        assert_int_equal(http_ws_head_size(sizes[i], true), heads[i] + 4);
    }
}

/* Frames of all kinds and sizes, cut at every byte. */
static void ws_in(void **state)
{
    static char large[300];
    uint8_t bytes[700], copy[700];
    size_t size = 0;

    (void)state;
    memset(large, 'L', sizeof(large));
    size += put_frame(bytes + size, HTTP_WS_TEXT, "hello", 5);
    size += put_frame(bytes + size, HTTP_WS_PING, "", 0);
    size += put_frame(bytes + size, HTTP_WS_BINARY, large, sizeof(large));
    bytes[size] = 0; /* no FIN yet */
    size += put_frame(bytes + size, HTTP_WS_TEXT, "a", 1);
    bytes[size - 7] &= 0x7f;
    size += put_frame(bytes + size, HTTP_WS_PONG, "x", 1); /* between the fragments */
    size += put_frame(bytes + size, HTTP_WS_CONTINUE, "b", 1);
    size += put_frame(bytes + size, HTTP_WS_CLOSE, "\x03\xe8", 2);
    for (size_t cut = 0; cut <= size; cut++) {
        struct http_ws_in in;
        struct heard h;
        char want[400];

        memcpy(copy, bytes, size);
        wr_init(&h.bytes, 4096);
        http_ws_in_init(&in, true, 1000);
        assert_ok(http_ws_feed(&in, copy, cut, &handler, &h));
        assert_ok(http_ws_feed(&in, copy + cut, size - cut, &handler, &h));
        (void)snprintf(want, sizeof(want), "t.hello|p.|b.%.300s|t-a|o.x|0.b|c.\x03\xe8|", large);
        wr_u8(&h.bytes, 0);
        assert_string_equal((char *)h.bytes.buf, want);
        wr_free(&h.bytes);
    }
}

static void ws_bad(void **state)
{
    static const struct {
        uint8_t bytes[14];
        size_t size;
        enum err_code code;
    } rows[] = {
        { { 0x81, 0x01, 'x' }, 3, ERR_HTTP },                   /* not masked */
        { { 0xc1, 0x81, 0, 0, 0, 0 }, 6, ERR_HTTP },            /* a reserved bit */
        { { 0x83, 0x80, 0, 0, 0, 0 }, 6, ERR_HTTP },            /* a reserved kind */
        { { 0x8b, 0x80, 0, 0, 0, 0 }, 6, ERR_HTTP },
        { { 0x09, 0x80, 0, 0, 0, 0 }, 6, ERR_HTTP },            /* a ping in fragments */
        { { 0x89, 0xfe, 0, 126, 0, 0, 0, 0 }, 8, ERR_HTTP },    /* a large ping */
        { { 0x80, 0x80, 0, 0, 0, 0 }, 6, ERR_HTTP },            /* continues nothing */
        { { 0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 14, ERR_HTTP },
        { { 0x82, 0xff, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0 }, 14, ERR_TOO_LARGE },
        { { 0x82, 0xff, 0, 0, 0, 0, 0, 0, 4 }, 9, ERR_OK },     /* reserved */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t copy[14];
        struct http_ws_in in;
        struct heard h;

        memcpy(copy, rows[i].bytes, sizeof(copy));
        wr_init(&h.bytes, 4096);
        http_ws_in_init(&in, true, 1000);
        assert_err(http_ws_feed(&in, copy, rows[i].size, &handler, &h), rows[i].code);
        wr_free(&h.bytes);
    }
}

/* ---- which stream a path means */

static void names(void **state)
{
    static const struct {
        const char *mount, *host, *path, *app, *stream; /* NULL: it does not fit */
    } rows[] = {
        { "[vhost]/[app]/[stream].flv", "h", "/live/s.flv", "live", "s" },
        { "[vhost]/[app]/[stream].flv", "h", "/a/b/s.flv", "a/b", "s" },
        { "[vhost]/[app]/[stream].flv", "h", "/live/a.b.flv", "live", "a.b" },
        { "[vhost]/[app]/[stream].flv", "h", "/s.flv", NULL, NULL },
        { "[vhost]/[app]/[stream].flv", "h", "/live/.flv", NULL, NULL },
        { "[vhost]/[app]/[stream].flv", "h", "//s.flv", NULL, NULL },
        { "[vhost]/[app]/[stream].flv", "h", "/live/s.ts", NULL, NULL },
        { "/[app]/[stream].flv", "h", "/live/s.flv", "live", "s" },
        { "a.b/[app]/[stream].flv", "A.B", "/live/s.flv", "live", "s" },
        { "a.b/[app]/[stream].flv", "h", "/live/s.flv", NULL, NULL },
        { "[vhost]/x/[app]/y-[stream].flv", "h", "/x/live/y-s.flv", "live", "s" },
        { "[vhost]/x/[app]/y-[stream].flv", "h", "/z/live/y-s.flv", NULL, NULL },
        { "[vhost]/[stream]@[app].flv", "h", "/s@live.flv", "live", "s" },
        { "[vhost]/[app]/s.flv", "h", "/live/s.flv", NULL, NULL },
        { "[vhost]/[nix]/[stream].flv", "h", "/live/s.flv", NULL, NULL },
        { "[vhost]/[stream].flv", "h", "/s.flv", "", "s" },
        { "[vhost]/tv/[stream].flv", "h", "/tv/s.flv", "", "s" },
        { "[vhost]", "h", "/live/s.flv", NULL, NULL },
        { "]", "h", "/live/s.flv", NULL, NULL },
        { "/]", "h", "/x]", NULL, NULL },
        { "", "h", "/live/s.flv", NULL, NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct http_live_name n;
        bool ok = http_live_match(rows[i].mount, rows[i].host, rows[i].path, &n);

        assert_int_equal(ok, rows[i].app != NULL);
        if (!ok)
            continue;
        assert_int_equal(n.app_size, strlen(rows[i].app));
        assert_memory_equal(n.app, rows[i].app, n.app_size);
        assert_int_equal(n.stream_size, strlen(rows[i].stream));
        assert_memory_equal(n.stream, rows[i].stream, n.stream_size);
    }
}

static void params_raw(void **state)
{
    size_t n;

    (void)state;
    assert_memory_equal(http_url_param_raw("?a=1&b=2", "b", &n), "2", 1);
    assert_int_equal(n, 1);
    assert_memory_equal(http_url_param_raw("a=1=2&b=2", "a", &n), "1=2", 3);
    assert_int_equal(n, 3);
    assert_null(http_url_param_raw("?a=1&b=2", "c", &n));
    assert_null(http_url_param_raw("?a=&b", "a", &n));
    assert_null(http_url_param_raw("", "a", &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(paths), TEST(params), TEST(params_raw),
        TEST(hosts), TEST(ranges), TEST(dates), TEST(types),
        TEST(gzip), TEST(gzip_keyed), TEST(gzip_pieces),
        TEST(gzip_pieces_at_each_cut), TEST(ws_accept), TEST(ws_heads), TEST(ws_in), TEST(ws_bad), TEST(names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
