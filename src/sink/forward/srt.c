/* SPDX-License-Identifier: MIT */
/* srt.c - forwards a stream to one SRT listener as MPEG-TS.
 *
 * Each forward has its own packet log for sending. Its coroutine reads new packets at each turn and
 * sends them.
 */
#include "sink/forward/session.h"

#include "base/log.h"
#include "base/must.h"
#include "proto/srt/caller.h"
#include "sink/forward/forward.h"
#include "wire/srt.h"

#include <stdlib.h>
#include <string.h>

#define LOOK CO_SECONDS(1)
#define KEEP CO_SECONDS(1) /* shortest time that packets are kept for retransmission */

enum { UNLIMITED = 125000000 }; /* bytes a second: 1 Gbit/s */

struct srt_caller_opts forward_srt_opts(const struct conf_srt_server *set)
{
    return (struct srt_caller_opts){
        .mss = (unsigned)set->mss, .receive_buffer = (size_t)set->recvbuf,
        .max_bandwidth = set->maxbw < 0 ? UNLIMITED : (uint64_t)set->maxbw,
        .recv_latency = set->recvlatency, .peer_latency = set->peerlatency,
        .connect_timeout = set->connect_timeout, .idle_timeout = set->peer_idle_timeout,
        .tsbpd = set->tsbpdmode, .drop_late = set->tlpktdrop,
    };
}

/* One attempt. */
struct going {
    struct forward *f;
    struct srt_caller caller;
    struct srt_wire *wire;
    struct srt_burst burst;
    co_usec merge, look_at;
};

static err_t begin(struct going *g)
{
    const struct conf_srt_server *set = &g->f->session.conf->srt_server;
    const struct srt_wire_opts opts = {
        .payload = (unsigned)set->payloadsize < g->caller.agreed.payload / 188 * 188
                       ? (unsigned)set->payloadsize : g->caller.agreed.payload / 188 * 188,
        .max_bytes = (size_t)set->sendbuf,
    };
    co_usec latency = g->caller.agreed.send_latency, keep = latency + latency / 4;
    uint64_t from;
    bool cached;
    err_t err;

    g->merge = set->merge < latency / 5 ? set->merge : latency / 5;
    g->wire = srt_wire_new(g->f->src, &opts);
    srt_wire_keep(g->wire, keep > KEEP ? keep : KEEP);
    srt_wire_wanted(g->wire, true);
    srt_wire_take(g->wire, co_now());
    cached = srt_wire_join(g->wire, &from);
    err = srt_caller_send(&g->caller, srt_wire_log(g->wire), from, cached);
    if (!err)
        g->caller.conn.sender.skip_due = !cached; /* starts at the next key frame */
    return err;
}

/* Updates the rates and logs its line periodically. */
static void update_stats(struct going *g, co_usec now)
{
    const struct srt_sender_stat *stat = &g->caller.conn.sender.stat;
    struct session *s = &g->f->session;

    g->look_at = co_to_second(LOOK, now) + now;
    g->f->dropped = stat->dropped;
    if (session_sample(s, SAMPLED_FORWARD, now))
        log_trace("%s time=%lld, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT ", pktSent=%llu, "
                  "pktSndLoss=%llu, pktRetrans=%llu, pktSndDrop=%llu, to=%s",
                  sampled_name(SAMPLED_FORWARD), us_to_ms(now - s->began_at),
                  KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps), (unsigned long long)stat->sent,
                  (unsigned long long)stat->lost, (unsigned long long)stat->retransmitted,
                  (unsigned long long)stat->dropped, s->names.tc_url);
}

static err_t send_all(struct going *g)
{
    struct session *s = &g->f->session;
    co_usec turn = co_now();
    err_t err = NULL;

    while (!err) {
        co_usec now = co_now();

        if (now >= turn) {
            srt_wire_take(g->wire, now);
            turn = now + g->merge;
        }
        s->out += srt_caller_burst(&g->caller, &g->burst);
        if (now >= g->look_at)
            update_stats(g, now);
        err = srt_caller_turn(&g->caller, turn);
    }
    return err;
}

static err_t converse(struct going *g)
{
    struct forward *f = g->f;
    struct session *s = &f->session;
    const struct srt_caller_opts opts = forward_srt_opts(&s->conf->srt_server);
    err_t err = srt_caller_call(&g->caller, f->url, &opts);

    if (!err)
        err = begin(g);
    co_stack_trim();
    if (err)
        return err;
    log_trace("forward to %s: publishing, latency %lld ms%s", f->shown,
              us_to_ms(g->caller.agreed.send_latency),
              g->caller.conn.secret ? ", encrypted" : "");
    s->in = s->out = 0;
    s->src = live_source_ref(f->src);
    forward_begin(f);
    session_wait(s, CLIENTS_FORWARD);
    session_enter(s);
    f->publishing = true;
    err = send_all(g);
    f->publishing = false;
    s->left_out = g->caller.conn.sender.stat.dropped;
    session_leave(s, err);
    forward_log_did(f, err);
    return err;
}

err_t forward_by_srt(struct forward *f)
{
    struct going *g = (struct going *)must(calloc(1, sizeof(*g)));
    err_t err;

    g->f = f;
    f->dropped = 0;
    err = converse(g);
    srt_caller_close(&g->caller);
    srt_wire_free(g->wire);
    free(g);
    return err;
}
