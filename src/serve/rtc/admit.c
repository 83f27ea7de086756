/* SPDX-License-Identifier: MIT */
/* admit.c - the coroutine that admits a client: authorization, negotiation, answer. */
#include "base/container_of.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/random_id.h"
#include "conf/endpoint.h"
#include "serve/rtc/impl.h"
#include "session/stream_owners.h"
#include "session/address_slot.h"

#include "co/co.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of all callbacks to backends together. */
#define CALLBACKS_MAX CO_SECONDS(20)

/* ---- authorization */

static bool is_local(const char *ip)
{
    return strncmp(ip, "127.", 4) == 0 || strcmp(ip, "::1") == 0 ||
           strncmp(ip, "::ffff:127.", 11) == 0;
}

/* Decides about unencrypted sessions: only for tests on this machine, unless the operator allows
 * them. */
static err_t choose_clear(struct rtc_peer *p)
{
    const struct rtc_request *req = p->req;
    bool off = !p->base.session.conf->rtc_server.encrypt;

    p->no_dtls = req->no_dtls;
    p->clear = off || req->no_srtp || req->no_dtls;
    if ((req->no_srtp || req->no_dtls) && !off && !is_local(p->base.ip))
        return err_new(ERR_DENIED,
                       "%s requests an unencrypted session, but rtc_server has encrypt on",
                       p->base.ip);
    return NULL;
}

static err_t find_stream(struct rtc_peer *p)
{
    struct session_stream *n = &p->base.session.names;
    err_t err = session_find_stream(&p->base.session, n->vhost, n->app, n->name);

    if (err)
        return err;
    if (!p->base.session.conf->rtc_server.enabled || !p->base.session.vhost->rtc.enabled)
        return err_new(ERR_RTC_DISABLED, "vhost %s has no WebRTC: rtc { enabled on; }",
                       p->base.session.vhost->name);
    return choose_clear(p);
}

/* Returns true if the publisher of the stream does not use WebRTC. */
static bool is_foreign(const struct rtc_peer *p)
{
    struct session_env *env = p->base.session.env;
    struct live_source *src = live_registry_find(env->streams, p->base.session.names.key->path);
    const struct client *publisher;

    if (p->base.session.owner && stream_owner_worker(p->base.session.owner) != env->worker)
        return stream_owner_is_plain(env->workers, p->base.session.owner);
    if (!src || !live_source_publishing(src) || !env->clients)
        return false;
    publisher = clients_stream(env->clients, src)->publisher;
    return publisher && publisher->type != CLIENTS_RTC_PUBLISH;
}

static err_t check_bridge(const struct rtc_peer *p)
{
    if (p->base.publishes || p->base.session.vhost->rtc.rtmp_to_rtc || !is_foreign(p))
        return NULL;
    return err_new(ERR_RTC_DISABLED, "%s is not published by WebRTC, and vhost %s has "
                   "rtmp_to_rtc off", p->base.session.names.key->path, p->base.session.vhost->name);
}

/* ---- negotiation */

static void choose_spec(const struct rtc_peer *p, struct sdp_spec *spec)
{
    const struct conf_vhost_rtc *conf = &p->base.session.vhost->rtc;
    const enum av_codec asked[SDP_TRACKS] = { p->req->vcodec, p->req->acodec };

    rtc_play_spec(p, spec);
    spec->publish = p->base.publishes;
    spec->nack = conf->nack;
    spec->twcc = conf->twcc;
    spec->no_rtx = p->req->no_rtx;
    spec->dtls_active = strcmp(conf->dtls_role, "active") == 0;
    for (int i = 0; i < SDP_TRACKS; i++) {
        if (spec->codec[i] == AV_CODEC_NONE)
            spec->codec[i] = asked[i];
    }
}

static bool is_taken(const struct rtc_peer *p, uint32_t ssrc)
{
    bool taken = ssrc == 0 || ssrc == p->ssrc;

    for (int i = 0; i < SDP_TRACKS; i++)
        taken |= ssrc == p->agreed.tracks[i].ssrc || ssrc == p->agreed.tracks[i].rtx_ssrc;
    return taken;
}

static uint32_t random_ssrc(const struct rtc_peer *p)
{
    uint32_t ssrc;

    do
        must_be(RAND_bytes((unsigned char *)&ssrc, sizeof(ssrc)) == 1);
    while (is_taken(p, ssrc));
    return ssrc;
}

/* Gives all tracks different SSRCs, even if a publisher's are equal: packets of one SSRC under one
 * key must have unique sequence numbers. */
static void number_tracks(struct rtc_peer *p)
{
    struct sdp_track *tracks = p->agreed.tracks;

    p->ssrc = random_ssrc(p);
    if (p->base.publishes)
        return;
    for (int i = 0; i < SDP_TRACKS; i++)
        tracks[i].ssrc = tracks[i].rtx_ssrc = 0;
    for (int i = 0; i < SDP_TRACKS; i++) {
        uint32_t kept = tracks[i].on ? rtc_play_source(p, (enum av_kind)i) : 0;

        if (tracks[i].on)
            tracks[i].ssrc = is_taken(p, kept) ? random_ssrc(p) : kept;
    }
    for (int i = 0; i < SDP_TRACKS; i++) {
        if (tracks[i].on && tracks[i].rtx_type)
            tracks[i].rtx_ssrc = random_ssrc(p);
    }
}

static err_t agree(struct rtc_peer *p, const struct sdp_offer *offer)
{
    struct sdp_spec spec = { 0 };
    err_t err;

    choose_spec(p, &spec);
    err = sdp_agree(&p->agreed, offer, &spec);
    if (err)
        return err;
    number_tracks(p);
    (void)snprintf(p->ice.peer_ufrag, sizeof(p->ice.peer_ufrag), "%s", p->agreed.peer_ufrag);
    p->ice.strict = p->base.session.vhost->rtc.stun_strict_check;
    return NULL;
}

/* Moves players of the stream to this worker, its owner, where they get the packets at once. */
static void collect(struct rtc_peer *p, bool on)
{
    if (p->gathers == on || !p->base.session.owner)
        return;
    p->gathers = on;
    stream_owner_gathers(p->base.session.env->workers, p->base.session.owner, on);
}

static err_t authorize_and_negotiate(struct rtc_peer *p, const struct sdp_offer *offer,
                                     bool *admitted)
{
    err_t err = check_bridge(p);

    if (!err && p->base.publishes)
        err = agree(p, offer);
    if (!err)
        err = p->base.publishes ? rtc_publish_admit(p) : rtc_play_admit(p);
    *admitted = !err;
    if (!err && p->base.publishes)
        collect(p, true);
    if (!err && !p->base.publishes)
        err = agree(p, offer);
    return err;
}

/* Any fault in a description is one error code. */
static err_t parse(struct sdp_offer *offer, const struct rtc_request *req)
{
    char text[300];
    err_t err = sdp_offer_parse(offer, req->offer ? req->offer : "", req->offer_size), why = err;

    if (!err)
        return NULL;
    err = err_new(ERR_RTC_SDP, "%s", err_text(why, text, sizeof(text)));
    err_free(&why);
    return err;
}

/* ---- answer */

/* Uses the ufrag and password that the client requested, if they are free. */
static void choose_names(struct rtc_peer *p)
{
    const char *pwd = p->req->pwd;
    size_t size = strlen(pwd);

    rtc_new_ufrag(p->service, &p->ice);
    p->chosen_name = rtc_names_take(p->service, p->req->ufrag);
    if (p->chosen_name)
        memcpy(p->ice.ufrag, p->req->ufrag, strlen(p->req->ufrag) + 1);
    if (size > 0 && size <= ICE_OURS_MAX)
        memcpy(p->ice.pwd, pwd, size + 1);
    (void)snprintf(p->ufrag, sizeof(p->ufrag), "%s", p->ice.ufrag);
    random_id(p->etag, 8);
}

static void log_candidates(const struct sdp_candidate *v, unsigned n)
{
    char text[600];
    size_t at = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < n && at < sizeof(text) - 80; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s:%u/%s", i ? ", " : "", v[i].ip,
                               v[i].port, v[i].tcp ? "tcp" : "udp");
    log_trace("RTC: candidates %s", text);
}

static void log_answer(const struct rtc_peer *p, const struct wr *w)
{
    const struct sdp_track *v = &p->agreed.tracks[AV_VIDEO], *a = &p->agreed.tracks[AV_AUDIO];

    log_trace("RTC: answer %zu bytes, session=%s:%s, video=%s, audio=%s, dtls=%s, srtp=%s", w->len,
              p->ice.ufrag, p->ice.peer_ufrag, v->on ? av_codec_name(v->codec) : "none",
              a->on ? av_codec_name(a->codec) : "none",
              p->no_dtls ? "off" : p->agreed.active ? "client" : "server", p->clear ? "off" : "on");
    log_debug("RTC: answer text: %.*s", (int)w->len, (const char *)w->buf);
}

static err_t write_answer(struct rtc_peer *p, struct wr *w)
{
    struct rtc_request *req = p->req;
    struct session_env *env = p->base.session.env;
    struct sdp_candidate candidates[SDP_CANDIDATES_MAX];
    struct sdp_answer ours = {
        .signature = env->signature, .version = env->version, .id = (uint64_t)co_clock(),
        .app = p->base.session.names.app, .stream = p->base.session.names.name,
        .ufrag = p->ice.ufrag, .pwd = p->ice.pwd, .cname = p->base.cid, .candidates = candidates,
    };
    bool dtls1_0 = strcmp(p->base.session.vhost->rtc.dtls_version, "dtls1.0") == 0;
    err_t err = rtc_service_identity(p->service, dtls1_0, &p->identity);

    if (err)
        return err;
    ours.fingerprint = dtls_identity_fingerprint(p->identity);
    ours.n_candidates = rtc_candidates(p->service, req, candidates);
    log_candidates(candidates, ours.n_candidates);
    sdp_answer_write(w, &p->agreed, &ours);
    return wr_err(w, "the answer");
}

static err_t answer(struct rtc_peer *p)
{
    struct rtc_request *req = p->req;
    struct wr w;
    err_t err;

    wr_init(&w, RTC_ANSWER_MAX);
    choose_names(p);
    err = write_answer(p, &w);
    if (!err)
        err = co_check();
    if (err) {
        wr_free(&w);
        return err;
    }
    log_answer(p, &w);
    req->status = req->kind == RTC_REQUEST_PUBLISH || req->kind == RTC_REQUEST_PLAY ? 201 : 200;
    req->answer = (char *)w.buf;
    req->answer_size = w.len;
    (void)snprintf(req->session, sizeof(req->session), "%s:%s", p->ice.ufrag, p->ice.peer_ufrag);
    (void)snprintf(req->token, sizeof(req->token), "%s", p->token);
    (void)snprintf(req->etag, sizeof(req->etag), "%s", p->etag);
    return NULL;
}

/* ---- life */

static err_t let_in(struct rtc_peer *p, bool *admitted)
{
    struct sdp_offer *offer = must(calloc(1, sizeof(*offer)));
    struct co_deadline deadline = { 0 };
    err_t err = find_stream(p);

    co_deadline_set(&deadline, CALLBACKS_MAX, ERR_RTC_TIMEOUT, "its admission took too long");
    if (!err)
        err = parse(offer, p->req);
    if (!err)
        err = authorize_and_negotiate(p, offer, admitted);
    sdp_offer_free(offer);
    free(offer);
    if (!err)
        err = answer(p);
    co_deadline_cancel(&deadline);
    return err;
}

/* Wakes the coroutine that waits for the answer. */
static void wake_waiter(struct rtc_peer *p)
{
    struct co *waiter = p->waiter;

    p->req = NULL;
    p->waiter = NULL;
    co_unpark(waiter);
}

/* Clients choose the length of names; log lines show the beginning. */
#define NAME "%.60s"

static void log_begin(const struct rtc_peer *p)
{
    const struct session_stream *n = &p->base.session.names;

    log_trace("RTC client ip=%s, %s of vhost=" NAME ", app=" NAME ", stream=" NAME ", param=" NAME
              ", offer %zu bytes", p->base.ip, p->base.publishes ? "publisher" : "player",
              n->vhost, n->app, n->name, log_param(n->param), p->req->offer_size);
    log_debug("RTC: offer text: %.*s", (int)p->req->offer_size,
              p->req->offer ? p->req->offer : "");
}

/* At most 300 bytes: untrusted clients decide how many of these lines there are. */
static void log_refusal(const struct rtc_peer *p, err_t why)
{
    bool offer = err_code(why) == ERR_RTC_SDP || err_code(why) == ERR_RTC_NEGOTIATE;
    char text[190];

    log_warn("RTC client %s is refused: %s%s", p->base.ip, err_text(why, text, sizeof(text)),
             offer ? "; srs_log_level verbose shows its offer" : "");
}

static void turn_away(struct rtc_peer *p, err_t why, bool admitted)
{
    struct rtc_request *req = p->req;

    collect(p, false);
    p->base.session.co = NULL;
    datagram_client_state(&p->base, DATAGRAM_ENDING);
    if (admitted && p->base.publishes)
        rtc_publish_end(p, why);
    else if (admitted)
        rtc_play_end(p, why);
    p->service->stat.refused++;
    log_refusal(p, why);
    rtc_refuse(req, &why);
    wake_waiter(p);
    rtc_peer_free(p);
}

static err_t publish(struct rtc_peer *p)
{
    err_t err = rtc_publish_run(p);

    datagram_client_state(&p->base, DATAGRAM_ENDING);
    p->base.session.co = NULL;
    co_timer_cancel(&p->base.timer);
    collect(p, false);
    rtc_publish_end(p, err);
    rtc_peer_close(p, err);
    return NULL;
}

/* A player needs no coroutine from here on. */
static err_t play(struct rtc_peer *p)
{
    err_t why = co_check();

    p->base.session.co = NULL;
    if (why)
        datagram_client_close(&p->base, why);
    return NULL;
}

static err_t admit_main(void *peer)
{
    struct rtc_peer *p = peer;
    bool admitted = false;
    err_t err = p->base.why; /* it was closed before it began */

    p->base.why = NULL;
    co_new_cid();
    (void)snprintf(p->base.cid, sizeof(p->base.cid), "%s", co_cid());
    co_log_as(LOG_UNTRUSTED);
    session_begin(&p->base.session);
    log_begin(p);
    if (!err)
        err = let_in(p, &admitted);
    if (err) {
        turn_away(p, err, admitted);
        return NULL;
    }
    datagram_client_state(&p->base, DATAGRAM_WAITING);
    p->answered = co_clock();
    rtc_table_name(&p->service->table, &p->name, p, p->ice.ufrag);
    rtc_table_name(&p->service->table, &p->location, p, p->ufrag);
    rtc_peer_set_timer(p, p->answered);
    wake_waiter(p);
    return p->base.publishes ? publish(p) : play(p);
}

/* ---- requests */

static err_t take_places(struct rtc_peer *p)
{
    static const struct address_limits_config pending = { RTC_PENDING_OF_ADDRESS, 0 };
    struct rtc_service *s = p->service;
    uint8_t addr[ADDRESS_BYTES];
    bool v4;

    if (!conf_address_parse(p->base.ip, strlen(p->base.ip), addr, &v4))
        memset(addr, 0, sizeof(addr));
    if (address_limits_enter(s->base.shared->peers, &p->pending, addr, &pending, co_now()) !=
        ADDRESS_WELCOME)
        return err_new(ERR_TOO_MANY, "%u sessions of %s that are not connected",
                       (unsigned)RTC_PENDING_OF_ADDRESS, p->base.ip);
    return address_slot_take_ip(s->base.env, &p->base.place, p->base.ip);
}

static err_t check_room(const struct rtc_service *s)
{
    unsigned most = (unsigned)s->base.env->conf->max_connections;

    if (s->base.refuses)
        return err_new(ERR_STOPPED, "the server quits");
    if (atomic_load(&s->shared->sessions) >= most)
        return err_new(ERR_TOO_MANY, "max_connections is %u", most);
    return mem_left() ? NULL : err_new(ERR_NO_MEMORY, "the machine has no more memory");
}

static void close_player(struct datagram_client *c, err_t why)
{
    struct rtc_peer *p = container_of(c, struct rtc_peer, base);

    rtc_play_end(p, why);
    rtc_peer_close(p, why);
}

static const struct datagram_client_ops ops = {
    .close = close_player, .turn = rtc_peer_turn, .sampled = SAMPLED_RTC_PLAY,
    .changed = rtc_play_changed, .check = rtc_play_check, .log_sample = rtc_play_log_sample,
};

static err_t begin(struct rtc_service *s, struct rtc_request *req, struct stream_owner **owner)
{
    struct rtc_peer *p = rtc_peer_new(s, req);
    err_t err = take_places(p);

    p->base.ops = &ops;
    p->req = req;
    p->waiter = co_self();
    if (!err)
        err = co_go(s->base.env->connections, "rtc", admit_main, p);
    if (err) {
        rtc_peer_free(p);
        return err;
    }
    p->base.session.owner = *owner;
    p->base.session.plays = !p->base.publishes;
    *owner = NULL;
    return NULL;
}

static void admit(struct rtc_service *s, struct rtc_request *req, struct stream_owner **owner)
{
    bool held = false;
    err_t err;

    if (req->kind != RTC_REQUEST_PUBLISH && req->kind != RTC_REQUEST_PLAY) {
        rtc_resource(s, req);
        return;
    }
    s->stat.offers++;
    err = check_room(s);
    if (!err)
        err = begin(s, req, owner);
    if (err) {
        s->stat.refused++;
        rtc_refuse(req, &err);
        return;
    }
    while (req->status == 0) { /* waits even if asked to stop: the session writes to the request */
        held |= co_stop_hold();
        held |= co_park(CO_FOREVER) == CO_STOPPED;
    }
    co_stop_resume(held);
}

/* The coroutine may still resolve names while all sessions end. */
void rtc_admit(struct rtc_service *s, struct rtc_request *req, struct stream_owner **owner)
{
    datagram_service_hold(&s->base);
    admit(s, req, owner);
    datagram_service_release(&s->base);
}
