/* SPDX-License-Identifier: MIT */
/* test_intake_rtsp.c - from a description and packets of RTP to packets of a stream: cameras as
 * they are, and networks as they are. */
#include "base/log.h"
#include "base/text.h"
#include "co/co.h"
#include "format/flv/flv.h"
#include "intake/rtsp.h"
#include "live/impl.h"
#include "live/reader.h"
#include "proto/rtmp/amf0.h"
#include "proto/rtp/header.h"
#include "proto/rtp/rtcp.h"
#include "proto/rtp/sender.h"
#include "rtp_media.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEN_MAX = 2048, FRAMES = 60, VIDEO = 0, AUDIO = 1, VIDEO_TYPE = 96, AUDIO_TYPE = 97,
       FRAME_SIZE = 3000,
       SOUND_SIZE = 160 };

#define NOW0 CO_SECONDS(1000)

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_OFF, .queue_length = CO_SECONDS(3000),
    .max_bytes = 256 << 20,
};

static const struct rtsp_intake_opts plain = { .track = -1, .jitter = CO_MS(200),
                                                .signature = "us" };

#define SPROP "sprop-parameter-sets=Z2QADKzZQUGfnwFsgAAAAwCAAAAZB4oUyw==,aOvjyyLA"
#define SDP_HEAD "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\n"
#define SDP_H264(fmtp)                                                                    \
    "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1" fmtp \
    "\r\na=control:streamid=0\r\n"
#define SDP_AAC                                                                           \
    "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/48000/2\r\na=fmtp:97 mode=AAC-hbr;" \
    "sizelength=13;indexlength=3;indexdeltalength=3;config=1190\r\na=control:streamid=1\r\n"

/* ---- the stream, and what comes out of it */

struct seen {
    bool config, key;
    uint8_t kind, codec, origin;
    int64_t dts, pts;
    uint64_t hash;
    size_t size;
};

static struct {
    struct rtsp_intake *r;
    struct live_source *src;
    struct live_reader reader;
    co_usec now;
    unsigned n;
    struct seen v[SEEN_MAX];
    struct wr metadata;
} it;

static uint64_t hash_of(const void *data, size_t size)
{
    return text_hash_more(TEXT_HASH_BEGIN, data, size);
}

/* A reader begins at a key frame: it has seen this one when the others come. */
static void open_reader(void)
{
    struct av_packet *pkt = av_packet_new(1);

    pkt->key = true;
    pkt->kind = AV_VIDEO;
    live_source_push(it.src, pkt, 0);
    (void)av_packet_unref(pkt);
    live_reader_open(&it.reader, it.src);
    assert_non_null(live_reader_next(&it.reader));
}

static void look(void)
{
    const struct av_packet *pkt;

    while ((pkt = live_reader_next(&it.reader))) {
        struct flv_message m;

        assert_true(it.n < SEEN_MAX);
        flv_message_build(&m, pkt);
        assert_true(m.type > 0 && flv_message_size(&m) > 0); /* RTMP can have it */
        it.v[it.n++] = (struct seen){
            .config = pkt->config, .key = pkt->key, .kind = pkt->kind, .codec = pkt->codec,
            .origin = pkt->origin, .dts = pkt->dts, .pts = pkt->dts + pkt->cts,
            .hash = hash_of(av_packet_payload(pkt), av_packet_payload_size(pkt)),
            .size = av_packet_payload_size(pkt) };
        if (pkt->kind == AV_DATA) {
            it.metadata.len = 0;
            wr_bytes(&it.metadata, pkt->data, pkt->size);
        }
    }
}

static void begin(const char *sdp, const struct rtsp_intake_opts *opts, bool datagrams)
{
    memset(&it, 0, sizeof(it));
    wr_init(&it.metadata, 65536);
    it.now = NOW0;
    it.src = live_source_new("v/a/s", &settings);
    open_reader();
    assert_ok(rtsp_intake_new(&it.r, sdp, strlen(sdp), opts));
    for (unsigned i = 0; i < rtsp_intake_count(it.r); i++)
        rtsp_intake_set_up(it.r, i, true);
    rtsp_intake_begin(it.r, it.src, datagrams, it.now);
}

static void end(void)
{
    rtsp_intake_free(it.r);
    live_reader_close(&it.reader);
    (void)live_source_unref(it.src);
    wr_free(&it.metadata);
    assert_int_equal(live_source_live(), 0);
}

static struct rtp_intake_stat stat_of(void)
{
    struct rtp_intake_stat s;

    rtsp_intake_stat(it.r, &s);
    return s;
}

/* Those of a kind that are no configuration. */
static unsigned seen_frames(enum av_kind kind)
{
    unsigned n = 0;

    for (unsigned i = 0; i < it.n; i++)
        n += it.v[i].kind == kind && !it.v[i].config;
    return n;
}

static unsigned seen_configs(enum av_kind kind)
{
    unsigned n = 0;

    for (unsigned i = 0; i < it.n; i++)
        n += it.v[i].kind == kind && it.v[i].config;
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
    { "sound alone", SDP_HEAD SDP_AAC, -1, ERR_OK, "0" },
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
    { "tones beside the sound", SDP_HEAD "m=audio 0 RTP/AVP 101 8\r\na=rtpmap:101 "
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
    assert_ok(rtsp_intake_new(&r, sdp, sizeof(sdp) - 1, &plain));
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

/* ---- a camera */

enum marks { MARK_LAST, MARK_NEVER, MARK_ALWAYS };

struct camera {
    enum av_codec codec;
    unsigned media;
    uint8_t type;
    uint32_t clock, ssrc, base;
    uint16_t seq;
    size_t mtu;
    enum marks marks;
    bool sets;       /* in front of each key frame */
    bool both_bits;  /* of fragments with begin and end */
    struct rtp_packer packer;
    struct media_packets k;
    uint64_t hashes[FRAMES * 2]; /* of frames, as they are to come out */
    bool keys[FRAMES * 2];
    unsigned sent;
    /* what becomes of a packet: false, it is lost. NULL: all come */
    bool (*net)(struct camera *c, const uint8_t *data, size_t size);
    uint32_t random;
    size_t late_size[2]; /* of those in `late` */
};

static uint8_t late[2][2048], packet_buf[65536];

static uint32_t dice(struct camera *c)
{
    c->random = c->random * 1664525 + 1013904223;
    return c->random >> 16;
}

static void camera_new(struct camera *c, unsigned media, enum av_codec codec)
{
    bool video = av_codec_row(codec)->kind == AV_VIDEO;

    *c = (struct camera){ .codec = codec, .media = media, .mtu = 1000, .sets = true,
                          .type = video ? VIDEO_TYPE : AUDIO_TYPE, .clock = video ? 90000 : 48000,
                          .ssrc = 0x11110000u + media, .base = 0xfffffff0u - media * 777,
                          .seq = 0xfff0 };
}

static void camera_start(struct camera *c)
{
    const struct rtp_packer_opts opts = { .codec = c->codec, .mtu = c->mtu, .sets = c->sets };
    struct frame config = media_config_of(c->codec);

    media_packets_init(&c->k, 16);
    assert_true(rtp_packer_init(&c->packer, &opts));
    if (config.config)
        assert_ok(rtp_pack(&c->packer, &config, &c->k.sink));
}

static void camera_free(struct camera *c)
{
    rtp_packer_fini(&c->packer);
    media_packets_free(&c->k);
}

static void deliver(struct camera *c, const uint8_t *data, size_t size)
{
    (void)rtsp_intake_put(it.r, c->media, false, data, size, it.now);
    look();
}

/* A unit that goes into one packet as a fragment which is all of it. */
static size_t as_both(uint8_t *p, size_t size)
{
    uint8_t type = p[0] & 0x1f;

    if (type < 1 || type > 5)
        return size;
    memmove(p + 2, p + 1, size - 1);
    p[1] = (uint8_t)(0xc0 | type);
    p[0] = (uint8_t)((p[0] & 0xe0) | 28);
    return size + 1;
}

static void send_packet(struct camera *c, unsigned i)
{
    uint8_t *buf = packet_buf;
    const struct media_sent *s = &c->k.v[i];
    size_t size = s->size;
    bool marker = c->marks == MARK_ALWAYS || (c->marks == MARK_LAST && s->marker);

    memcpy(buf + RTP_HEADER, c->k.bytes.buf + s->at, size);
    if (c->both_bits)
        size = as_both(buf + RTP_HEADER, size);
    rtp_build(buf, marker, c->type, c->seq++, c->base + (uint32_t)(uint64_t)s->ticks, c->ssrc);
    if (!c->net || c->net(c, buf, RTP_HEADER + size))
        deliver(c, buf, RTP_HEADER + size);
}

static void expect(struct camera *c, const struct frame *f)
{
    c->hashes[c->sent] = hash_of(f->data, f->size);
    c->keys[c->sent++] = f->key;
}

/* The i-th frame, all of its packets or the first so many. */
static void send_frame(struct camera *c, const struct frame *f, unsigned most)
{
    c->k.n = 0;
    c->k.bytes.len = 0;
    assert_ok(rtp_pack(&c->packer, f, &c->k.sink));
    for (unsigned i = 0; i < c->k.n && i < most; i++)
        send_packet(c, i);
}

static uint8_t frame_buf[MEDIA_FRAME_MAX];

static void film(struct camera *c, unsigned from, unsigned n)
{
    bool video = av_codec_row(c->codec)->kind == AV_VIDEO;

    for (unsigned i = from; i < from + n; i++) {
        struct frame f = media_make(c->codec, i, video ? FRAME_SIZE : SOUND_SIZE, frame_buf);

        expect(c, &f);
        send_frame(c, &f, UINT32_MAX);
        it.now += CO_MS(video ? 33 : 21);
    }
}

/* All that came out of that kind is what went in, in its order; `holes`: some may be missing. */
static unsigned check_frames(const struct camera *c, enum av_kind kind, bool holes)
{
    unsigned at = 0, n = 0;

    for (unsigned i = 0; i < it.n; i++) {
        if (it.v[i].kind != kind || it.v[i].config)
            continue;
        while (holes && at < c->sent && c->hashes[at] != it.v[i].hash)
            at++;
        assert_true(at < c->sent);
        assert_true(c->hashes[at] == it.v[i].hash);
        assert_int_equal(it.v[i].key, c->keys[at]);
        at++;
        n++;
    }
    return n;
}

static void check_order(enum av_kind kind)
{
    int64_t last = INT64_MIN;

    for (unsigned i = 0; i < it.n; i++) {
        if (it.v[i].kind != kind || it.v[i].config)
            continue;
        assert_true(it.v[i].dts > last);
        assert_true(it.v[i].pts >= it.v[i].dts);
        last = it.v[i].dts;
    }
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
    struct rd r = rd_init(it.metadata.buf, it.metadata.len);
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
    unsigned meta = codecs[row].codec == AV_VP9 ? 1 : 0; /* its key frames know the size */

    assert_int_equal(it.v[meta].kind, AV_DATA);
    assert_int_equal(it.v[meta].origin, FLV_DATA);
    assert_true(it.v[meta].config);
    for (unsigned i = 0; i < codecs[row].configs; i++)
        assert_true(it.v[1 - meta].config && it.v[1 - meta].kind == kind);
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
        begin(sdp, &plain, i % 2);
        camera_new(&c, 0, codecs[i].codec);
        c.clock = codecs[i].clock;
        camera_start(&c);
        film(&c, 0, FRAMES);
        assert_in_range(check_frames(&c, kind, false), FRAMES - held, FRAMES);
        check_order(kind);
        check_codec(i, kind);
        assert_int_equal(stat_of().lost, 0);
        assert_int_equal(stat_of().broken + stat_of().waiting + stat_of().dropped, 0);
        camera_free(&c);
        end();
    }
}

/* ---- cameras as they are */

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
        begin(sdp, &plain, false);
        camera_new(&c, VIDEO, AV_H264);
        c.marks = quirks[i].marks;
        c.both_bits = quirks[i].both_bits;
        c.mtu = quirks[i].mtu;
        camera_start(&c);
        film(&c, 0, FRAMES);
        n = check_frames(&c, AV_VIDEO, quirks[i].marks == MARK_ALWAYS);
        print_message("    %u of %d\n", n, FRAMES);
        assert_in_range(n, FRAMES - 12, FRAMES);
        if (quirks[i].marks != MARK_ALWAYS)
            assert_in_range(n, FRAMES - 1, FRAMES);
        assert_int_equal(seen_configs(AV_VIDEO), 1);
        assert_true(metadata_number("width") == 320);
        camera_free(&c);
        end();
    }
}

/* It dies in the midst of a frame, and another one comes in its place, with other numbers. */
static void test_dies(void **state)
{
    struct camera c;
    struct frame f;

    (void)state;
    begin(SDP_HEAD SDP_H264(""), &plain, false);
    camera_new(&c, VIDEO, AV_H264);
    camera_start(&c);
    film(&c, 0, 20);
    f = media_make(AV_H264, 20, FRAME_SIZE, frame_buf);
    send_frame(&c, &f, 2);
    c.ssrc ^= 0x5555;
    c.seq = 77;
    c.base = 123456;
    it.now += CO_SECONDS(3);
    film(&c, 30, 20);
    assert_in_range(check_frames(&c, AV_VIDEO, false), 38, 40);
    check_order(AV_VIDEO);
    assert_int_equal(stat_of().broken, 1);
    /* time went on as it does */
    assert_in_range(it.v[it.n - 1].dts - it.v[2].dts, 30 * 90 * 33 + 3 * 90000,
                    42 * 90 * 33 + 3 * 90000 + 9000);
    camera_free(&c);
    end();
}

/* How far times are from when packets came, from one frame to the next. */
static int64_t worst_step(enum av_kind kind, int64_t each)
{
    int64_t last = INT64_MIN, worst = 0;

    for (unsigned i = 0; i < it.n; i++) {
        int64_t off;

        if (it.v[i].kind != kind || it.v[i].config)
            continue;
        off = last == INT64_MIN ? 0 : it.v[i].dts - last - each;
        off = off < 0 ? -off : off;
        worst = off > worst ? off : worst;
        last = it.v[i].dts;
    }
    return worst;
}

/* Its clock is set, on and back, of one track or of both: the stream's time goes on. */
static void test_jumps(void **state)
{
    static const int64_t jumps[] = { 3600, -3600, 20, -20, 5, -2, 100000, -100000 };

    (void)state;
    for (size_t i = 0; i < COUNT(jumps) * 2; i++) {
        struct camera v, a;

        begin(SDP_HEAD SDP_H264("") SDP_AAC, &plain, false);
        camera_new(&v, VIDEO, AV_H264);
        camera_new(&a, AUDIO, AV_AAC);
        camera_start(&v);
        camera_start(&a);
        for (unsigned k = 0; k < 50; k++) {
            film(&v, k, 1);
            it.now -= CO_MS(21);
            film(&a, k * 33 / 21, 1);
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
        end();
    }
}

static void test_strangers(void **state)
{
    static const uint8_t hole[] = { 0xfe, 0xed, 0xfa, 0xce }, cut[11] = { 0x80, 96 };
    struct camera c;
    uint8_t alive[RTP_HEADER];

    (void)state;
    begin(SDP_HEAD SDP_H264("") SDP_AAC, &plain, true);
    camera_new(&c, VIDEO, AV_H264);
    camera_start(&c);
    film(&c, 0, 10);
    assert_false(rtsp_intake_put(it.r, VIDEO, false, hole, sizeof(hole), it.now));
    assert_false(rtsp_intake_put(it.r, VIDEO, false, cut, sizeof(cut), it.now));
    assert_false(rtsp_intake_put(it.r, VIDEO, false, cut, 0, it.now));
    c.type = 99; /* that is not in the description */
    film(&c, 10, 1);
    c.type = VIDEO_TYPE;
    c.seq--;
    assert_false(rtsp_intake_put(it.r, 2, false, hole, sizeof(hole), it.now)); /* of no track */
    assert_false(rtsp_intake_put(it.r, 200, true, hole, sizeof(hole), it.now));
    assert_true(stat_of().dropped > 5);
    /* no payload: a sign of life */
    rtp_build(alive, false, VIDEO_TYPE, c.seq++, c.base, c.ssrc);
    assert_true(rtsp_intake_put(it.r, VIDEO, false, alive, sizeof(alive), it.now));
    camera_free(&c);
    end();
}

/* ---- reports */

static size_t sender_report(uint8_t *out, size_t room, uint32_t ssrc, int64_t us, uint32_t time,
                            bool bye)
{
    struct wr w = { .buf = out, .cap = room, .limit = room };
    struct rtcp_sr sr = { .ntp = rtcp_ntp(us), .time = time, .packets = 5, .bytes = 500 };

    rtcp_put_sr(&w, ssrc, &sr);
    rtcp_put_cname(&w, ssrc, "camera");
    if (bye)
        rtcp_put_bye(&w, ssrc);
    assert_false(w.bad);
    return w.len;
}

static int64_t first_pts(enum av_kind kind)
{
    for (unsigned i = 0; i < it.n; i++) {
        if (it.v[i].kind == kind && !it.v[i].config)
            return it.v[i].pts;
    }
    fail_msg("no frame of kind %d", (int)kind);
    return -1;
}

/* Sound that comes 400 ms late is put where its reports say that it belongs; on its own channel or
 * that of the media. */
static void test_lip_sync(void **state)
{
    int64_t unix_us = INT64_C(1790000000) * 1000000;

    (void)state;
    for (unsigned how = 0; how < 2; how++) {
        struct camera v, a;
        uint8_t sr[200];
        size_t n;

        begin(SDP_HEAD SDP_H264("") SDP_AAC, &plain, false);
        camera_new(&v, VIDEO, AV_H264);
        camera_new(&a, AUDIO, AV_AAC);
        camera_start(&v);
        camera_start(&a);
        n = sender_report(sr, sizeof(sr), v.ssrc, unix_us, v.base, false);
        assert_false(rtsp_intake_put(it.r, VIDEO, how == 0, sr, n, it.now));
        n = sender_report(sr, sizeof(sr), a.ssrc, unix_us, a.base, false);
        assert_false(rtsp_intake_put(it.r, AUDIO, how == 0, sr, n, it.now));
        film(&v, 0, 12);
        film(&a, 0, 3);
        assert_int_equal(first_pts(AV_VIDEO), first_pts(AV_AUDIO));
        camera_free(&v);
        camera_free(&a);
        end();
    }
}

/* Without reports a track begins where its first frame came; that another one has to come before
 * it is known to be whole makes it no later. */
static void test_guess(void **state)
{
    (void)state;
    for (int marks = MARK_LAST; marks <= MARK_ALWAYS; marks++) {
        struct camera v, a;
        co_usec sound_at;

        begin(SDP_HEAD SDP_H264("") SDP_AAC, &plain, false);
        camera_new(&v, VIDEO, AV_H264);
        camera_new(&a, AUDIO, AV_AAC);
        v.marks = (enum marks)marks;
        camera_start(&v);
        camera_start(&a);
        sound_at = it.now;
        film(&a, 0, 1);
        it.now = sound_at + CO_MS(15);
        film(&v, 0, 12);
        assert_int_equal(first_pts(AV_VIDEO) - first_pts(AV_AUDIO), AV_MS(15));
        camera_free(&v);
        camera_free(&a);
        end();
    }
}

static void test_reports(void **state)
{
    struct camera v, a;
    uint8_t out[RTSP_INTAKE_REPORT], sr[200];
    unsigned media;
    struct rtcp_reader reader;
    struct rtcp_packet p;
    struct rtcp_block b;
    size_t n;

    (void)state;
    begin(SDP_HEAD SDP_H264("") SDP_AAC, &plain, true);
    camera_new(&v, VIDEO, AV_H264);
    camera_new(&a, AUDIO, AV_AAC);
    camera_start(&v);
    camera_start(&a);
    assert_int_equal(rtsp_intake_due(it.r), NOW0 + CO_SECONDS(5));
    film(&v, 0, 10);
    n = sender_report(sr, sizeof(sr), v.ssrc, INT64_C(1790000000000000), v.base, false);
    assert_false(rtsp_intake_put(it.r, VIDEO, true, sr, n, it.now));
    assert_false(rtsp_intake_report(it.r, it.now, &media, out, &n));
    v.seq += 3; /* are lost */
    film(&v, 10, 5);
    it.now = NOW0 + CO_SECONDS(5);
    assert_true(rtsp_intake_report(it.r, it.now, &media, out, &n));
    assert_int_equal(media, VIDEO);
    rtcp_begin(&reader, out, n);
    assert_true(rtcp_next(&reader, &p));
    assert_int_equal(p.type, RTCP_RR);
    assert_true(rtcp_next_block(&p, &b));
    assert_int_equal(b.ssrc, v.ssrc);
    assert_int_equal(b.lost, 3);
    assert_true(b.last_sr != 0);
    assert_true(rtcp_next(&reader, &p));
    assert_int_equal(p.type, RTCP_SDES);
    assert_false(rtcp_next(&reader, &p));
    /* nothing came of the sound */
    assert_false(rtsp_intake_report(it.r, it.now, &media, out, &n));
    film(&a, 0, 2);
    assert_false(rtsp_intake_report(it.r, it.now, &media, out, &n));
    it.now += CO_SECONDS(6);
    assert_true(rtsp_intake_report(it.r, it.now, &media, out, &n) && media == VIDEO);
    assert_true(rtsp_intake_report(it.r, it.now, &media, out, &n) && media == AUDIO);
    assert_false(rtsp_intake_report(it.r, it.now, &media, out, &n));
    /* the end, of one after the other */
    n = sender_report(sr, sizeof(sr), v.ssrc, INT64_C(1790000000000000), v.base, true);
    (void)rtsp_intake_put(it.r, VIDEO, true, sr, n, it.now);
    assert_false(rtsp_intake_over(it.r));
    n = sender_report(sr, sizeof(sr), a.ssrc + 1, INT64_C(1790000000000000), v.base, true);
    (void)rtsp_intake_put(it.r, AUDIO, true, sr, n, it.now); /* another's */
    assert_false(rtsp_intake_over(it.r));
    n = sender_report(sr, sizeof(sr), a.ssrc, INT64_C(1790000000000000), v.base, true);
    (void)rtsp_intake_put(it.r, AUDIO, true, sr, n, it.now);
    assert_true(rtsp_intake_over(it.r));
    film(&a, 2, 1);
    assert_false(rtsp_intake_over(it.r));
    camera_free(&v);
    camera_free(&a);
    end();
}

/* ---- pictures in another order */

static void test_b_pictures(void **state)
{
    /* shown in this order, decoded as they stand: I P B B P B B ... */
    struct camera c;

    (void)state;
    begin(SDP_HEAD SDP_H264(";" SPROP), &plain, false);
    camera_new(&c, VIDEO, AV_H264);
    camera_start(&c);
    for (unsigned i = 0; i < FRAMES; i++) {
        struct frame f = media_make(AV_H264, i, FRAME_SIZE, frame_buf);
        unsigned shown = i == 0 ? 0 : i % 3 == 1 ? i + 2 : i - 1;

        f.pts = (int64_t)shown * 3000;
        expect(&c, &f);
        send_frame(&c, &f, UINT32_MAX);
        it.now += CO_MS(33);
    }
    assert_in_range(check_frames(&c, AV_VIDEO, false), FRAMES - 1, FRAMES);
    for (unsigned i = 1; i < it.n; i++) {
        if (it.v[i].kind != AV_VIDEO || it.v[i].config || it.v[i - 1].config)
            continue;
        assert_true(it.v[i].dts > it.v[i - 1].dts);
        assert_true(i < 12 || it.v[i].dts <= it.v[i].pts);
    }
    camera_free(&c);
    end();
}

/* The parameters change: a configuration in its place. */
static void test_other_parameters(void **state)
{
    struct frame other = media_config(AV_H264, MEDIA_BYTES(
        "\x01\x42\xc0\x1e\xff\xe1\x00\x09\x67\x42\xc0\x1e\xd9\x00\xa0\x47\xfe\x01\x00\x04\x68\xce\x3c\x80"));
    struct camera c;
    unsigned at = 0;

    (void)state;
    begin(SDP_HEAD SDP_H264(";" SPROP), &plain, false);
    camera_new(&c, VIDEO, AV_H264);
    camera_start(&c);
    film(&c, 0, 20);
    assert_int_equal(seen_configs(AV_VIDEO), 1);
    assert_ok(rtp_pack(&c.packer, &other, &c.k.sink));
    film(&c, 20, 20);
    assert_int_equal(seen_configs(AV_VIDEO), 2);
    for (unsigned i = it.n - 1; i > 0 && at == 0; i--)
        at = it.v[i].config && it.v[i].kind == AV_VIDEO ? i : 0;
    assert_true(it.v[at + 1].key && !it.v[at + 1].config);
    assert_true(it.v[at + 1].hash == c.hashes[20]);
    camera_free(&c);
    end();
}

/* ---- networks */

/* Lost, twice, or later than the one or two that follow. */
static bool bad_net(struct camera *c, const uint8_t *data, size_t size)
{
    uint32_t d = dice(c) % 100;
    unsigned slot = d & 1;

    if (d < 3)
        return false;
    if (d < 6)
        deliver(c, data, size);
    if (d >= 6 && d < 20 && c->late_size[slot] == 0) {
        assert_true(size <= sizeof(late[0]));
        memcpy(late[slot], data, size);
        c->late_size[slot] = size;
        return false;
    }
    deliver(c, data, size);
    for (slot = 0; slot < 2; slot++) {
        if (c->late_size[slot] > 0 && dice(c) % 2) {
            deliver(c, late[slot], c->late_size[slot]);
            c->late_size[slot] = 0;
        }
    }
    return false;
}

/* Only order and copies: nothing is missing in the end. */
static bool shuffling_net(struct camera *c, const uint8_t *data, size_t size)
{
    if (c->random % 7 == 0)
        deliver(c, data, size);
    (void)dice(c);
    if (c->late_size[0] == 0 && c->sent > 1 && dice(c) % 4 == 0) {
        memcpy(late[0], data, size);
        c->late_size[0] = size;
        return false;
    }
    deliver(c, data, size);
    if (c->late_size[0] > 0) {
        deliver(c, late[0], c->late_size[0]);
        c->late_size[0] = 0;
    }
    return false;
}

static void test_networks(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 200; seed++) {
        bool bad = seed % 2;
        struct camera c;
        unsigned n;
        bool key_due = false, first = true;
        unsigned at = 0;

        begin(SDP_HEAD SDP_H264(""), &plain, true);
        camera_new(&c, VIDEO, AV_H264);
        c.random = seed * 7919 + 1;
        c.net = bad ? bad_net : shuffling_net;
        camera_start(&c);
        film(&c, 0, FRAMES);
        it.now += CO_SECONDS(1);
        rtsp_intake_tick(it.r, it.now);
        look();
        n = check_frames(&c, AV_VIDEO, bad);
        assert_in_range(n, bad ? 1 : FRAMES - 1, FRAMES);
        for (unsigned i = 0; i < it.n; i++) { /* behind a hole there is a key frame */
            if (it.v[i].kind != AV_VIDEO || it.v[i].config)
                continue;
            key_due = first || c.hashes[at] != it.v[i].hash;
            while (c.hashes[at] != it.v[i].hash)
                at++;
            at++;
            assert_true(!key_due || it.v[i].key);
            first = false;
        }
        check_order(AV_VIDEO);
        if (!bad)
            assert_int_equal(stat_of().lost, 0);
        camera_free(&c);
        end();
    }
}

/* What is early waits for what is missing, and not for ever. */
static void test_waits(void **state)
{
    struct camera c;
    unsigned before;

    (void)state;
    begin(SDP_HEAD SDP_H264(""), &plain, true);
    camera_new(&c, VIDEO, AV_H264);
    camera_start(&c);
    film(&c, 0, 10);
    before = seen_frames(AV_VIDEO);
    c.seq++;
    film(&c, 10, 2); /* begins with a key frame */
    assert_int_equal(seen_frames(AV_VIDEO), before);
    assert_true(rtsp_intake_due(it.r) < NOW0 + CO_SECONDS(1));
    it.now = rtsp_intake_due(it.r);
    rtsp_intake_tick(it.r, it.now);
    look();
    assert_true(seen_frames(AV_VIDEO) > before);
    assert_int_equal(rtsp_intake_due(it.r), NOW0 + CO_SECONDS(5));
    assert_int_equal(stat_of().lost, 1);
    assert_true(stat_of().reordered > 0);
    camera_free(&c);
    end();
}

/* A track that was not set up is none; one that never sends holds nobody up. */
static void test_not_set_up(void **state)
{
    static const char sdp[] = SDP_HEAD SDP_H264("") SDP_AAC;
    struct camera a;

    (void)state;
    begin(sdp, &plain, false);
    rtsp_intake_free(it.r);
    assert_ok(rtsp_intake_new(&it.r, sdp, sizeof(sdp) - 1, &plain));
    rtsp_intake_set_up(it.r, AUDIO, true);
    rtsp_intake_begin(it.r, it.src, false, it.now);
    camera_new(&a, AUDIO, AV_AAC);
    camera_start(&a);
    film(&a, 0, 10);
    assert_int_equal(check_frames(&a, AV_AUDIO, false), 10);
    assert_true(metadata_number("videocodecid") < 0);
    a.media = VIDEO;
    a.type = VIDEO_TYPE;
    film(&a, 10, 1);
    assert_int_equal(seen_frames(AV_VIDEO), 0);
    assert_true(stat_of().dropped > 0);
    camera_free(&a);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_choose), TEST(test_controls), TEST(test_codecs), TEST(test_quirks),
        TEST(test_dies), TEST(test_jumps), TEST(test_strangers), TEST(test_lip_sync),
        TEST(test_guess), TEST(test_reports), TEST(test_b_pictures), TEST(test_other_parameters),
        TEST(test_networks), TEST(test_waits), TEST(test_not_set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
