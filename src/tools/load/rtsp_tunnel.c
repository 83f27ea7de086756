/* SPDX-License-Identifier: MIT */
/* rtsp_tunnel.c - RTSP inside of HTTP, a client's side. */
#include "tools/load/rtsp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/must.h"

enum { HEAD_MAX = 1024, SAID_MAX = 256 * 1024 };

struct tunnel {
    struct io io; /* below: the way down */
    struct io *up;
};

static struct tunnel *tunnel_of(struct io *io)
{
    return (struct tunnel *)io;
}

static err_t tunnel_read(struct io *io, void *buf, size_t size, size_t *n)
{
    io->below->read_timeout = io->read_timeout;
    return io_read(io->below, buf, size, n);
}

static err_t tunnel_read_now(struct io *io, void *buf, size_t size, size_t *n)
{
    return io_read_now(io->below, buf, size, n);
}

/* Each piece is padded, as servers must bear. */
static err_t tunnel_writev(struct io *io, struct iovec *iov, int count)
{
    struct tunnel *t = tunnel_of(io);
    struct wr w;
    err_t err;

    wr_init(&w, SAID_MAX);
    for (int i = 0; i < count; i++)
        base64_put(&w, iov[i].iov_base, iov[i].iov_len);
    err = wr_err(&w, "what goes up a tunnel");
    t->up->write_timeout = io->write_timeout;
    if (!err)
        err = io_write(t->up, w.buf, w.len);
    wr_free(&w);
    return err;
}

static bool tunnel_readable(struct io *io)
{
    return io_readable(io->below);
}

static enum co_wake tunnel_wait(struct io *io, bool out, co_usec timeout)
{
    return io_wait(out ? tunnel_of(io)->up : io->below, out, timeout);
}

static void tunnel_close(struct io *io)
{
    io_close(tunnel_of(io)->up);
    io_close(io->below);
    free(io);
}

static const struct io_ops ops = { .name = "tunnel", .read = tunnel_read,
                                   .read_now = tunnel_read_now, .writev = tunnel_writev,
                                   .readable = tunnel_readable, .wait = tunnel_wait,
                                   .close = tunnel_close };

/* Media comes behind the first request, so nothing is behind the answer's head. */
static err_t read_answer(struct io *down)
{
    char head[HEAD_MAX];
    size_t size = 0, n;
    err_t err = NULL;

    while (!err && !memmem(head, size, "\r\n\r\n", 4)) {
        if (size == sizeof(head))
            return err_new(ERR_HTTP, "a head of over %d bytes", HEAD_MAX);
        err = io_read(down, head + size, sizeof(head) - size, &n);
        size += err ? 0 : n;
    }
    if (!err && (size < 12 || memcmp(head, "HTTP/1.", 7) != 0 || memcmp(head + 8, " 200", 4) != 0))
        err = err_new(ERR_HTTP, "%.*s", (int)strcspn(head, "\r"), head);
    return err;
}

static err_t say(struct io *io, const char *method, const char *host, const char *cookie,
                 const char *more)
{
    char text[HEAD_MAX];
    int n = snprintf(text, sizeof(text),
                     "%s / HTTP/1.0\r\nHost: %.200s\r\nx-sessioncookie: %s\r\n%s\r\n", method,
                     host, cookie, more);

    return io_write(io, text, (size_t)n);
}

err_t load_tunnel_open(struct io **io, struct io *up, const char *host)
{
    static const char down_more[] = "Accept: application/x-rtsp-tunnelled\r\n";
    static const char up_more[] = "Content-Type: application/x-rtsp-tunnelled\r\n"
                                  "Content-Length: 32767\r\n";
    struct tunnel *t = must(calloc(1, sizeof(*t)));
    char cookie[24];
    err_t err;

    snprintf(cookie, sizeof(cookie), "%08x%08x", (unsigned)rand(), (unsigned)rand());
    err = say(*io, "GET", host, cookie, down_more);
    if (!err)
        err = read_answer(*io);
    if (!err)
        err = say(up, "POST", host, cookie, up_more);
    t->io = (struct io){ .ops = &ops, .below = *io, .read_timeout = (*io)->read_timeout,
                         .write_timeout = (*io)->write_timeout };
    t->up = up;
    *io = &t->io;
    if (!err)
        return NULL;
    io_close(*io);
    *io = NULL;
    return err_wrap(err, "tunnel");
}
