/* SPDX-License-Identifier: MIT */
/* datagram_player.h - a player over datagrams without sockets, and the coroutine that closes it. */
#ifndef DATAGRAM_PLAYER_H
#define DATAGRAM_PLAYER_H

#include "serve/datagram/client.h"
#include "unit.h"

/* A service that consists of s->base.env. */
void datagram_player_service(struct datagram_service *s);
void datagram_player_begin(struct datagram_client *c, struct datagram_service *s,
                                         const struct datagram_client_ops *ops, const char *cid);
void datagram_player_end(struct datagram_client *c);

#endif
