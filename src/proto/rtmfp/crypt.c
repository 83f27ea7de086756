/* SPDX-License-Identifier: MIT */
/* crypt.c - datagrams: scrambled id, AES-128-CBC, checksum or HMAC, sequence numbers; [RTMFP]
 * 2.2.2, [PROFILE] 4.7.
 */
/* for SHA256_Update() and the like: the EVP functions allocate memory and look up algorithms by
 * name */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "proto/rtmfp/crypt.h"


#include <arpa/inet.h>
#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdlib.h>

/* ---- HMAC-SHA256 of short texts, RFC 2104 */

enum { BLOCK = 64 };

void rtmfp_sha256(struct rtmfp_bytes text, uint8_t out[RTMFP_HASH])
{
    SHA256_CTX c;

    SHA256_Init(&c);
    SHA256_Update(&c, text.p, text.n);
    SHA256_Final(out, &c);
}

/* Hashes the key, XORed with the byte `mix`, followed by the text. */
static void half(const uint8_t key[BLOCK], uint8_t mix, struct rtmfp_bytes text,
                 uint8_t out[RTMFP_HASH])
{
    uint8_t block[BLOCK];
    SHA256_CTX c;

    for (size_t i = 0; i < BLOCK; i++)
        block[i] = key[i] ^ mix;
    SHA256_Init(&c);
    SHA256_Update(&c, block, BLOCK);
    SHA256_Update(&c, text.p, text.n);
    SHA256_Final(out, &c);
    OPENSSL_cleanse(block, sizeof(block));
    OPENSSL_cleanse(&c, sizeof(c));
}

void rtmfp_hmac(struct rtmfp_bytes key, struct rtmfp_bytes text, uint8_t out[RTMFP_HASH])
{
    uint8_t block[BLOCK] = { 0 }, inner[RTMFP_HASH];

    if (key.n > BLOCK)
        rtmfp_sha256(key, block);
    else if (key.n > 0)
        memcpy(block, key.p, key.n);
    half(block, 0x36, text, inner);
    half(block, 0x5c, rtmfp_bytes(inner, sizeof(inner)), out);
    OPENSSL_cleanse(block, sizeof(block));
}

enum { SUM = 2, FILL = 0xff };

const uint8_t rtmfp_default_key[RTMFP_KEY] = "Adobe Systems 02";

/* ---- ciphers */

enum { OPEN, SEAL };

struct rtmfp_cipher {
    EVP_CIPHER_CTX *aes[2];
    bool keyed[2];
    uint8_t key[2][RTMFP_KEY]; /* last key of each direction */
};

static const uint8_t zeros[RTMFP_BLOCK]; /* initialization vector of all packets */

struct rtmfp_cipher *rtmfp_cipher_new(void)
{
    struct rtmfp_cipher *c = calloc(1, sizeof(*c));
    bool done = c != NULL;

    for (int direction = 0; done && direction < 2; direction++) {
        c->aes[direction] = EVP_CIPHER_CTX_new();
        done = c->aes[direction] &&
               EVP_CipherInit_ex(c->aes[direction], EVP_aes_128_cbc(), NULL, NULL, NULL,
                                 direction) == 1 &&
               EVP_CIPHER_CTX_set_padding(c->aes[direction], 0) == 1;
    }
    if (done)
        return c;
    rtmfp_cipher_free(c);
    return NULL;
}

void rtmfp_cipher_free(struct rtmfp_cipher *c)
{
    if (!c)
        return;
    EVP_CIPHER_CTX_free(c->aes[OPEN]);
    EVP_CIPHER_CTX_free(c->aes[SEAL]);
    OPENSSL_cleanse(c, sizeof(*c));
    free(c);
}

/* Processes whole blocks; `to` may be `from`. */
static bool run(struct rtmfp_cipher *c, int direction, const uint8_t key[RTMFP_KEY],
                const uint8_t *from, uint8_t *to, size_t size)
{
    bool has = c->keyed[direction] && CRYPTO_memcmp(c->key[direction], key, RTMFP_KEY) == 0;
    int written;

    c->keyed[direction] = has ||
                    EVP_CipherInit_ex(c->aes[direction], NULL, NULL, key, zeros, -1) == 1;
    if (!has)
        memcpy(c->key[direction], key, RTMFP_KEY);
    return c->keyed[direction] &&
           (!has || EVP_CipherInit_ex(c->aes[direction], NULL, NULL, NULL, zeros, -1) == 1) &&
           EVP_CipherUpdate(c->aes[direction], to, &written, from, (int)size) == 1;
}

/* ---- the checksum */

/* One's complement sums do not depend on the byte order, so words are added in the machine's
 * order. */
static uint64_t sum_of(const uint8_t *data, size_t size)
{
    uint64_t sum = 0;
    uint32_t word;
    uint16_t half;

    for (; size >= sizeof(word); data += sizeof(word), size -= sizeof(word)) {
        memcpy(&word, data, sizeof(word));
        sum += word;
    }
    if (size >= sizeof(half)) {
        memcpy(&half, data, sizeof(half));
        sum += half;
    }
    return sum;
}

uint16_t rtmfp_checksum(const uint8_t *data, size_t size, bool odd_is_high)
{
    uint64_t sum = sum_of(data, size & ~(size_t)1);

    if (size % 2 != 0)
        sum += htons((uint16_t)(data[size - 1] << (odd_is_high ? 8 : 0)));
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return ntohs((uint16_t)~sum);
}

/* ---- ids */

static uint32_t word_at(const uint8_t *p, size_t size, size_t at)
{
    uint32_t v = 0;

    for (size_t i = 0; i < 4; i++)
        v = v << 8 | (at + i < size ? p[at + i] : 0);
    return v;
}

/* Returns the value with which the id is XORed. */
static uint32_t scramble(const uint8_t *data, size_t size)
{
    return word_at(data, size, 0) ^ word_at(data, size, 4);
}

bool rtmfp_session_id(const uint8_t *datagram, size_t size, uint32_t *id)
{
    if (size < RTMFP_ID + RTMFP_BLOCK)
        return false;
    *id = word_at(datagram, size, 0) ^ scramble(datagram + RTMFP_ID, size - RTMFP_ID);
    return true;
}

/* ---- sending */

/* Number of bytes before the plain packet; it changes with the sequence number. */
static size_t head_of(const struct rtmfp_sealer *s)
{
    return RTMFP_ID + (s->key.numbered ? rtmfp_vlu_size(s->next) : 0) + (s->key.hmac ? 0 : SUM);
}

struct wr rtmfp_seal_begin(const struct rtmfp_sealer *s, uint8_t *datagram, size_t room,
                           size_t most)
{
    size_t head = head_of(s), blocks;

    if (room < (size_t)RTMFP_ID + s->key.hmac)
        return rtmfp_wr(datagram, 0);
    blocks = (room - RTMFP_ID - s->key.hmac) / RTMFP_BLOCK * RTMFP_BLOCK;
    if (blocks < head - RTMFP_ID)
        return rtmfp_wr(datagram, 0);
    blocks -= head - RTMFP_ID;
    return rtmfp_wr(datagram + head, blocks < most ? blocks : most);
}

/* Adds sequence number, checksum and padding around the plain packet; returns the total size, a
 * multiple of the block size. */
static size_t enclose(struct rtmfp_sealer *s, uint8_t *packet, size_t head, size_t size)
{
    struct wr w = rtmfp_wr(packet, head);
    size_t fill = -(head + size) % RTMFP_BLOCK;

    memset(packet + head + size, FILL, fill);
    if (s->key.numbered)
        rtmfp_vlu_write(&w, s->next);
    if (!s->key.hmac)
        wr_u16(&w, rtmfp_checksum(packet + head, size + fill, false));
    assert(!w.bad && w.len == head);
    return head + size + fill;
}

size_t rtmfp_seal(struct rtmfp_cipher *c, struct rtmfp_sealer *s, uint32_t id, struct wr *plain)
{
    size_t head = head_of(s), size;
    uint8_t *datagram = plain->buf - head, *packet = datagram + RTMFP_ID, mac[RTMFP_HASH];

    if (plain->bad || plain->len == 0 || s->next == UINT64_MAX)
        return 0;
    size = enclose(s, packet, head - RTMFP_ID, plain->len);
    if (!run(c, SEAL, s->key.aes, packet, packet, size))
        return 0;
    s->next += s->key.numbered;
    id = htonl(id ^ scramble(packet, size));
    memcpy(datagram, &id, sizeof(id));
    if (s->key.hmac) {
        rtmfp_hmac(rtmfp_bytes(s->key.mac, RTMFP_MAC_KEY), rtmfp_bytes(packet, size), mac);
        memcpy(packet + size, mac, s->key.hmac);
    }
    return RTMFP_ID + size + s->key.hmac;
}

/* ---- receiving */

static bool is_new(const struct rtmfp_opener *o, uint64_t number)
{
    if (number > o->top)
        return true;
    return o->top - number < RTMFP_WINDOW &&
           !(o->came[number % RTMFP_WINDOW / 64] >> (number % 64) & 1);
}

/* Marks a number as received. The bits form a ring, so nothing moves when a newer number
 * arrives. */
static void note(struct rtmfp_opener *o, uint64_t number)
{
    uint64_t gap = number > o->top ? number - o->top : 0;

    if (gap >= RTMFP_WINDOW)
        memset(o->came, 0, sizeof(o->came));
    for (uint64_t i = 0; i < gap && gap < RTMFP_WINDOW; i++)
        o->came[(number - i) % RTMFP_WINDOW / 64] &= ~(UINT64_C(1) << ((number - i) % 64));
    o->came[number % RTMFP_WINDOW / 64] |= UINT64_C(1) << (number % 64);
    if (gap > 0)
        o->top = number;
}

/* Checks the checksum of the bytes after it. */
static bool sum_fits(struct rd *r)
{
    uint16_t sum = rd_u16(r);
    size_t left = rd_left(r);

    return !r->bad && (sum == rtmfp_checksum(r->p, left, false) ||
                       (left % 2 != 0 && sum == rtmfp_checksum(r->p, left, true)));
}

static bool mac_fits(const struct rtmfp_key *key, const uint8_t *packet, size_t size)
{
    uint8_t mac[RTMFP_HASH];

    rtmfp_hmac(rtmfp_bytes(key->mac, RTMFP_MAC_KEY), rtmfp_bytes(packet, size), mac);
    return CRYPTO_memcmp(mac, packet + size, key->hmac) == 0;
}

static enum rtmfp_opened check_packet(struct rtmfp_opener *o, struct rd *r)
{
    uint64_t number = o->key.numbered ? rtmfp_vlu_read(r) : 0;

    if (r->bad || (!o->key.hmac && !sum_fits(r)))
        return RTMFP_BAD_SUM;
    if (!o->key.numbered)
        return RTMFP_OPENED;
    if (!is_new(o, number))
        return RTMFP_REPEATED;
    note(o, number);
    return RTMFP_OPENED;
}

enum rtmfp_opened rtmfp_open(struct rtmfp_cipher *c, struct rtmfp_opener *o,
                             const uint8_t *datagram, size_t size, uint8_t *out,
                             struct rtmfp_bytes *plain)
{
    const uint8_t *packet = datagram + RTMFP_ID;
    enum rtmfp_opened how;
    struct rd r;

    if (size > RTMFP_DATAGRAM_MAX || size < RTMFP_ID + RTMFP_BLOCK + (size_t)o->key.hmac ||
        (size - RTMFP_ID - o->key.hmac) % RTMFP_BLOCK != 0)
        return RTMFP_BAD_SIZE;
    size -= RTMFP_ID + o->key.hmac;
    if ((o->key.hmac && !mac_fits(&o->key, packet, size)) ||
        !run(c, OPEN, o->key.aes, packet, out, size))
        return RTMFP_BAD_SUM;
    r = rd_init(out, size);
    how = check_packet(o, &r);
    *plain = rtmfp_rest(&r);
    return how;
}

/* ---- session keys, [PROFILE] 4.6.4 and 4.6.5 */

/* Derives the keys of the side whose component is `near`. */
static void derive(struct rtmfp_keys *out, enum rtmfp_side side, struct rtmfp_bytes z,
                   struct rtmfp_bytes near, struct rtmfp_bytes far)
{
    uint8_t mixed[RTMFP_HASH], key[RTMFP_HASH];

    rtmfp_hmac(far, near, mixed);
    rtmfp_hmac(z, rtmfp_bytes(mixed, sizeof(mixed)), key);
    memcpy(out->of[side].aes, key, RTMFP_KEY);
    rtmfp_hmac(z, rtmfp_bytes(key, sizeof(key)), out->of[side].mac);
    rtmfp_hmac(z, near, out->of[side].nonce);
    OPENSSL_cleanse(key, sizeof(key));
}

void rtmfp_keys_derive(struct rtmfp_keys *out, struct rtmfp_bytes z, struct rtmfp_bytes skic,
                       struct rtmfp_bytes skrc)
{
    derive(out, RTMFP_OF_INITIATOR, z, skic, skrc);
    derive(out, RTMFP_OF_RESPONDER, z, skrc, skic);
}

void rtmfp_keys_set(struct rtmfp_key *key, const struct rtmfp_keys *keys, enum rtmfp_side side)
{
    memcpy(key->aes, keys->of[side].aes, RTMFP_KEY);
    memcpy(key->mac, keys->of[side].mac, RTMFP_MAC_KEY);
}
