/* SPDX-License-Identifier: MIT */
/* initiator.c - the initiating side of the handshake, [RTMFP] 3.5.1. */
#include "proto/rtmfp/initiator.h"

#include "base/must.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#define STEP CO_MS(1500)
#define PATIENCE CO_SECONDS(95)
static const uint8_t signature[] = { 0x58 };

static bool is_open(const struct rtmfp_initiator *i)
{
    return i->state == RTMFP_GREETING || i->state == RTMFP_KEYING;
}

static void end(struct rtmfp_initiator *i, enum rtmfp_opening how)
{
    i->state = how;
    rtmfp_pair_wipe(&i->pair);
}

/* Adds an address and sends to it at once. */
static void try(struct rtmfp_initiator *i, const struct udp_addr *to, co_usec now)
{
    for (unsigned n = 0; n < i->n_tries; n++)
        if (udp_addr_same(&i->tries[n].to, to))
            return;
    if (i->n_tries < RTMFP_TRIES_MAX)
        i->tries[i->n_tries++] = (struct rtmfp_try){ *to, now, STEP };
}

bool rtmfp_initiator_init(struct rtmfp_initiator *i, const struct rtmfp_initiator_set *set,
                          const struct rtmfp_identity *me, const struct rtmfp_pair *pair,
                          struct rtmfp_bytes epd, uint32_t id, const struct udp_addr *to,
                          co_usec now)
{
    *i = (struct rtmfp_initiator){ .set = set, .me = me, .id = id, .begun = now };
    i->pair = pair ? *pair : me->pair;
    if (epd.n > sizeof(i->epd))
        return false;
    if (epd.n > 0)
        memcpy(i->epd, epd.p, epd.n);
    i->epd_size = epd.n;
    must_be(RAND_bytes(i->tag, sizeof(i->tag)) == 1);
    try(i, to, now);
    return true;
}

void rtmfp_initiator_wipe(struct rtmfp_initiator *i)
{
    OPENSSL_cleanse(i, sizeof(*i));
}

/* ---- receiving in the hello phase */

static bool is_our_tag(const struct rtmfp_initiator *i, struct rtmfp_bytes tag)
{
    return rtmfp_bytes_same(tag, rtmfp_bytes(i->tag, sizeof(i->tag)));
}

/* [RTMFP] 3.5.1.1.1: an empty list means the address the packet came from. */
static void on_redirect(struct rtmfp_initiator *i, struct rtmfp_bytes body,
                        const struct udp_addr *from, co_usec now)
{
    struct rtmfp_redirect c;
    struct rtmfp_address a;
    struct rd list;

    if (!rtmfp_redirect_read(&c, body) || !is_our_tag(i, c.tag))
        return;
    i->redirects++;
    list = rtmfp_rd(c.addresses);
    if (c.addresses.n == 0)
        try(i, from, now);
    while (rd_left(&list) > 0) {
        rtmfp_address_read(&list, &a);
        try(i, &a.at, now);
    }
}

/* Checks whether the responder has keys in our group. */
static bool is_suited(struct rtmfp_initiator *i, const struct rtmfp_certificate *c)
{
    struct rtmfp_bytes key = c->key[i->pair.group];

    i->peer_is_static = c->is_static;
    if (!c->is_static)
        return c->ephemeral[i->pair.group];
    if (key.n == 0 || key.n > sizeof(i->peer_key))
        return false;
    memcpy(i->peer_key, key.p, key.n);
    i->peer_key_size = key.n;
    return true;
}

static void make_skic(struct rtmfp_initiator *i)
{
    struct rtmfp_offer offer = rtmfp_offer_first(&i->set->policies);
    struct wr w = rtmfp_wr(i->skic, sizeof(i->skic));
    uint8_t random[64];

    must_be(RAND_bytes(random, sizeof(random)) == 1);
    if (i->me->is_static)
        rtmfp_skic_write_static(&w, &offer, i->pair.group, random);
    else
        rtmfp_skic_write(&w, &offer, &i->pair, random);
    i->skic_size = w.len;
}

static void keep_cookie(struct rtmfp_initiator *i, struct rtmfp_bytes cookie)
{
    memcpy(i->cookie, cookie.p, cookie.n);
    i->cookie_size = cookie.n;
}

static void on_rhello(struct rtmfp_initiator *i, struct rtmfp_bytes body,
                      const struct udp_addr *from, co_usec now)
{
    struct rtmfp_certificate certificate;
    struct rtmfp_rhello c;
    struct rtmfp_epd epd;
    uint8_t id[RTMFP_PEER_ID];

    if (!rtmfp_rhello_read(&c, body) || !is_our_tag(i, c.tag) ||
        !rtmfp_certificate_read(&certificate, c.certificate) ||
        !rtmfp_epd_read(&epd, rtmfp_bytes(i->epd, i->epd_size)))
        return;
    rtmfp_certificate_id(&certificate, id);
    if (!rtmfp_epd_selects(&epd, &certificate, id))
        return;
    if (!is_suited(i, &certificate)) {
        end(i, RTMFP_UNSUITED);
        return;
    }
    memcpy(i->peer, id, sizeof(id));
    keep_cookie(i, c.cookie);
    make_skic(i);
    i->state = RTMFP_KEYING;
    i->tries[0] = (struct rtmfp_try){ *from, now, STEP };
    i->n_tries = 1;
}

/* ---- receiving in the keying phase */

static void on_cookie_change(struct rtmfp_initiator *i, struct rtmfp_bytes body, co_usec now)
{
    struct rtmfp_cookie_change c;

    if (!rtmfp_cookie_change_read(&c, body) ||
        !rtmfp_bytes_same(c.old, rtmfp_bytes(i->cookie, i->cookie_size)))
        return;
    keep_cookie(i, c.fresh);
    i->tries[0].at = now;
    i->tries[0].wait = STEP;
}

/* Derives the keys from the responder's component. */
static void agree(struct rtmfp_initiator *i, struct rtmfp_bytes z, struct rtmfp_bytes skrc)
{
    struct rtmfp_keys keys;

    rtmfp_keys_derive(&keys, z, rtmfp_bytes(i->skic, i->skic_size), skrc);
    rtmfp_keys_set(&i->send, &keys, RTMFP_OF_INITIATOR);
    rtmfp_keys_set(&i->receive, &keys, RTMFP_OF_RESPONDER);
    for (int side = 0; side < RTMFP_SIDES; side++)
        memcpy(i->nonce[side], keys.of[side].nonce, RTMFP_HASH);
    OPENSSL_cleanse(&keys, sizeof(keys));
}

static void on_rikeying(struct rtmfp_initiator *i, struct rtmfp_bytes body,
                        const struct udp_addr *from)
{
    struct rtmfp_offer ours = rtmfp_offer_first(&i->set->policies);
    struct rtmfp_bytes key = { i->peer_key, i->peer_key_size };
    struct rtmfp_component component;
    struct rtmfp_rikeying c;
    uint8_t z[RTMFP_PUBLIC_MAX];
    size_t n;

    if (!rtmfp_rikeying_read(&c, body) || c.id == 0 ||
        !rtmfp_component_read(&component, c.component))
        return;
    if (!i->peer_is_static) {
        if (component.n_keys != 1 || component.group != i->pair.group)
            return;
        key = component.key;
    }
    n = rtmfp_secret(i->set->dh, &i->pair, key, z);
    if (n == 0)
        return;
    if (rtmfp_offer_agree(&i->set->policies, &ours, &component.offer, &i->send, &i->receive)) {
        agree(i, rtmfp_bytes(z, n), c.component);
        i->far_id = c.id;
        i->to = *from;
        end(i, RTMFP_KEYED);
    } else {
        end(i, RTMFP_UNSUITED);
    }
    OPENSSL_cleanse(z, sizeof(z));
}

/* ---- packets */

static void on_chunk(struct rtmfp_initiator *i, uint32_t id, const struct rtmfp_chunk *c,
                     const struct udp_addr *from, co_usec now)
{
    if (i->state == RTMFP_GREETING && id == 0) {
        if (c->type == RTMFP_RHELLO)
            on_rhello(i, c->body, from, now);
        else if (c->type == RTMFP_REDIRECT)
            on_redirect(i, c->body, from, now);
    } else if (i->state == RTMFP_KEYING && id == i->id) {
        if (c->type == RTMFP_RIKEYING)
            on_rikeying(i, c->body, from);
        else if (c->type == RTMFP_COOKIE_CHANGE)
            on_cookie_change(i, c->body, now);
    }
}

void rtmfp_initiator_input(struct rtmfp_initiator *i, const uint8_t *datagram, size_t size,
                           const struct udp_addr *from, co_usec now)
{
    struct rtmfp_packet p;
    struct rtmfp_chunk c;
    uint32_t id;

    if (!is_open(i) || !rtmfp_session_id(datagram, size, &id) || (id != 0 && id != i->id) ||
        !rtmfp_startup_open(i->set->startup, datagram, size, &p))
        return;
    while (rtmfp_chunk_next(&p, &c))
        on_chunk(i, id, &c, from, now);
}

static bool write_chunk(const struct rtmfp_initiator *i, struct wr *w)
{
    struct rtmfp_ihello hello = { { i->epd, i->epd_size }, { i->tag, sizeof(i->tag) } };
    struct rtmfp_iikeying keying = {
        .id = i->id,
        .cookie = { i->cookie, i->cookie_size },
        .certificate = rtmfp_identity_certificate(i->me),
        .component = { i->skic, i->skic_size },
        .signature = { signature, sizeof(signature) },
    };

    return i->state == RTMFP_GREETING ? rtmfp_ihello_write(w, &hello)
                                      : rtmfp_iikeying_write(w, &keying);
}

size_t rtmfp_initiator_output(struct rtmfp_initiator *i, uint8_t *datagram, struct udp_addr *to,
                              co_usec now)
{
    struct rtmfp_try *t = i->tries;
    struct wr w;

    if (is_open(i) && now - i->begun >= PATIENCE)
        end(i, RTMFP_UNANSWERED);
    while (is_open(i) && t < i->tries + i->n_tries && t->at > now)
        t++;
    if (!is_open(i) || t == i->tries + i->n_tries)
        return 0;
    w = rtmfp_startup_begin(i->set->startup, datagram, now);
    if (!write_chunk(i, &w))
        return 0;
    t->at = now + t->wait;
    t->wait += STEP;
    *to = t->to;
    i->packets++;
    return rtmfp_startup_seal(i->set->startup, 0, &w);
}

co_usec rtmfp_initiator_deadline(const struct rtmfp_initiator *i)
{
    co_usec at = i->begun + PATIENCE;

    if (!is_open(i))
        return CO_FOREVER;
    for (unsigned n = 0; n < i->n_tries; n++)
        if (i->tries[n].at < at)
            at = i->tries[n].at;
    return at;
}
