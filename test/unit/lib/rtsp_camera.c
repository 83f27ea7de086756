/* SPDX-License-Identifier: MIT */
/* rtsp_camera.c - a camera whose packets an intake receives, and the packets that come out. */
#include "rtsp_camera.h"

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_OFF, .queue_length = CO_SECONDS(3000),
    .max_bytes = 256 << 20,
};

const struct rtsp_intake_opts intake_plain = { .track = -1, .jitter = CO_MS(200),
                                                .signature = "us" };

struct rtsp_camera_state intake;

static uint64_t hash_of(const void *data, size_t size)
{
    return text_hash_more(TEXT_HASH_BEGIN, data, size);
}

/* A reader begins at a key frame: it has read this one when the others come. */
static void open_reader(void)
{
    struct av_packet *pkt = av_packet_new(1);

    pkt->key = true;
    pkt->kind = AV_VIDEO;
    live_source_push(intake.src, pkt, 0);
    (void)av_packet_unref(pkt);
    live_reader_open(&intake.reader, intake.src);
    assert_non_null(live_reader_next(&intake.reader));
}

void intake_take(void)
{
    const struct av_packet *pkt;

    while ((pkt = live_reader_next(&intake.reader))) {
        struct flv_message m;

        assert_true(intake.n < SEEN_MAX);
        flv_message_build(&m, pkt);
        assert_true(m.type > 0 && flv_message_size(&m) > 0); /* RTMP can carry it */
        intake.v[intake.n++] = (struct seen){
            .config = pkt->config, .key = pkt->key, .kind = pkt->kind, .codec = pkt->codec,
            .origin = pkt->origin, .dts = pkt->dts, .pts = pkt->dts + pkt->cts,
            .hash = hash_of(av_packet_payload(pkt), av_packet_payload_size(pkt)),
            .size = av_packet_payload_size(pkt) };
        if (pkt->kind == AV_DATA) {
            intake.metadata.len = 0;
            wr_bytes(&intake.metadata, pkt->data, pkt->size);
        }
    }
}

void intake_begin(const char *sdp, const struct rtsp_intake_opts *opts, bool datagrams)
{
    memset(&intake, 0, sizeof(intake));
    wr_init(&intake.metadata, 65536);
    intake.now = NOW0;
    intake.src = live_source_new("v/a/s", &settings);
    open_reader();
    assert_ok(rtsp_intake_new(&intake.r, sdp, strlen(sdp), opts));
    for (unsigned i = 0; i < rtsp_intake_count(intake.r); i++)
        rtsp_intake_set_up(intake.r, i, true);
    rtsp_intake_begin(intake.r, intake.src, datagrams, intake.now);
}

void intake_end(void)
{
    rtsp_intake_free(intake.r);
    live_reader_close(&intake.reader);
    (void)live_source_unref(intake.src);
    wr_free(&intake.metadata);
    assert_int_equal(live_source_live(), 0);
}

struct rtp_intake_stat intake_stat(void)
{
    struct rtp_intake_stat s;

    rtsp_intake_stat(intake.r, &s);
    return s;
}

unsigned seen_frames(enum av_kind kind)
{
    unsigned n = 0;

    for (unsigned i = 0; i < intake.n; i++)
        n += intake.v[i].kind == kind && !intake.v[i].config;
    return n;
}

uint8_t camera_late[2][2048], camera_packet[65536];

void camera_new(struct camera *c, unsigned media, enum av_codec codec)
{
    bool video = av_codec_row(codec)->kind == AV_VIDEO;

    *c = (struct camera){ .codec = codec, .media = media, .mtu = 1000, .sets = true,
                          .type = video ? VIDEO_TYPE : AUDIO_TYPE, .clock = video ? 90000 : 48000,
                          .ssrc = 0x11110000u + media, .base = 0xfffffff0u - media * 777,
                          .seq = 0xfff0 };
}

void camera_start(struct camera *c)
{
    const struct rtp_packer_opts opts = { .codec = c->codec, .mtu = c->mtu, .sets = c->sets };
    struct frame config = media_config_of(c->codec);

    media_packets_init(&c->k, 16);
    assert_true(rtp_packer_init(&c->packer, &opts));
    if (config.config)
        assert_ok(rtp_pack(&c->packer, &config, &c->k.sink));
}

void camera_free(struct camera *c)
{
    rtp_packer_fini(&c->packer);
    media_packets_free(&c->k);
}

void camera_deliver(struct camera *c, const uint8_t *data, size_t size)
{
    (void)rtsp_intake_put(intake.r, c->media, false, data, size, intake.now);
    intake_take();
}

/* A unit that fits into one packet as a fragment with both bits. */
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
    uint8_t *buf = camera_packet;
    const struct media_sent *s = &c->k.v[i];
    size_t size = s->size;
    bool marker = c->marks == MARK_ALWAYS || (c->marks == MARK_LAST && s->marker);

    memcpy(buf + RTP_HEADER, c->k.bytes.buf + s->at, size);
    if (c->both_bits)
        size = as_both(buf + RTP_HEADER, size);
    rtp_build(buf, marker, c->type, c->seq++, c->base + (uint32_t)(uint64_t)s->ticks, c->ssrc);
    if (!c->net || c->net(c, buf, RTP_HEADER + size))
        camera_deliver(c, buf, RTP_HEADER + size);
}

void camera_expect(struct camera *c, const struct frame *f)
{
    c->hashes[c->sent] = hash_of(f->data, f->size);
    c->keys[c->sent++] = f->key;
}

void camera_send(struct camera *c, const struct frame *f, unsigned most)
{
    c->k.n = 0;
    c->k.bytes.len = 0;
    assert_ok(rtp_pack(&c->packer, f, &c->k.sink));
    for (unsigned i = 0; i < c->k.n && i < most; i++)
        send_packet(c, i);
}

uint8_t camera_frame[MEDIA_FRAME_MAX];

void camera_film(struct camera *c, unsigned from, unsigned n)
{
    bool video = av_codec_row(c->codec)->kind == AV_VIDEO;

    for (unsigned i = from; i < from + n; i++) {
        struct frame f = media_make(c->codec, i, video ? FRAME_SIZE : AUDIO_SIZE, camera_frame);

        camera_expect(c, &f);
        camera_send(c, &f, UINT32_MAX);
        intake.now += CO_MS(video ? 33 : 21);
    }
}

unsigned check_frames(const struct camera *c, enum av_kind kind, bool holes)
{
    unsigned at = 0, n = 0;

    for (unsigned i = 0; i < intake.n; i++) {
        if (intake.v[i].kind != kind || intake.v[i].config)
            continue;
        while (holes && at < c->sent && c->hashes[at] != intake.v[i].hash)
            at++;
        assert_true(at < c->sent);
        assert_true(c->hashes[at] == intake.v[i].hash);
        assert_int_equal(intake.v[i].key, c->keys[at]);
        at++;
        n++;
    }
    return n;
}

void check_order(enum av_kind kind)
{
    int64_t last = INT64_MIN;

    for (unsigned i = 0; i < intake.n; i++) {
        if (intake.v[i].kind != kind || intake.v[i].config)
            continue;
        assert_true(intake.v[i].dts > last);
        assert_true(intake.v[i].pts >= intake.v[i].dts);
        last = intake.v[i].dts;
    }
}
