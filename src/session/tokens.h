/* SPDX-License-Identifier: MIT */
/* tokens.h - checks the tokens and keys of clients: security.token and security.key of a vhost.
 *
 * proto/token/ has their formats. This file knows which of them a vhost requires, where clients
 * send them, and the files of keys, which are read on helper threads.
 */
#ifndef SESSION_TOKENS_H
#define SESSION_TOKENS_H

#include "conf/conf.h"
#include "session/env.h"
#include "session/jwks_files.h"

struct tokens; /* token keys and counters of a worker */

struct tokens *tokens_new(void);
void tokens_free(struct tokens *t); /* NULL is fine */

/* Checks the credentials in names->param, or in the Authorization header `bearer` (or NULL), for an
 * action on this stream. Succeeds if the vhost requires none. *ends is the time at which the client
 * must end by at_expiry, seconds since 1970, or 0 for never; may be NULL. ERR_TOKEN has the reason,
 * never the credentials. Does not yield. */
err_t tokens_check(struct session_env *env, const struct conf_vhost *vhost, enum conf_action what,
                   const struct session_stream *names, const char *bearer, int64_t *ends)
    __attribute__((warn_unused_result));

/* Returns true if credentials are required and the client has the right ones. Does not count. */
bool tokens_prove(const struct session_env *env, const struct conf_vhost *vhost,
                  enum conf_action what, const struct session_stream *names);

/* Uses these keys from now on; takes over the reference. NULL: no keys. */
void tokens_take(struct tokens *t, struct jwks_files *files);
/* Reads changed files again; if one cannot be read, its old keys stay. Yields. */
void tokens_refresh(struct tokens *t);

struct tokens_stat {
    uint64_t ok, denied;
};
/* Counters of clients that needed credentials. */
const struct tokens_stat *tokens_stat(const struct tokens *t, enum conf_action what);

#endif
