/* SPDX-License-Identifier: MIT */
/* test_tls_record.c - TLS 1.3 records in memory: those of RFC 8448, and those of peers that
 * break the rules. */
#include "co/net/tls_record.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* RFC 8448 section 3, "Simple 1-RTT Handshake". */
static const uint8_t client_secret[TLS_SECRET] = {
    0x9e, 0x40, 0x64, 0x6c, 0xe7, 0x9a, 0x7f, 0x9d, 0xc0, 0x5a, 0xf8, 0x88, 0x9b, 0xce, 0x65, 0x52,
    0x87, 0x5a, 0xfa, 0x0b, 0x06, 0xdf, 0x00, 0x87, 0xf7, 0x92, 0xeb, 0xb7, 0xc1, 0x75, 0x04, 0xa5,
};
static const uint8_t server_secret[TLS_SECRET] = {
    0xa1, 0x1a, 0xf9, 0xf0, 0x55, 0x31, 0xf8, 0x56, 0xad, 0x47, 0x11, 0x6b, 0x45, 0xa9, 0x50, 0x32,
    0x82, 0x04, 0xb4, 0xf4, 0x4b, 0xfb, 0x6b, 0x3a, 0x4b, 0x4f, 0x1f, 0x3f, 0xcb, 0x63, 0x16, 0x43,
};
static const uint8_t client_key[] = { 0x17, 0x42, 0x2d, 0xda, 0x59, 0x6e, 0xd5, 0xd9,
                                      0xac, 0xd8, 0x90, 0xe3, 0xc6, 0x3f, 0x50, 0x51 };
static const uint8_t client_iv[] = { 0x5b, 0x78, 0x92, 0x3d, 0xee, 0x08,
                                     0x57, 0x90, 0x33, 0xe5, 0x23, 0xd9 };
static const uint8_t client_data[] = {
    0x17, 0x03, 0x03, 0x00, 0x43, 0xa2, 0x3f, 0x70, 0x54, 0xb6, 0x2c, 0x94, 0xd0, 0xaf, 0xfa, 0xfe,
    0x82, 0x28, 0xba, 0x55, 0xcb, 0xef, 0xac, 0xea, 0x42, 0xf9, 0x14, 0xaa, 0x66, 0xbc, 0xab, 0x3f,
    0x2b, 0x98, 0x19, 0xa8, 0xa5, 0xb4, 0x6b, 0x39, 0x5b, 0xd5, 0x4a, 0x9a, 0x20, 0x44, 0x1e, 0x2b,
    0x62, 0x97, 0x4e, 0x1f, 0x5a, 0x62, 0x92, 0xa2, 0x97, 0x70, 0x14, 0xbd, 0x1e, 0x3d, 0xea, 0xe6,
    0x3a, 0xee, 0xbb, 0x21, 0x69, 0x49, 0x15, 0xe4,
};
static const uint8_t server_data[] = {
    0x17, 0x03, 0x03, 0x00, 0x43, 0x2e, 0x93, 0x7e, 0x11, 0xef, 0x4a, 0xc7, 0x40, 0xe5, 0x38, 0xad,
    0x36, 0x00, 0x5f, 0xc4, 0xa4, 0x69, 0x32, 0xfc, 0x32, 0x25, 0xd0, 0x5f, 0x82, 0xaa, 0x1b, 0x36,
    0xe3, 0x0e, 0xfa, 0xf9, 0x7d, 0x90, 0xe6, 0xdf, 0xfc, 0x60, 0x2d, 0xcb, 0x50, 0x1a, 0x59, 0xa8,
    0xfc, 0xc4, 0x9c, 0x4b, 0xf2, 0xe5, 0xf0, 0xa2, 0x1c, 0x00, 0x47, 0xc2, 0xab, 0xf3, 0x32, 0x54,
    0x0d, 0xd0, 0x32, 0xe1, 0x67, 0xc2, 0x95, 0x5d,
};
static const uint8_t client_end[] = {
    0x17, 0x03, 0x03, 0x00, 0x13, 0xc9, 0x87, 0x27, 0x60, 0x65, 0x56, 0x66,
    0xb7, 0x4d, 0x7f, 0xf1, 0x15, 0x3e, 0xfd, 0x6d, 0xb6, 0xd0, 0xb0, 0xe3,
};
static const uint8_t server_end[] = {
    0x17, 0x03, 0x03, 0x00, 0x13, 0xb5, 0x8f, 0xd6, 0x71, 0x66, 0xeb, 0xf5,
    0x99, 0xd2, 0x47, 0x20, 0xcf, 0xbe, 0x7e, 0xfa, 0x7a, 0x88, 0x64, 0xa9,
};

/* A connection, and the keys of its client. */
struct pair {
    struct tls_records *server;
    struct tls_key says, hears;
};

static void begin(struct pair *p, enum tls_suite suite)
{
    p->server = calloc(1, sizeof(*p->server));
    assert_non_null(p->server);
    assert_true(tls_key_init(&p->server->in, suite, client_secret));
    assert_true(tls_key_init(&p->server->out, suite, server_secret));
    assert_true(tls_key_init(&p->says, suite, client_secret));
    assert_true(tls_key_init(&p->hears, suite, server_secret));
}

static void end(struct pair *p)
{
    tls_records_free(p->server);
    tls_key_wipe(&p->says);
    tls_key_wipe(&p->hears);
}

/* Data from the client; returns the size of the record. */
static size_t say(struct pair *p, uint8_t type, const void *data, size_t size, uint8_t *out)
{
    const struct iovec iov = { (void *)(uintptr_t)data, size };
    struct tls_from from = { &iov, 1, 0 };

    assert_true(tls_key_seal(&p->says, type, &from, size, out));
    return size + TLS_MORE;
}

static void numbers(uint8_t data[50])
{
    for (int i = 0; i < 50; i++)
        data[i] = (uint8_t)i;
}

static void vectors(void **state)
{
    uint8_t in[100], out[200], data[50];
    const struct iovec iov[3] = { { data, 7 }, { data + 7, 0 }, { data + 7, 43 } };
    struct tls_from from = { iov, 3, 0 };
    struct tls_got got;
    struct pair p;

    (void)state;
    begin(&p, TLS_AES_128);
    numbers(data);
    assert_memory_equal(p.server->in.key, client_key, sizeof(client_key));
    assert_memory_equal(p.server->in.iv, client_iv, sizeof(client_iv));
    p.server->out.seq = 1; /* a ticket was before it */
    memcpy(in, client_data, sizeof(client_data));
    got = tls_records_read(p.server, in, sizeof(client_data));
    assert_int_equal(got.kind, TLS_DATA);
    assert_int_equal(got.taken, sizeof(client_data));
    assert_int_equal(got.size, 50);
    assert_memory_equal(got.data, data, 50);
    assert_int_equal(tls_records_data(p.server, &from, 50, out), sizeof(server_data));
    assert_memory_equal(out, server_data, sizeof(server_data));
    memcpy(in, client_end, sizeof(client_end));
    assert_int_equal(tls_records_read(p.server, in, sizeof(client_end)).kind, TLS_ENDED);
    assert_int_equal(tls_records_alert(p.server, TLS_CLOSE_NOTIFY, out), sizeof(server_end));
    assert_memory_equal(out, server_end, sizeof(server_end));
    end(&p);
}

static void nothing_before_all_is_there(void **state)
{
    uint8_t in[100];
    struct pair p;

    (void)state;
    begin(&p, TLS_AES_128);
    memcpy(in, client_data, sizeof(client_data));
    assert_int_equal(tls_records_read(p.server, NULL, 0).kind, TLS_PARTIAL);
    for (size_t n = 0; n < sizeof(client_data); n++) {
        uint8_t *cut = malloc(n + 1);

        assert_non_null(cut);
        memcpy(cut, in, n);
        assert_false(tls_records_whole(cut, n));
        assert_int_equal(tls_records_read(p.server, cut, n).kind, TLS_PARTIAL);
        assert_memory_equal(cut, client_data, n);
        free(cut);
    }
    assert_int_equal(tls_records_read(p.server, in, sizeof(client_data)).kind, TLS_DATA);
    end(&p);
}

/* Any other bit is detected; in the length, more data may be required first. */
static void another_bit(void **state)
{
    (void)state;
    for (size_t bit = 0; bit < sizeof(client_data) * 8; bit++) {
        size_t size = sizeof(client_data), byte = bit / 8;
        struct tls_got got;
        struct pair p;
        uint8_t in[100];

        begin(&p, TLS_AES_128);
        memcpy(in, client_data, size);
        in[byte] ^= (uint8_t)(1 << bit % 8);
        got = tls_records_read(p.server, in, size);
        if (byte == 0) {
            assert_int_equal(got.kind, TLS_BAD);
            assert_int_equal(got.alert, TLS_UNEXPECTED_MESSAGE);
        } else if (byte == 3 || byte == 4) {
            assert_true(got.kind == TLS_PARTIAL || got.kind == TLS_BAD);
        } else {
            assert_int_equal(got.kind, TLS_BAD);
            assert_int_equal(got.alert, TLS_BAD_RECORD_MAC);
        }
        if (got.kind == TLS_BAD) { /* and that was all */
            memcpy(in, client_data, size);
            assert_int_equal(tls_records_read(p.server, in, size).kind, TLS_ENDED);
        }
        end(&p);
    }
}

/* The content, with its type after it; seal() adds a byte of padding. */
static void inside(void **state)
{
    static const struct {
        uint8_t size, bytes[16];
        enum tls_kind kind;
        uint8_t alert;
    } rows[] = {
        { 2, { 'x', 23 }, TLS_DATA, 0 },
        { 7, { 'x', 23, 0, 0, 0, 0, 0 }, TLS_DATA, 0 },
        { 1, { 23 }, TLS_NOTHING, 0 },
        { 3, { 0, 0, 0 }, TLS_BAD, TLS_UNEXPECTED_MESSAGE },
        { 0, { 0 }, TLS_BAD, TLS_UNEXPECTED_MESSAGE },
        { 2, { 1, 20 }, TLS_BAD, TLS_UNEXPECTED_MESSAGE },
        { 2, { 1, 24 }, TLS_BAD, TLS_UNEXPECTED_MESSAGE },
        { 2, { 1, 255 }, TLS_BAD, TLS_UNEXPECTED_MESSAGE },
        { 3, { 1, 0, 21 }, TLS_ENDED, 0 },
        { 3, { 2, 0, 21 }, TLS_ENDED, 0 },
        { 3, { 1, 90, 21 }, TLS_NOTHING, 0 },
        { 3, { 2, 40, 21 }, TLS_REFUSED, 40 },
        { 3, { 1, 40, 21 }, TLS_REFUSED, 40 }, /* its level does not matter */
        { 1, { 21 }, TLS_BAD, TLS_DECODE_ERROR },
        { 2, { 2, 21 }, TLS_BAD, TLS_DECODE_ERROR },
        { 5, { 1, 0, 1, 0, 21 }, TLS_BAD, TLS_DECODE_ERROR },
        { 6, { 24, 0, 0, 1, 0, 22 }, TLS_NOTHING, 0 },
        { 6, { 24, 0, 0, 1, 1, 22 }, TLS_ASKS, 0 },
        { 6, { 24, 0, 0, 1, 2, 22 }, TLS_BAD, TLS_ILLEGAL_PARAMETER },
        { 5, { 24, 0, 0, 0, 22 }, TLS_BAD, TLS_DECODE_ERROR },
        { 7, { 24, 0, 0, 2, 0, 0, 22 }, TLS_BAD, TLS_DECODE_ERROR },
        { 6, { 24, 1, 0, 1, 0, 22 }, TLS_BAD, TLS_DECODE_ERROR },
        { 3, { 24, 0, 22 }, TLS_BAD, TLS_DECODE_ERROR },
        { 11, { 24, 0, 0, 1, 0, 24, 0, 0, 1, 0, 22 }, TLS_BAD, TLS_DECODE_ERROR },
        { 1, { 22 }, TLS_BAD, TLS_UNEXPECTED_MESSAGE },
        { 5, { 1, 0, 0, 0, 22 }, TLS_BAD, TLS_UNEXPECTED_MESSAGE },  /* hello */
        { 5, { 4, 0, 0, 0, 22 }, TLS_BAD, TLS_UNEXPECTED_MESSAGE },  /* a ticket */
        { 5, { 11, 0, 0, 0, 22 }, TLS_BAD, TLS_UNEXPECTED_MESSAGE }, /* a certificate */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tls_got got;
        struct pair p;
        uint8_t in[64];
        size_t size;

        begin(&p, TLS_AES_128);
        size = say(&p, 0, rows[i].bytes, rows[i].size, in);
        got = tls_records_read(p.server, in, size);
        if (got.kind != rows[i].kind || got.alert != rows[i].alert)
            fail_msg("row %zu: %d, alert %d", i, got.kind, got.alert);
        if (got.kind == TLS_DATA)
            assert_true(got.size == 1 && *got.data == 'x');
        if (got.kind == TLS_DATA || got.kind == TLS_NOTHING || got.kind == TLS_ASKS)
            assert_int_equal(got.taken, size);
        end(&p);
    }
}

/* Rejected by the header alone, before memory is allocated for it. */
static void heads(void **state)
{
    static const struct {
        uint8_t head[5], alert;
    } rows[] = {
        { { 20, 3, 3, 0, 1 }, TLS_UNEXPECTED_MESSAGE }, { { 21, 3, 3, 0, 2 }, TLS_UNEXPECTED_MESSAGE },
        { { 22, 3, 3, 0, 50 }, TLS_UNEXPECTED_MESSAGE }, { { 'G', 'E', 'T', ' ', '/' }, 10 },
        { { 0x80, 3, 3, 0, 50 }, TLS_UNEXPECTED_MESSAGE },
        { { 23, 3, 3, 0x41, 1 }, TLS_RECORD_OVERFLOW }, { { 23, 3, 3, 255, 255 }, TLS_RECORD_OVERFLOW },
        { { 23, 3, 3, 0, 0 }, TLS_DECODE_ERROR }, { { 23, 3, 3, 0, 16 }, TLS_DECODE_ERROR },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tls_got got;
        struct pair p;
        uint8_t in[5];

        begin(&p, TLS_AES_128);
        memcpy(in, rows[i].head, 5);
        assert_true(tls_records_whole(in, 5));
        got = tls_records_read(p.server, in, 5);
        assert_int_equal(got.kind, TLS_BAD);
        assert_int_equal(got.alert, rows[i].alert);
        end(&p);
    }
}

static void longest(void **state)
{
    static uint8_t data[TLS_CONTENT + 1], in[TLS_CONTENT + 100];
    static const struct {
        size_t size;
        uint8_t type; /* 0: the data ends with it, and has a byte of padding */
        enum tls_kind kind;
    } rows[] = {
        { TLS_CONTENT, 23, TLS_DATA }, { TLS_CONTENT + 1, 23, TLS_BAD },
        { TLS_CONTENT, 0, TLS_DATA },  { TLS_CONTENT + 1, 0, TLS_BAD },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tls_got got;
        struct pair p;

        begin(&p, TLS_AES_128);
        memset(data, 'x', sizeof(data));
        if (rows[i].type == 0)
            data[rows[i].size - 1] = 23;
        got = tls_records_read(p.server, in, say(&p, rows[i].type, data, rows[i].size, in));
        assert_int_equal(got.kind, rows[i].kind);
        if (got.kind == TLS_BAD)
            assert_int_equal(got.alert, TLS_RECORD_OVERFLOW);
        end(&p);
    }
}

/* Consecutive records without data are counted; a byte resets the count. */
static void quiet(void **state)
{
    static const struct {
        uint8_t type, size, bytes[5];
    } rows[] = { { 23, 0, { 0 } }, { 21, 2, { 1, 90 } }, { 22, 5, { 24, 0, 0, 1, 0 } },
                 { 22, 5, { 24, 0, 0, 1, 1 } } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tls_got got;
        uint8_t in[64];
        struct pair p;

        begin(&p, TLS_AES_128);
        for (int k = 0; k < 3 * TLS_QUIET + 4; k++) {
            bool data = k % (TLS_QUIET + 1) == TLS_QUIET && k < 2 * TLS_QUIET + 2;
            size_t n = data ? say(&p, 23, "x", 1, in)
                            : say(&p, rows[i].type, rows[i].bytes, rows[i].size, in);

            got = tls_records_read(p.server, in, n);
            if (!data && rows[i].type == 22 && got.kind != TLS_BAD)
                assert_true(tls_key_next(&p.says));
            if (k < 3 * TLS_QUIET + 2)
                assert_true(data ? got.kind == TLS_DATA
                                 : got.kind == TLS_NOTHING || got.kind == TLS_ASKS);
            else
                assert_int_equal(got.kind, k == 3 * TLS_QUIET + 2 ? TLS_BAD : TLS_ENDED);
        }
        end(&p);
    }
}

/* The client reads what the server wrote: one record. */
static void hear(struct pair *p, uint8_t *record, size_t size, uint8_t type, const void *data)
{
    size_t n = size - TLS_MORE;

    assert_int_equal(record[3] << 8 | record[4], size - TLS_HEAD);
    assert_true(tls_key_open(&p->hears, record, size));
    assert_int_equal(record[TLS_HEAD + n], type);
    assert_memory_equal(record + TLS_HEAD, data, n);
}

static void new_keys(void **state)
{
    static const uint8_t asks[5] = { 24, 0, 0, 1, 1 }, tells[5] = { 24, 0, 0, 1, 0 };

    (void)state;
    for (enum tls_suite s = 0; s < TLS_SUITES; s++) {
        const struct iovec iov = { (void *)(uintptr_t) "hello", 5 };
        uint8_t buf[128];
        struct pair p;

        begin(&p, s);
        for (int i = 0; i < 5; i++) {
            struct tls_from from = { &iov, 1, 0 };
            struct tls_got got = tls_records_read(p.server, buf, say(&p, 22, asks, 5, buf));

            assert_int_equal(got.kind, TLS_ASKS);
            assert_true(tls_key_next(&p.says));
            assert_int_equal(tls_records_update(p.server, buf), TLS_UPDATE);
            hear(&p, buf, TLS_UPDATE, 22, tells);
            assert_true(tls_key_next(&p.hears));
            got = tls_records_read(p.server, buf, say(&p, 23, "x", 1, buf));
            assert_int_equal(got.kind, TLS_DATA);
            assert_int_equal(tls_records_data(p.server, &from, 5, buf), 5 + TLS_MORE);
            hear(&p, buf, 5 + TLS_MORE, 23, "hello");
        }
        end(&p);
    }
}

/* Long before the cipher's limit, keys are updated automatically. */
static void a_key_is_used_up(void **state)
{
    static const uint8_t tells[5] = { 24, 0, 0, 1, 0 };
    const struct iovec iov = { (void *)(uintptr_t) "hello", 5 };
    uint8_t buf[128];
    struct pair p;

    (void)state;
    begin(&p, TLS_AES_128);
    p.server->out.seq = p.hears.seq = TLS_KEY_RECORDS - 1;
    for (int i = 0; i < 3; i++) {
        struct tls_from from = { &iov, 1, 0 };
        size_t n = tls_records_data(p.server, &from, 5, buf), at = 0;

        if (i == 1) {
            hear(&p, buf, TLS_UPDATE, 22, tells);
            assert_true(tls_key_next(&p.hears));
            at = TLS_UPDATE;
        }
        assert_int_equal(n, at + 5 + TLS_MORE);
        hear(&p, buf + at, 5 + TLS_MORE, 23, "hello");
    }
    assert_int_equal(p.server->out.seq, 2);
    end(&p);
}

/* Connections of one thread take turns, each in its own pieces. */
static void many_at_once(void **state)
{
    static uint8_t data[20000], buf[TLS_CONTENT + 100];
    struct pair p[2 * TLS_SUITES];

    (void)state;
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 31 + (i >> 8));
    for (size_t i = 0; i < COUNT(p); i++)
        begin(&p[i], i / 2);
    for (size_t k = 0; k < 300; k++) {
        size_t piece = k * 7 % 500 + 1, size = k * 97 % TLS_CONTENT, count = 0, skip = k * 11 % 600;
        static struct iovec iov[20001];
        struct pair *at = &p[k * 5 % COUNT(p)];
        struct tls_from from = { iov, 0, skip };
        struct tls_got got;

        for (size_t b = 0; b < sizeof(data); b += piece)
            iov[count++] = (struct iovec){ data + b,
                                           sizeof(data) - b < piece ? sizeof(data) - b : piece };
        from.count = (int)count;
        assert_int_equal(tls_records_data(at->server, &from, size, buf), size + TLS_MORE);
        hear(at, buf, size + TLS_MORE, 23, data + skip);
        got = tls_records_read(at->server, buf, say(at, 23, data + k, k + 1, buf));
        assert_int_equal(got.kind, TLS_DATA);
        assert_int_equal(got.size, k + 1);
        assert_memory_equal(got.data, data + k, k + 1);
    }
    for (size_t i = 0; i < COUNT(p); i++)
        end(&p[i]);
}

static void an_alert_is_the_last(void **state)
{
    const struct iovec iov = { (void *)(uintptr_t) "hello", 5 };
    struct tls_from from = { &iov, 1, 0 };
    uint8_t buf[128], said[2] = { 2, TLS_BAD_RECORD_MAC };
    struct pair p;

    (void)state;
    begin(&p, TLS_CHACHA20);
    assert_int_equal(tls_records_alert(p.server, TLS_BAD_RECORD_MAC, buf), TLS_ALERT);
    hear(&p, buf, TLS_ALERT, 21, said);
    assert_int_equal(tls_records_data(p.server, &from, 5, buf), 0);
    assert_int_equal(tls_records_update(p.server, buf), 0);
    assert_int_equal(tls_records_alert(p.server, TLS_CLOSE_NOTIFY, buf), 0);
    end(&p);
    begin(&p, TLS_CHACHA20); /* nor is one answered */
    assert_int_equal(tls_records_read(p.server, buf, say(&p, 21, said, 2, buf)).kind, TLS_REFUSED);
    assert_int_equal(tls_records_alert(p.server, TLS_CLOSE_NOTIFY, buf), 0);
    end(&p);
}

static void wiped(void **state)
{
    static const struct tls_key none;
    struct tls_key k;
    uint8_t buf[64];
    struct tls_from from = { NULL, 0, 0 };

    (void)state;
    assert_true(tls_key_init(&k, TLS_AES_256, server_secret));
    assert_true(tls_key_seal(&k, 23, &from, 0, buf));
    tls_key_wipe(&k);
    assert_memory_equal(&k, &none, sizeof(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(vectors), TEST(nothing_before_all_is_there), TEST(another_bit), TEST(inside),
        TEST(heads), TEST(longest), TEST(quiet), TEST(new_keys), TEST(a_key_is_used_up),
        TEST(many_at_once), TEST(an_alert_is_the_last), TEST(wiped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
