/* SPDX-License-Identifier: MIT */
/* play.c - one that plays: from when it is let in to its end. It has no coroutine. */
#include "serve/srt/impl.h"
#include "serve/srt/stream.h"

#define MAXBW 125000000 /* bytes a second: a gigabit */

/* Bursts of a turn, about half a millisecond: what a NAK names, or who comes back, is more. The
 * rest goes with the next one. */
enum { TURN = 16 };

err_t srt_play_admit(struct srt_peer *p)
{
    err_t err = session_play_begin(&p->base, CLIENTS_SRT_PLAY, NULL);

    if (!err)
        p->stream = srt_stream_get(p->service, p->base.src);
    return err;
}

/* Where its media begin: at the newest key frame, or the next one. */
static void find_begin(const struct srt_peer *p, struct srt_conn_opts *opts)
{
    const struct srt_log *log = srt_wire_log(srt_stream_wire(p->stream));
    bool cached = log->has_key && live_source_set(p->base.src).gop_cache;

    opts->log = log;
    opts->from = cached ? log->key : log->head;
    opts->lead = cached;
}

err_t srt_play_begin(struct srt_peer *p, const struct srt_conn_opts *opts)
{
    int64_t maxbw = p->base.conf->srt_server.maxbw;
    struct srt_conn_opts set = *opts;

    p->conn.agreed = opts->agreed;
    p->play = (struct srt_play){ .every = srt_play_every(p->base.conf, opts->agreed.send_latency) };
    srt_stream_add(p->stream, p);
    find_begin(p, &set);
    set.maxbw = maxbw < 0 ? MAXBW : (uint64_t)maxbw;
    if (!srt_conn_send_begin(&p->conn, &set)) {
        srt_stream_remove(p->stream, p);
        return err_new(ERR_NO_MEMORY, "a connection of SRT");
    }
    p->conn.sender.skip_due = !set.lead;
    return NULL;
}

void srt_play_turn(struct srt_peer *p, co_usec now)
{
    struct srt_burst *b = p->service->streams.burst;

    for (unsigned n = 0; n < TURN && srt_conn_burst(&p->conn, b, now); n++)
        srt_peer_burst(p, b);
}

void srt_play_end(struct srt_peer *p, err_t why)
{
    if (srt_stream_has(p)) {
        srt_play_count(p);
        srt_stream_remove(p->stream, p);
    }
    session_play_end(&p->base, why);
    srt_stream_put(p->stream);
    p->stream = NULL;
}
