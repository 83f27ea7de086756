/* SPDX-License-Identifier: MIT */
/* peer.c - fake peers as struct io, in memory. */
#include "peer.h"

static struct script_io *script_of(struct io *io)
{
    return container_of(io, struct script_io, io);
}

static bool script_ready(struct script_io *s)
{
    const struct script_line *l;
    const uint8_t *found;

    if (s->at == s->n)
        return true; /* it has closed */
    l = &s->lines[s->at];
    if (!s->triggered) {
        found = s->out.len == 0 ? NULL : memmem(s->out.buf + s->seen, s->out.len - s->seen,
                                                l->trigger, strlen(l->trigger));
        if (!found && *l->trigger)
            return false;
        if (*l->trigger)
            s->seen = (size_t)(found - s->out.buf) + strlen(l->trigger);
        s->triggered = true;
        if (l->callback)
            l->callback();
    }
    return true;
}

static err_t script_read_now(struct io *io, void *buf, size_t size, size_t *n)
{
    struct script_io *s = script_of(io);
    struct script_line *l = &s->lines[s->at];

    *n = 0;
    if (!script_ready(s))
        return NULL;
    if (s->at == s->n || l->bytes.len == 0) {
        s->at = s->n;
        return err_new(ERR_IO_CLOSED, "end of the script");
    }
    *n = l->bytes.len - s->sent;
    if (*n > size)
        *n = size;
    if (s->piece && *n > s->piece)
        *n = s->piece;
    memcpy(buf, l->bytes.buf + s->sent, *n);
    s->sent += *n;
    if (s->sent == l->bytes.len) {
        s->at++;
        s->sent = 0;
        s->triggered = false;
    }
    return NULL;
}

static bool script_readable(struct io *io)
{
    return script_ready(script_of(io));
}

static enum co_wake script_wait(struct io *io, bool out, co_usec timeout)
{
    struct script_io *s = script_of(io);
    enum co_wake wake;

    if (out || script_ready(s))
        return CO_WOKEN;
    s->waits = co_self();
    wake = co_park(timeout);
    s->waits = NULL;
    return wake;
}

static err_t script_read(struct io *io, void *buf, size_t size, size_t *n)
{
    err_t err = NULL;

    *n = 0;
    while (!err && *n == 0) {
        err = script_read_now(io, buf, size, n);
        if (!err && *n == 0)
            (void)script_wait(io, false, CO_SECONDS(10));
        if (!err)
            err = co_check();
    }
    return err;
}

static err_t script_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    struct script_io *s = script_of(io);

    for (int i = 0; i < count; i++)
        wr_bytes(&s->out, iov[i].iov_base, iov[i].iov_len);
    assert_false(s->out.bad);
    *n = iov_size(iov, count);
    if (s->waits && script_ready(s))
        co_unpark(s->waits);
    return NULL;
}

static err_t script_writev(struct io *io, struct iovec *iov, int count)
{
    size_t n;

    return script_send_some(io, iov, count, &n);
}

static void script_close(struct io *io)
{
    (void)io;
}

static const struct io_ops script_ops = {
    .name = "script", .read = script_read, .read_now = script_read_now, .writev = script_writev,
    .send_some = script_send_some, .readable = script_readable, .wait = script_wait,
    .close = script_close,
};

void script_init(struct script_io *s)
{
    *s = (struct script_io){ .io = { .ops = &script_ops, .read_timeout = CO_SECONDS(10),
                                     .write_timeout = CO_SECONDS(10) } };
    wr_init(&s->out, 1 << 22);
}

struct wr *script_put(struct script_io *s, const char *trigger)
{
    struct script_line *l = &s->lines[s->n++];

    assert_true(s->n <= SCRIPT_LINES);
    l->trigger = trigger;
    wr_init(&l->bytes, 1 << 20);
    return &l->bytes;
}

void script_stay(struct script_io *s)
{
    (void)script_put(s, "a text that never comes");
}

void script_fini(struct script_io *s)
{
    for (unsigned i = 0; i < s->n; i++)
        wr_free(&s->lines[i].bytes);
    wr_free(&s->out);
}

/* ---- silent */

bool silent_readable(struct io *io)
{
    (void)io;
    return false;
}

enum co_wake silent_wait(struct io *io, bool out, co_usec timeout)
{
    (void)io;
    return out ? CO_WOKEN : co_park(timeout);
}

err_t silent_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    (void)io;
    *n = iov_size(iov, count);
    return NULL;
}

const struct io_ops silent_ops = { .name = "silent", .readable = silent_readable,
                                   .wait = silent_wait, .send_some = silent_send_some };

struct io silent_peer(void)
{
    return (struct io){ .ops = &silent_ops, .read_timeout = CO_FOREVER,
                        .write_timeout = CO_FOREVER };
}
