/* SPDX-License-Identifier: MIT */
/* sender.c - send a live stream to one peer. */
#include "live/sender.h"

#include <stdio.h>
#include <stdlib.h>

#include "live/impl.h"

enum { RANGES = 16 };

/* The longest that mw_msgs alone holds packets back: a stream of one frame a second is shown. */
#define MSGS_WAIT CO_MS(350)

static err_t hear(struct live_sender *s)
{
    err_t err = co_check();

    if (!err && io_readable(s->io))
        err = s->on_readable(s->arg);
    return err;
}

/* Where `auto` begins to merge, and where it merges as much as it ever does, in thousandths of a
 * core. Merging lowers the load, so between the two it settles where both agree. */
enum { AUTO_IDLE = 100, AUTO_FULL = 300 };

static co_usec merge_time(co_usec mw_latency)
{
    unsigned busy = co_load();

    if (mw_latency != LIVE_MW_AUTO)
        return mw_latency;
    if (busy <= AUTO_IDLE)
        return 0;
    if (busy >= AUTO_FULL)
        return MSGS_WAIT;
    return MSGS_WAIT * (busy - AUTO_IDLE) / (AUTO_FULL - AUTO_IDLE);
}

static co_usec longest_wait(const struct live_sender_settings *set)
{
    return set->mw_latency > MSGS_WAIT ? set->mw_latency : MSGS_WAIT;
}

/* How long the turn is off: 0 is now, CO_FOREVER until packets come. */
static co_usec turn_in(const struct live_sender *s, co_usec now)
{
    uint64_t pending = live_consumer_pending(&s->consumer);
    co_usec merge = s->sent_at + s->merge - now;

    if (s->paused)
        return CO_FOREVER;
    if (merge > 0)
        return merge;
    if (pending == 0)
        return CO_FOREVER;
    if (s->set.mw_latency == LIVE_MW_AUTO || pending >= s->set.mw_msgs)
        return 0;
    merge = s->sent_at + longest_wait(&s->set) - now;
    return merge > 0 ? merge : 0;
}

static err_t wait_turn(struct live_sender *s)
{
    for (;;) {
        co_usec now, left;
        bool merging;
        err_t err = hear(s);

        if (err || s->done)
            return err;
        now = co_now();
        left = turn_in(s, now);
        if (left == 0)
            return NULL;
        merging = s->paused || s->sent_at + s->merge > now;
        if (!merging) /* after a silence the first packet wakes it, and goes out at once */
            live_consumer_park(&s->consumer,
                               live_consumer_pending(&s->consumer) ? s->set.mw_msgs : 1);
        (void)io_wait(s->io, false, left); /* why it ended is asked above */
        live_consumer_unpark(&s->consumer);
    }
}

/* The peer's window is full: wait until it takes more. Not hearing it meanwhile: an answer must
 * not go out in the middle of a message. */
static err_t wait_window(struct live_sender *s)
{
    err_t err = NULL;

    if (io_wait(s->io, true, s->io->write_timeout) == CO_TIMEOUT)
        err = err_new(ERR_IO_TIMEOUT, "peer took nothing for %lld ms",
                      (long long)s->io->write_timeout / 1000);
    return err ? err : co_check();
}

/* Metadata opens a stream: players look for it at time 0. Headers belong to the first frame. */
static int64_t config_time(const struct av_packet *pkt, int64_t dts)
{
    return pkt->kind == AV_DATA ? 0 : dts;
}

static err_t send_config(struct live_sender *s)
{
    const struct live_wire *w = s->consumer.wire;
    const struct av_packet *pkts[LIVE_CONFIGS];
    size_t total = 0, at = 0, n;
    uint8_t *buf;
    int64_t dts;
    err_t err;

    n = live_consumer_config(&s->consumer, pkts, LIVE_CONFIGS, &dts);
    if (w->state)
        return NULL; /* in the stream already, before its key frames */
    for (size_t i = 0; i < n; i++)
        total += w->fmt->size(w->param, pkts[i], config_time(pkts[i], dts));
    if (total == 0)
        return NULL;
    buf = malloc(total);
    if (!buf)
        return err_new(ERR_NO_MEMORY, "%zu bytes of configuration", total);
    for (size_t i = 0; i < n; i++) {
        size_t size = w->fmt->size(w->param, pkts[i], config_time(pkts[i], dts));

        if (size > 0) /* 0: the format leaves it out */
            w->fmt->render(w->param, pkts[i], config_time(pkts[i], dts), buf + at);
        at += size;
    }
    err = io_write(s->io, buf, total);
    free(buf);
    return err ? err_wrap(err, "decoder configuration") : NULL;
}

static err_t send_turn(struct live_sender *s)
{
    bool one = s->set.send_interval > 0;

    for (;;) {
        struct iovec iov[RANGES];
        int n = live_consumer_ranges(&s->consumer, iov, RANGES, one);
        size_t total = 0, sent;
        err_t err;

        if (n == 0)
            return NULL;
        if (s->consumer.config_due) {
            err = send_config(s);
            if (err)
                return err;
            continue; /* it may have waited: the ranges are stale */
        }
        for (int i = 0; i < n; i++)
            total += iov[i].iov_len;
        err = io_send_some(s->io, iov, n, &sent);
        if (err)
            return err;
        live_consumer_advance(&s->consumer, sent);
        if (sent < total)
            err = wait_window(s);
        else if (one)
            err = co_sleep(s->set.send_interval);
        if (err)
            return err;
    }
}

err_t live_sender_run(struct live_sender *s)
{
    for (;;) {
        err_t err = wait_turn(s);

        if (!err && !s->done)
            err = s->on_turn(s->arg);
        if (err || s->done)
            return err;
        s->sent_at = co_now();
        s->merge = merge_time(s->set.mw_latency);
        s->turns++;
        err = send_turn(s);
        if (err)
            return err;
    }
}

void live_sender_flush(struct live_sender *s)
{
    struct iovec iov[RANGES];
    int n;

    while (!s->consumer.config_due &&
           (n = live_consumer_ranges(&s->consumer, iov, RANGES, false)) > 0) {
        size_t sent = 0;
        err_t err = io_send_some(s->io, iov, n, &sent);

        err_free(&err); /* it ends in either case */
        if (sent == 0)
            return;
        live_consumer_advance(&s->consumer, sent);
    }
}
