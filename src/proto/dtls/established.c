/* SPDX-License-Identifier: MIT */
/* established.c - a DTLS connection after its handshake, without OpenSSL.
 *
 * An SSL object takes 30 KB for its whole life, but only alerts can still arrive, or the peer's
 * last flight again if ours was lost. In the latter case ours is sent again with new record numbers
 * ([DTLS] RFC 6347, 4.2.4), because the peer's replay protection drops known numbers; so the
 * Finished is encrypted again.
 * Records are sealed with AES-128-GCM, RFC 5288; connections with other ciphers keep their SSL.
 */
#include "proto/dtls/own.h"

#include "base/must.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <string.h>

enum {
    RECORD_HEAD = 13, EXPLICIT = 8, TAG = 16, ALERT = 2, SEALED = EXPLICIT + TAG, WARNING = 1,
    KNOWN = 13, NONCE = 12,
    CHANGE_RECORD = 20, ALERT_RECORD = 21, HANDSHAKE_RECORD = 22, /* content types */
    FRAMING = 2, /* length prefix of a datagram in datagrams.c */
    CHANGE = RECORD_HEAD + 1, FINISHED = RECORD_HEAD + SEALED + DTLS_FINISHED,
};
#define EPOCH_1 (UINT64_C(1) << 48)
/* Number of a client's records after the handshake: above all numbers that its flights can have
 * used. */
#define CLIENT_NUMBER (EPOCH_1 | UINT64_C(1) << 32)

/* RFC 5246, 6.3: derives the keys of client and server, then the fixed parts of their nonces. */
static bool expand(uint8_t out[DTLS_ESTABLISHED_KEYS], SSL *ssl)
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
    done = ctx && EVP_KDF_derive(ctx, out, DTLS_ESTABLISHED_KEYS, params) == 1;
    OPENSSL_cleanse(master, sizeof(master));
    EVP_KDF_CTX_free(ctx);
    EVP_KDF_free(kdf);
    return done;
}

static void put_be(uint8_t *to, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
}

static uint64_t get_be(const uint8_t *from, int n)
{
    uint64_t v = 0;

    for (int i = 0; i < n; i++)
        v = v << 8 | from[i];
    return v;
}

/* ---- records */

/* Encrypts or decrypts `size` bytes of a record of the client or server in place; the tag follows
 * them. */
static bool run(const struct dtls_established *a, bool of_client, bool seal, uint8_t *record,
                int size)
{
    const uint8_t *key = a->keys + (of_client ? 0 : 16), *fixed = a->keys + (of_client ? 32 : 36);
    uint8_t *text = record + RECORD_HEAD + EXPLICIT, nonce[NONCE], known[KNOWN];
    EVP_CIPHER_CTX *ctx = must(EVP_CIPHER_CTX_new());
    int n;
    bool done;

    memcpy(nonce, fixed, 4);
    memcpy(nonce + 4, record + RECORD_HEAD, EXPLICIT);
    memcpy(known, record + 3, 8);  /* epoch and record number */
    memcpy(known + 8, record, 3);  /* type and version */
    put_be(known + 11, (uint64_t)size, 2);
    done = EVP_CipherInit_ex(ctx, EVP_aes_128_gcm(), NULL, key, nonce, seal) == 1 &&
           EVP_CipherUpdate(ctx, NULL, &n, known, sizeof(known)) == 1 &&
           EVP_CipherUpdate(ctx, text, &n, text, size) == 1 &&
           (seal || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG, text + size) == 1) &&
           EVP_CipherFinal_ex(ctx, text + size, &n) == 1 &&
           (!seal || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG, text + size) == 1);
    EVP_CIPHER_CTX_free(ctx);
    return done;
}

static void put_head(uint8_t *record, uint8_t type, uint64_t number, size_t size)
{
    record[0] = type;
    put_be(record + 1, DTLS1_2_VERSION, 2);
    put_be(record + 3, number, 8);
    put_be(record + 11, size, 2);
}

/* Writes one of our records, encrypted, with the next number. */
static bool put_sealed(struct dtls_established *a, uint8_t *record, uint8_t type,
                       const uint8_t *text, size_t size)
{
    put_head(record, type, a->number++, SEALED + size);
    memcpy(record + RECORD_HEAD, record + 3, EXPLICIT);
    memcpy(record + RECORD_HEAD + EXPLICIT, text, size);
    return run(a, a->client, true, record, (int)size);
}

/* ---- a server's last flight: ChangeCipherSpec and Finished */

/* Keeps the Finished, and the next record numbers. */
static bool keep_flight(struct dtls_established *a, const uint8_t *flight, size_t size)
{
    const uint8_t *change = flight + FRAMING;
    uint8_t record[FINISHED];

    /* without tickets OpenSSL sends nothing else: in one datagram, or one for each */
    if ((size != FRAMING + CHANGE + FINISHED && size != 2 * FRAMING + CHANGE + FINISHED) ||
        change[0] != CHANGE_RECORD)
        return false;
    memcpy(record, flight + size - FINISHED, FINISHED);
    if (!run(a, false, false, record, DTLS_FINISHED))
        return false;
    memcpy(a->finished, record + RECORD_HEAD + EXPLICIT, DTLS_FINISHED);
    a->clear_number = get_be(change + 3, 8) + 1;
    a->number = get_be(record + 3, 8) + 1;
    return true;
}

static void repeat_flight(struct dtls_established *a, struct dtls_datagrams *g)
{
    uint8_t flight[CHANGE + FINISHED];

    put_head(flight, CHANGE_RECORD, a->clear_number++, 1);
    flight[RECORD_HEAD] = 1;
    if (put_sealed(a, flight + CHANGE, HANDSHAKE_RECORD, a->finished, DTLS_FINISHED))
        dtls_datagrams_put(g, flight, sizeof(flight));
}

bool dtls_established_begin(struct dtls_established *a, SSL *ssl, const uint8_t *flight,
                            size_t size)
{
    const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
    int nid = cipher ? SSL_CIPHER_get_cipher_nid(cipher) : NID_undef;

    if (nid != NID_aes_128_gcm || SSL_version(ssl) != DTLS1_2_VERSION || !expand(a->keys, ssl))
        return false;
    a->client = !SSL_is_server(ssl);
    a->number = CLIENT_NUMBER;
    return a->client || keep_flight(a, flight, size);
}

void dtls_established_fini(struct dtls_established *a)
{
    OPENSSL_cleanse(a, sizeof(*a));
}

/* ---- alerts, and other input */

void dtls_established_close(struct dtls_established *a, struct dtls_datagrams *g)
{
    uint8_t record[RECORD_HEAD + SEALED + ALERT];

    if (put_sealed(a, record, ALERT_RECORD, (uint8_t[ALERT]){ WARNING, 0 /* close_notify */ },
                   ALERT))
        dtls_datagrams_put(g, record, sizeof(record));
}

static enum dtls_event read_alert(const struct dtls_established *a, const uint8_t *record,
                                  size_t size)
{
    uint8_t copy[RECORD_HEAD + SEALED + ALERT], *text = copy + RECORD_HEAD + EXPLICIT;

    if (size != sizeof(copy))
        return DTLS_EVENT_NONE;
    memcpy(copy, record, size);
    if (!run(a, !a->client, false, copy, ALERT))
        return DTLS_EVENT_NONE;
    if (text[1] == 0)
        return DTLS_EVENT_CLOSE;
    return text[0] == WARNING ? DTLS_EVENT_NONE : DTLS_EVENT_FATAL;
}

enum dtls_event dtls_established_input(struct dtls_established *a, struct dtls_datagrams *g,
                                 const uint8_t *data, size_t size)
{
    bool again = false;

    while (size >= RECORD_HEAD) { /* the guard has checked that the records are complete */
        size_t whole = RECORD_HEAD + ((size_t)data[11] << 8 | data[12]);
        bool encrypted = data[3] == 0 && data[4] == 1;
        enum dtls_event event;

        if (encrypted && data[0] == ALERT_RECORD) {
            event = read_alert(a, data, whole);
            if (event != DTLS_EVENT_NONE)
                return event;
        } else if (encrypted && data[0] == HANDSHAKE_RECORD && !again) {
            again = true; /* not authenticated, so a datagram with many of them gets one response */
            if (!a->client)
                repeat_flight(a, g);
        }
        data += whole;
        size -= whole;
    }
    return DTLS_EVENT_NONE;
}
