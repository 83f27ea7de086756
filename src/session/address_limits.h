/* SPDX-License-Identifier: MIT */
/* address_limits.h - how many connections each address has and how fast it makes them.
 *
 * A table of bounded size, looked at when a connection comes and when it goes, never in between;
 * all workers may have the same one. An IPv6 address counts by its /64, which is what one customer
 * gets. Nothing here yields.
 */
#ifndef SESSION_ADDRESS_LIMITS_H
#define SESSION_ADDRESS_LIMITS_H

#include "co/co.h"

struct peers; /* owned by the server, with several workers by the first */
struct peer;

enum {
    ADDRESS_BYTES = 16,           /* bytes of an address; IPv4 is mapped, as ::ffff:a.b.c.d */
    ADDRESS_REMEMBERED = 16384,  /* addresses without a connection, at most */
    ADDRESS_BURST = 10,          /* seconds of its rate that an address may take at once */
};

struct address_limits_config {
    unsigned per_address;         /* connections at one time; 0: no limit */
    unsigned connects_per_second; /* 0: no limit */
};

enum address_answer { ADDRESS_WELCOME, ADDRESS_TOO_MANY, ADDRESS_TOO_FAST };

/* In the connection's memory, zeroed when it has none. */
struct address_slot {
    struct peers *peers;
    struct peer *peer;
};

/* `expected` connections at one time: it works with more, but slower. */
struct peers *address_limits_new(size_t expected);
/* Several threads use it from now on: a place that was taken on one can be left on another. */
void address_limits_share(struct peers *p);
void address_limits_free(struct peers *p); /* all places were left */

/* Take a place for a connection from this address. If it has one already (the address turned out
 * to be a proxy's, the client's is another) that one is left first. Not welcome: it has none. */
enum address_answer address_limits_enter(struct peers *p, struct address_slot *place,
                                         const uint8_t addr[ADDRESS_BYTES],
                                         const struct address_limits_config *limits, co_usec now);
void address_limits_leave(struct address_slot *place, co_usec now); /* fine without one */

/* An address that may stand for many: of this machine, of private networks, or of no network. */
bool address_is_private(const uint8_t addr[ADDRESS_BYTES]);

/* Addresses that are remembered, and connections of one of them; while no other thread uses it. */
size_t address_limits_count(const struct peers *p);
unsigned address_limits_connections(const struct peers *p, const uint8_t addr[ADDRESS_BYTES]);

#endif
