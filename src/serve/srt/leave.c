/* SPDX-License-Identifier: MIT */
/* leave.c - the end of a client: of a publisher in its own coroutine, of players in one for all. */
#include "base/container_of.h"
#include "base/log.h"
#include "serve/srt/impl.h"
#include "session/place.h"

#include <stdio.h>

void srt_peer_leave(struct srt_peer *p, err_t why)
{
    if (p->state == SRT_LEAVES) {
        err_free(&why);
        return;
    }
    if (p->base.co) {
        co_stop(p->base.co, why);
        return;
    }
    if (p->state == SRT_GREETED) { /* its coroutine is about to begin */
        err_free(&p->why);
        p->why = why;
        return;
    }
    p->state = SRT_LEAVES;
    p->why = why;
    co_timer_cancel(&p->timer);
    datagram_leave(&p->service->base, &p->leaver);
}

/* Its peer is told, three times: nobody repeats it. */
static void say_shutdown(struct srt_peer *p)
{
    srt_conn_close(&p->conn);
    srt_peer_flush(p, co_clock());
}

void srt_peer_gone(struct srt_peer *p, err_t why)
{
    if (p->connected)
        session_notify(&p->base, HOOKS_CLOSE);
    if (p->conn.receiver || p->conn.sends) {
        say_shutdown(p);
        while (srt_conn_drain(&p->conn))
            co_yield_if_due();
        srt_peer_sum(p, &p->service->stat.media);
        srt_conn_fini(&p->conn);
    }
    session_log_end(&p->base, &why);
    srt_peer_free(p);
}

void srt_see_out(struct datagram_leaver *l)
{
    struct srt_peer *p = container_of(l, struct srt_peer, leaver);
    err_t why = p->why;

    p->why = NULL;
    co_set_cid(p->cid);
    session_log_as_client(p->base.env, p->ip);
    srt_play_end(p, why);
    srt_peer_gone(p, why);
}
