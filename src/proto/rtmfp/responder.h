/* SPDX-License-Identifier: MIT */
/* responder.h - the responding side of the handshake ([RTMFP] 3.5.1): takes startup packets and
 * writes responses.
 *
 * An IHello leaves no state. An IIKeying with a valid cookie becomes a job of some 100 us for
 * another thread:
 *     rtmfp_responder_input()  RTMFP_JOB: copy the job, mark (from, id) as being keyed
 *     rtmfp_job_run()          on a worker thread
 *     choose an id, rtmfp_rikeying_body() to be kept, rtmfp_responder_open_with() to be sent
 * Packets without a response are counted by reason. Does not yield.
 */
#ifndef PROTO_RTMFP_RESPONDER_H
#define PROTO_RTMFP_RESPONDER_H

#include "proto/rtmfp/certificate.h"
#include "proto/rtmfp/cookie.h"
#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/fragment.h"
#include "proto/rtmfp/keying.h"

enum {
    RTMFP_SKIC_HASH = 16,
    RTMFP_SKRC_MAX = 11 + RTMFP_PUBLIC_MAX,
    RTMFP_RIKEYING_MAX = 4 + 2 + RTMFP_SKRC_MAX + 1, /* largest RIKeying body */
};

/* Data about an open session. */
struct rtmfp_known {
    uint32_t id;                    /* chosen by the initiator */
    const uint8_t *peer;            /* RTMFP_PEER_ID bytes */
    const uint8_t *skic;            /* RTMFP_SKIC_HASH bytes of its job */
    struct rtmfp_bytes answer;      /* RIKeying body; n 0: a packet of the session has arrived */
};

/* Access to the caller's table of sessions; NULL: there is none, so each session is new. */
struct rtmfp_responder_ops {
    /* Finds the open session of this address; returns false if there is none. */
    bool (*find)(void *arg, const struct udp_addr *from, struct rtmfp_known *out);
    /* Returns whether a worker thread handles it, or it waits for one. */
    bool (*is_keying)(void *arg, const struct udp_addr *from, uint32_t id);
    /* Returns whether all limits allow one more session. Not called for retransmissions. */
    bool (*may_open)(void *arg, const struct udp_addr *from);
    /* Closes the open session of this address, because its peer has restarted. */
    void (*stale)(void *arg, const struct udp_addr *from);
};

#define RTMFP_DROPS(XX)                                                   \
    XX(PACKET,      "not a startup packet")                               \
    XX(CHUNK,       "invalid chunk, or not one for a responder")          \
    XX(UNSELECTED,  "the discriminator selects nothing here")             \
    XX(FOREIGN,     "the cookie is not ours")                             \
    XX(EXPIRED,     "the cookie has expired")                             \
    XX(OTHER_PEER,  "the address has an open session of another peer")    \
    XX(KEYING,      "key exchange in progress")                           \
    XX(ANSWERED,    "retransmission of a request whose response arrived") \
    XX(CERTIFICATE, "invalid certificate")                                \
    XX(COMPONENT,   "invalid keying component")                           \
    XX(PUBLIC_KEY,  "invalid public key")                                 \
    XX(POLICY,      "the peer does not support what is required")         \
    XX(LIMIT,       "over a limit")                                       \
    XX(PIECE,       "piece of an incomplete packet")                      \
    XX(SMALL,       "the response would exceed three times the request")

enum rtmfp_drop {
#define XX(name, text) RTMFP_DROP_##name,
    RTMFP_DROPS(XX)
#undef XX
    RTMFP_DROP_KINDS,
};
const char *rtmfp_drop_text(enum rtmfp_drop why);

struct rtmfp_responder {
    const struct rtmfp_identity *me;
    struct rtmfp_policies policies;
    bool redirects;                 /* an IHello with ancillary data gives RTMFP_REDIRECTED */
    const struct rtmfp_responder_ops *ops;
    void *arg;
    struct rtmfp_startup startup;
    struct rtmfp_cookies cookies;
    struct rtmfp_fragments *fragments;
    struct rtmfp_dh *dh;            /* only for checking public keys */
    uint64_t drops[RTMFP_DROP_KINDS];
    uint64_t hellos, keyings, repeats, changes; /* received IHello, received IIKeying; repeated
                                                 * responses; Cookie Changes sent */
};
/* The caller sets all fields except `startup`, `cookies`, `fragments` and `dh` before. `master` is
 * the same for all threads (cookie.h). Returns false if memory allocation fails. */
bool rtmfp_responder_init(struct rtmfp_responder *r, const uint8_t master[RTMFP_MASTER]);
void rtmfp_responder_fini(struct rtmfp_responder *r);

/* Job for a worker thread: a copy of everything it needs. */
struct rtmfp_job {
    struct udp_addr from;
    uint32_t id;                    /* chosen by the initiator */
    uint8_t peer[RTMFP_PEER_ID];    /* fingerprint of the initiator */
    uint8_t skic_hash[RTMFP_SKIC_HASH];
    enum rtmfp_group group;
    uint16_t key_size, skic_size;
    struct rtmfp_key we_send, they_send; /* negotiated options, without keys */
    struct rtmfp_offer offer;       /* our announcement */
    uint8_t key[RTMFP_PUBLIC_MAX];
    uint8_t skic[RTMFP_COMPONENT_MAX];
};

enum rtmfp_responded {
    RTMFP_DROPPED,      /* counted; no response */
    RTMFP_ANSWERED,     /* send `datagram` of `size` bytes back to the sender */
    RTMFP_INTRODUCE,    /* `hello` requests the peer with the id `peer` */
    RTMFP_REDIRECTED,   /* `hello` requests us, and other servers are to respond */
    RTMFP_JOB,          /* run `job` */
};
struct rtmfp_response {
    enum rtmfp_drop why;            /* with RTMFP_DROPPED */
    uint8_t datagram[RTMFP_SEALED_MAX];
    size_t size;
    struct rtmfp_ihello hello;      /* until the next packet */
    struct rtmfp_epd epd;           /* discriminator in the hello */
    const uint8_t *peer;
    struct rtmfp_job job;
};
/* The source address of an IHello may be forged, so a response has at most this many times the size
 * of the request. */
enum { RTMFP_ANSWER_TIMES = 3 };

/* Handles a datagram with session id 0. Gives at most one response, regardless of its content. */
enum rtmfp_responded rtmfp_responder_input(struct rtmfp_responder *r, const uint8_t *datagram,
                                           size_t size, const struct udp_addr *from, co_usec now,
                                           struct rtmfp_response *out);
/* Writes a Redirect in response to an IHello of `came` bytes, to a datagram of RTMFP_SEALED_MAX
 * bytes, with as many addresses from the beginning of the list as its size limit allows. Returns
 * its size, or 0: no response. */
size_t rtmfp_responder_redirect(struct rtmfp_responder *r, size_t came, struct rtmfp_bytes tag,
                                const struct rtmfp_address *list, size_t n, co_usec now,
                                uint8_t *datagram);

/* ---- keys */

struct rtmfp_keyed {
    struct rtmfp_key send, receive;
    uint8_t nonce[RTMFP_SIDES][RTMFP_HASH];
    size_t skrc_size;
    uint8_t skrc[RTMFP_SKRC_MAX];
};
/* Computes the keys; may run on any thread. `pair` is used only for this job, has its group, and is
 * wiped; NULL if our key is static. Returns false if the public key is invalid. */
bool rtmfp_job_run(struct rtmfp_dh *dh, const struct rtmfp_identity *me, struct rtmfp_pair *pair,
                   const struct rtmfp_job *job, struct rtmfp_keyed *out);

/* Writes the body of RIKeying with our session id `id`; returns its size. */
size_t rtmfp_rikeying_body(uint8_t out[RTMFP_RIKEYING_MAX], uint32_t id,
                           const struct rtmfp_keyed *keyed);
/* Writes the datagram with this body, for the initiator's id; returns its size. */
size_t rtmfp_responder_open_with(struct rtmfp_responder *r, struct rtmfp_bytes body, uint32_t id,
                                 co_usec now, uint8_t *datagram);

#endif
