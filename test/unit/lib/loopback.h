/* SPDX-License-Identifier: MIT */
/* loopback.h - a service over datagrams on loopback, in the thread that tests, and what its clients do. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include "env.h"

#include "co/net/udp.h"
#include "serve/datagram/datagram.h"

/* A free port of UDP. */
int loopback_port(void);
/* A server of this configuration, which has a `listen` of that protocol. */
struct session_env *loopback_begin(const struct datagram_protocol *p, enum protocol_id id,
                                   const char *conf);
/* All its conversations end, and nothing is left. */
void loopback_end(struct session_env **env, enum protocol_id id);

/* The same at both workers of two_workers.h. */
void loopback_begin_two(const struct datagram_protocol *p, enum protocol_id id, const char *conf);
void loopback_end_two(void);

void loopback_send(struct udp *u, const struct udp_path *to, const void *data, size_t size);
/* One datagram, its size; 0: none came in that time. */
size_t loopback_receive(struct udp *u, uint8_t *out, size_t room, co_usec patience);

/* Wait until that holds. */
#define UNTIL(what) do {                                                  \
        co_usec until_ = co_clock() + CO_SECONDS(5);                      \
        while (!(what) && co_clock() < until_)                            \
            assert_ok(co_sleep(CO_MS(2)));                                \
        assert_true(what);                                                \
    } while (0)

#endif
