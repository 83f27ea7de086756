/* SPDX-License-Identifier: MIT */
/* keying.h - session keying components ([PROFILE] 4.5): a public key, and what is asked of packets.
 *
 * Each side says of HMACs and of session sequence numbers whether it sends them, sends them if
 * asked to, and asks for them. The initiator's component is SKIC, the responder's SKRC.
 */
#ifndef PROTO_RTMFP_KEYING_H
#define PROTO_RTMFP_KEYING_H

#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/group.h"
#include "proto/rtmfp/option.h"

enum { /* flags of both */
    RTMFP_SENDS = 4,        /* I send them always */
    RTMFP_SENDS_IF_ASKED = 2,
    RTMFP_ASKS = 1,
};

struct rtmfp_wants {
    uint8_t hmac, hmac_size; /* flags; bytes of those that it sends */
    uint8_t numbers;         /* flags */
};

struct rtmfp_component {
    struct rtmfp_wants wants;
    unsigned n_keys;                /* ephemeral ones, of any group */
    enum rtmfp_group group;         /* of the first of them; RTMFP_GROUPS: none of ours */
    struct rtmfp_bytes key;
    unsigned n_static;              /* the key is in the certificate, in this group */
    enum rtmfp_group static_group;
    struct rtmfp_bytes random;
};
bool rtmfp_component_read(struct rtmfp_component *c, struct rtmfp_bytes data); /* false: wrong */

/* What the operator says. */
enum rtmfp_policy { RTMFP_OFF, RTMFP_OFFER, RTMFP_REQUIRE };
struct rtmfp_policies {
    enum rtmfp_policy hmac, numbers;
};

/* What an initiator says, and what a responder answers to it. */
struct rtmfp_wants rtmfp_wants_first(const struct rtmfp_policies *p);
struct rtmfp_wants rtmfp_wants_answer(const struct rtmfp_policies *p,
                                      const struct rtmfp_wants *theirs);

/* What packets have by what both said: to the keys of both directions. False: the peer does not do
 * what we require. */
bool rtmfp_wants_agree(const struct rtmfp_policies *p, const struct rtmfp_wants *ours,
                       const struct rtmfp_wants *theirs, struct rtmfp_key *we_send,
                       struct rtmfp_key *they_send);

/* SKRC just as older clients cut it: 03 1a, flags, size, 02 1e, flags, and the key last. With a
 * static key there is randomness in its place: the keys of a session must be new. */
void rtmfp_skrc_write(struct wr *w, const struct rtmfp_wants *wants, const struct rtmfp_pair *pair);
void rtmfp_skrc_write_static(struct wr *w, const struct rtmfp_wants *wants,
                             const uint8_t random[64]);
/* SKIC, of who has a key in its certificate, and of who has one for this session. */
void rtmfp_skic_write_static(struct wr *w, const struct rtmfp_wants *wants, enum rtmfp_group group,
                             const uint8_t random[64]);
void rtmfp_skic_write(struct wr *w, const struct rtmfp_wants *wants, const struct rtmfp_pair *pair,
                      const uint8_t random[64]);

#endif
