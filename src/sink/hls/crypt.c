/* SPDX-License-Identifier: MIT */
/* crypt.c - AES-128 of segments, [HLS] 4.3.2.4: whole segments, CBC, PKCS7 padding.
 *
 * A segment is encrypted in place while it grows, so closing one takes no longer than any frame.
 */
#include "sink/hls/stream.h"

#include "base/must.h"

#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16 };

static struct hls_shared *new_key(struct hls_stream *s, uint64_t seq)
{
    struct hls_shared *x = hls_shared_new(s, s->set.key_file_path, s->set.key_file, seq, true);
    struct wr w;

    must_be(RAND_bytes(x->key, sizeof(x->key)) == 1); /* else there are no secrets */
    wr_init(&w, sizeof(x->key));
    wr_bytes(&w, x->key, sizeof(x->key));
    x->file = hls_file_new(s->hls, &w, "application/octet-stream");
    hls_names_set(s->hls, x->path, x->file, s);
    hls_disk_shared(s, x);
    return x;
}

void hls_key_next(struct hls_stream *s)
{
    struct hls_segment *seg = s->now;

    s->crypt.sealed = 0;
    s->crypt.at = (struct hls_seal){ 0 };
    if (!s->set.keys || s->ll)
        return;
    if (!s->crypt.key || s->crypt.used >= (unsigned)s->set.fragments_per_key) {
        hls_shared_unref(s, s->crypt.key);
        s->crypt.key = new_key(s, seg->seq);
        s->crypt.used = 0;
    }
    s->crypt.used++;
    seg->key = hls_shared_ref(s->crypt.key);
    must_be(RAND_bytes(seg->iv, sizeof(seg->iv)) == 1);
    if (!s->crypt.cipher)
        s->crypt.cipher = must(EVP_CIPHER_CTX_new());
    must_be(EVP_EncryptInit_ex(s->crypt.cipher, EVP_aes_128_cbc(), NULL,
                               s->crypt.key->key, seg->iv) == 1);
}

/* How many bytes there are in one piece. */
static size_t piece(struct hls_stream *s, struct hls_seal *at)
{
    if (!at->block)
        at->block = blocks_begin(&s->out);
    while (at->block && at->at == at->block->len && at->block->next)
        *at = (struct hls_seal){ .block = at->block->next };
    return at->block ? at->block->len - at->at : 0;
}

/* Bytes from there, or to there; moves on. */
static void copy(struct hls_stream *s, struct hls_seal *at, uint8_t *bytes, size_t n, bool to)
{
    while (n > 0) {
        size_t k = piece(s, at) < n ? piece(s, at) : n;
        uint8_t *there = at->block->data + at->at;

        memcpy(to ? there : bytes, to ? bytes : there, k);
        at->at += k;
        bytes += k;
        n -= k;
    }
}

static void encrypt(struct hls_stream *s, uint8_t *bytes, size_t n)
{
    int made = 0;

    must_be(EVP_EncryptUpdate(s->crypt.cipher, bytes, &made, bytes, (int)n) == 1 && made == (int)n);
    s->crypt.sealed += n;
}

void hls_seal(struct hls_stream *s)
{
    uint8_t across[BLOCK]; /* from the end of one to the begin of another */

    if (!s->now || !s->now->key)
        return;
    (void)blocks_begin(&s->out);
    while (blocks_len(&s->out) - s->crypt.sealed >= BLOCK) {
        size_t n = piece(s, &s->crypt.at) / BLOCK * BLOCK;
        struct hls_seal from = s->crypt.at;

        if (n > 0) {
            encrypt(s, from.block->data + from.at, n);
            s->crypt.at.at += n;
            continue;
        }
        copy(s, &from, across, BLOCK, false);
        encrypt(s, across, BLOCK);
        copy(s, &s->crypt.at, across, BLOCK, true);
    }
}

void hls_seal_end(struct hls_stream *s)
{
    uint8_t rest[BLOCK], last[2 * BLOCK];
    struct hls_seal from;
    size_t left;
    int made = 0, more = 0;

    if (!s->now->key)
        return;
    hls_seal(s);
    left = blocks_len(&s->out) - s->crypt.sealed;
    from = s->crypt.at;
    copy(s, &from, rest, left, false);
    must_be(EVP_EncryptUpdate(s->crypt.cipher, last, &made, rest, (int)left) == 1);
    must_be(EVP_EncryptFinal_ex(s->crypt.cipher, last + made, &more) == 1);
    copy(s, &s->crypt.at, last, left, true);
    wr_bytes(&s->out.w, last + left, (size_t)(made + more) - left);
}
