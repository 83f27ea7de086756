/* SPDX-License-Identifier: MIT */
/* peer.c - creates, registers, counts and closes a client. */
#include "serve/srt/peer.h"

#include "base/ip.h"
#include "base/must.h"
#include "serve/srt/admit.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

static struct srt_request *request_new(const struct udp_in *in, const struct srt_handshake *h)
{
    struct srt_request *g = must(calloc(1, sizeof(*g)));

    g->size = in->size < sizeof(g->raw) ? in->size : sizeof(g->raw);
    memcpy(g->raw, in->data, g->size);
    g->handshake = *h;
    if (h->km) /* moves the pointer from the datagram to the copy */
        g->handshake.km = g->raw + (h->km - in->data);
    g->at = in->at;
    g->move_to = -1;
    return g;
}

struct srt_peer *srt_peer_new(struct srt_endpoint *e, const struct udp_in *in,
                              const struct srt_handshake *h)
{
    struct srt_service *s = e->service;
    struct srt_peer *p = must(calloc(1, sizeof(*p)));

    datagram_client_init(&p->base, s->base.env);
    workers_connected(s->base.env);
    p->shared = s->shared;
    (void)datagram_shared_ref(&p->shared->base);
    atomic_fetch_add(&p->shared->connections, 1);
    p->base.session.detail = &srt_client_detail;
    p->endpoint = e;
    p->path = in->path;
    p->caller = (struct srt_caller){ .from = in->path.peer, .id = h->id,
                                     .first_seq = h->first_seq };
    (void)ip_text(in->path.peer.ip, p->base.ip);
    p->request = request_new(in, h);
    p->request->endpoint = e->base.number;
    return p;
}

bool srt_peer_enter(struct srt_peer *p, struct srt_service *s)
{
    p->service = s;
    p->id = datagram_slots_take(&s->slots, p);
    if (p->id == 0)
        return false;
    srt_callers_add(&s->callers, &p->caller);
    datagram_client_enter(&p->base, &s->base);
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
    datagram_client_part(&p->base);
    datagram_service_part(&s->base);
}

static void request_free(struct srt_request *g)
{
    if (!g)
        return;
    co_deadline_cancel(&g->deadline);
    if (g->secret)
        OPENSSL_cleanse(g->secret, sizeof(*g->secret));
    free(g->secret);
    free(g);
}

void srt_peer_admitted(struct srt_peer *p)
{
    request_free(p->request);
    p->request = NULL;
}

/* ---- the end */

void srt_peer_free(struct srt_peer *p)
{
    struct srt_shared *shared = p->shared;

    atomic_fetch_sub(&shared->connections, 1);
    workers_disconnected(p->base.session.env);
    request_free(p->request);
    free(p->answer);
    srt_peer_part(p);
    datagram_client_fini(&p->base);
    datagram_shared_unref(&shared->base);
    free(p);
}

/* Sends the shutdown three times, since it is never retransmitted. */
static void send_shutdown(struct srt_peer *p)
{
    srt_conn_close(&p->conn);
    srt_peer_flush(p, co_clock());
}

void srt_peer_close(struct srt_peer *p, err_t why)
{
    if (p->connected)
        session_notify(&p->base.session, HOOKS_CLOSE);
    if (p->conn.receiver || p->conn.sends) {
        send_shutdown(p);
        while (srt_conn_drain(&p->conn))
            co_yield_if_due();
        srt_peer_sum(p, &p->service->stat.media);
        srt_conn_fini(&p->conn);
    }
    session_log_end(&p->base.session, &why);
    srt_peer_free(p);
}
