/* SPDX-License-Identifier: MIT */
/* address_limits.h - limits the connections and the connection rate of each address.
 *
 * A table of limited size, used when a connection begins and ends, never in between. All workers
 * may share it. IPv6 addresses are counted by /64, the usual size of a customer's network. Nothing
 * here yields.
 */
#ifndef SESSION_ADDRESS_LIMITS_H
#define SESSION_ADDRESS_LIMITS_H

#include "co/co.h"

struct address_limits; /* owned by the server, with several workers by the first */
struct peer;

enum {
    ADDRESS_BYTES = 16,          /* size of an address; IPv4 is mapped, as ::ffff:a.b.c.d */
    ADDRESS_REMEMBERED = 16384,  /* maximum number of addresses without a connection */
    ADDRESS_BURST = 10,          /* size of the token bucket: seconds of the allowed rate */
};

struct address_limits_config {
    unsigned per_address;         /* simultaneous connections; 0: no limit */
    unsigned connects_per_second; /* 0: no limit */
};

enum address_answer { ADDRESS_WELCOME, ADDRESS_TOO_MANY, ADDRESS_TOO_FAST };

/* A connection's slot, in its memory; zero if it has none. */
struct address_slot {
    struct address_limits *limits;
    struct peer *peer;
};

/* `expected` is the usual number of connections: it works with more, but slower. */
struct address_limits *address_limits_new(size_t expected);
/* Allows several threads to use it from now on; a slot taken on one can be left on another. */
void address_limits_share(struct address_limits *p);
void address_limits_free(struct address_limits *p); /* all slots were left */

/* Takes a slot for a connection from this address. If it has one already (for the address of a
 * proxy), leaves that first. On any result but ADDRESS_WELCOME it has none. */
enum address_answer address_limits_enter(struct address_limits *p, struct address_slot *place,
                                         const uint8_t addr[ADDRESS_BYTES],
                                         const struct address_limits_config *limits, co_usec now);
void address_limits_leave(struct address_slot *place, co_usec now); /* fine without one */

/* Returns true for an address that many clients may share: loopback, private or unspecified. */
bool address_is_private(const uint8_t addr[ADDRESS_BYTES]);

/* Number of remembered addresses, and of connections of one; only while no other thread uses it. */
size_t address_limits_count(const struct address_limits *p);
unsigned address_limits_connections(const struct address_limits *p,
                                    const uint8_t addr[ADDRESS_BYTES]);

#endif
