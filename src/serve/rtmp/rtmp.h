/* SPDX-License-Identifier: MIT */
/* rtmp.h - serve one RTMP client: an encoder that publishes, or a player. */
#ifndef SERVE_RTMP_RTMP_H
#define SERVE_RTMP_RTMP_H

#include "session/env.h"

struct io;
struct address_slot;
struct protocol_accepted;

/* See struct protocol. */
err_t rtmp_accept(struct session_env *env, const struct protocol_accepted *guest,
                  struct address_slot *place) __attribute__((warn_unused_result));
/* Serve a client over any pipe, for tests, until the end; returns why it ended. */
err_t rtmp_session_run(struct session_env *env, struct io *io, const char *ip)
    __attribute__((warn_unused_result));

#endif
