/* SPDX-License-Identifier: MIT */
/* sender.c - sends a live stream or a feed to one peer. */
#include "live/sender.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/container_of.h"
#include "base/iov.h"
#include "co/net/round.h"
#include "live/impl.h"

enum { RANGES = 16, FIRST_TURNS = 2, JOIN_MAX = 512 * 1024 };

/* How often the coroutine takes a turn, for on_turn(). */
#define TURN_EVERY CO_SECONDS(5)

/* Longest time that mw_msgs alone delays packets, so a stream of one frame a second is shown in
 * time. */
#define MSGS_WAIT CO_MS(350)
/* The resolution of timers. */
#define MIN_GRID CO_MS(4)

static err_t handle_input(struct live_sender *s)
{
    err_t err = co_check();

    if (!err && io_readable(s->io))
        err = s->on_readable(s->arg);
    return err;
}

/* Loads at which `auto` begins to merge and at which it merges most, in thousandths of a core.
 * Merging lowers the load, so the merge time settles between the two. */
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

/* Returns when a turn that collects for `merge` is due: slightly earlier, on a grid that all
 * players share. A core that sends to a hundred players in a row needs much less time for each than
 * one that wakes up for every few. Sixteen groups still spread the load. */
static co_usec due_time(co_usec now, co_usec merge)
{
    co_usec grid = merge / 16, due = now + merge;

    return grid < MIN_GRID ? due : due - due % grid;
}

/* ---- packets of a live stream, or bytes of a feed */

static void poll_packets(const struct live_sender *s)
{
    if (!s->feed)
        live_source_pull(s->consumer.src);
}

static co_usec lag_of(const struct live_sender *s)
{
    return s->feed ? s->feed->kind->lag(s->feed) : live_consumer_lag(&s->consumer);
}

static int ranges_of(struct live_sender *s, struct iovec *iov, bool one)
{
    return s->feed ? s->feed->kind->ranges(s->feed, iov, RANGES)
                   : live_consumer_ranges(&s->consumer, iov, RANGES, one);
}

static void advance(struct live_sender *s, size_t sent)
{
    if (s->feed)
        s->feed->kind->advance(s->feed, sent);
    else
        live_consumer_advance(&s->consumer, sent);
}

/* Returns true if a turn without ranges is over. A stream may have more to send if packets are
 * still pending; a feed has sent everything that its clock allows. */
static bool turn_is_over(const struct live_sender *s)
{
    return s->feed || live_consumer_pending(&s->consumer) == 0;
}

/* Lets a feed that waited for a disk continue as soon as the disk is done: nothing was sent that
 * the next turn could be merged with. */
static void note_empty_turn(struct live_sender *s)
{
    if (s->feed && !s->feed->kind->ready(s->feed))
        s->due = s->sent_at;
}

static bool has_ended(const struct live_sender *s)
{
    return s->feed && s->feed->kind->ended(s->feed);
}

static co_usec longest_wait(const struct live_sender_settings *set)
{
    return set->mw_latency > MSGS_WAIT ? set->mw_latency : MSGS_WAIT;
}

/* Returns the time until the turn: 0 for now, CO_FOREVER until packets arrive. */
static co_usec turn_in(const struct live_sender *s, co_usec now)
{
    co_usec merge = s->due - now;
    uint64_t pending;

    if (s->paused)
        return CO_FOREVER;
    if (merge > 0)
        return merge;
    if (s->feed)
        return s->feed->kind->ready(s->feed) ? 0 : CO_FOREVER;
    pending = live_consumer_pending(&s->consumer);
    if (pending == 0)
        return CO_FOREVER;
    if (s->set.mw_latency == LIVE_MW_AUTO || pending >= s->set.mw_msgs || s->io->again)
        return 0;
    merge = s->sent_at + longest_wait(&s->set) - now;
    return merge > 0 ? merge : 0;
}

static co_usec turn_every(const struct live_sender *s)
{
    return s->turn_every ? s->turn_every : TURN_EVERY;
}

/* Calls on_turn(). */
static err_t call_on_turn(struct live_sender *s)
{
    s->called_at = co_now();
    if (s->epoch)
        s->epoch_seen = *s->epoch;
    return s->on_turn ? s->on_turn(s->arg) : NULL;
}

static err_t took_nothing(const struct live_sender *s)
{
    return err_new(ERR_IO_TIMEOUT, "peer took nothing for %lld ms and is %lld ms behind",
                   us_to_ms(s->io->write_timeout), us_to_ms(lag_of(s)));
}

/* Waits until the peer's window has space. Does not read from the peer meanwhile, because a
 * response must not be sent in the middle of a message. */
static err_t wait_window(struct live_sender *s)
{
    co_usec most = s->io->write_timeout, begin = co_now(), turn = turn_every(s);
    enum co_wake wake = CO_TIMEOUT;
    err_t err = NULL;

    if (!s->full_at)
        s->full_at = begin;
    while (!err && !s->done && wake == CO_TIMEOUT) {
        co_usec rest = most == CO_FOREVER ? turn : begin + most - co_now();

        wake = io_wait(s->io, true, rest > turn ? turn : rest > 0 ? rest : 0);
        err = co_check();
        if (!err && wake == CO_TIMEOUT && most != CO_FOREVER && co_now() - begin >= most)
            err = took_nothing(s);
        if (!err && co_now() - s->called_at >= turn)
            err = call_on_turn(s);
    }
    return err;
}

static void window_open(struct live_sender *s)
{
    if (s->full_at)
        s->full_before += co_now() - s->full_at;
    s->full_at = 0;
}

/* Returns the time for a configuration packet: 0 for metadata, where players expect it; the first
 * frame's for headers. */
static int64_t config_time(const struct av_packet *pkt, int64_t dts)
{
    return pkt->kind == AV_DATA ? 0 : dts;
}

/* Sends the configuration of a stateful format; most have it in the stream, before key frames. */
static err_t send_join(struct live_sender *s)
{
    const struct live_wire *w = s->consumer.wire;
    err_t err = NULL;
    struct wr out;

    if (!w->fmt->join)
        return NULL;
    wr_init(&out, JOIN_MAX);
    w->fmt->join(w->state, &out);
    err = wr_err(&out, "start of a stream");
    if (!err && out.len > 0)
        err = io_write(s->io, out.buf, out.len);
    wr_free(&out);
    return err;
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
        return send_join(s);
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
        int n = ranges_of(s, iov, one);
        size_t total, sent;
        err_t err;

        if (n == 0)
            note_empty_turn(s);
        if (n == 0 && turn_is_over(s))
            return NULL;
        if (n == 0) {
            co_yield_if_due();
            err = co_check();
            if (err)
                return err;
            continue;
        }
        if (s->consumer.config_due) {
            err = send_config(s);
            if (err)
                return err;
            continue; /* it may have yielded: the ranges are stale */
        }
        total = iov_size(iov, n);
        err = io_send_some(s->io, iov, n, &sent);
        if (err)
            return err;
        advance(s, sent);
        co_yield_if_due();
        if (sent == total)
            window_open(s);
        if (sent < total)
            err = wait_window(s);
        else if (one)
            err = co_sleep(s->set.send_interval);
        if (err || s->done)
            return err;
    }
}

static void note_turn(struct live_sender *s)
{
    s->sent_at = co_now();
    s->merge = merge_time(s->set.mw_latency);
    s->due = due_time(s->sent_at, s->merge);
    s->turns++;
}

static bool needs_turn(const struct live_sender *s)
{
    return s->turns < FIRST_TURNS || s->set.send_interval > 0 ||
           co_now() - s->called_at >= turn_every(s) || (s->epoch && *s->epoch != s->epoch_seen);
}

/* Takes a turn without the coroutine. Returns false if the coroutine must take or finish it. */
static bool quick_turn(struct live_sender *s)
{
    struct iovec iov[RANGES];
    int n;

    if (needs_turn(s))
        return false;
    note_turn(s);
    do { /* something is pending, else the turn would not be due */
        size_t total, sent = 0;
        err_t err;

        n = ranges_of(s, iov, false);
        if (n == 0) {
            note_empty_turn(s);
            return turn_is_over(s) && !has_ended(s);
        }
        if (s->consumer.config_due)
            return false;
        total = iov_size(iov, n);
        err = io_send_some(s->io, iov, n, &sent);
        if (err) {
            err_free(&err); /* the coroutine will get the same error and end */
            return false;
        }
        advance(s, sent);
        if (sent < total && s->io->again) {
            s->due = s->io->again; /* continues then; no need to wait for the window */
            return true;
        }
        if (sent < total)
            return false;
    } while (s->feed ? !co_slice_over() : live_consumer_pending(&s->consumer) > 0);
    return !s->feed; /* a feed with much to send yields to others in between */
}

static void on_due(struct co_timer *t);
static void on_packets(struct live_consumer *c);
static void on_more(struct live_feed *f, void *sender);

static void disarm(struct live_sender *s)
{
    co_timer_cancel(&s->timer);
    if (s->feed)
        s->feed->on_more = NULL;
    else
        live_consumer_unpark(&s->consumer);
}

/* Arms the timer or parks the cursor for the next turn. */
static void arm(struct live_sender *s)
{
    uint64_t pending;

    if (s->paused)
        return;
    if (s->due > co_now()) {
        co_timer_set(&s->timer, s->due, on_due);
        return;
    }
    if (s->feed) {
        s->feed->arg = s;
        s->feed->on_more = on_more;
        return;
    }
    pending = live_consumer_pending(&s->consumer);
    /* After a pause the first packet wakes it and is sent at once. */
    live_consumer_park(&s->consumer, pending ? s->set.mw_msgs : 1, on_packets);
    if (pending)
        co_timer_set(&s->timer, s->sent_at + longest_wait(&s->set), on_due);
}

static void take_turn(struct live_sender *s)
{
    disarm(s);
    poll_packets(s);
    if (turn_in(s, co_now()) == 0 && !quick_turn(s)) {
        s->must_run = true;
        co_unpark(s->co);
    } else {
        arm(s);
    }
}

static void on_due(struct co_timer *t)
{
    take_turn(container_of(t, struct live_sender, timer));
}

static void on_packets(struct live_consumer *c)
{
    take_turn(container_of(c, struct live_sender, consumer));
}

static void on_more(struct live_feed *f, void *sender)
{
    (void)f;
    take_turn(sender);
}

/* Takes a turn in the coroutine, or finishes one that was handed to it. */
static err_t long_turn(struct live_sender *s)
{
    err_t err;

    s->must_run = false;
    err = call_on_turn(s);
    if (err || s->done)
        return err;
    note_turn(s);
    s->sending = true;
    err = send_turn(s);
    s->sending = false;
    s->done |= has_ended(s);
    return err;
}

static err_t step(struct live_sender *s)
{
    err_t err = s->must_run ? long_turn(s) : NULL;

    if (!err && !s->done)
        err = handle_input(s);
    if (err || s->done)
        return err;
    poll_packets(s);
    if (turn_in(s, co_now()) == 0)
        return long_turn(s);
    arm(s);
    (void)io_wait(s->io, false, CO_FOREVER); /* the caller checks why it ended */
    disarm(s);
    return NULL;
}

err_t live_sender_run(struct live_sender *s)
{
    struct co_round round = { 0 };
    err_t err = NULL;

    s->co = co_self();
    co_urgent(true);
    while (!err && !s->done) {
        err = step(s);
        if (!err)
            err = co_round(&round, s->io->bytes_in + s->io->bytes_out + s->consumer.seq);
    }
    co_urgent(false);
    return err;
}

void live_sender_pause(struct live_sender *s, bool paused)
{
    if (paused && !s->paused)
        s->paused_at = co_now();
    if (s->feed && paused != s->paused)
        s->feed->kind->paused(s->feed, paused);
    s->paused = paused;
}

const char *live_sender_state_name(enum live_sender_state state)
{
    static const char *const names[LIVE_SENDER_STATES] = {
        [LIVE_WAIT_KEY] = "WAIT_KEY", [LIVE_COLLECT] = "COLLECT", [LIVE_SEND] = "SEND",
        [LIVE_WINDOW_FULL] = "WINDOW_FULL", [LIVE_PAUSED] = "PAUSED",
    };

    return names[state];
}

/* Returns the current state; *since is its start. */
static enum live_sender_state state_of(const struct live_sender *s, co_usec *since)
{
    if (s->full_at) {
        *since = s->full_at;
        return LIVE_WINDOW_FULL;
    }
    if (s->paused) {
        *since = s->paused_at;
        return LIVE_PAUSED;
    }
    if (!s->feed && !s->consumer.block) {
        *since = s->consumer.waits_since;
        return LIVE_WAIT_KEY;
    }
    *since = s->sent_at;
    return s->sending ? LIVE_SEND : LIVE_COLLECT;
}

void live_sender_stat(const struct live_sender *s, struct live_sender_stat *out)
{
    co_usec now = co_now(), since = 0;

    *out = (struct live_sender_stat){ .dropped = s->consumer.dropped,
                                      .lag = lag_of(s),
                                      .window_full = s->full_before };
    out->state = state_of(s, &since);
    if (since > 0)
        out->since = now - since;
    if (s->full_at)
        out->window_full += now - s->full_at;
}

bool live_sender_feed_info(const struct live_sender *s, struct live_feed_info *out)
{
    return s->feed && s->feed->kind->describe && s->feed->kind->describe(s->feed, out);
}

uint64_t live_sender_pending(const struct live_sender *s)
{
    return s->feed ? s->feed->kind->pending(s->feed) : live_consumer_pending(&s->consumer);
}

void live_sender_flush(struct live_sender *s)
{
    struct iovec iov[RANGES];
    int n;

    if (s->feed)
        return;
    live_source_pull(s->consumer.src);
    while (!s->consumer.config_due &&
           (n = live_consumer_ranges(&s->consumer, iov, RANGES, false)) > 0) {
        size_t sent = 0;
        err_t err = io_send_some(s->io, iov, n, &sent);

        err_free(&err); /* it ends in any case */
        if (sent == 0)
            return;
        live_consumer_advance(&s->consumer, sent);
    }
}
