/* SPDX-License-Identifier: MIT */
/* crypt.c - AES-128 encryption of segments, [HLS] 4.3.2.4: whole segments, CBC, PKCS7 padding.
 *
 * It encrypts a segment in place while it grows, so that closing a segment takes no longer than a
 * frame.
 */
#include "sink/hls/segment/muxer.h"

#include "base/must.h"

#include <openssl/rand.h>
#include <string.h>

enum { BLOCK = 16 };

static struct hls_shared *new_key(struct hls_muxer *m)
{
    struct hls_numbers n = hls_segment_numbers(m);
    struct hls_shared *x = hls_shared_new(m->store, m->info->set.key_file, &n, true);
    struct wr w;

    must_be(RAND_bytes(x->key, sizeof(x->key)) == 1); /* keys must be secret */
    wr_init(&w, sizeof(x->key));
    wr_bytes(&w, x->key, sizeof(x->key));
    hls_shared_fill(m->store, x, &w, "application/octet-stream");
    return x;
}

void hls_key_next(struct hls_muxer *m)
{
    struct hls_segment *seg = m->now;

    m->crypt.sealed = 0;
    m->crypt.at = (struct hls_seal){ 0 };
    if (!m->info->set.keys || m->info->set.ll)
        return;
    if (!m->crypt.key || m->crypt.used >= (unsigned)m->info->set.fragments_per_key) {
        hls_shared_unref(m->store, m->crypt.key);
        m->crypt.key = new_key(m);
        m->crypt.used = 0;
    }
    m->crypt.used++;
    seg->key = hls_shared_ref(m->crypt.key);
    must_be(RAND_bytes(seg->iv, sizeof(seg->iv)) == 1);
    if (!m->crypt.cipher)
        m->crypt.cipher = must(EVP_CIPHER_CTX_new());
    must_be(EVP_EncryptInit_ex(m->crypt.cipher, EVP_aes_128_cbc(), NULL,
                               m->crypt.key->key, seg->iv) == 1);
}

/* Returns the number of contiguous bytes. */
static size_t piece(struct hls_muxer *m, struct hls_seal *at)
{
    if (!at->block)
        at->block = blocks_begin(&m->out);
    while (at->block && at->at == at->block->len && at->block->next)
        *at = (struct hls_seal){ .block = at->block->next };
    return at->block ? at->block->len - at->at : 0;
}

/* Copies bytes from or to that position, and advances it. */
static void copy(struct hls_muxer *m, struct hls_seal *at, uint8_t *bytes, size_t n, bool to)
{
    while (n > 0) {
        size_t k = piece(m, at) < n ? piece(m, at) : n;
        uint8_t *there = at->block->data + at->at;

        memcpy(to ? there : bytes, to ? bytes : there, k);
        at->at += k;
        bytes += k;
        n -= k;
    }
}

static void encrypt(struct hls_muxer *m, uint8_t *bytes, size_t n)
{
    int made = 0;

    must_be(EVP_EncryptUpdate(m->crypt.cipher, bytes, &made, bytes, (int)n) == 1 && made == (int)n);
    m->crypt.sealed += n;
}

void hls_seal(struct hls_muxer *m)
{
    uint8_t across[BLOCK]; /* a cipher block that spans two memory blocks */

    if (!m->now || !m->now->key)
        return;
    (void)blocks_begin(&m->out);
    while (blocks_len(&m->out) - m->crypt.sealed >= BLOCK) {
        size_t n = piece(m, &m->crypt.at) / BLOCK * BLOCK;
        struct hls_seal from = m->crypt.at;

        if (n > 0) {
            encrypt(m, from.block->data + from.at, n);
            m->crypt.at.at += n;
            continue;
        }
        copy(m, &from, across, BLOCK, false);
        encrypt(m, across, BLOCK);
        copy(m, &m->crypt.at, across, BLOCK, true);
    }
}

void hls_seal_end(struct hls_muxer *m)
{
    uint8_t rest[BLOCK], last[2 * BLOCK];
    struct hls_seal from;
    size_t left;
    int made = 0, more = 0;

    if (!m->now->key)
        return;
    hls_seal(m);
    left = blocks_len(&m->out) - m->crypt.sealed;
    from = m->crypt.at;
    copy(m, &from, rest, left, false);
    must_be(EVP_EncryptUpdate(m->crypt.cipher, last, &made, rest, (int)left) == 1);
    must_be(EVP_EncryptFinal_ex(m->crypt.cipher, last + made, &more) == 1);
    copy(m, &m->crypt.at, last, left, true);
    wr_bytes(&m->out.w, last + left, (size_t)(made + more) - left);
}
