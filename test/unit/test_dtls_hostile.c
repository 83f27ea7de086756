/* SPDX-License-Identifier: MIT */
/* test_dtls_hostile.c - certificates of all sizes, invalid ones, garbage. */
#include "co/net/tls_peer.h"
#include "dtls_wire.h"
#include "hex.h"
#include "rsa_keys.h"

#include <openssl/x509v3.h>
#include <string.h>

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    (void)zone;
    return dtls_wire_timeofday(tv);
}

/* ---- certificates */

/* A certificate with this key and number of names. */
static void use_certificate(struct dtls_identity *id, EVP_PKEY *key, unsigned names)
{
    SSL_CTX *ctx = dtls_identity_context(id);
    X509 *x = X509_new();
    X509_NAME *name = X509_get_subject_name(x);

    (void)X509_set_version(x, 2);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    (void)X509_gmtime_adj(X509_getm_notBefore(x), -100000);
    (void)X509_gmtime_adj(X509_getm_notAfter(x), -1000); /* it has expired, which does not matter */
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
            struct dtls_wire w;

            if (seed % 2)
                dtls_wire_init(&w, ours, big, seed);
            else
                dtls_wire_init(&w, big, ours, seed);
            w.reorder = CO_MS(seed % 5 * 8);
            w.loss = seed % 3 * 5;
            if (dtls_wire_shake(&w) == 0)
                fail_msg("row %u, seed %u: %s, %s", row, seed, dtls_why(w.ends[0].d),
                         dtls_why(w.ends[1].d));
            dtls_wire_assert_keys(&w, SRTP_AEAD_AES_128_GCM);
            dtls_wire_fini(&w);
        }
        dtls_identity_unref(big);
    }
}

/* Whether it is rejected before a signature with it is checked. */
static void refused_for_its_key(EVP_PKEY *key, const char *why)
{
    for (unsigned server = 0; server < 2; server++) {
        struct dtls_identity *id;
        struct dtls_wire w;

        assert_ok(dtls_identity_new(&id, &(struct dtls_identity_opts){ .rsa = true }));
        assert_int_equal(EVP_PKEY_up_ref(key), 1);
        use_certificate(id, key, 0);
        dtls_wire_init(&w, server ? ours : id, server ? id : ours, 1);
        assert_int_equal(dtls_wire_shake(&w), 0);
        assert_int_equal(dtls_wire_state_of(&w, !server), DTLS_FAILED);
        assert_string_equal(dtls_why(w.ends[!server].d), why);
        dtls_wire_fini(&w);
        dtls_identity_unref(id);
    }
    EVP_PKEY_free(key);
}

static void keys_that_take_long_are_refused(void **state)
{
    (void)state;
    refused_for_its_key(rsa_of(3217, 1279, 65537),
                        "the peer's certificate has an RSA key of 4496 bits, exponent of 17; at most 4096 and 32");
    refused_for_its_key(rsa_with_large_exponent(),
                        "the peer's certificate has an RSA key of 2810 bits, exponent of 41; at most 4096 and 32");
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
    struct dtls_wire w;

    (void)state;
    assert_ok(dtls_identity_new(&big, &(struct dtls_identity_opts){ .rsa = false }));
    use_certificate(big, EVP_EC_gen("P-256"), 1000); /* 33 KB */
    dtls_wire_init(&w, big, ours, 1);
    assert_int_equal(dtls_wire_shake(&w), 0);
    assert_int_not_equal(dtls_wire_state_of(&w, 1), DTLS_DONE);
    dtls_wire_fini(&w);
    dtls_identity_unref(big);
}

static void rsa_of_our_own(void **state)
{
    struct dtls_identity *rsa;
    struct dtls_wire w;

    (void)state;
    assert_ok(dtls_identity_new(&rsa, &(struct dtls_identity_opts){ .rsa = true }));
    dtls_wire_init(&w, theirs, rsa, 1);
    assert_in_range(dtls_wire_shake(&w), 1, CO_MS(20));
    assert_string_equal(dtls_cipher(w.ends[1].d), "ECDHE-RSA-AES128-GCM-SHA256");
    dtls_wire_fini(&w);
    dtls_identity_unref(rsa);
}

static void another_certificate_fails(void **state)
{
    (void)state;
    for (unsigned wrong = 0; wrong < 2; wrong++) { /* the client's, the server's */
        struct dtls_wire w;
        struct dtls_opts o;

        dtls_wire_init(&w, theirs, ours, 1);
        dtls_free(w.ends[!wrong].d);
        o = (struct dtls_opts){ .client = wrong == 1,
                                .peer = dtls_wire_print_of(wrong == 1 ? ours : theirs, DTLS_SHA384) };
        o.peer.v[47] ^= 1;
        assert_ok(dtls_new(&w.ends[!wrong].d, wrong == 1 ? theirs : ours, &o));
        assert_int_equal(dtls_wire_shake(&w), 0);
        assert_int_equal(dtls_wire_state_of(&w, !wrong), DTLS_FAILED);
        assert_string_equal(dtls_why(w.ends[!wrong].d),
                            "the peer's certificate does not match its description");
        assert_int_equal(dtls_wire_state_of(&w, wrong), DTLS_FAILED); /* it got an alert */
        assert_false(dtls_keys(w.ends[wrong].d, &(struct srtp_keys){ 0 },
                               &(struct srtp_keys){ 0 }));
        dtls_wire_fini(&w);
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

/* ---- data not from the peer */

static void garbage_moves_nothing(void **state)
{
    static const char *const rows[] = {
        "", "16", "16fefd0000000000000000", "16fefd00000000000000000000", /* an empty record */
        "1603030000000000000000000100", "13fefd000000000000000000000100",
        "40fefd000000000000000000000100", "16fefd0000000000000000ffff00",
        "16fefd000000000000000000010016", /* and the header of another */
        "15fefd00000000000000000002", "17fefd0000000000000000000161",
        "17fefd0001000000000000000161", "14fefd0000000000000000000101",
        /* messages with size 16 MB, type 40, size 33 KB, size 0 */
        "16fefd000000000000000000 0c 01ffffff 0000 000000 000000",
        "16fefd000000000000000000 0c 01000010 0028 000000 000000",
        "16fefd000000000000000000 0c 01008400 0000 000000 000000",
        "16fefd000000000000000000 0c 0b000000 0000 000000 000000",
    };
    struct dtls_wire w;

    (void)state;
    dtls_wire_init(&w, theirs, ours, 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t data[64], *heap;
        size_t size = hex_bytes(rows[i], data, sizeof(data));

        if (i >= 9)
            break;
        heap = malloc(size + !size);
        memcpy(heap, data, size);
        dtls_input(w.ends[1].d, heap, size, dtls_time);
        free(heap);
        dtls_time += CO_MS(100);
    }
    assert_true(dtls_wire_state_of(&w, 1) <= DTLS_SHAKES);
    assert_in_range(dtls_wire_shake(&w), 1, CO_SECONDS(20));
    for (size_t i = 0; i < COUNT(rows); i++) { /* and none of them ends a connected session */
        uint8_t data[64];
        size_t size = hex_bytes(rows[i], data, sizeof(data));

        dtls_input(w.ends[1].d, data, size, dtls_time);
        dtls_input(w.ends[0].d, data, size, dtls_time);
        dtls_time += CO_MS(100);
    }
    assert_int_equal(dtls_wire_state_of(&w, 0), DTLS_DONE);
    assert_int_equal(dtls_wire_state_of(&w, 1), DTLS_DONE);
    dtls_wire_fini(&w);
}

static void messages_are_bounded(void **state)
{
    struct dtls_guard g = { 0 };
    uint8_t data[13 + 12] = { 22, 0xfe, 0xfd, [12] = 12, [13] = 11 };

    (void)state;
    for (unsigned n = 0; n < 40; n++) { /* 3,000 bytes each, which never arrive */
        data[13 + 2] = 3000 >> 8;
        data[13 + 3] = 3000 & 255;
        data[13 + 5] = (uint8_t)n;
        assert_int_equal(dtls_guard_lets(&g, data, sizeof(data), false, 0), n < 10);
    }
    data[13 + 5] = 3;
    assert_true(dtls_guard_lets(&g, data, sizeof(data), false, 0)); /* more of a known one */
    data[13 + 2] = 0;
    assert_false(dtls_guard_lets(&g, data, sizeof(data), false, 0)); /* another length */
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
    data[4] = 1; /* encrypted, before keys exist */
    for (unsigned i = 0; i < 50; i++)
        n += dtls_guard_lets(&g, data, sizeof(data), false, CO_SECONDS(9));
    assert_int_equal(n, DTLS_EARLY_MAX);
}

static void cut_and_changed_datagrams(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 200; kind++) {
        struct dtls_wire w;
        uint8_t data[DTLS_DATAGRAM_MAX];

        dtls_wire_init(&w, theirs, ours, kind + 1);
        dtls_start(w.ends[0].d, dtls_time);
        for (unsigned turn = 0; turn < 40 && dtls_wire_step(&w); turn++) {
            for (unsigned i = 0; i < w.n; i++) { /* each comes after a bad copy */
                size_t size = w.flying[i].size;

                memcpy(data, w.flying[i].data, size);
                if (kind % 2)
                    size = dtls_wire_chance(&w, (uint32_t)size);
                else
                    data[dtls_wire_chance(&w, (uint32_t)size)] ^= (uint8_t)(1 << dtls_wire_chance(&w, 8));
                dtls_input(w.ends[w.flying[i].to].d, data, size, dtls_time);
            }
        }
        dtls_wire_fini(&w); /* it may fail, because handshakes begin unencrypted. It must end */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(large_certificates_of_peers),
        TEST(a_certificate_too_large),
        TEST(keys_that_take_long_are_refused),
        TEST(keys_of_peers),
        TEST(rsa_of_our_own),
        TEST(another_certificate_fails),
        TEST(identities_are_told),
        TEST(garbage_moves_nothing),
        TEST(messages_are_bounded),
        TEST(records_are_bounded),
        TEST(cut_and_changed_datagrams),
    };

    return cmocka_run_group_tests(tests, dtls_wire_identities, dtls_wire_no_identities);
}
