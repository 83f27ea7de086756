/* SPDX-License-Identifier: MIT */
/* loopback.h - a datagram service on loopback, in the test's thread, and its clients. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include "env.h"

#include "co/net/udp.h"
#include "serve/datagram/datagram.h"

/* Returns a free UDP port. */
int loopback_port(void);
/* Starts a server of this configuration, which has a `listen` of that protocol. */
struct session_env *loopback_begin(const struct datagram_protocol *p, enum protocol_id id,
                                   const char *conf);
/* Ends all its conversations, and checks that nothing is left. */
void loopback_end(struct session_env **env, enum protocol_id id);

/* The same on both workers of two_workers.h. */
void loopback_begin_two(const struct datagram_protocol *p, enum protocol_id id, const char *conf);
void loopback_end_two(void);

void loopback_send(struct udp *u, const struct udp_path *to, const void *data, size_t size);
/* Receives one datagram and returns its size; 0: none in that time. */
size_t loopback_receive(struct udp *u, uint8_t *out, size_t room, co_usec patience);

/* Waits until the condition holds. */
#define UNTIL(what) do {                                                  \
        co_usec until_ = co_clock() + CO_SECONDS(5);                      \
        while (!(what) && co_clock() < until_)                            \
            assert_ok(co_sleep(CO_MS(2)));                                \
        assert_true(what);                                                \
    } while (0)

#endif
