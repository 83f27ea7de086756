/* SPDX-License-Identifier: MIT */
/* group_ring.h - NetGroups: the members of all groups, of all workers, with a lock. Nothing here
 * yields.
 *
 * Members of a group stand in a ring by the SHA-256 of their EPD. One that joins is told of those
 * that joined last and of one at random, but of none that is silent: it would wait for them. Those
 * that are nearest to it in the ring are told of it.
 * All else is between the peers.
 */
#ifndef SERVE_RTMFP_GROUP_RING_H
#define SERVE_RTMFP_GROUP_RING_H

#include "proto/rtmfp/certificate.h"

enum {
    RTMFP_GROUP_ID = RTMFP_HASH,
    RTMFP_GROUPS_MAX = 64,        /* of a session */
    RTMFP_LAST_JOINED = 5,
    RTMFP_JOINER_TOLD = RTMFP_LAST_JOINED + 1,
    RTMFP_NEAREST = 6,
};

/* The first message of a flow: 01, VLU length, format, id. False: it is wrong. */
bool rtmfp_group_read(struct rtmfp_bytes message, uint8_t id[RTMFP_GROUP_ID]);

struct rtmfp_netgroups;           /* owned by who made it */
struct rtmfp_member;              /* of one group */

/* Of one session, zeroed but for the first three; of its worker's thread alone. */
struct rtmfp_groups_of {
    uint8_t peer_id[RTMFP_PEER_ID];
    unsigned worker;
    uint32_t session;             /* the id that we gave it */
    unsigned n;
    bool silent;                  /* by rtmfp_netgroups_silent() */
    struct rtmfp_member *first;
};

/* Somebody that is to be told of the one that joined: on its flow of that group. */
struct rtmfp_neighbour {
    unsigned worker;
    uint32_t session;
    uint64_t flow;
    uint8_t peer_id[RTMFP_PEER_ID];
};

struct rtmfp_joined {
    size_t n, near;
    uint8_t told[RTMFP_JOINER_TOLD][RTMFP_PEER_ID];       /* n: peers for the one that joins */
    struct rtmfp_neighbour neighbours[RTMFP_NEAREST];     /* near */
};

struct rtmfp_netgroups *rtmfp_netgroups_new(size_t most); /* members, of all groups */
void rtmfp_netgroups_free(struct rtmfp_netgroups *g);     /* all were left; NULL is fine */

/* By this flow of the session. False: it is in the group, or there is no room. */
bool rtmfp_netgroups_join(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s, uint64_t flow,
                          const uint8_t id[RTMFP_GROUP_ID], struct rtmfp_joined *out);
/* Fine if none came of that flow. */
void rtmfp_netgroups_leave(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s, uint64_t flow);
void rtmfp_netgroups_leave_all(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s);
/* It does not answer; or it does again. */
void rtmfp_netgroups_silent(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s, bool silent);

/* Groups, and members of all of them. */
void rtmfp_netgroups_count(struct rtmfp_netgroups *g, size_t *groups, size_t *members);

#endif
