/* SPDX-License-Identifier: MIT */
/* after.c - a connection behind its handshake, without OpenSSL: an SSL takes 30 KB as long as it
 * lives, and all that comes yet is an alert, or the peer's last flight again when ours was lost.
 *
 * Records are sealed by AES-128-GCM, RFC 5288; other ciphers keep their SSL.
 */
#include "proto/dtls/own.h"

#include "base/must.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <string.h>

enum {
    RECORD_HEAD = 13, EXPLICIT = 8, TAG = 16, ALERT = 2, ALERT_RECORD = 21, HANDSHAKE_RECORD = 22,
    SEALED = EXPLICIT + ALERT + TAG, WARNING = 1, KNOWN = 13, NONCE = 12,
};
/* Numbers of our records from here on: behind all that the handshake can have used. */
#define FIRST_NUMBER (UINT64_C(1) << 48 | UINT64_C(1) << 32) /* of epoch 1 */

/* RFC 5246, 6.3: keys of client and server, then the fixed parts of their nonces. */
static bool expand(uint8_t out[DTLS_AFTER_KEYS], SSL *ssl)
{
    uint8_t master[SSL_MAX_MASTER_KEY_LENGTH], random[2 * SSL3_RANDOM_SIZE];
    size_t size = SSL_SESSION_get_master_key(SSL_get_session(ssl), master, sizeof(master));
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, OSSL_KDF_NAME_TLS1_PRF, NULL);
    EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    char digest[] = "SHA256", label[] = "key expansion";
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, master, size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, label, sizeof(label) - 1),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, random, sizeof(random)),
        OSSL_PARAM_construct_end(),
    };
    bool done;

    (void)SSL_get_server_random(ssl, random, SSL3_RANDOM_SIZE);
    (void)SSL_get_client_random(ssl, random + SSL3_RANDOM_SIZE, SSL3_RANDOM_SIZE);
    done = ctx && EVP_KDF_derive(ctx, out, DTLS_AFTER_KEYS, params) == 1;
    OPENSSL_cleanse(master, sizeof(master));
    EVP_KDF_CTX_free(ctx);
    EVP_KDF_free(kdf);
    return done;
}

bool dtls_after_begin(struct dtls_after *a, SSL *ssl, const uint8_t *flight, size_t size)
{
    const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
    int nid = cipher ? SSL_CIPHER_get_cipher_nid(cipher) : NID_undef;

    if (nid != NID_aes_128_gcm || SSL_version(ssl) != DTLS1_2_VERSION || !expand(a->keys, ssl))
        return false;
    a->client = !SSL_is_server(ssl);
    a->number = FIRST_NUMBER;
    if (!a->client && size > 0) {
        a->flight = must(malloc(size));
        memcpy(a->flight, flight, size);
        a->flight_size = size;
    }
    return true;
}

void dtls_after_fini(struct dtls_after *a)
{
    free(a->flight);
    OPENSSL_cleanse(a, sizeof(*a));
}

static void put_be(uint8_t *to, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
}

/* Seal or open the two bytes at `text`; the tag is behind them. */
static bool run(const struct dtls_after *a, bool seal, const uint8_t *head, uint8_t *text)
{
    bool of_client = a->client == seal;
    const uint8_t *key = a->keys + (of_client ? 0 : 16), *fixed = a->keys + (of_client ? 32 : 36);
    EVP_CIPHER_CTX *ctx = must(EVP_CIPHER_CTX_new());
    uint8_t nonce[NONCE], known[KNOWN];
    int n;
    bool done;

    memcpy(nonce, fixed, 4);
    memcpy(nonce + 4, head + RECORD_HEAD, EXPLICIT);
    memcpy(known, head + 3, 8);  /* epoch and number */
    memcpy(known + 8, head, 3);  /* type and version */
    put_be(known + 11, ALERT, 2);
    done = EVP_CipherInit_ex(ctx, EVP_aes_128_gcm(), NULL, key, nonce, seal) == 1 &&
           EVP_CipherUpdate(ctx, NULL, &n, known, sizeof(known)) == 1 &&
           EVP_CipherUpdate(ctx, text, &n, text, ALERT) == 1 &&
           (seal || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG, text + ALERT) == 1) &&
           EVP_CipherFinal_ex(ctx, text + ALERT, &n) == 1 &&
           (!seal || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG, text + ALERT) == 1);
    EVP_CIPHER_CTX_free(ctx);
    return done;
}

void dtls_after_close(struct dtls_after *a, struct dtls_datagrams *g)
{
    uint8_t record[RECORD_HEAD + SEALED] = { ALERT_RECORD, 0xfe, 0xfd };

    put_be(record + 3, a->number++, 8);
    put_be(record + 11, SEALED, 2);
    memcpy(record + RECORD_HEAD, record + 3, EXPLICIT);
    record[RECORD_HEAD + EXPLICIT] = WARNING; /* close_notify is 0 */
    if (run(a, true, record, record + RECORD_HEAD + EXPLICIT))
        dtls_datagrams_put(g, record, sizeof(record));
}

static enum dtls_heard hear_alert(const struct dtls_after *a, const uint8_t *record, size_t size)
{
    uint8_t copy[RECORD_HEAD + SEALED], *text = copy + RECORD_HEAD + EXPLICIT;

    if (size != sizeof(copy))
        return DTLS_HEARD_NOTHING;
    memcpy(copy, record, size);
    if (!run(a, false, copy, text))
        return DTLS_HEARD_NOTHING;
    if (text[1] == 0)
        return DTLS_HEARD_CLOSE;
    return text[0] == WARNING ? DTLS_HEARD_NOTHING : DTLS_HEARD_FATAL;
}

enum dtls_heard dtls_after_input(struct dtls_after *a, struct dtls_datagrams *g,
                                 const uint8_t *data, size_t size)
{
    bool again = false;

    while (size >= RECORD_HEAD) { /* the guard has seen that they are whole */
        size_t whole = RECORD_HEAD + ((size_t)data[11] << 8 | data[12]);
        bool encrypted = data[3] == 0 && data[4] == 1;
        enum dtls_heard heard;

        if (encrypted && data[0] == ALERT_RECORD) {
            heard = hear_alert(a, data, whole);
            if (heard != DTLS_HEARD_NOTHING)
                return heard;
        } else if (encrypted && data[0] == HANDSHAKE_RECORD && !again) {
            again = true; /* nothing proves it, so a datagram of a hundred gets one answer */
            dtls_datagrams_put_all(g, a->flight, a->flight_size);
        }
        data += whole;
        size -= whole;
    }
    return DTLS_HEARD_NOTHING;
}
