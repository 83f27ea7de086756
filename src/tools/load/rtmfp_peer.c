/* SPDX-License-Identifier: MIT */
/* rtmfp_peer.c - a client of RTMFP without its socket. */
#include "tools/load/rtmfp_peer.h"

#include "base/must.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_MAX = 4 << 20, EPD_MAX = 128, PING_BODY = 4 };
#define OWN_PING CO_SECONDS(20) /* the session's own, of who pings more rarely than that */

/* ---- what the session tells */

static struct load_rtmfp_peer *peer_of(struct rtmfp_session *s)
{
    return (struct load_rtmfp_peer *)(void *)((char *)s -
                                              offsetof(struct load_rtmfp_peer, session));
}

static bool on_message(struct rtmfp_session *s, struct rtmfp_flow_in *f, const uint8_t *data,
                       size_t size)
{
    struct load_rtmfp_peer *p = peer_of(s);
    enum load_rtmfp_told told = load_rtmfp_talk_hear(&p->talk, s, f, rtmfp_bytes(data, size),
                                                     &p->world->feed, p->now);

    if (told == LOAD_RTMFP_GRANTED && p->state == LOAD_RTMFP_CONNECTING) {
        p->state = LOAD_RTMFP_READY;
        if (p->world->pairs)
            load_rtmfp_talk_tell(&p->talk, p->now);
    }
    if (told == LOAD_RTMFP_DENIED && p->state == LOAD_RTMFP_CONNECTING)
        p->state = LOAD_RTMFP_REFUSED;
    return true;
}

static void on_closed(struct rtmfp_session *s, struct rtmfp_flow_in *f)
{
    struct load_rtmfp_talk *t = &peer_of(s)->talk;

    if (t->control == f)
        t->control = NULL;
}

/* One that is rejected can never connect, play or publish. */
static void on_done(struct rtmfp_session *s, struct rtmfp_flow_out *f, bool rejected)
{
    struct load_rtmfp_peer *p = peer_of(s);

    load_rtmfp_talk_forget(&p->talk, f);
    if (rejected && p->state == LOAD_RTMFP_CONNECTING)
        p->state = LOAD_RTMFP_REFUSED;
}

static void on_forwarded(struct rtmfp_session *s, struct rtmfp_bytes body)
{
    struct rtmfp_forwarded f;

    peer_of(s)->world->stat->forwarded += rtmfp_forwarded_read(&f, body);
}

static const struct rtmfp_session_ops ops = {
    .message = on_message, .closed = on_closed, .done = on_done, .forwarded = on_forwarded,
};

/* ---- all of them */

/* For sessions to a client: nothing is kept of others. */
static bool init_responder(struct load_rtmfp_world *w)
{
    uint8_t master[RTMFP_MASTER];

    w->accepted = w->session;
    w->accepted.mode = RTMFP_RESPONDER;
    w->responder.policies = (struct rtmfp_policies){ RTMFP_OFFER, RTMFP_OFFER };
    for (size_t i = 0; i < sizeof(master); i++)
        master[i] = (uint8_t)rand();
    return rtmfp_responder_init(&w->responder, master);
}

bool load_rtmfp_world_init(struct load_rtmfp_world *w, const struct load_opts *o,
                           const struct load_media *media, struct load_stat *stat)
{
    enum rtmfp_group group = rtmfp_group_of((uint64_t)o->group);

    *w = (struct load_rtmfp_world){ .bare = o->bare, .pairs = o->pair,
                                    .ping = (co_usec)(o->ping * 1e6), .stat = &stat->rtmfp };
    w->wants = media     ? LOAD_RTMFP_PUBLISH
               : o->play ? LOAD_RTMFP_PLAY
                         : LOAD_RTMFP_CONNECT;
    w->feed = (struct load_rtmfp_feed){ .media = media, .stat = stat, .marker = !o->no_marker };
    w->groups[group] = true;
    w->set.startup = &w->startup;
    w->set.policies = (struct rtmfp_policies){ o->hmac ? RTMFP_REQUIRE : RTMFP_OFF,
                                               o->sequence ? RTMFP_REQUIRE : RTMFP_OFF };
    w->session = (struct rtmfp_session_set){
        .ops = &ops, .mode = RTMFP_INITIATOR, .message_max = MESSAGE_MAX,
        .ping = 2 * w->ping > OWN_PING ? 2 * w->ping : OWN_PING,
        .timeout = (co_usec)(o->timeout * 1e6),
    };
    w->set.dh = rtmfp_dh_new();
    w->cipher = rtmfp_cipher_new();
    if (!w->set.dh || !w->cipher || !rtmfp_startup_init(&w->startup) || !init_responder(w))
        return false;
    rtmfp_pair_make(w->set.dh, &w->pair, group);
    return true;
}

void load_rtmfp_world_fini(struct load_rtmfp_world *w)
{
    rtmfp_pair_wipe(&w->pair);
    rtmfp_startup_fini(&w->startup);
    rtmfp_responder_fini(&w->responder);
    rtmfp_cipher_free(w->cipher);
    rtmfp_dh_free(w->set.dh);
}

/* ---- from the first hello to keys */

static void forget_me(struct load_rtmfp_peer *p)
{
    if (p->me && !p->introduced) {
        rtmfp_identity_fini(p->me);
        free(p->me);
    }
    p->me = NULL;
}

static void forget_opening(struct load_rtmfp_peer *p)
{
    if (!p->opening)
        return;
    rtmfp_initiator_wipe(p->opening);
    free(p->opening);
    p->opening = NULL;
    if (!p->world->pairs)
        forget_me(p);
}

static bool begin(struct load_rtmfp_peer *p, struct rtmfp_bytes epd, const struct udp_addr *to,
                  co_usec now)
{
    struct load_rtmfp_world *w = p->world;
    struct rtmfp_initiator *i;

    p->opening = must(calloc(1, sizeof(*p->opening)));
    i = p->opening;
    rtmfp_pair_step(w->set.dh, &w->pair);
    if (!rtmfp_initiator_init(i, &w->set, p->me, &w->pair, epd, p->id, to, now)) {
        forget_opening(p);
        return false;
    }
    for (unsigned k = 0; k < 4; k++) /* answers to hellos have no id of ours but this */
        i->tag[k] = (uint8_t)(p->id >> (24 - 8 * k));
    return true;
}

bool load_rtmfp_begin(struct load_rtmfp_peer *p, struct load_rtmfp_world *w, uint32_t id,
                      const char *app, const char *url, const struct udp_addr *to, co_usec now)
{
    uint8_t epd[EPD_MAX];
    struct wr e = rtmfp_wr(epd, sizeof(epd));

    *p = (struct load_rtmfp_peer){ .world = w, .id = id, .began = now };
    if (!load_rtmfp_talk_init(&p->talk, w->wants, app, url))
        return false;
    rtmfp_epd_write_uri(&e, rtmfp_bytes(p->talk.url, strlen(p->talk.url)));
    if (e.bad)
        return false;
    p->me = must(calloc(1, sizeof(*p->me)));
    rtmfp_identity_init(p->me, false, w->groups);
    return begin(p, rtmfp_bytes(epd, e.len), to, now);
}

bool load_rtmfp_begin_peer(struct load_rtmfp_peer *p, struct load_rtmfp_world *w, uint32_t id,
                           const struct load_rtmfp_peer *own, const uint8_t far[RTMFP_PEER_ID],
                           const struct udp_addr *to, co_usec now)
{
    uint8_t epd[RTMFP_EPD_OF_ID];
    struct wr e = rtmfp_wr(epd, sizeof(epd));

    *p = (struct load_rtmfp_peer){ .world = w, .id = id, .began = now, .me = own->me,
                                   .introduced = true };
    rtmfp_epd_write_id(&e, far);
    return begin(p, rtmfp_bytes(epd, e.len), to, now);
}

static void begin_session(struct load_rtmfp_peer *p, const struct rtmfp_session_set *set,
                          const struct udp_addr *to, co_usec now)
{
    rtmfp_session_init(&p->session, set, to, now);
    p->session.hmac = p->opener.key.hmac != 0;
    p->session.older = !p->sealer.key.hmac && !p->sealer.key.numbered;
}

bool load_rtmfp_accept(struct load_rtmfp_peer *p, struct load_rtmfp_world *w, uint32_t id,
                       const struct load_rtmfp_peer *own, const uint8_t *datagram, size_t size,
                       const struct udp_addr *from, co_usec now)
{
    struct rtmfp_response *r = &w->answer;
    struct rtmfp_keyed keyed;
    struct rtmfp_pair pair;
    uint8_t body[RTMFP_RIKEYING_MAX];
    size_t n;

    w->responder.me = own->me;
    r->size = 0;
    if (rtmfp_responder_input(&w->responder, datagram, size, from, now, r) != RTMFP_JOB)
        return false;
    rtmfp_pair_make(w->set.dh, &pair, r->job.group);
    if (!rtmfp_job_run(w->set.dh, own->me, &pair, &r->job, &keyed))
        return false;
    *p = (struct load_rtmfp_peer){ .world = w, .id = id, .far_id = r->job.id, .began = now,
                                   .state = LOAD_RTMFP_READY, .introduced = true,
                                   .ping_at = CO_FOREVER };
    p->sealer.key = keyed.send;
    p->opener.key = keyed.receive;
    begin_session(p, &w->accepted, from, now);
    n = rtmfp_rikeying_body(body, id, &keyed);
    r->size = rtmfp_responder_open_with(&w->responder, rtmfp_bytes(body, n), p->far_id, now,
                                        r->datagram);
    return true;
}

static void count_open(struct load_rtmfp_peer *p, unsigned packets, co_usec now)
{
    struct load_rtmfp_stat *s = p->world->stat;

    if (p->introduced) {
        s->met++;
        load_hist_add(&s->meet, now - p->began);
        return;
    }
    s->startup++;
    s->startup_sent += packets;
    if (s->opened++ == 0)
        s->first_open = now;
    s->last_open = now;
    load_hist_add(&s->open, now - p->began);
}

static void open_session(struct load_rtmfp_peer *p, co_usec now)
{
    const struct rtmfp_initiator *i = p->opening;
    bool connects = !p->world->bare && !p->introduced;

    p->far_id = i->far_id;
    p->sealer = (struct rtmfp_sealer){ .key = i->send };
    p->opener = (struct rtmfp_opener){ .key = i->receive };
    begin_session(p, &p->world->session, &i->to, now);
    count_open(p, i->packets, now);
    forget_opening(p);
    p->ping_at = now + p->world->ping;
    p->state = connects ? LOAD_RTMFP_CONNECTING : LOAD_RTMFP_READY;
    if (connects)
        load_rtmfp_talk_begin(&p->talk, &p->session, now);
}

static uint32_t id_of(struct rtmfp_bytes tag)
{
    if (tag.n != RTMFP_TAG)
        return 0;
    return (uint32_t)tag.p[0] << 24 | (uint32_t)tag.p[1] << 16 | (uint32_t)tag.p[2] << 8 |
           tag.p[3];
}

uint32_t load_rtmfp_whose(struct load_rtmfp_world *w, const uint8_t *datagram, size_t size)
{
    struct rtmfp_packet packet;
    struct rtmfp_chunk chunk;
    struct rtmfp_rhello hello;
    struct rtmfp_redirect redirect;

    if (!rtmfp_startup_open(&w->startup, datagram, size, &packet))
        return 0;
    while (rtmfp_chunk_next(&packet, &chunk)) {
        if (chunk.type == RTMFP_RHELLO && rtmfp_rhello_read(&hello, chunk.body))
            return id_of(hello.tag);
        if (chunk.type == RTMFP_REDIRECT && rtmfp_redirect_read(&redirect, chunk.body))
            return id_of(redirect.tag);
    }
    return 0;
}

/* ---- pings: each with its number, so that the answer to an earlier one is not taken for it */

static size_t ping(struct load_rtmfp_peer *p, uint8_t *datagram, co_usec now)
{
    struct load_rtmfp_stat *s = p->world->stat;
    const struct rtmfp_head head = { .mode = RTMFP_INITIATOR, .has_time = true,
                                     .time = rtmfp_clock(now) };
    struct wr w = rtmfp_seal_begin(&p->sealer, datagram, RTMFP_SEALED_MAX, RTMFP_PLAIN_MAX);
    size_t begin;

    if (p->ping_waits)
        s->lost++;
    p->ping_waits = true;
    p->pinged_at = now;
    p->ping_at = now + p->world->ping;
    s->pings++;
    rtmfp_packet_begin(&w, &head);
    begin = rtmfp_chunk_begin(&w, RTMFP_PING);
    wr_u32(&w, ++p->ping_number);
    must_be(rtmfp_chunk_end(&w, begin));
    return rtmfp_seal(p->world->cipher, &p->sealer, p->far_id, &w);
}

static void hear_reply(struct load_rtmfp_peer *p, struct rtmfp_bytes plain, co_usec now)
{
    struct rtmfp_packet packet;
    struct rtmfp_chunk chunk;

    if (!p->ping_waits || !rtmfp_packet_read(&packet, plain))
        return;
    while (rtmfp_chunk_next(&packet, &chunk)) {
        struct rd r = rtmfp_rd(chunk.body);

        if (chunk.type != RTMFP_PING_REPLY || chunk.body.n != PING_BODY ||
            rd_u32(&r) != p->ping_number)
            continue;
        p->ping_waits = false;
        p->world->stat->replies++;
        load_hist_add(&p->world->stat->rtt, now - p->pinged_at);
        return;
    }
}

/* ---- datagrams */

static bool is_over(const struct load_rtmfp_peer *p)
{
    return p->state >= LOAD_RTMFP_UNANSWERED;
}

static void look_at_end(struct load_rtmfp_peer *p)
{
    if (!p->opening && !is_over(p) && p->session.end != RTMFP_NOT_ENDED)
        p->state = LOAD_RTMFP_ENDED;
}

void load_rtmfp_input(struct load_rtmfp_peer *p, const uint8_t *datagram, size_t size,
                      const struct udp_addr *from, co_usec now)
{
    uint8_t out[RTMFP_DATAGRAM_MAX];
    struct rtmfp_bytes plain;

    if (is_over(p))
        return;
    if (p->opening) {
        rtmfp_initiator_input(p->opening, datagram, size, from, now);
        if (p->opening->state == RTMFP_KEYED)
            open_session(p, now);
        return;
    }
    if (rtmfp_open(p->world->cipher, &p->opener, datagram, size, out, &plain) != RTMFP_OPENED) {
        p->world->stat->forged++;
        return;
    }
    hear_reply(p, plain, now);
    p->now = now;
    rtmfp_session_input(&p->session, plain, from, now);
    look_at_end(p);
}

size_t load_rtmfp_output(struct load_rtmfp_peer *p, uint8_t *datagram, struct udp_addr *to,
                         co_usec now)
{
    struct wr w;
    size_t n = 0;

    if (p->opening) {
        n = rtmfp_initiator_output(p->opening, datagram, to, now);
        if (p->opening->state >= RTMFP_UNANSWERED)
            p->state = LOAD_RTMFP_UNANSWERED;
        return n;
    }
    if (p->state == LOAD_RTMFP_UNANSWERED)
        return 0;
    if (p->talk.feed && p->session.state == RTMFP_OPEN)
        load_rtmfp_feed_run(p->talk.feed, now);
    w = rtmfp_seal_begin(&p->sealer, datagram, RTMFP_SEALED_MAX, RTMFP_PLAIN_MAX);
    if (rtmfp_session_output(&p->session, &w, to, now))
        return rtmfp_seal(p->world->cipher, &p->sealer, p->far_id, &w);
    look_at_end(p);
    if (p->state != LOAD_RTMFP_READY || p->session.state != RTMFP_OPEN ||
        p->ping_at == CO_FOREVER || now < p->ping_at)
        return 0;
    *to = p->session.peer;
    return ping(p, datagram, now);
}

co_usec load_rtmfp_deadline(const struct load_rtmfp_peer *p)
{
    co_usec at;

    if (p->opening)
        return rtmfp_initiator_deadline(p->opening);
    if (is_over(p))
        return CO_FOREVER;
    at = rtmfp_session_deadline(&p->session);
    if (p->state == LOAD_RTMFP_READY && p->ping_at != CO_FOREVER &&
        (at == CO_FOREVER || p->ping_at < at))
        at = p->ping_at;
    if (p->talk.feed && (at == CO_FOREVER || load_rtmfp_feed_due(p->talk.feed) < at))
        at = load_rtmfp_feed_due(p->talk.feed);
    return at;
}

void load_rtmfp_close(struct load_rtmfp_peer *p, co_usec now)
{
    if (p->opening || is_over(p))
        return;
    rtmfp_session_close(&p->session, now);
}

void load_rtmfp_end(struct load_rtmfp_peer *p)
{
    if (p->opening)
        forget_opening(p);
    else if (p->far_id || p->session.set)
        rtmfp_session_fini(&p->session);
    load_rtmfp_talk_fini(&p->talk);
    forget_me(p);
}
