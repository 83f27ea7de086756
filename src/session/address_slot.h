/* SPDX-License-Identifier: MIT */
/* address_slot.h - checks `limits` for a connection from an address. */
#ifndef SESSION_ADDRESS_SLOT_H
#define SESSION_ADDRESS_SLOT_H

#include "session/env.h"
#include "session/address_limits.h"

/* Takes a slot in env->peers for a connection, which calls address_slot_leave() at its end. Returns
 * false if it is refused, which was counted and logged: close it. */
bool address_slot_take(struct session_env *env, struct address_slot *place,
                        const uint8_t addr[ADDRESS_BYTES]);
/* Takes a slot for the client's address (a text) when the peer turned out to be a proxy, and leaves
 * the proxy's slot. ERR_TOO_MANY: it has none now. */
err_t address_slot_take_ip(struct session_env *env, struct address_slot *place, const char *ip)
    __attribute__((warn_unused_result));
void address_slot_leave(struct address_slot *place);

/* Returns true if limits do not apply to the address: it is private or unknown, so many clients may
 * share it. */
bool address_slot_is_free(const struct session_env *env, const char *ip);

/* Makes the calling coroutine use the log budget of this address. A private address has a larger
 * budget, because it may be a proxy with many clients. */
void session_log_as_client(const struct session_env *env, const char *ip);

#endif
