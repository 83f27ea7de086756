/* SPDX-License-Identifier: MIT */
/* ws_io.c - struct io over WebSocket frames (RFC 6455 section 5). */
#include "proto/rtsp/ws_io.h"

#include "base/iov.h"
#include "base/must.h"
#include "base/units.h"
#include "proto/rtsp/tunnel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAME = 64 * 1024,         /* largest frame of media: some clients buffer a whole frame */
    PIECES = 24,
    A_CALL = 8 * FRAME,        /* limit per call of send_some */
    REPLIES = 64 * 1024,       /* limit of replies that the peer does not read */
    MAX_FRAME = 16 * 1024 * 1024, /* limit of a peer's frame; its content is not buffered */
};

struct ws_io {
    struct io io;
    struct rtsp_ws ws;
    uint8_t *rest; /* bytes that came after the request */
    size_t rest_at, rest_end;
    struct wr owed; /* replies, and rests of frames, that the connection has not taken yet */
    size_t owed_at;
    bool held;      /* one byte that was sent or is owed is not counted yet: see ws_send_some() */
};

static const struct io_ops ws_ops;

static struct ws_io *ws_of(struct io *io)
{
    assert(io->ops == &ws_ops);
    return (struct ws_io *)io;
}

/* ---- pending output */

static size_t pending(const struct ws_io *t)
{
    return t->owed.len - t->owed_at;
}

static void was_sent(struct ws_io *t, size_t n)
{
    t->owed_at += n;
    if (pending(t) > 0)
        return;
    wr_free(&t->owed);
    wr_init(&t->owed, FRAME + REPLIES);
    t->owed_at = 0;
}

static err_t flush_some(struct ws_io *t)
{
    struct iovec iov = { t->owed.buf + t->owed_at, pending(t) };
    size_t n = 0;
    err_t err;

    if (iov.iov_len == 0)
        return NULL;
    err = io_send_some(t->io.below, &iov, 1, &n);
    was_sent(t, n);
    return err;
}

static err_t flush_all(struct ws_io *t)
{
    err_t err;

    if (pending(t) == 0)
        return NULL;
    err = io_write(t->io.below, t->owed.buf + t->owed_at, pending(t));
    was_sent(t, pending(t));
    return err;
}

/* ---- reading */

static err_t read_below(struct ws_io *t, void *buf, size_t size, size_t *n)
{
    size_t left = t->rest_end - t->rest_at;

    if (left == 0)
        return io_read_now(t->io.below, buf, size, n);
    *n = left < size ? left : size;
    memcpy(buf, t->rest + t->rest_at, *n);
    t->rest_at += *n;
    if (*n == left) {
        free(t->rest);
        t->rest = NULL;
        t->rest_at = t->rest_end = 0;
    }
    return NULL;
}

/* Queues replies of the protocol behind the frame that is being sent. */
static err_t reply(struct ws_io *t, const struct wr *w)
{
    err_t err = wr_err(w, "replies to pings");

    if (err || w->len == 0)
        return err;
    wr_bytes(&t->owed, w->buf, w->len);
    err = wr_err(&t->owed, "too many replies to pings that the peer does not read");
    return err ? err : flush_some(t);
}

static err_t ws_read_now(struct io *io, void *buf, size_t size, size_t *n)
{
    struct ws_io *t = ws_of(io);
    struct wr w;
    size_t got = 0;
    err_t err;

    *n = 0;
    if (t->ws.closed)
        return err_new(ERR_IO_CLOSED, "WebSocket");
    err = read_below(t, buf, size, &got);
    if (err || got == 0)
        return err;
    wr_init(&w, REPLIES);
    err = rtsp_ws_feed(&t->ws, buf, got, n, &w);
    if (!err)
        err = reply(t, &w);
    wr_free(&w);
    return err;
}

static err_t ws_read(struct io *io, void *buf, size_t size, size_t *n)
{
    co_usec until = io->read_timeout == CO_FOREVER ? CO_FOREVER : co_clock() + io->read_timeout;

    for (;;) {
        err_t err = ws_read_now(io, buf, size, n);
        co_usec left = until == CO_FOREVER ? CO_FOREVER : until - co_clock();

        if (err || *n > 0)
            return err;
        if (left != CO_FOREVER && left <= 0)
            return err_new(ERR_IO_TIMEOUT, "WebSocket read waited %lld ms",
                           us_to_ms(io->read_timeout));
        co_yield_if_due();
        if (io_wait(io, false, left) == CO_STOPPED)
            return err_wrap(co_stop_why(), "in WebSocket read");
    }
}

static bool ws_readable(struct io *io)
{
    const struct ws_io *t = ws_of(io);

    return t->rest_end > t->rest_at || t->ws.closed || io_readable(io->below);
}

static enum co_wake ws_wait(struct io *io, bool out, co_usec timeout)
{
    const struct ws_io *t = ws_of(io);

    if (!out && (t->rest_end > t->rest_at || t->ws.closed))
        return CO_WOKEN;
    return io_wait(io->below, out, timeout);
}

/* ---- writing */

/* Frame with the bytes after the first `skip` bytes of the pieces. */
struct frame {
    uint8_t head[HTTP_WS_HEAD_MAX];
    struct iovec v[PIECES];
    int n;
    size_t size; /* size of its payload; 0: no more */
};

static void make_frame(struct frame *f, const struct iovec *iov, int count, size_t skip)
{
    f->n = 1;
    f->size = 0;
    for (int i = 0; i < count && f->n < PIECES && f->size < FRAME; i++) {
        size_t from = skip < iov[i].iov_len ? skip : iov[i].iov_len;
        size_t size = iov[i].iov_len - from;

        skip -= from;
        if (size > FRAME - f->size)
            size = FRAME - f->size;
        if (size == 0)
            continue;
        f->v[f->n++] = (struct iovec){ (uint8_t *)iov[i].iov_base + from, size };
        f->size += size;
    }
    f->v[0] = (struct iovec){ f->head, http_ws_head(f->head, HTTP_WS_BINARY, f->size, NULL) };
}

/* Keeps the unsent rest of a frame, of which `sent` bytes were sent. */
static err_t owe(struct ws_io *t, const struct frame *f, size_t sent)
{
    for (int i = 0; i < f->n; i++) {
        size_t from = sent < f->v[i].iov_len ? sent : f->v[i].iov_len;

        sent -= from;
        wr_bytes(&t->owed, (uint8_t *)f->v[i].iov_base + from, f->v[i].iov_len - from);
    }
    return wr_err(&t->owed, "rest of a frame");
}

static err_t ws_writev(struct io *io, struct iovec *iov, int count)
{
    struct ws_io *t = ws_of(io);
    size_t done = t->held;
    struct frame f;
    err_t err;

    t->held = false;
    io->below->write_timeout = io->write_timeout;
    io->below->more = io->more;
    err = flush_all(t);
    for (make_frame(&f, iov, count, done); !err && f.size > 0; make_frame(&f, iov, count, done)) {
        done += f.size;
        err = io_writev(io->below, f.v, f.n);
    }
    return err;
}

/* A frame that has started must be sent completely. So the part that the connection does not take
 * is kept, and one byte of it is not reported as sent: the caller waits until the peer takes more
 * and passes this byte again, which is then only counted. It is never the first byte of a frame. */
static err_t ws_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    struct ws_io *t = ws_of(io);
    size_t done = t->held, sent = 0;
    struct frame f;
    err_t err = flush_some(t);

    *n = 0;
    if (err || pending(t) > 0)
        return err;
    t->held = false;
    io->below->more = io->more;
    for (make_frame(&f, iov, count, done); !err && f.size > 0 && pending(t) == 0 && done < A_CALL;
         make_frame(&f, iov, count, done)) {
        err = io_send_some(io->below, f.v, f.n, &sent);
        if (!err && sent == 0)
            break;
        if (!err && sent < iov_size(f.v, f.n))
            err = owe(t, &f, sent);
        done += f.size;
    }
    if (err)
        return err;
    t->held = pending(t) > 0 && done > 0;
    *n = done - t->held;
    return NULL;
}

/* ---- closing */

static void ws_close(struct io *io)
{
    struct ws_io *t = ws_of(io);
    uint8_t head[HTTP_WS_HEAD_MAX];
    err_t err;

    if (!t->ws.closed)
        wr_bytes(&t->owed, head, http_ws_head(head, HTTP_WS_CLOSE, 0, NULL));
    err = flush_some(t); /* a peer that does not take it still sees the connection close */
    err_free(&err);
    wr_free(&t->owed);
    free(t->rest);
    io_close(io->below);
    free(t);
}

static const struct io_ops ws_ops = {
    .name = "WebSocket",
    .read = ws_read,
    .read_now = ws_read_now,
    .writev = ws_writev,
    .send_some = ws_send_some,
    .readable = ws_readable,
    .wait = ws_wait,
    .close = ws_close,
};

struct io *rtsp_ws_open(struct io *below, const void *rest, size_t size)
{
    struct ws_io *t = must(calloc(1, sizeof(*t)));

    t->io = (struct io){ .ops = &ws_ops, .below = below, .read_timeout = below->read_timeout,
                         .write_timeout = below->write_timeout, .bytes_in = below->bytes_in,
                         .bytes_out = below->bytes_out };
    rtsp_ws_init(&t->ws, true, MAX_FRAME);
    wr_init(&t->owed, FRAME + REPLIES);
    if (size > 0) {
        t->rest = must(malloc(size));
        memcpy(t->rest, rest, size);
        t->rest_end = size;
    }
    return &t->io;
}
