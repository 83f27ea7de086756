/* SPDX-License-Identifier: MIT */
/* peer.c - one client: made, known, counted, freed. */
#include "serve/srt/peer.h"

#include "base/container_of.h"
#include "base/ip.h"
#include "base/must.h"
#include "serve/srt/greet.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

static void on_kick(struct session *s)
{
    struct srt_peer *p = container_of(s, struct srt_peer, base);

    srt_peer_leave(p, err_new(ERR_KICKED, "%s", p->ip));
}

static struct srt_greeting *greeting_new(const struct udp_in *in, const struct srt_handshake *h)
{
    struct srt_greeting *g = must(calloc(1, sizeof(*g)));

    g->size = in->size < sizeof(g->raw) ? in->size : sizeof(g->raw);
    memcpy(g->raw, in->data, g->size);
    g->said = *h;
    if (h->km) /* it points into the datagram */
        g->said.km = g->raw + (h->km - in->data);
    g->at = in->at;
    g->move_to = -1;
    return g;
}

struct srt_peer *srt_peer_new(struct srt_endpoint *e, const struct udp_in *in,
                              const struct srt_handshake *h)
{
    struct srt_service *s = e->service;
    struct srt_peer *p = must(calloc(1, sizeof(*p)));

    session_init(&p->base, s->base.env, NULL);
    workers_connected(s->base.env);
    p->shared = srt_shared_ref(s->shared);
    atomic_fetch_add(&p->shared->connections, 1);
    p->base.on_kick = on_kick;
    p->base.id = p->cid;
    p->base.detail = &srt_client_detail;
    p->endpoint = e;
    p->path = in->path;
    p->caller = (struct srt_caller){ .from = in->path.peer, .id = h->id,
                                     .first_seq = h->first_seq };
    (void)ip_text(in->path.peer.ip, p->ip);
    p->base.names = (struct session_stream){ .vhost = "", .app = "", .name = "", .param = "",
                                             .tc_url = "", .page_url = "", .ip = p->ip };
    p->greeting = greeting_new(in, h);
    p->greeting->endpoint = e->base.number;
    return p;
}

bool srt_peer_enter(struct srt_peer *p, struct srt_service *s)
{
    p->service = s;
    p->id = datagram_slots_take(&s->slots, p);
    if (p->id == 0)
        return false;
    srt_callers_add(&s->callers, &p->caller);
    datagram_service_enter(&s->base);
    return true;
}

void srt_peer_part(struct srt_peer *p)
{
    struct srt_service *s = p->service;

    if (p->id == 0)
        return;
    datagram_slots_give(&s->slots, p->id);
    srt_callers_remove(&s->callers, &p->caller);
    p->id = 0;
    datagram_service_part(&s->base);
}

static void greeting_free(struct srt_greeting *g)
{
    if (!g)
        return;
    co_deadline_cancel(&g->deadline);
    if (g->secret)
        OPENSSL_cleanse(g->secret, sizeof(*g->secret));
    free(g->secret);
    free(g);
}

void srt_peer_let_in(struct srt_peer *p)
{
    greeting_free(p->greeting);
    p->greeting = NULL;
}

void srt_peer_free(struct srt_peer *p)
{
    co_timer_cancel(&p->timer);
    peers_leave(&p->place, co_now());
    atomic_fetch_sub(&p->shared->connections, 1);
    workers_disconnected(p->base.env);
    greeting_free(p->greeting);
    session_fini(&p->base);
    err_free(&p->why);
    free(p->answer);
    free(p->names);
    srt_peer_part(p);
    srt_shared_unref(p->shared);
    free(p);
}
