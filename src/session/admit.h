/* SPDX-License-Identifier: MIT */
/* admit.h - may a client play? The two questions that all protocols ask, each in one place.
 *
 * Who brings another way to ask for permission adds it to both functions.
 */
#ifndef SESSION_ADMIT_H
#define SESSION_ADMIT_H

#include "session/hooks.h"

/* Do players of this vhost need permission? Then nothing of a stream may be had by whoever
 * guesses what its files are called. */
bool session_play_is_asked(const struct conf_vhost *vhost);

/* May the client play event->names, and until when (*ends, as of tokens_check())? First what is
 * known at once: address, page, token, room in the vhost; then the backend is asked. ERR_DENIED,
 * ERR_REFER_DENIED, ERR_TOKEN, ERR_TOO_MANY, and the errors of hooks_ask(), whose `line` it is.
 * Yields. */
err_t session_ask_play(struct session_env *env, struct hooks_line **line,
                       const struct conf_vhost *vhost, const struct hooks_event *event,
                       int64_t *ends)
    __attribute__((warn_unused_result));

#endif
