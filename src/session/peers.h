/* SPDX-License-Identifier: MIT */
/* peers.h - how many connections each address has and how fast it makes them.
 *
 * A table of bounded size, looked at when a connection comes and when it goes, never in between;
 * all workers may have the same one. An IPv6 address counts by its /64, which is what one customer
 * gets. Nothing here yields.
 */
#ifndef SESSION_PEERS_H
#define SESSION_PEERS_H

#include "co/co.h"

struct peers; /* owned by the server, with several workers by the first */
struct peer;

enum {
    PEERS_ADDR = 16,           /* bytes of an address; IPv4 is mapped, as ::ffff:a.b.c.d */
    PEERS_REMEMBERED = 16384,  /* addresses without a connection, at most */
    PEERS_BURST = 10,          /* seconds of its rate that an address may take at once */
};

struct peers_limits {
    unsigned per_address;         /* connections at one time; 0: no limit */
    unsigned connects_per_second; /* 0: no limit */
};

enum peers_answer { PEERS_WELCOME, PEERS_TOO_MANY, PEERS_TOO_FAST };

/* In the connection's memory, zeroed when it has none. */
struct peers_place {
    struct peers *peers;
    struct peer *peer;
};

/* `expected` connections at one time: it works with more, but slower. */
struct peers *peers_new(size_t expected);
/* Several threads use it from now on: a place that was taken on one can be left on another. */
void peers_share(struct peers *p);
void peers_free(struct peers *p); /* all places were left */

/* Take a place for a connection from this address. If it has one already (the address turned out
 * to be a proxy's, the client's is another) that one is left first. Not welcome: it has none. */
enum peers_answer peers_enter(struct peers *p, struct peers_place *place,
                              const uint8_t addr[PEERS_ADDR], const struct peers_limits *limits,
                              co_usec now);
void peers_leave(struct peers_place *place, co_usec now); /* fine without one */

/* An address that may stand for many: of this machine, of private networks, or of no network. */
bool peers_is_private(const uint8_t addr[PEERS_ADDR]);

/* Addresses that are remembered, and connections of one of them; while no other thread uses it. */
size_t peers_count(const struct peers *p);
unsigned peers_connections(const struct peers *p, const uint8_t addr[PEERS_ADDR]);

#endif
