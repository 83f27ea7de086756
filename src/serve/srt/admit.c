/* SPDX-License-Identifier: MIT */
/* admit.c - the coroutine that admits a caller: stream, authorization, response. All checks precede
 * the response, while the caller repeats its request, so that a refused caller gets the reason. */
#include "base/log.h"
#include "base/must.h"
#include "serve/srt/admit.h"
#include "session/move.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Callers give up after 3 s. */
#define ALL_TOLD CO_MS(2500)

enum { WINDOW_MAX = 8192, HEADERS = 28 };

/* ---- refusals */

static void refuse(struct srt_peer *p, err_t err)
{
    uint32_t code = srt_peer_refusal(p, err);
    char text[300];

    co_deadline_cancel(&p->request->deadline);
    log_warn("SRT client %s is refused with %u: %s", p->base.ip, (unsigned)code,
             err_text(err, text, sizeof(text)));
    srt_refuse(p->endpoint, &p->path, &p->request->handshake, code);
    if (p->connected)
        session_notify(&p->base.session, HOOKS_CLOSE);
    err_free(&err);
    srt_peer_free(p);
}

/* ---- authorization */

static bool asks_backends(const struct conf_vhost *vhost)
{
    const struct conf_http_hooks *h = &vhost->http_hooks;

    return h->enabled && (h->on_connect.n > 0 || h->on_publish.n > 0 || h->on_play.n > 0);
}

static err_t call_on_connect(struct srt_peer *p)
{
    err_t err = p->connected ? NULL : session_ask(&p->base.session, HOOKS_CONNECT);

    p->connected |= !err;
    return err;
}

static err_t ask(struct srt_peer *p)
{
    err_t err = call_on_connect(p);

    if (!err)
        err = p->request->streamid.publish ? srt_publish_admit(p) : srt_play_admit(p);
    p->admitted = !err;
    return err;
}

/* Limits the simultaneous requests to backends per address. */
static err_t authorize_in_turn(struct srt_peer *p)
{
    struct srt_service *s = p->service;
    unsigned place = srt_callers_place(&s->callers, &p->path.peer, SRT_GATES);
    err_t err;

    if (!asks_backends(p->base.session.vhost))
        return ask(p);
    err = admission_queue_enter(&s->gates[place], SRT_GATE_MOST, CO_FOREVER);
    if (err)
        return err;
    err = ask(p);
    admission_queue_leave(&s->gates[place]);
    return err;
}

static void set_deadline(struct srt_peer *p)
{
    co_usec most = p->base.session.env->conf->srt_server.connect_timeout * 5 / 6;
    co_usec left = p->request->at + (most < ALL_TOLD ? most : ALL_TOLD) - co_clock();

    co_deadline_set(&p->request->deadline, left > 0 ? left : 1, ERR_SRT_TIMEOUT,
                    "to let it in takes too long");
}

/* If it sets request->move_to, the caller moves to that worker first. */
static err_t admit(struct srt_peer *p)
{
    err_t err = NULL;

    set_deadline(p);
    if (!p->request->settled)
        err = srt_identify(p);
    if (!err)
        err = srt_settle(p);
    if (err || p->request->move_to >= 0)
        return err;
    err = srt_key_take(p);
    if (!err)
        err = authorize_in_turn(p);
    co_deadline_cancel(&p->request->deadline);
    return err;
}

/* ---- the response */

static struct srt_terms terms_of(const struct conf_srt_server *conf)
{
    unsigned window = (unsigned)conf->recvbuf / ((unsigned)conf->mss - HEADERS);

    return (struct srt_terms){
        .mss = (unsigned)conf->mss, .window = window < WINDOW_MAX ? window : WINDOW_MAX,
        .recv_latency = conf->recvlatency, .peer_latency = conf->peerlatency,
    };
}

static void send_answer(struct srt_peer *p, const struct srt_agreed *agreed)
{
    const struct srt_handshake *h = &p->request->handshake;
    uint8_t out[SRT_HANDSHAKE_MAX];

    p->answer_size = srt_respond_conclusion(h, agreed, h->has_km ? h->km : NULL, h->km_size,
                                           (uint32_t)(co_clock() - p->zero), out);
    p->answer = must(malloc(p->answer_size));
    memcpy(p->answer, out, p->answer_size);
    srt_peer_send(p, p->answer, p->answer_size);
}

static void log_begin(const struct srt_peer *p, const struct srt_agreed *a, unsigned key_size)
{
    bool publishes = p->request->streamid.publish;

    log_trace("SRT %s of %s, version %u.%u.%u, latency %lld ms, %s",
              publishes ? "publisher" : "player", live_source_name(p->base.session.src),
              a->peer_version >> 16, a->peer_version >> 8 & 255, a->peer_version & 255,
              us_to_ms(publishes ? a->recv_latency : a->send_latency),
              key_size == 0 ? "in the clear" : key_size == 16 ? "AES-128"
                                             : key_size == 24 ? "AES-192" : "AES-256");
}

static err_t begin(struct srt_peer *p, const struct srt_conn_opts *opts)
{
    if (!p->request->streamid.publish)
        return srt_play_begin(p, opts);
    if (!srt_conn_receive_begin(&p->conn, opts))
        return err_new(ERR_NO_MEMORY, "SRT connection");
    return NULL;
}

static err_t welcome(struct srt_peer *p)
{
    const struct conf_srt_server *conf = &p->base.session.conf->srt_server;
    const struct srt_terms terms = terms_of(conf);
    struct srt_request *g = p->request;
    struct srt_conn_opts opts = {
        .now = co_clock(), .peer_zero = g->at - g->time, .zero = g->at,
        .idle_timeout = conf->peer_idle_timeout, .secret = g->secret,
        .tsbpd = conf->tsbpdmode, .drop_late = conf->tlpktdrop,
    };
    unsigned key_size = g->secret ? g->secret->key_size : 0;
    err_t err;

    srt_agree(&opts.agreed, &g->handshake, &terms, p->id);
    g->secret = NULL; /* the connection owns it now */
    p->zero = g->at;
    log_begin(p, &opts.agreed, key_size);
    err = begin(p, &opts);
    if (err)
        return err;
    send_answer(p, &opts.agreed);
    return NULL;
}

/* ---- life cycle */

static err_t publish(struct srt_peer *p)
{
    err_t err;

    p->base.publishes = true;
    datagram_client_state(&p->base, DATAGRAM_ACTIVE);
    srt_peer_flush(p, co_clock());
    err = srt_publish_run(p);
    datagram_client_state(&p->base, DATAGRAM_ENDING);
    co_timer_cancel(&p->base.timer);
    srt_publish_end(p, err);
    srt_peer_close(p, err);
    return NULL;
}

/* A player needs no coroutine from here on. */
static err_t play(struct srt_peer *p)
{
    err_t why = co_check();

    p->base.session.co = NULL;
    datagram_client_state(&p->base, DATAGRAM_ACTIVE);
    if (why)
        datagram_client_close(&p->base, why);
    else
        srt_peer_flush(p, co_clock());
    return NULL;
}

static void undo(struct srt_peer *p, err_t why)
{
    if (p->publish)
        srt_publish_end(p, why);
    else if (p->admitted)
        srt_play_end(p, why);
    refuse(p, why);
}

static err_t live(struct srt_peer *p)
{
    err_t err = p->base.why; /* it may have been closed before it started */
    bool publishes;

    p->base.why = NULL;
    if (!err)
        err = admit(p);

    if (!err && p->request->move_to >= 0) {
        srt_send_away(p);
        return NULL;
    }
    publishes = p->request->streamid.publish;
    if (!err)
        err = welcome(p);
    if (err) {
        undo(p, err);
        return NULL;
    }
    srt_peer_admitted(p);
    return publishes ? publish(p) : play(p);
}

err_t srt_admit_main(void *peer)
{
    struct srt_peer *p = peer;

    co_new_cid();
    (void)snprintf(p->base.cid, sizeof(p->base.cid), "%s", co_cid());
    co_log_as(LOG_UNTRUSTED);
    session_begin(&p->base.session);
    log_trace("SRT client ip=%s:%u, fd=%u", p->base.ip, p->path.peer.port, (unsigned)p->id);
    return live(p);
}

err_t srt_admit_go_on_main(void *peer)
{
    struct srt_peer *p = peer;
    bool changed;
    err_t err;

    co_log_as(LOG_UNTRUSTED);
    p->base.session.co = co_self();
    err = session_apply(&p->base.session, &changed);
    if (!err)
        return live(p);
    refuse(p, err);
    return NULL;
}
