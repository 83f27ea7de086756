/* SPDX-License-Identifier: MIT */
/* keying.c - session keying components, [PROFILE] 4.5. */
#include "proto/rtmfp/keying.h"

#include "base/must.h"
#include "proto/rtmfp/responder.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

/* ---- packets with the default key, [RTMFP] 3.5.1 */

bool rtmfp_startup_init(struct rtmfp_startup *s)
{
    *s = (struct rtmfp_startup){ .cipher = rtmfp_cipher_new() };
    memcpy(s->out.key.aes, rtmfp_default_key, RTMFP_KEY);
    s->in.key = s->out.key;
    return s->cipher != NULL;
}

void rtmfp_startup_fini(struct rtmfp_startup *s)
{
    rtmfp_cipher_free(s->cipher);
    s->cipher = NULL;
}

bool rtmfp_startup_open(struct rtmfp_startup *s, const uint8_t *datagram, size_t size,
                        struct rtmfp_packet *out)
{
    struct rtmfp_bytes plain;

    return rtmfp_open(s->cipher, &s->in, datagram, size, s->plain, &plain) == RTMFP_OPENED &&
           rtmfp_packet_read(out, plain) && out->head.mode == RTMFP_STARTUP;
}

/* Always writes the timestamp, because one of the older clients reads it without checking the
 * flag. */
struct wr rtmfp_startup_begin_within(struct rtmfp_startup *s, uint8_t *datagram, size_t most,
                                     co_usec now)
{
    struct rtmfp_head head = { .mode = RTMFP_STARTUP, .has_time = true, .time = rtmfp_clock(now) };
    size_t room = most < RTMFP_SEALED_MAX ? most : RTMFP_SEALED_MAX;
    struct wr w = rtmfp_seal_begin(&s->out, datagram, room, RTMFP_PLAIN_MAX);

    rtmfp_packet_begin(&w, &head);
    return w;
}

struct wr rtmfp_startup_begin(struct rtmfp_startup *s, uint8_t *datagram, co_usec now)
{
    return rtmfp_startup_begin_within(s, datagram, RTMFP_SEALED_MAX, now);
}

size_t rtmfp_startup_seal(struct rtmfp_startup *s, uint32_t id, struct wr *w)
{
    return rtmfp_seal(s->cipher, &s->out, id, w);
}

enum { PUBLIC = 0x0d, RANDOM = 0x0e, HMAC = 0x1a, STATIC = 0x1d, NUMBERS = 0x1e };
enum {
    SIZE = 16,       /* size of the HMACs we send */
    SIZE_FIRST = 10, /* size that initiators announce, as all observed clients do */
    RANDOM_SIZE = 64,
    OF_SENDER = RTMFP_SENDS | RTMFP_SENDS_ON_REQUEST,
};

/* ---- reading */

static bool read_hmac(struct rtmfp_offer *w, struct rd *r)
{
    uint64_t size;

    w->hmac = rd_u8(r);
    size = rtmfp_vlu_read(r);
    w->hmac_size = (uint8_t)size;
    if (size == 0 && !(w->hmac & OF_SENDER))
        return !r->bad;
    return !r->bad && size >= RTMFP_MAC_MIN && size <= RTMFP_MAC_MAX;
}

static bool read_one(struct rtmfp_component *c, const struct rtmfp_option *o)
{
    struct rd r = rtmfp_rd(o->value);
    enum rtmfp_group group;

    switch (o->type) {
    case PUBLIC:
        group = rtmfp_group_of(rtmfp_vlu_read(&r));
        if (c->n_keys++ == 0) {
            c->group = group;
            c->key = rtmfp_rest(&r);
        }
        return !r.bad;
    case RANDOM:
        c->random = o->value;
        return true;
    case HMAC:
        return read_hmac(&c->offer, &r);
    case STATIC:
        group = rtmfp_group_of(rtmfp_vlu_read(&r));
        if (c->n_static++ == 0)
            c->static_group = group;
        return !r.bad;
    case NUMBERS:
        c->offer.numbers = rd_u8(&r);
        return !r.bad;
    default:
        return true;
    }
}

bool rtmfp_component_read(struct rtmfp_component *c, struct rtmfp_bytes data)
{
    struct rtmfp_options list = rtmfp_options_of(data);
    struct rtmfp_option o;
    bool fine = true;

    *c = (struct rtmfp_component){ .group = RTMFP_GROUPS, .static_group = RTMFP_GROUPS };
    while (fine && rtmfp_option_next(&list, &o))
        fine = o.marker || read_one(c, &o);
    return fine && !rtmfp_options_bad(&list);
}

/* ---- negotiation */

static const uint8_t first[] = {
    [RTMFP_OFF] = RTMFP_SENDS_ON_REQUEST,
    [RTMFP_OFFER] = RTMFP_SENDS_ON_REQUEST | RTMFP_REQUESTS,
    [RTMFP_REQUIRE] = RTMFP_SENDS | RTMFP_REQUESTS,
};

struct rtmfp_offer rtmfp_offer_first(const struct rtmfp_policies *p)
{
    return (struct rtmfp_offer){
        .hmac = first[p->hmac],
        .hmac_size = p->hmac == RTMFP_OFF ? SIZE_FIRST : SIZE,
        .numbers = first[p->numbers],
    };
}

/* Older clients do not understand options that they did not announce. */
static uint8_t answer(enum rtmfp_policy p, uint8_t theirs)
{
    if (p == RTMFP_REQUIRE)
        return first[RTMFP_REQUIRE];
    return p == RTMFP_OFFER && theirs & (RTMFP_REQUESTS | RTMFP_SENDS) ? first[RTMFP_OFFER] : 0;
}

struct rtmfp_offer rtmfp_offer_answer(const struct rtmfp_policies *p,
                                      const struct rtmfp_offer *theirs)
{
    struct rtmfp_offer w = { .hmac = answer(p->hmac, theirs->hmac),
                             .numbers = answer(p->numbers, theirs->numbers) };

    w.hmac_size = w.hmac ? SIZE : 0;
    return w;
}

/* Returns whether `one` sends them, given both announcements. */
static bool sends(uint8_t one, uint8_t other)
{
    return one & RTMFP_SENDS || (one & RTMFP_SENDS_ON_REQUEST && other & RTMFP_REQUESTS);
}

bool rtmfp_offer_agree(const struct rtmfp_policies *p, const struct rtmfp_offer *ours,
                       const struct rtmfp_offer *theirs, struct rtmfp_key *we_send,
                       struct rtmfp_key *they_send)
{
    we_send->hmac = sends(ours->hmac, theirs->hmac) ? ours->hmac_size : 0;
    they_send->hmac = sends(theirs->hmac, ours->hmac) ? theirs->hmac_size : 0;
    we_send->numbered = sends(ours->numbers, theirs->numbers);
    they_send->numbered = sends(theirs->numbers, ours->numbers);
    return (p->hmac != RTMFP_REQUIRE || they_send->hmac) &&
           (p->numbers != RTMFP_REQUIRE || they_send->numbered);
}

/* ---- writing */

static void write_offer(struct wr *w, const struct rtmfp_offer *offer)
{
    uint8_t hmac[2] = { offer->hmac, offer->hmac_size };

    rtmfp_option_write(w, HMAC, rtmfp_bytes(hmac, sizeof(hmac)));
    rtmfp_option_write(w, NUMBERS, rtmfp_bytes(&offer->numbers, 1));
}

void rtmfp_skrc_write(struct wr *w, const struct rtmfp_offer *offer, const struct rtmfp_pair *pair)
{
    write_offer(w, offer);
    rtmfp_group_write_key(w, PUBLIC, pair->group, rtmfp_pair_public(pair));
}

void rtmfp_skrc_write_static(struct wr *w, const struct rtmfp_offer *offer,
                             const uint8_t random[RANDOM_SIZE])
{
    write_offer(w, offer);
    rtmfp_option_write(w, RANDOM, rtmfp_bytes(random, RANDOM_SIZE));
}

void rtmfp_skic_write_static(struct wr *w, const struct rtmfp_offer *offer, enum rtmfp_group group,
                             const uint8_t random[RANDOM_SIZE])
{
    rtmfp_option_write_vlu(w, STATIC, rtmfp_group_id(group));
    rtmfp_option_write(w, RANDOM, rtmfp_bytes(random, RANDOM_SIZE));
    write_offer(w, offer);
}

void rtmfp_skic_write(struct wr *w, const struct rtmfp_offer *offer, const struct rtmfp_pair *pair,
                      const uint8_t random[RANDOM_SIZE])
{
    rtmfp_group_write_key(w, PUBLIC, pair->group, rtmfp_pair_public(pair));
    rtmfp_option_write(w, RANDOM, rtmfp_bytes(random, RANDOM_SIZE));
    write_offer(w, offer);
}

/* ---- session keys for an initiator, on a worker thread; [PROFILE] 4.6 */

static struct rtmfp_bytes write_skrc(const struct rtmfp_identity *me, const struct rtmfp_pair *pair,
                                     const struct rtmfp_job *job, struct rtmfp_keyed *out)
{
    struct wr w = rtmfp_wr(out->skrc, sizeof(out->skrc));
    uint8_t random[64];

    if (me->is_static) {
        must_be(RAND_bytes(random, sizeof(random)) == 1);
        rtmfp_skrc_write_static(&w, &job->offer, random);
    } else {
        rtmfp_skrc_write(&w, &job->offer, pair);
    }
    out->skrc_size = w.len;
    return rtmfp_bytes(out->skrc, w.len);
}

static void finish(const struct rtmfp_job *job, struct rtmfp_bytes z, struct rtmfp_bytes skrc,
                   struct rtmfp_keyed *out)
{
    struct rtmfp_keys keys;

    rtmfp_keys_derive(&keys, z, rtmfp_bytes(job->skic, job->skic_size), skrc);
    out->send = job->we_send;
    out->receive = job->they_send;
    rtmfp_keys_set(&out->send, &keys, RTMFP_OF_RESPONDER);
    rtmfp_keys_set(&out->receive, &keys, RTMFP_OF_INITIATOR);
    for (int side = 0; side < RTMFP_SIDES; side++)
        memcpy(out->nonce[side], keys.of[side].nonce, RTMFP_HASH);
    OPENSSL_cleanse(&keys, sizeof(keys));
}

bool rtmfp_job_run(struct rtmfp_dh *dh, const struct rtmfp_identity *me, struct rtmfp_pair *pair,
                   const struct rtmfp_job *job, struct rtmfp_keyed *out)
{
    const struct rtmfp_pair *ours = me->is_static ? &me->pair : pair;
    uint8_t z[RTMFP_PUBLIC_MAX];
    size_t n;

    assert(ours->group == job->group);
    n = rtmfp_secret(dh, ours, rtmfp_bytes(job->key, job->key_size), z);
    if (n > 0)
        finish(job, rtmfp_bytes(z, n), write_skrc(me, ours, job, out), out);
    OPENSSL_cleanse(z, sizeof(z));
    if (pair)
        rtmfp_pair_wipe(pair);
    return n > 0;
}
