/* SPDX-License-Identifier: MIT */
/* test_rtp_media_packets.c - RTP packets according to the specifications, and limits. */
#include "rtp_frames.h"

/* ---- SDP */

static const struct {
    const char *format;
    enum av_kind kind;
    const char *fmtp;
    enum err_code code;
} tracks[] = {
    { "h264", AV_VIDEO, "", ERR_OK },
    { "H264", AV_VIDEO, "packetization-mode=2", ERR_UNSUPPORTED },
    { "H265", AV_VIDEO, "sprop-max-don-diff=3", ERR_UNSUPPORTED },
    { "HEVC", AV_VIDEO, " ", ERR_OK },
    { "MPEG4-GENERIC", AV_AUDIO, "", ERR_CODEC },
    { "MPEG4-GENERIC", AV_AUDIO, "config=1", ERR_CODEC },
    { "MPEG4-GENERIC", AV_AUDIO, "config=119g", ERR_CODEC },
    { "MPEG4-GENERIC", AV_AUDIO, "CONFIG = 1190 ;MODE=aac-LBR", ERR_OK },
    { "MPEG4-GENERIC", AV_AUDIO, "config=1190;sizelength=0", ERR_UNSUPPORTED },
    { "MPEG4-GENERIC", AV_AUDIO, "config=1190;sizelength=999999999", ERR_UNSUPPORTED },
    { "MPEG4-GENERIC", AV_AUDIO, "config=1190;ctsdeltalength=4", ERR_UNSUPPORTED },
    { "MP4A-LATM", AV_AUDIO, "config=400023203FC0", ERR_UNSUPPORTED },
    { "MP4A-LATM", AV_AUDIO, "cpresent=0", ERR_CODEC },
    { "MP4A-LATM", AV_AUDIO, "cpresent=0;config=", ERR_UNSUPPORTED },
    { "MP4A-LATM", AV_AUDIO, "cpresent=0;config=c00023203FC0", ERR_UNSUPPORTED },
    { "opus", AV_AUDIO, "sprop-stereo=0", ERR_OK },
    { "PCMU", AV_AUDIO, "", ERR_OK },
};

static void test_tracks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(tracks); i++) {
        struct rtp_unpacker_opts opts = { .fmtp = { tracks[i].fmtp, strlen(tracks[i].fmtp) } };
        struct rtp_unpacker u;

        print_message("  %s %s\n", tracks[i].format, tracks[i].fmtp);
        opts.fmt = rtp_format_named(tracks[i].kind, tracks[i].format, strlen(tracks[i].format));
        assert_non_null(opts.fmt);
        assert_err(rtp_unpacker_init(&u, &opts), tracks[i].code);
        if (tracks[i].code == ERR_OK)
            rtp_unpacker_fini(&u);
    }
    assert_null(rtp_format_named(AV_AUDIO, "H264", 4));
    assert_null(rtp_format_named(AV_VIDEO, "JPEG", 4));
    assert_int_equal(rtp_format_fixed(0)->codec, AV_G711U);
    assert_int_equal(rtp_format_fixed(8)->codec, AV_G711A);
    assert_int_equal(rtp_format_fixed(14)->codec, AV_MP3);
    assert_null(rtp_format_fixed(26));
    assert_null(rtp_format_of(AV_FLAC));
}

static const struct {
    enum av_codec codec;
    const char *map; /* name/clock/channels, "=" its own payload type */
    const char *fmtp;
} said[] = {
    { AV_H264, "H264/90000/0", "packetization-mode=1;profile-level-id=64000C;" SPROP264 },
    { AV_H265, "H265/90000/0",
      "sprop-vps=QAEMAf//AWAAAAMAkAAAAwAAAwA8lZgJ;sprop-sps=QgEBAWAAAAMAkAAAAwAAAwA8oApIC5yVllZpJMrw"
      "FoCAAAADAIAAAAyE;sprop-pps=RAHBcrRiQA==" },
    { AV_AV1, "AV1/90000/0", "profile=0;level-idx=0;tier=0" },
    { AV_VP9, "VP9/90000/0", "profile-id=0" },
    { AV_AAC, "MPEG4-GENERIC/48000/2", "streamtype=5;profile-level-id=1;mode=AAC-hbr;config=1190;"
      "sizelength=13;indexlength=3;indexdeltalength=3" },
    { AV_OPUS, "opus/48000/2", "sprop-stereo=1" },
    { AV_MP3, "MPA/90000/0=14", "" },
    { AV_G711A, "PCMA/8000/0=8", "" },
    { AV_G711U, "PCMU/8000/0=0", "" },
};

/* We parse what we write about a track. */
static void test_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(said); i++) {
        struct frame c = media_config_of(said[i].codec);
        struct rtp_unpacker_opts opts = { .fmt = rtp_format_of(said[i].codec) };
        struct rtp_unpacker u;
        struct rtp_map m;
        char text[64], fixed[8] = "";
        struct wr w;

        print_message("  %s\n", said[i].map);
        assert_true(rtp_map_of(&m, said[i].codec, c.data, c.size));
        if (m.fixed)
            (void)snprintf(fixed, sizeof(fixed), "=%d", m.type);
        (void)snprintf(text, sizeof(text), "%s/%u/%u%s", m.name, m.clock, m.channels, fixed);
        assert_string_equal(text, said[i].map);
        wr_init(&w, 4096);
        rtp_fmtp_write(&w, said[i].codec, c.data, c.size);
        wr_u8(&w, 0);
        assert_string_equal((const char *)w.buf, said[i].fmtp);
        opts.fmtp = (struct span){ (const char *)w.buf, w.len - 1 };
        opts.clock = m.clock;
        assert_ok(rtp_unpacker_init(&u, &opts));
        if (u.has_config && said[i].codec != AV_H264)
            assert_true(u.config.len == c.size && memcmp(u.config.buf, c.data, c.size) == 0);
        rtp_unpacker_fini(&u);
        wr_free(&w);
    }
}

/* ---- packets of frames */

static void pack_one(struct rtp_packer *p, struct media_packets *k, const char *hex, bool key)
{
    uint8_t bytes[512];
    size_t n = unhex(hex, bytes);
    struct frame f = media_frame(p->opts.codec, key, 0, bytes, n);

    k->n = 0;
    k->bytes.len = 0;
    assert_ok(rtp_pack(p, &f, &k->sink));
}

static void assert_packet(const struct media_packets *k, unsigned i, const char *hex, bool marker)
{
    uint8_t bytes[512];
    size_t n = unhex(hex, bytes);

    assert_true(i < k->n);
    assert_int_equal(k->v[i].size, n);
    assert_memory_equal(k->bytes.buf + k->v[i].at, bytes, n);
    assert_int_equal(k->v[i].marker, marker);
}

static void test_h264_packets(void **state)
{
    struct rtp_packer_opts opts = { .codec = AV_H264, .mtu = 64, .sets = true };
    struct frame config = media_config_of(AV_H264);
    struct media_packets k;
    struct rtp_packer p;

    (void)state;
    media_packets_init(&k, 4);
    assert_true(rtp_packer_init(&p, &opts));
    assert_ok(rtp_pack(&p, &config, &k.sink));
    pack_one(&p, &k, "00000002" "09f0" "00000003" "0605aa" "00000003" "65880b", true);
    assert_int_equal(k.n, 2); /* parameter sets and SEI together, without the delimiter */
    assert_packet(&k, 0, "780019" SPS264 "0006" PPS264 "0003" "0605aa", false);
    assert_packet(&k, 1, "65880b", true);
    assert_memory_equal(k.bytes.buf, "$$$$", 4);
    pack_one(&p, &k, "00000006" PPS264 "00000003" "65880b", true); /* has some of its own */
    assert_int_equal(k.n, 2);
    assert_packet(&k, 0, PPS264, false);
    pack_one(&p, &k, "0000000165880b0000000141880c", false); /* Annex B */
    assert_int_equal(k.n, 2);
    assert_packet(&k, 0, "65880b", false);
    assert_packet(&k, 1, "41880c", true);
    pack_one(&p, &k, "0000000209f0", false);
    assert_int_equal(k.n, 0);
    for (int i = 0; i < 2; i++) { /* a frame that is broken at its end: nothing is written */
        struct frame f = media_frame(AV_H264, i == 0, 0, MEDIA_BYTES("\0\0\0\3\x65\x88\1\0\0\0\4\x65"));

        assert_err(rtp_pack(&p, &f, &k.sink), ERR_CODEC);
        assert_int_equal(k.n, 0);
    }
    rtp_packer_fini(&p);
    media_packets_free(&k);
}

/* [AV1-RTP] 4.4: N is on the first packet of a key frame, Z and Y where an OBU continues. */
static void test_av1_packets(void **state)
{
    struct rtp_packer_opts opts = { .codec = AV_AV1, .mtu = 64, .sets = true };
    struct frame config = media_config_of(AV_AV1);
    struct media_packets k;
    struct rtp_packer p;
    uint8_t bytes[256] = { 0x32, 0x96, 1, 0x10 };
    struct frame f = media_frame(AV_AV1, true, 0, bytes, 153);

    (void)state;
    media_packets_init(&k, 0);
    assert_true(rtp_packer_init(&p, &opts));
    assert_ok(rtp_pack(&p, &f, &k.sink)); /* before its configuration: without a header */
    assert_int_equal(k.n, 3);
    assert_int_equal(k.bytes.buf[k.v[0].at], 0x58); /* Y, one element, N */
    assert_int_equal(k.bytes.buf[k.v[1].at], 0xd0); /* Z, Y, one element */
    assert_int_equal(k.bytes.buf[k.v[2].at], 0x90); /* Z, one element */
    assert_true(k.v[0].size == 52 && k.v[1].size == 52 && k.v[2].size == 50);
    assert_ok(rtp_pack(&p, &config, &k.sink));
    pack_one(&p, &k, "1200" "32021001" "2a0201020a0b000000043d06d402f80040", true);
    assert_packet(&k, 0, "38" "03301001" "03280102" "08000000043d06d402f80040", true);
    pack_one(&p, &k, "32021001", true);
    assert_packet(&k, 0, "28" "0c08000000043d06d402f80040" "301001", true);
    pack_one(&p, &k, "36080230017a01ff", false); /* with an extension; padding is left out */
    assert_packet(&k, 0, "10" "34083001", true);
    rtp_packer_fini(&p);
    media_packets_free(&k);
}

static void test_many_obus(void **state)
{
    static uint8_t bytes[3 * (OBU_FRAME_MAX + 1)];
    struct rtp_packer_opts opts = { .codec = AV_AV1, .mtu = 1200 };
    struct media_packets k;
    struct rtp_packer p;

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i += 3)
        memcpy(bytes + i, "\x22\1x", 3);
    media_packets_init(&k, 0);
    assert_true(rtp_packer_init(&p, &opts));
    for (int more = 0; more <= 1; more++) {
        struct frame f = media_frame(AV_AV1, true, 0, bytes, 3 * (size_t)(OBU_FRAME_MAX + more));
        err_t err = rtp_pack(&p, &f, &k.sink);

        assert_int_equal(err_code(err), more ? ERR_CODEC : 0);
        err_free(&err);
    }
    rtp_packer_fini(&p);
    media_packets_free(&k);
}

/* If the writer is full the rest is missing, and nothing is written past it. */
static void test_full_writer(void **state)
{
    (void)state;
    for (size_t row = 0; row < COUNT(rows); row++) {
        struct rtp_packer_opts opts = { .codec = rows[row].codec, .mtu = 200, .sets = true };
        struct frame config = media_config_of(rows[row].codec), f;
        struct media_packets k;
        struct rtp_packer p;

        media_packets_init(&k, 16);
        k.bytes.limit = 300;
        assert_true(rtp_packer_init(&p, &opts));
        if (config.config)
            assert_ok(rtp_pack(&p, &config, &k.sink));
        f = media_make(rows[row].codec, 0, 3000, media_frame_buf);
        assert_ok(rtp_pack(&p, &f, &k.sink));
        assert_true(k.bytes.len <= 300);
        assert_true(k.bytes.bad || rows[row].codec == AV_MP3);
        rtp_packer_fini(&p);
        media_packets_free(&k);
    }
}

static void test_no_config(void **state)
{
    struct rtp_packer_opts opts = { .codec = AV_AAC, .mtu = 1400 };
    struct frame f = media_make(AV_AAC, 0, 100, media_frame_buf);
    struct media_packets k;
    struct rtp_packer p;

    (void)state;
    media_packets_init(&k, 0);
    assert_true(rtp_packer_init(&p, &opts));
    assert_err(rtp_pack(&p, &f, &k.sink), ERR_CODEC);
    f.codec = AV_OPUS;
    assert_err(rtp_pack(&p, &f, &k.sink), ERR_UNSUPPORTED);
    rtp_packer_fini(&p);
    opts.codec = AV_FLAC;
    assert_false(rtp_packer_init(&p, &opts));
    rtp_packer_fini(&p);
    media_packets_free(&k);
}

/* A frame that never ends stops at the limit. */
static void test_frame_limit(void **state)
{
    static uint8_t bytes[60000];
    struct rtp_unpacker_opts opts = { .fmt = rtp_format_of(AV_H264),
                                      .fmtp = { SPROP264, sizeof(SPROP264) - 1 } };
    struct rtp_payload p = { .data = bytes, .size = sizeof(bytes) };
    struct rtp_unpacker u;
    struct rtp_frame f;

    (void)state;
    assert_ok(rtp_unpacker_init(&u, &opts));
    for (int i = 0; i < 200; i++) {
        memcpy(bytes, i ? "\x7c\x05" : "\x7c\x85", 2);
        memset(bytes + 2, 0x88, sizeof(bytes) - 2);
        rtp_unpack_put(&u, &p);
        assert_false(rtp_unpack_next(&u, &f));
    }
    assert_true(u.frame.cap <= 2 * RTP_FRAME_MAX);
    p = (struct rtp_payload){ .data = (const uint8_t *)"\x65\x88\x0b", .size = 3, .ticks = 9,
                              .marker = true };
    rtp_unpack_put(&u, &p);
    assert_false(rtp_unpack_next(&u, &f));
    assert_int_equal(u.stats.broken, 1);
    p.ticks = 18;
    rtp_unpack_put(&u, &p);
    assert_true(rtp_unpack_next(&u, &f) && f.config);
    assert_true(rtp_unpack_next(&u, &f) && f.key);
    rtp_unpacker_fini(&u);
}

/* 513 units are too many for a frame. */
static void test_units_limit(void **state)
{
    struct rtp_unpacker_opts opts = { .fmt = rtp_format_of(AV_H264),
                                      .fmtp = { SPROP264, sizeof(SPROP264) - 1 } };

    (void)state;
    for (int units = RTP_UNITS_MAX; units <= RTP_UNITS_MAX + 1; units++) {
        struct rtp_payload p = { .data = (const uint8_t *)"\x65\x88\x0b", .size = 3 };
        struct rtp_unpacker u;
        struct rtp_frame f;

        assert_ok(rtp_unpacker_init(&u, &opts));
        for (int i = 0; i < units; i++) {
            rtp_unpack_put(&u, &p);
            assert_false(rtp_unpack_next(&u, &f));
        }
        p.ticks = 9;
        rtp_unpack_put(&u, &p);
        assert_int_equal(rtp_unpack_next(&u, &f), units == RTP_UNITS_MAX);
        rtp_unpacker_fini(&u);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_tracks), TEST(test_said), TEST(test_h264_packets), TEST(test_av1_packets),
        TEST(test_many_obus), TEST(test_full_writer), TEST(test_no_config),
        TEST(test_frame_limit), TEST(test_units_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
