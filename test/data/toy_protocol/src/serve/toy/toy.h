/* SPDX-License-Identifier: MIT */
/* toy.h - a toy protocol: each line that a client sends, and each datagram, comes back with a word in
 * front of it. The first line names the client's stream: "app/stream".
 */
#ifndef SERVE_TOY_TOY_H
#define SERVE_TOY_TOY_H

#include "base/counters.h"
#include "serve/datagram/datagram.h"
#include "serve/protocol.h"

enum { TOY_LINE = 256 };

struct toy_service {
    struct datagram_service base;
    uint64_t echoes;
};

static inline struct toy_service *toy_service_of(const struct session_env *env)
{
    return env->service[PROTOCOL_TOY];
}

extern const struct datagram_protocol toy_datagrams;
extern const struct counter_table toy_counters;

err_t toy_accept(struct session_env *env, const struct protocol_accepted *guest,
                 struct address_slot *place) __attribute__((warn_unused_result));

/* Writes the response to n bytes into `out`, counts it, and returns its size. */
size_t toy_echo(const struct session_env *env, const void *data, size_t size, char out[TOY_LINE]);

#endif
