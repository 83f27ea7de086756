/* SPDX-License-Identifier: MIT */
/* startup.c - datagrams to session 0: hellos and keying. */
#include "base/must.h"
#include "serve/rtmfp/keys_queue.h"
#include "serve/rtmfp/rate.h"

#include <stdlib.h>
#include <string.h>

static bool find(void *service, const struct udp_addr *from, struct rtmfp_known *out)
{
    struct rtmfp_service *s = service;
    const struct rtmfp_peer *p = rtmfp_table_find(s->table, from);

    if (!p)
        return false;
    *out = (struct rtmfp_known){ p->far_id, p->peer_id, p->skic,
                                 { p->answer, p->answer ? p->answer_size : 0u } };
    return true;
}

static bool is_keying(void *service, const struct udp_addr *from, uint32_t id)
{
    struct rtmfp_service *s = service;

    return rtmfp_table_is_keying(s->table, from, id);
}

/* Reserves a slot in the limits of the address; the handshake takes over service->place. */
static bool may_open(void *service, const struct udp_addr *from)
{
    struct rtmfp_service *s = service;
    const struct conf *conf = s->base.env->conf;
    const struct address_limits_config limits = {
        (unsigned)conf_protocol_per_address(conf, PROTOCOL_RTMFP, address_is_private(from->ip)), 0,
    };

    if (s->base.refuses || s->ends)
        return false;
    if (rtmfp_keys_full(s->keys)) {
        s->stat.key_refused++;
        return false;
    }
    if (atomic_fetch_add(&s->shared->sessions, 1) < (unsigned)conf->rtmfp_server.max_sessions &&
        address_limits_enter(s->base.shared->peers, &s->place, from->ip, &limits, co_now()) ==
            ADDRESS_WELCOME)
        return true;
    atomic_fetch_sub(&s->shared->sessions, 1);
    return false;
}

static void stale(void *service, const struct udp_addr *from)
{
    struct rtmfp_service *s = service;
    struct rtmfp_peer *p = rtmfp_table_find(s->table, from);

    if (p)
        rtmfp_peer_close(p, err_new(ERR_IO_CLOSED, "the client started a new session"));
}

const struct rtmfp_responder_ops rtmfp_startup_ops = { find, is_keying, may_open, stale };

static void begin(struct rtmfp_endpoint *e, const struct udp_in *in)
{
    struct rtmfp_service *s = e->service;
    struct rtmfp_handshake *h = must(calloc(1, sizeof(*h)));

    h->path = in->path;
    h->id = s->response.job.id;
    h->endpoint = e->base.number;
    h->place = s->place;
    s->place = (struct address_slot){ 0 };
    h->since = co_clock();
    h->work = must(malloc(sizeof(*h->work)));
    h->work->job = s->response.job;
    h->work->ok = false;
    rtmfp_keys_add(s->keys, h);
}

void rtmfp_startup_take(struct rtmfp_endpoint *e, const struct udp_in *in, co_usec now)
{
    struct rtmfp_service *s = e->service;
    unsigned rate = (unsigned)s->base.env->conf->rtmfp_server.max_startup_ip;

    s->stat.startup++;
    if (datagram_endpoint_refuses(&e->base, &in->path))
        return;
    if (!rtmfp_rate_take(s->shared->startups, in->path.peer.ip, rate, 2 * rate, now)) {
        s->stat.startup_limited++;
        return;
    }
    switch (rtmfp_responder_input(&s->responder, in->data, in->size, &in->path.peer, now,
                                  &s->response)) {
    case RTMFP_ANSWERED:
        memcpy(rtmfp_endpoint_room(e), s->response.datagram, s->response.size);
        rtmfp_endpoint_put(e, s->response.size, &in->path);
        break;
    case RTMFP_JOB:
        begin(e, in);
        break;
    case RTMFP_INTRODUCE:
        rtmfp_introduce(e, in, now);
        break;
    case RTMFP_REDIRECTED:
        rtmfp_redirect_hello(e, in, now);
        break;
    default:
        break;
    }
}
