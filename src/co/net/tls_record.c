/* SPDX-License-Identifier: MIT */
/* tls_record.c - the records of a TLS 1.3 connection after its handshake (RFC 8446 sections 4.6.3,
 * 5 and 6). */
#include "co/net/tls_record.h"

#include "base/must.h"
#include "base/thread_own.h"

#include <assert.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- the keys of one direction of a TLS 1.3 connection, and records under them (RFC 8446
 * sections 5.2, 5.3, 7.2 and 7.3). */

static const struct {
    unsigned number;
    const char *cipher;
    bool sha384;
    uint8_t secret, key;
} suites[TLS_SUITES] = {
    [TLS_AES_128] = { 0x1301, "AES-128-GCM", false, 32, 16 },
    [TLS_AES_256] = { 0x1302, "AES-256-GCM", true, 48, 32 },
    [TLS_CHACHA20] = { 0x1303, "ChaCha20-Poly1305", false, 32, 32 },
};

static EVP_CIPHER *ciphers[TLS_SUITES]; /* NULL: the library does not support it */
static pthread_once_t ciphers_once = PTHREAD_ONCE_INIT;
static atomic_uint_fast64_t last_id;

/* Expanded forms of the last used keys, for reading ([0]) and writing. */
struct loaded {
    EVP_CIPHER_CTX *ctx;
    uint64_t id; /* id of the key; 0: none */
};
static _Thread_local struct loaded (*loaded)[2]; /* TLS_SUITES entries; NULL: no key yet */

static void find_ciphers(void)
{
    for (int i = 0; i < TLS_SUITES; i++)
        ciphers[i] = EVP_CIPHER_fetch(NULL, suites[i].cipher, NULL);
}

enum tls_suite tls_suite_of(unsigned number)
{
    enum tls_suite s = TLS_AES_128;

    while (s < TLS_SUITES && suites[s].number != number)
        s++;
    return s;
}

size_t tls_suite_secret(enum tls_suite suite)
{
    return suites[suite].secret;
}

/* ---- keys */

/* HKDF-Expand-Label without context. No output is longer than the hash, so one block suffices. */
static bool expand(const struct tls_key *k, const char *label, uint8_t *out, size_t size)
{
    const EVP_MD *md = suites[k->suite].sha384 ? EVP_sha384() : EVP_sha256();
    uint8_t info[32] = { 0, (uint8_t)size }, block[EVP_MAX_MD_SIZE];
    size_t n = strlen(label), at = 3;
    bool ok;

    assert(size <= suites[k->suite].secret && 3 + 6 + n + 2 <= sizeof(info));
    info[2] = (uint8_t)(6 + n);
    memcpy(info + at, "tls13 ", 6);
    memcpy(info + at + 6, label, n);
    at += 6 + n;
    info[at++] = 0; /* no context */
    info[at++] = 1; /* the first block */
    ok = HMAC(md, k->secret, suites[k->suite].secret, info, at, block, NULL) != NULL;
    if (ok)
        memcpy(out, block, size);
    OPENSSL_cleanse(block, sizeof(block));
    return ok;
}

/* Drops the expanded form of the key on this thread, if there is one. */
static void forget(const struct tls_key *k)
{
    for (int i = 0; loaded && k->id && i < 2; i++) {
        if (loaded[k->suite][i].id == k->id) {
            (void)EVP_CIPHER_CTX_reset(loaded[k->suite][i].ctx);
            loaded[k->suite][i].id = 0;
        }
    }
}

/* Derives key and IV from the secret. */
static bool derive(struct tls_key *k)
{
    forget(k);
    k->seq = 0;
    k->id = atomic_fetch_add(&last_id, 1) + 1;
    return expand(k, "key", k->key, suites[k->suite].key) &&
           expand(k, "iv", k->iv, sizeof(k->iv));
}

bool tls_key_init(struct tls_key *k, enum tls_suite suite, const uint8_t *secret)
{
    (void)pthread_once(&ciphers_once, find_ciphers);
    *k = (struct tls_key){ .suite = suite };
    memcpy(k->secret, secret, suites[suite].secret);
    return ciphers[suite] && derive(k);
}

bool tls_key_next(struct tls_key *k)
{
    return expand(k, "traffic upd", k->secret, suites[k->suite].secret) && derive(k);
}

void tls_key_wipe(struct tls_key *k)
{
    forget(k);
    OPENSSL_cleanse(k, sizeof(*k));
}

/* ---- records */

static void at_thread_end(void *p)
{
    struct loaded *all = p;

    for (size_t i = 0; i < (size_t)TLS_SUITES * 2; i++)
        EVP_CIPHER_CTX_free(all[i].ctx);
}

/* Prepares the cipher for the next record of this key. Returns NULL if the library failed. */
static EVP_CIPHER_CTX *load(const struct tls_key *k, bool out)
{
    uint8_t nonce[sizeof(k->iv)];
    struct loaded *l;
    bool same;

    if (!loaded)
        loaded = thread_own(TLS_SUITES * sizeof(*loaded), at_thread_end);
    l = &loaded[k->suite][out];
    same = l->id == k->id;
    if (!l->ctx)
        l->ctx = must(EVP_CIPHER_CTX_new());
    memcpy(nonce, k->iv, sizeof(nonce));
    for (size_t i = 0; i < sizeof(k->seq); i++)
        nonce[sizeof(nonce) - 1 - i] ^= (uint8_t)(k->seq >> 8 * i);
    if (EVP_CipherInit_ex(l->ctx, l->id ? NULL : ciphers[k->suite], NULL, same ? NULL : k->key,
                          nonce, out) != 1) {
        (void)EVP_CIPHER_CTX_reset(l->ctx);
        l->id = 0;
        return NULL;
    }
    l->id = k->id;
    return l->ctx;
}

static void from_skip(struct tls_from *from, size_t n)
{
    from->at += n;
    while (from->count > 0 && from->at >= from->iov->iov_len) {
        from->at -= from->iov->iov_len;
        from->iov++;
        from->count--;
    }
}

static bool put(EVP_CIPHER_CTX *ctx, uint8_t **to, const void *data, size_t size)
{
    int n = 0;

    if (EVP_EncryptUpdate(ctx, *to, &n, data, (int)size) != 1 || (size_t)n != size)
        return false;
    *to += size;
    return true;
}

static bool put_pieces(EVP_CIPHER_CTX *ctx, uint8_t **to, struct tls_from *from, size_t size)
{
    while (size > 0) {
        size_t n;

        from_skip(from, 0);
        assert(from->count > 0);
        n = from->iov->iov_len - from->at;
        if (n > size)
            n = size;
        if (!put(ctx, to, (const uint8_t *)from->iov->iov_base + from->at, n))
            return false;
        from_skip(from, n);
        size -= n;
    }
    return true;
}

bool tls_key_seal(struct tls_key *k, uint8_t type, struct tls_from *from, size_t size,
                  uint8_t *out)
{
    size_t inside = size + 1 + TLS_TAG;
    const uint8_t head[TLS_HEAD] = { 23, 3, 3, (uint8_t)(inside >> 8), (uint8_t)inside };
    EVP_CIPHER_CTX *ctx = load(k, true);
    uint8_t *to = out + TLS_HEAD;
    int n = 0;

    memcpy(out, head, sizeof(head));
    k->seq++; /* even on failure: no two records may have the same number */
    return ctx && EVP_EncryptUpdate(ctx, NULL, &n, head, sizeof(head)) == 1 &&
           put_pieces(ctx, &to, from, size) && put(ctx, &to, &type, 1) &&
           EVP_EncryptFinal_ex(ctx, to, &n) == 1 && n == 0 &&
           EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TLS_TAG, to) == 1;
}

bool tls_key_open(struct tls_key *k, uint8_t *record, size_t size)
{
    EVP_CIPHER_CTX *ctx = load(k, false);
    int inside = (int)(size - TLS_HEAD - TLS_TAG), n = 0;
    uint8_t *data = record + TLS_HEAD;

    if (!ctx || EVP_DecryptUpdate(ctx, NULL, &n, record, TLS_HEAD) != 1 ||
        EVP_DecryptUpdate(ctx, data, &n, data, inside) != 1 || n != inside ||
        EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TLS_TAG, data + inside) != 1 ||
        EVP_DecryptFinal_ex(ctx, data + inside, &n) != 1)
        return false;
    k->seq++;
    return true;
}

enum { ALERT = 21, HANDSHAKE = 22, DATA = 23 }; /* record types */
enum { KEY_UPDATE = 24, WARNING = 1, FATAL = 2 };

/* ---- reading */

static struct tls_got got(enum tls_kind kind)
{
    return (struct tls_got){ .kind = kind };
}

static struct tls_got bad(struct tls_records *r, enum tls_alert alert)
{
    r->ended = true;
    return (struct tls_got){ .kind = TLS_BAD, .alert = (uint8_t)alert };
}

static struct tls_got quiet(struct tls_records *r, enum tls_kind kind)
{
    return ++r->quiet > TLS_QUIET ? bad(r, TLS_UNEXPECTED_MESSAGE) : got(kind);
}

/* Returns the length of the encrypted part of the record at `in`, without checking that it is
 * complete. */
static size_t length(const uint8_t *in)
{
    return (size_t)in[3] << 8 | in[4];
}

/* Checks a record header; returns the alert to send, or 0. */
static enum tls_alert wrong_head(const uint8_t *in)
{
    if (in[0] != DATA)
        return TLS_UNEXPECTED_MESSAGE; /* all records are encrypted by now */
    if (length(in) > TLS_RECORD - TLS_HEAD)
        return TLS_RECORD_OVERFLOW;
    return length(in) > TLS_TAG ? 0 : TLS_DECODE_ERROR;
}

bool tls_records_whole(const uint8_t *in, size_t size)
{
    return size >= TLS_HEAD && (wrong_head(in) || size - TLS_HEAD >= length(in));
}

/* Handles a handshake message. A client may only send new keys now. That is the last message of its
 * record, and no library splits its five bytes. */
static struct tls_got handshake(struct tls_records *r, const uint8_t *p, size_t n)
{
    if (n == 0 || p[0] != KEY_UPDATE)
        return bad(r, TLS_UNEXPECTED_MESSAGE);
    if (n != 5 || p[1] || p[2] || p[3] != 1)
        return bad(r, TLS_DECODE_ERROR);
    if (p[4] > 1)
        return bad(r, TLS_ILLEGAL_PARAMETER);
    if (!tls_key_next(&r->in))
        return bad(r, TLS_INTERNAL_ERROR);
    return quiet(r, p[4] ? TLS_ASKS : TLS_NOTHING);
}

static struct tls_got alert(struct tls_records *r, const uint8_t *p, size_t n)
{
    if (n != 2)
        return bad(r, TLS_DECODE_ERROR);
    if (p[1] == TLS_USER_CANCELED)
        return quiet(r, TLS_NOTHING); /* close_notify follows */
    r->ended = true;
    if (p[1] == TLS_CLOSE_NOTIFY)
        return got(TLS_ENDED);
    r->mute = true;
    return (struct tls_got){ .kind = TLS_REFUSED, .alert = p[1] };
}

static struct tls_got inside(struct tls_records *r, uint8_t type, uint8_t *p, size_t n)
{
    switch (type) {
    case DATA:
        if (n == 0)
            return quiet(r, TLS_NOTHING);
        r->quiet = 0;
        return (struct tls_got){ .kind = TLS_DATA, .data = p, .size = n };
    case HANDSHAKE:
        return handshake(r, p, n);
    case ALERT:
        return alert(r, p, n);
    default:
        return bad(r, TLS_UNEXPECTED_MESSAGE);
    }
}

struct tls_got tls_records_read(struct tls_records *r, uint8_t *in, size_t size)
{
    struct tls_got is;
    uint8_t *p;
    size_t n;

    if (r->ended)
        return got(TLS_ENDED);
    if (!tls_records_whole(in, size))
        return got(TLS_PARTIAL);
    if (wrong_head(in))
        return bad(r, wrong_head(in));
    p = in + TLS_HEAD;
    n = length(in) - TLS_TAG;
    if (!tls_key_open(&r->in, in, TLS_HEAD + length(in)))
        return bad(r, TLS_BAD_RECORD_MAC);
    if (n > TLS_CONTENT + 1)
        return bad(r, TLS_RECORD_OVERFLOW);
    while (n > 0 && p[n - 1] == 0) /* padding after the type */
        n--;
    if (n == 0)
        return bad(r, TLS_UNEXPECTED_MESSAGE);
    is = inside(r, p[n - 1], p, n - 1);
    is.taken = TLS_HEAD + length(in);
    return is;
}

/* ---- writing */

static size_t seal(struct tls_records *r, uint8_t type, struct tls_from *from, size_t size,
                   uint8_t *out)
{
    if (!r->mute && tls_key_seal(&r->out, type, from, size, out))
        return size + TLS_MORE;
    r->mute = true;
    return 0;
}

static size_t seal_bytes(struct tls_records *r, uint8_t type, const void *data, size_t size,
                         uint8_t *out)
{
    const struct iovec iov = { (void *)(uintptr_t)data, size };
    struct tls_from from = { &iov, 1, 0 };

    return seal(r, type, &from, size, out);
}

size_t tls_records_update(struct tls_records *r, uint8_t out[TLS_UPDATE])
{
    static const uint8_t message[5] = { KEY_UPDATE, 0, 0, 1, 0 };
    size_t n = seal_bytes(r, HANDSHAKE, message, sizeof(message), out);

    if (n > 0 && tls_key_next(&r->out))
        return n;
    r->mute = true;
    return 0;
}

size_t tls_records_data(struct tls_records *r, struct tls_from *from, size_t size, uint8_t *out)
{
    size_t before = 0, n;

    if (r->out.seq >= TLS_KEY_RECORDS) {
        before = tls_records_update(r, out);
        if (before == 0)
            return 0;
    }
    n = seal(r, DATA, from, size, out + before);
    return n > 0 ? before + n : 0;
}

size_t tls_records_alert(struct tls_records *r, uint8_t alert, uint8_t out[TLS_ALERT])
{
    const uint8_t message[2] = { alert == TLS_CLOSE_NOTIFY ? WARNING : FATAL, alert };
    size_t n = seal_bytes(r, ALERT, message, sizeof(message), out);

    r->mute = true;
    return n;
}

void tls_records_leave(const struct tls_records *r)
{
    forget(&r->in);
    forget(&r->out);
}

void tls_records_free(struct tls_records *r)
{
    if (r) {
        tls_key_wipe(&r->in);
        tls_key_wipe(&r->out);
    }
    free(r);
}
