/* SPDX-License-Identifier: MIT */
/* address_slot.h - whether a connection from some address may come, by `limits`. */
#ifndef SESSION_ADDRESS_SLOT_H
#define SESSION_ADDRESS_SLOT_H

#include "session/env.h"
#include "session/address_limits.h"

/* Take a place in serve->peers for a connection, which gives it back at its end by
 * address_slot_leave(). False: it is refused, counted and told to the log; close it. */
bool address_slot_take(struct session_env *env, struct address_slot *place,
                        const uint8_t addr[ADDRESS_BYTES]);
/* The same once more, when the peer turned out to be a proxy and the client's address, a text, is
 * another: the proxy's place is left for one of the client's. ERR_TOO_MANY: it has none now. */
err_t address_slot_take_ip(struct session_env *env, struct address_slot *place, const char *ip)
    __attribute__((warn_unused_result));
void address_slot_leave(struct address_slot *place);

/* Is that the address of a private network, or none, which limits leave alone? Many clients may be
 * behind it. */
bool address_slot_is_free(const struct session_env *env, const char *ip);

/* From now on the coroutine that calls uses the log budget of the clients of this address. A
 * private address has a larger one, as it may be a proxy with many clients behind it. */
void session_log_as_client(const struct session_env *env, const char *ip);

#endif
