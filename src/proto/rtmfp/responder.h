/* SPDX-License-Identifier: MIT */
/* responder.h - who is spoken to: startup packets in, an answer out ([RTMFP] 3.5.1).
 *
 * Of an IHello nothing is kept. An IIKeying with a good cookie becomes a job, which costs some
 * 100 us and belongs to another thread:
 *
 *     rtmfp_responder_input()  RTMFP_JOB: copy the job, mark (from, id) as being keyed
 *     rtmfp_job_run()          on a helper thread
 *     choose an id, rtmfp_rikeying_body() to be kept, rtmfp_responder_open_with() to be sent
 *
 * Packets that are not answered are counted, each by why. Nothing yields.
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
    RTMFP_RIKEYING_MAX = 4 + 2 + RTMFP_SKRC_MAX + 1, /* a body of it */
};

/* What is known of an open session. */
struct rtmfp_known {
    uint32_t id;                    /* that the initiator chose */
    const uint8_t *peer;            /* RTMFP_PEER_ID bytes */
    const uint8_t *skic;            /* RTMFP_SKIC_HASH bytes of its job */
    struct rtmfp_bytes answer;      /* body of RIKeying; n 0: a packet of the session has come */
};

/* The table of sessions, which is somebody else's; NULL: none is kept, so each is another one. */
struct rtmfp_responder_ops {
    /* The open session of that address; false: there is none. */
    bool (*find)(void *arg, const struct udp_addr *from, struct rtmfp_known *out);
    /* A helper is at work for it, or it waits for one. */
    bool (*is_keying)(void *arg, const struct udp_addr *from, uint32_t id);
    /* Is there room for one more, by all limits? It is not asked for repeats. */
    bool (*may_open)(void *arg, const struct udp_addr *from);
    /* The open session of that address is of a peer that has begun anew: close it. */
    void (*stale)(void *arg, const struct udp_addr *from);
};

#define RTMFP_DROPS(XX)                                                                \
    XX(PACKET,      "no startup packet")                                               \
    XX(CHUNK,       "a chunk that makes no sense, or none for a responder")            \
    XX(UNSELECTED,  "the discriminator selects nothing here")                          \
    XX(FOREIGN,     "the cookie is not ours")                                          \
    XX(EXPIRED,     "the cookie has expired")                                          \
    XX(OTHER_PEER,  "the address has an open session of another peer")                 \
    XX(KEYING,      "keys are being made")                                             \
    XX(ANSWERED,    "a repeat of what was answered, and the answer arrived")           \
    XX(CERTIFICATE, "the certificate is wrong")                                        \
    XX(COMPONENT,   "the keying component is wrong")                                   \
    XX(PUBLIC_KEY,  "the public key is none")                                          \
    XX(POLICY,      "it does not do what is required")                                 \
    XX(LIMIT,       "there is no room")                                                \
    XX(PIECE,       "a piece of a packet that is not whole yet")                       \
    XX(SMALL,       "its answer would be over three times its size")

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
    bool redirects;                 /* IHello by ancillary data is answered by RTMFP_REDIRECTED */
    const struct rtmfp_responder_ops *ops;
    void *arg;
    struct rtmfp_startup startup;
    struct rtmfp_cookies cookies;
    struct rtmfp_fragments *fragments;
    struct rtmfp_dh *dh;            /* only to look at public keys */
    uint64_t drops[RTMFP_DROP_KINDS];
    uint64_t hellos, keyings, repeats, changes; /* IHello, IIKeying that came; Cookie Changes */
};
/* All but `startup`, `cookies`, `fragments` and `dh` is set by the caller, before. `master` is the
 * same for all threads (cookie.h). False: there is no memory. */
bool rtmfp_responder_init(struct rtmfp_responder *r, const uint8_t master[RTMFP_MASTER]);
void rtmfp_responder_fini(struct rtmfp_responder *r);

/* What a helper is to do: a copy of all that it needs. */
struct rtmfp_job {
    struct udp_addr from;
    uint32_t id;                    /* that the initiator chose */
    uint8_t peer[RTMFP_PEER_ID];    /* its fingerprint */
    uint8_t skic_hash[RTMFP_SKIC_HASH];
    enum rtmfp_group group;
    uint16_t key_size, skic_size;
    struct rtmfp_key we_send, they_send; /* what was agreed on; no keys yet */
    struct rtmfp_wants wants;       /* what we say */
    uint8_t key[RTMFP_PUBLIC_MAX];
    uint8_t skic[RTMFP_COMPONENT_MAX];
};

enum rtmfp_responded {
    RTMFP_DROPPED,      /* counted; no answer */
    RTMFP_ANSWERED,     /* datagram, size: to where it came from */
    RTMFP_INTRODUCE,    /* `hello` asks for the peer with the id `peer` */
    RTMFP_REDIRECTED,   /* `hello` asks for us, and others are to answer it */
    RTMFP_JOB,          /* `job` */
};
struct rtmfp_response {
    enum rtmfp_drop why;            /* RTMFP_DROPPED */
    uint8_t datagram[RTMFP_SEALED_MAX];
    size_t size;
    struct rtmfp_ihello hello;      /* until the next packet */
    struct rtmfp_epd epd;           /* of the hello */
    const uint8_t *peer;
    struct rtmfp_job job;
};
/* Whoever wrote an IHello may have written a false address: the answer is at most so many times
 * the size of the datagram. */
enum { RTMFP_ANSWER_TIMES = 3 };

/* A datagram to session 0 came. At most one answer, whatever is in it. */
enum rtmfp_responded rtmfp_responder_input(struct rtmfp_responder *r, const uint8_t *datagram,
                                           size_t size, const struct udp_addr *from, co_usec now,
                                           struct rtmfp_response *out);
/* Redirect to an IHello that came in `came` bytes: to a datagram of RTMFP_SEALED_MAX, with as many
 * addresses from the beginning of the list as the answer may have. The size; 0: no answer. */
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
/* Any thread. `pair` is one made for this alone, in the group of the job, and is wiped; one whose
 * key is in its certificate has none. False: the public key is none. */
bool rtmfp_job_run(struct rtmfp_dh *dh, const struct rtmfp_identity *me, struct rtmfp_pair *pair,
                   const struct rtmfp_job *job, struct rtmfp_keyed *out);

/* Body of RIKeying: we are called `id`. The size. */
size_t rtmfp_rikeying_body(uint8_t out[RTMFP_RIKEYING_MAX], uint32_t id,
                           const struct rtmfp_keyed *keyed);
/* The datagram of it, to the initiator's id. Its size. */
size_t rtmfp_responder_open_with(struct rtmfp_responder *r, struct rtmfp_bytes body, uint32_t id,
                                 co_usec now, uint8_t *datagram);

#endif
