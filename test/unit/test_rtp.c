/* SPDX-License-Identifier: MIT */
/* test_rtp.c - RTP and RTCP: headers, numbers, order, reports, clocks. */
#include "proto/rtp/align.h"
#include "proto/rtp/header.h"
#include "proto/rtp/receiver.h"
#include "proto/rtp/sender.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

/* ---- headers */

static const struct {
    const char *name;
    const char *bytes;
    size_t size;
    bool fine;
    size_t payload, extension;
    unsigned csrcs;
} headers[] = {
#define HEAD "\x60\x12\x34\x00\x01\x02\x03\xde\xad\xbe\xef"
#define ROW(bytes) bytes, sizeof(bytes) - 1
    { "plain", ROW("\x80" HEAD "abc"), true, 3, 0, 0 },
    { "no payload", ROW("\x80" HEAD), true, 0, 0, 0 },
    { "one byte short", "\x80" HEAD, 11, false, 0, 0, 0 },
    { "nothing", "", 0, false, 0, 0, 0 },
    { "version 1", ROW("\x40" HEAD "abc"), false, 0, 0, 0 },
    { "version 3", ROW("\xc0" HEAD "abc"), false, 0, 0, 0 },
    { "padding", ROW("\xa0" HEAD "abc\0\0\3"), true, 3, 0, 0 },
    { "all padding", ROW("\xa0" HEAD "\0\0\3"), true, 0, 0, 0 },
    { "padding of 0", ROW("\xa0" HEAD "abc\0"), false, 0, 0, 0 },
    { "padding over the payload", ROW("\xa0" HEAD "ab\4"), false, 0, 0, 0 },
    { "padding of nothing", ROW("\xa0" HEAD), false, 0, 0, 0 },
    { "two sources", ROW("\x82" HEAD "11112222abc"), true, 3, 0, 2 },
    { "sources cut", ROW("\x82" HEAD "1111222"), false, 0, 0, 0 },
    { "extension", ROW("\x90" HEAD "\xbe\xde\0\2" "12345678" "abc"), true, 3, 8, 0 },
    { "empty extension", ROW("\x90" HEAD "\xbe\xde\0\0" "abc"), true, 3, 0, 0 },
    { "extension past the end", ROW("\x90" HEAD "\xbe\xde\0\3" "12345678" "abc"), false, 0, 0, 0 },
    { "extension of 256 KB", ROW("\x90" HEAD "\xbe\xde\xff\xff" "1234"), false, 0, 0, 0 },
    { "all of them", ROW("\xb1" HEAD "1111" "\xbe\xde\0\1" "1234" "abcd\0\2"), true, 4, 4, 1 },
    { "holes of live555", ROW("\xfe\xed\xfa\xce"), false, 0, 0, 0 },
    { "RTCP", ROW("\x80\xc8\0\6" "01234567"), false, 0, 0, 0 },
};

static void test_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++) {
        struct rtp_packet p;

        print_message("  %s\n", headers[i].name);
        assert_int_equal(rtp_parse(&p, (const uint8_t *)headers[i].bytes, headers[i].size),
                         headers[i].fine);
        if (!headers[i].fine)
            continue;
        assert_int_equal(p.payload_size, headers[i].payload);
        assert_int_equal(p.extension_size, headers[i].extension);
        assert_int_equal(p.csrcs, headers[i].csrcs);
        assert_int_equal(p.type, 0x60);
        assert_int_equal(p.seq, 0x1234);
        assert_int_equal(p.time, 0x00010203);
        assert_int_equal(p.ssrc, 0xdeadbeef);
        assert_false(p.marker);
    }
}

static void test_header_both_ways(void **state)
{
    uint8_t out[RTP_HEADER];
    struct rtp_packet p;

    (void)state;
    rtp_build(out, true, 127, 0xfffe, 0x80000001, 0x01020304);
    assert_true(rtp_parse(&p, out, sizeof(out)));
    assert_true(p.marker && p.type == 127 && p.seq == 0xfffe && p.time == 0x80000001 &&
                p.ssrc == 0x01020304 && p.payload_size == 0);
}

static void test_interleaved(void **state)
{
    uint8_t out[RTP_INTERLEAVED], channel;
    uint16_t size;

    (void)state;
    rtp_interleaved_build(out, 3, 0x1234);
    assert_memory_equal(out, "$\x03\x12\x34", 4);
    assert_true(rtp_interleaved_parse(out, &channel, &size));
    assert_true(channel == 3 && size == 0x1234);
    assert_false(rtp_interleaved_parse((const uint8_t *)"RTSP", &channel, &size));
}

static void test_unwrap(void **state)
{
    int64_t seq = 65530, time = 0xfffffff0;

    (void)state;
    for (int i = 1; i < 200000; i++) {
        seq = rtp_unwrap16(seq, (uint16_t)(65530 + i));
        time = rtp_unwrap32(time, (uint32_t)(0xfffffff0 + (uint64_t)i * 90000));
        assert_int_equal(seq, 65530 + i);
        assert_int_equal(time, 0xfffffff0 + (int64_t)i * 90000);
    }
    assert_int_equal(rtp_unwrap16(65536, 65535), 65535);
    assert_int_equal(rtp_unwrap16(0, 65535), -1);
    assert_int_equal(rtp_unwrap32((int64_t)1 << 32, 0xffffffff), 0xffffffff);
}

/* ---- order */

struct order_row {
    const char *name;
    unsigned window;
    const char *in;   /* a number per packet, "+50" a pause of 50 ms */
    const char *want; /* output, "-2" two are missing, "!" new numbering */
    unsigned late, far;
};

static const struct order_row orders[] = {
    { "in order", 16, "10 11 12", "10 11 12", 0, 0 },
    { "two change places", 16, "10 12 11 13", "10 11 12 13", 0, 0 },
    { "over the wrap", 16, "65534 0 65535 1", "65534 65535 0 1", 0, 0 },
    { "doubled", 16, "10 11 11 10 12", "10 11 12", 2, 0 },
    { "doubled while it waits", 16, "10 12 12 11", "10 11 12", 1, 0 },
    { "one is lost", 16, "10 12 13 +100 14 +100", "10 -1 12 13 14", 0, 0 },
    { "one is lost and time goes", 16, "10 12 13 +200", "10 -1 12 13", 0, 0 },
    { "not yet", 16, "10 12 13 +199", "10", 0, 0 },
    { "two holes", 16, "10 12 +100 14 +100 +100", "10 -1 12 -1 14", 0, 0 },
    { "a full window", 4, "10 12 13 14 15", "10 -1 12 13 14 15", 0, 0 },
    { "more than a window", 4, "10 20 21", "10 -9 20 21", 0, 0 },
    { "too late", 4, "10 12 13 14 15 11", "10 -1 12 13 14 15", 1, 0 },
    { "far once", 16, "10 9000 11 12", "10 11 12", 0, 1 },
    { "far twice", 16, "10 9000 9001 9002", "10 ! 9001 9002", 0, 1 },
    { "far, but not in a row", 16, "10 9000 9005 11", "10 11", 0, 2 },
    { "far and back", 16, "10 9000 11 9001 12", "10 11 12", 0, 2 },
    { "a restart drops what waits", 16, "10 12 40000 40001 40002", "10 ! 40001 40002", 1, 1 },
    { "a connection", 1, "10 11 15 16", "10 11 -3 15 16", 0, 0 },
    { "a connection over the wrap", 1, "65535 0 3", "65535 0 -2 3", 0, 0 },
    { "a connection restarts", 1, "10 11 5 6", "10 11 ! 5 6", 0, 0 },
    { "a connection jumps", 1, "10 11 9000 9001", "10 11 ! 9000 9001", 0, 0 },
};

static void drain(struct rtp_reorder *r, co_usec now, char *out, size_t room)
{
    struct rtp_ordered o;

    while (rtp_reorder_next(r, now, &o)) {
        size_t n = strlen(out);

        assert_int_equal(o.size, 2);
        if (o.restart)
            n += (size_t)snprintf(out + n, room - n, " !");
        if (o.lost > 0)
            n += (size_t)snprintf(out + n, room - n, " -%u", (unsigned)o.lost);
        (void)snprintf(out + n, room - n, " %u", (unsigned)(o.data[0] << 8 | o.data[1]));
    }
}

static void test_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(orders); i++) {
        struct rtp_reorder r;
        char out[256] = "", text[256], *save = NULL;
        co_usec now = CO_MS(1000);

        print_message("  %s\n", orders[i].name);
        rtp_reorder_init(&r, orders[i].window, CO_MS(200));
        (void)snprintf(text, sizeof(text), "%s", orders[i].in);
        for (char *t = strtok_r(text, " ", &save); t; t = strtok_r(NULL, " ", &save)) {
            unsigned v = (unsigned)strtoul(t, NULL, 10);
            uint8_t data[2] = { (uint8_t)(v >> 8), (uint8_t)v };

            if (t[0] == '+')
                now += CO_MS(strtol(t, NULL, 10));
            else
                (void)rtp_reorder_put(&r, (uint16_t)v, data, sizeof(data), now);
            drain(&r, now, out, sizeof(out));
        }
        assert_string_equal(out + 1, orders[i].want);
        assert_int_equal(r.late, orders[i].late);
        assert_int_equal(r.far, orders[i].far);
        rtp_reorder_fini(&r);
    }
}

static void test_deadline(void **state)
{
    struct rtp_reorder r;
    struct rtp_ordered o;
    uint8_t data[1] = { 0 };

    (void)state;
    rtp_reorder_init(&r, 64, CO_MS(200));
    assert_int_equal(rtp_reorder_deadline(&r), CO_FOREVER);
    assert_true(rtp_reorder_put(&r, 1, data, 1, CO_MS(5)));
    assert_true(rtp_reorder_next(&r, CO_MS(5), &o));
    assert_true(rtp_reorder_put(&r, 3, data, 1, CO_MS(10)));
    assert_false(rtp_reorder_next(&r, CO_MS(10), &o));
    assert_int_equal(rtp_reorder_deadline(&r), CO_MS(210));
    assert_true(rtp_reorder_put(&r, 5, data, 1, CO_MS(50)));
    assert_false(rtp_reorder_next(&r, CO_MS(50), &o));
    assert_true(rtp_reorder_put(&r, 2, data, 1, CO_MS(60)));
    assert_true(rtp_reorder_next(&r, CO_MS(60), &o)); /* 2 */
    assert_true(rtp_reorder_next(&r, CO_MS(60), &o)); /* 3 */
    assert_false(rtp_reorder_next(&r, CO_MS(60), &o));
    assert_int_equal(rtp_reorder_deadline(&r), CO_MS(250)); /* that of 5 */
    assert_true(rtp_reorder_next(&r, CO_MS(250), &o));
    assert_int_equal(o.lost, 1);
    assert_int_equal(rtp_reorder_deadline(&r), CO_FOREVER);
    rtp_reorder_fini(&r);
}

/* At most this many bytes wait. */
static void test_order_bytes(void **state)
{
    static uint8_t data[60000];
    struct rtp_reorder r;
    struct rtp_ordered o;
    unsigned n = 0;

    (void)state;
    rtp_reorder_init(&r, 256, CO_SECONDS(100));
    for (uint16_t seq = 0; seq < 100; seq++) {
        if (seq != 1)
            (void)rtp_reorder_put(&r, seq, data, sizeof(data), 0);
        while (rtp_reorder_next(&r, 0, &o))
            n++;
        assert_true(r.held_bytes <= RTP_REORDER_BYTES);
    }
    assert_int_equal(n, 99);
    rtp_reorder_fini(&r);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* A simulated network that loses, duplicates and reorders: the output is in order, each once, and
 * missing packets are reported. */
static void test_order_by_seed(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed < 200; seed++) {
        uint32_t rnd = seed;
        struct rtp_reorder r;
        struct rtp_ordered o;
        uint16_t wire[2100];
        unsigned n = 0;
        int64_t last = -1, lost = 0, got = 0;
        uint16_t first = (uint16_t)next_random(&rnd);

        for (unsigned i = 0; i < 1000; i++) {
            if (i > 0 && next_random(&rnd) % 50 == 0)
                continue;
            wire[n++] = (uint16_t)(first + i);
            if (next_random(&rnd) % 50 == 0)
                wire[n++] = (uint16_t)(first + i);
        }
        for (unsigned i = 1; i + 8 < n; i++) {
            unsigned with = i + next_random(&rnd) % 8;
            uint16_t t = wire[i];

            if (next_random(&rnd) % 10 == 0) {
                wire[i] = wire[with];
                wire[with] = t;
            }
        }
        rtp_reorder_init(&r, 64, CO_MS(200));
        for (unsigned i = 0; i <= n; i++) {
            uint8_t data[2];
            co_usec now = i < n ? CO_MS(i) : CO_MS(n + 1000);

            if (i < n) {
                data[0] = (uint8_t)(wire[i] >> 8);
                data[1] = (uint8_t)wire[i];
                (void)rtp_reorder_put(&r, wire[i], data, 2, now);
            }
            while (rtp_reorder_next(&r, now, &o)) {
                uint16_t v = (uint16_t)(o.data[0] << 8 | o.data[1]);

                last += 1 + (int64_t)o.lost;
                assert_int_equal(v, (uint16_t)(first + last));
                lost += (int64_t)o.lost;
                got++;
            }
        }
        assert_int_equal(lost + got, last + 1);
        assert_true(got > 900 && r.late > 0 && r.reordered > 0);
        rtp_reorder_fini(&r);
    }
}

/* ---- counters */

static void test_stats(void **state)
{
    struct rtp_stats s;
    struct rtcp_block b = { 0 };

    (void)state;
    rtp_stats_init(&s, 8000);
    for (int i = 0; i < 100; i++) {
        if (i % 10 != 5) /* one of ten is lost */
            rtp_stats_add(&s, 65500 + i, (uint32_t)(i * 160), 160, CO_MS(20) * i);
    }
    assert_int_equal(rtp_stats_lost(&s), 10);
    rtp_stats_report(&s, &b);
    assert_int_equal(b.fraction, 25);
    assert_int_equal(b.lost, 10);
    assert_int_equal(b.highest, 65599);
    assert_int_equal(b.jitter, 0);
    rtp_stats_add(&s, 65600, 100 * 160, 160, CO_MS(2000));
    rtp_stats_add(&s, 65600, 100 * 160, 160, CO_MS(2000)); /* twice */
    rtp_stats_report(&s, &b);
    assert_int_equal(b.fraction, 0);
    assert_int_equal(b.lost, 9);
    rtp_stats_restart(&s);
    rtp_stats_add(&s, 7, 0, 160, CO_MS(2020));
    assert_int_equal(rtp_stats_lost(&s), 9);
}

/* A.8: packets that are alternately late by 10 ms. */
static void test_jitter(void **state)
{
    struct rtp_stats s;

    (void)state;
    rtp_stats_init(&s, 90000);
    for (int i = 0; i < 1000; i++)
        rtp_stats_add(&s, i, (uint32_t)(i * 3600), 1, CO_MS(40) * i + (i & 1) * CO_MS(10));
    assert_true(rtp_stats_jitter(&s) > 0.0098 && rtp_stats_jitter(&s) < 0.0102);
}

/* ---- reports */

static void test_rtcp_both_ways(void **state)
{
    const struct rtcp_sr sr = { .ntp = 0x0123456789abcdef, .time = 7, .packets = 8, .bytes = 9 };
    const struct rtcp_block said[2] = {
        { .ssrc = 1, .fraction = 2, .lost = -3, .highest = 4, .jitter = 5, .last_sr = 6,
          .delay = 7 },
        { .ssrc = 11, .fraction = 255, .lost = 9000000, .highest = 14, .jitter = 15 },
    };
    struct rtcp_reader r;
    struct rtcp_packet p;
    struct rtcp_block b;
    struct wr w;
    const char *name;
    uint32_t ssrc;
    size_t n;

    (void)state;
    wr_init(&w, 1000);
    rtcp_put_sr(&w, 0xa, &sr);
    rtcp_put_rr(&w, 0xb, said, 2);
    rtcp_put_cname(&w, 0xa, "me");
    rtcp_put_bye(&w, 0xa);
    rtcp_begin(&r, w.buf, w.len);
    assert_true(rtcp_next(&r, &p) && p.type == RTCP_SR && p.ssrc == 0xa);
    assert_true(p.sr.ntp == sr.ntp && p.sr.time == 7 && p.sr.packets == 8 && p.sr.bytes == 9);
    assert_false(rtcp_next_block(&p, &b));
    assert_true(rtcp_next(&r, &p) && p.type == RTCP_RR && p.ssrc == 0xb);
    assert_true(rtcp_next_block(&p, &b));
    assert_true(b.ssrc == 1 && b.fraction == 2 && b.lost == -3 && b.highest == 4 &&
                b.jitter == 5 && b.last_sr == 6 && b.delay == 7);
    assert_true(rtcp_next_block(&p, &b));
    assert_true(b.ssrc == 11 && b.fraction == 255 && b.lost == 0x7fffff);
    assert_false(rtcp_next_block(&p, &b));
    assert_true(rtcp_next(&r, &p) && p.type == RTCP_SDES && p.ssrc == 0xa);
    name = rtcp_cname(&p, &n);
    assert_true(name && n == 2 && memcmp(name, "me", 2) == 0);
    assert_true(rtcp_next(&r, &p) && p.type == RTCP_BYE && p.ssrc == 0xa);
    assert_false(rtcp_next_source(&p, &ssrc));
    assert_false(rtcp_next(&r, &p));
    assert_false(r.r.bad);

    for (size_t cut = 0; cut <= w.len; cut++) { /* complete parts are read */
        unsigned whole = 0, want = (cut >= 28) + (cut >= 84) + (cut >= 100) + (cut >= 108);

        rtcp_begin(&r, w.buf, cut);
        while (rtcp_next(&r, &p))
            whole++;
        assert_int_equal(whole, want);
    }
    wr_free(&w);
}

/* Every length of a name: whole words, and a 0 at its end. */
static void test_cname_sizes(void **state)
{
    char name[300];

    (void)state;
    memset(name, 'x', sizeof(name));
    for (size_t n = 0; n < 270; n++) {
        struct rtcp_reader r;
        struct rtcp_packet p;
        struct wr w;
        size_t got = 0;

        name[n] = '\0';
        wr_init(&w, 1000);
        rtcp_put_cname(&w, 1, name);
        assert_int_equal(w.len % 4, 0);
        assert_int_equal(w.buf[w.len - 1], 0);
        rtcp_begin(&r, w.buf, w.len);
        assert_true(rtcp_next(&r, &p));
        assert_non_null(rtcp_cname(&p, &got));
        assert_int_equal(got, n < 255 ? n : 255);
        assert_false(rtcp_next(&r, &p) || r.r.bad);
        wr_free(&w);
        name[n] = 'x';
    }
}

static const struct {
    const char *name;
    const char *bytes;
    size_t size;
    unsigned packets;
    bool bad;
} compounds[] = {
    { "an RR of an unknown source", ROW("\x80\xc9\0\1" "1234"), 1, false },
    { "feedback first", ROW("\x81\xce\0\2" "12345678"), 1, false },
    { "version 1", ROW("\x40\xc9\0\1" "1234"), 0, true },
    { "longer than what came", ROW("\x80\xc9\0\2" "1234"), 0, true },
    { "more blocks than bytes", ROW("\x82\xc9\0\1" "1234"), 0, true },
    { "an SR that is short", ROW("\x80\xc8\0\5" "12345678901234567890"), 0, true },
    { "without its SSRC", ROW("\x80\xc9\0\0"), 0, true },
    { "an empty BYE", ROW("\x80\xcb\0\0"), 1, false },
    { "a BYE of one, without him", ROW("\x81\xcb\0\0"), 0, true },
    { "padding", ROW("\xa0\xc9\0\2" "1234\0\0\0\4"), 1, false },
    { "padding of 0", ROW("\xa0\xc9\0\2" "1234\0\0\0\0"), 0, true },
    { "padding over all", ROW("\xa0\xc9\0\2" "1234\0\0\0\x20"), 0, true },
    { "two, then garbage", ROW("\x80\xc9\0\1" "1234" "\x80\xc9\0\1" "1234" "abc"), 2, true },
};

static void test_compounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(compounds); i++) {
        struct rtcp_reader r;
        struct rtcp_packet p;
        unsigned n = 0;

        print_message("  %s\n", compounds[i].name);
        rtcp_begin(&r, (const uint8_t *)compounds[i].bytes, compounds[i].size);
        while (rtcp_next(&r, &p))
            n++;
        assert_int_equal(n, compounds[i].packets);
        assert_int_equal(r.r.bad, compounds[i].bad);
    }
}

static void test_compound_of_many(void **state)
{
    uint8_t all[4 * 1000];
    struct rtcp_reader r;
    struct rtcp_packet p;
    unsigned n = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(all); i += 4)
        memcpy(all + i, "\x80\xcb\0\0", 4);
    rtcp_begin(&r, all, sizeof(all));
    while (rtcp_next(&r, &p))
        n++;
    assert_int_equal(n, RTCP_PACKETS_MAX);
}

static void test_bye_of_several(void **state)
{
    struct rtcp_reader r;
    struct rtcp_packet p;
    uint32_t ssrc;

    (void)state;
    rtcp_begin(&r, BYTES("\x83\xcb\0\3" "\0\0\0\1" "\0\0\0\2" "\0\0\0\3"));
    assert_true(rtcp_next(&r, &p) && p.ssrc == 1);
    assert_true(rtcp_next_source(&p, &ssrc) && ssrc == 2);
    assert_true(rtcp_next_source(&p, &ssrc) && ssrc == 3);
    assert_false(rtcp_next_source(&p, &ssrc));
    rtcp_begin(&r, BYTES("\x83\xcb\0\1" "\0\0\0\1"));
    assert_true(rtcp_next(&r, &p));
    assert_false(rtcp_next_source(&p, &ssrc));
}

static void test_ntp(void **state)
{
    (void)state;
    assert_int_equal(rtcp_ntp(0), UINT64_C(2208988800) << 32);
    for (int64_t us = 1700000000000000; us < 1700000000000000 + 3000000; us += 9973)
        assert_int_equal(rtcp_unix_us(rtcp_ntp(us)), us);
}

/* ---- an incoming track */

static size_t packet(uint8_t *out, uint8_t type, uint16_t seq, uint32_t time, uint32_t ssrc)
{
    rtp_build(out, true, type, seq, time, ssrc);
    out[RTP_HEADER] = (uint8_t)seq;
    return RTP_HEADER + 1;
}

static void test_receiver(void **state)
{
    const struct rtp_receiver_opts opts = { .type = 96, .clock = 90000, .window = 64,
                                            .wait = CO_MS(200) };
    struct rtp_receiver rx;
    struct rtp_received got;
    struct rtcp_block b;
    uint8_t p[64];
    size_t n;

    (void)state;
    rtp_receiver_init(&rx, &opts);
    assert_false(rtp_receiver_report(&rx, 0, &b));
    n = packet(p, 96, 65535, 0xffffff00, 5);
    assert_int_equal(rtp_receiver_put(&rx, p, n, 0), RTP_TAKEN);
    assert_true(rtp_receiver_next(&rx, 0, &got));
    assert_true(got.marker && got.size == 1 && got.lost == 0 && !got.restart);
    assert_int_equal(got.time, 0xffffff00);
    n = packet(p, 96, 0, 0x100, 5); /* numbers and times wrap */
    assert_int_equal(rtp_receiver_put(&rx, p, n, CO_MS(20)), RTP_TAKEN);
    assert_true(rtp_receiver_next(&rx, CO_MS(20), &got));
    assert_int_equal(got.time, 0x100000100);
    n = packet(p, 97, 1, 0, 5);
    assert_int_equal(rtp_receiver_put(&rx, p, n, CO_MS(20)), RTP_DROPPED);
    n = packet(p, 96, 1, 0, 6); /* another source, too early */
    assert_int_equal(rtp_receiver_put(&rx, p, n, CO_MS(1000)), RTP_DROPPED);
    assert_int_equal(rtp_receiver_put(&rx, p, 7, CO_MS(1000)), RTP_DROPPED);
    assert_int_equal(rtp_receiver_put(&rx, BYTES("\x80\xc9\0\1" "1234"), 0), RTP_IS_RTCP);
    assert_true(rx.bad == 1 && rx.other_type == 1 && rx.other_ssrc == 1);
    rtp_build(p, false, 96, 1, 0x200, 5); /* a keepalive */
    assert_int_equal(rtp_receiver_put(&rx, p, RTP_HEADER, CO_MS(1000)), RTP_TAKEN);
    assert_false(rtp_receiver_next(&rx, CO_MS(1000), &got));
    n = packet(p, 96, 2, 0x300, 5);
    assert_int_equal(rtp_receiver_put(&rx, p, n, CO_MS(1000)), RTP_TAKEN);
    assert_true(rtp_receiver_next(&rx, CO_MS(1000), &got));
    assert_int_equal(got.lost, 0);
    rtp_receiver_sr(&rx, 6, &(struct rtcp_sr){ .ntp = 1 }, 0);
    assert_false(rx.has_sr);
    rtp_receiver_sr(&rx, 5, &(struct rtcp_sr){ .ntp = 0x123456789abcdef0 }, CO_MS(1000));
    assert_true(rtp_receiver_report(&rx, CO_MS(1500), &b));
    assert_true(b.ssrc == 5 && b.highest == 65538 && b.lost == 0 && b.last_sr == 0x56789abc &&
                b.delay == 0x8000);
    n = packet(p, 96, 900, 0x80000000, 6); /* another source, after a silence */
    assert_int_equal(rtp_receiver_put(&rx, p, n, CO_MS(2000)), RTP_TAKEN);
    assert_true(rtp_receiver_next(&rx, CO_MS(2000), &got));
    assert_true(got.restart);
    assert_int_equal(got.time, 0x80000000);
    rtp_receiver_fini(&rx);
}

/* ---- an outgoing track */

static void test_sender(void **state)
{
    struct rtp_sender s;
    struct rtp_packet p;
    struct rtcp_sr sr;
    uint8_t out[RTP_HEADER];

    (void)state;
    rtp_sender_init(&s, 97, 44100, (const uint8_t *)"\0\0\0\1\xff\xff\xff\xff\xff\xff\0\0");
    rtp_sender_head(&s, out, true, 1024, 100);
    assert_true(rtp_parse(&p, out, sizeof(out)));
    assert_true(p.marker && p.type == 97 && p.seq == 0x7fff && p.time == 1023 && p.ssrc == 1);
    rtp_sender_head(&s, out, false, 2048, 50);
    assert_true(rtp_parse(&p, out, sizeof(out)) && p.seq == 0x8000 && p.time == 2047);
    sr = rtp_sender_report(&s, 2048, 0);
    assert_true(sr.packets == 2 && sr.bytes == 150 && sr.time == 2047);
    assert_int_equal(rtp_ticks(90000 * 3, 44100), 44100 * 3);
    assert_int_equal(rtp_ticks(-90000, 8000), -8000);
    assert_int_equal(rtp_ticks((int64_t)90000 * 86400 * 36500, 48000),
                     (int64_t)48000 * 86400 * 36500);
    for (int64_t t = -100000; t < 100000; t += 77)
        assert_int_equal(rtp_ticks(rtp_ticks_back(t, 44100), 44100), t);
}

/* ---- clocks */

#define NTP(ms) rtcp_ntp(1700000000000000 + CO_MS(ms))

static void test_align_by_arrival(void **state)
{
    struct rtp_align a = { .track = { { .clock = 90000 }, { .clock = 8000 } } };

    (void)state;
    assert_int_equal(rtp_align_time(&a, 0, 5000000, false, CO_MS(100)), 0);
    assert_int_equal(rtp_align_time(&a, 1, 777, false, CO_MS(140)), 3600);
    assert_int_equal(rtp_align_time(&a, 1, 777 + 8000, false, CO_MS(5000)), 93600);
    assert_int_equal(rtp_align_time(&a, 0, 5090000, false, CO_MS(9000)), 90000);
    /* restarts: where the others are, 5.1 s after the newest of them */
    assert_int_equal(rtp_align_time(&a, 0, 42, true, CO_MS(10100)), 93600 + 459000);
}

static void test_align_by_reports(void **state)
{
    struct rtp_align a = { .track = { { .clock = 90000 }, { .clock = 8000 } } };
    struct rtcp_sr video = { .ntp = NTP(500), .time = 1000 },
                   audio = { .ntp = NTP(520), .time = 4000 };

    (void)state;
    assert_int_equal(rtp_align_time(&a, 0, 1000, false, 0), 0); /* at 500 ms */
    assert_int_equal(rtp_align_time(&a, 1, 4000, false, CO_MS(300)), 27000); /* at 520 ms */
    rtp_align_sr(&a, 0, &video, 1000, CO_MS(400));
    rtp_align_sr(&a, 1, &audio, 4000, CO_MS(400));
    assert_int_equal(rtp_align_time(&a, 1, 4000 + 8000, false, CO_MS(1300)), 90000 + 1800);
}

/* Before the first payload, and over the wrap of its timestamps. */
static void test_align_report_first(void **state)
{
    struct rtp_align a = { .track = { { .clock = 90000 }, { .clock = 8000 } } };
    struct rtcp_sr video = { .ntp = NTP(500), .time = 1000 },
                   audio = { .ntp = NTP(500), .time = 0xffffff60 };

    (void)state;
    rtp_align_sr(&a, 0, &video, 0, 0);
    rtp_align_sr(&a, 1, &audio, 0, 0);
    assert_int_equal(rtp_align_time(&a, 0, 1000, false, 0), 0);
    assert_int_equal(rtp_align_time(&a, 1, 0, false, CO_MS(200)), 1800); /* 160 ticks later */
}

/* Late reports change 5 ms in a second, and no time decreases. */
static void test_align_slowly(void **state)
{
    struct rtp_align a = { .track = { { .clock = 90000 }, { .clock = 8000 } } };
    struct rtcp_sr video = { .ntp = NTP(10000), .time = 0 },
                   audio = { .ntp = NTP(9900), .time = 0 };
    int64_t last = -1;

    (void)state;
    (void)rtp_align_time(&a, 0, 0, false, 0);
    (void)rtp_align_time(&a, 1, 0, false, 0);
    rtp_align_sr(&a, 0, &video, 0, CO_SECONDS(10));
    rtp_align_sr(&a, 1, &audio, 0, CO_SECONDS(10));
    for (int i = 0; i < 50 * 30; i++) {
        int64_t t = rtp_align_time(&a, 1, i * 160, false, CO_SECONDS(10));

        assert_true(t > last);
        assert_true(last < 0 || t - last >= 1800 - 1800 / 200 - 1);
        last = t;
    }
    assert_int_equal(last, 1499 * 1800 - 9000);
    audio.ntp = NTP(3600 * 1000); /* a clock without a value */
    rtp_align_sr(&a, 1, &audio, 0, CO_SECONDS(20));
    assert_int_equal(a.track[1].due, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_headers), TEST(test_header_both_ways), TEST(test_interleaved),
        TEST(test_unwrap), TEST(test_order), TEST(test_deadline), TEST(test_order_bytes),
        TEST(test_order_by_seed), TEST(test_stats), TEST(test_jitter),
        TEST(test_rtcp_both_ways), TEST(test_cname_sizes), TEST(test_compounds),
        TEST(test_compound_of_many), TEST(test_bye_of_several), TEST(test_ntp),
        TEST(test_receiver), TEST(test_sender), TEST(test_align_by_arrival),
        TEST(test_align_by_reports), TEST(test_align_report_first), TEST(test_align_slowly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
