/* SPDX-License-Identifier: MIT */
/* test_rtc_publish.c - packets of a WebRTC publisher, without a network: of which track they are,
 * what players of WebRTC get, what becomes of them for all others, and what the publisher is told
 * and asked for. What is beside it (its session, the stream's players) is made up here. */
#include "conf_mem.h"
#include "live/impl.h"
#include "proto/rtp/extensions.h"
#include "rtcp_reader.h"
#include "serve/rtc/publish_impl.h"

#include <stdlib.h>
#include <string.h>

#define VHOST "__defaultVhost__"
#define SETS "\x18\x00\x0e\x67\x42\xc0\x1f\x8c\x8d\x40\x50\x1e\xd0\x0f\x08\x84\x6a\x00\x04\x68" \
             "\xce\x3c\x80"

enum { VIDEO = 96, RTX = 97, SOUND = 111, V_SSRC = 1000, R_SSRC = 1001, A_SSRC = 2000,
       MID = 1, TWCC = 2, RID = 3, RRID = 4, LEVEL = 5, PUT_MAX = 4096 };

struct rtc_stream {
    struct datagram_stream base;
    struct rtc_peer *publisher;
    unsigned wakes;
};
struct rtc_wire {
    bool relays;
    unsigned n;
    struct rtp_log_entry v[PUT_MAX]; /* but for what they point to */
    uint8_t last_ext[RTP_LOG_EXT_MAX];
    unsigned moments;
    int64_t ticks, moment;
};

static struct {
    struct session_env env;
    struct rtc_service service;
    struct rtc_stream stream;
    struct rtc_wire wire;
    struct rtc_peer *p;
    co_usec now;
    /* what the publisher was told */
    unsigned nacks, plis, firs, twccs, reports, rembs, rrtrs;
    uint16_t asked;         /* the last number of a NACK */
    uint64_t remb;
    struct rtcp_block block[2];
    uint64_t ntp;
} it;

/* ---- what is beside it */

struct datagram_stream *rtc_stream_get(struct rtc_service *s, struct live_source *src)
{
    assert_ptr_equal(s, &it.service);
    assert_non_null(src);
    it.stream.base.refs++;
    return &it.stream.base;
}

void datagram_stream_put(struct datagram_stream *st)
{
    st->refs--;
}

struct rtc_wire *rtc_stream_wire(struct datagram_stream *st)
{
    (void)st;
    return &it.wire;
}

void rtc_stream_set_publisher(struct datagram_stream *st, struct rtc_peer *p)
{
    assert_ptr_equal(st, &it.stream.base);
    it.stream.publisher = p;
}

struct rtc_peer *rtc_stream_publisher(const struct datagram_stream *st)
{
    assert_ptr_equal(st, &it.stream.base);
    return it.stream.publisher;
}

void rtc_stream_wake(struct datagram_stream *st)
{
    assert_ptr_equal(st, &it.stream.base);
    it.stream.wakes++;
}

void rtc_wire_relay_begin(struct rtc_wire *w, const enum av_codec codec[RTP_LOG_TRACKS])
{
    assert_int_equal(codec[0], AV_H264);
    assert_int_equal(codec[1], AV_OPUS);
    w->relays = true;
}

void rtc_wire_relay_end(struct rtc_wire *w)
{
    w->relays = false;
}

void rtc_wire_relay_put(struct rtc_wire *w, const struct rtp_log_entry *e)
{
    assert_true(w->relays && w->n < PUT_MAX);
    memcpy(w->last_ext, e->ext, e->ext_size);
    w->v[w->n++] = *e;
}

void rtc_wire_relay_moment(struct rtc_wire *w, enum av_kind kind, int64_t ticks, int64_t unix_us)
{
    (void)kind;
    w->moments++;
    w->ticks = ticks;
    w->moment = unix_us;
}

bool rtc_key_begins(enum av_codec codec, const uint8_t *data, size_t size)
{
    return codec == AV_H264 && size > 0 && (data[0] & 0x1f) == 24;
}

static void hear_feedback(struct rtcp_feedback *f)
{
    uint16_t more;

    if (f->kind == RTCP_NACK) {
        while (rtcp_next_nack(f, &it.asked, &more))
            it.nacks += 1 + (unsigned)__builtin_popcount(more);
    }
    it.plis += f->kind == RTCP_PLI;
    it.firs += f->kind == RTCP_FIR;
    it.twccs += f->kind == RTCP_TWCC;
    it.rembs += f->kind == RTCP_REMB && rtcp_remb(f, &it.remb);
}

void rtc_peer_rtcp(struct rtc_peer *p, const uint8_t *rtcp, size_t size)
{
    struct rtcp_reader r;
    struct rtcp_packet packet;
    struct rtcp_feedback f;
    unsigned n = 0;

    assert_ptr_equal(p, it.p);
    rtcp_begin(&r, rtcp, size);
    while (rtcp_next(&r, &packet)) {
        assert_true(packet.type == RTCP_SDES || packet.ssrc == 5);
        if (rtcp_feedback(&packet, &f))
            hear_feedback(&f);
        it.rrtrs += rtcp_rrtr(&packet, &it.ntp);
        if (packet.type != RTCP_RR)
            continue;
        it.reports++;
        while (n < 2 && rtcp_next_block(&packet, &it.block[n]))
            n++;
    }
    assert_false(r.r.bad);
}

/* ---- a publisher */

static void on_publish(void *arg, const struct conf_vhost *vhost, const struct session_stream *s,
                       struct live_source *src)
{
    (void)arg, (void)vhost, (void)src;
    assert_string_equal(s->param, "?a=b&upstream=rtc");
}

static void on_unpublish(void *arg, struct live_source *src)
{
    (void)arg, (void)src;
}

static void agree(struct sdp_agreed *a)
{
    struct sdp_track *v = &a->tracks[AV_VIDEO], *s = &a->tracks[AV_AUDIO];

    a->publish = true;
    *v = (struct sdp_track){ .on = true, .codec = AV_H264, .type = VIDEO, .rtx_type = RTX,
                             .clock = 90000, .mode = 1, .mid = "v",
                             .fmtp = "packetization-mode=1",
                             .feedback = SDP_FB_NACK | SDP_FB_PLI | SDP_FB_FIR | SDP_FB_TWCC };
    *s = (struct sdp_track){ .on = true, .codec = AV_OPUS, .type = SOUND, .clock = 48000,
                             .channels = 2, .mid = "a", .feedback = SDP_FB_TWCC };
    for (int i = 0; i < SDP_TRACKS; i++) {
        a->tracks[i].ext[SDP_EXT_MID] = MID;
        a->tracks[i].ext[SDP_EXT_TWCC] = TWCC;
    }
    v->ext[SDP_EXT_RID] = RID;
    v->ext[SDP_EXT_RRID] = RRID;
    s->ext[SDP_EXT_AUDIO_LEVEL] = LEVEL;
}

static void begin_by(const char *rtc, void (*change)(struct sdp_agreed *a))
{
    char text[512];
    struct rtc_peer *p = calloc(1, sizeof(*p));

    memset(&it, 0, sizeof(it));
    (void)snprintf(text, sizeof(text), "listen 1935; rtc_server { enabled on; } "
                   "vhost " VHOST " { rtc { enabled on; %s } }", rtc);
    it.env = (struct session_env){ .generation = 1, .on_publish = on_publish,
                                   .on_unpublish = on_unpublish, .signature = "us" };
    it.env.conf = mem_conf(text);
    it.env.streams = live_registry_new();
    it.env.clients = clients_new(it.env.streams, "server");
    it.p = p;
    it.now = co_now();
    p->service = &it.service;
    p->base.publishes = true;
    p->ssrc = 5;
    datagram_client_init(&p->base, &it.env);
    (void)strcpy(p->base.cid, "12345678");
    (void)strcpy(p->base.ip, "10.0.0.1");
    p->base.session.names.param = "?a=b";
    session_begin(&p->base.session);
    assert_ok(session_find_stream(&p->base.session, VHOST, "live", "s"));
    agree(&p->agreed);
    if (change)
        change(&p->agreed);
    assert_ok(rtc_publish_admit(p));
    p->base.state = DATAGRAM_ACTIVE;
    p->connected = it.now;
    rtc_publish_connected(p, it.now);
}

static void begin(const char *rtc)
{
    begin_by(rtc, NULL);
}

static void end(void)
{
    rtc_publish_end(it.p, NULL);
    assert_null(it.p->publish);
    assert_null(it.stream.publisher);
    assert_int_equal(it.stream.base.refs, 0);
    assert_false(it.wire.relays);
    datagram_client_fini(&it.p->base);
    free(it.p);
    assert_int_equal(it.env.publishers, 0);
    assert_int_equal(live_registry_count(it.env.streams), 0);
    live_registry_free(it.env.streams);
    clients_free(it.env.clients);
    it.env.conf = conf_unref(it.env.conf);
    assert_int_equal(conf_live(), 0);
}

/* The clock goes on, and timers with it. */
static void pass(int ms)
{
    assert_ok(co_sleep(CO_MS(ms)));
    it.now = co_now();
}

struct in {
    uint32_t ssrc;
    uint8_t type;
    int seq;
    uint32_t time;
    bool marker;
    const char *payload;
    size_t size;
    struct rtp_ext ext[3];
    unsigned n_ext;
};

static void put(const struct in *in)
{
    uint8_t packet[1500];
    size_t at = RTP_HEADER;

    rtp_build(packet, in->marker, in->type, (uint16_t)in->seq, in->time, in->ssrc);
    at += rtp_ext_build(packet + at, 200, in->ext, in->n_ext);
    packet[0] |= in->n_ext ? 0x10 : 0;
    memcpy(packet + at, in->payload, in->size);
    rtc_publish_rtp(it.p, packet, at + in->size, it.now);
}

static void put_sets(int seq, int picture)
{
    put(&(struct in){ V_SSRC, VIDEO, seq, (uint32_t)(picture * 3000), false, SETS,
                      sizeof(SETS) - 1, { { 0 } }, 0 });
}

static void put_key(int seq, int picture)
{
    put_sets(seq, picture);
    put(&(struct in){ V_SSRC, VIDEO, seq + 1, (uint32_t)(picture * 3000), true,
                      "\x65\x88\x84\x21", 4, { { 0 } }, 0 });
}

static void put_slice(int seq, int picture)
{
    put(&(struct in){ V_SSRC, VIDEO, seq, (uint32_t)(picture * 3000), true, "\x41\x9a\x22\x33", 4,
                      { { 0 } }, 0 });
}

static void put_sound(int seq)
{
    put(&(struct in){ A_SSRC, SOUND, seq, (uint32_t)(seq * 960), true, "\xfc\xff\xfe", 3,
                      { { LEVEL, 1, (const uint8_t *)"\x55" } }, 1 });
}

static void put_repeat(int of, int picture)
{
    static int seq;
    char payload[6] = { (char)(of >> 8), (char)of, '\x41', '\x9a', '\x22', '\x33' };

    put(&(struct in){ R_SSRC, RTX, seq++, (uint32_t)(picture * 3000), true, payload, 6,
                      { { 0 } }, 0 });
}

static uint64_t frames(void)
{
    struct live_source_stat s;

    live_source_stat(it.p->base.session.src, &s);
    return s.video_packets + s.audio_packets;
}

/* ---- where packets go */

static void test_relayed_and_taken_in(void **state)
{
    const struct rtp_log_entry *e = it.wire.v;

    (void)state;
    begin("rtc_to_rtmp on;");
    assert_ptr_equal(it.stream.publisher, it.p);
    put_key(100, 0);
    put_sound(7);
    put_slice(102, 1);
    put_slice(103, 2);
    put_sound(8);
    assert_int_equal(it.wire.n, 6);
    assert_int_equal(it.stream.wakes, 6);
    assert_true(e[0].track == 0 && e[0].number == 100 && e[0].ticks == 0 && !e[0].marker);
    assert_true(e[0].size == sizeof(SETS) - 1 && e[1].marker && e[1].number == 101);
    assert_true(e[2].track == 1 && e[2].number == 7 && e[2].ticks == 7 * 960);
    assert_true(e[5].ext_size == 3);
    assert_memory_equal(it.wire.last_ext, "\x06\x01\x55", 3);
    assert_int_equal(SDP_EXT_AUDIO_LEVEL, 6);
    assert_true(frames() >= 4); /* of video two, whole ones; of sound two; and configurations */
    assert_int_equal(it.service.stat.received, 6);
    end();
}

static void test_not_taken_in(void **state)
{
    (void)state;
    begin("");
    put_key(100, 0);
    put_slice(102, 1);
    put_slice(103, 2);
    assert_int_equal(it.wire.n, 4);
    assert_int_equal(frames(), 0);
    end();
}

static void test_late_and_doubled(void **state)
{
    const struct rtp_log_entry *e = it.wire.v;

    (void)state;
    begin("");
    put_key(65534, 0);
    put_slice(1, 2);
    put_slice(0, 1);
    put_slice(0, 1);
    put_slice(1, 2);
    assert_int_equal(it.wire.n, 4);
    assert_true(e[2].number == 65537 && !e[2].late);
    assert_true(e[3].number == 65536 && e[3].late && e[3].ticks == 3000);
    assert_int_equal(it.p->publish->doubled, 2);
    end();
}

static void test_repeats(void **state)
{
    (void)state;
    begin("rtc_to_rtmp on;");
    put_repeat(99, 0); /* of nothing yet */
    assert_int_equal(it.wire.n, 0);
    put_key(100, 0);
    put_slice(102, 1);
    put_slice(104, 3);
    pass(16);
    assert_int_equal(it.nacks, 1);
    assert_int_equal(it.asked, 103);
    put_repeat(103, 2);
    assert_int_equal(it.wire.n, 5);
    assert_true(it.wire.v[4].number == 103 && it.wire.v[4].ticks == 6000 && it.wire.v[4].late);
    assert_int_equal(it.wire.v[4].size, 4);
    put_repeat(103, 2);
    put_repeat(102, 1);
    assert_int_equal(it.wire.n, 5);
    pass(60);
    assert_int_equal(it.nacks, 1);
    put_slice(105, 4);
    assert_int_equal(it.p->publish->tracks[0].nack.found, 1);
    end();
}

/* ---- whose a packet is */

static const struct {
    const char *name, *mid;
    uint32_t ssrc;
    uint8_t type;
    int track; /* -1: none */
} whose[] = {
    { "by type", NULL, 1, VIDEO, 0 },
    { "by type, sound", NULL, 1, SOUND, 1 },
    { "of no type", NULL, 1, 50, -1 },
    { "by mid", "v", 1, VIDEO, 0 },
    { "by mid, of another's type", "a", 1, VIDEO, -1 },
    { "of a mid that nobody knows", "x", 1, VIDEO, 0 },
    { "by ssrc as offered", NULL, V_SSRC, VIDEO, 0 },
    { "by ssrc, of another's type", NULL, V_SSRC, SOUND, -1 },
};

static void offer_ssrc(struct sdp_agreed *a)
{
    a->tracks[AV_VIDEO].ssrc = V_SSRC;
}

static void test_whose(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(whose); i++) {
        struct in in = { whose[i].ssrc, whose[i].type, 1, 0, true, "\x41\x9a", 2, { { 0 } }, 0 };

        print_message("  %s\n", whose[i].name);
        begin_by("", offer_ssrc);
        if (whose[i].mid) {
            in.ext[0] = (struct rtp_ext){ MID, 1, (const uint8_t *)whose[i].mid };
            in.n_ext = 1;
        }
        put(&in);
        assert_int_equal(it.wire.n, whose[i].track >= 0);
        if (it.wire.n)
            assert_int_equal(it.wire.v[0].track, whose[i].track);
        end();
    }
}

static void choose_high(struct sdp_agreed *a)
{
    struct sdp_track *t = &a->tracks[AV_VIDEO];

    t->n_rids = 2;
    (void)strcpy(t->rids[0], "h");
    (void)strcpy(t->rids[1], "l");
}

/* Of simulcast the layer that was agreed on; those who do not say yet are asked again. */
static void test_simulcast(void **state)
{
    struct in in = { 1, VIDEO, 1, 0, true, "\x41\x9a", 2, { { 0 } }, 0 };

    (void)state;
    begin_by("", choose_high);
    put(&in);
    assert_int_equal(it.wire.n, 0);
    in.ext[0] = (struct rtp_ext){ RID, 1, (const uint8_t *)"h" };
    in.n_ext = 1;
    put(&in);
    assert_int_equal(it.wire.n, 1);
    in.n_ext = 0; /* it is known by now */
    in.seq = 2;
    put(&in);
    assert_int_equal(it.wire.n, 2);
    in.ssrc = 2;
    in.n_ext = 1;
    in.ext[0] = (struct rtp_ext){ RID, 1, (const uint8_t *)"l" };
    put(&in);
    assert_int_equal(it.wire.n, 2);
    end();
}

/* A second of a layer: `n` packets, the first is of a key frame. */
static void put_layer(uint32_t ssrc, const char *rid, uint16_t seq, unsigned n, bool key)
{
    static const char set[] = SETS;

    for (unsigned i = 0; i < n; i++) {
        struct in in = { ssrc, VIDEO, (uint16_t)(seq + i), seq * 90u + i * 1000, true, "\x41\x9a",
                         2, { { RID, 1, (const uint8_t *)rid } }, 1 };

        if (key && i == 0) {
            in.payload = set;
            in.size = sizeof(set) - 1;
        }
        put(&in);
        it.now += CO_SECONDS(1) / n;
    }
}

/* The one of which most comes, from a key frame of it on, which is asked for; another one where
 * that has stopped. */
static void test_the_largest_layer_is_the_stream(void **state)
{
    unsigned n;

    (void)state;
    begin_by("rtc_to_rtmp on;", choose_high);
    put_layer(1, "l", 100, 10, true);
    assert_int_equal(it.wire.n, 10);
    for (unsigned i = 0; i < 3; i++) { /* both, and the other has ten times as much */
        n = it.wire.n;
        put_layer(2, "h", (uint16_t)(500 + i * 100), 100, false);
        put_layer(1, "l", (uint16_t)(110 + i * 10), 10, false);
        assert_int_equal(it.wire.n, n + 10);
    }
    assert_true(it.plis > 0);
    n = it.wire.n;
    put_layer(2, "h", 900, 10, true);
    assert_int_equal(it.wire.n, n + 10);
    assert_int_equal(it.p->publish->tracks[AV_VIDEO].ssrc, 2);
    put_layer(1, "l", 200, 5, true); /* it is heard no more */
    assert_int_equal(it.wire.n, n + 10);
    it.now += CO_SECONDS(2);
    put_layer(1, "l", 210, 5, false);
    assert_int_equal(it.wire.n, n + 10);
    put_layer(1, "l", 215, 5, true); /* in place of one that has stopped */
    assert_int_equal(it.wire.n, n + 15);
    end();
}

static void test_many_sources(void **state)
{
    (void)state;
    begin("");
    for (uint32_t ssrc = 1; ssrc < 1000; ssrc++)
        put(&(struct in){ ssrc, SOUND, 1, 0, true, "\xfc", 1, { { 0 } }, 0 });
    assert_int_equal(it.p->publish->n_sources, PUBLISH_SOURCES);
    assert_int_equal(it.wire.n, 1); /* another may not speak while one does */
    end();
}

/* It stops, and comes back as another: numbers go on where players have no doubt. */
static void test_another_source(void **state)
{
    (void)state;
    begin("rtc_to_rtmp on;");
    put_key(100, 0);
    put_slice(102, 1);
    put(&(struct in){ 7, VIDEO, 30000, 5, true, "\x41\x9a", 2, { { 0 } }, 0 });
    assert_int_equal(it.wire.n, 3);
    it.now += CO_SECONDS(2);
    put(&(struct in){ 7, VIDEO, 101, 5, true, "\x41\x9a", 2, { { 0 } }, 0 });
    put(&(struct in){ 7, VIDEO, 102, 3005, true, "\x41\x9a", 2, { { 0 } }, 0 });
    assert_int_equal(it.wire.n, 5);
    assert_true(it.wire.v[3].number > 102 + 3000);
    assert_true(it.wire.v[4].number == it.wire.v[3].number + 1);
    assert_false(it.wire.v[3].late);
    end();
}

static void test_numbers_begin_anew(void **state)
{
    (void)state;
    begin("");
    put_slice(100, 0);
    put_slice(20000, 1); /* of nobody, as far as we know */
    assert_int_equal(it.wire.n, 1);
    put_slice(101, 2);
    put_slice(20001, 3);
    assert_int_equal(it.wire.n, 2);
    put_slice(20002, 4);
    put_slice(20003, 5);
    assert_int_equal(it.wire.n, 4);
    assert_int_equal(it.wire.v[3].number, it.wire.v[2].number + 1);
    end();
}

/* ---- what it is asked for */

static void test_key_frames(void **state)
{
    (void)state;
    begin("");
    rtc_publish_want_key(it.p, it.now); /* nothing came yet: it begins with one */
    put_key(100, 0);
    rtc_publish_want_key(it.p, it.now);
    assert_int_equal(it.plis, 0);
    it.now += CO_MS(1000);
    for (int i = 0; i < 50; i++)
        rtc_publish_want_key(it.p, it.now);
    assert_int_equal(it.plis, 1);
    assert_int_equal(it.firs, 0);
    it.now += CO_MS(499);
    rtc_publish_want_key(it.p, it.now);
    assert_int_equal(it.plis, 1);
    it.now += CO_MS(1);
    rtc_publish_want_key(it.p, it.now);
    assert_int_equal(it.plis, 2);
    end();
}

static void only_fir(struct sdp_agreed *a)
{
    a->tracks[AV_VIDEO].feedback = SDP_FB_FIR;
}

static void nothing(struct sdp_agreed *a)
{
    a->tracks[AV_VIDEO].feedback = 0;
}

static void test_other_feedback(void **state)
{
    (void)state;
    begin_by("", only_fir);
    put_key(100, 0);
    rtc_publish_want_key(it.p, it.now + CO_SECONDS(2));
    assert_true(it.plis == 0 && it.firs == 1);
    end();
    begin_by("", nothing);
    put_key(100, 0);
    put_slice(104, 0);
    rtc_publish_want_key(it.p, it.now + CO_SECONDS(2));
    pass(20);
    assert_true(it.plis + it.firs + it.nacks == 0);
    end();
}

static void test_large_gap(void **state)
{
    (void)state;
    begin("");
    put_key(100, 0);
    it.now += CO_SECONDS(1);
    put_slice(500, 1);
    assert_int_equal(it.plis, 1);
    pass(20);
    assert_int_equal(it.nacks, 0);
    end();
}

/* A picture that is broken for good: the next one that helps is asked for. */
static void test_broken_picture(void **state)
{
    (void)state;
    begin("rtc_to_rtmp on;");
    put_key(100, 0);
    put_slice(102, 1);
    put_slice(103, 2);
    pass(600);
    put_slice(105, 4);
    pass(100);
    assert_int_equal(it.plis, 0); /* it may come yet */
    assert_true(it.nacks >= 2);
    pass(350);
    assert_int_equal(it.plis, 1);
    end();
}

static void test_period(void **state)
{
    struct live_source *src;

    (void)state;
    begin("rtc_to_rtmp on; pli_for_rtmp 0.5;");
    put_key(100, 0);
    put_slice(102, 1); /* that the one before it is whole is known by now */
    put_slice(103, 2);
    pass(1100);
    assert_int_equal(it.plis, 0); /* nobody is there */
    src = it.p->base.session.src;
    live_source_players(src, 1);
    pass(1200);
    assert_in_range(it.plis, 1, 3);
    live_source_players(src, -1);
    end();
}

/* ---- what it is told */

static void put_numbered(int seq, int number)
{
    const uint8_t two[] = { (uint8_t)(number >> 8), (uint8_t)number };

    put(&(struct in){ A_SSRC, SOUND, seq, (uint32_t)(seq * 960), true, "\xfc", 1,
                      { { TWCC, 2, two } }, 1 });
}

static void test_twcc(void **state)
{
    (void)state;
    begin("");
    for (int i = 0; i < 50; i++)
        put_numbered(i, 65500 + i);
    assert_int_equal(it.twccs, 1);
    put_numbered(50, 65550);
    assert_int_equal(it.twccs, 1);
    pass(120);
    assert_int_equal(it.twccs, 2);
    pass(250);
    assert_int_equal(it.twccs, 2);
    assert_int_equal(it.service.stat.twcc_sent, 2);
    end();
    begin("twcc off;");
    for (int i = 0; i < 100; i++)
        put_numbered(i, i);
    pass(120);
    assert_int_equal(it.twccs, 0);
    end();
}

static void put_sr(uint32_t ssrc, int64_t unix_us, uint32_t time)
{
    struct wr w;

    wr_init(&w, 200);
    rtcp_put_sr(&w, ssrc, &(struct rtcp_sr){ .ntp = rtcp_ntp(unix_us), .time = time });
    rtcp_put_dlrr(&w, ssrc, 5, (uint32_t)(rtcp_ntp(co_wall_ms() * 1000 - 80000) >> 16), 0);
    rtc_publish_rtcp(it.p, w.buf, w.len, it.now);
    wr_free(&w);
}

static void test_reports(void **state)
{
    struct rtc_client_stat told = { 0 };

    (void)state;
    begin("");
    put_slice(100, 0);
    put_slice(103, 1);
    put_sound(1);
    put_sr(V_SSRC, 1700000000000000, 3000);
    put_sr(999, 1700000000000000, 3000);
    assert_int_equal(it.wire.moments, 1);
    assert_true(it.wire.ticks == 3000 && it.wire.moment == 1700000000000000);
    pass(1050);
    assert_true(it.reports == 1 && it.rrtrs == 1 && it.rembs == 0);
    assert_true(it.block[0].ssrc == V_SSRC && it.block[1].ssrc == A_SSRC);
    assert_int_equal(it.block[0].highest, 103);
    assert_int_equal(it.block[0].lost, 2);
    assert_int_equal(it.block[0].fraction, 128);
    assert_int_equal(it.block[0].last_sr, (uint32_t)(rtcp_ntp(1700000000000000) >> 16));
    assert_in_range(it.block[0].delay, 60000, 80000);
    assert_int_equal(it.block[1].last_sr, 0);
    assert_int_equal(it.service.stat.recv_lost, 2);
    rtc_publish_stat(it.p, &told);
    assert_int_equal(told.lost, 2);
    assert_in_range(told.rtt, 70000, 90000);
    assert_true(told.nacks >= 2);
    end();
}

static void only_remb(struct sdp_agreed *a)
{
    a->tracks[AV_VIDEO].feedback = SDP_FB_REMB;
    a->tracks[AV_AUDIO].feedback = 0;
}

static void test_remb(void **state)
{
    (void)state;
    begin_by("", only_remb);
    put_slice(100, 0);
    pass(1050);
    assert_int_equal(it.rembs, 1);
    assert_in_range(it.remb, 19000000, 20000000);
    end();
}

static void test_bye(void **state)
{
    struct wr w;

    (void)state;
    begin("");
    put_slice(100, 0);
    wr_init(&w, 200);
    rtcp_put_bye(&w, V_SSRC);
    rtc_publish_rtcp(it.p, w.buf, w.len, it.now);
    wr_free(&w);
    assert_true(it.p->publish->tracks[0].over);
    it.now += CO_SECONDS(2);
    rtc_publish_want_key(it.p, it.now);
    assert_int_equal(it.plis, 0);
    put(&(struct in){ 7, VIDEO, 5, 5, true, "\x41\x9a", 2, { { 0 } }, 0 }); /* at once */
    assert_int_equal(it.wire.n, 2);
    assert_false(it.p->publish->tracks[0].over);
    end();
}

/* Nothing of what may come does harm. */
static void test_anything(void **state)
{
    uint8_t bytes[300];

    (void)state;
    begin("rtc_to_rtmp on;");
    put_key(100, 0);
    srandom(3);
    for (int i = 0; i < 20000; i++) {
        size_t n = (size_t)(random() % (int)sizeof(bytes));
        uint8_t *copy = malloc(n ? n : 1);
        static const uint8_t types[] = { VIDEO, RTX, SOUND, 200, 201, 203, 205, 206, 207 };

        for (size_t k = 0; k < sizeof(bytes); k++)
            bytes[k] = (uint8_t)random();
        bytes[0] = (uint8_t)(0x80 | (random() % 4 ? 0 : bytes[0] & 0x3f));
        bytes[1] = types[(size_t)random() % sizeof(types)];
        if (random() % 2)
            memcpy(bytes + 8, "\0\0\x03\xe8", 4);
        memcpy(copy, bytes, n);
        it.wire.n = 0;
        it.now += 1000;
        if (bytes[1] >= 200)
            rtc_publish_rtcp(it.p, copy, n, it.now);
        else
            rtc_publish_rtp(it.p, copy, n, it.now);
        free(copy);
    }
    end();
}

static int set_up(void **state)
{
    (void)state;
    assert_ok(co_init());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    co_fini();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_relayed_and_taken_in), TEST(test_not_taken_in), TEST(test_late_and_doubled),
        TEST(test_repeats), TEST(test_whose), TEST(test_simulcast),
        TEST(test_the_largest_layer_is_the_stream), TEST(test_many_sources),
        TEST(test_another_source), TEST(test_numbers_begin_anew), TEST(test_key_frames),
        TEST(test_other_feedback), TEST(test_large_gap), TEST(test_broken_picture),
        TEST(test_period), TEST(test_twcc), TEST(test_reports), TEST(test_remb), TEST(test_bye),
        TEST(test_anything),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
