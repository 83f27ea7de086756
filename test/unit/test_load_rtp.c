/* SPDX-License-Identifier: MIT */
/* test_load_rtp.c - RTP analysis of a load player: cut anywhere, with each fault. */
#include "io_mem.h"
#include "proto/rtp/header.h"
#include "proto/rtp/rtcp.h"
#include "tools/load/marker.h"
#include "tools/load/rtp.h"
#include "unit.h"

#include <string.h>

enum { VIDEO = 96, AUDIO = 97, CLOCK = 90000 };

/* Too large for a stack. */
static struct {
    struct load_run run;
    struct load_client c;
    struct load_rtp rtp;
    struct rtsp_reader reader;
} f;

static const struct rtsp_limits limits = {
    .max_line = 4096, .max_head = 16 * 1024, .max_fields = 64, .max_body = 64 * 1024,
    .idle_time = CO_FOREVER, .message_time = CO_FOREVER,
};

static const struct load_tool tool = { .kind = LOAD_RTSP };

static void begin(void)
{
    static const struct load_rtp_track video = { .channel = 0, .type = VIDEO, .video = true,
                                                 .marks = true, .codec = AV_H264, .clock = CLOCK };
    static const struct load_rtp_track audio = { .channel = 2, .type = AUDIO, .marks = true,
                                                 .codec = AV_AAC, .clock = 44100 };

    memset(&f, 0, sizeof(f));
    f.run.tool = &tool;
    f.run.opts = (struct load_opts){ .stall_ms = 1000, .late_ms = 500 };
    f.c.run = &f.run;
    f.rtp.c = &f.c;
    f.rtp.n = 2;
    f.rtp.tracks[0] = video;
    f.rtp.tracks[1] = audio;
}

/* Everything that a connection returns in pieces, up to its end. */
static err_t feed(const void *bytes, size_t size, size_t piece)
{
    struct io_mem m;
    size_t n;
    err_t err = NULL;

    io_mem_init(&m, bytes, size);
    m.piece = piece;
    rtsp_reader_init(&f.reader, &m.io, &limits);
    f.reader.frames = true;
    while (!err)
        err = load_rtp_read(&f.rtp, &f.reader, &n);
    rtsp_reader_fini(&f.reader);
    if (err_code(err) == ERR_IO_CLOSED)
        err_free(&err);
    return err;
}

static size_t put(uint8_t *out, uint8_t channel, uint8_t type, bool marker, uint16_t seq,
                  uint32_t time, const void *payload, size_t size)
{
    rtp_interleaved_build(out, channel, (uint16_t)(RTP_HEADER + size));
    rtp_build(out + RTP_INTERLEAVED, marker, type, seq, time, 7);
    memcpy(out + RTP_INTERLEAVED + RTP_HEADER, payload, size);
    return RTP_INTERLEAVED + RTP_HEADER + size;
}

/* A STAP-A of an SPS, a PPS and the clock, as our server packs the start of a key frame. */
static size_t aggregate(uint8_t *out, uint32_t number)
{
    static const uint8_t sets[] = "\x18\0\x04\x67\x42\xc0\x1e\0\x03\x68\xce\x3c";
    struct load_marker m = { .time = load_wall(), .number = number };
    uint8_t unit[LOAD_MARKER_SIZE];
    size_t n = load_marker_build(unit, AV_H264, &m);

    memcpy(out, sets, sizeof(sets) - 1);
    memcpy(out + sizeof(sets) - 1, unit + 2, n - 2);
    return sizeof(sets) - 1 + n - 2;
}

static size_t put_report(uint8_t *out, uint8_t channel, bool bye)
{
    struct rtcp_sr sr = { .ntp = 1, .time = 2 };
    struct wr w;
    size_t n;

    wr_init(&w, 1000);
    rtcp_put_sr(&w, 7, &sr);
    rtcp_put_cname(&w, 7, "me");
    if (bye)
        rtcp_put_bye(&w, 7);
    rtp_interleaved_build(out, channel, (uint16_t)w.len);
    memcpy(out + RTP_INTERLEAVED, w.buf, w.len);
    n = RTP_INTERLEAVED + w.len;
    wr_free(&w);
    return n;
}

/* Three video frames of three packets each, audio in between, and other packets. */
static size_t stream(uint8_t *out)
{
    static const char answer[] = "\r\nRTSP/1.0 200 OK\r\nCSeq: 9\r\ncontent-length: 7\r\n"
                                 "X: 0123456789012345678901234567890123456789012345678901234567"
                                 "\r\n\r\n$\0\0\1ab$";
    uint8_t first[128], part[1400] = { 0x7c, 0x01 };
    uint16_t seq = 0xfffe, sound = 5;
    size_t n = put_report(out, 1, false);

    n += put_report(out + n, 3, false);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t time = 0xffffff00 + i * 3000;
        size_t size = aggregate(first, i);

        n += put(out + n, 0, VIDEO, false, seq++, time, first, size);
        n += put(out + n, 0, VIDEO, false, seq++, time, part, sizeof(part));
        n += put(out + n, 2, AUDIO, true, sound++, i * 1024, "\0\x10\0\x08x", 5);
        memcpy(out + n, answer, sizeof(answer) - 1);
        n += sizeof(answer) - 1;
        n += put(out + n, 0, VIDEO, true, seq++, time, part, 100);
    }
    return n + put_report(out + n, 1, true);
}

static void test_cut_anywhere(void **state)
{
    static uint8_t bytes[16 * 1024];
    size_t size = stream(bytes);

    (void)state;
    for (size_t piece = 1; piece <= size; piece += piece < 300 ? 1 : 197) {
        const struct load_rtp_stat *s = &f.run.stat.rtp;

        begin();
        assert_ok(feed(bytes, size, piece));
        assert_int_equal(s->packets, 12);
        assert_int_equal(s->reports, 3);
        assert_int_equal(s->lost + s->reordered + s->restarts + s->odd, 0);
        assert_int_equal(s->marker_faults + s->time_faults + s->info_faults, 0);
        assert_int_equal(f.run.stat.messages, 6);
        assert_int_equal(f.run.stat.latency.count, 3);
        assert_int_equal(f.run.stat.first_byte.count, 1);
        assert_int_equal(f.run.stat.first_key.count, 1);
        assert_int_equal(f.c.number, 2);
        assert_int_equal(f.rtp.left_by, 1);
        assert_false(load_rtp_is_left(&f.rtp));
    }
}

static void test_both_leave(void **state)
{
    uint8_t bytes[256];
    size_t n = put_report(bytes, 1, true);

    (void)state;
    begin();
    n += put_report(bytes + n, 3, true);
    assert_ok(feed(bytes, n, 0));
    assert_true(load_rtp_is_left(&f.rtp));
}

struct step {
    uint16_t seq;
    uint32_t time;
    bool marker;
};

/* Packets of one track, and the expected report. */
struct row {
    const char *name;
    unsigned track, n;
    struct step steps[6];
    unsigned lost, reordered, restarts, marker, time, info;
    unsigned frames;
};

static const struct row rows[] = {
    { "all is well", 0, 4, { { 9, 0, 0 }, { 10, 0, 1 }, { 11, 3000, 0 }, { 12, 3000, 1 } },
      .frames = 2 },
    { "another begin than RTP-Info's", 0, 1, { { 8, 0, 1 } }, .info = 1, .frames = 1 },
    { "a hole", 0, 2, { { 9, 0, 1 }, { 12, 6000, 1 } }, .lost = 2, .frames = 2 },
    { "two change places", 0, 3, { { 9, 0, 0 }, { 11, 0, 1 }, { 10, 0, 0 } }, .reordered = 1,
      .frames = 1 },
    { "another numbering", 0, 2, { { 9, 0, 1 }, { 9009, 77, 1 } }, .restarts = 1, .frames = 2 },
    { "no marker", 0, 3, { { 9, 0, 0 }, { 10, 3000, 1 }, { 11, 6000, 1 } }, .marker = 1,
      .frames = 3 },
    { "a marker before the end", 0, 3, { { 9, 0, 1 }, { 10, 0, 1 }, { 11, 3000, 1 } }, .marker = 1,
      .frames = 3 },
    { "no fault of the marker where packets are missing", 0, 2, { { 9, 0, 0 }, { 12, 3000, 1 } },
      .lost = 2, .frames = 2 },
    { "reordered frames", 0, 3, { { 9, 9000, 1 }, { 10, 3000, 1 }, { 11, 6000, 1 } },
      .frames = 3 },
    { "time falls", 0, 2, { { 9, 900000, 1 }, { 10, 0, 1 } }, .time = 1, .frames = 2 },
    { "time runs ahead", 0, 2, { { 9, 0, 1 }, { 10, 900000, 1 } }, .time = 1, .frames = 2 },
    { "audio time decreases", 1, 2, { { 9, 2048, 1 }, { 10, 1024, 1 } }, .time = 1, .frames = 2 },
    { "time wraps", 1, 2, { { 9, 0xfffffff0, 1 }, { 10, 1008, 1 } }, .frames = 2 },
};

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        const struct load_rtp_stat *s = &f.run.stat.rtp;
        struct load_rtp_track *t = &f.rtp.tracks[row->track];

        print_message("  %s\n", row->name);
        begin();
        t->has_first = true;
        t->first = 9;
        for (unsigned k = 0; k < row->n; k++) {
            uint8_t bytes[64];
            size_t n;

            n = put(bytes, t->channel, t->type, row->steps[k].marker, row->steps[k].seq,
                    row->steps[k].time, "\x41xxxx", 5);
            assert_ok(feed(bytes, n, 0));
        }
        assert_int_equal(s->packets, row->n);
        assert_int_equal(s->lost, row->lost);
        assert_int_equal(s->reordered, row->reordered);
        assert_int_equal(s->restarts, row->restarts);
        assert_int_equal(s->marker_faults, row->marker);
        assert_int_equal(s->time_faults, row->time);
        assert_int_equal(s->info_faults, row->info);
        assert_int_equal(f.run.stat.messages, row->frames);
    }
}

static void test_odd(void **state)
{
    static const struct { const char *bytes; size_t size; enum err_code code; } bad[] = {
        { "$\0\0\0", 4, ERR_OK }, { "$\0\0\1x", 5, ERR_OK }, { "$\x09\0\2xx", 6, ERR_OK },
        { "$\0\0\x0c\x80\x60xxxxxxxxx", 15, ERR_OK }, { "$\0\0\x0c\x8f\x60xxxxxxxxxx", 16, ERR_OK },
        { "$\0\0\x0c\x80\x7fxxxxxxxxxx", 16, ERR_OK }, { "$\0\0\x10\x90\x60xxxxxxxxxx\0\0\xff\xff", 20, ERR_OK },
        { "\0", 1, ERR_RTSP }, { "\xff", 1, ERR_RTSP }, { "%", 1, ERR_RTSP },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {

        begin();
        assert_err(feed(bad[i].bytes, bad[i].size, 0), bad[i].code);
        if (bad[i].code == ERR_OK)
            assert_int_equal(f.run.stat.rtp.odd, bad[i].size == 4u + (uint8_t)bad[i].bytes[3]);
        assert_int_equal(f.run.stat.rtp.packets, 0);
    }
}

static void test_endless_message(void **state)
{
    static uint8_t line[100 * 1000];

    (void)state;
    memset(line, 'a', sizeof(line));
    begin();
    assert_err(feed(line, 4000, 1000), ERR_OK);
    assert_err(feed(line, sizeof(line), 1000), ERR_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cut_anywhere), TEST(test_both_leave), TEST(test_faults), TEST(test_odd),
        TEST(test_endless_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
