/* SPDX-License-Identifier: MIT */
/* test_tls_take.c - connections that leave the library after the handshake, against its clients. */
#include "co/net/tls_takeover.h"
#include "io_mem.h"
#include "unit.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

static SSL_CTX *server_context;

static int set_up(void **state)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();

    (void)state;
    (void)X509_gmtime_adj(X509_getm_notBefore(cert), -1000);
    (void)X509_gmtime_adj(X509_getm_notAfter(cert), 100000);
    (void)X509_set_pubkey(cert, key);
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    server_context = SSL_CTX_new(TLS_server_method());
    assert_non_null(server_context);
    assert_int_equal(SSL_CTX_use_certificate(server_context, cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(server_context, key), 1);
    tls_takeover_set_up(server_context);
    X509_free(cert);
    EVP_PKEY_free(key);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    SSL_CTX_free(server_context);
    return 0;
}

/* Both ends; their output is in memory. */
struct pair {
    SSL_CTX *context;
    SSL *client;
    struct tls_core *server;
    struct io_mem below;
};

/* Passes the server's output to the client. */
static void to_client(struct pair *p)
{
    struct tls_core *c = p->server;

    if (c->out_end > c->out_at)
        (void)BIO_write(SSL_get_rbio(p->client), c->out + c->out_at, (int)(c->out_end - c->out_at));
    tls_core_sent(c, c->out_end - c->out_at);
}

/* Passes the client's output, at most this much, to the server; false: there was none. */
static bool to_server(struct pair *p, size_t most)
{
    size_t size, n = 0;
    uint8_t *room = tls_core_room(p->server, &size);

    assert_non_null(room);
    if (size > most)
        size = most;
    if (size == 0 || BIO_read_ex(SSL_get_wbio(p->client), room, size, &n) != 1)
        return false;
    p->server->in_end += n;
    return true;
}

static void begin(struct pair *p, const char *suite, SSL_SESSION *again)
{
    p->context = SSL_CTX_new(TLS_client_method());
    if (suite)
        assert_int_equal(SSL_CTX_set_ciphersuites(p->context, suite), 1);
    p->client = SSL_new(p->context);
    SSL_set_bio(p->client, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(p->client);
    if (again)
        assert_int_equal(SSL_set_session(p->client, again), 1);
    p->server = tls_core_new(server_context, NULL, true);
    io_mem_init(&p->below, NULL, 0);
    p->server->below = &p->below.io;
}

/* Until the server has finished; the client's last step may come with `early`. */
static void shake(struct pair *p, const char *early)
{
    p->server->step = TLS_WANTS_INPUT;
    for (int i = 0; i < 10 && p->server->step != TLS_DONE; i++) {
        p->server->below = NULL;
        if (SSL_do_handshake(p->client) == 1 && early) {
            assert_int_equal(SSL_write(p->client, early, (int)strlen(early)), strlen(early));
            early = NULL;
        }
        (void)to_server(p, TLS_IN);
        tls_core_shake(p->server);
        to_client(p);
    }
    assert_int_equal(p->server->step, TLS_DONE);
    p->server->below = &p->below.io;
}

static void end(struct pair *p)
{
    (void)SSL_shutdown(p->client); /* or its session could not be resumed */
    SSL_free(p->client);
    SSL_CTX_free(p->context);
    tls_core_free(p->server);
}

/* The server reads this, in pieces of this size. */
static void server_reads(struct pair *p, const void *data, size_t size, size_t piece)
{
    uint8_t *got = malloc(size + 1);
    size_t at = 0, n;

    assert_non_null(got);
    while (at < size) {
        assert_true(to_server(p, piece));
        while (at < size && tls_own_buffered(p->server)) {
            assert_ok(tls_own_read(p->server, got + at, size - at < 700 ? size - at : 700, &n));
            at += n;
        }
    }
    assert_memory_equal(got, data, size);
    free(got);
}

static void server_writes(struct pair *p, const void *data, size_t size)
{
    const struct iovec iov[2] = { { (void *)(uintptr_t)data, size / 3 },
                                  { (char *)(uintptr_t)data + size / 3, size - size / 3 } };
    struct tls_from from = { iov, 2, 0 };
    uint8_t *got = malloc(size + 1);
    size_t at = 0, n;

    assert_non_null(got);
    assert_ok(tls_own_write(p->server, &from, size));
    to_client(p);
    while (at < size) {
        assert_int_equal(SSL_read_ex(p->client, got + at, size - at, &n), 1);
        at += n;
    }
    assert_memory_equal(got, data, size);
    free(got);
}

static const uint8_t *much(void)
{
    static uint8_t data[50000];

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 31 + (i >> 8));
    return data;
}

static void converse(struct pair *p)
{
    static const size_t sizes[] = { 1, 100, 16384, 16385, 50000 };

    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t first = sizes[i] < 16384 ? sizes[i] : 16384;

        server_writes(p, much(), sizes[i]);
        assert_int_equal(SSL_write(p->client, much(), (int)first), first);
        server_reads(p, much(), first, i % 2 ? 333 : TLS_IN);
    }
}

static void taken(void **state)
{
    static const char *const suites[] = { "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                                          "TLS_CHACHA20_POLY1305_SHA256" };

    (void)state;
    for (size_t i = 0; i < COUNT(suites); i++) {
        for (size_t tickets = 0; tickets < 4; tickets++) {
            SSL_SESSION *session = NULL;

            assert_int_equal(SSL_CTX_set_num_tickets(server_context, tickets), 1);
            for (int again = 0; again < 2; again++) {
                struct pair p;

                begin(&p, suites[i], session);
                shake(&p, NULL);
                assert_non_null(p.server->records);
                assert_null(p.server->ssl);
                assert_null(p.server->secrets);
                if (!again || tickets == 0)
                    assert_int_equal(p.server->records->out.seq, tickets);
                converse(&p);
                assert_int_equal(SSL_session_reused(p.client), again && tickets > 0);
                SSL_SESSION_free(session);
                session = SSL_get1_session(p.client);
                end(&p);
            }
            SSL_SESSION_free(session);
        }
    }
}

/* Data in one piece with the end of the handshake is not lost. */
static void early_words(void **state)
{
    char got[6] = "";
    struct pair p;
    size_t n;

    (void)state;
    begin(&p, NULL, NULL);
    shake(&p, "hello");
    assert_non_null(p.server->records);
    assert_true(tls_own_buffered(p.server));
    assert_ok(tls_own_read(p.server, got, 5, &n));
    assert_string_equal(got, "hello");
    assert_false(tls_own_buffered(p.server));
    assert_null(p.server->in);
    converse(&p);
    end(&p);
}

static void keys_of_the_client(void **state)
{
    struct pair p;

    (void)state;
    begin(&p, NULL, NULL);
    shake(&p, NULL);
    for (int i = 0; i < 20; i++) {
        int how = i % 2 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED;

        assert_int_equal(SSL_key_update(p.client, how), 1);
        assert_int_equal(SSL_do_handshake(p.client), 1);
        assert_int_equal(SSL_write(p.client, "hello", 5), 5);
        server_reads(&p, "hello", 5, TLS_IN);
        assert_int_equal(p.server->out_end - p.server->out_at, i % 2 ? TLS_UPDATE : 0);
        to_client(&p);
        server_writes(&p, much(), 20000);
    }
    end(&p);
}

/* The library's client accepts unrequested tickets of ours. */
static void keys_of_the_server(void **state)
{
    struct pair p;

    (void)state;
    begin(&p, NULL, NULL);
    shake(&p, NULL);
    for (int i = 0; i < 3; i++) {
        uint8_t *room;

        server_writes(&p, much(), 20000);
        room = tls_core_out_room(p.server, TLS_UPDATE);
        assert_non_null(room);
        p.server->out_end += tls_records_update(p.server->records, room);
        server_writes(&p, much(), 40000);
    }
    end(&p);
}

static void good_bye(void **state)
{
    struct pair p;
    char c;
    size_t n;

    (void)state;
    begin(&p, NULL, NULL);
    shake(&p, NULL);
    tls_own_shutdown(p.server);
    to_client(&p);
    assert_int_equal(SSL_read(p.client, &c, 1), 0);
    assert_int_equal(SSL_get_error(p.client, 0), SSL_ERROR_ZERO_RETURN);
    assert_true(SSL_shutdown(p.client) >= 0);
    assert_true(to_server(&p, TLS_IN));
    for (int i = 0; i < 2; i++)
        assert_err(tls_own_read(p.server, &c, 1, &n), ERR_IO_CLOSED);
    end(&p);
}

/* The client gets the reason. */
static void garbage(void **state)
{
    struct pair p;
    char c;
    size_t n;

    (void)state;
    begin(&p, NULL, NULL);
    shake(&p, NULL);
    assert_int_equal(SSL_write(p.client, "hello", 5), 5);
    assert_true(to_server(&p, TLS_IN));
    p.server->in[7] ^= 1;
    assert_err(tls_own_read(p.server, &c, 1, &n), ERR_TLS);
    to_client(&p);
    ERR_clear_error();
    assert_true(SSL_read(p.client, &c, 1) <= 0);
    assert_int_equal(ERR_GET_REASON(ERR_peek_error()), SSL_R_SSLV3_ALERT_BAD_RECORD_MAC);
    end(&p);
}

/* These stay with the library. */
static void not_taken(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct pair p;

        begin(&p, NULL, NULL);
        if (i == 0)
            assert_int_equal(SSL_set_max_proto_version(p.client, TLS1_2_VERSION), 1);
        if (i == 1)
            assert_int_equal(SSL_set_tlsext_max_fragment_length(
                                 p.client, TLSEXT_max_fragment_length_1024), 1);
        if (i == 2)
            tls_takeover_forget(p.server);
        shake(&p, NULL);
        assert_null(p.server->records);
        assert_non_null(p.server->ssl);
        assert_null(p.server->secrets);
        end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(taken), TEST(early_words), TEST(keys_of_the_client), TEST(keys_of_the_server),
        TEST(good_bye), TEST(garbage), TEST(not_taken),
    };

    return cmocka_run_group_tests(tests, set_up, clean_up);
}
