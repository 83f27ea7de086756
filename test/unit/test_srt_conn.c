/* SPDX-License-Identifier: MIT */
/* test_srt_conn.c - an SRT connection, datagram by datagram: its output, and its end. */
#include "proto/srt/conn.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OURS = 5, THEIRS = 6 };
#define BEGIN CO_SECONDS(1000)
#define IDLE  CO_SECONDS(10)

static struct srt_log the_log;
static struct srt_burst burst;

static struct srt_conn_opts usual(void)
{
    return (struct srt_conn_opts){
        .agreed = { .id = OURS, .peer_id = THEIRS, .first_seq = 1000, .payload = 1316,
                    .window = 8192, .recv_latency = CO_MS(120), .send_latency = CO_MS(120) },
        .now = BEGIN, .peer_zero = BEGIN, .zero = BEGIN, .idle_timeout = IDLE,
        .tsbpd = true, .drop_late = true, .log = &the_log, .maxbw = 125000000,
    };
}

static struct srt_secret *secret(void)
{
    struct srt_secret *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    assert_true(srt_secret_new(s, 16, "correct horse"));
    return s;
}

static struct srt_conn receiver(void)
{
    struct srt_conn_opts o = usual();
    struct srt_conn c;

    assert_true(srt_conn_receive_begin(&c, &o));
    return c;
}

static struct srt_conn sender(unsigned packets)
{
    struct srt_conn_opts o = usual();
    struct srt_conn c;

    srt_log_init(&the_log);
    for (unsigned i = 0; i < packets; i++)
        assert_true(srt_log_put(&the_log, (const uint8_t *)"packet", 6, i == 0, BEGIN));
    assert_true(srt_conn_send_begin(&c, &o));
    return c;
}

static void end_sender(struct srt_conn *c)
{
    srt_conn_fini(c);
    srt_log_fini(&the_log);
}

/* A control packet arrives. */
static void hear(struct srt_conn *c, uint16_t type, uint16_t subtype, uint32_t info,
                 const void *body, size_t size, co_usec now)
{
    struct srt_packet p = { .control = true, .type = type, .subtype = subtype, .info = info,
                            .to = OURS, .body = body, .size = size };

    srt_conn_input(c, &p, now);
}

static bool put(struct srt_conn *c, uint32_t seq, co_usec now)
{
    struct srt_packet p = { .seq = seq, .message = 1, .position = 3, .time = (uint32_t)(now - BEGIN),
                            .to = OURS, .body = (const uint8_t *)"packet", .size = 6 };

    srt_conn_input(c, &p, now);
    return c->end == SRT_OPEN;
}

/* Its output: types, with information. */
static const char *says(struct srt_conn *c, co_usec now)
{
    static char text[1024];
    uint8_t out[SRT_PACKET_MAX];
    struct srt_packet p;
    size_t n = 0, size;

    text[0] = 0;
    while ((size = srt_conn_control(c, out, now)) > 0) {
        assert_true(n < sizeof(text) - 64);
        assert_true(srt_packet_read(&p, out, size));
        assert_true(p.control && p.to == THEIRS && p.size >= 4);
        assert_int_equal(p.time, (uint32_t)(now - BEGIN));
        n += (size_t)snprintf(text + n, 64, "%s%u/%u:%u", n ? " " : "", p.type, p.subtype, p.info);
    }
    return text;
}

/* ---- the end */

static void test_silence(void **state)
{
    struct srt_conn c = receiver();

    (void)state;
    for (int i = 1; i < 10; i++) {
        assert_int_equal(srt_conn_deadline(&c), BEGIN + CO_SECONDS(i));
        assert_string_equal(says(&c, BEGIN + CO_SECONDS(i) - 1), "");
        assert_string_equal(says(&c, BEGIN + CO_SECONDS(i)), "1/0:0");
    }
    assert_string_equal(says(&c, BEGIN + IDLE), "");
    assert_int_equal(c.end, SRT_ENDED_IDLE);
    assert_int_equal(srt_conn_deadline(&c), CO_FOREVER);
    srt_conn_fini(&c);
}

static void test_keepalive(void **state)
{
    struct srt_conn c = sender(0);

    (void)state;
    for (int i = 1; i < 100; i++) {
        hear(&c, SRT_KEEPALIVE, 0, 0, "\0\0\0", 4, BEGIN + CO_SECONDS(i));
        assert_string_equal(says(&c, BEGIN + CO_SECONDS(i)), "1/0:0");
    }
    assert_int_equal(c.end, SRT_OPEN);
    end_sender(&c);
}

static void test_shutdown(void **state)
{
    struct srt_conn c = receiver();

    (void)state;
    hear(&c, SRT_SHUTDOWN, 0, 0, "\0\0\0", 4, BEGIN);
    assert_int_equal(c.end, SRT_ENDED_SHUTDOWN);
    assert_string_equal(says(&c, BEGIN + CO_SECONDS(5)), "");
    srt_conn_fini(&c);

    c = receiver();
    srt_conn_close(&c);
    srt_conn_close(&c);
    assert_int_equal(srt_conn_deadline(&c), 0);
    assert_true(put(&c, 1000, BEGIN));
    assert_string_equal(says(&c, BEGIN), "5/0:0 5/0:0 5/0:0");
    assert_int_equal(srt_conn_deadline(&c), CO_FOREVER);
    srt_conn_fini(&c);
}

static void put32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* A list of 10 packets, 1000 to 1009. */
static void test_hostile_receiver(void **state)
{
    static const struct {
        const char *name;
        uint16_t type;
        uint32_t words[2];
        size_t size;
        enum srt_end end;
        uint64_t ignored;
    } rows[] = {
        { "all", SRT_ACK, { 1010, 0 }, 4, SRT_OPEN, 0 },
        { "some", SRT_ACK, { 1005, 0 }, 4, SRT_OPEN, 0 },
        { "long ago", SRT_ACK, { 900, 0 }, 4, SRT_OPEN, 0 },
        { "what was not sent", SRT_ACK, { 1011, 0 }, 4, SRT_ENDED_HOSTILE, 0 },
        { "2^30 more", SRT_ACK, { 1 << 30, 0 }, 4, SRT_ENDED_HOSTILE, 0 },
        { "no number", SRT_ACK, { 0xffffffff, 0 }, 4, SRT_OPEN, 1 },
        { "cut", SRT_ACK, { 0, 0 }, 3, SRT_OPEN, 1 },
        { "misses one", SRT_NAK, { 1003, 0 }, 4, SRT_OPEN, 0 },
        { "misses what was not sent", SRT_NAK, { 1010, 0 }, 4, SRT_ENDED_HOSTILE, 0 },
        { "misses 2^30", SRT_NAK, { 0x80000000 | 1000, 1000 + (1 << 30) - 1 }, 8,
          SRT_ENDED_HOSTILE, 0 },
        { "an ACKACK", SRT_ACKACK, { 0, 0 }, 4, SRT_OPEN, 1 },
        { "a drop request", SRT_DROP, { 1000, 1001 }, 8, SRT_OPEN, 1 },
        { "a handshake", SRT_HANDSHAKE, { 5, 0 }, 8, SRT_OPEN, 1 },
        { "what there is not", 99, { 0, 0 }, 8, SRT_OPEN, 1 },
        { "congestion", SRT_CONGESTION, { 0, 0 }, 4, SRT_OPEN, 1 },
        { "keys, in the clear", SRT_EXTENSION, { 0, 0 }, 4, SRT_OPEN, 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct srt_conn c = sender(10);
        uint8_t body[8];

        put32(body, rows[i].words[0]);
        put32(body + 4, rows[i].words[1]);
        while (srt_conn_burst(&c, &burst, BEGIN))
            continue;
        assert_int_equal(c.sender.stat.sent, 10);
        hear(&c, rows[i].type, 0, 1, body, rows[i].size, BEGIN + CO_MS(1));
        if (c.end != rows[i].end || c.ignored != rows[i].ignored)
            print_error("%s\n", rows[i].name);
        assert_int_equal(c.end, rows[i].end);
        assert_int_equal(c.ignored, rows[i].ignored);
        assert_true(put(&c, 1000, BEGIN) == (c.end == SRT_OPEN)); /* its data are useless */
        end_sender(&c);
    }
}

static void test_hostile_sender(void **state)
{
    static const struct {
        bool drop_late;
        enum srt_end end;
    } rows[] = { { true, SRT_ENDED_HOSTILE }, { false, SRT_ENDED_STUCK } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct srt_conn_opts o = usual();
        struct srt_conn c;

        o.drop_late = rows[i].drop_late;
        assert_true(srt_conn_receive_begin(&c, &o));
        hear(&c, SRT_ACK, 0, 1, "\0\0\0", 4, BEGIN);
        hear(&c, SRT_NAK, 0, 1, "\0\0\0", 4, BEGIN);
        hear(&c, SRT_DROP, 0, 1, "\0\0\0", 4, BEGIN);
        assert_int_equal(c.ignored, 3);
        for (int ms = 0; ms < 1000; ms += 100)
            assert_true(put(&c, 1000 + 8192, BEGIN + CO_MS(ms)));
        assert_false(put(&c, 1000 + 8192, BEGIN + CO_MS(1000)));
        assert_int_equal(c.end, rows[i].end);
        srt_conn_fini(&c);
    }
}

/* ---- distribution to the parts */

static void test_receive(void **state)
{
    struct srt_conn c = receiver();
    struct srt_receiver_stat stat;
    struct srt_message m;
    uint8_t range[8];

    (void)state;
    put(&c, 1000, BEGIN);
    put(&c, 1003, BEGIN);
    assert_string_equal(says(&c, BEGIN), "2/0:1 3/0:0");
    hear(&c, SRT_ACKACK, 0, 1, "\0\0\0", 4, BEGIN + CO_MS(30));
    put32(range, 1001);
    put32(range + 4, 1002);
    hear(&c, SRT_DROP, 0, 0, range, 8, BEGIN + CO_MS(30));
    srt_receiver_stat(c.receiver, &stat);
    assert_int_equal(stat.rtt, CO_MS(30));
    assert_int_equal(stat.dropped, 2);
    assert_int_equal(srt_conn_deadline(&c), BEGIN + CO_MS(10));
    assert_string_equal(says(&c, BEGIN + CO_MS(30)), "2/0:2");
    assert_true(srt_conn_next(&c, &m, BEGIN + CO_MS(120)));
    assert_true(srt_conn_next(&c, &m, BEGIN + CO_MS(120)));
    assert_true(m.hole);
    assert_false(srt_conn_next(&c, &m, BEGIN + CO_MS(120)));
    srt_conn_fini(&c);
}

static void test_answers(void **state)
{
    struct srt_conn c = sender(10);
    uint8_t next[4];
    char want[256] = "";
    size_t n = 0;

    (void)state;
    while (srt_conn_burst(&c, &burst, BEGIN))
        continue;
    put32(next, 1001);
    for (uint32_t i = 1; i <= 20; i++) /* more than are answered */
        hear(&c, SRT_ACK, 0, i, next, 4, BEGIN);
    for (int i = 1; i <= 8; i++)
        n += (size_t)snprintf(want + n, sizeof(want) - n, "%s6/0:%d", n ? " " : "", i);
    assert_int_equal(srt_conn_deadline(&c), 0);
    assert_string_equal(says(&c, BEGIN), want);
    end_sender(&c);
}

/* ---- keys */

/* A publisher's new key, valid and invalid. */
static void test_their_keys(void **state)
{
    struct srt_conn_opts o = usual();
    struct srt_secret theirs, *s = secret();
    uint8_t bytes[SRT_KM_MAX], out[SRT_PACKET_MAX], clear[] = "packet", dark[6];
    struct srt_cipher *cipher;
    struct srt_message m;
    struct srt_packet p;
    struct srt_conn c;
    struct srt_km km;
    size_t size, n;

    (void)state;
    theirs = *s;
    o.secret = s;
    assert_true(srt_conn_receive_begin(&c, &o));
    assert_true(srt_secret_renew(&theirs, SRT_ODD));
    assert_true(srt_secret_wrap(&theirs, &km));
    size = srt_km_write(&km, bytes);
    for (n = 0; n < size; n++) /* cut anywhere, and corrupted */
        hear(&c, SRT_EXTENSION, SRT_KM_REQUEST, 0, bytes, n, BEGIN);
    hear(&c, SRT_EXTENSION, SRT_KM_REQUEST, 0, bytes, 2000, BEGIN);
    assert_int_equal(c.ignored, 2);
    bytes[size - 1] ^= 1;
    hear(&c, SRT_EXTENSION, SRT_KM_REQUEST, 0, bytes, size, BEGIN);
    bytes[size - 1] ^= 1;
    n = srt_conn_control(&c, out, BEGIN);
    assert_true(srt_packet_read(&p, out, n));
    assert_true(p.type == SRT_EXTENSION && p.subtype == SRT_KM_RESPONSE && p.size == 4);
    assert_int_equal(p.body[3], SRT_KM_BAD_SECRET);
    for (int i = 0; i < 2; i++) { /* again: the answer was lost */
        hear(&c, SRT_EXTENSION, SRT_KM_REQUEST, 0, bytes, size, BEGIN);
        assert_int_equal(srt_conn_deadline(&c), 0);
        n = srt_conn_control(&c, out, BEGIN);
        assert_true(srt_packet_read(&p, out, n));
        assert_true(p.subtype == SRT_KM_RESPONSE && p.size == size);
        assert_memory_equal(p.body, bytes, size);
    }
    cipher = srt_cipher_new(&theirs);
    assert_non_null(cipher);
    srt_cipher_run(cipher, SRT_ODD, 1000, clear, dark, 6);
    p = (struct srt_packet){ .seq = 1000, .key = SRT_ODD, .body = dark, .size = 6 };
    srt_conn_input(&c, &p, BEGIN);
    assert_true(srt_conn_next(&c, &m, BEGIN + CO_SECONDS(1)));
    assert_memory_equal(m.data, "packet", 6);
    srt_cipher_free(cipher);
    srt_conn_fini(&c);
}

/* Sends n packets, which are all acknowledged. */
static void send_some(struct srt_conn *c, unsigned n, co_usec now)
{
    uint8_t next[4];

    while (n--)
        assert_true(srt_log_put(&the_log, (const uint8_t *)"packet", 6, false, now));
    while (srt_conn_burst(c, &burst, now))
        continue;
    assert_int_equal(c->sender.next, the_log.head);
    put32(next, srt_seq_add(1000, (int64_t)c->sender.next));
    hear(c, SRT_ACK, 0, 0, next, 4, now);
    srt_log_trim(&the_log, now, UINT64_MAX, SIZE_MAX);
}

/* New keys each 100 packets, announced 20 before; but only if the peer confirms them. */
static void test_our_keys(void **state)
{
    struct srt_conn_opts o = usual();
    co_usec now = BEGIN;
    uint8_t out[SRT_PACKET_MAX];
    struct srt_secret theirs;
    struct srt_packet p;
    struct srt_conn c;
    struct srt_km km;
    size_t n;

    (void)state;
    srt_log_init(&the_log);
    o.secret = secret();
    o.renew_after = 100;
    o.renew_before = 20;
    theirs = *o.secret;
    assert_true(srt_conn_send_begin(&c, &o));
    assert_int_equal(c.sender.key, SRT_EVEN);
    send_some(&c, 79, now);
    assert_string_equal(says(&c, now), "");
    send_some(&c, 1, now);
    for (int i = 0; i < 3; i++) { /* repeats after 1.5 round trips */
        n = srt_conn_control(&c, out, now);
        assert_true(n && srt_packet_read(&p, out, n));
        assert_true(p.type == SRT_EXTENSION && p.subtype == SRT_KM_REQUEST);
        assert_string_equal(says(&c, now + CO_MS(149)), "");
        now += CO_MS(150);
        assert_int_equal(srt_conn_deadline(&c), now);
    }
    send_some(&c, 50, now);
    assert_int_equal(c.sender.key, SRT_EVEN); /* the peer does not have the other one */
    assert_true(srt_km_read(&km, p.body, p.size));
    assert_int_equal(km.which, 3);
    assert_true(srt_km_unwrap_known(&theirs, &km));
    hear(&c, SRT_EXTENSION, SRT_KM_RESPONSE, 0, "\0\0\0\4", 4, now); /* no */
    send_some(&c, 1, now);
    assert_int_equal(c.sender.key, SRT_EVEN);
    hear(&c, SRT_EXTENSION, SRT_KM_RESPONSE, 0, p.body, p.size, now);
    assert_string_equal(says(&c, now + CO_MS(500)), "");
    send_some(&c, 1, now);
    assert_int_equal(c.sender.key, SRT_ODD);
    assert_memory_equal(c.secret->key[1], theirs.key[1], 16);
    assert_int_equal(c.secret->which, 3);
    send_some(&c, 20, now);
    assert_int_equal(c.secret->which, SRT_ODD); /* forgotten */
    assert_int_equal(c.secret->key[0][0] | c.secret->key[0][7] | c.secret->key[0][15], 0);
    send_some(&c, 60, now);
    assert_string_equal(says(&c, now), "32767/3:0"); /* and so on */
    end_sender(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_silence),
        TEST(test_keepalive),
        TEST(test_shutdown),
        TEST(test_hostile_receiver),
        TEST(test_hostile_sender),
        TEST(test_receive),
        TEST(test_answers),
        TEST(test_their_keys),
        TEST(test_our_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
