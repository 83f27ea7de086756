/* SPDX-License-Identifier: MIT */
/* keying.h - session keying components ([PROFILE] 4.5): a public key, and what is asked of packets.
 *
 * Each side says of HMACs and of session sequence numbers whether it sends them, sends them if
 * asked to, and asks for them. The initiator's component is SKIC, the responder's SKRC.
 */
#ifndef PROTO_RTMFP_KEYING_H
#define PROTO_RTMFP_KEYING_H

#include "proto/rtmfp/chunks.h"
#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/group.h"
#include "proto/rtmfp/vlu.h"

/* ---- packets under the default key ([RTMFP] 3.5.1, [PROFILE] 4.7): both sides of a handshake read
 * and write them by this. One for all that a thread has. */

struct rtmfp_startup {
    struct rtmfp_cipher *cipher;
    struct rtmfp_sealer out;
    struct rtmfp_opener in;
    uint8_t plain[RTMFP_DATAGRAM_MAX]; /* that was opened last */
};
bool rtmfp_startup_init(struct rtmfp_startup *s); /* false: there is no memory */
void rtmfp_startup_fini(struct rtmfp_startup *s);

/* False: it is no startup packet. */
bool rtmfp_startup_open(struct rtmfp_startup *s, const uint8_t *datagram, size_t size,
                        struct rtmfp_packet *out);
/* A writer into a datagram of RTMFP_SEALED_MAX, with the head of a packet written. */
struct wr rtmfp_startup_begin(struct rtmfp_startup *s, uint8_t *datagram, co_usec now);
/* The same; the sealed datagram is at most `most` bytes long. */
struct wr rtmfp_startup_begin_within(struct rtmfp_startup *s, uint8_t *datagram, size_t most,
                                     co_usec now);
/* `id`: the session of its receiver, or 0. The size of the datagram. */
size_t rtmfp_startup_seal(struct rtmfp_startup *s, uint32_t id, struct wr *w);

/* The clock of timestamps, [RTMFP] 3.5.2.2. */
static inline uint16_t rtmfp_clock(co_usec now)
{
    return (uint16_t)(now / CO_MS(4));
}

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
