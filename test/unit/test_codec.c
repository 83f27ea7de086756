/* SPDX-License-Identifier: MIT */
/* test_codec.c - decoder configurations, valid and invalid, as rows. */
#include "av/aac.h"
#include "av/bits.h"
#include "av/codec.h"
#include "av/h264.h"
#include "av/h265.h"
#include "av/mp3.h"
#include "av/nalu.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static size_t hex(uint8_t *out, const char *text)
{
    size_t n = 0;

    for (; text[0] && text[1]; text += 2) {
        char two[3] = { text[0], text[1], 0 };

        out[n++] = (uint8_t)strtoul(two, NULL, 16);
    }
    return n;
}

#define AVC_HIGH "0164000dffe1001a6764000dacd941519e226c0440000003004000000c83c50a6580" \
                 "01000668ebe3cb22c0fdf8f800"
#define AVC_INTERLACED "014d4015ffe10019674d4015eca0a19f930110000003001000000303c1f14299600100" \
                       "0568fba3cb20"
#define HEVC_MAIN "0101600000009000000000003cf000fcfdf8f800000f03200001001840010c01ffff01600000" \
                  "030090000003000003003c959809210001002a42010101600000030090000003000003003ca0" \
                  "0a480b9c9596566924caf0168080000003008000000c8422000100074401c172b46240"
#define FLAC "664c614380000022100010000000000000000ac442f0000000000000000000000000000000000000" \
             "0000"

static const struct {
    const char *name;
    enum av_codec codec;
    const char *config;
    enum err_code code;
    struct av_info want;
} rows[] = {
    { "H.264 high, cropped, 25 fps", AV_H264, AVC_HIGH, ERR_OK,
      { .profile = "High", .level = "1.3", .width = 322, .height = 182, .fps = 25,
        .nalu_length = 4, .reorder = 2 } },
    { "H.264 interlaced", AV_H264, AVC_INTERLACED, ERR_OK,
      { .profile = "Main", .level = "2.1", .width = 320, .height = 180, .fps = 30,
        .nalu_length = 4, .reorder = 2 } },
    { "H.264 empty SPS", AV_H264, "0142c01effe1000000", ERR_OK,
      { .profile = "Constrained Baseline", .level = "3", .nalu_length = 4 } },
    { "H.264 empty SPS, then one", AV_H264,
      "0164000dffe20000001a6764000dacd941519e226c0440000003004000000c83c50a658000", ERR_OK,
      { .profile = "High", .level = "1.3", .width = 322, .height = 182, .fps = 25,
        .nalu_length = 4, .reorder = 2 } },
    { "H.264 several PPS, one empty", AV_H264,
      "0164000dffe1001a6764000dacd941519e226c0440000003004000000c83c50a658002000000026800", ERR_OK,
      { .profile = "High", .level = "1.3", .width = 322, .height = 182, .fps = 25,
        .nalu_length = 4, .reorder = 2 } },
    { "H.264 2-byte lengths", AV_H264, "0142c01efde1000000", ERR_OK,
      { .profile = "Constrained Baseline", .level = "3", .nalu_length = 2 } },
    { "H.264 level 1b", AV_H264, "0142100bffe1000000", ERR_OK,
      { .profile = "Baseline", .level = "1b", .nalu_length = 4 } },
    { "H.264 3-byte lengths", AV_H264, "0142c01efee1000000", ERR_CODEC, { .profile = "" } },
    { "H.264 no SPS", AV_H264, "0142c01effe000", ERR_CODEC, { .profile = "" } },
    { "H.264 version 2", AV_H264, "0242c01effe1000000", ERR_CODEC, { .profile = "" } },
    { "H.264 a PPS for an SPS", AV_H264, "0142c01effe10001680000", ERR_CODEC, { .profile = "" } },
    { "H.265 main", AV_H265, HEVC_MAIN, ERR_OK,
      { .profile = "Main", .level = "2", .width = 322, .height = 182, .fps = 25,
        .nalu_length = 4, .reorder = 2 } },
    { "H.265 no sets", AV_H265, "0102600000009000000000003cf000fcfdf8f800000f00", ERR_OK,
      { .profile = "Main 10", .level = "2", .nalu_length = 4 } },
    { "H.265 fps in the record", AV_H265, "0101600000009000000000005df000fcfdf8f81e000f00", ERR_OK,
      { .profile = "Main", .level = "3.1", .fps = 30, .nalu_length = 4 } },
    { "H.265 3-byte lengths", AV_H265, "0101600000009000000000003cf000fcfdf8f800000e00", ERR_CODEC,
      { .profile = "" } },
    { "AV1", AV_AV1, "81000c000a0b000000043d06d402f80040", ERR_OK,
      { .profile = "Main", .level = "2.0", .width = 322, .height = 182 } },
    { "AV1 without OBUs", AV_AV1, "81050c00", ERR_OK, { .profile = "Main", .level = "3.1" } },
    { "AV1 wrong marker", AV_AV1, "01050c00", ERR_CODEC, { .profile = "" } },
    { "VP9 with a box header", AV_VP9, "01000000000b820202020000", ERR_OK,
      { .profile = "Profile 0", .level = "1.1" } },
    { "VP9 without", AV_VP9, "0114820202020000", ERR_OK,
      { .profile = "Profile 1", .level = "2.0" } },
    { "AAC LC mono", AV_AAC, "120856e500", ERR_OK,
      { .profile = "LC", .sample_rate = 44100, .channels = 1 } },
    { "AAC LC stereo", AV_AAC, "1190", ERR_OK,
      { .profile = "LC", .sample_rate = 48000, .channels = 2 } },
    { "AAC HE, hierarchical", AV_AAC, "2b098800", ERR_OK,
      { .profile = "HE", .sample_rate = 48000, .channels = 1 } },
    { "AAC HE, backward compatible", AV_AAC, "131056e598", ERR_OK,
      { .profile = "HE", .sample_rate = 48000, .channels = 2 } },
    { "AAC explicit rate", AV_AAC, "17805dc010", ERR_OK,
      { .profile = "LC", .sample_rate = 48000, .channels = 2 } },
    { "AAC 5.1", AV_AAC, "11b0", ERR_OK,
      { .profile = "LC", .sample_rate = 48000, .channels = 6 } },
    { "AAC channels in an element", AV_AAC, "118004c4000020", ERR_OK,
      { .profile = "LC", .sample_rate = 48000, .channels = 2 } },
    { "AAC object type 0", AV_AAC, "0190", ERR_CODEC, { .profile = "" } },
    { "AAC 1 byte", AV_AAC, "12", ERR_CODEC, { .profile = "" } },
    { "AAC reserved rate", AV_AAC, "1690", ERR_CODEC, { .profile = "" } },
    { "MP3", AV_MP3, "fffb40c0", ERR_OK,
      { .profile = "Layer 3", .sample_rate = 44100, .channels = 1 } },
    { "MP3 without sync", AV_MP3, "49443304", ERR_CODEC, { .profile = "" } },
    { "Opus", AV_OPUS, "4f707573486561640102380180bb0000000000", ERR_OK,
      { .sample_rate = 48000, .channels = 2 } },
    { "Opus 5.1", AV_OPUS, "4f707573486561640106380180bb00000000010402000102030405", ERR_OK,
      { .sample_rate = 48000, .channels = 6 } },
    { "Opus 5.1, map cut", AV_OPUS, "4f707573486561640106380180bb0000000001040200010203", ERR_CODEC,
      { .profile = "" } },
    { "Opus without magic", AV_OPUS, "4f707573486561650102380180bb0000000000", ERR_CODEC,
      { .profile = "" } },
    { "FLAC", AV_FLAC, FLAC, ERR_OK, { .sample_rate = 44100, .channels = 2 } },
    { "FLAC without STREAMINFO", AV_FLAC, "664c614381000022100010000000000000000ac442f000000000"
                       "000000000000000000000000000000000000", ERR_CODEC, { .profile = "" } },
    { "FLAC cut", AV_FLAC, "664c6143", ERR_CODEC, { .profile = "" } },
    { "AC-3 is not read", AV_AC3, "00", ERR_OK, { .profile = "" } },
    { "not known", AV_CODEC_NONE, "", ERR_OK, { .profile = "" } },
};

static void test_configs(void **state)
{
    uint8_t bytes[256];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t size = hex(bytes, rows[i].config);
        struct av_info got;

        print_message("  %s\n", rows[i].name);
        assert_err(av_info_parse(&got, rows[i].codec, bytes, size), rows[i].code);
        if (rows[i].code != ERR_OK)
            continue;
        assert_string_equal(got.profile, rows[i].want.profile);
        assert_string_equal(got.level, rows[i].want.level);
        assert_int_equal(got.width, rows[i].want.width);
        assert_int_equal(got.height, rows[i].want.height);
        assert_int_equal((int)(got.fps * 1000), (int)(rows[i].want.fps * 1000));
        assert_int_equal(got.sample_rate, rows[i].want.sample_rate);
        assert_int_equal(got.channels, rows[i].want.channels);
        assert_int_equal(got.nalu_length, rows[i].want.nalu_length);
        assert_int_equal(got.reorder, rows[i].want.reorder);
    }
}

struct sets {
    struct nalu v[8];
    unsigned n;
};

static void add_set(void *arg, const uint8_t *unit, size_t size)
{
    struct sets *s = arg;

    assert_true(s->n < COUNT(s->v));
    s->v[s->n++] = (struct nalu){ unit, size };
}

/* A configuration built from the parameter sets of another has the same content. */
static void test_records(void **state)
{
    unsigned made = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct nalu_codec *codec = av_codec_row(rows[i].codec)->nalu;
        uint8_t bytes[256];
        size_t size = hex(bytes, rows[i].config);
        struct sets sets = { .n = 0 };
        struct av_info got;
        unsigned length;
        struct wr w;

        if (!codec || rows[i].code != ERR_OK || rows[i].want.width == 0)
            continue;
        assert_ok(codec->sets(bytes, size, &length, add_set, &sets));
        wr_init(&w, 4096);
        if (codec->record(&w, sets.v, sets.n)) {
            made++;
            assert_ok(av_info_parse(&got, rows[i].codec, w.buf, w.len));
            assert_string_equal(got.profile, rows[i].want.profile);
            assert_int_equal(got.width, rows[i].want.width);
            assert_int_equal(got.nalu_length, 4);
            if (strcmp(rows[i].config, AVC_HIGH) == 0 || strcmp(rows[i].config, HEVC_MAIN) == 0)
                assert_int_equal(w.len, size);
        }
        w.len = 0;
        assert_false(codec->record(&w, sets.v, 0));
        assert_false(codec->record(&w, sets.v, 1)); /* without the others */
        wr_free(&w);
    }
    assert_true(made >= 3);
}

/* A buffer of the exact size each time, so that a sanitizer sees a read past the end. */
static err_t parse_exact(enum av_codec codec, const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    struct av_info info;
    err_t err;

    memcpy(exact, bytes, size);
    err = av_info_parse(&info, codec, exact, size);
    free(exact);
    return err;
}

/* If the last byte that matters is cut off, that is an error; before it, always. */
static void test_cut_at_every_byte(void **state)
{
    static const struct {
        enum av_codec codec;
        const char *config;
        size_t least; /* shorter than this is an error */
    } cuts[] = {
        { AV_H264, AVC_HIGH, 43 },         /* the rest are bit depths, which are not needed */
        { AV_H265, HEVC_MAIN, 111 },
        { AV_VP9, "01000000000b820202020000", 12 },
        { AV_AAC, "1190", 2 },
        { AV_MP3, "fffb40c0", 4 },
        { AV_OPUS, "4f707573486561640102380180bb0000000000", 19 },
        { AV_FLAC, FLAC, 42 },
    };
    uint8_t bytes[256];

    (void)state;
    for (size_t i = 0; i < COUNT(cuts); i++) {
        size_t size = hex(bytes, cuts[i].config);

        for (size_t n = 0; n <= size; n++)
            assert_err(parse_exact(cuts[i].codec, bytes, n), n < cuts[i].least ? ERR_CODEC : ERR_OK);
    }
}

/* Truncated inside of the parameter set itself, regardless of the record's size field. */
static void test_sps_cut_at_every_byte(void **state)
{
    uint8_t bytes[256];
    size_t size = hex(bytes, "6764000dacd941519e226c0440000003004000000c83c50a6580");
    struct av_info info = { 0 };

    (void)state;
    for (size_t n = 0; n <= 10; n++)
        assert_err(h264_sps_parse(&info, bytes, n), ERR_CODEC);
    for (size_t n = 11; n <= size; n++) /* the frame size is there: a truncated VUI has no rate */
        assert_ok(h264_sps_parse(&info, bytes, n));
    size = hex(bytes, "42010101600000030090000003000003003ca00a480b9c9596566924caf01680800000"
                      "03008000000c84");
    for (size_t n = 0; n <= 23; n++)
        assert_err(h265_sps_parse(&info, bytes, n), ERR_CODEC);
    for (size_t n = 24; n <= size; n++)
        assert_ok(h265_sps_parse(&info, bytes, n));
}

static void test_hevc_sets(void **state)
{
    static const int types[] = { H265_VPS, H265_SPS, H265_PPS };
    uint8_t bytes[256];
    struct h265_config c;
    const uint8_t *unit;
    size_t size, i = 0;

    (void)state;
    assert_ok(h265_record_parse(&c, bytes, hex(bytes, HEVC_MAIN)));
    for (; h265_sets_next(&c.sets, &unit, &size); i++) {
        assert_int_equal(c.sets.type, types[i]);
        assert_int_equal(h265_nalu_type(unit[0]), types[i]);
    }
    assert_int_equal(i, 3);
}

static void test_bits(void **state)
{
    struct bits b = bits_init("\xa6\x42\x98\xe2\x04\x8a", 6); /* 1 010 011 00100 00101 00110 ... */

    (void)state;
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(bits_ue(&b), i);
    assert_int_equal(b.bad, false);
    b = bits_init("\xa6\x42\x98", 3);
    for (int i = 0; i < 5; i++)
        assert_int_equal(bits_se(&b), i & 1 ? (i + 1) / 2 : -(i / 2));
    b = bits_init("\0\0\0\0\xff\xff\xff\xff\xff", 9); /* 32 zeros: longer than any code */
    assert_int_equal(bits_ue(&b), 0);
    assert_err(bits_err(&b, "code"), ERR_CODEC);
    b = bits_init("\0\0\0\1\xff\xff\xff\xff", 8); /* the longest: 2^32 - 2 */
    assert_int_equal(bits_ue(&b), 0xfffffffe);
    assert_ok(bits_err(&b, "code"));
    b = bits_init("\x10", 1);
    assert_int_equal(bits_ue(&b), 7);
    b = bits_init("\x01", 1);
    assert_int_equal(bits_ue(&b), 0);
    assert_err(bits_err(&b, "code"), ERR_CODEC);
    assert_int_equal(bits_u(&b, 1), 0); /* and the error stays */
}

/* Emulation prevention: 00 00 03 before 00..03 only, and kept at the end. */
static void test_emulation_bytes(void **state)
{
    static const struct {
        const char *in, *out;
    } emulation[] = {
        { "00000300", "000000" }, { "00000301", "000001" }, { "00000302", "000002" },
        { "00000303", "000003" }, { "00000304", "00000304" }, { "000003", "000003" },
        { "0000030000030000", "000000000000" }, { "00000303ff", "000003ff" },
        { "000303", "000303" }, { "0000000301", "00000001" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(emulation); i++) {
        uint8_t in[16], want[16];
        size_t size = hex(in, emulation[i].in), n = hex(want, emulation[i].out);
        struct bits b = bits_init_nalu(in, size);

        for (size_t k = 0; k < n; k++)
            assert_int_equal(bits_u(&b, 8), want[k]);
        assert_int_equal(bits_u(&b, 1), 0);
        assert_int_equal(b.bad, true);
    }
}

static void test_adts(void **state)
{
    struct aac_config c;
    uint8_t head[7];

    (void)state;
    assert_ok(aac_asc_parse(&c, (const uint8_t *)"\x11\x90", 2));
    assert_ok(aac_adts_build(head, &c, 100)); /* MPEG-4, no CRC, LC, 48 kHz, stereo, 107 bytes */
    assert_memory_equal(head, "\xff\xf1\x4c\x80\x0d\x7f\xfc", sizeof(head));
    assert_ok(aac_adts_build(head, &c, 8184));
    assert_err(aac_adts_build(head, &c, 8185), ERR_CODEC);
    c = (struct aac_config){ 0 }; /* raw AAC before its configuration cannot become ADTS */
    assert_err(aac_adts_build(head, &c, 100), ERR_CODEC);
}

static void test_mp3_frames(void **state)
{
    struct mp3_frame f;

    (void)state;
    assert_ok(mp3_frame_parse(&f, (const uint8_t *)"\xff\xfb\x90\x64", 4));
    assert_int_equal(f.size, 417);
    assert_int_equal(f.samples, 1152);
    assert_int_equal(f.bit_rate, 128000);
    assert_int_equal(f.channels, 2);
    assert_ok(mp3_frame_parse(&f, (const uint8_t *)"\xff\xf3\x90\x64", 4)); /* MPEG-2 */
    assert_int_equal(f.rate, 22050);
    assert_int_equal(f.size, 261);
    assert_err(mp3_frame_parse(&f, (const uint8_t *)"\xff\xfb\xf0\x64", 4), ERR_CODEC);
}

static bool is_text(const char *s)
{
    return s && *s && strlen(s) < 8;
}

static void check_flv(enum av_codec c, const struct av_codec_row *row)
{
    const struct av_codec_flv *flv = &row->flv;
    bool enhanced = flv->fourcc[0][0];

    assert_true(enhanced || flv->ids[0]);
    assert_true(flv->legacy ? flv->ids[0] > 0 : enhanced); /* our output */
    assert_true(flv->ids[0] > 0 || (flv->ids[1] == 0 && !flv->packet_type && !flv->legacy));
    assert_true(flv->sound <= 0x0f);
    assert_true(flv->sound == 0 || (row->kind == AV_AUDIO && flv->legacy));
    assert_true(!flv->cts || row->kind == AV_VIDEO);
    assert_true(!flv->legacy || row->kind != AV_VIDEO || flv->packet_type);
    for (int i = 0; i < 2; i++) {
        if (flv->ids[i]) { /* no other one has it */
            assert_true(flv->ids[i] <= 15 && (row->kind == AV_AUDIO || flv->ids[i] <= 13));
            assert_int_equal(av_codec_of_flv(row->kind, flv->ids[i]), c);
        }
        if (flv->fourcc[i][0]) {
            assert_int_equal(strlen(flv->fourcc[i]), 4);
            for (int k = AV_VIDEO; k < AV_DATA; k++)
                assert_int_equal(av_codec_of_fourcc((enum av_kind)k,
                                                    (const uint8_t *)flv->fourcc[i]),
                                 k == (int)row->kind ? c : AV_CODEC_NONE);
        }
    }
}

static void check_units(const struct nalu_codec *units)
{
    uint8_t aud[3];

    memcpy(aud, units->aud, sizeof(aud));
    assert_true(units->aud_size > 1 && units->aud_size <= sizeof(units->aud));
    assert_true(units->sei_size > 0 && units->sei_size <= sizeof(units->sei));
    assert_int_equal(units->type(aud), units->type_aud);
    assert_true(units->type_aud != units->type_sps);
    assert_non_null(units->sets);
}

/* Every column of every row fits the others. */
static void test_table(void **state)
{
    (void)state;
    for (int c = AV_CODEC_NONE + 1; c < AV_CODECS; c++) {
        const struct av_codec_row *row = av_codec_row((enum av_codec)c);
        bool audio = row->kind == AV_AUDIO;

        print_message("  %s\n", row->name);
        assert_true(is_text(row->name));
        assert_true(audio || row->kind == AV_VIDEO);
        for (int other = AV_CODEC_NONE + 1; other < c; other++)
            assert_string_not_equal(row->name, av_codec_name((enum av_codec)other));
        check_flv((enum av_codec)c, row);
        assert_true(!row->samples || audio);
        assert_true(!row->key_size || !audio);
        assert_true(!row->nalu || !audio);
        assert_true(!row->frame_config || (row->parse && !row->flv.packet_type));
        assert_true(!row->list_name || row->parse); /* it gets the measured cost */
        assert_int_equal(av_codec_frames_configure((enum av_codec)c),
                         row->frame_config || row->key_size);
        if (row->nalu)
            check_units(row->nalu);
    }
}

static void test_no_such_codec(void **state)
{
    char name[8] = "x";
    uint32_t rate = 7;

    (void)state;
    assert_int_equal(av_codec_of_fourcc(AV_AUDIO, (const uint8_t *)"avc1"), AV_CODEC_NONE);
    assert_int_equal(av_codec_of_fourcc(AV_VIDEO, (const uint8_t *)"\0\0\0\0"), AV_CODEC_NONE);
    assert_int_equal(av_codec_of_flv(AV_AUDIO, 255), AV_CODEC_NONE);
    for (int kind = 0; kind < AV_KINDS; kind++)
        assert_int_equal(av_codec_of_flv((enum av_kind)kind, 0), AV_CODEC_NONE);
    assert_string_equal(av_codec_name((enum av_codec)200), "unknown");
    assert_string_equal(av_codec_list_name(AV_CODEC_NONE, NULL, 0, name, sizeof(name)), "");
    assert_int_equal(av_codec_samples(AV_H264, NULL, 0, &rate), 0);
    assert_int_equal(rate, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_configs), TEST(test_records), TEST(test_cut_at_every_byte),
        TEST(test_sps_cut_at_every_byte),
        TEST(test_hevc_sets), TEST(test_bits), TEST(test_emulation_bytes), TEST(test_adts),
        TEST(test_mp3_frames), TEST(test_table),
        TEST(test_no_such_codec),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
