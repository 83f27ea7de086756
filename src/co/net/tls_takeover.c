/* SPDX-License-Identifier: MIT */
/* tls_takeover.c - connections that leave the TLS library after the handshake.
 *
 * OpenSSL keeps 14 KB for each connection, and copies the data that it encrypts. So it does only
 * the handshake (TLS 1.3, server side) and this file does the rest: it gets the traffic secrets
 * through the key log callback and frees the library's state. Any unexpected condition leaves the
 * connection with the library.
 */
#include "co/net/tls_takeover.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

/* Traffic secret of one side, from the handshake. */
struct secret {
    uint8_t v[TLS_SECRET];
    size_t size;      /* 0: not known */
    unsigned records; /* records under this secret, counted by the library */
};

struct tls_secrets {
    struct secret client, server;
};

/* ---- during the handshake */

static bool begins(const char **line, const char *with)
{
    size_t n = strlen(with);

    if (strncmp(*line, with, n) != 0)
        return false;
    *line += n;
    return true;
}

/* Parses "LABEL random secret", the last two as hex digits. A secret is in use from now on. */
static void on_secret(const SSL *ssl, const char *line)
{
    struct tls_core *c = SSL_get_app_data(ssl);
    struct tls_secrets *s = c ? c->secrets : NULL;
    struct secret *to = NULL;

    if (s && begins(&line, "CLIENT_TRAFFIC_SECRET_0 "))
        to = &s->client;
    else if (s && begins(&line, "SERVER_TRAFFIC_SECRET_0 "))
        to = &s->server;
    if (!to)
        return;
    line = strchr(line, ' ');
    to->records = 0;
    if (!line || !OPENSSL_hexstr2buf_ex(to->v, sizeof(to->v), &to->size, line + 1, '\0'))
        to->size = 0;
}

/* Counts records: the library reports the header of each. */
static void on_head(int out, int version, int type, const void *data, size_t size, SSL *ssl,
                    void *core)
{
    struct tls_secrets *s = ((struct tls_core *)core)->secrets;

    (void)version;
    (void)data;
    (void)size;
    (void)ssl;
    if (s && type == SSL3_RT_HEADER)
        (out ? &s->server : &s->client)->records++;
}

void tls_takeover_set_up(SSL_CTX *ctx)
{
    SSL_CTX_set_keylog_callback(ctx, on_secret);
}

void tls_takeover_begin(struct tls_core *c)
{
    c->secrets = must(calloc(1, sizeof(*c->secrets)));
    (void)SSL_set_app_data(c->ssl, c);
    SSL_set_msg_callback(c->ssl, on_head);
    SSL_set_msg_callback_arg(c->ssl, c);
}

void tls_takeover_forget(struct tls_core *c)
{
    if (c->secrets) {
        OPENSSL_cleanse(c->secrets, sizeof(*c->secrets));
        free(c->secrets);
    }
    c->secrets = NULL;
}

/* ---- after the handshake */

/* Returns the number of records in these bytes; -1 if the last is incomplete. */
static int count(const uint8_t *p, size_t at, size_t end)
{
    int n = 0;

    for (; at < end; n++) {
        if (end - at < TLS_HEAD)
            return -1;
        at += TLS_HEAD + ((size_t)p[at + 3] << 8 | p[at + 4]);
    }
    return at == end ? n : -1;
}

static struct tls_records *make(enum tls_suite suite, const struct tls_secrets *s)
{
    struct tls_records *r = must(calloc(1, sizeof(*r)));

    if (tls_key_init(&r->in, suite, s->client.v) && tls_key_init(&r->out, suite, s->server.v)) {
        r->out.seq = s->server.records;
        return r;
    }
    tls_records_free(r);
    return NULL;
}

/* Returns false if the client requested records of 4 KB or less (RFC 6066). */
static bool any_length(SSL *ssl)
{
    unsigned mode = SSL_SESSION_get_max_fragment_length(SSL_get_session(ssl));

    return mode < TLSEXT_max_fragment_length_512 || mode > TLSEXT_max_fragment_length_4096;
}

/* The last step may have written tickets, and they are the first records of the new key. The
 * library's count is compared with its output, because no two records may have the same number. */
void tls_takeover_finish(struct tls_core *c, size_t from)
{
    const struct tls_secrets *s = c->secrets;
    const SSL_CIPHER *cipher = SSL_get_current_cipher(c->ssl);
    enum tls_suite suite = cipher ? tls_suite_of(SSL_CIPHER_get_protocol_id(cipher)) : TLS_SUITES;

    if (s && SSL_version(c->ssl) == TLS1_3_VERSION && suite < TLS_SUITES &&
        s->client.size == tls_suite_secret(suite) && s->server.size == tls_suite_secret(suite) &&
        s->client.records == 0 && !SSL_has_pending(c->ssl) && any_length(c->ssl) &&
        count(c->out, from, c->out_end) == (int)s->server.records)
        c->records = make(suite, s);
    tls_takeover_forget(c);
    if (!c->records)
        return;
    /* so its session can be resumed */
    SSL_set_shutdown(c->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(c->ssl);
    c->ssl = NULL;
    c->certs = tls_certs_unref(c->certs);
}

/* ---- reading */

static err_t fetch(struct tls_core *c, size_t *n)
{
    size_t size, left = c->in_end - c->in_at;
    uint8_t *room;
    err_t err;

    *n = 0;
    if (c->in && c->in_at > 0)
        memmove(c->in, c->in + c->in_at, left);
    c->in_at = 0;
    c->in_end = left;
    room = tls_core_room(c, &size);
    if (!room)
        return err_new(ERR_NO_MEMORY, "%d bytes of TLS", TLS_IN);
    err = io_read_now(c->below, room, size, n);
    c->in_end += *n;
    return err;
}

static size_t take_plain(struct tls_core *c, void *buf, size_t size)
{
    size_t n = c->plain_size < size ? c->plain_size : size;

    if (n > 0) {
        memcpy(buf, c->plain, n);
        c->plain += n;
        c->plain_size -= n;
    }
    return n;
}

static err_t add_update(struct tls_core *c)
{
    uint8_t *room = tls_core_out_room(c, TLS_UPDATE);
    size_t n = room ? tls_records_update(c->records, room) : 0;

    c->out_end += n;
    return n > 0 ? NULL : err_new(ERR_TLS, "an answer cannot be encrypted");
}

static void add_alert(struct tls_core *c, uint8_t alert)
{
    uint8_t *room = tls_core_out_room(c, TLS_ALERT);

    if (room)
        c->out_end += tls_records_alert(c->records, alert, room);
}

/* Reads the next record if it is complete; *more: there may be others. */
static err_t next(struct tls_core *c, bool *more)
{
    struct tls_got got = tls_records_read(c->records, c->in ? c->in + c->in_at : NULL,
                                          c->in_end - c->in_at);
    size_t n = 1;
    err_t err = NULL;

    c->in_at += got.taken;
    switch (got.kind) {
    case TLS_PARTIAL:
        err = fetch(c, &n);
        break;
    case TLS_ASKS:
        err = add_update(c);
        break;
    case TLS_ENDED:
        return err_new(ERR_IO_CLOSED, "close_notify");
    case TLS_REFUSED:
        return err_new(ERR_TLS, "the peer: %s", SSL_alert_desc_string_long(got.alert));
    case TLS_BAD:
        add_alert(c, got.alert);
        return err_new(ERR_TLS, "%s", SSL_alert_desc_string_long(got.alert));
    default:
        c->plain = got.data;
        c->plain_size = got.size;
    }
    *more = n > 0;
    return err;
}

err_t tls_own_read(struct tls_core *c, void *buf, size_t size, size_t *n)
{
    bool more = true;
    err_t err = NULL;

    while (!err && more && c->plain_size == 0)
        err = next(c, &more);
    *n = err ? 0 : take_plain(c, buf, size);
    if (c->plain_size == 0 && c->in_at == c->in_end) {
        free(c->in); /* connections are idle most of the time */
        c->in = NULL;
        c->in_at = c->in_end = 0;
    }
    return err ? err_wrap(err, "TLS read") : NULL;
}

bool tls_own_buffered(const struct tls_core *c)
{
    return c->plain_size > 0 ||
           (c->in && tls_records_whole(c->in + c->in_at, c->in_end - c->in_at));
}

/* ---- writing */

err_t tls_own_write(struct tls_core *c, struct tls_from *from, size_t most)
{
    while (most > 0) {
        size_t size = most < TLS_CONTENT ? most : TLS_CONTENT, n;
        uint8_t *room = tls_core_out_room(c, size + TLS_UPDATE + TLS_MORE);

        if (!room)
            return err_new(ERR_NO_MEMORY, "records");
        n = tls_records_data(c->records, from, size, room);
        if (n == 0)
            return err_new(ERR_TLS, "write: after an alert, or it cannot be encrypted");
        c->out_end += n;
        most -= size;
    }
    return NULL;
}

void tls_own_shutdown(struct tls_core *c)
{
    add_alert(c, TLS_CLOSE_NOTIFY);
}
