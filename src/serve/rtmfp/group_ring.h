/* SPDX-License-Identifier: MIT */
/* group_ring.h - NetGroups: members of all groups at all workers. Locked; nothing here yields.
 *
 * The members of a group form a ring ordered by the SHA-256 of their EPD. A joining peer gets the
 * ids of the peers that joined last and of one random member, but of no silent one, which it would
 * wait for. Its nearest neighbours in the ring are notified. The peers do the rest among
 * themselves.
 */
#ifndef SERVE_RTMFP_GROUP_RING_H
#define SERVE_RTMFP_GROUP_RING_H

#include "proto/rtmfp/certificate.h"

enum {
    RTMFP_GROUP_ID = RTMFP_HASH,
    RTMFP_GROUPS_MAX = 64,        /* per session */
    RTMFP_LAST_JOINED = 5,
    RTMFP_JOINER_TOLD = RTMFP_LAST_JOINED + 1,
    RTMFP_NEAREST = 6,
};

/* Parses the first message of a flow: 01, VLU length, format, id. Returns false if it is
 * invalid. */
bool rtmfp_group_read(struct rtmfp_bytes message, uint8_t id[RTMFP_GROUP_ID]);

struct rtmfp_netgroups;           /* freed by its creator */
struct rtmfp_member;              /* member of one group */

/* Groups of one session; zeroed except for the first three fields. Used only by its worker's
 * thread. */
struct rtmfp_groups_of {
    uint8_t peer_id[RTMFP_PEER_ID];
    unsigned worker;
    uint32_t session;             /* session id we assigned */
    unsigned n;
    bool silent;                  /* set by rtmfp_netgroups_silent() */
    struct rtmfp_member *first;
};

/* A member to notify of the new one, on its flow of this group. */
struct rtmfp_neighbour {
    unsigned worker;
    uint32_t session;
    uint64_t flow;
    uint8_t peer_id[RTMFP_PEER_ID];
};

struct rtmfp_joined {
    size_t n, near;
    uint8_t told[RTMFP_JOINER_TOLD][RTMFP_PEER_ID];       /* n: peers to send to the new member */
    struct rtmfp_neighbour neighbours[RTMFP_NEAREST];     /* n: nearest members */
};

struct rtmfp_netgroups *rtmfp_netgroups_new(size_t most); /* most: members of all groups */
void rtmfp_netgroups_free(struct rtmfp_netgroups *g);     /* must be empty; NULL is fine */

/* Adds the session by this flow. Returns false if it is a member already or the limit is
 * reached. */
bool rtmfp_netgroups_join(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s, uint64_t flow,
                          const uint8_t id[RTMFP_GROUP_ID], struct rtmfp_joined *out);
/* Fine if the flow joined no group. */
void rtmfp_netgroups_leave(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s, uint64_t flow);
void rtmfp_netgroups_leave_all(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s);
/* Sets whether the session stopped answering. */
void rtmfp_netgroups_silent(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s, bool silent);

/* Returns the number of groups and of members of all groups. */
void rtmfp_netgroups_count(struct rtmfp_netgroups *g, size_t *groups, size_t *members);

#endif
