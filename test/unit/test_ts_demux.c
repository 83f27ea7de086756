/* SPDX-License-Identifier: MIT */
/* test_ts_demux.c - frames from a transport stream. */
#include "ts_packets.h"

/* the end of a record of the high profiles, which that encoder left out */
#define RECORD CONFIG_H264 "\xfd\xf8\xf8\0"

/* ---- the test's multiplexer */

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
            demux_start();
            ts_demux_put(demuxed.d, out.buf, cut_at);
            demux_take();
            ts_demux_put(demuxed.d, out.buf + cut_at, out.len - cut_at);
            demux_take();
            demux_flush();
            assert_int_equal(demuxed.n, 10);
            demux_expect(0, true, TS_DELAY, (const uint8_t *)codecs[i].config, codecs[i].config_size);
            for (unsigned k = 1; k < 10; k++) {
                demux_expect(k, false, TS_DELAY + (k - 1) * codecs[i].step,
                       (const uint8_t *)codecs[i].frame, codecs[i].size);
                assert_int_equal(demuxed.v[k].key, i == 0);
                assert_int_equal(demuxed.v[k].codec, codecs[i].codec);
            }
            assert_int_equal(demux_stat()->broken, 0);
            demux_stop();
        }
        wr_free(&out);
        ts_mux_fini(&m);
    }
}

/* ---- when frames are complete */

/* The end of a packet without a length is known from the next one, unless stuffing has proved to mark it. */
static void test_frames_go_out_at_their_end(void **state)
{
    (void)state;
    demux_begin_h264();
    assert_int_equal(demux_feed(), 0);
    for (int i = 1; i < 9; i++) {
        VIDEO_PES(9000 + i * STEP, AUD P);
        assert_int_equal(demux_feed(), i == 1 ? 0 : i == 2 ? 4 : 1);
    }
    assert_int_equal(demuxed.n, 10);
    demux_expect(9, false, 9000 + 8 * STEP, B("\0\0\0\4\x41\x9a\1\2"));
    demux_stop();
}

/* A multiplexer that stuffs in between: frames are split only until that is noticed. */
static void test_stuffing_that_is_no_end(void **state)
{
    static const uint8_t head[] = "\0\0\1\xe0\0\0\x80\x80\5\x21\0\1\x46\x51" AUD "\0\0\1\x41\x9a\1";
    uint8_t rest[100];

    (void)state;
    memset(rest, 0xee, sizeof(rest));
    demux_begin_h264();
    for (int i = 1; i < 6; i++) {
        put_packet(VIDEO, true, head, sizeof(head) - 1, TS_PACKET - 4 - (sizeof(head) - 1));
        put_packet(VIDEO, false, rest, sizeof(rest), TS_PACKET - 4 - sizeof(rest));
    }
    demux_flush();
    assert_int_equal(demuxed.n, 7);
    for (unsigned i = 2; i < 7; i++)
        assert_int_equal(demuxed.v[i].size, 4 + 3 + sizeof(rest));
    demux_stop();
}

/* ---- frames and PES packets */

static void test_several_frames_in_one(void **state)
{
    (void)state;
    demux_begin_h264();
    VIDEO_PES(9000 + STEP, AUD P);
    VIDEO_PES(9000 + 2 * STEP, AUD P AUD P "\0\0\1\x41\x1a\1" AUD P P);
    VIDEO_PES(9000 + 6 * STEP, AUD P);
    demux_flush();
    assert_int_equal(demuxed.n, 8);
    for (int i = 1; i < 8; i++)
        assert_int_equal(demuxed.v[i].pts, 9000 + (i - 1) * STEP);
    demux_expect(4, false, 9000 + 3 * STEP, B("\0\0\0\4\x41\x9a\1\2\0\0\0\3\x41\x1a\1"));
    demux_stop();
}

static void test_a_frame_in_several(void **state)
{
    (void)state;
    demux_begin_h264();
    for (int i = 1; i < 5; i++) {
        VIDEO_PES(9000 + i * STEP, AUD P);
        put_pes(VIDEO, NO_TIME, NO_TIME, 0, B("\0\0\1\x41\x1a\1\2"));
        put_pes(VIDEO, NO_TIME, NO_TIME, LENGTH, B("\3\4\0\0"));
        put_pes(VIDEO, NO_TIME, NO_TIME, 0, B("\1\x41\x1a\5"));
    }
    demux_flush();
    assert_int_equal(demuxed.n, 6);
    for (unsigned i = 2; i < 6; i++)
        demux_expect(i, false, 9000 + (i - 1) * STEP,
               B("\0\0\0\4\x41\x9a\1\2\0\0\0\6\x41\x1a\1\2\3\4\0\0\0\3\x41\x1a\5"));
    assert_int_equal(demux_stat()->broken, 0);
    demux_stop();
}

static void test_what_leaves(void **state)
{
    static const char units[] = AUD "\0\0\1\x0c\xff\xff\x80" SPS PPS "\0\0\1\x06\5\2\1\2\x80"
        "\0\0\1\x06\4\3\xb5\0\x31\x80" IDR "\0\0\1\x0c\xff\x80";

    (void)state;
    for (int filter = 0; filter < 2; filter++) {
        demux_start_with(&(struct ts_demux_opts){ .sei_filter = filter });
        put_pat();
        PMT_OF(0, H264_STREAM);
        VIDEO_PES(9000, units);
        demux_flush();
        assert_int_equal(demuxed.n, 2);
        demux_expect(0, true, 9000, MEDIA_BYTES(RECORD));
        if (filter)
            demux_expect(1, false, 9000, B("\0\0\0\7\x06\4\3\xb5\0\x31\x80\0\0\0\5\x65\x88\1\2\3"));
        else
            demux_expect(1, false, 9000, B("\0\0\0\6\x06\5\2\1\2\x80\0\0\0\7\x06\4\3\xb5\0\x31\x80"
                                     "\0\0\0\5\x65\x88\1\2\3"));
        assert_true(demuxed.v[1].key);
        demux_stop();
    }
}

/* ---- times */

static void test_times(void **state)
{
    const int64_t wrap = (int64_t)1 << 33;

    (void)state;
    demux_start();
    put_pat();
    PMT_OF(0, H264_STREAM);
    for (int i = 0; i < 10; i++) {
        int64_t dts = wrap - 5 * STEP + i * STEP, pts = dts + (i % 3 == 1 ? 3 : 1) * STEP;

        put_pes(VIDEO, pts % wrap, dts % wrap, 0, i ? (const uint8_t *)AUD P
                                                : (const uint8_t *)AUD SPS PPS IDR,
            i ? sizeof(AUD P) - 1 : sizeof(AUD SPS PPS IDR) - 1);
    }
    put_pes(VIDEO, NO_TIME, NO_TIME, 0, B(AUD P));
    demux_flush();
    assert_int_equal(demuxed.n, 12);
    for (int i = 0; i < 11; i++) {
        assert_int_equal(demuxed.v[i + 1].dts, wrap - 5 * STEP + i * STEP);
        if (i < 10)
            assert_int_equal(demuxed.v[i + 1].pts, demuxed.v[i + 1].dts + (i % 3 == 1 ? 3 : 1) * STEP);
    }
    demux_stop();
}

/* ---- audio */

static void test_audio_across_packets(void **state)
{
    struct wr w;

    (void)state;
    wr_init(&w, LIMIT);
    for (uint8_t n = 1; n <= 9; n++)
        put_adts(&w, n);
    for (size_t at = 1; at < w.len; at++) {
        demux_start();
        put_pat();
        PMT_OF(0, AAC_STREAM);
        put_pes(AUDIO, 9000, NO_TIME, LENGTH, w.buf, at);
        put_pes(AUDIO, NO_TIME, NO_TIME, at % 2 ? LENGTH : 0, w.buf + at, w.len - at);
        demux_flush();
        assert_int_equal(demuxed.n, 10);
        demux_expect(0, true, 9000, MEDIA_BYTES(CONFIG_AAC));
        for (unsigned n = 1; n <= 9; n++) {
            assert_int_equal(demuxed.v[n].pts, 9000 + (n - 1) * 1920);
            assert_int_equal(demuxed.v[n].size, n);
            assert_int_equal(demuxed.v[n].data[0], n);
        }
        assert_int_equal(demux_stat()->broken, 0);
        demux_stop();
    }
    wr_free(&w);
}

/* Data between frames is left out; a changed configuration comes at its place. */
static void test_audio_changes(void **state)
{
    struct wr w;

    (void)state;
    wr_init(&w, LIMIT);
    demux_start();
    put_pat();
    PMT_OF(0, AAC_STREAM);
    put_adts(&w, 5);
    put_adts(&w, 6);
    wr_bytes(&w, B("a noise"));
    put_adts(&w, 7);
    w.buf[w.len - 7 - 7 + 2] ^= 0x1c; /* 44.1 kHz */
    put_adts(&w, 8);
    w.buf[w.len - 8 - 7 + 2] ^= 0x1c;
    put_pes(AUDIO, 9000, NO_TIME, LENGTH, w.buf, w.len);
    demux_flush();
    assert_int_equal(demuxed.n, 6);
    assert_true(demuxed.v[0].config && demuxed.v[3].config);
    demux_expect(3, true, 9000 + 2 * 1920, B("\x12\x10"));
    assert_int_equal(demuxed.v[5].pts, 9000 + 2 * 1920 + 2089);
    assert_int_equal(demux_stat()->broken, 1);
    demux_stop();
    wr_free(&w);
}

/* ---- AV1 */

#define AV1_STREAM "\x06\xe1\1\xf0\6\5\4AV01"
#define TD "\0\0\1\x12\0"
#define SEQUENCE "\0\0\1\x0a\x0b\0\0\3\0\4\x3d\6\xd4\2\xf8\0\x40"

static void test_av1(void **state)
{
    (void)state;
    demux_start();
    put_pat();
    PMT_OF(0, AV1_STREAM);
    VIDEO_PES(9000, TD SEQUENCE "\0\0\1\x32\5\x10\0\0\3\1\2");
    VIDEO_PES(9000 + STEP, TD "\0\0\1\x30\x30\7");        /* without a size */
    VIDEO_PES(9000 + 2 * STEP, TD "\0\0\1\x32\3\x20\1\2"); /* not shown, */
    put_pes(VIDEO, NO_TIME, NO_TIME, 0, B("\0\0\1\x32\3\x30\1\2")); /* and what is */
    VIDEO_PES(9000 + 3 * STEP, TD "\0\0\1\x32\3\x30\1\0");
    demux_flush();
    assert_int_equal(demuxed.n, 5);
    assert_true(demuxed.v[0].config && demuxed.v[0].codec == AV_AV1 && demuxed.v[0].data[0] == 0x81);
    demux_expect(1, false, 9000, B("\x0a\x0b\0\0\0\4\x3d\6\xd4\2\xf8\0\x40\x32\5\x10\0\0\1\2"));
    assert_true(demuxed.v[1].key && !demuxed.v[2].key);
    demux_expect(2, false, 9000 + STEP, B("\x32\2\x30\7"));
    demux_expect(3, false, 9000 + 2 * STEP, B("\x32\3\x20\1\2\x32\3\x30\1\2"));
    demux_expect(4, false, 9000 + 3 * STEP, B("\x32\3\x30\1\0"));
    demux_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_we_write_is_read), TEST(test_frames_go_out_at_their_end),
        TEST(test_stuffing_that_is_no_end), TEST(test_several_frames_in_one),
        TEST(test_a_frame_in_several), TEST(test_what_leaves), TEST(test_times),
        TEST(test_audio_across_packets), TEST(test_audio_changes), TEST(test_av1),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
