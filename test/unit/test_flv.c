/* SPDX-License-Identifier: MIT */
/* test_flv.c - FLV tags and the bodies of RTMP messages, valid and invalid, as rows. */
#include "format/flv/flv.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

struct want {
    enum av_codec codec;
    bool config, key;
    uint16_t track;
    int32_t cts; /* 1/90000 s */
    size_t payload;
};

static const struct {
    const char *name;
    uint8_t tag;
    const char *bytes;
    size_t size;
    enum err_code code;
    struct want want;
} rows[] = {
#define B(s) s, sizeof(s) - 1
    { "AVC key frame",      9, B("\x17\x01\x00\x00\x00x"), 0, { AV_H264, 0, 1, 0, 0, 5 } },
    { "AVC inter frame",    9, B("\x27\x01\x00\x00\x28x"), 0, { AV_H264, 0, 0, 0, 3600, 5 } },
    { "AVC disposable",     9, B("\x37\x01\x00\x00\x28x"), 0, { AV_H264, 0, 0, 0, 3600, 5 } },
    { "AVC generated key",  9, B("\x47\x01\x00\x00\x00x"), 0, { AV_H264, 0, 1, 0, 0, 5 } },
    { "AVC negative cts",   9, B("\x27\x01\xff\xff\xd8x"), 0, { AV_H264, 0, 0, 0, -3600, 5 } },
    { "AVC least cts",      9, B("\x27\x01\x80\x00\x00x"), 0,
      { AV_H264, 0, 0, 0, -754974720, 5 } },
    { "AVC configuration",  9, B("\x17\x00\x00\x00\x00\x01"), 0, { AV_H264, 1, 0, 0, 0, 5 } },
    { "AVC end",            9, B("\x17\x02\x00\x00\x00"), 0, { AV_H264, 0, 0, 0, 0, 5 } },
    { "AVC end, short",     9, B("\x17\x02"), 0, { AV_H264, 0, 0, 0, 0, 2 } },
    { "AVC packet type 3",  9, B("\x17\x03\x00"), 0, { AV_H264, 0, 0, 0, 0, 3 } },
    { "AVC one byte",       9, B("\x17"), ERR_TRUNCATED, { 0 } },
    { "AVC no cts",         9, B("\x17\x01\x00\x00"), ERR_TRUNCATED, { 0 } },
    { "info frame",         9, B("\x57"), 0, { AV_H264, 0, 0, 0, 0, 1 } },
    { "info frame, seek",   9, B("\x57\x00"), 0, { AV_H264, 0, 0, 0, 0, 2 } },
    { "HEVC legacy",        9, B("\x1c\x01\x00\x00\x28x"), 0, { AV_H265, 0, 1, 0, 3600, 5 } },
    { "HEVC legacy config", 9, B("\x1c\x00\x00\x00\x00x"), 0, { AV_H265, 1, 0, 0, 0, 5 } },
    { "H.263",              9, B("\x12\x00\x00"), 0, { AV_CODEC_NONE, 0, 1, 0, 0, 1 } },
    { "empty video",        9, B(""), ERR_TRUNCATED, { 0 } },

    { "hvc1 config",        9, B("\x90hvc1\x01\x02"), 0, { AV_H265, 1, 0, 0, 0, 5 } },
    { "hvc1 coded",         9, B("\x91hvc1\x00\x00\x28x"), 0, { AV_H265, 0, 1, 0, 3600, 8 } },
    { "hvc1 coded, no cts", 9, B("\x91hvc1\x00\x00"), ERR_TRUNCATED, { 0 } },
    { "hvc1 coded X",       9, B("\xa3hvc1\x00\x00\x28x"), 0, { AV_H265, 0, 0, 0, 0, 5 } },
    { "hvc1 end",           9, B("\x92hvc1"), 0, { AV_H265, 0, 0, 0, 0, 5 } },
    { "hvc1 colorInfo",     9, B("\x94hvc1\x02\x00\x09" "colorInfo"), 0,
      { AV_H265, 0, 0, 0, 0, 17 } },
    { "hev1",               9, B("\x93hev1x"), 0, { AV_H265, 0, 1, 0, 0, 5 } },
    { "avc1 coded",         9, B("\xa1" "avc1\xff\xff\xffx"), 0, { AV_H264, 0, 0, 0, -90, 8 } },
    { "av01 coded",         9, B("\x91" "av01x"), 0, { AV_AV1, 0, 1, 0, 0, 5 } },
    { "av01 TS config",     9, B("\x95" "av01xy"), 0, { AV_AV1, 1, 0, 0, 0, 7 } },
    { "vp09 config",        9, B("\x90vp09x"), 0, { AV_VP9, 1, 0, 0, 0, 5 } },
    { "vp08 inter",         9, B("\xa1vp08x"), 0, { AV_VP8, 0, 0, 0, 0, 5 } },
    { "another FourCC",     9, B("\x91xxxxyy"), 0, { AV_CODEC_NONE, 0, 1, 0, 0, 5 } },
    { "short FourCC",       9, B("\x91hvc"), ERR_TRUNCATED, { 0 } },
    { "packet type 8",      9, B("\x98hvc1xx"), 0, { AV_H265, 0, 0, 0, 0, 7 } },
    { "command",            9, B("\xd1\x00"), 0, { AV_CODEC_NONE, 0, 0, 0, 0, 2 } },
    { "command, short",     9, B("\xd1"), ERR_TRUNCATED, { 0 } },

    { "ModEx, 500 us",      9, B("\x97\x02\x07\xa1\x20\x01hvc1\x00\x00\x28x"), 0,
      { AV_H265, 0, 1, 0, 3645, 13 } },
    { "ModEx of 257 bytes", 9, B("\xa7\xff\x00\x00z\x03" "av01x"), 0,
      { AV_AV1, 0, 0, 0, 0, 10 } },
    { "ModEx twice",        9, B("\xa7\x00z\x17\x00z\x13" "av01x"), 0,
      { AV_AV1, 0, 0, 0, 0, 11 } },
    { "ModEx too long",     9, B("\xa7\x09" "abc"), ERR_TRUNCATED, { 0 } },
    { "ModEx without end",  9, B("\xa7\0a\7\0a\7\0a\7\0a\7\0a\7\0a\7\0a\7\0a\7\0a\7\0a\7\0a\7\0a\7"
                                 "\0a\7\0a\7\0a\7\0a\7\0a\7\0a\7\0a\7"), ERR_TOO_MANY, { 0 } },

    { "one track",          9, B("\x96\x01hvc1\x05\x00\x00\x28x"), 0,
      { AV_H265, 0, 1, 5, 3600, 10 } },
    { "many tracks",        9, B("\x96\x11" "avc1\x00\x00\x00\x04\x00\x00\x28x\x01\x00\x00\x03"
                                 "\x00\x00\x00"), 0,
      { AV_H264, 0, 1, 0x100, 3600, 21 } },
    { "many codecs",        9, B("\x96\x21" "av01\x00\x00\x00\x01xhvc1\x01\x00\x00\x04\x00\x00\x28y"), 0,
      { AV_AV1, 0, 1, 0x100, 0, 23 } },
    { "many configs",       9, B("\x96\x10" "avc1\x00\x00\x00\x01x"), 0,
      { AV_H264, 1, 0, 0x100, 0, 11 } },
    { "many tracks, none",  9, B("\x96\x11" "avc1"), 0, { AV_H264, 0, 1, 0x100, 0, 6 } },
    { "many tracks, short", 9, B("\x96\x11" "avc1\x00\x00\x00\x05\x00\x00\x28x"), ERR_TRUNCATED,
      { 0 } },
    { "tracks, type 7",     9, B("\x96\x71" "avc1\x00"), 0, { AV_CODEC_NONE, 0, 0, 0, 0, 7 } },
    { "tracks in tracks",   9, B("\x96\x06" "avc1\x00x"), 0, { AV_H264, 0, 0, 0, 0, 8 } },

    { "AAC config",         8, B("\xaf\x00\x12\x10"), 0, { AV_AAC, 1, 0, 0, 0, 2 } },
    { "AAC frame",          8, B("\xaf\x01x"), 0, { AV_AAC, 0, 0, 0, 0, 2 } },
    { "AAC packet type 2",  8, B("\xaf\x02x"), 0, { AV_AAC, 0, 0, 0, 0, 3 } },
    { "AAC one byte",       8, B("\xaf"), ERR_TRUNCATED, { 0 } },
    { "MP3",                8, B("\x2f\xff\xfb"), 0, { AV_MP3, 0, 0, 0, 0, 1 } },
    { "MP3 at 8 kHz",       8, B("\xef\xff\xfb"), 0, { AV_MP3, 0, 0, 0, 0, 1 } },
    { "MP3 one byte",       8, B("\x2f"), 0, { AV_MP3, 0, 0, 0, 0, 1 } },
    { "Speex",              8, B("\xb6x"), 0, { AV_SPEEX, 0, 0, 0, 0, 1 } },
    { "G.711 A",            8, B("\x7ex"), 0, { AV_G711A, 0, 0, 0, 0, 1 } },
    { "Nellymoser",         8, B("\x6ex"), 0, { AV_CODEC_NONE, 0, 0, 0, 0, 1 } },
    { "empty audio",        8, B(""), ERR_TRUNCATED, { 0 } },
    { "Opus config",        8, B("\x90Opusx"), 0, { AV_OPUS, 1, 0, 0, 0, 5 } },
    { "Opus frame",         8, B("\x91Opusx"), 0, { AV_OPUS, 0, 0, 0, 0, 5 } },
    { "FLAC end",           8, B("\x92" "fLaC"), 0, { AV_FLAC, 0, 0, 0, 0, 5 } },
    { "AC-3",               8, B("\x91" "ac-3x"), 0, { AV_AC3, 0, 0, 0, 0, 5 } },
    { "E-AC-3",             8, B("\x91" "ec-3x"), 0, { AV_EAC3, 0, 0, 0, 0, 5 } },
    { ".mp3",               8, B("\x91.mp3x"), 0, { AV_MP3, 0, 0, 0, 0, 5 } },
    { "mp4a",               8, B("\x90mp4a\x12\x10"), 0, { AV_AAC, 1, 0, 0, 0, 5 } },
    { "multichannel",       8, B("\x94mp4a\x01\x06"), 0, { AV_AAC, 0, 0, 0, 0, 7 } },
    { "audio type 3",       8, B("\x93mp4ax"), 0, { AV_AAC, 0, 0, 0, 0, 6 } },
    { "audio one track",    8, B("\x95\x01mp4a\x02x"), 0, { AV_AAC, 0, 0, 2, 0, 7 } },
    { "audio many codecs",  8, B("\x95\x21mp4a\x00\x00\x00\x01xOpus\x01\x00\x00\x01y"), 0,
      { AV_AAC, 0, 0, 0x100, 0, 20 } },
    { "audio ModEx",        8, B("\x97\x02\x00\x00\x00\x01Opusx"), 0, { AV_OPUS, 0, 0, 0, 0, 10 } },

    { "onMetaData",         18, B("\x02\x00\x0aonMetaData\x08"), 0, { .config = 1 } },
    { "@setDataFrame",      18, B("\x02\x00\x0d@setDataFrame\x02"), 0, { .config = 1 } },
    { "onMetaData, AMF3",   15, B("\x00\x02\x00\x0aonMetaData\x08"), 0,
      { .config = 1, .payload = 1 } },
    { "onCuePoint",         18, B("\x02\x00\x0aonCuePoint"), 0, { 0 } },
    { "a name cut short",   18, B("\x02\x00\x0aonMetaDat"), 0, { 0 } },
    { "no name",            18, B("\x08\x00\x00"), 0, { 0 } },
    { "empty data",         18, B(""), 0, { 0 } },
    { "empty AMF3 data",    15, B(""), 0, { 0 } },
#undef B
};

static struct av_packet *packet(uint8_t tag, const char *bytes, size_t size)
{
    struct av_packet *pkt = av_packet_new(size);

    memcpy(pkt->data, bytes, size);
    pkt->origin = tag;
    return pkt;
}

static void test_bodies(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct av_packet *pkt = packet(rows[i].tag, rows[i].bytes, rows[i].size);
        const struct want *want = &rows[i].want;

        print_message("  %s\n", rows[i].name);
        assert_err(flv_packet_describe(pkt), rows[i].code);
        assert_int_equal(pkt->kind, rows[i].tag == 9 ? AV_VIDEO :
                                    rows[i].tag == 8 ? AV_AUDIO : AV_DATA);
        assert_int_equal(pkt->codec, want->codec);
        assert_int_equal(pkt->config, want->config);
        assert_int_equal(pkt->key, want->key);
        assert_int_equal(pkt->track, want->track);
        assert_int_equal(pkt->cts, want->cts);
        assert_int_equal(pkt->payload, want->payload);
        av_packet_unref(pkt);
    }
}

/* Each row at each shorter length: an error or a payload inside of the body. */
static void test_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t n = 0; n < rows[i].size; n++) {
            struct av_packet *pkt = packet(rows[i].tag, rows[i].bytes, n);
            err_t err = flv_packet_describe(pkt);

            assert_true(err_code(err) == ERR_OK || err_code(err) == ERR_TRUNCATED ||
                        err_code(err) == ERR_TOO_MANY);
            if (!err)
                assert_true(pkt->payload <= pkt->size);
            err_free(&err);
            av_packet_unref(pkt);
        }
    }
}

static void test_tracks(void **state)
{
    static const uint8_t body[] = "\x96\x21" "av01\x00\x00\x00\x01xhvc1\x07\x00\x00\x04\x00\x00\x28y"
                                  "zzzz\x09\x00\x00\x00";
    size_t size = sizeof(body) - 1, at = 0;
    struct flv_body b;
    struct flv_track t;

    (void)state;
    assert_ok(flv_video_parse(&b, body, size));
    assert_int_equal(b.multitrack, FLV_MANY_CODECS);
    assert_ok(flv_track_next(&t, &at, &b, body, size));
    assert_int_equal(t.codec, AV_AV1);
    assert_int_equal(t.id, 0);
    assert_int_equal(t.size, 1);
    assert_int_equal(body[t.payload], 'x');
    assert_ok(flv_track_next(&t, &at, &b, body, size));
    assert_int_equal(t.codec, AV_H265);
    assert_int_equal(t.id, 7);
    assert_int_equal(t.cts, 40);
    assert_int_equal(t.size, 1);
    assert_int_equal(body[t.payload], 'y');
    assert_ok(flv_track_next(&t, &at, &b, body, size));
    assert_int_equal(t.codec, AV_CODEC_NONE);
    assert_int_equal(t.size, 0);
    assert_int_equal(at, size);
}

/* 64 tracks in one body are allowed, 65 are not, with any ids. */
static void test_many_tracks(void **state)
{
    uint8_t body[6 + 65 * 5] = "\x95\x11Opus";
    struct flv_body b;

    (void)state;
    for (size_t i = 0; i < 65; i++)
        memcpy(body + 6 + i * 5, "\0\0\0\1x", 5);
    assert_ok(flv_audio_parse(&b, body, 6 + 64 * 5));
    assert_err(flv_audio_parse(&b, body, 6 + 65 * 5), ERR_TOO_MANY);
}

static void test_tag_header(void **state)
{
    static const uint8_t bytes[] = "\x09\x00\x01\x02\x34\x56\x78\x12\x00\x00\x00";
    struct rd r = rd_init(bytes, 11);
    uint8_t out[FLV_TAG_HEADER];
    struct flv_tag tag;

    (void)state;
    assert_ok(flv_tag_parse(&tag, &r));
    assert_int_equal(tag.type, FLV_VIDEO);
    assert_int_equal(tag.size, 0x102);
    assert_int_equal(tag.time, 0x12345678);
    flv_tag_build(out, &tag);
    assert_memory_equal(out, bytes, 11);
    for (size_t n = 0; n < 11; n++) {
        r = rd_init(bytes, n);
        assert_err(flv_tag_parse(&tag, &r), ERR_TRUNCATED);
    }
}

static void test_file_header(void **state)
{
    uint8_t bytes[13];
    struct rd r;

    (void)state;
    flv_file_build(bytes, true, true);
    assert_memory_equal(bytes, "FLV\x01\x05\0\0\0\x09\0\0\0\0", 13);
    for (size_t n = 0; n < 13; n++) {
        r = rd_init(bytes, n);
        assert_err(flv_file_parse(&r), ERR_TRUNCATED);
    }
    r = rd_init(bytes, 13);
    assert_ok(flv_file_parse(&r));
    assert_int_equal(rd_left(&r), 0);
    bytes[0] = 'G';
    r = rd_init(bytes, 13);
    assert_err(flv_file_parse(&r), ERR_MALFORMED);
    r = rd_init("FLV\x01\x05\xff\xff\xff\xff\0\0\0\0", 13);
    assert_err(flv_file_parse(&r), ERR_TRUNCATED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bodies), TEST(test_cut_at_every_byte), TEST(test_tracks), TEST(test_many_tracks),
        TEST(test_tag_header), TEST(test_file_header),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
