/* SPDX-License-Identifier: MIT */
/* publish_packets.c - packets of a publisher: finds their track and hands them to WebRTC players
 * first, then to the intake.
 *
 * [MID] RFC 9143 15, [RID] RFC 8852, [RTX] RFC 4588.
 */
#include "base/log.h"
#include "proto/rtp/extensions.h"
#include "serve/rtc/publish_impl.h"

#include <string.h>

enum { PACKET_MAX = 2048, FAR = 3000, /* [RFC 3550] A.1 */
       RESTART_GAP = 100000 }; /* gap between the numbers of one source and the next */

#define SOURCE_FORGOTTEN CO_SECONDS(10)
#define SSRC_SILENCE CO_SECONDS(1) /* same as in proto/rtp/receiver.h */

/* ---- header extensions */

struct extensions {
    struct rtp_ext mid, rid, repaired; /* data NULL: absent */
    bool numbered;
    uint16_t number;  /* counts over all tracks */
};

static bool is_of(const struct rtc_publish *pub, enum sdp_ext ext, uint8_t id)
{
    for (unsigned i = 0; i < SDP_TRACKS; i++) {
        if (pub->tracks[i].sdp->on && pub->tracks[i].sdp->ext[ext] == id)
            return true;
    }
    return false;
}

/* Extension ids are the same in all tracks of a bundle, [BUNDLE] RFC 9143 9.2. */
static void read_extensions(const struct rtc_publish *pub, const struct rtp_packet *packet,
                      struct extensions *extensions)
{
    struct rtp_ext_reader r;
    struct rtp_ext e;

    *extensions = (struct extensions){ 0 };
    rtp_ext_begin(&r, packet);
    while (rtp_ext_next(&r, &e)) {
        if (e.id == pub->twcc_id && e.size >= 2) {
            extensions->numbered = true;
            extensions->number = (uint16_t)(e.data[0] << 8 | e.data[1]);
        } else if (is_of(pub, SDP_EXT_MID, e.id)) {
            extensions->mid = e;
        } else if (is_of(pub, SDP_EXT_RID, e.id)) {
            extensions->rid = e;
        } else if (is_of(pub, SDP_EXT_RRID, e.id)) {
            extensions->repaired = e;
        }
    }
}

static bool equals(const struct rtp_ext *e, const char *text)
{
    return e->data && strlen(text) == e->size && memcmp(e->data, text, e->size) == 0;
}

/* ---- the track */

static bool has_type(const struct publish_track *t, uint8_t type)
{
    const struct sdp_track *sdp = t->sdp;

    return sdp->on && (type == sdp->type || (sdp->rtx_type && type == sdp->rtx_type));
}

static bool has_ssrc(const struct publish_track *t, uint32_t ssrc)
{
    const struct sdp_track *sdp = t->sdp;

    return sdp->on && ssrc && (ssrc == sdp->ssrc || ssrc == sdp->rtx_ssrc);
}

static struct publish_track *find_track(struct rtc_publish *pub, const struct rtp_packet *packet,
                                        const struct extensions *extensions)
{
    for (unsigned i = 0; extensions->mid.data && i < SDP_TRACKS; i++) {
        if (pub->tracks[i].sdp->on && equals(&extensions->mid, pub->tracks[i].sdp->mid))
            return &pub->tracks[i];
    }
    for (unsigned i = 0; i < SDP_TRACKS; i++) {
        if (has_ssrc(&pub->tracks[i], packet->ssrc))
            return &pub->tracks[i];
    }
    for (unsigned i = 0; i < SDP_TRACKS; i++) {
        if (has_type(&pub->tracks[i], packet->type))
            return &pub->tracks[i];
    }
    return NULL;
}

/* Finds the simulcast layer of a packet; track NULL: not an agreed one. Returns false if the packet
 * does not name it; early packets do. */
static bool find_layer(struct publish_source *s, const struct extensions *extensions)
{
    const struct rtp_ext *rid =
        extensions->repaired.data ? &extensions->repaired : &extensions->rid;
    const struct sdp_track *sdp = s->track->sdp;
    unsigned i = 0;

    if (sdp->n_rids == 0)
        return true;
    if (!rid->data)
        return false;
    while (i < sdp->n_rids && !equals(rid, sdp->rids[i]))
        i++;
    s->layer = (uint8_t)i;
    s->is_rtx = extensions->repaired.data != NULL;
    if (i == sdp->n_rids)
        s->track = NULL;
    return true;
}

/* Returns a free slot, or that of a source long unused; NULL: all are in use. */
static struct publish_source *new_source(struct rtc_publish *pub, co_usec now)
{
    if (pub->n_sources < PUBLISH_SOURCES)
        return &pub->sources[pub->n_sources++];
    for (unsigned i = 0; i < PUBLISH_SOURCES; i++) {
        if (now - pub->sources[i].received_at >= SOURCE_FORGOTTEN)
            return &pub->sources[i];
    }
    return NULL;
}

static struct publish_source *find_source(struct rtc_publish *pub, const struct rtp_packet *packet,
                                          const struct extensions *extensions, co_usec now)
{
    struct publish_source fresh = { .ssrc = packet->ssrc }, *s;

    for (unsigned i = 0; i < pub->n_sources; i++) {
        if (pub->sources[i].ssrc == packet->ssrc)
            return &pub->sources[i];
    }
    fresh.track = find_track(pub, packet, extensions);
    if (fresh.track && !find_layer(&fresh, extensions))
        return NULL;
    s = new_source(pub, now);
    if (s)
        *s = fresh;
    return s;
}

/* ---- sequence numbers */

static void begin_source(struct rtc_peer *p, struct publish_track *t,
                         const struct rtp_packet *packet, co_usec now)
{
    int64_t last = t->seq + t->shift;

    if (!t->started)
        log_trace("RTC: first packet of %s, codec %s, ssrc=%u, payload type %u, %lld ms after "
                  "DTLS", t->kind == AV_VIDEO ? "video" : "audio", av_codec_name(t->sdp->codec),
                  packet->ssrc, packet->type, us_to_ms(now - p->connected));
    else
        log_trace("RTC: %s restarts, ssrc=%u, was %u",
                  t->kind == AV_VIDEO ? "video" : "audio", packet->ssrc, t->ssrc);
    if (t->started)
        rtp_stats_restart(&t->stats);
    else
        rtp_stats_init(&t->stats, t->sdp->clock);
    t->shift = t->started ? last + RESTART_GAP - packet->seq : 0;
    t->first = t->started ? t->first : now;
    if (t->ssrc != packet->ssrc)
        t->has_sr = false;
    t->started = true;
    t->over = t->jumped = false;
    t->ssrc = packet->ssrc;
    t->seq = packet->seq;
    t->time = packet->time;
    memset(t->seen, 0, sizeof(t->seen));
    rtp_nack_restart(&t->nack);
}

/* A number far off starts a new sequence if the next packet continues it. */
static bool follows(struct publish_track *t, uint16_t seq)
{
    int64_t apart = rtp_unwrap16(t->seq, seq) - t->seq;
    bool far = apart > FAR || apart < -FAR, again = far && t->jumped && seq == t->jump;

    t->jumped = far && !again;
    t->jump = (uint16_t)(seq + 1);
    return again;
}

static bool is_far(const struct publish_track *t, uint16_t seq)
{
    int64_t apart = rtp_unwrap16(t->seq, seq) - t->seq;

    return apart > FAR || apart < -FAR;
}

/* Returns whether the source may carry the track. A replaced source may not. */
static bool may_carry(struct rtc_peer *p, struct publish_track *t, const struct rtp_packet *packet,
                     co_usec now)
{
    bool other = t->started && packet->ssrc != t->ssrc;

    if (other && now - t->received_at < SSRC_SILENCE && !t->over)
        return false;
    if (!t->started || other || follows(t, packet->seq))
        begin_source(p, t, packet, now);
    if (is_far(t, packet->seq))
        return false;
    t->received_at = now;
    return true;
}

static uint64_t *seen_word(struct publish_track *t, int64_t seq, uint64_t *bit)
{
    uint64_t place = (uint64_t)seq % PUBLISH_SEEN;

    *bit = UINT64_C(1) << place % 64;
    return &t->seen[place / 64];
}

/* Returns false for a duplicate, or a packet too old to tell. */
static bool is_new(struct publish_track *t, int64_t seq)
{
    uint64_t bit, *word;

    if (seq <= t->seq - PUBLISH_SEEN)
        return false;
    for (int64_t n = t->seq + 1; n <= seq; n++) {
        word = seen_word(t, n, &bit);
        *word &= ~bit;
    }
    word = seen_word(t, seq, &bit);
    if (*word & bit)
        return false;
    *word |= bit;
    return true;
}

/* ---- destinations */

/* Copies extension values that players get unchanged. */
static size_t passed_on(const struct publish_track *t, const struct rtp_packet *packet,
                        uint8_t out[RTP_LOG_EXT_MAX])
{
    static const uint8_t kinds[] = { SDP_EXT_AUDIO_LEVEL, SDP_EXT_ORIENTATION,
                                     SDP_EXT_DEPENDENCY };
    struct rtp_ext_reader r;
    struct rtp_ext e;
    size_t n = 0;

    rtp_ext_begin(&r, packet);
    while (rtp_ext_next(&r, &e)) {
        for (unsigned i = 0; i < sizeof(kinds); i++) {
            if (e.id != t->sdp->ext[kinds[i]] || n + 2 + e.size > RTP_LOG_EXT_MAX)
                continue;
            out[n] = kinds[i];
            out[n + 1] = e.size;
            memcpy(out + n + 2, e.data, e.size);
            n += 2 + (size_t)e.size;
        }
    }
    return n;
}

static void relay(struct rtc_peer *p, struct publish_track *t, const struct rtp_packet *packet,
                  int64_t seq, co_usec now)
{
    uint8_t ext[RTP_LOG_EXT_MAX];
    struct rtp_log_entry e = {
        .data = packet->payload, .size = (uint16_t)packet->payload_size,
        .track = t->kind == AV_VIDEO ? 0 : 1, .marker = packet->marker, .late = seq < t->seq,
        .number = seq + t->shift, .ticks = rtp_unwrap32(t->time, packet->time), .at = now,
        .ext = ext,
    };

    e.ext_size = (uint8_t)passed_on(t, packet, ext);
    rtc_wire_relay_put(p->publish->wire, &e);
    rtc_stream_wake(p->base.stream);
}

/* Returns true at parameter sets or the key frame itself. */
static bool begins_key(struct publish_track *t, const struct rtp_packet *packet, co_usec now)
{
    int64_t time = rtp_unwrap32(t->time, packet->time);

    if (t->kind != AV_VIDEO ||
        !rtc_key_begins(t->sdp->codec, packet->payload, packet->payload_size))
        return false;
    if (!t->key_at || time != t->key_time)
        t->key_at = now;
    t->key_time = time;
    return true;
}

static void take_in(struct rtc_publish *pub, struct publish_track *t, const uint8_t *data,
                    size_t size, bool key, co_usec now)
{
    if (!t->taken)
        return;
    (void)rtp_intake_put(pub->intake, t->number, data, size, now);
    if (key)
        rtp_intake_key(pub->intake, t->number);
}

/* ---- one packet */

static void count(struct publish_track *t, const struct rtp_packet *packet, int64_t seq,
                  co_usec now)
{
    rtp_stats_add(&t->stats, seq, packet->time, packet->payload_size, now);
    if (seq < t->seq)
        return;
    t->seq = seq;
    t->time = rtp_unwrap32(t->time, packet->time);
}

/* Requests missing packets; if there are too many, requests a key frame instead. */
static void note_missing(struct rtc_peer *p, struct publish_track *t, int64_t seq, co_usec now)
{
    if (!publish_requests_missing(p, t))
        return;
    if (!rtp_nack_put(&t->nack, seq, now) && t->kind == AV_VIDEO)
        publish_request_key(p, now);
    if (t->nack.recovery_time > 0)
        publish_learn(p, t);
    if (t->nack.n > 0)
        publish_due(p, now + RTP_NACK_GRACE);
}

static void take_media(struct rtc_peer *p, struct publish_track *t,
                       const struct rtp_packet *packet, const uint8_t *data, size_t size,
                       co_usec now)
{
    struct rtc_publish *pub = p->publish;
    int64_t seq;
    bool key;

    if (packet->type != t->sdp->type || !may_carry(p, t, packet, now)) {
        pub->left_out++;
        return;
    }
    seq = rtp_unwrap16(t->seq, packet->seq);
    if (!is_new(t, seq)) {
        pub->doubled++;
        return;
    }
    relay(p, t, packet, seq, now);
    key = begins_key(t, packet, now);
    count(t, packet, seq, now);
    note_missing(p, t, seq, now);
    take_in(pub, t, data, size, key, now);
    session_publisher_media(&pub->publisher);
    pub->publisher.place.active_at = now;
}

/* A probe for bandwidth contains no original packet. */
static void take_retransmit(struct rtc_peer *p, struct publish_track *t, const uint8_t *data,
                        size_t size, co_usec now)
{
    uint8_t plain[PACKET_MAX];
    struct rtp_packet packet;

    size = rtp_rtx_unwrap(plain, sizeof(plain), data, size, t->sdp->type, t->ssrc);
    if (!t->started || size == 0 || !rtp_parse(&packet, plain, size))
        return;
    p->publish->is_rtx++;
    take_media(p, t, &packet, plain, size, now);
}

static void take_numbered(struct rtc_peer *p, const struct extensions *extensions, co_usec now)
{
    struct rtc_publish *pub = p->publish;

    if (!extensions->numbered)
        return;
    if (rtp_twcc_put(&pub->twcc, extensions->number, now))
        publish_send_twcc(p, now);
    else
        publish_due(p, rtp_twcc_due(&pub->twcc));
}

static void poll_intake(struct rtc_peer *p, co_usec now)
{
    struct rtc_publish *pub = p->publish;

    if (!pub->intake)
        return;
    publish_due(p, rtp_intake_due(pub->intake));
    if (rtp_intake_wants_key(pub->intake))
        publish_request_key(p, now);
}

static void take(struct rtc_peer *p, const struct rtp_packet *packet, const uint8_t *data,
                 size_t size, co_usec now)
{
    struct rtc_publish *pub = p->publish;
    struct publish_source *s;
    struct extensions extensions;

    read_extensions(pub, packet, &extensions);
    take_numbered(p, &extensions, now);
    s = find_source(pub, packet, &extensions, now);
    if (!s || !s->track) {
        pub->left_out++;
        return;
    }
    s->received_at = now;
    if (!publish_is_layer(p, s, packet, now)) {
        poll_intake(p, now);
        return;
    }
    if (s->track->sdp->rtx_type && packet->type == s->track->sdp->rtx_type)
        take_retransmit(p, s->track, data, size, now);
    else
        take_media(p, s->track, packet, data, size, now);
    if (packet->marker || s->track->kind == AV_AUDIO)
        publish_answer_frame(p);
    poll_intake(p, now);
}

void rtc_publish_rtp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now)
{
    struct rtc_publish *pub = p->publish;
    struct rtp_packet packet;

    if (!pub || pub->publisher.place.replaced)
        return;
    p->service->stat.received++;
    p->service->stat.received_bytes += size;
    if (!rtp_parse(&packet, data, size)) {
        pub->left_out++;
        return;
    }
    take(p, &packet, data, size, now);
}
