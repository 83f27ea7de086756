/* SPDX-License-Identifier: MIT */
/* guard.h - counts and then locks addresses that use wrong passwords, passphrases or stream keys.
 *
 * One table of fixed size, shared by all workers. Each kind of secret counts separately, so an
 * address that is locked for RTSP may still use the API. IPv6 addresses are counted by /64. When
 * the table is full, the entry that would expire first is replaced. Nothing here yields.
 */
#ifndef SESSION_GUARD_H
#define SESSION_GUARD_H

#include "session/env.h"

enum { GUARD_ADDRESSES = 1024 };

#define XX(ID, text) GUARD_##ID,
enum guard_kind { PROTOCOL_SECRET_LIST(XX) GUARD_KINDS };
#undef XX

struct guard_rule {
    int attempts; /* wrong secrets until the address is locked; 0: never */
    co_usec lock; /* duration of the lock, and how long a wrong secret is remembered */
};

struct guard; /* owned by the server */

struct guard *guard_new(void);
void guard_free(struct guard *g);

/* Returns how long the address remains locked; 0: not locked. A NULL guard never locks. */
co_usec guard_locked(struct guard *g, enum guard_kind kind, const char *ip, co_usec now);
/* Counts a wrong secret of the address and returns the count; rule->attempts locks it. If `said` is
 * the secret (not NULL), repeating it counts once, because an encoder with an old key tries the
 * same one for ever. */
int guard_wrong(struct guard *g, enum guard_kind kind, const char *ip,
                const struct guard_rule *rule, const char *said, size_t size, co_usec now);

/* The same with `limits { wrong_secrets; wrong_lock; }`. Logs one line when it locks an address. */
co_usec session_guard_locked(const struct session_env *env, enum guard_kind kind, const char *ip);
void session_guard_wrong(const struct session_env *env, enum guard_kind kind, const char *ip,
                         const char *said, size_t size);

#endif
