/* SPDX-License-Identifier: MIT */
/* rtmp.h - serves one RTMP client: an encoder that publishes, or a player. */
#ifndef SERVE_RTMP_RTMP_H
#define SERVE_RTMP_RTMP_H

#include "session/env.h"

struct io;
struct address_slot;
struct protocol_accepted;

/* Implements accept() of struct protocol. */
err_t rtmp_accept(struct session_env *env, const struct protocol_accepted *accepted,
                  struct address_slot *slot) __attribute__((warn_unused_result));
/* Serves a client over any io until it ends and returns the reason. For tests. */
err_t rtmp_session_run(struct session_env *env, struct io *io, const char *ip)
    __attribute__((warn_unused_result));

#endif
