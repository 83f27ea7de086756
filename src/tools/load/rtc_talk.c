/* SPDX-License-Identifier: MIT */
/* rtc_talk.c - the offer of a client of sb_rtc_load, and what its answer says. */
#include "tools/load/rtc_peer.h"

#include "base/must.h"
#include "base/random_id.h"
#include "proto/http/client.h"

#include <stdio.h>
#include <string.h>

enum { OFFER_MAX = 8192, ANSWER_MAX = 64 * 1024, CREATED = 201,
       OPUS_CLOCK = 48000 };

/* ---- the offer */

static void video(struct sdp_track *t, enum av_codec codec, const uint8_t *profile)
{
    t->codec = codec;
    t->clock = AV_CLOCK;
    t->feedback = SDP_FB_NACK | SDP_FB_PLI;
    if (codec == AV_H264)
        (void)snprintf(t->fmtp, sizeof(t->fmtp), "level-asymmetry-allowed=1;packetization-mode=1;"
                       "profile-level-id=%02x%02x%02x", profile[0], profile[1], profile[2]);
    if (codec == AV_VP9)
        (void)snprintf(t->fmtp, sizeof(t->fmtp), "profile-id=0");
}

static void audio(struct sdp_track *t)
{
    t->codec = AV_OPUS;
    t->clock = OPUS_CLOCK;
    t->channels = 2;
    (void)snprintf(t->fmtp, sizeof(t->fmtp), "minptime=10;useinbandfec=1;stereo=1");
}

static void add(struct sdp_agreed *a, enum av_kind kind)
{
    struct sdp_track *t = &a->tracks[kind];
    struct sdp_answer_section *place = &a->sections[a->n];

    t->on = true;
    t->type = kind == AV_VIDEO ? LOAD_RTC_VIDEO : LOAD_RTC_AUDIO;
    t->mode = 1;
    *place = (struct sdp_answer_section){ .kind = kind == AV_VIDEO ? SDP_VIDEO : SDP_AUDIO,
                                          .taken = true,
                                          .bundled = true,
                                          .track = (uint8_t)kind,
                                          .type = t->type };
    (void)snprintf(place->media, sizeof(place->media), "%s", kind == AV_VIDEO ? "video" : "audio");
    (void)snprintf(place->proto, sizeof(place->proto), "UDP/TLS/RTP/SAVPF");
    (void)snprintf(place->mid, sizeof(place->mid), "%u", a->n);
    (void)snprintf(t->mid, sizeof(t->mid), "%u", a->n);
    a->n++;
}

static void of_player(struct sdp_agreed *a, enum av_codec codec)
{
    static const uint8_t baseline[] = { 0x42, 0xe0, 0x1f };

    audio(&a->tracks[AV_AUDIO]);
    add(a, AV_AUDIO);
    video(&a->tracks[AV_VIDEO], codec, baseline);
    add(a, AV_VIDEO);
}

static void of_publisher(struct sdp_agreed *a, const struct load_media *source,
                         const struct load_rtc_send *send)
{
    a->publish = true;
    for (unsigned i = 0; i < source->n; i++) {
        const struct load_track *from = &source->tracks[i];
        const uint8_t *config = av_packet_payload(from->config);

        if (!send->out.tracks[i].open)
            continue;
        if (from->kind == AV_VIDEO)
            video(&a->tracks[AV_VIDEO], from->codec, config + 1); /* of an avcC, ISO 14496-15 */
        else
            audio(&a->tracks[AV_AUDIO]);
        a->tracks[from->kind].ssrc = send->out.tracks[i].numbers.ssrc;
        add(a, from->kind);
    }
}

static void write_offer(const struct load_rtc *p, const struct sdp_agreed *a,
                        struct dtls_identity *id, struct wr *out)
{
    char cname[SDP_CNAME];
    const struct sdp_answer ours = {
        .signature = "load", .version = "1", .id = 1, .app = "load", .stream = "load",
        .ufrag = p->ufrag, .pwd = p->pwd, .fingerprint = dtls_identity_fingerprint(id),
        .cname = cname,
    };

    random_id(cname, sizeof(cname) - 1);
    sdp_offer_write(out, a, &ours);
}

/* ---- the answer */

/* "1.2.3.4 8000" */
static err_t take_candidate(struct load_rtc *p, const char *text)
{
    const char *space = strchr(text, ' ');
    char ip[UDP_TEXT];
    long port = space ? strtol(space, NULL, 10) : 0;

    if (!space || space - text >= UDP_TEXT || port <= 0 || port > 65535)
        return err_new(ERR_RTC_SDP, "no candidate of UDP");
    (void)snprintf(ip, sizeof(ip), "%.*s", (int)(space - text), text);
    return udp_addr_parse(&p->path.peer, ip, (int)port);
}

static err_t take_transport(struct load_rtc *p, const struct sdp_section *s)
{
    p->active = s->setup != SDP_ACTIVE;
    if (!*s->ufrag || !*s->pwd || strlen(s->ufrag) > ICE_UFRAG_MAX || strlen(s->pwd) > ICE_PWD_MAX)
        return err_new(ERR_RTC_SDP, "no ufrag or password");
    if (!dtls_fingerprint_parse(&p->fingerprint, s->fingerprint, strlen(s->fingerprint)))
        return err_new(ERR_RTC_SDP, "no fingerprint");
    (void)snprintf(p->username, sizeof(p->username), "%s:%s", s->ufrag, p->ufrag);
    (void)snprintf(p->peer_pwd, sizeof(p->peer_pwd), "%s", s->pwd);
    return NULL;
}

static void take_section(struct load_rtc *p, const struct sdp_agreed *offer,
                         const struct sdp_section *s)
{
    for (int kind = 0; kind < 2; kind++) {
        const struct sdp_track *o = &offer->tracks[kind];
        struct load_rtc_track *t = &p->look.tracks[kind];

        if (!o->on || strcmp(o->mid, s->mid) != 0 || s->n_types == 0 ||
            s->direction == SDP_INACTIVE)
            continue;
        t->on = true;
        t->video = kind == AV_VIDEO;
        t->type = s->types[0].type;
        t->codec = o->codec;
        t->clock = o->clock;
        rtp_stats_init(&t->stats, o->clock);
    }
}

err_t load_rtc_answer(struct load_rtc *p, const struct sdp_agreed *offer, const char *text,
                      size_t size)
{
    struct sdp_offer *o = must(calloc(1, sizeof(*o)));
    const struct sdp_section *first = NULL;
    err_t err = sdp_offer_parse(o, text, size);

    for (unsigned i = 0; !err && i < o->n; i++) {
        if (o->sections[i].port == 0)
            continue;
        first = first ? first : &o->sections[i];
        take_section(p, offer, &o->sections[i]);
    }
    if (!err)
        err = first ? take_transport(p, first) : err_new(ERR_RTC_SDP, "all was refused");
    if (!err)
        err = take_candidate(p, o->first_udp);
    sdp_offer_free(o);
    free(o);
    return err;
}

static err_t ask(struct load_rtc *p, const struct sdp_agreed *a, const char *url,
                 const struct wr *offer, co_usec timeout)
{
    const struct http_call call = { .type = "application/sdp", .body = offer->buf,
                                    .size = offer->len, .agent = "sb_rtc_load",
                                    .timeout = timeout, .max_reply = ANSWER_MAX };
    struct http_reply reply = { .status = 0 };
    struct load_stat *stat = &p->c->run->stat;
    err_t err = http_client_call(&reply, url, &call);

    if (err)
        return err;
    if (reply.status != CREATED) {
        load_stat_refused(stat, reply.status);
        err = err_new(ERR_HTTP, "%d: %.*s", reply.status,
                      (int)(reply.size < 200 ? reply.size : 200), reply.body ? reply.body : "");
    } else {
        load_hist_add(&stat->rtc.answer, co_clock() - p->c->began);
        err = load_rtc_answer(p, a, reply.body ? reply.body : "", reply.size);
    }
    http_reply_free(&reply);
    return err;
}

err_t load_rtc_talk(struct load_rtc *p, struct dtls_identity *id, const struct load_media *source,
                    const char *url, co_usec timeout)
{
    struct sdp_agreed *a = must(calloc(1, sizeof(*a)));
    struct wr offer;
    err_t err;

    random_id(p->ufrag, ICE_UFRAG);
    random_id(p->pwd, ICE_PWD);
    if (source)
        of_publisher(a, source, p->send);
    else
        of_player(a, p->c->run->opts.vcodec);
    wr_init(&offer, OFFER_MAX);
    write_offer(p, a, id, &offer);
    err = wr_err(&offer, "an offer");
    if (!err)
        err = ask(p, a, url, &offer, timeout);
    wr_free(&offer);
    free(a);
    return err;
}
