/* SPDX-License-Identifier: MIT */
/* tunnel_io.c - struct io over two HTTP connections, and the table of tunnels. */
#include "serve/rtsp/tunnel_io.h"

#include "base/must.h"
#include "base/text.h"
#include "proto/rtsp/tunnel.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 1024,
    QUEUE = 16 * 1024, /* bytes that arrived and were not read yet */
    STRAY = 64 * 1024, /* limit for bytes on the GET's connection, where none are expected */
};

struct rtsp_tunnel_io {
    struct io io;
    struct rtsp_tunnel_io *next; /* in the table; needs the lock */
    int worker;               /* needs the lock */
    struct rtsp_upstream *post; /* NULL: no POST is joined now */
    struct co *reader;        /* waits for input */
    uint8_t *queue;           /* NULL: empty */
    size_t begin, end;
    size_t stray;
    co_usec pair_by;          /* deadline for the first POST; CO_FOREVER: it came */
    bool bad;
    char cookie[RTSP_COOKIE_MAX + 1];
};

static struct rtsp_tunnel_io *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct io_ops tunnel_ops;

static struct rtsp_tunnel_io *tunnel_of(struct io *io)
{
    assert(io->ops == &tunnel_ops);
    return (struct rtsp_tunnel_io *)io;
}

/* ---- the table */

/* Needs the lock. */
static struct rtsp_tunnel_io **find(const char *cookie)
{
    struct rtsp_tunnel_io **at = &buckets[text_hash(cookie) % BUCKETS];

    while (*at && strcmp((*at)->cookie, cookie) != 0)
        at = &(*at)->next;
    return at;
}

static bool add_tunnel(struct rtsp_tunnel_io *t)
{
    struct rtsp_tunnel_io **at;
    bool is_new;

    (void)pthread_mutex_lock(&lock);
    at = find(t->cookie);
    is_new = !*at;
    if (is_new)
        *at = t;
    (void)pthread_mutex_unlock(&lock);
    return is_new;
}

static void remove_tunnel(struct rtsp_tunnel_io *t)
{
    struct rtsp_tunnel_io **at;

    (void)pthread_mutex_lock(&lock);
    at = find(t->cookie);
    assert(*at == t);
    *at = t->next;
    (void)pthread_mutex_unlock(&lock);
}

static void set_worker(struct rtsp_tunnel_io *t, int worker)
{
    (void)pthread_mutex_lock(&lock);
    t->worker = worker;
    (void)pthread_mutex_unlock(&lock);
}

int rtsp_tunnel_where(const char *cookie)
{
    const struct rtsp_tunnel_io *t;
    int worker;

    (void)pthread_mutex_lock(&lock);
    t = *find(cookie);
    worker = t ? t->worker : RTSP_TUNNEL_NOT_FOUND;
    (void)pthread_mutex_unlock(&lock);
    return worker;
}

/* ---- the POST's end */

static void remove_post(struct rtsp_tunnel_io *t, bool replaced)
{
    struct rtsp_upstream *post = t->post;

    if (!post)
        return;
    t->post = NULL;
    post->tunnel = NULL;
    post->replaced = replaced;
    co_unpark(post->co);
}

static void wake_reader(const struct rtsp_tunnel_io *t)
{
    if (t->reader)
        co_unpark(t->reader);
}

void rtsp_upstream_join(struct rtsp_upstream *post, const char *cookie)
{
    struct rtsp_tunnel_io *t;

    (void)pthread_mutex_lock(&lock);
    t = *find(cookie);
    (void)pthread_mutex_unlock(&lock);
    remove_post(t, true);
    t->post = post;
    t->pair_by = CO_FOREVER;
    post->tunnel = t;
    post->co = co_self();
}

size_t rtsp_upstream_room(const struct rtsp_upstream *post)
{
    return QUEUE - post->tunnel->end;
}

void rtsp_upstream_put(struct rtsp_upstream *post, const uint8_t *data, size_t size)
{
    struct rtsp_tunnel_io *t = post->tunnel;

    assert(size <= QUEUE - t->end);
    if (size == 0)
        return;
    if (!t->queue)
        t->queue = must(malloc(QUEUE));
    memcpy(t->queue + t->end, data, size);
    t->end += size;
    wake_reader(t);
}

void rtsp_upstream_leave(struct rtsp_upstream *post, bool bad)
{
    struct rtsp_tunnel_io *t = post->tunnel;

    if (!t)
        return;
    t->post = NULL;
    post->tunnel = NULL;
    t->bad |= bad;
    if (bad)
        wake_reader(t);
}

/* ---- reading */

static bool has_more(const struct rtsp_tunnel_io *t)
{
    return t->end > t->begin || t->bad;
}

static size_t take(struct rtsp_tunnel_io *t, void *buf, size_t size)
{
    size_t n = t->end - t->begin;

    if (n > size)
        n = size;
    memcpy(buf, t->queue + t->begin, n);
    t->begin += n;
    if (t->begin < t->end)
        return n;
    free(t->queue);
    t->queue = NULL;
    t->begin = t->end = 0;
    if (t->post)
        co_unpark(t->post->co);
    return n;
}

/* Reads and discards bytes of the GET's connection; detects its end. */
static err_t check_down(struct rtsp_tunnel_io *t)
{
    uint8_t scrap[512];
    size_t n = 0;
    err_t err;

    if (!io_readable(t->io.below))
        return NULL;
    err = io_read_now(t->io.below, scrap, sizeof(scrap), &n);
    t->stray += n;
    if (!err && t->stray > STRAY)
        err = err_new(ERR_RTSP, "more than %d bytes after the GET of a tunnel", STRAY);
    return err;
}

static err_t tunnel_read_now(struct io *io, void *buf, size_t size, size_t *n)
{
    struct rtsp_tunnel_io *t = tunnel_of(io);

    *n = 0;
    if (t->end > t->begin) {
        *n = take(t, buf, size);
        return NULL;
    }
    if (t->bad)
        return err_new(ERR_IO_CLOSED, "the POST of a tunnel sent invalid base64");
    if (t->pair_by != CO_FOREVER && co_clock() >= t->pair_by)
        return err_new(ERR_RTSP, "the GET of a tunnel, and no POST after %lld ms",
                       us_to_ms(RTSP_TUNNEL_TIME));
    return check_down(t);
}

static enum co_wake tunnel_wait(struct io *io, bool out, co_usec timeout)
{
    struct rtsp_tunnel_io *t = tunnel_of(io);
    enum co_wake wake;

    if (!out && has_more(t))
        return CO_WOKEN;
    if (!out)
        t->reader = co_self();
    wake = io_wait(io->below, out, timeout);
    t->reader = NULL;
    return wake;
}

/* Time until the earlier of two moments. */
static co_usec time_to(co_usec a, co_usec b)
{
    co_usec at = a == CO_FOREVER || (b != CO_FOREVER && b < a) ? b : a;
    co_usec now = co_clock();

    if (at == CO_FOREVER)
        return CO_FOREVER;
    return at > now ? at - now : 0;
}

static err_t tunnel_read(struct io *io, void *buf, size_t size, size_t *n)
{
    struct rtsp_tunnel_io *t = tunnel_of(io);
    co_usec until = io->read_timeout == CO_FOREVER ? CO_FOREVER : co_clock() + io->read_timeout;

    for (;;) {
        err_t err = tunnel_read_now(io, buf, size, n);

        if (err || *n > 0)
            return err;
        if (until != CO_FOREVER && co_clock() >= until)
            return err_new(ERR_IO_TIMEOUT, "tunnel read waited %lld ms",
                           us_to_ms(io->read_timeout));
        co_yield_if_due();
        if (tunnel_wait(io, false, time_to(until, t->pair_by)) == CO_STOPPED)
            return err_wrap(co_stop_why(), "in tunnel read");
    }
}

static bool tunnel_readable(struct io *io)
{
    return has_more(tunnel_of(io)) || io_readable(io->below);
}

/* ---- writing, unchanged to the GET's connection */

static err_t tunnel_writev(struct io *io, struct iovec *iov, int count)
{
    io->below->write_timeout = io->write_timeout;
    io->below->more = io->more;
    return io_writev(io->below, iov, count);
}

static err_t tunnel_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    io->below->more = io->more;
    return io_send_some(io->below, iov, count, n);
}

/* ---- open, move, close */

static void tunnel_close(struct io *io)
{
    struct rtsp_tunnel_io *t = tunnel_of(io);

    remove_tunnel(t);
    remove_post(t, false);
    io_close(io->below);
    free(t->queue);
    free(t);
}

/* The POST follows once it sees the new worker of the tunnel. */
static void tunnel_detach(struct io *io)
{
    struct rtsp_tunnel_io *t = tunnel_of(io);

    set_worker(t, RTSP_TUNNEL_MOVING);
    remove_post(t, false);
}

static err_t tunnel_attach(struct io *io)
{
    set_worker(tunnel_of(io), co_number());
    return NULL;
}

static const struct io_ops tunnel_ops = {
    .name = "tunnel",
    .read = tunnel_read,
    .read_now = tunnel_read_now,
    .writev = tunnel_writev,
    .send_some = tunnel_send_some,
    .readable = tunnel_readable,
    .wait = tunnel_wait,
    .close = tunnel_close,
    .detach = tunnel_detach,
    .attach = tunnel_attach,
};

err_t rtsp_tunnel_open(struct io **out, struct io *down, const char *cookie)
{
    struct rtsp_tunnel_io *t = must(calloc(1, sizeof(*t)));

    t->io = (struct io){ .ops = &tunnel_ops, .below = down, .read_timeout = down->read_timeout,
                         .write_timeout = down->write_timeout, .bytes_in = down->bytes_in,
                         .bytes_out = down->bytes_out };
    t->worker = co_number();
    t->pair_by = co_clock() + RTSP_TUNNEL_TIME;
    (void)snprintf(t->cookie, sizeof(t->cookie), "%s", cookie);
    if (!add_tunnel(t)) {
        free(t);
        return err_new(ERR_DENIED, "a second GET with the cookie of a tunnel");
    }
    *out = &t->io;
    return NULL;
}
