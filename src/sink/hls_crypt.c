/* SPDX-License-Identifier: MIT */
/* hls_crypt.c - AES-128 of segments, [HLS] 4.3.2.4: whole segments, CBC, PKCS7 padding.
 *
 * A segment is encrypted in place while it grows, so closing one takes no longer than any frame.
 */
#include "sink/hls_stream.h"

#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16 };

static struct hls_shared *new_key(struct hls_stream *s, uint64_t seq)
{
    struct hls_shared *x = hls_shared_new(s, s->set->key_file_path, s->set->key_file, seq, true);
    struct wr w;

    if (RAND_bytes(x->key, sizeof(x->key)) != 1)
        abort(); /* a system without random numbers has no secrets */
    wr_init(&w, sizeof(x->key));
    wr_bytes(&w, x->key, sizeof(x->key));
    x->file = hls_file_new(s->hls, &w, "application/octet-stream");
    hls_names_set(s->hls, x->path, x->file, s);
    x->secret = true;
    hls_disk_shared(s, x);
    return x;
}

void hls_key_next(struct hls_stream *s)
{
    struct hls_segment *seg = s->now;

    s->sealed = 0;
    if (!s->set->keys || s->ll)
        return;
    if (!s->key || s->key_used >= (unsigned)s->set->fragments_per_key) {
        hls_shared_unref(s, s->key);
        s->key = new_key(s, seg->seq);
        s->key_used = 0;
    }
    s->key_used++;
    seg->key = hls_shared_ref(s->key);
    if (RAND_bytes(seg->iv, sizeof(seg->iv)) != 1)
        abort();
    if (!s->cipher)
        s->cipher = EVP_CIPHER_CTX_new();
    if (!s->cipher ||
        EVP_EncryptInit_ex(s->cipher, EVP_aes_128_cbc(), NULL, s->key->key, seg->iv) != 1)
        abort();
}

void hls_seal(struct hls_stream *s)
{
    size_t n = (s->out.len - s->sealed) / BLOCK * BLOCK;
    uint8_t *at = s->out.buf + s->sealed;
    int made = 0;

    if (!s->now || !s->now->key || n == 0)
        return;
    if (EVP_EncryptUpdate(s->cipher, at, &made, at, (int)n) != 1)
        abort();
    s->sealed += n;
}

void hls_seal_end(struct hls_stream *s)
{
    uint8_t rest[BLOCK], last[2 * BLOCK];
    size_t left;
    int made = 0, more = 0;

    if (!s->now->key)
        return;
    hls_seal(s);
    left = s->out.len - s->sealed;
    memcpy(rest, s->out.buf + s->sealed, left);
    if (EVP_EncryptUpdate(s->cipher, last, &made, rest, (int)left) != 1 ||
        EVP_EncryptFinal_ex(s->cipher, last + made, &more) != 1)
        abort();
    s->out.len = s->sealed;
    wr_bytes(&s->out, last, (size_t)(made + more));
}
