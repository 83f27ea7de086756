/* SPDX-License-Identifier: MIT */
/* test_ts_demux_tables.c - tables, programs, counters and limits of a transport stream. */
#include "ts_packets.h"

/* ---- content of the stream */

static void test_programs(void **state)
{
    (void)state;
    demux_start();
    put_section(0, 0, 1, 0, B("\0\0\xe0\x1f\0\1\xe1\0\0\2\xe1\x10\0\3\xe1\x20"));
    PMT_OF(0, "\2\xe0\x50\xf0\0\x81\xe0\x51\xf0\0"); /* MPEG-2, AC-3 */
    put_section(0x110, 2, 2, 0, B("\xe1\1\xf0\0" H264_STREAM AAC_STREAM "\x0f\xe1\3\xf0\0"));
    VIDEO_PES(9000, AUD SPS PPS IDR);
    for (int i = 0; i < 4; i++) {
        put_section(0, 0, 1, 0, B("\0\0\xe0\x1f\0\1\xe1\0\0\2\xe1\x10\0\3\xe1\x20"));
        put_section(0x110, 2, 2, 0, B("\xe1\1\xf0\0" H264_STREAM AAC_STREAM "\x0f\xe1\3\xf0\0"));
    }
    demux_flush();
    assert_int_equal(demuxed.n, 2);
    assert_int_equal(demuxed.told, 5); /* each once */
    assert_true(demuxed.last[0].note == TS_NOTE_TYPE && demuxed.last[0].type == 2);
    assert_string_equal(demuxed.last[1].name, "AC-3");
    assert_true(demuxed.last[2].note == TS_NOTE_MORE && demuxed.last[2].pid == 0x103);
    assert_true(demuxed.last[3].note == TS_NOTE_PROGRAM && demuxed.last[3].program == 1);
    assert_true(demuxed.last[4].note == TS_NOTE_PROGRAM && demuxed.last[4].program == 3);
    demux_stop();
}

/* A restarted multiplexer happens to have the counter and the stuffing of the previous one. */
static void test_new_tables_are_no_repeats(void **state)
{
    (void)state;
    demux_begin_h264();
    ts_counters[0]--;
    put_pat(); /* that is one */
    ts_counters[PMT]--;
    PMT_OF(0, "\x24\xe1\1\xf0\0");
    demux_flush();
    assert_int_equal(ts_demux_codec(demuxed.d, AV_VIDEO), AV_H265);
    assert_int_equal(demux_stat()->repeated, 1);
    demux_stop();
}

/* A program without a PMT is not waited for. */
static void test_program_that_is_none(void **state)
{
    (void)state;
    demux_start();
    for (int i = 0; i < 12; i++) {
        put_section(0, 0, 1, 0, B("\0\7\xe1\x30\0\1\xe1\0"));
        PMT_OF(0, H264_STREAM);
    }
    VIDEO_PES(9000, AUD SPS PPS IDR);
    demux_flush();
    assert_int_equal(demuxed.n, 2);
    demux_stop();
}

static void test_codec_changes(void **state)
{
    struct wr w;

    (void)state;
    wr_init(&w, LIMIT);
    put_adts(&w, 4);
    demux_begin_h264();
    put_pes(AUDIO, 9000, NO_TIME, LENGTH, w.buf, w.len);
    PMT_OF(1, H264_STREAM "\x03\xe1\2\xf0\0");
    w.len = 0;
    wr_bytes(&w, B(MP3_FRAME));
    while (w.len < 192)
        wr_u8(&w, 1);
    put_pes(AUDIO, 12000, NO_TIME, LENGTH, w.buf, w.len);
    PMT_OF(2, H264_STREAM AAC_STREAM);
    w.len = 0;
    put_adts(&w, 4);
    put_pes(AUDIO, 15000, NO_TIME, LENGTH, w.buf, w.len);
    demux_flush();
    assert_int_equal(demuxed.n, 7);
    assert_true(demuxed.v[0].config && demuxed.v[3].config); /* AAC, twice */
    assert_true(demuxed.v[2].codec == AV_MP3 && demuxed.v[2].size == 192 && demuxed.v[2].pts == 12000);
    assert_true(demuxed.v[4].codec == AV_AAC && demuxed.v[5].config && demuxed.v[6].codec == AV_H264);
    demux_stop();
    wr_free(&w);
}

/* A PMT of 1021 bytes, over packets; one with a wrong bit; and one that is not in effect yet. */
static void test_sections(void **state)
{
    char streams[1013 - 9 + 5] = H264_STREAM;
    size_t size = 1021 - 9 - 4;

    (void)state;
    demux_start();
    put_pat();
    streams[3] = (char)(0xf0 | (size - 5) >> 8);
    streams[4] = (char)(size - 5);
    for (size_t i = 5; i + 2 < size; i += 2)
        streams[i] = 0x52;
    PMT_OF(0, "\x1b\xe0\x70\xf0\0");
    ts_bytes.buf[ts_bytes.len - TS_PACKET + 20] ^= 1;
    put_pmt(0, streams, size);
    VIDEO_PES(9000, AUD SPS PPS IDR);
    demux_flush();
    assert_int_equal(demuxed.n, 2);
    demux_stop();
}

static void test_tables(void **state)
{
    uint8_t out[TS_TABLES_MAX];
    struct wr copy;

    (void)state;
    demux_begin_h264();
    assert_int_equal(ts_demux_tables(demuxed.d, out), 0);
    (void)demux_feed();
    wr_init(&copy, LIMIT);
    for (uint8_t i = 0; i < 3; i++) {
        copy.len = 0;
        put_pat();
        PMT_OF(i, H264_STREAM AAC_STREAM);
        wr_bytes(&copy, ts_bytes.buf, ts_bytes.len);
        (void)demux_feed();
        assert_int_equal(ts_demux_tables(demuxed.d, out), 2 * TS_PACKET);
        assert_memory_equal(out, copy.buf, 2 * TS_PACKET);
    }
    wr_free(&copy);
    demux_stop();
}

/* ---- packets */

static void test_packets_left_out(void **state)
{
    (void)state;
    demux_begin_h264();
    for (int i = 1; i < 6; i++)
        VIDEO_PES(9000 + i * STEP, AUD P);
    ts_bytes.buf[ts_bytes.len - TS_PACKET + 1] |= 0x80;     /* an error */
    ts_bytes.buf[ts_bytes.len - 2 * TS_PACKET + 3] |= 0x80; /* scrambled */
    VIDEO_PES(9000 + 6 * STEP, AUD P);
    VIDEO_PES(9000 + 7 * STEP, AUD P);
    demux_flush();
    assert_int_equal(demuxed.n, 7);
    assert_true(demux_stat()->errors == 1 && demux_stat()->scrambled == 1);
    assert_int_equal(demuxed.told, 1);
    assert_int_equal(demuxed.last[0].note, TS_NOTE_SCRAMBLED);
    demux_expect(2, false, 9000 + STEP, B("\0\0\0\4\x41\x9a\1\2"));
    demux_expect(5, false, 9000 + 6 * STEP, B("\0\0\0\4\x41\x9a\1\2"));
    demux_stop();
}

/* A repeated packet is no new one; 15 of 16 missing packets are not taken for that. */
static void test_counters(void **state)
{
    (void)state;
    demux_begin_h264();
    for (int i = 1; i < 4; i++)
        VIDEO_PES(9000 + i * STEP, AUD P);
    wr_bytes(&ts_bytes, ts_bytes.buf + ts_bytes.len - TS_PACKET, TS_PACKET);
    VIDEO_PES(9000 + 4 * STEP, AUD P);
    demux_flush();
    assert_int_equal(demuxed.n, 6);
    assert_true(demux_stat()->repeated == 1 && demux_stat()->jumps == 0);
    ts_counters[VIDEO] += 15;
    VIDEO_PES(9000 + 24 * STEP, AUD P "\0\0\1\x41\x1a\7");
    demux_flush();
    assert_int_equal(demuxed.n, 7);
    assert_true(demux_stat()->repeated == 1 && demux_stat()->jumps == 1);
    demux_stop();
}

static void test_limits(void **state)
{
    static uint8_t big[300000] = AUD P;

    (void)state;
    demux_start_with(&(struct ts_demux_opts){ .pes_max = 200000 });
    put_pat();
    PMT_OF(0, H264_STREAM AAC_STREAM);
    for (int i = -3; i < 1; i++)
        VIDEO_PES(9000 + i * STEP / 2, AUD SPS PPS IDR);
    memset(big + sizeof(AUD P) - 1, 0xee, sizeof(big) - sizeof(AUD P));
    put_pes(VIDEO, 9000 + STEP, NO_TIME, 0, big, sizeof(big));
    put_pes(VIDEO, 9000 + 2 * STEP, NO_TIME, 0, big, 150000);
    for (int i = 0; i < 600; i++)
        memcpy(big + sizeof(AUD) - 1 + (size_t)i * 7, i ? "\0\0\1\x41\x1a\1\2" : P, 7);
    put_pes(VIDEO, 9000 + 3 * STEP, NO_TIME, 0, big, 600 * 7); /* more units than a frame may have */
    put_pes(VIDEO, 9000 + 4 * STEP, NO_TIME, 0, B(AUD P));
    demux_flush();
    assert_int_equal(demuxed.n, 7);
    assert_true(demuxed.v[5].pts == 9000 + 2 * STEP && demuxed.v[6].pts == 9000 + 4 * STEP);
    assert_int_equal(demux_stat()->broken, 2);
    demux_stop();
}

/* Audio whose header announces less than what comes, and more. */
static void test_wrong_lengths(void **state)
{
    struct wr w;

    (void)state;
    wr_init(&w, LIMIT);
    put_adts(&w, 4);
    put_adts(&w, 5);
    demux_start();
    put_pat();
    PMT_OF(0, AAC_STREAM);
    put_pes(AUDIO, 9000, NO_TIME, LENGTH, w.buf, w.len);
    ts_bytes.buf[ts_bytes.len - w.len - 14 + 5]++; /* a byte more */
    put_pes(AUDIO, 20000, NO_TIME, LENGTH, w.buf, w.len);
    ts_bytes.buf[ts_bytes.len - w.len - 14 + 5] -= 12; /* the second frame is not part of it */
    put_pes(AUDIO, 30000, NO_TIME, LENGTH, w.buf, w.len);
    demux_flush();
    for (unsigned i = 0; i < demuxed.n; i++)
        assert_true(demuxed.v[i].config || demuxed.v[i].size == 4 || demuxed.v[i].size == 5);
    assert_true(demuxed.n >= 5 && demuxed.v[demuxed.n - 1].pts == 30000 + 1920);
    demux_stop();
    wr_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_programs), TEST(test_new_tables_are_no_repeats),
        TEST(test_program_that_is_none), TEST(test_codec_changes), TEST(test_sections),
        TEST(test_tables), TEST(test_packets_left_out), TEST(test_counters),
        TEST(test_limits), TEST(test_wrong_lengths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
