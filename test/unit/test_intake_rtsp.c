/* SPDX-License-Identifier: MIT */
/* test_intake_rtsp.c - from a description and RTP packets to packets of a stream, with real cameras' habits. */
#include "rtsp_camera.h"

#define SPROP "sprop-parameter-sets=Z2QADKzZQUGfnwFsgAAAAwCAAAAZB4oUyw==,aOvjyyLA"

/* ---- the stream, and its output */

static unsigned seen_configs(enum av_kind kind)
{
    unsigned n = 0;

    for (unsigned i = 0; i < intake.n; i++)
        n += intake.v[i].kind == kind && intake.v[i].config;
    return n;
}

/* ---- descriptions */

static const struct {
    const char *name, *sdp;
    int track;
    enum err_code code;
    const char *takes; /* numbers of media */
} chosen[] = {
    { "both", SDP_HEAD SDP_H264("") SDP_AAC, -1, ERR_OK, "01" },
    { "audio only", SDP_HEAD SDP_AAC, -1, ERR_OK, "0" },
    { "static types without names", SDP_HEAD "m=audio 0 RTP/AVP 0\r\nm=video 0 RTP/AVP 26\r\n", -1,
      ERR_OK, "0" },
    { "a static type that is of another kind", SDP_HEAD "m=video 0 RTP/AVP 0\r\n", -1,
      ERR_UNSUPPORTED, "" },
    { "ONVIF metadata", SDP_HEAD SDP_H264("") "m=application 0 RTP/AVP 107\r\n"
      "a=rtpmap:107 vnd.onvif.metadata/90000\r\n" SDP_AAC, -1, ERR_OK, "02" },
    { "two of video, the first", SDP_HEAD SDP_H264("") SDP_H264("") SDP_AAC, -1, ERR_OK, "02" },
    { "two of video, the second", SDP_HEAD SDP_H264("") SDP_H264("") SDP_AAC, 1, ERR_OK, "12" },
    { "one that is not there", SDP_HEAD SDP_H264("") SDP_AAC, 9, ERR_OK, "01" },
    { "the first is of another codec", SDP_HEAD "m=video 0 RTP/AVP 26\r\n" SDP_H264(""), -1, ERR_OK,
      "1" },
    { "telephone events next to audio", SDP_HEAD "m=audio 0 RTP/AVP 101 8\r\na=rtpmap:101 "
      "telephone-event/8000\r\na=rtpmap:8 PCMA/8000\r\n", -1, ERR_OK, "0" },
    { "AAC without a configuration", SDP_HEAD SDP_H264("") "m=audio 0 RTP/AVP 97\r\n"
      "a=rtpmap:97 MPEG4-GENERIC/48000/2\r\n", -1, ERR_OK, "0" },
    { "G.711 of two channels", SDP_HEAD "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 PCMU/8000/2\r\n", -1,
      ERR_UNSUPPORTED, "" },
    { "a clock of nonsense", SDP_HEAD "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/1\r\n", -1,
      ERR_UNSUPPORTED, "" },
    { "interleaved units", SDP_HEAD SDP_H264(";packetization-mode=2") "m=video 0 RTP/AVP 96\r\n"
      "a=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=2\r\n", -1, ERR_OK, "0" },
    { "nothing", SDP_HEAD, -1, ERR_UNSUPPORTED, "" },
    { "no description", "hello", -1, ERR_MALFORMED, "" },
};

static void test_choose(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(chosen); i++) {
        struct rtsp_intake_opts opts = { .track = chosen[i].track };
        struct rtsp_intake *r = NULL;
        char takes[SEEN_MAX] = "";

        print_message("  %s\n", chosen[i].name);
        assert_err(rtsp_intake_new(&r, chosen[i].sdp, strlen(chosen[i].sdp), &opts),
                   chosen[i].code);
        for (unsigned k = 0; r && k < rtsp_intake_count(r); k++) {
            char digit[2] = { (char)('0' + k), 0 };

            if (rtsp_intake_takes(r, k))
                strcat(takes, digit);
            rtsp_intake_set_up(r, k, true);
        }
        assert_string_equal(takes, chosen[i].takes);
        if (r) {
            assert_int_equal(rtsp_intake_ready(r), strlen(takes));
            rtsp_intake_set_up(r, (unsigned)(takes[0] - '0'), false);
            assert_int_equal(rtsp_intake_ready(r), strlen(takes) - 1);
        }
        rtsp_intake_free(r);
    }
}

static void test_controls(void **state)
{
    static const char sdp[] = SDP_HEAD "a=control:*\r\n" SDP_H264("") SDP_AAC
                              "m=audio 0 RTP/AVP 0\r\n";
    struct rtsp_intake *r;

    (void)state;
    assert_ok(rtsp_intake_new(&r, sdp, sizeof(sdp) - 1, &intake_plain));
    assert_int_equal(rtsp_intake_count(r), 3);
    assert_string_equal(rtsp_intake_session_control(r), "*");
    assert_string_equal(rtsp_intake_control(r, 0), "streamid=0");
    assert_string_equal(rtsp_intake_control(r, 1), "streamid=1");
    assert_string_equal(rtsp_intake_control(r, 2), "");
    assert_false(rtsp_intake_takes(r, 2));
    assert_false(rtsp_intake_takes(r, 3));
    rtsp_intake_set_up(r, 3, true);
    assert_int_equal(rtsp_intake_due(r), CO_FOREVER);
    rtsp_intake_free(r);
    rtsp_intake_free(NULL);
}

/* ---- codecs */

static const struct {
    enum av_codec codec;
    const char *media; /* m= and so on */
    uint32_t clock;
    unsigned configs;
    double codec_id;   /* in onMetaData */
} codecs[] = {
    { AV_H264, SDP_H264(""), 90000, 1, 7 },
    { AV_H264, SDP_H264(";" SPROP), 90000, 1, 7 },
    { AV_H265, "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H265/90000\r\n", 90000, 1, 0x68766331 },
    { AV_AV1, "m=video 0 RTP/AVP 96\r\na=rtpmap:96 AV1/90000\r\n", 90000, 1, 0x61763031 },
    { AV_VP9, "m=video 0 RTP/AVP 96\r\na=rtpmap:96 VP9/90000\r\n", 90000, 1, 0x76703039 },
    { AV_AAC, SDP_AAC, 48000, 1, 10 },
    { AV_MP3, "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPA/90000\r\n", 90000, 0, 2 },
    { AV_OPUS, "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 opus/48000/2\r\n", 48000, 1, 0x4f707573 },
    { AV_G711A, "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 PCMA/8000\r\n", 8000, 0, 7 },
    { AV_G711U, "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 PCMU/8000\r\n", 8000, 0, 8 },
};

static double metadata_number(const char *key)
{
    struct rd r = rd_init(intake.metadata.buf, intake.metadata.len);
    struct amf_value name, meta;
    struct amf amf;
    double v;

    amf_init(&amf, 0);
    assert_ok(amf0_read(&amf, &r, &name));
    assert_string_equal(name.string, "onMetaData");
    assert_ok(amf0_read(&amf, &r, &meta));
    assert_string_equal(amf_get_string(&meta, "server", ""), "us");
    v = amf_get_number(&meta, key, -1);
    amf_free(&amf);
    return v;
}

static void check_codec(size_t row, enum av_kind kind)
{
    bool video = kind == AV_VIDEO;
    unsigned meta = codecs[row].codec == AV_VP9 ? 1 : 0; /* its key frames have the size */

    assert_int_equal(intake.v[meta].kind, AV_DATA);
    assert_int_equal(intake.v[meta].origin, FLV_DATA);
    assert_true(intake.v[meta].config);
    for (unsigned i = 0; i < codecs[row].configs; i++)
        assert_true(intake.v[1 - meta].config && intake.v[1 - meta].kind == kind);
    assert_int_equal(seen_configs(kind), codecs[row].configs);
    assert_int_equal(seen_configs(AV_DATA), 1);
    assert_true(metadata_number(video ? "videocodecid" : "audiocodecid") == codecs[row].codec_id);
    assert_true(metadata_number(video ? "width" : "audiosamplerate") > 0);
    assert_true(metadata_number(video ? "audiocodecid" : "videocodecid") < 0);
}

static void test_codecs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codecs); i++) {
        enum av_kind kind = av_codec_row(codecs[i].codec)->kind;
        unsigned held = kind == AV_VIDEO ? 1 : 0;
        struct camera c;
        char sdp[1024];

        print_message("  %s\n", av_codec_name(codecs[i].codec));
        (void)snprintf(sdp, sizeof(sdp), "%s%s", SDP_HEAD, codecs[i].media);
        intake_begin(sdp, &intake_plain, i % 2);
        camera_new(&c, 0, codecs[i].codec);
        c.clock = codecs[i].clock;
        camera_start(&c);
        camera_film(&c, 0, FRAMES);
        assert_in_range(check_frames(&c, kind, false), FRAMES - held, FRAMES);
        check_order(kind);
        check_codec(i, kind);
        assert_int_equal(intake_stat().lost, 0);
        assert_int_equal(intake_stat().broken + intake_stat().waiting + intake_stat().dropped, 0);
        camera_free(&c);
        intake_end();
    }
}

/* ---- habits of real cameras */

static const struct {
    const char *name, *sprop;
    enum marks marks;
    bool both_bits;
    size_t mtu;
} quirks[] = {
    { "as it should be", ";" SPROP, MARK_LAST, false, 1000 },
    { "no marker", ";" SPROP, MARK_NEVER, false, 1000 },
    { "a marker on each packet", ";" SPROP, MARK_ALWAYS, false, 1000 },
    { "no sprop", "", MARK_LAST, false, 1000 },
    { "an SPS without PPS", ";sprop-parameter-sets=Z2QADKzZQUGfnwFsgAAAAwCAAAAZB4oUyw==,",
      MARK_LAST, false, 1000 },
    { "fragments with both bits", "", MARK_LAST, true, 60000 },
    { "all of it", "", MARK_NEVER, true, 60000 },
};

static void test_quirks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(quirks); i++) {
        struct camera c;
        char sdp[1024];
        unsigned n;

        print_message("  %s\n", quirks[i].name);
        (void)snprintf(sdp, sizeof(sdp), "%s%s%s%s%s", SDP_HEAD,
                       "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 x=1",
                       quirks[i].sprop, "\r\n", SDP_AAC);
        intake_begin(sdp, &intake_plain, false);
        camera_new(&c, VIDEO, AV_H264);
        c.marks = quirks[i].marks;
        c.both_bits = quirks[i].both_bits;
        c.mtu = quirks[i].mtu;
        camera_start(&c);
        camera_film(&c, 0, FRAMES);
        n = check_frames(&c, AV_VIDEO, quirks[i].marks == MARK_ALWAYS);
        print_message("    %u of %d\n", n, FRAMES);
        assert_in_range(n, FRAMES - 12, FRAMES);
        if (quirks[i].marks != MARK_ALWAYS)
            assert_in_range(n, FRAMES - 1, FRAMES);
        assert_int_equal(seen_configs(AV_VIDEO), 1);
        assert_true(metadata_number("width") == 320);
        camera_free(&c);
        intake_end();
    }
}

/* It dies in the middle of a frame, and another one replaces it, with other numbers. */
static void test_dies(void **state)
{
    struct camera c;
    struct frame f;

    (void)state;
    intake_begin(SDP_HEAD SDP_H264(""), &intake_plain, false);
    camera_new(&c, VIDEO, AV_H264);
    camera_start(&c);
    camera_film(&c, 0, 20);
    f = media_make(AV_H264, 20, FRAME_SIZE, camera_frame);
    camera_send(&c, &f, 2);
    c.ssrc ^= 0x5555;
    c.seq = 77;
    c.base = 123456;
    intake.now += CO_SECONDS(3);
    camera_film(&c, 30, 20);
    assert_in_range(check_frames(&c, AV_VIDEO, false), 38, 40);
    check_order(AV_VIDEO);
    assert_int_equal(intake_stat().broken, 1);
    /* time continued normally */
    assert_in_range(intake.v[intake.n - 1].dts - intake.v[2].dts, 30 * 90 * 33 + 3 * 90000,
                    42 * 90 * 33 + 3 * 90000 + 9000);
    camera_free(&c);
    intake_end();
}

/* Distance of timestamps from the arrival of packets, from one frame to the next. */
static int64_t worst_step(enum av_kind kind, int64_t each)
{
    int64_t last = INT64_MIN, worst = 0;

    for (unsigned i = 0; i < intake.n; i++) {
        int64_t off;

        if (intake.v[i].kind != kind || intake.v[i].config)
            continue;
        off = last == INT64_MIN ? 0 : intake.v[i].dts - last - each;
        off = off < 0 ? -off : off;
        worst = off > worst ? off : worst;
        last = intake.v[i].dts;
    }
    return worst;
}

/* Its clock is set, forward and back, of one track or both: the stream's time continues. */
static void test_jumps(void **state)
{
    static const int64_t jumps[] = { 3600, -3600, 20, -20, 5, -2, 100000, -100000 };

    (void)state;
    for (size_t i = 0; i < COUNT(jumps) * 2; i++) {
        struct camera v, a;

        intake_begin(SDP_HEAD SDP_H264("") SDP_AAC, &intake_plain, false);
        camera_new(&v, VIDEO, AV_H264);
        camera_new(&a, AUDIO, AV_AAC);
        camera_start(&v);
        camera_start(&a);
        for (unsigned k = 0; k < 50; k++) {
            camera_film(&v, k, 1);
            intake.now -= CO_MS(21);
            camera_film(&a, k * 33 / 21, 1);
            if (k == 20)
                v.base += (uint32_t)(uint64_t)(jumps[i / 2] * 90000);
            if (k == 25 && i % 2)
                a.base += (uint32_t)(uint64_t)(jumps[i / 2] * 48000);
        }
        check_order(AV_VIDEO);
        print_message("  %lld s: off by %lld, %lld\n", (long long)jumps[i / 2],
                      (long long)worst_step(AV_VIDEO, 3000),
                      (long long)worst_step(AV_AUDIO, 1920));
        assert_in_range(worst_step(AV_VIDEO, 3000), 0, 6000);
        assert_in_range(worst_step(AV_AUDIO, 1920), 0, 6000);
        camera_free(&v);
        camera_free(&a);
        intake_end();
    }
}

static void test_untrusted_clients(void **state)
{
    static const uint8_t hole[] = { 0xfe, 0xed, 0xfa, 0xce }, cut[11] = { 0x80, 96 };
    struct camera c;
    uint8_t alive[RTP_HEADER];

    (void)state;
    intake_begin(SDP_HEAD SDP_H264("") SDP_AAC, &intake_plain, true);
    camera_new(&c, VIDEO, AV_H264);
    camera_start(&c);
    camera_film(&c, 0, 10);
    assert_false(rtsp_intake_put(intake.r, VIDEO, false, hole, sizeof(hole), intake.now));
    assert_false(rtsp_intake_put(intake.r, VIDEO, false, cut, sizeof(cut), intake.now));
    assert_false(rtsp_intake_put(intake.r, VIDEO, false, cut, 0, intake.now));
    c.type = 99; /* that is not in the description */
    camera_film(&c, 10, 1);
    c.type = VIDEO_TYPE;
    c.seq--;
    assert_false(rtsp_intake_put(intake.r, 2, false, hole, sizeof(hole), intake.now)); /* no such track */
    assert_false(rtsp_intake_put(intake.r, 200, true, hole, sizeof(hole), intake.now));
    assert_true(intake_stat().dropped > 5);
    /* no payload: a keepalive */
    rtp_build(alive, false, VIDEO_TYPE, c.seq++, c.base, c.ssrc);
    assert_true(rtsp_intake_put(intake.r, VIDEO, false, alive, sizeof(alive), intake.now));
    camera_free(&c);
    intake_end();
}

/* ---- reordered frames */

static void test_b_frames(void **state)
{
    /* displayed in this order, decoded as listed: I P B B P B B ... */
    struct camera c;

    (void)state;
    intake_begin(SDP_HEAD SDP_H264(";" SPROP), &intake_plain, false);
    camera_new(&c, VIDEO, AV_H264);
    camera_start(&c);
    for (unsigned i = 0; i < FRAMES; i++) {
        struct frame f = media_make(AV_H264, i, FRAME_SIZE, camera_frame);
        unsigned shown = i == 0 ? 0 : i % 3 == 1 ? i + 2 : i - 1;

        f.pts = (int64_t)shown * 3000;
        camera_expect(&c, &f);
        camera_send(&c, &f, UINT32_MAX);
        intake.now += CO_MS(33);
    }
    assert_in_range(check_frames(&c, AV_VIDEO, false), FRAMES - 1, FRAMES);
    for (unsigned i = 1; i < intake.n; i++) {
        if (intake.v[i].kind != AV_VIDEO || intake.v[i].config || intake.v[i - 1].config)
            continue;
        assert_true(intake.v[i].dts > intake.v[i - 1].dts);
        assert_true(i < 12 || intake.v[i].dts <= intake.v[i].pts);
    }
    camera_free(&c);
    intake_end();
}

/* The parameters change: a configuration at its place. */
static void test_other_parameters(void **state)
{
    struct frame other = media_config(AV_H264, MEDIA_BYTES(
        "\x01\x42\xc0\x1e\xff\xe1\x00\x09\x67\x42\xc0\x1e\xd9\x00\xa0\x47\xfe\x01\x00\x04\x68\xce\x3c\x80"));
    struct camera c;
    unsigned at = 0;

    (void)state;
    intake_begin(SDP_HEAD SDP_H264(";" SPROP), &intake_plain, false);
    camera_new(&c, VIDEO, AV_H264);
    camera_start(&c);
    camera_film(&c, 0, 20);
    assert_int_equal(seen_configs(AV_VIDEO), 1);
    assert_ok(rtp_pack(&c.packer, &other, &c.k.sink));
    camera_film(&c, 20, 20);
    assert_int_equal(seen_configs(AV_VIDEO), 2);
    for (unsigned i = intake.n - 1; i > 0 && at == 0; i--)
        at = intake.v[i].config && intake.v[i].kind == AV_VIDEO ? i : 0;
    assert_true(intake.v[at + 1].key && !intake.v[at + 1].config);
    assert_true(intake.v[at + 1].hash == c.hashes[20]);
    camera_free(&c);
    intake_end();
}

/* ---- networks */

/* A track that was not set up does not exist; a track that never sends blocks nothing. */
static void test_not_set_up(void **state)
{
    static const char sdp[] = SDP_HEAD SDP_H264("") SDP_AAC;
    struct camera a;

    (void)state;
    intake_begin(sdp, &intake_plain, false);
    rtsp_intake_free(intake.r);
    assert_ok(rtsp_intake_new(&intake.r, sdp, sizeof(sdp) - 1, &intake_plain));
    rtsp_intake_set_up(intake.r, AUDIO, true);
    rtsp_intake_begin(intake.r, intake.src, false, intake.now);
    camera_new(&a, AUDIO, AV_AAC);
    camera_start(&a);
    camera_film(&a, 0, 10);
    assert_int_equal(check_frames(&a, AV_AUDIO, false), 10);
    assert_true(metadata_number("videocodecid") < 0);
    a.media = VIDEO;
    a.type = VIDEO_TYPE;
    camera_film(&a, 10, 1);
    assert_int_equal(seen_frames(AV_VIDEO), 0);
    assert_true(intake_stat().dropped > 0);
    camera_free(&a);
    intake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_choose), TEST(test_controls), TEST(test_codecs), TEST(test_quirks),
        TEST(test_dies), TEST(test_jumps), TEST(test_untrusted_clients), TEST(test_b_frames),
        TEST(test_other_parameters), TEST(test_not_set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
