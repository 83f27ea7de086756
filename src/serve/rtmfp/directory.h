/* SPDX-License-Identifier: MIT */
/* directory.h - finds peers of all workers by their peer ids. Locked; nothing here yields.
 *
 * A client could present a certificate copied from the wire, so the first session with an id keeps
 * it. Later sessions with the same id wait in order of arrival until that session ends, or until
 * rtmfp_directory_pass() reports that it did not answer.
 */
#ifndef SERVE_RTMFP_DIRECTORY_H
#define SERVE_RTMFP_DIRECTORY_H

#include "proto/rtmfp/certificate.h"
#include "proto/rtmfp/chunks.h"

enum {
    RTMFP_TOLD_MAX = 8,     /* addresses of a peer sent to another peer */
    RTMFP_REPORTED_MAX = 8, /* addresses stored that a peer reports for itself */
    RTMFP_SAME_ID_MAX = 4,  /* sessions with one id, including its holder */
};

struct rtmfp_directory;     /* freed by its creator */
struct rtmfp_presence;      /* entry of a session */

/* Location of a session. */
struct rtmfp_seat {
    unsigned worker;
    uint32_t session;       /* session id we assigned */
    struct udp_addr at;     /* address as seen by the server */
};

struct rtmfp_directory *rtmfp_directory_new(size_t most); /* most: number of entries */
void rtmfp_directory_free(struct rtmfp_directory *d);     /* must be empty; NULL is fine */

/* Adds a session. Returns NULL if the table, or the list of this id, is full. If another session
 * holds the id, *holder is its location and the caller pings it; else holder->session is 0. */
struct rtmfp_presence *rtmfp_directory_enter(struct rtmfp_directory *d,
                                             const uint8_t id[RTMFP_PEER_ID],
                                             const struct rtmfp_seat *seat,
                                             struct rtmfp_seat *holder);
void rtmfp_directory_leave(struct rtmfp_directory *d, struct rtmfp_presence *p);
/* Sets a new location. */
void rtmfp_directory_move(struct rtmfp_directory *d, struct rtmfp_presence *p,
                          const struct rtmfp_seat *seat);
/* Replaces the addresses that the peer reports for itself; stores the first RTMFP_REPORTED_MAX
 * usable ones. Returns the number of usable ones, including duplicates. */
size_t rtmfp_directory_report(struct rtmfp_directory *d, struct rtmfp_presence *p,
                              const struct rtmfp_address *list, size_t n);
/* A session did not answer: if it holds the id and another one waits, the next one gets the id and
 * this one moves to the end of the list. */
void rtmfp_directory_pass(struct rtmfp_directory *d, const uint8_t id[RTMFP_PEER_ID],
                          unsigned worker, uint32_t session);

/* Looks up a peer for the one at `asker`: its location and the addresses to send (the observed one,
 * then reported ones). Returns their number; 0: unknown id. */
size_t rtmfp_directory_find(struct rtmfp_directory *d, const uint8_t id[RTMFP_PEER_ID],
                            const struct udp_addr *requester, struct rtmfp_seat *seat,
                            struct rtmfp_address out[RTMFP_TOLD_MAX]);

size_t rtmfp_directory_count(struct rtmfp_directory *d); /* number of entries */

#endif
