/* SPDX-License-Identifier: MIT */
/* tokens.h - tokens and keys that clients show: security.token and security.key of a vhost.
 *
 * What they are is in proto/token/. Here is which of them a client of this vhost must show, where
 * it shows it, and the files of keys, which are read on helper threads.
 */
#ifndef SESSION_TOKENS_H
#define SESSION_TOKENS_H

#include "conf/conf.h"
#include "session/env.h"
#include "session/jwks_files.h"

struct tokens; /* of a server */

struct tokens *tokens_new(void);
void tokens_free(struct tokens *t); /* NULL is fine */

/* May the client do that to this stream of the vhost, by what it shows in names->param, or in the
 * Authorization field that is at `bearer` (NULL: none)? At once where nothing is asked for. *ends
 * is when it shall end by at_expiry, in seconds since 1970, or 0 for never; NULL: no matter.
 * ERR_TOKEN says why not, and never what was shown. Does not yield. */
err_t tokens_check(struct session_env *env, const struct conf_vhost *vhost, enum conf_action what,
                   const struct session_stream *names, const char *bearer, int64_t *ends)
    __attribute__((warn_unused_result));

/* Did it have to show something for that, and is what it shows right? Is counted nowhere. */
bool tokens_prove(const struct session_env *env, const struct conf_vhost *vhost,
                  enum conf_action what, const struct session_stream *names);

/* Tokens are checked by these keys from now on; takes over the reference. NULL: by none. */
void tokens_take(struct tokens *t, struct jwks_files *files);
/* Read the files that changed again; of one that cannot be read the keys of before stay. Yields. */
void tokens_refresh(struct tokens *t);

struct tokens_stat {
    uint64_t ok, denied;
};
/* So far; of clients that had to show one. */
const struct tokens_stat *tokens_stat(const struct tokens *t, enum conf_action what);

#endif
