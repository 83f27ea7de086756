/* SPDX-License-Identifier: MIT */
/* table.h - sessions of a worker, and handshakes whose keys are being computed, by address ([RTMFP]
 * 3.5.1.1.2: detects repeated handshakes).
 *
 * The table has no limit; callers check limits first. Nothing here yields.
 */
#ifndef SERVE_RTMFP_TABLE_H
#define SERVE_RTMFP_TABLE_H

#include "serve/rtmfp/peer.h"

/* A handshake whose keys are being computed. */
struct rtmfp_handshake {
    struct rtmfp_handshake *next;    /* list of the queue or of a batch */
    struct rtmfp_handshake *next_at; /* list in the table */
    struct udp_path path;
    uint32_t id;                     /* chosen by the initiator */
    unsigned endpoint;               /* its number */
    struct address_slot place;
    co_usec since;
    struct rtmfp_work *work;         /* keys_queue.c; NULL: a helper thread has it */
};

struct rtmfp_table;
struct rtmfp_table *rtmfp_table_new(void);
void rtmfp_table_free(struct rtmfp_table *t); /* must be empty */
/* Finds sessions by session.peer. If several have one address: the newest. */
void rtmfp_table_add(struct rtmfp_table *t, struct rtmfp_peer *p);
/* `at`: the address it was added with. Fine if it is not in the table. */
void rtmfp_table_remove(struct rtmfp_table *t, struct rtmfp_peer *p, const struct udp_addr *at);
struct rtmfp_peer *rtmfp_table_find(const struct rtmfp_table *t, const struct udp_addr *at);

void rtmfp_table_add_keying(struct rtmfp_table *t, struct rtmfp_handshake *h);
void rtmfp_table_remove_keying(struct rtmfp_table *t, struct rtmfp_handshake *h);
bool rtmfp_table_is_keying(const struct rtmfp_table *t, const struct udp_addr *at, uint32_t id);

#endif
