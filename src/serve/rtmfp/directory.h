/* SPDX-License-Identifier: MIT */
/* directory.h - where peers are, by their ids: of all workers, with a lock. Nothing here yields.
 *
 * Anybody may show a certificate that he copied from the wire, so the session that has an id first
 * keeps it. Others that come with it wait, in the order in which they came, until it goes or
 * rtmfp_directory_pass() says that it did not answer.
 */
#ifndef SERVE_RTMFP_DIRECTORY_H
#define SERVE_RTMFP_DIRECTORY_H

#include "proto/rtmfp/certificate.h"
#include "proto/rtmfp/chunks.h"

enum {
    RTMFP_TOLD_MAX = 8,     /* addresses of a peer that another one is told */
    RTMFP_REPORTED_MAX = 8, /* that a peer says of itself, and are kept */
    RTMFP_SAME_ID_MAX = 4,  /* sessions with one id, the one that has it included */
};

struct rtmfp_directory;     /* owned by who made it */
struct rtmfp_presence;      /* a session's place in it */

/* Where a session is. */
struct rtmfp_seat {
    unsigned worker;
    uint32_t session;       /* the id that we gave it */
    struct udp_addr at;     /* as we see it */
};

struct rtmfp_directory *rtmfp_directory_new(size_t most); /* presences */
void rtmfp_directory_free(struct rtmfp_directory *d);     /* all were left; NULL is fine */

/* NULL: there is no room, in all or of this id. Another session has the id: *holder is where, to be
 * pinged; else holder->session is 0. */
struct rtmfp_presence *rtmfp_directory_enter(struct rtmfp_directory *d,
                                             const uint8_t id[RTMFP_PEER_ID],
                                             const struct rtmfp_seat *seat,
                                             struct rtmfp_seat *holder);
void rtmfp_directory_leave(struct rtmfp_directory *d, struct rtmfp_presence *p);
/* It is there from now on. */
void rtmfp_directory_move(struct rtmfp_directory *d, struct rtmfp_presence *p,
                          const struct rtmfp_seat *seat);
/* What it says of itself, instead of what it said before; the first RTMFP_REPORTED_MAX of those
 * that somebody could be at; how many are fine, those that are told twice included. */
size_t rtmfp_directory_report(struct rtmfp_directory *d, struct rtmfp_presence *p,
                              const struct rtmfp_address *list, size_t n);
/* That session did not answer: if it has the id, and another one waits for it, the next has it, and
 * it waits behind all others. */
void rtmfp_directory_pass(struct rtmfp_directory *d, const uint8_t id[RTMFP_PEER_ID],
                          unsigned worker, uint32_t session);

/* For a peer at `asker`: where the other one is, and what it is told of it: the observed address,
 * then reported ones; their count. 0: nobody has that id. */
size_t rtmfp_directory_find(struct rtmfp_directory *d, const uint8_t id[RTMFP_PEER_ID],
                            const struct udp_addr *asker, struct rtmfp_seat *seat,
                            struct rtmfp_address out[RTMFP_TOLD_MAX]);

size_t rtmfp_directory_count(struct rtmfp_directory *d); /* presences */

#endif
