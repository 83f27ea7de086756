/* SPDX-License-Identifier: MIT */
/* conn.c - one RTMP connection over a pipe: reading, writing, and the responses that the protocol
 * requires.
 */
#include "proto/rtmp/conn.h"

#include "base/be.h"
#include "base/container_of.h"
#include "base/must.h"
#include "base/thread_own.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH = 64 * 1024, SMALL = 4 * 1024, DRAIN_MAX = 16 * SCRATCH, PIECE = 8 * 1024 };

/* Read buffer of the thread. A pipe fills it after its last wait, and the reader consumes it before
 * anything else runs, so it never holds bytes of two connections. */
static _Thread_local uint8_t *scratch;

static void on_evict(struct rtmp_in *in)
{
    struct rtmp_conn *c = container_of(in, struct rtmp_conn, in);

    if (c->co)
        co_stop(c->co, rtmp_in_evicted(in));
}

static void have_scratch(void)
{
    if (!scratch)
        scratch = thread_own(SCRATCH, NULL);
}

void rtmp_conn_init(struct rtmp_conn *c, struct io *io, const struct rtmp_in_setup *setup)
{
    *c = (struct rtmp_conn){ .io = io, .co = co_self(), .out_chunk_size = RTMP_CHUNK_SIZE };
    have_scratch();
    rtmp_in_init(&c->in, setup);
    c->in.on_evict = on_evict;
    c->in.bytes = io->bytes_in; /* acknowledgements count the handshake too */
}

void rtmp_conn_fini(struct rtmp_conn *c)
{
    co_timer_cancel(&c->timer);
    if (c->held_back)
        rtmp_conn_release(c, &c->held);
    rtmp_in_fini(&c->in);
}

static void on_message_time(struct co_timer *t)
{
    struct rtmp_conn *c = container_of(t, struct rtmp_conn, timer);
    co_usec oldest = rtmp_in_oldest(&c->in);

    if (oldest == 0)
        return;
    if (co_now() < oldest + c->message_time) {
        co_timer_set(t, oldest + c->message_time, on_message_time);
        return;
    }
    co_stop(c->co, err_new(ERR_IO_TIMEOUT, "message incomplete after %lld ms",
                           us_to_ms(c->message_time)));
}

/* One timer serves many messages: the first incomplete message sets it, and when it fires it is set
 * for the oldest one at that time. */
static void watch_messages(struct rtmp_conn *c)
{
    if (c->in.inflight > 0 && !c->timer.prev && c->co && c->message_time > 0)
        co_timer_set(&c->timer, rtmp_in_oldest(&c->in) + c->message_time, on_message_time);
}

void rtmp_conn_pause(struct rtmp_conn *c)
{
    co_timer_cancel(&c->timer);
}

void rtmp_conn_resume(struct rtmp_conn *c)
{
    rtmp_in_restart_timeouts(&c->in);
    watch_messages(c);
}

void rtmp_conn_detach(struct rtmp_conn *c)
{
    rtmp_conn_pause(c);
    rtmp_in_detach(&c->in);
    c->co = NULL;
}

void rtmp_conn_attach(struct rtmp_conn *c)
{
    have_scratch();
    c->co = co_self();
    rtmp_in_attach(&c->in);
    rtmp_conn_resume(c);
}

void rtmp_conn_release(struct rtmp_conn *c, struct rtmp_msg *msg)
{
    if (msg->payload)
        c->in.setup->release(msg->payload);
    msg->payload = NULL;
}

void rtmp_conn_force_window(struct rtmp_conn *c, uint32_t window)
{
    if (c->in.window == 0)
        c->in.window = window;
}

/* Handles user control; peer bandwidth is ignored. An event that is too short is ignored. */
static void on_control(struct rtmp_conn *c, const struct rtmp_msg *msg)
{
    struct rtmp_event e;
    err_t err;

    if (msg->type == RTMP_SET_PEER_BANDWIDTH)
        return;
    err = rtmp_event_parse(&e, msg);
    if (err) {
        err_free(&err);
    } else if (e.id == RTMP_PING_REQUEST) {
        c->pong = true;
        c->ping = e.value;
    }
}

void rtmp_conn_unread(struct rtmp_conn *c, const struct rtmp_msg *msg)
{
    assert(!c->held_back);
    c->held = *msg;
    c->held_back = true;
}

/* Yields and checks for a stop: a peer that never pauses never makes us wait. */
static err_t yield_to_others(void)
{
    if (!co_self()) /* over memory there may be no scheduler */
        return NULL;
    co_yield();
    return co_check();
}

bool rtmp_conn_pop(struct rtmp_conn *c, struct rtmp_msg *out)
{
    if (c->held_back) {
        *out = c->held;
        c->held_back = false;
        return true;
    }
    while (rtmp_in_next(&c->in, out)) {
        c->msgs_in++;
        if (out->type != RTMP_USER_CONTROL && out->type != RTMP_SET_PEER_BANDWIDTH)
            return true;
        on_control(c, out);
        rtmp_conn_release(c, out);
    }
    return false;
}

/* One read can contain thousands of messages, so other coroutines run in between. They use the same
 * scratch buffer, so the rest is moved out of it first. */
static err_t feed_pieces(struct rtmp_conn *c, size_t n)
{
    const uint8_t *from = scratch;
    uint8_t *rest = NULL;
    err_t err = NULL;

    for (size_t at = 0; at < n && !err;) {
        size_t piece = n - at < PIECE ? n - at : PIECE;

        err = rtmp_in_feed(&c->in, from + at, piece);
        at += piece;
        if (at == n || !co_self() || !co_slice_over())
            continue;
        if (!rest) {
            n -= at;
            rest = must(malloc(n));
            memcpy(rest, scratch + at, n);
            from = rest;
            at = 0;
        }
        watch_messages(c);
        co_yield();
    }
    free(rest);
    return err;
}

static err_t feed(struct rtmp_conn *c, size_t n)
{
    err_t err = n <= PIECE ? rtmp_in_feed(&c->in, scratch, n) : feed_pieces(c, n);

    watch_messages(c);
    return err;
}

/* Size of one read. It may contain the smallest messages, which take many times their size in
 * memory. */
static size_t most(const struct rtmp_conn *c)
{
    return c->small_reads ? SMALL : SCRATCH;
}

err_t rtmp_conn_poll(struct rtmp_conn *c)
{
    size_t n;
    err_t err;

    if (c->held_back || rtmp_in_has_message(&c->in) || !io_readable(c->io))
        return NULL;
    err = io_read_now(c->io, scratch, most(c), &n);
    return err ? err : feed(c, n);
}

err_t rtmp_conn_drain(struct rtmp_conn *c)
{
    size_t n = 0, total = 0;
    err_t err;

    do { /* a peer that sends faster than we read must not fill the memory or occupy the thread */
        err = io_read_now(c->io, scratch, SCRATCH, &n);
        if (err && total == 0)
            return err;
        if (err) { /* report the end next time, after what came before it */
            err_free(&err);
            return NULL;
        }
        err = feed(c, n);
        total += n;
    } while (!err && n == SCRATCH && total < DRAIN_MAX);
    if (!err && n == SCRATCH)
        err = yield_to_others();
    return err;
}

err_t rtmp_conn_fill(struct rtmp_conn *c)
{
    size_t n;
    err_t err = io_read(c->io, scratch, most(c), &n);

    if (!err)
        err = feed(c, n);
    if (!err && n == most(c)) /* more is available */
        err = yield_to_others();
    return err;
}

err_t rtmp_conn_read(struct rtmp_conn *c, struct rtmp_msg *out)
{
    for (;;) {
        err_t err = NULL;
        bool got = rtmp_conn_pop(c, out);

        if (c->pong || !got) /* saves a system call per message when many came at once */
            err = rtmp_conn_flush(c);
        if (err && got)
            rtmp_conn_release(c, out);
        if (err || got)
            return err;
        err = rtmp_conn_fill(c);
        if (err)
            return err;
    }
}

/* ---- writing */

enum { IOVECS = 32 };

static struct rtmp_msg control(uint8_t type, const uint8_t *bytes, size_t size)
{
    return (struct rtmp_msg){ .type = type, .csid = RTMP_CSID_CONTROL, .size = (uint32_t)size,
                              .payload = (uint8_t *)(uintptr_t)bytes };
}

static size_t event_bytes(uint8_t *p, uint16_t id, uint32_t value, uint32_t more)
{
    uint8_t *end = be_put32(be_put16(p, id), value);

    if (id == RTMP_SET_BUFFER_LENGTH)
        end = be_put32(end, more);
    return (size_t)(end - p);
}

void rtmp_conn_put(struct rtmp_conn *c, struct wr *out, uint8_t type, uint32_t stream_id,
                   const struct wr *body)
{
    struct rtmp_msg msg = { .type = type, .csid = rtmp_out_csid(type), .stream_id = stream_id,
                            .size = (uint32_t)body->len, .payload = body->buf };

    if (stream_id && msg.csid == RTMP_CSID_COMMAND)
        msg.csid = RTMP_CSID_STREAM;
    if (body->bad && !out->bad)
        out->bad = body->bad;
    rtmp_out_put(out, &msg, c->out_chunk_size);
}

void rtmp_conn_put_u32(struct rtmp_conn *c, struct wr *out, uint8_t type, uint32_t value)
{
    uint8_t bytes[4];
    struct rtmp_msg msg = control(type, bytes, (size_t)(be_put32(bytes, value) - bytes));

    rtmp_out_put(out, &msg, c->out_chunk_size);
}

void rtmp_conn_put_bandwidth(struct rtmp_conn *c, struct wr *out, uint32_t window,
                             enum rtmp_limit limit)
{
    uint8_t bytes[5] = { 0, 0, 0, 0, (uint8_t)limit };
    struct rtmp_msg msg = control(RTMP_SET_PEER_BANDWIDTH, bytes, sizeof(bytes));

    (void)be_put32(bytes, window);
    rtmp_out_put(out, &msg, c->out_chunk_size);
}

void rtmp_conn_put_event(struct rtmp_conn *c, struct wr *out, uint16_t id, uint32_t value,
                         uint32_t more)
{
    uint8_t bytes[10];
    struct rtmp_msg msg = control(RTMP_USER_CONTROL, bytes, event_bytes(bytes, id, value, more));

    rtmp_out_put(out, &msg, c->out_chunk_size);
}

void rtmp_conn_put_chunk_size(struct rtmp_conn *c, struct wr *out, uint32_t size)
{
    rtmp_conn_put_u32(c, out, RTMP_SET_CHUNK_SIZE, size);
    c->out_chunk_size = size;
}

err_t rtmp_conn_send_all(struct rtmp_conn *c, struct wr *out)
{
    err_t err = wr_err(out, "messages to send");

    if (!err && out->len > 0)
        err = io_write(c->io, out->buf, out->len);
    wr_free(out);
    return err;
}

bool rtmp_conn_has_replies(struct rtmp_conn *c)
{
    return c->pong || rtmp_in_ack_due(&c->in);
}

err_t rtmp_conn_flush(struct rtmp_conn *c)
{
    uint8_t out[2 * (RTMP_OUT_FIRST + 10)], bytes[10];
    struct rtmp_msg msg;
    uint32_t sequence;
    size_t n = 0;

    if (rtmp_in_take_ack(&c->in, &sequence)) {
        msg = control(RTMP_ACK, bytes, (size_t)(be_put32(bytes, sequence) - bytes));
        n += rtmp_out_render(out + n, &msg, c->out_chunk_size);
    }
    if (c->pong) {
        msg = control(RTMP_USER_CONTROL, bytes,
                      event_bytes(bytes, RTMP_PING_RESPONSE, c->ping, 0));
        n += rtmp_out_render(out + n, &msg, c->out_chunk_size);
        c->pong = false;
    }
    return n ? io_write(c->io, out, n) : NULL;
}
