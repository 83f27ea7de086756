/* SPDX-License-Identifier: MIT */
/* rtc_publisher.c - a WebRTC publisher without a network: its packets, their output, requests to it. */
#include "rtc_publisher.h"

#include "live/impl.h"
#include "rtcp_reader.h"

#define VHOST "__defaultVhost__"

struct publisher publisher;

/* In the log numbers and ticks continue from the earlier ones. */
static void read_log(void)
{
    struct rtc_wire *w = rtc_stream_wire(publisher.stream);
    const struct rtp_log *log = rtc_wire_log(w);

    for (; publisher.wire.place < rtp_log_head(log); publisher.wire.place++) {
        struct rtp_log_entry *e = &publisher.wire.v[publisher.wire.n++];
        int64_t number, ticks;

        assert_true(publisher.wire.n < PUT_MAX && rtp_log_get(log, publisher.wire.place, e));
        rtc_wire_relay_shift(w, e->track == 0 ? AV_VIDEO : AV_AUDIO, &number, &ticks);
        e->number -= number;
        e->ticks -= ticks;
        memcpy(publisher.wire.last_ext, e->ext, e->ext_size);
    }
}

static void hear_feedback(struct rtcp_feedback *f)
{
    uint16_t more;

    if (f->kind == RTCP_NACK) {
        while (rtcp_next_nack(f, &publisher.asked, &more))
            publisher.nacks += 1 + (unsigned)__builtin_popcount(more);
    }
    publisher.plis += f->kind == RTCP_PLI;
    publisher.firs += f->kind == RTCP_FIR;
    publisher.twccs += f->kind == RTCP_TWCC;
    publisher.rembs += f->kind == RTCP_REMB && rtcp_remb(f, &publisher.remb);
}

static void hear_rtcp(struct rtc_peer *p, const uint8_t *rtcp, size_t size)
{
    struct rtcp_reader r;
    struct rtcp_packet packet;
    struct rtcp_feedback f;
    unsigned n = 0;

    assert_ptr_equal(p, publisher.p);
    rtcp_begin(&r, rtcp, size);
    while (rtcp_next(&r, &packet)) {
        assert_true(packet.type == RTCP_SDES || packet.ssrc == 5);
        if (rtcp_feedback(&packet, &f))
            hear_feedback(&f);
        publisher.rrtrs += rtcp_rrtr(&packet, &publisher.ntp);
        if (packet.type != RTCP_RR)
            continue;
        publisher.reports++;
        while (n < 2 && rtcp_next_block(&packet, &publisher.block[n]))
            n++;
    }
    assert_false(r.r.bad);
}

/* ---- a publisher */

static void hear_rtp(struct rtc_peer *p, const uint8_t *data, size_t size, size_t segment)
{
    (void)p, (void)data, (void)size, (void)segment;
    fail_msg("a publisher is sent no media");
}

static const struct rtc_line_ops line = { hear_rtp, hear_rtcp };

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

void publisher_begin_by(const char *rtc, void (*change)(struct sdp_agreed *a))
{
    char text[512];
    struct rtc_peer *p = calloc(1, sizeof(*p));

    memset(&publisher, 0, sizeof(publisher));
    (void)snprintf(text, sizeof(text), "listen 1935; rtc_server { enabled on; } "
                   "vhost " VHOST " { rtc { enabled on; %s } }", rtc);
    audience_begin(text);
    publisher.p = p;
    publisher.now = co_now();
    p->service = &audience.service;
    p->base.publishes = true;
    p->ssrc = 5;
    datagram_client_init(&p->base, audience.env);
    (void)strcpy(p->base.cid, "12345678");
    (void)strcpy(p->base.ip, "10.0.0.1");
    p->base.session.names.param = "?a=b";
    session_begin(&p->base.session);
    assert_ok(session_find_stream(&p->base.session, VHOST, "live", "s"));
    agree(&p->agreed);
    if (change)
        change(&p->agreed);
    p->clear = true;
    rtc_line_connect(&publisher.line, p, &line);
    assert_ok(rtc_publish_admit(p));
    assert_string_equal(p->base.session.names.param, "?a=b&upstream=rtc");
    publisher.stream = rtc_stream_get(&audience.service, p->base.session.src);
    rtc_wire_wanted(rtc_stream_wire(publisher.stream), true);
    p->base.state = DATAGRAM_ACTIVE;
    p->connected = publisher.now;
    rtc_publish_connected(p, publisher.now);
    assert_int_equal(rtc_wire_codec(rtc_stream_wire(publisher.stream), AV_VIDEO), AV_H264);
    assert_int_equal(rtc_wire_codec(rtc_stream_wire(publisher.stream), AV_AUDIO), AV_OPUS);
}

void publisher_begin(const char *rtc)
{
    publisher_begin_by(rtc, NULL);
}

void publisher_end(void)
{
    rtc_publish_end(publisher.p, NULL);
    assert_null(publisher.p->publish);
    assert_null(rtc_stream_publisher(publisher.stream));
    rtc_wire_wanted(rtc_stream_wire(publisher.stream), false);
    datagram_stream_put(publisher.stream);
    datagram_client_fini(&publisher.p->base);
    free(publisher.p);
    audience_end();
}

/* Advances the clock, and the publisher's timers with it. */
void publisher_pass(int ms)
{
    assert_ok(co_sleep(CO_MS(ms)));
    publisher.now = co_now();
}

void publisher_put(const struct publisher_packet *in)
{
    uint8_t packet[1500];
    size_t at = RTP_HEADER;

    rtp_build(packet, in->marker, in->type, (uint16_t)in->seq, in->time, in->ssrc);
    at += rtp_ext_build(packet + at, 200, in->ext, in->n_ext);
    packet[0] |= in->n_ext ? 0x10 : 0;
    memcpy(packet + at, in->payload, in->size);
    rtc_publish_rtp(publisher.p, packet, at + in->size, publisher.now);
    read_log();
}

void publisher_put_sets(int seq, int picture)
{
    publisher_put(&(struct publisher_packet){ V_SSRC, VIDEO, seq, (uint32_t)(picture * 3000), false, SETS,
                      sizeof(SETS) - 1, { { 0 } }, 0 });
}

void publisher_put_key(int seq, int picture)
{
    publisher_put_sets(seq, picture);
    publisher_put(&(struct publisher_packet){ V_SSRC, VIDEO, seq + 1, (uint32_t)(picture * 3000), true,
                      "\x65\x88\x84\x21", 4, { { 0 } }, 0 });
}

void publisher_put_slice(int seq, int picture)
{
    publisher_put(&(struct publisher_packet){ V_SSRC, VIDEO, seq, (uint32_t)(picture * 3000), true, "\x41\x9a\x22\x33", 4,
                      { { 0 } }, 0 });
}

void publisher_put_audio(int seq)
{
    publisher_put(&(struct publisher_packet){ A_SSRC, SOUND, seq, (uint32_t)(seq * 960), true, "\xfc\xff\xfe", 3,
                      { { LEVEL, 1, (const uint8_t *)"\x55" } }, 1 });
}

void publisher_put_repeat(int of, int picture)
{
    static int seq;
    char payload[6] = { (char)(of >> 8), (char)of, '\x41', '\x9a', '\x22', '\x33' };

    publisher_put(&(struct publisher_packet){ R_SSRC, RTX, seq++, (uint32_t)(picture * 3000), true, payload, 6,
                      { { 0 } }, 0 });
}

uint64_t publisher_frames(void)
{
    struct live_source_stat s;

    live_source_stat(publisher.p->base.session.src, &s);
    return s.video_packets + s.audio_packets;
}
