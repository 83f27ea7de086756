/* SPDX-License-Identifier: MIT */
/* datagram_player.c - a player over datagrams without sockets, and the coroutine that closes it. */
#include "datagram_player.h"

#include <string.h>

void datagram_player_service(struct datagram_service *s)
{
    co_group_init(&s->group);
    s->leaving_end = &s->leaving;
    assert_ok(co_go(&s->group, "end", datagram_close_main, s));
    s->ender = co_newest(&s->group);
}

void datagram_player_begin(struct datagram_client *c, struct datagram_service *s,
                                         const struct datagram_client_ops *ops, const char *cid)
{
    datagram_client_init(c, s->env);
    c->ops = ops;
    strcpy(c->cid, cid);
    strcpy(c->ip, "10.0.0.1");
    datagram_client_enter(c, s);
    session_begin(&c->session);
}

void datagram_player_end(struct datagram_client *c)
{
    datagram_client_part(c);
    datagram_client_fini(c);
}
