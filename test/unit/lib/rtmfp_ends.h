/* SPDX-License-Identifier: MIT */
/* rtmfp_ends.h - a responder with a small table of sessions, and an initiator. */
#ifndef RTMFP_ENDS_H
#define RTMFP_ENDS_H

#include "proto/rtmfp/initiator.h"
#include "proto/rtmfp/responder.h"
#include "rtmfp_bytes.h"

enum { ENDS_SESSIONS = 8 };

struct ends_session {
    struct udp_addr from;
    uint32_t id; /* that the initiator chose */
    uint8_t peer[RTMFP_PEER_ID], skic[RTMFP_SKIC_HASH];
    struct rtmfp_keyed keyed;
    uint8_t answer[RTMFP_RIKEYING_MAX];
    size_t answer_size;
};

struct ends {
    struct rtmfp_dh *dh;
    struct rtmfp_identity me;       /* the responder */
    struct rtmfp_responder responder;
    struct rtmfp_response out;
    struct ends_session sessions[ENDS_SESSIONS];
    size_t n;
    struct udp_addr keying;         /* port 0: none */
    uint32_t keying_id;
    bool full;
    unsigned stale, jobs;
    struct rtmfp_startup startup;   /* the initiators' */
    struct rtmfp_initiator_set set;
};

struct ends_session *ends_at(struct ends *e, const struct udp_addr *from);
void ends_init(struct ends *e, const struct rtmfp_policies *responder,
               const struct rtmfp_policies *initiator);
void ends_fini(struct ends *e);

/* The work of a helper thread, and then of its own: the answer is in e->out. */
struct ends_session *ends_open(struct ends *e, co_usec now);

/* A datagram of an initiator: true if there is an answer to it in e->out. */
bool ends_hear(struct ends *e, const uint8_t *datagram, size_t size, const struct udp_addr *from,
               co_usec now);

/* A plain startup packet of these chunks, sealed as clients do. */
size_t ends_seal(struct ends *e, struct rtmfp_bytes plain, uint8_t *datagram);

struct udp_addr ends_address(uint8_t host, uint16_t port);

#endif
