/* SPDX-License-Identifier: MIT */
/* srt.c - publishes the MPEG-TS that an SRT listener sends. */
#include "pull/ingest/run.h"

#include "base/log.h"
#include "base/must.h"
#include "intake/ts.h"
#include "proto/srt/caller.h"
#include "sink/forward/forward.h"

#include <stdlib.h>

#define CHECK_EVERY CO_SECONDS(1)     /* longest interval between checks */
#define SILENCE CO_SECONDS(10) /* longest time without media on an open connection */

struct receiving {
    struct ingest_run *r;
    struct srt_caller caller;
    struct ts_intake *ts;
    co_usec media_at;
};

static void receive(struct receiving *t, co_usec now)
{
    struct ingest_run *r = t->r;
    struct srt_message m;

    while (srt_conn_next(&t->caller.conn, &m, now)) {
        if (m.hole)
            ts_intake_hole(t->ts);
        ts_intake_put(t->ts, m.data, m.size);
        r->pull.session.in += m.size;
        session_publisher_media(&r->pull.publisher);
        condition_be(&r->pull.condition, CONDITION_RUNNING);
        t->media_at = now;
        co_yield_if_due();
    }
}

static err_t receive_all(struct receiving *t)
{
    bool changed;
    err_t err = NULL;

    t->media_at = co_now();
    while (!err) {
        co_usec now = co_now();

        receive(t, now);
        err = session_publisher_turn(&t->r->pull.publisher, &changed);
        if (!err && now - t->media_at > SILENCE)
            err = err_new(ERR_SRT_TIMEOUT, "%s sends no media", t->caller.peer);
        if (!err)
            err = srt_caller_turn(&t->caller, now + CHECK_EVERY);
    }
    return err;
}

static void log_end_of(const struct receiving *t)
{
    struct srt_receiver_stat stat;

    srt_receiver_stat(t->caller.conn.receiver, &stat);
    log_trace("ingest %s: pktRecv=%llu, pktRcvLoss=%llu, pktRcvRetrans=%llu, pktRcvDrop=%llu",
              t->r->source.name, (unsigned long long)stat.received, (unsigned long long)stat.lost,
              (unsigned long long)stat.retransmitted, (unsigned long long)stat.dropped);
}

static err_t publish(struct receiving *t)
{
    struct ingest_run *r = t->r;
    struct session *s = &r->pull.session;
    const struct ts_intake_opts opts = { .sei_filter = s->conf->srt_server.sei_filter,
                                         .signature = s->env->signature };
    err_t err = ingest_run_join(r, CLIENTS_SRT_PUBLISH);

    if (err)
        return err;
    log_trace("ingest %s: latency %lld ms%s", r->source.name,
              us_to_ms(t->caller.agreed.recv_latency), t->caller.conn.secret ? ", encrypted" : "");
    t->ts = ts_intake_new(&opts);
    ts_intake_begin(t->ts, s->src);
    err = receive_all(t);
    ts_intake_end(t->ts);
    ts_intake_free(t->ts);
    log_end_of(t);
    session_publisher_end(&r->pull.publisher, err);
    session_log_did(s, err);
    return err;
}

err_t ingest_srt_publish(struct ingest_run *r)
{
    const struct srt_caller_opts opts = forward_srt_opts(&r->pull.session.conf->srt_server);
    struct receiving *t = (struct receiving *)must(calloc(1, sizeof(*t)));
    err_t err;

    t->r = r;
    err = srt_caller_call(&t->caller, r->source.path, &opts);
    if (!err)
        err = srt_caller_receive(&t->caller);
    if (!err)
        err = publish(t);
    srt_caller_close(&t->caller);
    free(t);
    return err;
}
