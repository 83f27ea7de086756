/* SPDX-License-Identifier: MIT */
/* keying.c - session keying components, [PROFILE] 4.5. */
#include "proto/rtmfp/keying.h"

enum { PUBLIC = 0x0d, RANDOM = 0x0e, HMAC = 0x1a, STATIC = 0x1d, NUMBERS = 0x1e };
enum {
    SIZE = 16,       /* of HMACs that we send */
    SIZE_FIRST = 10, /* that initiators say they would send, as all do that were seen */
    RANDOM_SIZE = 64,
    OF_SENDER = RTMFP_SENDS | RTMFP_SENDS_IF_ASKED,
};

/* ---- reading */

static bool read_hmac(struct rtmfp_wants *w, struct rd *r)
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
        return read_hmac(&c->wants, &r);
    case STATIC:
        group = rtmfp_group_of(rtmfp_vlu_read(&r));
        if (c->n_static++ == 0)
            c->static_group = group;
        return !r.bad;
    case NUMBERS:
        c->wants.numbers = rd_u8(&r);
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

/* ---- what is agreed on */

static const uint8_t first[] = {
    [RTMFP_OFF] = RTMFP_SENDS_IF_ASKED,
    [RTMFP_OFFER] = RTMFP_SENDS_IF_ASKED | RTMFP_ASKS,
    [RTMFP_REQUIRE] = RTMFP_SENDS | RTMFP_ASKS,
};

struct rtmfp_wants rtmfp_wants_first(const struct rtmfp_policies *p)
{
    return (struct rtmfp_wants){
        .hmac = first[p->hmac],
        .hmac_size = p->hmac == RTMFP_OFF ? SIZE_FIRST : SIZE,
        .numbers = first[p->numbers],
    };
}

/* Older clients that are told of what they did not speak of do not understand us. */
static uint8_t answer(enum rtmfp_policy p, uint8_t theirs)
{
    if (p == RTMFP_REQUIRE)
        return first[RTMFP_REQUIRE];
    return p == RTMFP_OFFER && theirs & (RTMFP_ASKS | RTMFP_SENDS) ? first[RTMFP_OFFER] : 0;
}

struct rtmfp_wants rtmfp_wants_answer(const struct rtmfp_policies *p,
                                      const struct rtmfp_wants *theirs)
{
    struct rtmfp_wants w = { .hmac = answer(p->hmac, theirs->hmac),
                             .numbers = answer(p->numbers, theirs->numbers) };

    w.hmac_size = w.hmac ? SIZE : 0;
    return w;
}

/* Does the one send them, by what both said? */
static bool sends(uint8_t one, uint8_t other)
{
    return one & RTMFP_SENDS || (one & RTMFP_SENDS_IF_ASKED && other & RTMFP_ASKS);
}

bool rtmfp_wants_agree(const struct rtmfp_policies *p, const struct rtmfp_wants *ours,
                       const struct rtmfp_wants *theirs, struct rtmfp_key *we_send,
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

static void write_wants(struct wr *w, const struct rtmfp_wants *wants)
{
    uint8_t hmac[2] = { wants->hmac, wants->hmac_size };

    rtmfp_option_write(w, HMAC, rtmfp_bytes(hmac, sizeof(hmac)));
    rtmfp_option_write(w, NUMBERS, rtmfp_bytes(&wants->numbers, 1));
}

void rtmfp_skrc_write(struct wr *w, const struct rtmfp_wants *wants, const struct rtmfp_pair *pair)
{
    write_wants(w, wants);
    rtmfp_group_write_key(w, PUBLIC, pair->group, rtmfp_pair_public(pair));
}

void rtmfp_skrc_write_static(struct wr *w, const struct rtmfp_wants *wants,
                             const uint8_t random[RANDOM_SIZE])
{
    write_wants(w, wants);
    rtmfp_option_write(w, RANDOM, rtmfp_bytes(random, RANDOM_SIZE));
}

void rtmfp_skic_write_static(struct wr *w, const struct rtmfp_wants *wants, enum rtmfp_group group,
                             const uint8_t random[RANDOM_SIZE])
{
    rtmfp_option_write_vlu(w, STATIC, rtmfp_group_id(group));
    rtmfp_option_write(w, RANDOM, rtmfp_bytes(random, RANDOM_SIZE));
    write_wants(w, wants);
}

void rtmfp_skic_write(struct wr *w, const struct rtmfp_wants *wants, const struct rtmfp_pair *pair,
                      const uint8_t random[RANDOM_SIZE])
{
    rtmfp_group_write_key(w, PUBLIC, pair->group, rtmfp_pair_public(pair));
    rtmfp_option_write(w, RANDOM, rtmfp_bytes(random, RANDOM_SIZE));
    write_wants(w, wants);
}
