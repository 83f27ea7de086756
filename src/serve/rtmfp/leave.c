/* SPDX-License-Identifier: MIT */
/* leave.c - the end of a session: one line, then it lingers until its peer knows ([RTMFP] 3.5.5),
 * or for so long as it may; then it is freed. */
#include "base/container_of.h"
#include "base/log.h"
#include "serve/rtmfp/table.h"
#include "session/place.h"

#include <openssl/crypto.h>
#include <stdlib.h>

static void see_out(struct datagram_leaver *l);

void rtmfp_peer_see_out(struct rtmfp_peer *p)
{
    if (p->queued)
        return;
    p->queued = true;
    datagram_leave(&p->service->base, &p->leaver, see_out);
}

void rtmfp_peer_leave(struct rtmfp_peer *p, err_t why)
{
    if (p->leaves) {
        err_free(&why);
        if (!p->seen || p->service->ends) /* what it waited for may have ended */
            rtmfp_peer_see_out(p);
        return;
    }
    p->leaves = true;
    p->why = why;
    rtmfp_presence_end(p);
    rtmfp_netgroup_end(p);
    p->service->leaving++;
    rtmfp_table_remove(p->service->table, p, &p->session.peer);
    rtmfp_peer_see_out(p);
}

/* Nothing of it is in use any more. */
static void peer_free(struct rtmfp_peer *p)
{
    struct rtmfp_service *s = p->service;
    struct rtmfp_shared *shared = p->shared;

    for (struct rtmfp_peer **q = &s->touched; p->touched && *q; q = &(*q)->next_touched) {
        if (*q == p) {
            *q = p->next_touched;
            if (!*q)
                s->touched_end = q;
            break;
        }
    }
    co_timer_cancel(&p->timer);
    rtmfp_session_fini(&p->session);
    rtmfp_cipher_free(p->cipher);
    datagram_slots_give(&s->slots, p->id);
    s->leaving--;
    s->lingering--;
    free(p->answer);
    OPENSSL_cleanse(p, sizeof(*p));
    free(p);
    datagram_service_part(&s->base);
    rtmfp_shared_unref(shared);
}

/* There is room for somebody else from now on. */
static void give_place(struct rtmfp_peer *p)
{
    p->service->lingering++;
    peers_leave(&p->place, co_clock());
    atomic_fetch_sub(&p->shared->sessions, 1);
}

static void end(struct rtmfp_peer *p)
{
    char ip[UDP_TEXT];

    co_set_cid(p->cid);
    if (!rtmfp_connection_end(p, p->why))
        return; /* its last stream says so */
    session_log_as_client(p->service->base.env, rtmfp_peer_ip(p, ip));
    p->seen = true;
    give_place(p);
    if (p->session.state == RTMFP_OPEN)
        rtmfp_session_close(&p->session, co_clock());
    p->service->stat.ended[p->session.end]++;
    log_end("RTMFP client finished", &p->why);
    rtmfp_peer_flush(p, co_clock()); /* by which it may be queued again */
}

static void see_out(struct datagram_leaver *l)
{
    struct rtmfp_peer *p = container_of(l, struct rtmfp_peer, leaver);

    p->queued = false;
    if (!p->seen)
        end(p);
    if (p->queued || !p->seen)
        return;
    if (p->session.state == RTMFP_CLOSED || p->service->ends ||
        p->service->lingering > RTMFP_LINGER_MAX)
        peer_free(p);
}
