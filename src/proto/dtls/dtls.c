/* SPDX-License-Identifier: MIT */
/* dtls.c - one connection: its handshake, the SRTP keys from it, and its end.
 *
 * OpenSSL times the flights with the system clock and accepts no other. The remaining time that it
 * reports is added to the caller's clock.
 */
#include "proto/dtls/own.h"

#include "base/must.h"
#include "co/net/tls_peer.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <string.h>
#include <sys/time.h>

enum { FIRST_US = 50000, LEAST_US = 1000, GCM_SALT = 12 };
#define EXPORTER "EXTRACTOR-dtls_srtp" /* RFC 5764, 4.2 */

struct dtls {
    SSL *ssl;             /* NULL after the handshake, unless `after` does not support the cipher */
    struct dtls_identity *id;
    bool client, matched; /* matched: the peer's certificate is the expected one */
    enum dtls_state state;
    struct dtls_fingerprint peer;
    struct dtls_datagrams io;
    struct dtls_guard guard;
    struct dtls_established after;
    struct srtp_keys of_client, of_server; /* set when the handshake is done; SRTP_NONE: none */
    const char *cipher;
    co_usec deadline;
    char why[DTLS_WHY_MAX];
};

/* Retransmission timeout: 50 ms, doubled each time; each flight starts again. */
static unsigned on_timer(SSL *ssl, unsigned us)
{
    (void)ssl;
    return us == 0 ? FIRST_US : 2 * us;
}

bool dtls_is_peer(SSL *ssl, const X509 *certificate)
{
    struct dtls *d = SSL_get_app_data(ssl);
    char why[TLS_PEER_WHY];

    if (certificate && !tls_peer_key_is_fine(certificate, why)) {
        (void)snprintf(d->why, sizeof(d->why), "the peer's certificate has %s", why);
        return false;
    }
    d->matched = certificate && dtls_fingerprint_is(&d->peer, certificate);
    if (!d->matched)
        (void)snprintf(d->why, sizeof(d->why),
                       "the peer's certificate does not match its description");
    return d->matched;
}

err_t dtls_new(struct dtls **out, struct dtls_identity *id, const struct dtls_opts *opts)
{
    SSL *ssl = SSL_new(dtls_identity_context(id));
    BIO *bio = ssl ? BIO_new(dtls_identity_bio(id)) : NULL;
    struct dtls *d;

    if (!bio) {
        SSL_free(ssl);
        return err_new(ERR_NO_MEMORY, "DTLS connection");
    }
    d = must(calloc(1, sizeof(*d)));
    *d = (struct dtls){ .ssl = ssl, .id = dtls_identity_ref(id), .client = opts->client,
                        .peer = opts->peer, .cipher = "", .deadline = CO_FOREVER };
    BIO_set_data(bio, &d->io);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    (void)SSL_set_app_data(ssl, d);
    DTLS_set_timer_cb(ssl, on_timer);
    (void)DTLS_set_link_mtu(ssl, DTLS_MTU);
    if (opts->client)
        SSL_set_connect_state(ssl);
    else
        SSL_set_accept_state(ssl);
    *out = d;
    return NULL;
}

void dtls_free(struct dtls *d)
{
    if (!d)
        return;
    SSL_free(d->ssl);
    dtls_established_fini(&d->after);
    srtp_keys_wipe(&d->of_client);
    srtp_keys_wipe(&d->of_server);
    dtls_identity_unref(d->id);
    dtls_datagrams_fini(&d->io);
    free(d);
}

enum dtls_state dtls_state(const struct dtls *d)
{
    return d->state;
}

const char *dtls_why(const struct dtls *d)
{
    return d->state == DTLS_FAILED ? d->why : "";
}

co_usec dtls_deadline(const struct dtls *d)
{
    return d->deadline;
}

const char *dtls_cipher(const struct dtls *d)
{
    return d->cipher;
}

/* ---- keys */

static void take(struct srtp_keys *k, enum srtp_profile profile, const uint8_t *key,
                 const uint8_t *salt, size_t salt_size)
{
    *k = (struct srtp_keys){ .profile = profile };
    memcpy(k->key, key, SRTP_KEY);
    memcpy(k->salt, salt, salt_size);
}

/* RFC 5764, 4.2: client key, server key, client salt, server salt. */
static void take_keys(struct dtls *d)
{
    SRTP_PROTECTION_PROFILE *p = SSL_get_selected_srtp_profile(d->ssl);
    enum srtp_profile profile = p ? (enum srtp_profile)p->id : SRTP_NONE;
    size_t salt = profile == SRTP_AEAD_AES_128_GCM ? GCM_SALT : SRTP_SALT;
    uint8_t out[2 * (SRTP_KEY + SRTP_SALT)], *salts = out + 2 * SRTP_KEY;

    if (p && SSL_export_keying_material(d->ssl, out, 2 * (SRTP_KEY + salt), EXPORTER,
                                        strlen(EXPORTER), NULL, 0, 0) == 1) {
        take(&d->of_client, profile, out, salts, salt);
        take(&d->of_server, profile, out + SRTP_KEY, salts + salt, salt);
    }
    OPENSSL_cleanse(out, sizeof(out));
}

bool dtls_keys(struct dtls *d, struct srtp_keys *send, struct srtp_keys *receive)
{
    if (d->state != DTLS_DONE || d->of_client.profile == SRTP_NONE)
        return false;
    *send = d->client ? d->of_client : d->of_server;
    *receive = d->client ? d->of_server : d->of_client;
    return true;
}

/* ---- running OpenSSL */

static void fail(struct dtls *d)
{
    unsigned long e = ERR_peek_error();
    const char *reason = e ? ERR_reason_error_string(e) : NULL;

    d->state = DTLS_FAILED;
    if (!d->why[0])
        (void)snprintf(d->why, sizeof(d->why), "%s", reason ? reason : "the handshake failed");
    ERR_clear_error();
}

static bool needs_io(const struct dtls *d, int got)
{
    int e = SSL_get_error(d->ssl, got);

    return e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE;
}

static void run_handshake(struct dtls *d)
{
    size_t sent = d->io.out_end; /* position of its last flight, if it is sent now */
    int got = SSL_do_handshake(d->ssl);

    if (got != 1) {
        if (!needs_io(d, got))
            fail(d);
        return;
    }
    assert(d->matched);
    d->state = DTLS_DONE;
    d->cipher = SSL_get_cipher(d->ssl);
    take_keys(d);
    if (!dtls_established_begin(&d->after, d->ssl, d->io.out + sent, d->io.out_end - sent))
        return;
    SSL_free(d->ssl);
    d->ssl = NULL;
}

/* After the handshake: repeats the last flight if the peer does, and handles close_notify. Ignores
 * data. */
static void read_rest(struct dtls *d)
{
    uint8_t none[256];
    int got;

    do {
        got = SSL_read(d->ssl, none, sizeof(none));
    } while (got > 0);
    if (SSL_get_shutdown(d->ssl) & SSL_RECEIVED_SHUTDOWN) {
        (void)SSL_shutdown(d->ssl); /* ours in response to the peer's */
        d->state = DTLS_CLOSED;
    } else if (!needs_io(d, got)) {
        fail(d);
    }
}

/* Runs OpenSSL on the available input. */
static void run(struct dtls *d, co_usec now)
{
    struct timeval left;

    ERR_clear_error();
    if (d->state == DTLS_SHAKES)
        run_handshake(d);
    if (d->state == DTLS_DONE && d->ssl) {
        (void)SSL_alloc_buffers(d->ssl);
        read_rest(d);
        (void)SSL_free_buffers(d->ssl); /* 17 KB that an idle connection does not need */
    }
    ERR_clear_error();
    d->deadline = CO_FOREVER;
    if (d->state == DTLS_SHAKES && DTLSv1_get_timeout(d->ssl, &left) == 1) {
        co_usec us = CO_SECONDS(left.tv_sec) + left.tv_usec;

        d->deadline = now + (us > LEAST_US ? us : LEAST_US);
    }
}

/* ---- input and timer */

void dtls_start(struct dtls *d, co_usec now)
{
    if (!d->client || d->state != DTLS_WAITS)
        return;
    d->state = DTLS_SHAKES;
    run(d, now);
}

static void input_after(struct dtls *d, const uint8_t *data, size_t size)
{
    switch (dtls_established_input(&d->after, &d->io, data, size)) {
    case DTLS_EVENT_NONE:
        break;
    case DTLS_EVENT_CLOSE:
        dtls_close(d);
        break;
    case DTLS_EVENT_FATAL:
        (void)snprintf(d->why, sizeof(d->why), "the peer sent a fatal alert");
        d->state = DTLS_FAILED;
        break;
    }
}

void dtls_input(struct dtls *d, const uint8_t *data, size_t size, co_usec now)
{
    if (d->state == DTLS_WAITS && d->client)
        return;
    if (d->state > DTLS_DONE ||
        !dtls_guard_lets(&d->guard, data, size, d->state == DTLS_DONE, now))
        return;
    if (!d->ssl) {
        input_after(d, data, size);
        return;
    }
    if (d->state == DTLS_WAITS)
        d->state = DTLS_SHAKES;
    d->io.in = data;
    d->io.in_size = size;
    run(d, now);
    d->io.in = NULL;
    d->io.in_size = 0;
}

void dtls_tick(struct dtls *d, co_usec now)
{
    if (d->deadline == CO_FOREVER || now < d->deadline || d->state != DTLS_SHAKES)
        return;
    ERR_clear_error();
    if (DTLSv1_handle_timeout(d->ssl) < 0) {
        (void)snprintf(d->why, sizeof(d->why), "no response to the last flight");
        fail(d);
    }
    run(d, now);
}

bool dtls_output(struct dtls *d, const uint8_t **data, size_t *size)
{
    return dtls_datagrams_next(&d->io, data, size);
}

void dtls_close(struct dtls *d)
{
    if (d->state == DTLS_DONE && !d->ssl) {
        dtls_established_close(&d->after, &d->io);
    } else if (d->state == DTLS_DONE) {
        ERR_clear_error();
        (void)SSL_alloc_buffers(d->ssl);
        (void)SSL_shutdown(d->ssl);
        ERR_clear_error();
    }
    if (d->state != DTLS_FAILED)
        d->state = DTLS_CLOSED;
    d->deadline = CO_FOREVER;
}
