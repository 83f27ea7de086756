/* SPDX-License-Identifier: MIT */
/* test_dtls.c - handshakes over a wire in memory that loses, doubles and reorders, with a clock of
 * its own; certificates of all sizes, wrong ones, garbage, the end. */
#include "co/net/tls_peer.h"
#include "hex.h"
#include "proto/dtls/own.h"
#include "rsa_keys.h"

#include <malloc.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

enum { CLIENT_HELLO = 1, CERTIFICATE = 11, FLYING = 512 };

/* ---- time: that of the wire, for OpenSSL as well */

static co_usec the_time = CO_SECONDS(1000000);

/* In place of the system's: OpenSSL's timers ask for it. */
int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    (void)zone;
    tv->tv_sec = the_time / 1000000;
    tv->tv_usec = the_time % 1000000;
    return 0;
}

/* ---- two ends */

struct end {
    struct dtls *d;
    unsigned sent, came;
    size_t largest;
};

struct wire {
    struct end ends[2]; /* client, server */
    struct {
        co_usec at;
        unsigned to;
        size_t size;
        uint8_t data[DTLS_DATAGRAM_MAX];
    } *flying;
    unsigned n;
    uint32_t seed;
    unsigned loss, twice;   /* of 100 */
    co_usec reorder;        /* it takes up to so much more */
    unsigned lose_hellos, lose_certificates; /* the first ones */
    co_usec began;
};

static struct dtls_identity *ours, *theirs;

static int identities(void **state)
{
    struct dtls_identity_opts o = { .rsa = false };

    (void)state;
    assert_ok(dtls_identity_new(&ours, &o));
    assert_ok(dtls_identity_new(&theirs, &o));
    return 0;
}

static int no_identities(void **state)
{
    (void)state;
    dtls_identity_unref(ours);
    dtls_identity_unref(theirs);
    dtls_identity_unref(NULL);
    return 0;
}

static struct dtls_fingerprint print_of(struct dtls_identity *id, enum dtls_digest kind)
{
    struct dtls_fingerprint f = { .kind = kind };
    unsigned size;

    assert_int_equal(X509_digest(SSL_CTX_get0_certificate(dtls_identity_context(id)),
                                 kind == DTLS_SHA256   ? EVP_sha256()
                                 : kind == DTLS_SHA384 ? EVP_sha384()
                                                       : EVP_sha512(),
                                 f.v, &size), 1);
    return f;
}

static void wire_init(struct wire *w, struct dtls_identity *client, struct dtls_identity *server,
                      uint32_t seed)
{
    struct dtls_opts o = { .client = true, .peer = print_of(server, DTLS_SHA256) };

    *w = (struct wire){ .seed = seed, .began = the_time };
    w->flying = malloc(FLYING * sizeof(*w->flying));
    assert_ok(dtls_new(&w->ends[0].d, client, &o));
    o = (struct dtls_opts){ .peer = print_of(client, DTLS_SHA256) };
    assert_ok(dtls_new(&w->ends[1].d, server, &o));
}

static void wire_fini(struct wire *w)
{
    dtls_free(w->ends[0].d);
    dtls_free(w->ends[1].d);
    free(w->flying);
}

static uint32_t chance(struct wire *w, uint32_t of)
{
    w->seed = w->seed * 1664525 + 1013904223;
    return (w->seed >> 8) % of;
}

static bool is_lost(struct wire *w, const uint8_t *data)
{
    if (data[0] == 22 && data[13] == CLIENT_HELLO && w->lose_hellos > 0)
        return w->lose_hellos-- > 0;
    if (data[0] == 22 && data[13] == CERTIFICATE && w->lose_certificates > 0)
        return w->lose_certificates-- > 0;
    return w->loss > 0 && chance(w, 100) < w->loss;
}

static void fly(struct wire *w, unsigned to, const uint8_t *data, size_t size)
{
    assert_true(w->n < FLYING && size <= sizeof(w->flying[0].data));
    w->flying[w->n].at = the_time + 1000 + (w->reorder ? chance(w, (uint32_t)w->reorder) : 0);
    w->flying[w->n].to = to;
    w->flying[w->n].size = size;
    memcpy(w->flying[w->n++].data, data, size);
}

static void take_output(struct wire *w)
{
    for (unsigned from = 0; from < 2; from++) {
        struct end *e = &w->ends[from];
        const uint8_t *data;
        size_t size;

        while (dtls_output(e->d, &data, &size)) {
            e->sent++;
            e->largest = size > e->largest ? size : e->largest;
            assert_true(size <= DTLS_MTU);
            if (is_lost(w, data))
                continue;
            fly(w, !from, data, size);
            if (w->twice > 0 && chance(w, 100) < w->twice)
                fly(w, !from, data, size);
        }
    }
}

static void arrive(struct wire *w, unsigned i)
{
    struct end *e = &w->ends[w->flying[i].to];
    uint8_t *data = malloc(w->flying[i].size);
    size_t size = w->flying[i].size;

    memcpy(data, w->flying[i].data, size);
    w->flying[i] = w->flying[--w->n];
    e->came++;
    dtls_input(e->d, data, size, the_time);
    free(data);
}

/* The next thing that happens; false: nothing will. */
static bool step(struct wire *w)
{
    co_usec next = INT64_MAX;
    unsigned which = FLYING;

    take_output(w);
    for (unsigned i = 0; i < w->n; i++) {
        if (w->flying[i].at < next) {
            next = w->flying[i].at;
            which = i;
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        co_usec at = dtls_deadline(w->ends[i].d);

        if (at != CO_FOREVER && at < next) {
            next = at;
            which = FLYING + i;
        }
    }
    if (next == INT64_MAX)
        return false;
    the_time = next > the_time ? next : the_time;
    if (which < FLYING)
        arrive(w, which);
    else
        dtls_tick(w->ends[which - FLYING].d, the_time);
    return true;
}

static enum dtls_state state_of(const struct wire *w, unsigned i)
{
    return dtls_state(w->ends[i].d);
}

/* Until both are, and all that flies has come. Returns how long it took. */
static co_usec shake(struct wire *w)
{
    co_usec took = 0;

    dtls_start(w->ends[0].d, the_time);
    while (the_time - w->began < CO_SECONDS(60) && step(w)) {
        if (took == 0 && state_of(w, 0) == DTLS_DONE && state_of(w, 1) == DTLS_DONE)
            took = the_time - w->began;
    }
    return took;
}

static void assert_keys(const struct wire *w, enum srtp_profile profile)
{
    struct srtp_keys k[2][2];

    for (int i = 0; i < 2; i++)
        assert_true(dtls_keys(w->ends[i].d, &k[i][0], &k[i][1]));
    assert_memory_equal(&k[0][0], &k[1][1], sizeof(k[0][0]));
    assert_memory_equal(&k[0][1], &k[1][0], sizeof(k[0][0]));
    assert_memory_not_equal(&k[0][0], &k[0][1], sizeof(k[0][0]));
    assert_int_equal(k[0][0].profile, profile);
}

/* ---- handshakes */

static void both_connect(void **state)
{
    struct wire w;

    (void)state;
    wire_init(&w, theirs, ours, 1);
    assert_int_equal(state_of(&w, 0), DTLS_WAITS);
    assert_string_equal(dtls_cipher(w.ends[0].d), "");
    dtls_start(w.ends[1].d, the_time); /* a server has nothing to begin */
    assert_false(step(&w));
    assert_in_range(shake(&w), 1, CO_MS(20));
    assert_keys(&w, SRTP_AEAD_AES_128_GCM);
    assert_string_equal(dtls_cipher(w.ends[0].d), "ECDHE-ECDSA-AES128-GCM-SHA256");
    assert_string_equal(dtls_why(w.ends[0].d), "");
    assert_int_equal(w.ends[0].sent + w.ends[1].sent, 4);
    assert_int_equal(dtls_deadline(w.ends[0].d), CO_FOREVER);
    dtls_start(w.ends[0].d, the_time);
    assert_false(step(&w));
    wire_fini(&w);
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
        struct wire w;

        wire_init(&w, theirs, ours, 1);
        (void)SSL_CTX_set_tlsext_use_srtp(dtls_identity_context(theirs), rows[i].client);
        dtls_free(w.ends[0].d);
        assert_ok(dtls_new(&w.ends[0].d, theirs,
                           &(struct dtls_opts){ .client = true,
                                                .peer = print_of(ours, DTLS_SHA512) }));
        assert_in_range(shake(&w), 1, CO_MS(20));
        if (rows[i].profile != SRTP_NONE)
            assert_keys(&w, rows[i].profile);
        else
            assert_false(dtls_keys(w.ends[1].d, &k[0], &k[1]));
        wire_fini(&w);
    }
    (void)SSL_CTX_set_tlsext_use_srtp(dtls_identity_context(theirs),
                                      "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80");
}

/* GnuTLS makes it of P-224 when it is left to choose, as FFmpeg's does; groups for the keys are others. */
static void with_certificate_of(const char *curve)
{
    struct dtls_identity_opts o = { 0 };
    EVP_PKEY *key = EVP_EC_gen(curve);
    struct dtls_identity *odd;
    SSL_CTX *ctx;
    X509 *x;
    struct wire w;

    assert_ok(dtls_identity_new(&odd, &o));
    ctx = dtls_identity_context(odd);
    x = X509_dup(SSL_CTX_get0_certificate(ctx));
    assert_true(X509_set_pubkey(x, key) == 1 && X509_sign(x, key, EVP_sha256()) > 0);
    assert_true(SSL_CTX_use_certificate(ctx, x) == 1 && SSL_CTX_use_PrivateKey(ctx, key) == 1);
    assert_int_equal(SSL_CTX_set1_groups_list(ctx, "X25519:P-256"), 1);
    wire_init(&w, ours, odd, 1);
    if (shake(&w) == 0)
        fail_msg("%s: %s, %s", curve, dtls_why(w.ends[0].d), dtls_why(w.ends[1].d));
    assert_keys(&w, SRTP_AEAD_AES_128_GCM);
    wire_fini(&w);
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
        struct wire w;
        co_usec took;

        wire_init(&w, theirs, ours, seed * 7919);
        w.loss = seed % 5 * 8; /* up to 32 of 100, each way */
        w.twice = seed % 3 * 10;
        w.reorder = CO_MS(seed % 7 * 10);
        took = shake(&w);
        if (took == 0)
            fail_msg("seed %u: %d and %d, %s, %s", seed, state_of(&w, 0), state_of(&w, 1),
                     dtls_why(w.ends[0].d), dtls_why(w.ends[1].d));
        late += took > CO_SECONDS(5);
        assert_keys(&w, SRTP_AEAD_AES_128_GCM);
        wire_fini(&w);
    }
    assert_in_range(late, 0, 20);
}

static void the_first_of_many_kinds_are_lost(void **state)
{
    struct wire w;

    (void)state;
    wire_init(&w, theirs, ours, 1);
    w.lose_hellos = 4;
    w.lose_certificates = 5;
    assert_in_range(shake(&w), CO_SECONDS(1), CO_SECONDS(5));
    assert_keys(&w, SRTP_AEAD_AES_128_GCM);
    wire_fini(&w);
}

static void nobody_answers(void **state)
{
    struct wire w;

    (void)state;
    wire_init(&w, theirs, ours, 1);
    w.loss = 100;
    dtls_start(w.ends[0].d, the_time);
    while (the_time - w.began < CO_SECONDS(5) && step(&w))
        ;
    assert_in_range(w.ends[0].sent, 6, 8);
    assert_int_equal(state_of(&w, 0), DTLS_SHAKES);
    while (step(&w))
        ;
    assert_int_equal(state_of(&w, 0), DTLS_FAILED);
    assert_string_equal(dtls_why(w.ends[0].d), "no answer to its last flight");
    assert_in_range(w.ends[0].sent, 10, 13);
    wire_fini(&w);
}

static void the_last_flight_is_lost(void **state)
{
    struct wire w;
    unsigned sent;

    (void)state;
    wire_init(&w, theirs, ours, 1);
    dtls_start(w.ends[0].d, the_time);
    while (state_of(&w, 1) != DTLS_DONE)
        assert_true(step(&w));
    sent = w.ends[1].sent;
    w.loss = 100;
    take_output(&w); /* the server is done, and its answer is lost: it has no timer any more */
    w.loss = 0;
    assert_true(w.ends[1].sent > sent);
    assert_int_equal(dtls_deadline(w.ends[1].d), CO_FOREVER);
    while (step(&w))
        ;
    assert_int_equal(state_of(&w, 0), DTLS_DONE);
    assert_keys(&w, SRTP_AEAD_AES_128_GCM);
    wire_fini(&w);
}

enum { FLIGHTS = 3, RECORDS_MAX = 8 };

/* The epochs and numbers of the records that the server sends now; its datagrams fly if `arrives`. */
static unsigned numbers_of_flight(struct wire *w, uint64_t out[RECORDS_MAX], bool arrives)
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
            fly(w, 0, data, size);
    }
    return n;
}

/* The client sends its own flight again until one of the server's arrives: the third. */
static void lose_last_flights(struct wire *w, struct dtls_identity *client,
                              uint64_t numbers[FLIGHTS][RECORDS_MAX])
{
    wire_init(w, client, ours, 1);
    dtls_start(w->ends[0].d, the_time);
    while (state_of(w, 1) != DTLS_DONE)
        assert_true(step(w));
    for (unsigned i = 0; i < FLIGHTS; i++) {
        unsigned n;

        while ((n = numbers_of_flight(w, numbers[i], i == FLIGHTS - 1)) == 0)
            assert_true(step(w));
        assert_int_equal(n, 2); /* ChangeCipherSpec and Finished */
    }
    while (step(w))
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
        struct wire w;

        assert_ok(dtls_identity_new(&client, &(struct dtls_identity_opts){ .rsa = false }));
        assert_int_equal(SSL_CTX_set_cipher_list(dtls_identity_context(client), ciphers[i]), 1);
        lose_last_flights(&w, client, numbers);
        assert_string_equal(dtls_cipher(w.ends[1].d), ciphers[i]);
        assert_int_equal(state_of(&w, 0), DTLS_DONE);
        assert_keys(&w, SRTP_AEAD_AES_128_GCM);
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(numbers[0][k] >> 48, k);
            for (unsigned f = 1; f < FLIGHTS; f++)
                assert_int_equal(numbers[f][k], numbers[0][k] + f);
        }
        dtls_close(w.ends[1].d); /* under the next number: the client takes it */
        while (step(&w))
            ;
        assert_int_equal(state_of(&w, 0), DTLS_CLOSED);
        wire_fini(&w);
        dtls_identity_unref(client);
    }
}

/* Nothing proves records of a handshake that is done: a datagram of many gets one answer. */
static void many_records_behind_the_end_get_one_flight(void **state)
{
    enum { RECORD = 13, RECORDS = 40 };
    uint8_t datagram[RECORD * RECORDS] = { 0 };
    unsigned answers[2] = { 0 };
    const uint8_t *data;
    struct wire w;
    size_t size;

    (void)state;
    wire_init(&w, theirs, ours, 1);
    dtls_start(w.ends[0].d, the_time);
    while (step(&w))
        ;
    for (unsigned i = 0; i < RECORDS; i++)
        memcpy(datagram + i * RECORD, "\x16\xfe\xfd\0\1", 5);
    for (unsigned i = 0; i < 2; i++) {
        dtls_input(w.ends[1].d, datagram, i ? sizeof(datagram) : RECORD, the_time);
        while (dtls_output(w.ends[1].d, &data, &size))
            answers[i]++;
    }
    assert_true(answers[0] > 0);
    assert_int_equal(answers[0], answers[1]);
    wire_fini(&w);
}

/* ---- certificates */

/* Of that key, with so many names. */
static void use_certificate(struct dtls_identity *id, EVP_PKEY *key, unsigned names)
{
    SSL_CTX *ctx = dtls_identity_context(id);
    X509 *x = X509_new();
    X509_NAME *name = X509_get_subject_name(x);

    (void)X509_set_version(x, 2);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    (void)X509_gmtime_adj(X509_getm_notBefore(x), -100000);
    (void)X509_gmtime_adj(X509_getm_notAfter(x), -1000); /* it has ended: nobody minds */
    (void)X509_set_pubkey(x, key);
    (void)X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"x", -1, -1, 0);
    (void)X509_set_issuer_name(x, name);
    if (names > 0) {
        char *text = calloc(names, 64);
        X509_EXTENSION *e;

        for (unsigned i = 0; i < names; i++)
            (void)sprintf(text + strlen(text), "%sDNS:name-%u.of.a.long.chain.example.org",
                          i ? "," : "", i);
        e = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, text);
        assert_non_null(e);
        (void)X509_add_ext(x, e, -1);
        X509_EXTENSION_free(e);
        free(text);
    }
    assert_true(X509_sign(x, key, EVP_sha256()) > 0);
    assert_int_equal(SSL_CTX_use_certificate(ctx, x), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
    X509_free(x);
    EVP_PKEY_free(key);
}

static void large_certificates_of_peers(void **state)
{
    (void)state;
    for (unsigned row = 0; row < 4; row++) {
        struct dtls_identity *big;

        assert_ok(dtls_identity_new(&big, &(struct dtls_identity_opts){ .rsa = row % 2 }));
        use_certificate(big, row % 2 ? EVP_RSA_gen(row == 1 ? 4096 : 2048) : EVP_EC_gen("P-256"),
                        row == 0 ? 250 : row == 1 ? 0 : row == 2 ? 20 : 240);
        for (uint32_t seed = 0; seed < 20; seed++) {
            struct wire w;

            if (seed % 2)
                wire_init(&w, ours, big, seed);
            else
                wire_init(&w, big, ours, seed);
            w.reorder = CO_MS(seed % 5 * 8);
            w.loss = seed % 3 * 5;
            if (shake(&w) == 0)
                fail_msg("row %u, seed %u: %s, %s", row, seed, dtls_why(w.ends[0].d),
                         dtls_why(w.ends[1].d));
            assert_keys(&w, SRTP_AEAD_AES_128_GCM);
            wire_fini(&w);
        }
        dtls_identity_unref(big);
    }
}

/* Is it said before a signature of it is checked? */
static void refused_for_its_key(EVP_PKEY *key, const char *why)
{
    for (unsigned server = 0; server < 2; server++) {
        struct dtls_identity *id;
        struct wire w;

        assert_ok(dtls_identity_new(&id, &(struct dtls_identity_opts){ .rsa = true }));
        assert_int_equal(EVP_PKEY_up_ref(key), 1);
        use_certificate(id, key, 0);
        wire_init(&w, server ? ours : id, server ? id : ours, 1);
        assert_int_equal(shake(&w), 0);
        assert_int_equal(state_of(&w, !server), DTLS_FAILED);
        assert_string_equal(dtls_why(w.ends[!server].d), why);
        wire_fini(&w);
        dtls_identity_unref(id);
    }
    EVP_PKEY_free(key);
}

static void keys_that_take_long_are_refused(void **state)
{
    (void)state;
    refused_for_its_key(rsa_of(3217, 1279, 65537),
                        "its certificate has an RSA key of 4496 bits, exponent of 17; at most 4096 and 32");
    refused_for_its_key(rsa_with_large_exponent(),
                        "its certificate has an RSA key of 2810 bits, exponent of 41; at most 4096 and 32");
}

static void keys_of_peers(void **state)
{
    const struct {
        EVP_PKEY *key;
        bool fine;
    } rows[] = {
        { EVP_EC_gen("P-224"), true }, { EVP_EC_gen("P-256"), true }, { EVP_EC_gen("P-384"), true },
        { EVP_EC_gen("P-521"), true }, { EVP_EC_gen("secp256k1"), false },
        { EVP_EC_gen("sect571r1"), false }, { EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"), true },
        { EVP_PKEY_Q_keygen(NULL, NULL, "ED448"), false },
        { EVP_PKEY_Q_keygen(NULL, NULL, "X25519"), false }, { EVP_RSA_gen(2048), true },
        { rsa_of(3217, 607, 65537), true }, { rsa_of(11213, 4423, 65537), false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        X509 *x = X509_new();
        char why[TLS_PEER_WHY];

        assert_int_equal(X509_set_pubkey(x, rows[i].key), 1);
        if (tls_peer_key_is_fine(x, why) != rows[i].fine || (why[0] == 0 && !rows[i].fine))
            fail_msg("row %zu: %s", i, why);
        X509_free(x);
        EVP_PKEY_free(rows[i].key);
    }
}

static void a_certificate_too_large(void **state)
{
    struct dtls_identity *big;
    struct wire w;

    (void)state;
    assert_ok(dtls_identity_new(&big, &(struct dtls_identity_opts){ .rsa = false }));
    use_certificate(big, EVP_EC_gen("P-256"), 1000); /* 33 KB */
    wire_init(&w, big, ours, 1);
    assert_int_equal(shake(&w), 0);
    assert_int_not_equal(state_of(&w, 1), DTLS_DONE);
    wire_fini(&w);
    dtls_identity_unref(big);
}

static void rsa_of_our_own(void **state)
{
    struct dtls_identity *rsa;
    struct wire w;

    (void)state;
    assert_ok(dtls_identity_new(&rsa, &(struct dtls_identity_opts){ .rsa = true }));
    wire_init(&w, theirs, rsa, 1);
    assert_in_range(shake(&w), 1, CO_MS(20));
    assert_string_equal(dtls_cipher(w.ends[1].d), "ECDHE-RSA-AES128-GCM-SHA256");
    wire_fini(&w);
    dtls_identity_unref(rsa);
}

static void another_certificate_fails(void **state)
{
    (void)state;
    for (unsigned wrong = 0; wrong < 2; wrong++) { /* that of the client, of the server */
        struct wire w;
        struct dtls_opts o;

        wire_init(&w, theirs, ours, 1);
        dtls_free(w.ends[!wrong].d);
        o = (struct dtls_opts){ .client = wrong == 1,
                                .peer = print_of(wrong == 1 ? ours : theirs, DTLS_SHA384) };
        o.peer.v[47] ^= 1;
        assert_ok(dtls_new(&w.ends[!wrong].d, wrong == 1 ? theirs : ours, &o));
        assert_int_equal(shake(&w), 0);
        assert_int_equal(state_of(&w, !wrong), DTLS_FAILED);
        assert_string_equal(dtls_why(w.ends[!wrong].d),
                            "its certificate is not that of its description");
        assert_int_equal(state_of(&w, wrong), DTLS_FAILED); /* it was told by an alert */
        assert_false(dtls_keys(w.ends[wrong].d, &(struct srtp_keys){ 0 },
                               &(struct srtp_keys){ 0 }));
        wire_fini(&w);
    }
}

static void identities_are_told(void **state)
{
    const char *text = dtls_identity_fingerprint(ours);
    char whole[128];
    struct dtls_fingerprint f;

    (void)state;
    assert_int_equal(strlen(text), 95);
    assert_int_equal(strspn(text, "0123456789ABCDEF:"), 95);
    (void)snprintf(whole, sizeof(whole), "sha-256 %s", text);
    assert_true(dtls_fingerprint_parse(&f, whole, strlen(whole)));
    assert_true(dtls_fingerprint_is(&f, SSL_CTX_get0_certificate(dtls_identity_context(ours))));
    f.v[0] ^= 0x80;
    assert_false(dtls_fingerprint_is(&f, SSL_CTX_get0_certificate(dtls_identity_context(ours))));
    assert_in_range(dtls_identity_ends(ours) - time(NULL), 300 * 86400, 365 * 86400);
    assert_ptr_equal(dtls_identity_ref(ours), ours);
    dtls_identity_unref(ours);
}

/* ---- the end */

static void the_first_end_counts(void **state)
{
    (void)state;
    for (unsigned who = 0; who < 2; who++) {
        struct wire w;

        wire_init(&w, theirs, ours, 1);
        w.twice = 100;
        shake(&w);
        dtls_close(w.ends[who].d);
        assert_int_equal(state_of(&w, who), DTLS_CLOSED);
        dtls_close(w.ends[who].d);
        while (step(&w))
            ;
        assert_int_equal(state_of(&w, !who), DTLS_CLOSED);
        dtls_close(w.ends[!who].d);
        while (step(&w))
            ;
        assert_string_equal(dtls_why(w.ends[0].d), "");
        wire_fini(&w);
    }
}

/* Between a connection of ours and OpenSSL itself, whatever is there now. */
static void exchange(struct dtls *d, SSL *raw, struct dtls_datagrams *g)
{
    const uint8_t *data;
    size_t size;

    for (int i = 0; i < 6; i++) {
        uint8_t none[64];

        if (!SSL_is_init_finished(raw))
            (void)SSL_do_handshake(raw);
        while (dtls_datagrams_next(g, &data, &size))
            dtls_input(d, data, size, the_time);
        while (dtls_output(d, &data, &size)) {
            g->in = data;
            g->in_size = size;
            if (!SSL_is_init_finished(raw))
                (void)SSL_do_handshake(raw);
            (void)SSL_read(raw, none, sizeof(none));
        }
    }
}

/* The other end as OpenSSL has it to its end, with a cipher that we take over, and one that not. */
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
        struct dtls_opts o = { .client = client, .peer = print_of(theirs, DTLS_SHA256) };
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
        if (client) /* a server that wants a certificate of us, as all do */
            SSL_set_verify(raw, SSL_VERIFY_NONE, NULL);
        assert_ok(dtls_new(&d, ours, &o));
        dtls_start(d, the_time);
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

/* ---- what is nothing of the peer's */

static void garbage_moves_nothing(void **state)
{
    static const char *const rows[] = {
        "", "16", "16fefd0000000000000000", "16fefd00000000000000000000", /* an empty record */
        "1603030000000000000000000100", "13fefd000000000000000000000100",
        "40fefd000000000000000000000100", "16fefd0000000000000000ffff00",
        "16fefd000000000000000000010016", /* and the head of another */
        "15fefd00000000000000000002", "17fefd0000000000000000000161",
        "17fefd0001000000000000000161", "14fefd0000000000000000000101",
        /* messages: of 16 MB, of number 40, of 33 KB, of 0 bytes */
        "16fefd000000000000000000 0c 01ffffff 0000 000000 000000",
        "16fefd000000000000000000 0c 01000010 0028 000000 000000",
        "16fefd000000000000000000 0c 01008400 0000 000000 000000",
        "16fefd000000000000000000 0c 0b000000 0000 000000 000000",
    };
    struct wire w;

    (void)state;
    wire_init(&w, theirs, ours, 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t data[64], *heap;
        size_t size = hex_bytes(rows[i], data, sizeof(data));

        if (i >= 9)
            break;
        heap = malloc(size + !size);
        memcpy(heap, data, size);
        dtls_input(w.ends[1].d, heap, size, the_time);
        free(heap);
        the_time += CO_MS(100);
    }
    assert_true(state_of(&w, 1) <= DTLS_SHAKES);
    assert_in_range(shake(&w), 1, CO_SECONDS(20));
    for (size_t i = 0; i < COUNT(rows); i++) { /* and none of them ends what is connected */
        uint8_t data[64];
        size_t size = hex_bytes(rows[i], data, sizeof(data));

        dtls_input(w.ends[1].d, data, size, the_time);
        dtls_input(w.ends[0].d, data, size, the_time);
        the_time += CO_MS(100);
    }
    assert_int_equal(state_of(&w, 0), DTLS_DONE);
    assert_int_equal(state_of(&w, 1), DTLS_DONE);
    wire_fini(&w);
}

static void messages_are_bounded(void **state)
{
    struct dtls_guard g = { 0 };
    uint8_t data[13 + 12] = { 22, 0xfe, 0xfd, [12] = 12, [13] = 11 };

    (void)state;
    for (unsigned n = 0; n < 40; n++) { /* of 3,000 bytes each, that never come */
        data[13 + 2] = 3000 >> 8;
        data[13 + 3] = 3000 & 255;
        data[13 + 5] = (uint8_t)n;
        assert_int_equal(dtls_guard_lets(&g, data, sizeof(data), false, 0), n < 10);
    }
    data[13 + 5] = 3;
    assert_true(dtls_guard_lets(&g, data, sizeof(data), false, 0)); /* more of one that is known */
    data[13 + 2] = 0;
    assert_false(dtls_guard_lets(&g, data, sizeof(data), false, 0)); /* of another length */
}

static void records_are_bounded(void **state)
{
    struct dtls_guard g = { 0 };
    uint8_t data[13 + 1] = { 20, 0xfe, 0xfd, [12] = 1 };
    unsigned n = 0;

    (void)state;
    for (unsigned i = 0; i < 250; i++)
        n += dtls_guard_lets(&g, data, sizeof(data), false, CO_SECONDS(5) + i);
    assert_int_equal(n, 100);
    assert_true(dtls_guard_lets(&g, data, sizeof(data), false, CO_SECONDS(7)));
    n = 0;
    data[0] = 22;
    data[4] = 1; /* encrypted, before there are keys */
    for (unsigned i = 0; i < 50; i++)
        n += dtls_guard_lets(&g, data, sizeof(data), false, CO_SECONDS(9));
    assert_int_equal(n, DTLS_EARLY_MAX);
}

static void cut_and_changed_datagrams(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 200; kind++) {
        struct wire w;
        uint8_t data[DTLS_DATAGRAM_MAX];

        wire_init(&w, theirs, ours, kind + 1);
        dtls_start(w.ends[0].d, the_time);
        for (unsigned turn = 0; turn < 40 && step(&w); turn++) {
            for (unsigned i = 0; i < w.n; i++) { /* each comes with a bad copy before it */
                size_t size = w.flying[i].size;

                memcpy(data, w.flying[i].data, size);
                if (kind % 2)
                    size = chance(&w, (uint32_t)size);
                else
                    data[chance(&w, (uint32_t)size)] ^= (uint8_t)(1 << chance(&w, 8));
                dtls_input(w.ends[w.flying[i].to].d, data, size, the_time);
            }
        }
        wire_fini(&w); /* it may fail: handshakes begin in the clear. It must end */
    }
}

/* ---- what it takes */

static void idle_ones_are_small(void **state)
{
    enum { N = 50 };
    static struct wire w[N];
    size_t before, after;

    (void)state;
    wire_init(&w[0], theirs, ours, 1); /* what is made once */
    (void)shake(&w[0]);
    wire_fini(&w[0]);
    before = mallinfo2().uordblks;
    for (unsigned i = 0; i < N; i++) {
        wire_init(&w[i], theirs, ours, 1);
        assert_int_not_equal(shake(&w[i]), 0);
        free(w[i].flying);
        w[i].flying = NULL;
    }
    after = mallinfo2().uordblks;
    print_message("%zu bytes for each of two ends\n", (after - before) / (2 * N));
    assert_true((after - before) / (2 * N) < 2 * 1024);
    for (unsigned i = 0; i < N; i++)
        wire_fini(&w[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(both_connect),
        TEST(of_profiles_ours_is_first),
        TEST(a_server_chooses_the_curve_of_its_certificate),
        TEST(a_thousand_bad_networks),
        TEST(the_first_of_many_kinds_are_lost),
        TEST(nobody_answers),
        TEST(the_last_flight_is_lost),
        TEST(a_repeated_flight_has_new_record_numbers),
        TEST(many_records_behind_the_end_get_one_flight),
        TEST(large_certificates_of_peers),
        TEST(a_certificate_too_large),
        TEST(keys_that_take_long_are_refused),
        TEST(keys_of_peers),
        TEST(rsa_of_our_own),
        TEST(another_certificate_fails),
        TEST(identities_are_told),
        TEST(the_first_end_counts),
        TEST(the_end_with_openssl_itself),
        TEST(garbage_moves_nothing),
        TEST(messages_are_bounded),
        TEST(records_are_bounded),
        TEST(cut_and_changed_datagrams),
        TEST(idle_ones_are_small),
    };

    return cmocka_run_group_tests(tests, identities, no_identities);
}
