/* SPDX-License-Identifier: MIT */
/* test_dtls.c - handshakes over an in-memory network that loses, duplicates and reorders; their end. */
#include "dtls_wire.h"

#include <malloc.h>
#include <time.h>

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    (void)zone;
    return dtls_wire_timeofday(tv);
}

/* ---- handshakes */

static void both_connect(void **state)
{
    struct dtls_wire w;

    (void)state;
    dtls_wire_init(&w, theirs, ours, 1);
    assert_int_equal(dtls_wire_state_of(&w, 0), DTLS_WAITS);
    assert_string_equal(dtls_cipher(w.ends[0].d), "");
    dtls_start(w.ends[1].d, dtls_time); /* a server does not start */
    assert_false(dtls_wire_step(&w));
    assert_in_range(dtls_wire_shake(&w), 1, CO_MS(20));
    dtls_wire_assert_keys(&w, SRTP_AEAD_AES_128_GCM);
    assert_string_equal(dtls_cipher(w.ends[0].d), "ECDHE-ECDSA-AES128-GCM-SHA256");
    assert_string_equal(dtls_why(w.ends[0].d), "");
    assert_int_equal(w.ends[0].sent + w.ends[1].sent, 4);
    assert_int_equal(dtls_deadline(w.ends[0].d), CO_FOREVER);
    dtls_start(w.ends[0].d, dtls_time);
    assert_false(dtls_wire_step(&w));
    dtls_wire_fini(&w);
}

static void of_profiles_ours_is_first(void **state)
{
    static const struct {
        const char *client;
        enum srtp_profile profile;
    } rows[] = {
        { "SRTP_AES128_CM_SHA1_80", SRTP_AES128_CM_SHA1_80 },
        { "SRTP_AES128_CM_SHA1_80:SRTP_AEAD_AES_256_GCM:SRTP_AEAD_AES_128_GCM",
          SRTP_AEAD_AES_128_GCM },
        { "SRTP_AES128_CM_SHA1_32:SRTP_AES128_CM_SHA1_80", SRTP_AES128_CM_SHA1_80 },
        { "SRTP_AEAD_AES_256_GCM", SRTP_NONE },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct srtp_keys k[2];
        struct dtls_wire w;

        dtls_wire_init(&w, theirs, ours, 1);
        (void)SSL_CTX_set_tlsext_use_srtp(dtls_identity_context(theirs), rows[i].client);
        dtls_free(w.ends[0].d);
        assert_ok(dtls_new(&w.ends[0].d, theirs,
                           &(struct dtls_opts){ .client = true,
                                                .peer = dtls_wire_print_of(ours, DTLS_SHA512) }));
        assert_in_range(dtls_wire_shake(&w), 1, CO_MS(20));
        if (rows[i].profile != SRTP_NONE)
            dtls_wire_assert_keys(&w, rows[i].profile);
        else
            assert_false(dtls_keys(w.ends[1].d, &k[0], &k[1]));
        dtls_wire_fini(&w);
    }
    (void)SSL_CTX_set_tlsext_use_srtp(dtls_identity_context(theirs),
                                      "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80");
}

/* GnuTLS uses P-224 by default, as FFmpeg's does; groups for key exchange are others. */
static void with_certificate_of(const char *curve)
{
    struct dtls_identity_opts o = { 0 };
    EVP_PKEY *key = EVP_EC_gen(curve);
    struct dtls_identity *odd;
    SSL_CTX *ctx;
    X509 *x;
    struct dtls_wire w;

    assert_ok(dtls_identity_new(&odd, &o));
    ctx = dtls_identity_context(odd);
    x = X509_dup(SSL_CTX_get0_certificate(ctx));
    assert_true(X509_set_pubkey(x, key) == 1 && X509_sign(x, key, EVP_sha256()) > 0);
    assert_true(SSL_CTX_use_certificate(ctx, x) == 1 && SSL_CTX_use_PrivateKey(ctx, key) == 1);
    assert_int_equal(SSL_CTX_set1_groups_list(ctx, "X25519:P-256"), 1);
    dtls_wire_init(&w, ours, odd, 1);
    if (dtls_wire_shake(&w) == 0)
        fail_msg("%s: %s, %s", curve, dtls_why(w.ends[0].d), dtls_why(w.ends[1].d));
    dtls_wire_assert_keys(&w, SRTP_AEAD_AES_128_GCM);
    dtls_wire_fini(&w);
    X509_free(x);
    EVP_PKEY_free(key);
    dtls_identity_unref(odd);
}

static void a_server_chooses_the_curve_of_its_certificate(void **state)
{
    static const char *const curves[] = { "P-224", "P-256", "P-384", "P-521" };

    (void)state;
    for (size_t i = 0; i < COUNT(curves); i++)
        with_certificate_of(curves[i]);
}

static void a_thousand_bad_networks(void **state)
{
    unsigned late = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= 1000; seed++) {
        struct dtls_wire w;
        co_usec took;

        dtls_wire_init(&w, theirs, ours, seed * 7919);
        w.loss = seed % 5 * 8; /* up to 32 of 100, in each direction */
        w.twice = seed % 3 * 10;
        w.reorder = CO_MS(seed % 7 * 10);
        took = dtls_wire_shake(&w);
        if (took == 0)
            fail_msg("seed %u: %d and %d, %s, %s", seed, dtls_wire_state_of(&w, 0), dtls_wire_state_of(&w, 1),
                     dtls_why(w.ends[0].d), dtls_why(w.ends[1].d));
        late += took > CO_SECONDS(5);
        dtls_wire_assert_keys(&w, SRTP_AEAD_AES_128_GCM);
        dtls_wire_fini(&w);
    }
    assert_in_range(late, 0, 20);
}

static void the_first_of_many_kinds_are_lost(void **state)
{
    struct dtls_wire w;

    (void)state;
    dtls_wire_init(&w, theirs, ours, 1);
    w.lose_hellos = 4;
    w.lose_certificates = 5;
    assert_in_range(dtls_wire_shake(&w), CO_SECONDS(1), CO_SECONDS(5));
    dtls_wire_assert_keys(&w, SRTP_AEAD_AES_128_GCM);
    dtls_wire_fini(&w);
}

static void there_is_no_answer(void **state)
{
    struct dtls_wire w;

    (void)state;
    dtls_wire_init(&w, theirs, ours, 1);
    w.loss = 100;
    dtls_start(w.ends[0].d, dtls_time);
    while (dtls_time - w.began < CO_SECONDS(5) && dtls_wire_step(&w))
        ;
    assert_in_range(w.ends[0].sent, 6, 8);
    assert_int_equal(dtls_wire_state_of(&w, 0), DTLS_SHAKES);
    while (dtls_wire_step(&w))
        ;
    assert_int_equal(dtls_wire_state_of(&w, 0), DTLS_FAILED);
    assert_string_equal(dtls_why(w.ends[0].d), "no response to the last flight");
    assert_in_range(w.ends[0].sent, 10, 13);
    dtls_wire_fini(&w);
}

static void the_last_flight_is_lost(void **state)
{
    struct dtls_wire w;
    unsigned sent;

    (void)state;
    dtls_wire_init(&w, theirs, ours, 1);
    dtls_start(w.ends[0].d, dtls_time);
    while (dtls_wire_state_of(&w, 1) != DTLS_DONE)
        assert_true(dtls_wire_step(&w));
    sent = w.ends[1].sent;
    w.loss = 100;
    dtls_wire_take_output(&w); /* the server has finished, and its answer is lost: it has no timer any more */
    w.loss = 0;
    assert_true(w.ends[1].sent > sent);
    assert_int_equal(dtls_deadline(w.ends[1].d), CO_FOREVER);
    while (dtls_wire_step(&w))
        ;
    assert_int_equal(dtls_wire_state_of(&w, 0), DTLS_DONE);
    dtls_wire_assert_keys(&w, SRTP_AEAD_AES_128_GCM);
    dtls_wire_fini(&w);
}

enum { FLIGHTS = 3, RECORDS_MAX = 8 };

/* The epochs and numbers of the records that the server sends now; its datagrams are delivered if `arrives`. */
static unsigned numbers_of_flight(struct dtls_wire *w, uint64_t out[RECORDS_MAX], bool arrives)
{
    const uint8_t *data;
    unsigned n = 0;
    size_t size;

    while (dtls_output(w->ends[1].d, &data, &size)) {
        for (size_t at = 0; at < size; at += 13 + ((size_t)data[at + 11] << 8 | data[at + 12])) {
            assert_in_range(n, 0, RECORDS_MAX - 1);
            out[n] = 0;
            for (int i = 0; i < 8; i++)
                out[n] = out[n] << 8 | data[at + 3 + i];
            n++;
        }
        if (arrives)
            dtls_wire_fly(w, 0, data, size);
    }
    return n;
}

/* The client repeats its flight until one of the server's arrives: the third. */
static void lose_last_flights(struct dtls_wire *w, struct dtls_identity *client,
                              uint64_t numbers[FLIGHTS][RECORDS_MAX])
{
    dtls_wire_init(w, client, ours, 1);
    dtls_start(w->ends[0].d, dtls_time);
    while (dtls_wire_state_of(w, 1) != DTLS_DONE)
        assert_true(dtls_wire_step(w));
    for (unsigned i = 0; i < FLIGHTS; i++) {
        unsigned n;

        while ((n = numbers_of_flight(w, numbers[i], i == FLIGHTS - 1)) == 0)
            assert_true(dtls_wire_step(w));
        assert_int_equal(n, 2); /* ChangeCipherSpec and Finished */
    }
    while (dtls_wire_step(w))
        ;
}

/* [DTLS] RFC 6347, 4.2.4, with ciphers that keep their SSL and with the one that does not. */
static void a_repeated_flight_has_new_record_numbers(void **state)
{
    static const char *const ciphers[] = { "ECDHE-ECDSA-AES128-GCM-SHA256",
                                           "ECDHE-ECDSA-AES256-GCM-SHA384",
                                           "ECDHE-ECDSA-CHACHA20-POLY1305" };

    (void)state;
    for (size_t i = 0; i < COUNT(ciphers); i++) {
        uint64_t numbers[FLIGHTS][RECORDS_MAX];
        struct dtls_identity *client;
        struct dtls_wire w;

        assert_ok(dtls_identity_new(&client, &(struct dtls_identity_opts){ .rsa = false }));
        assert_int_equal(SSL_CTX_set_cipher_list(dtls_identity_context(client), ciphers[i]), 1);
        lose_last_flights(&w, client, numbers);
        assert_string_equal(dtls_cipher(w.ends[1].d), ciphers[i]);
        assert_int_equal(dtls_wire_state_of(&w, 0), DTLS_DONE);
        dtls_wire_assert_keys(&w, SRTP_AEAD_AES_128_GCM);
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(numbers[0][k] >> 48, k);
            for (unsigned f = 1; f < FLIGHTS; f++)
                assert_int_equal(numbers[f][k], numbers[0][k] + f);
        }
        dtls_close(w.ends[1].d); /* under the next number: the client accepts it */
        while (dtls_wire_step(&w))
            ;
        assert_int_equal(dtls_wire_state_of(&w, 0), DTLS_CLOSED);
        dtls_wire_fini(&w);
        dtls_identity_unref(client);
    }
}

/* Records of a finished handshake prove nothing: a datagram of many gets one answer. */
static void many_records_behind_the_end_get_one_flight(void **state)
{
    enum { RECORD = 13, RECORDS = 40 };
    uint8_t datagram[RECORD * RECORDS] = { 0 };
    unsigned answers[2] = { 0 };
    const uint8_t *data;
    struct dtls_wire w;
    size_t size;

    (void)state;
    dtls_wire_init(&w, theirs, ours, 1);
    dtls_start(w.ends[0].d, dtls_time);
    while (dtls_wire_step(&w))
        ;
    for (unsigned i = 0; i < RECORDS; i++)
        memcpy(datagram + i * RECORD, "\x16\xfe\xfd\0\1", 5);
    for (unsigned i = 0; i < 2; i++) {
        dtls_input(w.ends[1].d, datagram, i ? sizeof(datagram) : RECORD, dtls_time);
        while (dtls_output(w.ends[1].d, &data, &size))
            answers[i]++;
    }
    assert_true(answers[0] > 0);
    assert_int_equal(answers[0], answers[1]);
    dtls_wire_fini(&w);
}

/* ---- the end */

static void the_first_end_counts(void **state)
{
    (void)state;
    for (unsigned who = 0; who < 2; who++) {
        struct dtls_wire w;

        dtls_wire_init(&w, theirs, ours, 1);
        w.twice = 100;
        dtls_wire_shake(&w);
        dtls_close(w.ends[who].d);
        assert_int_equal(dtls_wire_state_of(&w, who), DTLS_CLOSED);
        dtls_close(w.ends[who].d);
        while (dtls_wire_step(&w))
            ;
        assert_int_equal(dtls_wire_state_of(&w, !who), DTLS_CLOSED);
        dtls_close(w.ends[!who].d);
        while (dtls_wire_step(&w))
            ;
        assert_string_equal(dtls_why(w.ends[0].d), "");
        dtls_wire_fini(&w);
    }
}

/* Between a connection of ours and OpenSSL itself, including everything pending. */
static void exchange(struct dtls *d, SSL *raw, struct dtls_datagrams *g)
{
    const uint8_t *data;
    size_t size;

    for (int i = 0; i < 6; i++) {
        uint8_t none[64];

        if (!SSL_is_init_finished(raw))
            (void)SSL_do_handshake(raw);
        while (dtls_datagrams_next(g, &data, &size))
            dtls_input(d, data, size, dtls_time);
        while (dtls_output(d, &data, &size)) {
            g->in = data;
            g->in_size = size;
            if (!SSL_is_init_finished(raw))
                (void)SSL_do_handshake(raw);
            (void)SSL_read(raw, none, sizeof(none));
        }
    }
}

/* OpenSSL at the other end, with a cipher that we support ourselves, and one that we do not. */
static void the_end_with_openssl_itself(void **state)
{
    static const char *const ciphers[] = { "ECDHE-ECDSA-AES128-GCM-SHA256",
                                           "ECDHE-ECDSA-AES256-GCM-SHA384" };
    SSL_CTX *from = dtls_identity_context(theirs);
    BIO_METHOD *method = dtls_datagrams_method();

    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        SSL_CTX *ctx = SSL_CTX_new(DTLS_method());
        struct dtls_datagrams g = { 0 };
        bool client = i & 1, we_end = i & 2;
        struct dtls_opts o = { .client = client, .peer = dtls_wire_print_of(theirs, DTLS_SHA256) };
        BIO *bio = BIO_new(method);
        struct dtls *d;
        SSL *raw;

        (void)SSL_CTX_use_certificate(ctx, SSL_CTX_get0_certificate(from));
        (void)SSL_CTX_use_PrivateKey(ctx, SSL_CTX_get0_privatekey(from));
        (void)SSL_CTX_set_tlsext_use_srtp(ctx, "SRTP_AES128_CM_SHA1_80");
        (void)SSL_CTX_set_cipher_list(ctx, ciphers[i / 4]);
        raw = SSL_new(ctx);
        (void)DTLS_set_link_mtu(raw, DTLS_MTU);
        (void)SSL_set_options(raw, SSL_OP_NO_QUERY_MTU);
        BIO_set_data(bio, &g);
        BIO_set_init(bio, 1);
        SSL_set_bio(raw, bio, bio);
        if (client)
            SSL_set_accept_state(raw);
        else
            SSL_set_connect_state(raw);
        if (client) /* a server that requests our certificate, as all do */
            SSL_set_verify(raw, SSL_VERIFY_NONE, NULL);
        assert_ok(dtls_new(&d, ours, &o));
        dtls_start(d, dtls_time);
        exchange(d, raw, &g);
        assert_int_equal(dtls_state(d), DTLS_DONE);
        assert_true(SSL_is_init_finished(raw));
        assert_string_equal(dtls_cipher(d), ciphers[i / 4]);
        if (we_end)
            dtls_close(d);
        else
            (void)SSL_shutdown(raw);
        exchange(d, raw, &g);
        assert_int_equal(dtls_state(d), DTLS_CLOSED);
        assert_true(SSL_get_shutdown(raw) & SSL_RECEIVED_SHUTDOWN);
        dtls_free(d);
        SSL_free(raw);
        SSL_CTX_free(ctx);
        dtls_datagrams_fini(&g);
    }
    BIO_meth_free(method);
}

/* ---- cost */

static void idle_ones_are_small(void **state)
{
    enum { N = 50 };
    static struct dtls_wire w[N];
    size_t before, after;

    (void)state;
    dtls_wire_init(&w[0], theirs, ours, 1); /* one-time allocations */
    (void)dtls_wire_shake(&w[0]);
    dtls_wire_fini(&w[0]);
    before = mallinfo2().uordblks;
    for (unsigned i = 0; i < N; i++) {
        dtls_wire_init(&w[i], theirs, ours, 1);
        assert_int_not_equal(dtls_wire_shake(&w[i]), 0);
        free(w[i].flying);
        w[i].flying = NULL;
    }
    after = mallinfo2().uordblks;
    print_message("%zu bytes for each of two ends\n", (after - before) / (2 * N));
    assert_true((after - before) / (2 * N) < 2 * 1024);
    for (unsigned i = 0; i < N; i++)
        dtls_wire_fini(&w[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(both_connect),
        TEST(of_profiles_ours_is_first),
        TEST(a_server_chooses_the_curve_of_its_certificate),
        TEST(a_thousand_bad_networks),
        TEST(the_first_of_many_kinds_are_lost),
        TEST(there_is_no_answer),
        TEST(the_last_flight_is_lost),
        TEST(a_repeated_flight_has_new_record_numbers),
        TEST(many_records_behind_the_end_get_one_flight),
        TEST(the_first_end_counts),
        TEST(the_end_with_openssl_itself),
        TEST(idle_ones_are_small),
    };

    return cmocka_run_group_tests(tests, dtls_wire_identities, dtls_wire_no_identities);
}
