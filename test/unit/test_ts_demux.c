/* SPDX-License-Identifier: MIT */
/* test_ts_demux.c - transport streams that are made by hand, and by our own multiplexer. */
#include "base/wr.h"
#include "format/ts/demux.h"
#include "format/ts/mux.h"
#include "format/ts/pes.h"
#include "media_configs.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 24, FRAMES = 64, PMT = 0x100, VIDEO = 0x101, AUDIO = 0x102, STEP = 3600 };

#define AUD "\0\0\0\1\x09\xf0"
#define SPS "\0\0\0\1\x67\x64\x00\x0c\xac\xd9\x41\x41\x9f\x9f\x01\x6c\x80\x00\x00\x03\x00\x80" \
    "\x00\x00\x19\x07\x8a\x14\xcb"
#define PPS "\0\0\1\x68\xeb\xe3\xcb\x22\xc0"
#define IDR "\0\0\1\x65\x88\1\2\3"
#define P "\0\0\1\x41\x9a\1\2"
/* what a record of the high profiles has at its end, which that encoder left out */
#define RECORD CONFIG_H264 "\xfd\xf8\xf8\0"
#define B(s) (const uint8_t *)(s), sizeof(s) - 1

/* ---- a multiplexer that does what it is told */

static struct wr ts;
static uint8_t cc[0x2000];

static void packet(uint16_t pid, bool start, const uint8_t *data, size_t size, size_t stuffing)
{
    uint8_t p[TS_PACKET];

    memset(p, 0xff, sizeof(p));
    p[0] = 0x47;
    p[1] = (uint8_t)((start ? 0x40 : 0) | pid >> 8);
    p[2] = (uint8_t)pid;
    p[3] = (uint8_t)((stuffing ? 0x30 : 0x10) | (cc[pid]++ & 0x0f));
    if (stuffing) {
        p[4] = (uint8_t)(stuffing - 1);
        if (stuffing > 1)
            p[5] = 0;
    }
    assert_int_equal(4 + stuffing + size, TS_PACKET);
    memcpy(p + 4 + stuffing, data, size);
    wr_bytes(&ts, p, sizeof(p));
}

/* All of it, the last packet stuffed. */
static void cut(uint16_t pid, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t n = size - at < TS_PACKET - 4 ? size - at : TS_PACKET - 4;

        packet(pid, at == 0, data + at, n, TS_PACKET - 4 - n);
        at += n;
    }
}

static void section(uint16_t pid, uint8_t table, uint16_t id, uint8_t version, const uint8_t *body,
                    size_t size)
{
    uint8_t s[6 * (TS_PACKET - 4)] = { 0, table };
    size_t length = 5 + size + 4, n = 1 + 3 + length;
    uint32_t crc;

    s[2] = (uint8_t)(0xb0 | length >> 8);
    s[3] = (uint8_t)length;
    s[4] = (uint8_t)(id >> 8);
    s[5] = (uint8_t)id;
    s[6] = (uint8_t)(0xc1 | version << 1);
    memcpy(s + 9, body, size);
    crc = ts_crc32(s + 1, 8 + size);
    for (int i = 0; i < 4; i++)
        s[9 + size + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
    while (n % (TS_PACKET - 4) != 0)
        s[n++] = 0xff;
    for (size_t at = 0; at < n; at += TS_PACKET - 4)
        packet(pid, at == 0, s + at, TS_PACKET - 4, 0);
}

static void pat(void)
{
    section(0, 0, 1, 0, B("\0\1\xe1\0"));
}

static void pmt(uint8_t version, const char *streams, size_t size)
{
    uint8_t body[1024] = { 0xe1, 1, 0xf0, 0 };

    memcpy(body + 4, streams, size);
    section(PMT, 2, 1, version, body, 4 + size);
}

#define PMT_OF(version, s) pmt(version, s, sizeof(s) - 1)
#define H264_STREAM "\x1b\xe1\1\xf0\0"
#define AAC_STREAM "\x0f\xe1\2\xf0\0"

static void put_time(uint8_t *p, uint8_t mark, int64_t t)
{
    p[0] = (uint8_t)(mark << 4 | (t >> 30 & 7) << 1 | 1);
    p[1] = (uint8_t)(t >> 22);
    p[2] = (uint8_t)((t >> 15 & 0x7f) << 1 | 1);
    p[3] = (uint8_t)(t >> 7);
    p[4] = (uint8_t)((t & 0x7f) << 1 | 1);
}

enum { NO_TIME = -1, LENGTH = 1 };

/* pts NO_TIME: none; dts NO_TIME: only pts. */
static void pes(uint16_t pid, int64_t pts, int64_t dts, int how, const uint8_t *data, size_t size)
{
    static uint8_t buf[LIMIT];
    size_t n = 9;

    memcpy(buf, "\0\0\1\xe0\0\0\x80\0\0", 9);
    if (pid == AUDIO)
        buf[3] = 0xc0;
    if (pts != NO_TIME) {
        buf[7] = dts == NO_TIME ? 0x80 : 0xc0;
        put_time(buf + n, dts == NO_TIME ? 2 : 3, pts);
        n += 5;
        if (dts != NO_TIME)
            put_time(buf + n, 1, dts);
        n += dts != NO_TIME ? 5 : 0;
    }
    buf[8] = (uint8_t)(n - 9);
    memcpy(buf + n, data, size);
    if (how & LENGTH) {
        buf[4] = (uint8_t)((n - 6 + size) >> 8);
        buf[5] = (uint8_t)(n - 6 + size);
    }
    cut(pid, buf, n + size);
}

static void video(int64_t pts, const char *data, size_t size)
{
    pes(VIDEO, pts, NO_TIME, 0, (const uint8_t *)data, size);
}
#define VIDEO_PES(pts, s) video(pts, s, sizeof(s) - 1)

/* ---- what came out */

struct got {
    bool config, key;
    enum av_codec codec;
    int64_t dts, pts;
    size_t size;
    uint8_t *data;
    uint64_t at;
};

static struct {
    struct ts_demux *d;
    struct got v[FRAMES];
    unsigned n, told;
    struct ts_told last[8];
    struct ts_demux_stat stat;
} it;

static void tell(void *arg, const struct ts_told *told)
{
    assert_ptr_equal(arg, &it);
    assert_non_null(told->note == TS_NOTE_PROGRAM ? "" : told->name);
    it.last[it.told++ % 8] = *told;
}

static void forget(void)
{
    for (unsigned i = 0; i < it.n; i++)
        free(it.v[i].data);
    it.n = 0;
}

static void take(void)
{
    struct ts_frame f;

    while (ts_demux_next(it.d, &f)) {
        struct got *g = &it.v[it.n++];

        assert_true(it.n <= FRAMES && f.size > 0);
        *g = (struct got){ f.config, f.key, f.codec, f.dts, f.pts, f.size, malloc(f.size), f.at };
        ts_frame_copy(&f, g->data);
    }
}

static void start_with(const struct ts_demux_opts *opts)
{
    struct ts_demux_opts o = *opts;

    memset(&it, 0, sizeof(it));
    memset(cc, 0, sizeof(cc));
    o.tell = tell;
    o.arg = &it;
    it.d = ts_demux_new(&o);
    wr_init(&ts, LIMIT);
}

static void start(void)
{
    start_with(&(struct ts_demux_opts){ .sei_filter = true });
}

/* What was written by now goes in; how many came out. */
static unsigned feed(void)
{
    unsigned before = it.n;

    assert_false(ts.bad);
    ts_demux_put(it.d, ts.buf, ts.len);
    take();
    ts.len = 0;
    return it.n - before;
}

static void flush(void)
{
    (void)feed();
    ts_demux_flush(it.d);
    take();
}

static void stop(void)
{
    flush();
    forget();
    ts_demux_free(it.d);
    wr_free(&ts);
}

static const struct ts_demux_stat *stat(void)
{
    ts_demux_stat(it.d, &it.stat);
    return &it.stat;
}

static void expect(unsigned i, bool config, int64_t pts, const uint8_t *data, size_t size)
{
    assert_true(i < it.n);
    assert_int_equal(it.v[i].config, config);
    assert_int_equal(it.v[i].pts, pts);
    assert_int_equal(it.v[i].size, size);
    assert_memory_equal(it.v[i].data, data, size);
}

static void begin_h264(void)
{
    start();
    pat();
    PMT_OF(0, H264_STREAM AAC_STREAM);
    VIDEO_PES(9000, AUD SPS PPS IDR);
}

/* ---- our own multiplexer */

static const struct {
    enum av_codec codec;
    const char *config, *frame;
    size_t config_size, size;
    int64_t step;
} codecs[] = {
#define S(s) sizeof(s) - 1
#define F_H264 "\0\0\0\3\x65\x88\1\0\0\0\2\x65\5"
    { AV_H264, RECORD, F_H264, S(RECORD), S(F_H264), STEP },
    { AV_AAC, CONFIG_AAC, "\x21\x10\x05", S(CONFIG_AAC), 3, 1920 },
    { AV_OPUS, CONFIG_OPUS, "\xfc\xff\xfe", S(CONFIG_OPUS), 3, 1800 },
};

static void mux_frames(struct ts_mux *m, size_t i, struct wr *out)
{
    assert_ok(ts_mux_frame(m, &(struct frame){ .kind = av_codec_row(codecs[i].codec)->kind,
                                               .codec = codecs[i].codec, .config = true,
                                               .data = (const uint8_t *)codecs[i].config,
                                               .size = codecs[i].config_size }, out));
    for (int k = 0; k < 9; k++) {
        struct frame f = media_frame(codecs[i].codec, k % 4 == 0, k * codecs[i].step,
                                     (const uint8_t *)codecs[i].frame, codecs[i].size);

        assert_ok(ts_mux_frame(m, &f, out));
    }
    ts_mux_flush(m, out);
}

/* Cut at every byte. */
static void test_what_we_write_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codecs); i++) {
        struct ts_mux m;
        struct wr out;

        print_message("  %s\n", av_codec_name(codecs[i].codec));
        ts_mux_init(&m);
        m.audio_span = AV_MS(i % 2 ? 0 : 100);
        wr_init(&out, LIMIT);
        mux_frames(&m, i, &out);
        for (size_t cut_at = 0; cut_at <= out.len; cut_at += cut_at < 400 ? 1 : 61) {
            start();
            ts_demux_put(it.d, out.buf, cut_at);
            take();
            ts_demux_put(it.d, out.buf + cut_at, out.len - cut_at);
            take();
            flush();
            assert_int_equal(it.n, 10);
            expect(0, true, TS_DELAY, (const uint8_t *)codecs[i].config, codecs[i].config_size);
            for (unsigned k = 1; k < 10; k++) {
                expect(k, false, TS_DELAY + (k - 1) * codecs[i].step,
                       (const uint8_t *)codecs[i].frame, codecs[i].size);
                assert_int_equal(it.v[k].key, i == 0);
                assert_int_equal(it.v[k].codec, codecs[i].codec);
            }
            assert_int_equal(stat()->broken, 0);
            stop();
        }
        wr_free(&out);
        ts_mux_fini(&m);
    }
}

/* ---- when frames go out */

/* The end of a packet without a length is known by the next, until stuffing was seen to be it. */
static void test_frames_go_out_at_their_end(void **state)
{
    (void)state;
    begin_h264();
    assert_int_equal(feed(), 0);
    for (int i = 1; i < 9; i++) {
        VIDEO_PES(9000 + i * STEP, AUD P);
        assert_int_equal(feed(), i == 1 ? 0 : i == 2 ? 4 : 1);
    }
    assert_int_equal(it.n, 10);
    expect(9, false, 9000 + 8 * STEP, B("\0\0\0\4\x41\x9a\1\2"));
    stop();
}

/* A multiplexer that stuffs in between: nothing is torn for longer than it takes to see that. */
static void test_stuffing_that_is_no_end(void **state)
{
    static const uint8_t head[] = "\0\0\1\xe0\0\0\x80\x80\5\x21\0\1\x46\x51" AUD "\0\0\1\x41\x9a\1";
    uint8_t rest[100];

    (void)state;
    memset(rest, 0xee, sizeof(rest));
    begin_h264();
    for (int i = 1; i < 6; i++) {
        packet(VIDEO, true, head, sizeof(head) - 1, TS_PACKET - 4 - (sizeof(head) - 1));
        packet(VIDEO, false, rest, sizeof(rest), TS_PACKET - 4 - sizeof(rest));
    }
    flush();
    assert_int_equal(it.n, 7);
    for (unsigned i = 2; i < 7; i++)
        assert_int_equal(it.v[i].size, 4 + 3 + sizeof(rest));
    stop();
}

/* ---- frames and PES packets */

static void test_several_frames_in_one(void **state)
{
    (void)state;
    begin_h264();
    VIDEO_PES(9000 + STEP, AUD P);
    VIDEO_PES(9000 + 2 * STEP, AUD P AUD P "\0\0\1\x41\x1a\1" AUD P P);
    VIDEO_PES(9000 + 6 * STEP, AUD P);
    flush();
    assert_int_equal(it.n, 8);
    for (int i = 1; i < 8; i++)
        assert_int_equal(it.v[i].pts, 9000 + (i - 1) * STEP);
    expect(4, false, 9000 + 3 * STEP, B("\0\0\0\4\x41\x9a\1\2\0\0\0\3\x41\x1a\1"));
    stop();
}

static void test_a_frame_in_several(void **state)
{
    (void)state;
    begin_h264();
    for (int i = 1; i < 5; i++) {
        VIDEO_PES(9000 + i * STEP, AUD P);
        pes(VIDEO, NO_TIME, NO_TIME, 0, B("\0\0\1\x41\x1a\1\2"));
        pes(VIDEO, NO_TIME, NO_TIME, LENGTH, B("\3\4\0\0"));
        pes(VIDEO, NO_TIME, NO_TIME, 0, B("\1\x41\x1a\5"));
    }
    flush();
    assert_int_equal(it.n, 6);
    for (unsigned i = 2; i < 6; i++)
        expect(i, false, 9000 + (i - 1) * STEP,
               B("\0\0\0\4\x41\x9a\1\2\0\0\0\6\x41\x1a\1\2\3\4\0\0\0\3\x41\x1a\5"));
    assert_int_equal(stat()->broken, 0);
    stop();
}

static void test_what_leaves(void **state)
{
    static const char units[] = AUD "\0\0\1\x0c\xff\xff\x80" SPS PPS "\0\0\1\x06\5\2\1\2\x80"
        "\0\0\1\x06\4\3\xb5\0\x31\x80" IDR "\0\0\1\x0c\xff\x80";

    (void)state;
    for (int filter = 0; filter < 2; filter++) {
        start_with(&(struct ts_demux_opts){ .sei_filter = filter });
        pat();
        PMT_OF(0, H264_STREAM);
        VIDEO_PES(9000, units);
        flush();
        assert_int_equal(it.n, 2);
        expect(0, true, 9000, MEDIA_BYTES(RECORD));
        if (filter)
            expect(1, false, 9000, B("\0\0\0\7\x06\4\3\xb5\0\x31\x80\0\0\0\5\x65\x88\1\2\3"));
        else
            expect(1, false, 9000, B("\0\0\0\6\x06\5\2\1\2\x80\0\0\0\7\x06\4\3\xb5\0\x31\x80"
                                     "\0\0\0\5\x65\x88\1\2\3"));
        assert_true(it.v[1].key);
        stop();
    }
}

/* ---- times */

static void test_times(void **state)
{
    const int64_t wrap = (int64_t)1 << 33;

    (void)state;
    start();
    pat();
    PMT_OF(0, H264_STREAM);
    for (int i = 0; i < 10; i++) {
        int64_t dts = wrap - 5 * STEP + i * STEP, pts = dts + (i % 3 == 1 ? 3 : 1) * STEP;

        pes(VIDEO, pts % wrap, dts % wrap, 0, i ? (const uint8_t *)AUD P
                                                : (const uint8_t *)AUD SPS PPS IDR,
            i ? sizeof(AUD P) - 1 : sizeof(AUD SPS PPS IDR) - 1);
    }
    pes(VIDEO, NO_TIME, NO_TIME, 0, B(AUD P));
    flush();
    assert_int_equal(it.n, 12);
    for (int i = 0; i < 11; i++) {
        assert_int_equal(it.v[i + 1].dts, wrap - 5 * STEP + i * STEP);
        if (i < 10)
            assert_int_equal(it.v[i + 1].pts, it.v[i + 1].dts + (i % 3 == 1 ? 3 : 1) * STEP);
    }
    stop();
}

/* ---- sound */

/* One frame of n bytes. */
static void adts(struct wr *w, uint8_t n)
{
    struct aac_config c;
    uint8_t head[AAC_ADTS_HEADER];

    assert_ok(aac_asc_parse(&c, MEDIA_BYTES(CONFIG_AAC)));
    assert_ok(aac_adts_build(head, &c, n));
    wr_bytes(w, head, sizeof(head));
    for (uint8_t i = 0; i < n; i++)
        wr_u8(w, n);
}

static void test_sound_across_packets(void **state)
{
    struct wr w;

    (void)state;
    wr_init(&w, LIMIT);
    for (uint8_t n = 1; n <= 9; n++)
        adts(&w, n);
    for (size_t at = 1; at < w.len; at++) {
        start();
        pat();
        PMT_OF(0, AAC_STREAM);
        pes(AUDIO, 9000, NO_TIME, LENGTH, w.buf, at);
        pes(AUDIO, NO_TIME, NO_TIME, at % 2 ? LENGTH : 0, w.buf + at, w.len - at);
        flush();
        assert_int_equal(it.n, 10);
        expect(0, true, 9000, MEDIA_BYTES(CONFIG_AAC));
        for (unsigned n = 1; n <= 9; n++) {
            assert_int_equal(it.v[n].pts, 9000 + (n - 1) * 1920);
            assert_int_equal(it.v[n].size, n);
            assert_int_equal(it.v[n].data[0], n);
        }
        assert_int_equal(stat()->broken, 0);
        stop();
    }
    wr_free(&w);
}

/* What is between frames is left out; a configuration that changes comes in its place. */
static void test_sound_changes(void **state)
{
    struct wr w;

    (void)state;
    wr_init(&w, LIMIT);
    start();
    pat();
    PMT_OF(0, AAC_STREAM);
    adts(&w, 5);
    adts(&w, 6);
    wr_bytes(&w, B("a noise"));
    adts(&w, 7);
    w.buf[w.len - 7 - 7 + 2] ^= 0x1c; /* 44.1 kHz */
    adts(&w, 8);
    w.buf[w.len - 8 - 7 + 2] ^= 0x1c;
    pes(AUDIO, 9000, NO_TIME, LENGTH, w.buf, w.len);
    flush();
    assert_int_equal(it.n, 6);
    assert_true(it.v[0].config && it.v[3].config);
    expect(3, true, 9000 + 2 * 1920, B("\x12\x10"));
    assert_int_equal(it.v[5].pts, 9000 + 2 * 1920 + 2089);
    assert_int_equal(stat()->broken, 1);
    stop();
    wr_free(&w);
}

/* ---- AV1 */

#define AV1_STREAM "\x06\xe1\1\xf0\6\5\4AV01"
#define TD "\0\0\1\x12\0"
#define SEQUENCE "\0\0\1\x0a\x0b\0\0\3\0\4\x3d\6\xd4\2\xf8\0\x40"

static void test_av1(void **state)
{
    (void)state;
    start();
    pat();
    PMT_OF(0, AV1_STREAM);
    VIDEO_PES(9000, TD SEQUENCE "\0\0\1\x32\5\x10\0\0\3\1\2");
    VIDEO_PES(9000 + STEP, TD "\0\0\1\x30\x30\7");        /* without a size */
    VIDEO_PES(9000 + 2 * STEP, TD "\0\0\1\x32\3\x20\1\2"); /* not shown, */
    pes(VIDEO, NO_TIME, NO_TIME, 0, B("\0\0\1\x32\3\x30\1\2")); /* and what is */
    VIDEO_PES(9000 + 3 * STEP, TD "\0\0\1\x32\3\x30\1\0");
    flush();
    assert_int_equal(it.n, 5);
    assert_true(it.v[0].config && it.v[0].codec == AV_AV1 && it.v[0].data[0] == 0x81);
    expect(1, false, 9000, B("\x0a\x0b\0\0\0\4\x3d\6\xd4\2\xf8\0\x40\x32\5\x10\0\0\1\2"));
    assert_true(it.v[1].key && !it.v[2].key);
    expect(2, false, 9000 + STEP, B("\x32\2\x30\7"));
    expect(3, false, 9000 + 2 * STEP, B("\x32\3\x20\1\2\x32\3\x30\1\2"));
    expect(4, false, 9000 + 3 * STEP, B("\x32\3\x30\1\0"));
    stop();
}

/* ---- what is in the stream */

static void test_programs(void **state)
{
    (void)state;
    start();
    section(0, 0, 1, 0, B("\0\0\xe0\x1f\0\1\xe1\0\0\2\xe1\x10\0\3\xe1\x20"));
    PMT_OF(0, "\2\xe0\x50\xf0\0\x81\xe0\x51\xf0\0"); /* MPEG-2, AC-3 */
    section(0x110, 2, 2, 0, B("\xe1\1\xf0\0" H264_STREAM AAC_STREAM "\x0f\xe1\3\xf0\0"));
    VIDEO_PES(9000, AUD SPS PPS IDR);
    for (int i = 0; i < 4; i++) {
        section(0, 0, 1, 0, B("\0\0\xe0\x1f\0\1\xe1\0\0\2\xe1\x10\0\3\xe1\x20"));
        section(0x110, 2, 2, 0, B("\xe1\1\xf0\0" H264_STREAM AAC_STREAM "\x0f\xe1\3\xf0\0"));
    }
    flush();
    assert_int_equal(it.n, 2);
    assert_int_equal(it.told, 5); /* each once */
    assert_true(it.last[0].note == TS_NOTE_TYPE && it.last[0].type == 2);
    assert_string_equal(it.last[1].name, "AC-3");
    assert_true(it.last[2].note == TS_NOTE_MORE && it.last[2].pid == 0x103);
    assert_true(it.last[3].note == TS_NOTE_PROGRAM && it.last[3].program == 1);
    assert_true(it.last[4].note == TS_NOTE_PROGRAM && it.last[4].program == 3);
    stop();
}

/* A multiplexer that begins anew has the counter and the stuffing of the one before by chance. */
static void test_new_tables_are_no_repeats(void **state)
{
    (void)state;
    begin_h264();
    cc[0]--;
    pat(); /* that is one */
    cc[PMT]--;
    PMT_OF(0, "\x24\xe1\1\xf0\0");
    flush();
    assert_int_equal(ts_demux_codec(it.d, AV_VIDEO), AV_H265);
    assert_int_equal(stat()->repeated, 1);
    stop();
}

/* One of which no PMT comes is not waited for. */
static void test_program_that_is_none(void **state)
{
    (void)state;
    start();
    for (int i = 0; i < 12; i++) {
        section(0, 0, 1, 0, B("\0\7\xe1\x30\0\1\xe1\0"));
        PMT_OF(0, H264_STREAM);
    }
    VIDEO_PES(9000, AUD SPS PPS IDR);
    flush();
    assert_int_equal(it.n, 2);
    stop();
}

static void test_codec_changes(void **state)
{
    struct wr w;

    (void)state;
    wr_init(&w, LIMIT);
    adts(&w, 4);
    begin_h264();
    pes(AUDIO, 9000, NO_TIME, LENGTH, w.buf, w.len);
    PMT_OF(1, H264_STREAM "\x03\xe1\2\xf0\0");
    w.len = 0;
    wr_bytes(&w, B(MP3_FRAME));
    while (w.len < 192)
        wr_u8(&w, 1);
    pes(AUDIO, 12000, NO_TIME, LENGTH, w.buf, w.len);
    PMT_OF(2, H264_STREAM AAC_STREAM);
    w.len = 0;
    adts(&w, 4);
    pes(AUDIO, 15000, NO_TIME, LENGTH, w.buf, w.len);
    flush();
    assert_int_equal(it.n, 7);
    assert_true(it.v[0].config && it.v[3].config); /* AAC, twice */
    assert_true(it.v[2].codec == AV_MP3 && it.v[2].size == 192 && it.v[2].pts == 12000);
    assert_true(it.v[4].codec == AV_AAC && it.v[5].config && it.v[6].codec == AV_H264);
    stop();
    wr_free(&w);
}

/* A PMT of 1021 bytes, over packets; one with a bit wrong; and one that is not in force yet. */
static void test_sections(void **state)
{
    char streams[1013 - 9 + 5] = H264_STREAM;
    size_t size = 1021 - 9 - 4;

    (void)state;
    start();
    pat();
    streams[3] = (char)(0xf0 | (size - 5) >> 8);
    streams[4] = (char)(size - 5);
    for (size_t i = 5; i + 2 < size; i += 2)
        streams[i] = 0x52;
    PMT_OF(0, "\x1b\xe0\x70\xf0\0");
    ts.buf[ts.len - TS_PACKET + 20] ^= 1;
    pmt(0, streams, size);
    VIDEO_PES(9000, AUD SPS PPS IDR);
    flush();
    assert_int_equal(it.n, 2);
    stop();
}

static void test_tables(void **state)
{
    uint8_t out[TS_TABLES_MAX];
    struct wr copy;

    (void)state;
    begin_h264();
    assert_int_equal(ts_demux_tables(it.d, out), 0);
    (void)feed();
    wr_init(&copy, LIMIT);
    for (uint8_t i = 0; i < 3; i++) {
        copy.len = 0;
        pat();
        PMT_OF(i, H264_STREAM AAC_STREAM);
        wr_bytes(&copy, ts.buf, ts.len);
        (void)feed();
        assert_int_equal(ts_demux_tables(it.d, out), 2 * TS_PACKET);
        assert_memory_equal(out, copy.buf, 2 * TS_PACKET);
    }
    wr_free(&copy);
    stop();
}

/* ---- packets */

static void test_packets_left_out(void **state)
{
    (void)state;
    begin_h264();
    for (int i = 1; i < 6; i++)
        VIDEO_PES(9000 + i * STEP, AUD P);
    ts.buf[ts.len - TS_PACKET + 1] |= 0x80;     /* an error */
    ts.buf[ts.len - 2 * TS_PACKET + 3] |= 0x80; /* scrambled */
    VIDEO_PES(9000 + 6 * STEP, AUD P);
    VIDEO_PES(9000 + 7 * STEP, AUD P);
    flush();
    assert_int_equal(it.n, 7);
    assert_true(stat()->errors == 1 && stat()->scrambled == 1);
    assert_int_equal(it.told, 1);
    assert_int_equal(it.last[0].note, TS_NOTE_SCRAMBLED);
    expect(2, false, 9000 + STEP, B("\0\0\0\4\x41\x9a\1\2"));
    expect(5, false, 9000 + 6 * STEP, B("\0\0\0\4\x41\x9a\1\2"));
    stop();
}

/* A packet once more is no other; 15 of 16 that are missing are not taken for that. */
static void test_counters(void **state)
{
    (void)state;
    begin_h264();
    for (int i = 1; i < 4; i++)
        VIDEO_PES(9000 + i * STEP, AUD P);
    wr_bytes(&ts, ts.buf + ts.len - TS_PACKET, TS_PACKET);
    VIDEO_PES(9000 + 4 * STEP, AUD P);
    flush();
    assert_int_equal(it.n, 6);
    assert_true(stat()->repeated == 1 && stat()->jumps == 0);
    cc[VIDEO] += 15;
    VIDEO_PES(9000 + 24 * STEP, AUD P "\0\0\1\x41\x1a\7");
    flush();
    assert_int_equal(it.n, 7);
    assert_true(stat()->repeated == 1 && stat()->jumps == 1);
    stop();
}

static void test_limits(void **state)
{
    static uint8_t big[300000] = AUD P;

    (void)state;
    start_with(&(struct ts_demux_opts){ .pes_max = 200000 });
    pat();
    PMT_OF(0, H264_STREAM AAC_STREAM);
    for (int i = -3; i < 1; i++)
        VIDEO_PES(9000 + i * STEP / 2, AUD SPS PPS IDR);
    memset(big + sizeof(AUD P) - 1, 0xee, sizeof(big) - sizeof(AUD P));
    pes(VIDEO, 9000 + STEP, NO_TIME, 0, big, sizeof(big));
    pes(VIDEO, 9000 + 2 * STEP, NO_TIME, 0, big, 150000);
    for (int i = 0; i < 600; i++)
        memcpy(big + sizeof(AUD) - 1 + (size_t)i * 7, i ? "\0\0\1\x41\x1a\1\2" : P, 7);
    pes(VIDEO, 9000 + 3 * STEP, NO_TIME, 0, big, 600 * 7); /* more units than a frame may have */
    pes(VIDEO, 9000 + 4 * STEP, NO_TIME, 0, B(AUD P));
    flush();
    assert_int_equal(it.n, 7);
    assert_true(it.v[5].pts == 9000 + 2 * STEP && it.v[6].pts == 9000 + 4 * STEP);
    assert_int_equal(stat()->broken, 2);
    stop();
}

/* Of a sound that says less than comes, and more. */
static void test_wrong_lengths(void **state)
{
    struct wr w;

    (void)state;
    wr_init(&w, LIMIT);
    adts(&w, 4);
    adts(&w, 5);
    start();
    pat();
    PMT_OF(0, AAC_STREAM);
    pes(AUDIO, 9000, NO_TIME, LENGTH, w.buf, w.len);
    ts.buf[ts.len - w.len - 14 + 5]++; /* a byte more */
    pes(AUDIO, 20000, NO_TIME, LENGTH, w.buf, w.len);
    ts.buf[ts.len - w.len - 14 + 5] -= 12; /* the second frame is not of it */
    pes(AUDIO, 30000, NO_TIME, LENGTH, w.buf, w.len);
    flush();
    for (unsigned i = 0; i < it.n; i++)
        assert_true(it.v[i].config || it.v[i].size == 4 || it.v[i].size == 5);
    assert_true(it.n >= 5 && it.v[it.n - 1].pts == 30000 + 1920);
    stop();
    wr_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_we_write_is_read), TEST(test_frames_go_out_at_their_end),
        TEST(test_stuffing_that_is_no_end), TEST(test_several_frames_in_one),
        TEST(test_a_frame_in_several), TEST(test_what_leaves), TEST(test_times),
        TEST(test_sound_across_packets), TEST(test_sound_changes), TEST(test_av1),
        TEST(test_programs), TEST(test_program_that_is_none), TEST(test_codec_changes),
        TEST(test_sections), TEST(test_tables), TEST(test_new_tables_are_no_repeats),
        TEST(test_packets_left_out), TEST(test_counters),
        TEST(test_limits), TEST(test_wrong_lengths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
