/* SPDX-License-Identifier: MIT */
/* guard.h - addresses that show wrong passwords, passphrases or stream keys: counted, then locked.
 *
 * One table of the process, of fixed size, that all workers use; each kind of secret counts for
 * itself, so an address that is locked for RTSP may still use the API. An IPv6 address counts by
 * its /64. When the table is full, the address that would be forgotten first makes room. Nothing
 * here yields.
 */
#ifndef SESSION_GUARD_H
#define SESSION_GUARD_H

#include "session/env.h"

enum { GUARD_ADDRESSES = 1024 };

#define XX(ID, text) GUARD_##ID,
enum guard_kind { PROTOCOL_SECRET_LIST(XX) GUARD_KINDS };
#undef XX

struct guard_rule {
    int attempts; /* wrong ones before the address is locked; 0: it never is */
    co_usec lock; /* how long, and how long a wrong one is remembered */
};

struct guard; /* owned by the server */

struct guard *guard_new(void);
void guard_free(struct guard *g);

/* How long the address is still locked; 0: it is not. A NULL guard locks nobody. */
co_usec guard_locked(struct guard *g, enum guard_kind kind, const char *ip, co_usec now);
/* The address showed a wrong secret: the count so far. Number rule->attempts locks it. With `said`
 * (the secret, or NULL) one that the address repeats counts once: an encoder with an old key tries
 * the same one for ever. */
int guard_wrong(struct guard *g, enum guard_kind kind, const char *ip,
                const struct guard_rule *rule, const char *said, size_t size, co_usec now);

/* The same by `limits { wrong_secrets; wrong_lock; }`; that the address is locked is one line in
 * the log. */
co_usec session_guard_locked(const struct session_env *env, enum guard_kind kind, const char *ip);
void session_guard_wrong(const struct session_env *env, enum guard_kind kind, const char *ip,
                         const char *said, size_t size);

#endif
