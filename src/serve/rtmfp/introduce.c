/* SPDX-License-Identifier: MIT */
/* introduce.c - introduces peers that look for each other by peer id (RFC 7016, 3.5.1.4 to
 * 3.5.1.6). */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "serve/rtmfp/directory.h"
#include "serve/rtmfp/peer_mail.h"
#include "serve/rtmfp/rate.h"
#include "serve/rtmfp/redirect.h"

#include <stdlib.h>
#include <string.h>

enum { ASKED_A_SECOND = 20 };
#define ANSWER_WITHIN CO_SECONDS(5)

/* A peer was pinged because another session claims its id. */
struct rtmfp_claim {
    struct co_timer timer;
    struct rtmfp_peer *peer;
    co_usec received_at;      /* last packet before the ping */
};

static void log_client(const struct rtmfp_peer *p, const char *what)
{
    struct co_cid own;

    own = co_swap_cid(p->cid);
    log_info("RTMFP client %s", what);
    co_set_cid(own.text);
}

/* ---- peers that can be found */

static struct rtmfp_seat seat_of(const struct rtmfp_peer *p)
{
    return (struct rtmfp_seat){ .worker = p->service->base.env->worker, .session = p->id,
                                .at = p->session.peer };
}

/* Runs when another session claims the id of this one. */
static void on_claimed(struct rtmfp_peer *p, const struct rtmfp_message_to *m);

static void enter(struct rtmfp_peer *p)
{
    struct rtmfp_message_to claimed = { .fn = on_claimed };
    struct rtmfp_seat seat = seat_of(p), holder;

    p->presence = rtmfp_directory_enter(p->shared->directory, p->peer_id, &seat, &holder);
    if (holder.session == 0)
        return;
    log_client(p, "claims the id of another session, which is pinged");
    claimed.session = holder.session;
    memcpy(claimed.peer_id, p->peer_id, RTMFP_PEER_ID);
    rtmfp_peer_mail(p->service, holder.worker, &claimed);
}

void rtmfp_presence_set(struct rtmfp_peer *p, const struct rtmfp_address *list, size_t n)
{
    bool first = !p->presence;

    if (first)
        enter(p);
    if (p->presence && rtmfp_directory_report(p->shared->directory, p->presence, list, n) < n &&
        first)
        log_client(p, "reports addresses that no peer can have (loopback, multicast, port 0)");
}

void rtmfp_presence_moved(struct rtmfp_peer *p)
{
    struct rtmfp_seat seat = seat_of(p);

    if (p->presence)
        rtmfp_directory_move(p->shared->directory, p->presence, &seat);
}

static void end_claim(struct rtmfp_peer *p)
{
    if (!p->claim)
        return;
    co_timer_cancel(&p->claim->timer);
    free(p->claim);
    p->claim = NULL;
}

static void on_claim(struct co_timer *t)
{
    struct rtmfp_claim *c = container_of(t, struct rtmfp_claim, timer);
    struct rtmfp_peer *p = c->peer;

    if (p->session.received_at == c->received_at) {
        log_client(p, "did not answer a ping: another session has its id now");
        rtmfp_directory_pass(p->shared->directory, p->peer_id, p->service->base.env->worker,
                             p->id);
    }
    end_claim(p);
}

static void on_claimed(struct rtmfp_peer *p, const struct rtmfp_message_to *m)
{
    (void)m;
    if (!p->presence || p->claim)
        return;
    p->claim = must(calloc(1, sizeof(*p->claim)));
    p->claim->peer = p;
    p->claim->received_at = p->session.received_at;
    co_timer_set(&p->claim->timer, co_clock() + ANSWER_WITHIN, on_claim);
    rtmfp_session_ping(&p->session);
    rtmfp_peer_touch(p);
}

void rtmfp_presence_end(struct rtmfp_peer *p)
{
    end_claim(p);
    if (p->presence)
        rtmfp_directory_leave(p->shared->directory, p->presence);
    p->presence = NULL;
}

/* ---- peers that look for one */

static void answer(struct rtmfp_endpoint *e, const struct udp_in *in,
                   const struct rtmfp_address *list, size_t n, co_usec now)
{
    struct rtmfp_service *s = e->service;

    rtmfp_endpoint_put(e, rtmfp_responder_redirect(&s->responder, in->size, s->response.hello.tag,
                                                   list, n, now, rtmfp_endpoint_room(e)),
                       &in->path);
}

static void on_forward(struct rtmfp_peer *p, const struct rtmfp_message_to *m)
{
    if (rtmfp_session_forward(&p->session, m->body))
        rtmfp_peer_touch(p);
}

/* Forwards the hello: the requested peer opens its NAT by answering it. */
static void forward(struct rtmfp_service *s, const struct rtmfp_seat *to,
                    const struct udp_addr *from)
{
    const struct rtmfp_forwarded hello = { s->response.hello.epd, { RTMFP_OBSERVED, *from },
                                           s->response.hello.tag };
    struct rtmfp_message_to l = { .fn = on_forward, .session = to->session };
    uint8_t chunk[RTMFP_CHUNK_HEAD + RTMFP_FORWARD_MAX];
    struct wr w = rtmfp_wr(chunk, sizeof(chunk));

    if (!rtmfp_forwarded_write(&w, &hello))
        return;
    l.body = rtmfp_bytes(chunk + RTMFP_CHUNK_HEAD, w.len - RTMFP_CHUNK_HEAD);
    memcpy(l.peer_id, s->response.peer, RTMFP_PEER_ID);
    rtmfp_peer_mail(s, to->worker, &l);
}

static size_t servers_of(const struct conf_rtmfp_server *conf, struct udp_addr *out)
{
    size_t n = 0;

    for (size_t i = 0; i < conf->redirect.n && n < RTMFP_REDIRECTS_MAX; i++) {
        err_t err = udp_addr_parse(&out[n], conf->redirect.v[i].host, conf->redirect.v[i].port);

        n += !err;
        err_free(&err); /* a host name: checked with the configuration */
    }
    return n;
}

/* Redirects to the other servers, which may know the peer. */
static void redirect_peer(struct rtmfp_endpoint *e, const struct udp_in *in, co_usec now)
{
    struct rtmfp_service *s = e->service;
    const struct conf_rtmfp_server *conf = &s->base.env->conf->rtmfp_server;
    struct rtmfp_address list[RTMFP_REDIRECTS_MAX];
    struct udp_addr servers[RTMFP_REDIRECTS_MAX];
    size_t n = servers_of(conf, servers);

    s->stat.unknown_peers++;
    if (conf->redirect_peers == CONF_REDIRECT_NO_PEERS || n == 0)
        return;
    s->stat.redirects++;
    answer(e, in, list, rtmfp_redirect_all(servers, n, list), now);
}

void rtmfp_introduce(struct rtmfp_endpoint *e, const struct udp_in *in, co_usec now)
{
    struct rtmfp_service *s = e->service;
    struct rtmfp_address list[RTMFP_TOLD_MAX];
    const struct udp_addr *from = &in->path.peer;
    struct rtmfp_seat seat;
    size_t n = 0;

    if (!rtmfp_rate_take(s->shared->introductions, from->ip, ASKED_A_SECOND, ASKED_A_SECOND, now)) {
        s->stat.introductions_limited++;
        return;
    }
    if (s->base.env->conf->rtmfp_server.introduce)
        n = rtmfp_directory_find(s->shared->directory, s->response.peer, from, &seat, list);
    if (n == 0) {
        redirect_peer(e, in, now);
        return;
    }
    s->stat.introductions++;
    answer(e, in, list, n, now);
    forward(s, &seat, from);
}

void rtmfp_redirect_hello(struct rtmfp_endpoint *e, const struct udp_in *in, co_usec now)
{
    struct rtmfp_service *s = e->service;
    const struct conf_rtmfp_server *conf = &s->base.env->conf->rtmfp_server;
    struct rtmfp_bytes app = rtmfp_redirect_app(s->response.epd.ancillary);
    struct rtmfp_address list[RTMFP_REDIRECTS_MAX];
    struct udp_addr servers[RTMFP_REDIRECTS_MAX];
    size_t n = servers_of(conf, servers);

    n = conf->redirect_by == CONF_REDIRECT_ALL
            ? rtmfp_redirect_all(servers, n, list)
            : rtmfp_redirect_by_app(servers, n, app, list);
    if (n == 0)
        return;
    s->stat.redirects++;
    answer(e, in, list, n, now);
}
