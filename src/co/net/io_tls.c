/* SPDX-License-Identifier: MIT */
/* io_tls.c - struct io over TLS. */
#include "co/net/io_tls.h"

#include "base/iov.h"
#include "base/must.h"
#include "base/thread_own.h"
#include "co/net/tls_core.h"
#include "co/net/tls_handshake.h"
#include "co/net/tls_takeover.h"

#include <assert.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

/* BATCH bytes are encrypted before they are sent: a merged write of a player becomes one write
 * below. */
enum { BATCH = 64 * 1024, SMALL = 16 * 1024, MOST_OWED = 3 * BATCH };
enum { A_CALL = 4 * BATCH }; /* limit of one send_some() */

struct io_tls {
    struct io io;
    struct io *below;
    struct tls_core *core;
    const struct co *deep; /* coroutine on whose stack the library ran since the last trim */
    bool owed; /* one encrypted byte was not reported as sent yet: see send_some */
};

static const struct io_ops tls_ops;

/* Buffer in which small pieces become one record; no yield while it is in use. */
static _Thread_local uint8_t *small;

static struct io_tls *tls_of(struct io *io)
{
    assert(io->ops == &tls_ops);
    return (struct io_tls *)io;
}

/* ---- output to the pipe below */

static size_t pending(const struct tls_core *c)
{
    return c->out_end - c->out_at;
}

/* Sends as much as possible without waiting. */
static err_t flush_some(struct io_tls *t)
{
    struct tls_core *c = t->core;
    struct iovec iov = { c->out + c->out_at, pending(c) };
    size_t n = 0;
    err_t err;

    if (iov.iov_len == 0)
        return NULL;
    err = io_send_some(t->below, &iov, 1, &n);
    tls_core_sent(c, n);
    return err;
}

static err_t flush_all(struct io_tls *t)
{
    struct tls_core *c = t->core;
    err_t err;

    if (pending(c) == 0)
        return NULL;
    t->below->write_timeout = t->io.write_timeout;
    err = io_write(t->below, c->out + c->out_at, pending(c));
    tls_core_sent(c, pending(c));
    return err;
}

/* ---- errors */

static err_t failed(struct tls_core *c, int rc, const char *what)
{
    err_t err = c->err;

    if (SSL_get_error(c->ssl, rc) == SSL_ERROR_ZERO_RETURN) {
        ERR_clear_error();
        return err_new(ERR_IO_CLOSED, "%s", what);
    }
    c->err = NULL;
    if (err) {
        ERR_clear_error();
        return err_wrap(err, "TLS %s", what);
    }
    tls_core_why(c, rc);
    return err_new(ERR_TLS, "%s: %s", what, c->text);
}

/* ---- reading */

static err_t decrypt(struct tls_core *c, void *buf, size_t size, size_t *n)
{
    int rc;

    if (c->records)
        return tls_own_read(c, buf, size, n);
    ERR_clear_error();
    rc = SSL_read_ex(c->ssl, buf, size, n);
    if (*n > 0)
        c->talk = 0;
    if (rc != 1 && SSL_get_error(c->ssl, rc) != SSL_ERROR_WANT_READ)
        return failed(c, rc, "read");
    return NULL;
}

static err_t tls_read_now(struct io *io, void *buf, size_t size, size_t *n)
{
    struct io_tls *t = tls_of(io);
    err_t err, unsent = NULL;

    *n = 0;
    t->deep = co_self();
    t->core->below = t->below;
    err = decrypt(t->core, buf, size, n);
    t->core->below = NULL;
    if (pending(t->core) > 0) /* a protocol answer, or an alert with the reason */
        unsent = flush_some(t);
    if (err)
        err_free(&unsent);
    else
        err = unsent;
    if (!err && pending(t->core) > MOST_OWED)
        err = err_new(ERR_TLS, "the peer asks, and does not take the answers");
    return err;
}

static bool buffered(const struct io_tls *t)
{
    if (t->core->records)
        return tls_own_buffered(t->core);
    return SSL_pending(t->core->ssl) > 0 || t->core->in_at < t->core->in_end;
}

static bool tls_readable(struct io *io)
{
    struct io_tls *t = tls_of(io);

    return buffered(t) || io_readable(t->below);
}

static enum co_wake tls_wait(struct io *io, bool out, co_usec timeout)
{
    struct io_tls *t = tls_of(io);

    if (!out && buffered(t))
        return CO_WOKEN;
    if (timeout == CO_FOREVER && t->deep == co_self()) {
        t->deep = NULL;
        co_stack_trim(); /* encryption uses some KB of stack */
    }
    return io_wait(t->below, out, timeout);
}

static err_t wait_input(struct io_tls *t)
{
    switch (io_wait(t->below, false, t->io.read_timeout)) {
    case CO_TIMEOUT:
        return err_new(ERR_IO_TIMEOUT, "TLS read waited %lld ms",
                       (long long)t->io.read_timeout / 1000);
    case CO_STOPPED:
        return err_wrap(co_stop_why(), "in TLS read");
    case CO_WOKEN:
        break;
    }
    return NULL;
}

static err_t tls_read(struct io *io, void *buf, size_t size, size_t *n)
{
    struct io_tls *t = tls_of(io);

    for (;;) {
        err_t err = tls_read_now(io, buf, size, n);

        if (err || *n > 0)
            return err;
        err = wait_input(t);
        if (err)
            return err;
    }
}

/* ---- writing */

static err_t encrypt(struct io_tls *t, const void *data, size_t size)
{
    size_t n;
    int rc;

    if (size == 0)
        return NULL;
    ERR_clear_error();
    rc = SSL_write_ex(t->core->ssl, data, size, &n);
    return rc == 1 ? NULL : failed(t->core, rc, "write");
}

/* Encrypts bytes [skip, skip + most) of the pieces; *n is the number of bytes. Small pieces become
 * one record. */
static err_t encrypt_by_library(struct io_tls *t, const struct iovec *iov, int count, size_t skip,
                                size_t most, size_t *n)
{
    size_t used = 0;
    err_t err = NULL;

    *n = 0;
    for (int i = 0; i < count && !err && *n < most; i++) {
        const uint8_t *p = iov[i].iov_base;
        size_t size = iov[i].iov_len, from = skip < size ? skip : size;

        skip -= from;
        p += from;
        size -= from;
        if (size > most - *n)
            size = most - *n;
        *n += size;
        if (size <= SMALL - used && (used > 0 || (size < SMALL / 4 && i + 1 < count))) {
            if (!small)
                small = thread_own(SMALL, NULL);
            if (size)
                memcpy(small + used, p, size);
            used += size;
            continue;
        }
        err = encrypt(t, small, used);
        used = 0;
        if (!err)
            err = encrypt(t, p, size);
    }
    if (!err)
        err = encrypt(t, small, used);
    return err;
}

static err_t encrypt_pieces(struct io_tls *t, const struct iovec *iov, int count, size_t skip,
                            size_t most, size_t *n)
{
    struct tls_from from = { iov, count, skip };
    size_t total = iov_size(iov, count);

    if (!t->core->records)
        return encrypt_by_library(t, iov, count, skip, most, n);
    *n = total > skip ? total - skip : 0;
    if (*n > most)
        *n = most;
    return tls_own_write(t->core, &from, *n);
}

/* Encrypts the data after `done` bytes and sends what goes without waiting; *n as above. The rest
 * moves to the connection's own memory. */
static err_t send_batch(struct io_tls *t, const struct iovec *iov, int count, size_t done,
                        size_t *n)
{
    err_t err;

    t->deep = co_self(); /* most turns of players run on the ticker */
    tls_core_share_out(t->core);
    err = encrypt_pieces(t, iov, count, done, BATCH, n);
    if (!err)
        err = flush_some(t);
    if (!tls_core_own_out(t->core) && !err)
        err = err_new(ERR_NO_MEMORY, "records that wait to be sent");
    return err;
}

static err_t tls_writev(struct io *io, struct iovec *iov, int count)
{
    struct io_tls *t = tls_of(io);
    size_t done = t->owed, n;
    err_t err;

    t->owed = false;
    do {
        err = send_batch(t, iov, count, done, &n);
        done += n;
        if (!err)
            err = flush_all(t);
        co_yield_if_due();
    } while (!err && n == BATCH);
    return err;
}

/* Encrypted data must be sent, but the caller counts plain bytes. So while the end of a batch is
 * still unsent, one plain byte is left out of the count: the caller waits until the peer takes more
 * and passes that byte again, which then is only counted. */
static err_t tls_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    struct io_tls *t = tls_of(io);
    size_t done = 0, batch;
    err_t err = flush_some(t);

    *n = 0;
    if (err || pending(t->core) > 0)
        return err;
    if (t->owed)
        done = 1;
    t->owed = false;
    do {
        err = send_batch(t, iov, count, done, &batch);
        done += batch;
    } while (!err && batch == BATCH && pending(t->core) == 0 && done < A_CALL);
    if (!err && pending(t->core) > 0 && done > 0) {
        t->owed = true;
        done--;
    }
    *n = done;
    return err;
}

/* ---- life */

static bool send_close_notify(struct tls_core *c)
{
    bool done;

    if (c->records) {
        tls_own_shutdown(c);
        return true;
    }
    ERR_clear_error();
    done = SSL_shutdown(c->ssl) >= 0;
    ERR_clear_error();
    return done;
}

static void tls_close(struct io *io)
{
    struct io_tls *t = tls_of(io);
    err_t err = NULL;

    if (pending(t->core) == 0 && send_close_notify(t->core))
        err = flush_some(t); /* a peer that does not read it still sees the close */
    err_free(&err);
    tls_core_free(t->core);
    io_close(t->below);
    free(t);
}

/* Drops the state that is kept per thread: the coroutine whose stack was used, and the expanded
 * keys. The rest is memory of the connection. */
static void tls_detach(struct io *io)
{
    struct io_tls *t = tls_of(io);

    assert(!t->core->out_shared && !t->core->below && !t->core->err);
    t->deep = NULL;
    if (t->core->records)
        tls_records_leave(t->core->records);
}

static const struct io_ops tls_ops = {
    .name = "tls",
    .read = tls_read,
    .read_now = tls_read_now,
    .writev = tls_writev,
    .send_some = tls_send_some,
    .readable = tls_readable,
    .wait = tls_wait,
    .close = tls_close,
    .detach = tls_detach,
};

/* Takes over a core whose handshake is done. */
static struct io *open_over(struct io *below, struct tls_core *core)
{
    struct io_tls *t = must(calloc(1, sizeof(*t)));

    t->io = (struct io){ .ops = &tls_ops, .below = below, .read_timeout = below->read_timeout,
                         .write_timeout = below->write_timeout };
    t->below = below;
    t->core = core;
    tls_core_watch(core);
    return &t->io;
}

static err_t shake(struct io **io, struct tls_core *core, bool slow, co_usec timeout)
{
    co_usec in = (*io)->read_timeout, out = (*io)->write_timeout;
    err_t err = tls_handshake(*io, &core, slow, timeout);

    (*io)->read_timeout = in;
    (*io)->write_timeout = out;
    if (!err)
        *io = open_over(*io, core);
    else if (core)
        tls_core_free(core);
    return err;
}

err_t io_tls_accept(struct io **io, struct io_tls_server *s, co_usec timeout)
{
    struct tls_certs *certs = tls_server_certs(s);
    struct tls_core *core = tls_core_new(tls_certs_first(certs), certs, true);
    bool slow = tls_certs_slow(certs);

    (void)tls_certs_unref(certs);
    return shake(io, core, slow, timeout);
}

err_t io_tls_connect(struct io **io, const char *host, const struct io_tls_trust *trust,
                     co_usec timeout)
{
    struct tls_core *core;
    SSL_CTX *ctx;
    bool name = strspn(host, "0123456789.") < strlen(host) && !strchr(host, ':');
    err_t err = tls_client_get(&ctx, trust->any, trust->ca);

    if (err)
        return err;
    core = tls_core_new(ctx, NULL, false);
    SSL_CTX_free(ctx);
    if (name)
        (void)SSL_set_tlsext_host_name(core->ssl, host);
    if (!trust->any && name)
        (void)SSL_set1_host(core->ssl, host);
    else if (!trust->any)
        (void)X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(core->ssl), host);
    return shake(io, core, true, timeout);
}

const char *io_tls_version(const struct io *io)
{
    const struct tls_core *c = ((const struct io_tls *)io)->core;

    return c->ssl ? SSL_get_version(c->ssl) : "TLSv1.3"; /* our own records are always TLS 1.3 */
}
