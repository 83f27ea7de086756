/* SPDX-License-Identifier: MIT */
/* test_rtc_play.c - the WebRTC players of a stream: let in, served together by one walk, what they
 * miss is sent again, gone again.
 *
 * Sockets and handshakes are not in it: what a player is sent is looked at at once. */
#include "conf_mem.h"
#include "datagram_player.h"
#include "live_media.h"
#include "rtp_media.h"
#include "serve/rtc/play.h"

#include <assert.h>

#define VHOST "__defaultVhost__"
#define CONF(rtc, rules) \
    "listen 1935; rtc_server { enabled on; listen 1; } vhost " VHOST \
    " { rtc { enabled on; rtmp_to_rtc on; " rtc " } " rules " }"

enum { KEPT = 4096, VIDEO_SSRC = 0x1111, AUDIO_SSRC = 0x2222, RTX_SSRC = 0x3333, VIDEO = 96,
       RTX = 97, AUDIO = 111, MOST = 100 };

static struct session_env env;
static struct rtc_service service;
static struct live_source *src;
static unsigned wanted_keys;

/* ---- a player, and what it got */

struct packet {
    size_t size;
    uint8_t *bytes;
};

struct ear {
    bool any;
    uint16_t first, last;
    uint32_t time, first_time;
    unsigned packets, frames, holes, doubles, back;
    struct packet *kept; /* by number: the same one always has the same bytes */
};

struct guest {
    struct rtc_peer peer;
    struct srtp_in *in;
    struct ear video, audio, rtx;
    unsigned bursts, reports, byes;
    uint32_t report_time[2];
    unsigned clocks;
    uint32_t clock;    /* of its own, as it is told */
    uint8_t begin[16]; /* of the first video packet's payload */
    bool has_extension;
    enum err_code left;
};

static struct guest *guests[MOST];
static unsigned n_guests;

static struct guest *guest_of(struct rtc_peer *p)
{
    return (struct guest *)(void *)p;
}

static struct ear *ear_of(struct guest *g, uint32_t ssrc)
{
    return ssrc == VIDEO_SSRC ? &g->video : ssrc == AUDIO_SSRC ? &g->audio : &g->rtx;
}

static void keep(struct ear *e, uint16_t seq, const uint8_t *data, size_t size)
{
    struct packet *k;

    if (!e->kept)
        e->kept = calloc(KEPT, sizeof(*e->kept));
    assert_non_null(e->kept);
    k = &e->kept[seq % KEPT];
    if (k->bytes) {
        e->doubles++;
        assert_int_equal(k->size, size);
        assert_memory_equal(k->bytes, data, size);
        return;
    }
    *k = (struct packet){ size, malloc(size) };
    assert_non_null(k->bytes);
    memcpy(k->bytes, data, size);
}

static void hear(struct guest *g, uint8_t *data, size_t size)
{
    struct rtp_packet p;
    struct ear *e;
    uint8_t cipher[2048];
    size_t n = size;

    memcpy(cipher, data, size);
    assert_true(!g->in || srtp_unprotect(g->in, data, &n) || n == size);
    assert_true(rtp_parse(&p, data, n));
    e = ear_of(g, p.ssrc);
    assert_int_equal(p.type, e == &g->video ? VIDEO : e == &g->audio ? AUDIO : RTX);
    keep(e, p.seq, cipher, size);
    if (!e->any) {
        e->first = p.seq;
        e->first_time = p.time;
        memcpy(g->begin, p.payload, e == &g->video ? sizeof(g->begin) : 0);
        g->has_extension |= p.extension != NULL;
    } else if ((int16_t)(p.seq - e->last) > 1) {
        e->holes++;
    }
    if (e->any && (int16_t)(p.seq - e->last) <= 0)
        return;
    e->back += e->any && (int32_t)(p.time - e->time) < 0;
    e->any = true;
    e->last = p.seq;
    e->time = p.time;
    e->packets++;
    e->frames += p.marker;
}

/* As send.c would. */
void rtc_batch_add(struct rtc_batch *b, struct rtc_peer *p, const uint8_t *data, size_t size,
                   size_t segment)
{
    struct guest *g = guest_of(p);
    uint8_t one[2048];

    b->n++;
    assert_true(segment > 0 && size <= 65507);
    g->bursts++;
    p->base.session.out += size;
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < segment ? size - at : segment;
        memcpy(one, data + at, n);
        hear(g, one, n);
    }
}

static bool full;

bool rtc_peer_is_full(const struct rtc_peer *p)
{
    (void)p;
    return full;
}

void rtc_batch_send(struct rtc_batch *b)
{
    b->n = 0;
}

void rtc_peer_rtcp(struct rtc_peer *p, const uint8_t *rtcp, size_t size)
{
    struct guest *g = guest_of(p);
    struct rtcp_reader r;
    struct rtcp_packet packet;
    const char *name;

    rtcp_begin(&r, rtcp, size);
    while (rtcp_next(&r, &packet)) {
        if (packet.type == RTCP_SR) {
            g->reports++;
            g->report_time[packet.ssrc == AUDIO_SSRC] = packet.sr.time;
        } else if (packet.type == RTCP_XR) {
            uint32_t delay;

            assert_true(rtcp_dlrr(&packet, 0x1234, &g->clock, &delay));
            assert_int_equal(delay, 0);
            g->clocks++;
        } else {
            assert_int_equal(packet.type, RTCP_SDES);
            name = rtcp_cname(&packet, &size);
            assert_true(name && size == strlen(p->base.cid) && memcmp(name, p->base.cid, size) == 0);
        }
    }
    assert_false(r.r.bad);
}

static void on_close(struct datagram_client *c, err_t why)
{
    ((struct guest *)(void *)c)->left = err_code(why);
    err_free(&why);
}

static const struct datagram_client_ops ops = {
    on_close, NULL, SAMPLED_RTC_PLAY, rtc_play_changed, rtc_play_check, rtc_play_log_sample };

void rtc_publish_want_key(struct rtc_peer *publisher, co_usec now)
{
    (void)publisher;
    (void)now;
    wanted_keys++;
}

/* Its video begins anew as another source. */
static bool anew;

uint32_t rtc_publish_source(const struct rtc_peer *publisher, enum av_kind kind, int64_t *shift)
{
    assert_true(publisher->base.publishes);
    *shift = anew ? 1000 : 0;
    return kind == AV_AUDIO ? AUDIO_SSRC : VIDEO_SSRC + anew;
}

/* ---- a worker */

static void begin(const char *text)
{
    env = (struct session_env){ .generation = 1 };
    env.conf = mem_conf(text);
    env.streams = live_registry_new();
    env.clients = clients_new(env.streams, "server");
    service = (struct rtc_service){ .base.env = &env };
    datagram_player_service(&service.base);
    n_guests = wanted_keys = 0;
}

static void end(void)
{
    assert_ok(co_group_stop(&service.base.group));
    assert_int_equal(service.streams.n, 0);
    assert_null(service.streams.burst);
    assert_int_equal(env.players, 0);
    assert_int_equal(clients_count_all(env.clients), 0);
    assert_int_equal(live_registry_count(env.streams), 0);
    live_reap_now();
    assert_int_equal(live_registry_memory(env.streams)->used, 0);
    live_registry_free(env.streams);
    clients_free(env.clients);
    env.conf = conf_unref(env.conf);
    assert_int_equal(conf_live(), 0);
}

static void publish(void)
{
    struct live_settings set = session_live_settings(env.conf, conf_vhost_find(env.conf, VHOST));
    struct frame f = media_config_of(AV_H264);

    src = live_registry_get(env.streams, VHOST "/live/s", &set);
    assert_ok(live_source_begin(src, &me, &rule));
    push(src, &f);
    f = media_config_of(AV_OPUS);
    push(src, &f);
}

static void unpublish(void)
{
    live_source_end(src, &me);
    src = live_source_unref(src);
}

static uint8_t frame_buf[MEDIA_FRAME_MAX];
static int64_t shown; /* ms */

/* 25 frames a second; `each`: a key frame is each so many-th. Time in between is not waited for. */
static void show(unsigned frames, unsigned each, size_t size)
{
    for (unsigned i = 0; i < frames; i++, shown += 40) {
        struct frame f = media_make(AV_H264, shown / 40 % each ? 1 : 0, size, frame_buf);

        f.dts = f.pts = AV_MS(shown);
        push(src, &f);
        for (int k = 0; k < 2; k++) {
            f = media_make(AV_OPUS, 1, 100, frame_buf);
            f.dts = f.pts = AV_MS(shown + 20 * k);
            push(src, &f);
        }
        co_yield();
        co_yield();
    }
}

static void begin_show(const char *text, unsigned frames, unsigned each)
{
    begin(text);
    publish();
    shown = 0;
    show(frames, each, 3000);
}

/* ---- who comes and goes */

static void agree(struct rtc_peer *p, bool rtx)
{
    struct sdp_track *v = &p->agreed.tracks[AV_VIDEO], *a = &p->agreed.tracks[AV_AUDIO];

    *v = (struct sdp_track){ .on = true, .codec = AV_H264, .type = VIDEO, .clock = 90000,
                             .ssrc = VIDEO_SSRC, .rtx_type = rtx ? RTX : 0,
                             .rtx_ssrc = rtx ? RTX_SSRC : 0 };
    *a = (struct sdp_track){ .on = true, .codec = AV_OPUS, .type = AUDIO, .clock = 48000,
                             .ssrc = AUDIO_SSRC };
    v->ext[SDP_EXT_PLAYOUT_DELAY] = 5;
}

static void give_keys(struct guest *g, enum srtp_profile profile)
{
    const struct srtp_keys keys = { profile, { 1, 2, 3 }, { 4, 5, 6 } };

    g->peer.clear = profile == SRTP_NONE;
    if (g->peer.clear)
        return;
    assert_ok(srtp_out_new(&g->peer.srtp_out, &keys));
    assert_ok(srtp_in_new(&g->in, &keys));
}

static struct guest *come(bool rtx, enum srtp_profile profile)
{
    struct guest *g = calloc(1, sizeof(*g));
    char cid[DATAGRAM_CID];
    struct rtc_peer *p;

    assert_non_null(g);
    p = &g->peer;
    (void)snprintf(cid, sizeof(cid), "guest%03u", n_guests);
    datagram_player_begin(&p->base, &service.base, &ops, cid);
    p->service = &service;
    assert_ok(session_find_stream(&p->base.session, VHOST, "live", "s"));
    assert_ok(rtc_play_admit(p));
    agree(p, rtx);
    give_keys(g, profile);
    p->base.session.co = NULL;
    datagram_client_state(&p->base, DATAGRAM_ACTIVE);
    rtc_play_connected(p, co_clock());
    guests[n_guests++] = g;
    return g;
}

static void forget(struct ear *e)
{
    for (unsigned i = 0; e->kept && i < KEPT; i++)
        free(e->kept[i].bytes);
    free(e->kept);
}

static void leave(struct guest *g)
{
    rtc_play_end(&g->peer, NULL);
    srtp_out_free(g->peer.srtp_out);
    srtp_in_free(g->in);
    datagram_player_end(&g->peer.base);
    forget(&g->video);
    forget(&g->audio);
    forget(&g->rtx);
    free(g);
}

static void leave_all(void)
{
    for (unsigned i = 0; i < n_guests; i++) {
        if (guests[i])
            leave(guests[i]);
    }
    n_guests = 0;
}

/* Let what was asked for be done: tasks, and the timer of who has more to get. */
static void settle(void)
{
    for (int i = 0; i < 4; i++)
        assert_ok(co_sleep(CO_MS(6)));
}

/* ---- */

/* Picture and sound begin together at the live edge, with the newest key frame first; nothing is
 * missing and no time falls. */
static void all_begin_at_the_newest_key_frame(void **state)
{
    struct guest *g;

    (void)state;
    begin_show(CONF("", ""), 30, 25); /* a key frame and 4 others are there */
    g = come(false, SRTP_NONE);
    settle();
    assert_int_equal(g->video.frames, 5);
    assert_int_equal(g->begin[0] & 0x1f, 24); /* the sets */
    assert_true((int32_t)(g->video.time - g->video.first_time) < 4 * 3600 / 16);
    assert_int_equal(g->audio.packets, 0);
    assert_true(g->has_extension);
    show(60, 25, 3000);
    settle();
    assert_int_equal(g->video.frames, 65);
    assert_int_equal(g->audio.packets, 120);
    assert_int_equal(g->video.holes + g->audio.holes + g->video.back + g->audio.back, 0);
    assert_true(g->reports >= 2);
    assert_true(service.stat.sent == g->video.packets + g->audio.packets);
    leave_all();
    unpublish();
    end();
}

/* One call for a frame of pieces of one size. */
static void a_frame_is_few_calls(void **state)
{
    struct guest *g;
    unsigned before;

    (void)state;
    begin_show(CONF("", ""), 1, 100);
    g = come(false, SRTP_AEAD_AES_128_GCM);
    settle();
    before = g->bursts;
    for (unsigned i = 0; i < 50; i++) {
        struct media_buf b = { frame_buf, 0 };
        struct frame f;

        media_unit(&b, "\x41\x9a", 2, 4500, i);
        f = media_frame(AV_H264, false, AV_MS(shown += 40), frame_buf, b.n);
        push(src, &f);
        co_yield();
        co_yield();
    }
    settle();
    assert_int_equal(g->bursts - before, 50);
    assert_true(g->video.packets >= 200);
    leave_all();
    unpublish();
    end();
}

static void without_cache_one_waits_for_the_next_one(void **state)
{
    struct guest *g;

    (void)state;
    begin_show(CONF("", "play { gop_cache off; }"), 10, 25);
    g = come(false, SRTP_NONE);
    show(10, 25, 3000);
    settle();
    assert_int_equal(g->video.packets, 0);
    assert_int_equal(g->audio.packets, 0); /* sound begins with the picture */
    show(10, 25, 3000);
    settle();
    assert_int_equal(g->video.frames, 5);
    assert_int_equal(g->begin[0] & 0x1f, 24);
    leave_all();
    unpublish();
    end();
}

static void one_who_is_early_waits(void **state)
{
    struct guest *g;

    (void)state;
    begin(CONF("", ""));
    g = come(false, SRTP_NONE);
    settle();
    publish();
    shown = 0;
    show(5, 25, 3000);
    settle();
    assert_int_equal(g->video.frames, 5);
    assert_int_equal(g->audio.packets, 10);
    leave_all();
    unpublish();
    end();
}

/* A group of pictures that is too large to send at once. */
static void a_large_group_is_not_sent(void **state)
{
    struct guest *g;

    (void)state;
    begin_show(CONF("", ""), 0, 50);
    show(20, 50, 80000);
    g = come(false, SRTP_NONE);
    settle();
    assert_int_equal(g->video.packets, 0);
    show(31, 50, 3000);
    settle();
    assert_int_equal(g->video.frames, 1);
    leave_all();
    unpublish();
    end();
}

/* ---- what is missing */

static void nack(struct guest *g, uint32_t ssrc, uint16_t first, unsigned n)
{
    uint16_t seqs[64];
    struct wr w;

    for (unsigned i = 0; i < n; i++)
        seqs[i] = (uint16_t)(first + i);
    wr_init(&w, 1024);
    rtcp_put_nack(&w, 1, ssrc, seqs, n);
    assert_false(w.bad);
    rtc_play_rtcp(&g->peer, w.buf, w.len, co_clock());
    wr_free(&w);
}

/* The same bytes under the same number, those of the begin as well; at most once in a while. */
static void what_is_missing_is_sent_again(void **state)
{
    static const enum srtp_profile profiles[] = { SRTP_NONE, SRTP_AES128_CM_SHA1_80,
                                                  SRTP_AEAD_AES_128_GCM };
    (void)state;
    for (size_t i = 0; i < COUNT(profiles); i++) {
        struct guest *g;

        begin_show(CONF("", ""), 30, 25);
        g = come(false, profiles[i]);
        show(10, 25, 3000);
        settle();
        nack(g, VIDEO_SSRC, g->video.first, 20);
        assert_int_equal(g->video.doubles, 20);
        nack(g, VIDEO_SSRC, g->video.first, 20);
        assert_int_equal(g->video.doubles, 20);
        nack(g, AUDIO_SSRC, g->audio.first, 2);
        assert_int_equal(g->audio.doubles, 2);
        assert_ok(co_sleep(CO_MS(30)));
        nack(g, VIDEO_SSRC, g->video.first, 1);
        assert_int_equal(g->video.doubles, 21);
        nack(g, VIDEO_SSRC, (uint16_t)(g->video.last + 1), 3);   /* not yet */
        nack(g, VIDEO_SSRC, (uint16_t)(g->video.first - 40), 3); /* never */
        nack(g, 0x7777, g->video.first, 1);                      /* nobody's */
        assert_int_equal(g->video.doubles, 21);
        assert_int_equal(g->peer.play->repeated, 23);
        leave_all();
        unpublish();
        end();
    }
}

static void report_loss(struct guest *g, uint8_t fraction)
{
    const struct rtcp_block b = { .ssrc = VIDEO_SSRC, .fraction = fraction };
    struct wr w;

    wr_init(&w, 256);
    rtcp_put_rr(&w, 1, &b, 1);
    rtc_play_rtcp(&g->peer, w.buf, w.len, co_clock());
    wr_free(&w);
}

/* A repeat that is lost would be asked for again late. */
static void twice_where_much_is_lost(void **state)
{
    static const struct { uint8_t fraction; unsigned more; } rows[] = {
        { 0, 1 }, { 4, 1 }, { 5, 2 }, { 13, 2 }, { 255, 2 }, { 0, 1 },
    };
    struct guest *g;

    (void)state;
    for (size_t rtx = 0; rtx < 2; rtx++) {
        begin_show(CONF("", ""), 30, 25);
        g = come(rtx, SRTP_NONE);
        settle();
        for (uint16_t i = 0; i < COUNT(rows); i++) {
            unsigned before = rtx ? g->rtx.packets : g->video.doubles;

            report_loss(g, rows[i].fraction);
            nack(g, VIDEO_SSRC, (uint16_t)(g->video.first + i), 1);
            assert_int_equal((rtx ? g->rtx.packets : g->video.doubles) - before, rows[i].more);
        }
        leave_all();
        unpublish();
        end();
    }
}

static void or_as_packets_of_their_own(void **state)
{
    struct guest *g;

    (void)state;
    begin_show(CONF("", ""), 30, 25);
    g = come(true, SRTP_NONE);
    settle();
    nack(g, VIDEO_SSRC, g->video.first, 3);
    assert_int_equal(g->video.doubles, 0);
    assert_int_equal(g->rtx.packets, 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct packet *was = &g->video.kept[(g->video.first + i) % KEPT];
        const struct packet *k = &g->rtx.kept[(g->rtx.first + i) % KEPT];
        struct rtp_packet a, b;

        assert_true(rtp_parse(&a, was->bytes, was->size) && rtp_parse(&b, k->bytes, k->size));
        assert_int_equal(b.payload_size, a.payload_size + 2);
        assert_int_equal(b.payload[0] << 8 | b.payload[1], a.seq);
        assert_memory_equal(b.payload + 2, a.payload, a.payload_size);
        assert_int_equal(b.time, a.time);
        assert_int_equal(b.marker, a.marker);
    }
    leave_all();
    unpublish();
    end();
}

/* Who says that all is missing, again and again, gets a fifth more than what it is sent. */
static void repeats_are_bounded(void **state)
{
    struct guest *g;
    size_t before;

    (void)state;
    begin_show(CONF("", ""), 30, 25);
    g = come(false, SRTP_NONE);
    for (unsigned i = 0; i < 20; i++) {
        show(5, 25, 3000);
        assert_ok(co_sleep(CO_MS(25)));
        for (uint16_t n = 0; n < 500; n += 50)
            nack(g, VIDEO_SSRC, (uint16_t)(g->video.last - n), 50);
    }
    before = g->video.packets * (size_t)1000;
    assert_true(g->peer.play->repeated > 50);
    assert_true(g->peer.play->repeated * 1000 < before / 5 + 80000);
    leave_all();
    unpublish();
    end();
}

/* ---- key frames */

static void pli(struct guest *g)
{
    struct wr w;

    wr_init(&w, 64);
    rtcp_put_pli(&w, 1, VIDEO_SSRC);
    rtc_play_rtcp(&g->peer, w.buf, w.len, co_clock());
    wr_free(&w);
}

/* Nothing can be asked of RTMP: the newest key frame comes again, as packets of their own, behind
 * what was sent; once. */
static void who_wants_a_key_frame_gets_the_newest_once(void **state)
{
    struct guest *g;
    unsigned frames, sound;

    (void)state;
    begin_show(CONF("", ""), 30, 25);
    g = come(false, SRTP_AEAD_AES_128_GCM);
    show(22, 25, 3000); /* another key frame, and 1 after it */
    settle();
    frames = g->video.frames;
    sound = g->audio.packets;
    pli(g);
    settle();
    assert_int_equal(g->video.frames, frames + 2);
    assert_int_equal(g->audio.packets, sound);
    assert_int_equal(g->video.back, 0);
    pli(g);
    settle();
    assert_int_equal(g->video.frames, frames + 2);
    show(5, 25, 3000);
    settle();
    assert_int_equal(g->video.frames, frames + 7);
    assert_int_equal(g->video.back + g->video.holes + g->audio.holes, 0);
    nack(g, VIDEO_SSRC, g->video.first, 2); /* of before the jump */
    assert_int_equal(g->video.doubles, 2);
    nack(g, VIDEO_SSRC, (uint16_t)(g->video.last - 25), 2);
    assert_int_equal(g->video.doubles, 4);
    leave_all();
    unpublish();
    end();
}

/* Some clients lose what comes right behind the handshake. */
static void one_who_lost_the_begin_gets_it_again(void **state)
{
    struct guest *g;

    (void)state;
    begin_show(CONF("", ""), 30, 25);
    g = come(false, SRTP_AEAD_AES_128_GCM);
    g->peer.connected = co_clock();
    settle();
    assert_int_equal(g->video.frames, 5);
    pli(g);
    settle();
    assert_int_equal(g->video.frames, 10);
    assert_int_equal(g->video.back + g->video.holes, 0);
    assert_ok(co_sleep(CO_MS(520)));
    pli(g);
    settle();
    assert_int_equal(g->video.frames, 10);
    leave_all();
    unpublish();
    end();
}

static void a_publisher_of_ours_is_asked(void **state)
{
    struct rtc_peer publisher = { .base.publishes = true };
    struct guest *g;

    (void)state;
    begin_show(CONF("", ""), 10, 25);
    g = come(false, SRTP_NONE);
    settle();
    rtc_stream_set_publisher(g->peer.base.stream, &publisher);
    pli(g);
    pli(g); /* at once: it was asked already */
    assert_int_equal(wanted_keys, 1);
    assert_int_equal(g->peer.play->plis, 2);
    rtc_stream_set_publisher(g->peer.base.stream, NULL);
    leave_all();
    unpublish();
    end();
}

/* ---- as the publisher had it */

/* Pictures of 3 packets, the first of 10 is a key frame, the last is one that no other needs. */
static void relay(struct rtc_wire *w, unsigned from, unsigned n, uint16_t seq, uint32_t time)
{
    uint8_t data[100];

    for (unsigned i = from; i < from + n; i++) {
        for (unsigned k = 0; k < 3; k++) {
            struct rtp_log_entry e = {
                .data = data, .size = sizeof(data), .marker = k == 2, .at = co_clock(),
                .number = seq + (int64_t)(i * 3 + k), .ticks = time + (int64_t)i * 3600,
            };

            memset(data, (int)(i * 3 + k), sizeof(data));
            data[0] = i % 10 == 9 ? 0x01 : i % 10 ? 0x41 : 0x65;
            rtc_wire_relay_put(w, &e);
        }
    }
}

static void numbers_are_kept_as_they_came(void **state)
{
    static const enum av_codec codecs[] = { AV_H264, AV_OPUS };
    struct rtc_peer publisher = { .base.publishes = true };
    const uint32_t time = UINT32_MAX - 20 * 3600;
    struct datagram_stream *st;
    struct guest *g;

    (void)state;
    begin(CONF("keep_original_ssrc on;", ""));
    publish();
    st = rtc_stream_get(&service, src);
    rtc_stream_set_publisher(st, &publisher);
    rtc_wire_relay_begin(rtc_stream_wire(st), codecs);
    relay(rtc_stream_wire(st), 0, 15, 65500, time);
    g = come(false, SRTP_AEAD_AES_128_GCM);
    settle();
    assert_int_equal(g->video.first, (uint16_t)(65500 + 30)); /* the newest key frame */
    assert_int_equal(g->video.first_time, time + 10 * 3600);
    assert_int_equal(g->video.frames, 5);
    assert_int_equal(g->video.time, time + 14 * 3600);
    g->peer.connected = co_clock();
    pli(g); /* once more, under the same numbers */
    settle();
    assert_int_equal(g->video.doubles, 15);
    relay(rtc_stream_wire(st), 15, 20, 65500, time);
    rtc_stream_wake(st);
    settle();
    assert_int_equal(g->video.last, (uint16_t)(65500 + 34 * 3 + 2));
    assert_int_equal(g->video.time, time + 34 * 3600);
    assert_int_equal(g->video.holes + g->video.back, 0);
    leave_all();
    rtc_stream_set_publisher(st, NULL);
    rtc_wire_relay_end(rtc_stream_wire(st));
    datagram_stream_put(st);
    unpublish();
    end();
}

static void put_late(struct rtc_wire *w, unsigned picture, unsigned k)
{
    uint8_t data[100];
    struct rtp_log_entry e = { .data = data, .size = sizeof(data), .at = co_clock(),
                               .number = picture * 3 + k, .ticks = (int64_t)picture * 3600 };

    memset(data, (int)k, sizeof(data));
    data[0] = 0x41;
    rtc_wire_relay_put(w, &e);
}

/* What a thin line does not take is left out, and its numbers have no holes. */
static void what_a_line_does_not_take_is_left_out(void **state)
{
    static const enum av_codec codecs[] = { AV_H264, AV_OPUS };
    struct rtc_peer publisher = { .base.publishes = true };
    struct datagram_stream *st;
    struct rtc_wire *w;
    struct guest *g;
    uint16_t before;

    (void)state;
    begin(CONF("", ""));
    publish();
    st = rtc_stream_get(&service, src);
    w = rtc_stream_wire(st);
    rtc_stream_set_publisher(st, &publisher);
    rtc_wire_relay_begin(w, codecs);
    relay(w, 0, 15, 0, 0);
    g = come(false, SRTP_AEAD_AES_128_GCM);
    settle();
    assert_int_equal(g->video.frames, 5);
    g->peer.play->quality.takes = RTC_QUALITY_NEEDED;
    relay(w, 15, 30, 0, 0); /* with 19, 29 and 39 */
    rtc_stream_wake(st);
    settle();
    assert_int_equal(g->video.frames, 5 + 27);
    assert_int_equal(g->peer.play->left_out, 9);
    g->peer.play->quality.takes = RTC_QUALITY_KEYS;
    relay(w, 45, 30, 0, 0); /* 50, 60, 70 */
    rtc_stream_wake(st);
    settle();
    assert_int_equal(g->video.frames, 32 + 3);
    g->peer.play->quality.takes = RTC_QUALITY_ALL; /* from the next key frame on: 80 */
    relay(w, 75, 15, 0, 0);
    rtc_stream_wake(st);
    settle();
    assert_int_equal(g->video.frames, 35 + 10);
    assert_int_equal(g->video.holes + g->video.back, 0);
    for (unsigned i = 0; i < 45 * 3; i += 15) { /* all of it can be had again */
        before = (uint16_t)g->video.doubles;
        nack(g, VIDEO_SSRC, (uint16_t)(g->video.first + i), 15);
        assert_int_equal(g->video.doubles, before + 15);
    }
    leave_all();
    rtc_stream_set_publisher(st, NULL);
    rtc_wire_relay_end(w);
    datagram_stream_put(st);
    unpublish();
    end();
}

/* A connection that takes no more for less than 2 s gets all; then what is from a key frame on. */
static void who_is_far_behind_goes_on_at_a_key_frame(void **state)
{
    struct guest *g;

    (void)state;
    begin_show(CONF("", ""), 5, 10);
    g = come(false, SRTP_NONE);
    settle();
    assert_int_equal(g->video.frames, 5);
    full = true;
    show(3, 10, 3000);
    settle();
    assert_int_equal(g->video.frames, 5);
    full = false;
    settle();
    show(1, 10, 3000);
    settle();
    assert_int_equal(g->video.frames, 9);
    full = true;
    show(3, 10, 3000); /* 12 so far */
    assert_ok(co_sleep(CO_MS(2050)));
    show(1, 10, 3000);
    settle();
    full = false;
    show(5, 10, 3000); /* 18: no key frame yet */
    settle();
    assert_int_equal(g->video.frames, 9);
    show(4, 10, 3000); /* with that of 20 */
    settle();
    assert_int_equal(g->video.frames, 11);
    assert_int_equal(g->peer.play->skips, 1);
    assert_int_equal(g->video.holes + g->video.back, 0);
    leave_all();
    unpublish();
    end();
}

/* What comes late has its place also behind a gap. */
static void late_packets_have_their_place_behind_gaps(void **state)
{
    static const enum av_codec codecs[] = { AV_H264, AV_OPUS };
    struct datagram_stream *st;
    struct rtc_wire *w;
    struct guest *g;

    (void)state;
    begin(CONF("", ""));
    publish();
    st = rtc_stream_get(&service, src);
    w = rtc_stream_wire(st);
    rtc_wire_relay_begin(w, codecs);
    relay(w, 0, 5, 0, 0);
    g = come(false, SRTP_NONE);
    g->peer.play->quality.takes = RTC_QUALITY_NEEDED;
    put_late(w, 5, 0);
    put_late(w, 5, 2);
    relay(w, 9, 1, 0, 0);  /* is left out */
    relay(w, 10, 2, 0, 0);
    put_late(w, 5, 1);
    put_late(w, 6, 0);     /* nobody knew of it when numbers went on */
    rtc_stream_wake(st);
    settle();
    assert_int_equal(g->video.holes, 1); /* until it came */
    nack(g, VIDEO_SSRC, (uint16_t)(g->video.first + 16), 1);
    assert_int_equal(g->video.doubles, 1);
    leave_all();
    rtc_wire_relay_end(w);
    datagram_stream_put(st);
    unpublish();
    end();
}

/* Whose source is another one by now gets numbers of its own. */
static void numbers_of_another_source_are_not_kept(void **state)
{
    static const enum av_codec codecs[] = { AV_H264, AV_OPUS };
    struct rtc_peer publisher = { .base.publishes = true };
    struct datagram_stream *st;
    struct guest *g;

    (void)state;
    begin(CONF("keep_original_ssrc on;", ""));
    publish();
    st = rtc_stream_get(&service, src);
    rtc_stream_set_publisher(st, &publisher);
    rtc_wire_relay_begin(rtc_stream_wire(st), codecs);
    relay(rtc_stream_wire(st), 0, 15, 40000, 7000000);
    anew = true;
    g = come(false, SRTP_NONE);
    settle();
    anew = false;
    assert_int_equal(g->video.frames, 5);
    assert_true(g->video.first < 40000);
    assert_false(g->peer.play->tracks[0].keeps);
    leave_all();
    rtc_stream_set_publisher(st, NULL);
    rtc_wire_relay_end(rtc_stream_wire(st));
    datagram_stream_put(st);
    unpublish();
    end();
}

/* ---- reports */

static void reports_say_how_the_way_is(void **state)
{
    struct rtc_client_stat tell = { 0 };
    struct rtcp_block b = { .ssrc = VIDEO_SSRC, .lost = 7, .jitter = 900 };
    struct guest *g;
    struct wr w;

    (void)state;
    begin_show(CONF("", ""), 10, 25);
    g = come(false, SRTP_NONE);
    settle();
    b.last_sr = (uint32_t)(rtcp_ntp(co_wall_ms() * 1000 - 50000) >> 16);
    wr_init(&w, 64);
    rtcp_put_rr(&w, 1, &b, 1);
    rtc_play_rtcp(&g->peer, w.buf, w.len, co_clock());
    for (size_t n = 0; n < w.len; n++) /* cut anywhere */
        rtc_play_rtcp(&g->peer, w.buf, n, co_clock());
    wr_free(&w);
    rtc_play_stat(&g->peer, &tell);
    assert_int_equal(tell.lost, 7);
    assert_int_equal(tell.jitter, 10000);
    assert_in_range(tell.rtt, 45000, 80000);
    leave_all();
    unpublish();
    end();
}

/* It tells its clock, and is told what it was: not more often than it needs. */
static void a_player_learns_the_round_trip(void **state)
{
    struct guest *g;
    struct wr w;

    (void)state;
    begin_show(CONF("", ""), 10, 25);
    g = come(false, SRTP_NONE);
    settle();
    wr_init(&w, 64);
    rtcp_put_rrtr(&w, 0x1234, 0x1122334455667788u);
    for (size_t n = 0; n <= w.len; n++) /* cut anywhere */
        rtc_play_rtcp(&g->peer, w.buf, n, co_clock());
    rtc_play_rtcp(&g->peer, w.buf, w.len, co_clock());
    assert_int_equal(g->clocks, 1);
    assert_int_equal(g->clock, 0x33445566);
    rtc_play_rtcp(&g->peer, w.buf, w.len, co_clock() + CO_MS(150));
    assert_int_equal(g->clocks, 2);
    wr_free(&w);
    leave_all();
    unpublish();
    end();
}

/* ---- the stream changes */

static void another_codec_ends_players(void **state)
{
    struct guest *g;
    struct frame f;

    (void)state;
    begin_show(CONF("", ""), 10, 25);
    g = come(false, SRTP_NONE);
    settle();
    f = media_config_of(AV_VP9);
    push(src, &f);
    f = media_make(AV_VP9, 0, 1000, frame_buf);
    f.dts = f.pts = AV_MS(shown);
    push(src, &f);
    settle();
    assert_int_equal(g->left, ERR_RTC_NEGOTIATE);
    leave_all();
    unpublish();
    end();
}

static bool all_have(unsigned frames)
{
    for (unsigned i = 0; i < n_guests; i++) {
        if (guests[i] && guests[i]->video.frames < frames)
            return false;
    }
    return true;
}

static void many_are_served_though_some_leave(void **state)
{
    (void)state;
    begin_show(CONF("", ""), 30, 25);
    for (unsigned i = 0; i < MOST; i++)
        (void)come(i & 1, SRTP_AEAD_AES_128_GCM);
    show(25, 25, 3000);
    for (unsigned i = 0; i < MOST; i += 3) {
        leave(guests[i]);
        guests[i] = NULL;
    }
    show(25, 25, 3000);
    for (int i = 0; i < 100 && !all_have(55); i++)
        settle();
    for (unsigned i = 0; i < MOST; i++) {
        if (!guests[i])
            continue;
        assert_int_equal(guests[i]->video.frames, 55);
        assert_int_equal(guests[i]->video.holes + guests[i]->audio.holes, 0);
    }
    leave_all();
    unpublish();
    end();
}

/* A group of pictures takes several turns: those get them who need them, and nobody else is looked
 * at for that. */
static void who_has_just_come_catches_up_in_turns(void **state)
{
    struct guest *g;
    unsigned before;

    (void)state;
    begin_show(CONF("", ""), 1, 100);
    g = come(false, SRTP_NONE);
    show(39, 100, 9000);
    settle();
    assert_int_equal(g->video.frames, 40);
    before = g->bursts;
    for (unsigned i = 0; i < 40; i++)
        (void)come(i & 1, SRTP_AEAD_AES_128_GCM);
    leave(guests[20]); /* in the middle of it */
    guests[20] = NULL;
    for (int i = 0; i < 100 && !all_have(40); i++)
        settle();
    assert_true(all_have(40));
    assert_int_equal(g->bursts, before);
    for (unsigned i = 1; i < n_guests; i++)
        assert_true(!guests[i] || guests[i]->video.holes + guests[i]->video.back == 0);
    leave_all();
    unpublish();
    end();
}

static void wishes_are_what_the_stream_has(void **state)
{
    struct sdp_wish wish = { 0 };
    struct guest *g;

    (void)state;
    begin_show(CONF("", ""), 10, 25);
    g = come(false, SRTP_NONE);
    rtc_play_wish(&g->peer, &wish);
    assert_int_equal(wish.codec[AV_VIDEO], AV_H264);
    assert_int_equal(wish.codec[AV_AUDIO], AV_OPUS);
    assert_int_equal(wish.profile[0], 0x64);
    assert_int_equal(wish.channels, 2);
    assert_false(wish.none[AV_VIDEO] || wish.none[AV_AUDIO]);
    leave_all();
    unpublish();
    end();
}

static void their_bytes_count_for_the_stream(void **state)
{
    struct live_source_stat stat;
    struct guest *g;

    (void)state;
    begin_show(CONF("", ""), 30, 25);
    g = come(false, SRTP_NONE);
    settle();
    rtc_play_count(&g->peer);
    live_source_stat(src, &stat);
    assert_int_equal(stat.out_bytes, g->peer.base.session.out);
    assert_int_equal(stat.consumers, 1);
    assert_true(stat.out_bytes > 10000);
    leave_all();
    live_source_stat(src, &stat);
    assert_int_equal(stat.consumers, 0);
    unpublish();
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_begin_at_the_newest_key_frame),
        TEST(a_frame_is_few_calls),
        TEST(without_cache_one_waits_for_the_next_one),
        TEST(one_who_is_early_waits),
        TEST(a_large_group_is_not_sent),
        TEST(what_is_missing_is_sent_again),
        TEST(or_as_packets_of_their_own),
        TEST(repeats_are_bounded),
        TEST(twice_where_much_is_lost),
        TEST(who_wants_a_key_frame_gets_the_newest_once),
        TEST(one_who_lost_the_begin_gets_it_again),
        TEST(a_publisher_of_ours_is_asked),
        TEST(numbers_are_kept_as_they_came),
        TEST(what_a_line_does_not_take_is_left_out),
        TEST(who_is_far_behind_goes_on_at_a_key_frame),
        TEST(late_packets_have_their_place_behind_gaps),
        TEST(numbers_of_another_source_are_not_kept),
        TEST(reports_say_how_the_way_is),
        TEST(a_player_learns_the_round_trip),
        TEST(another_codec_ends_players),
        TEST(many_are_served_though_some_leave),
        TEST(who_has_just_come_catches_up_in_turns),
        TEST(wishes_are_what_the_stream_has),
        TEST(their_bytes_count_for_the_stream),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
