/* SPDX-License-Identifier: MIT */
/* rtmfp_player.c - a player of a live stream over RTMFP without a socket: the test runs its turns. */
#include "rtmfp_player.h"

static void on_close(struct datagram_client *c, err_t why)
{
    (void)c;
    err_free(&why);
}

static const struct datagram_client_ops ops = { .close = on_close };

void rtmfp_player_begin(struct rtmfp_player *p, const struct live_settings *set, size_t wire_bytes)
{
    struct live_settings small = *set;

    memset(p, 0, sizeof(*p));
    small.max_bytes = wire_bytes;
    p->src = live_begin(&small);
    p->env = env_new("listen 1935;");
    p->service.base.env = p->env;
    co_group_init(&p->service.base.group);
    p->service.base.leaving_end = &p->service.base.leaving;
    assert_ok(co_go(&p->service.base.group, "end", datagram_close_main, &p->service.base));
    p->service.base.ender = co_newest(&p->service.base.group);
    p->peer.service = &p->service;
    p->n.peer = &p->peer;
    p->n.base.ops = &ops;
    datagram_client_init(&p->n.base, p->env);
    datagram_client_enter(&p->n.base, &p->service.base);
    datagram_client_state(&p->n.base, DATAGRAM_ACTIVE);
    p->n.base.session.src = p->src;
    p->n.base.session.names.name = "s";
    p->n.base.stream = rtmfp_stream_get(&p->service, p->src);
    p->wire = rtmfp_stream_wire(p->n.base.stream);
    datagram_stream_add(p->n.base.stream, &p->n.base.player);
    p->n.play.was_paused = true;
    live_source_settings(p->src, set);
}

void rtmfp_player_end(struct rtmfp_player *p)
{
    err_t err;

    co_post_cancel(&p->service.turn);
    datagram_stream_remove(p->n.base.stream, &p->n.base.player);
    datagram_stream_put(p->n.base.stream);
    err = co_group_stop(&p->service.base.group);
    err_free(&err);
    p->n.base.session.src = NULL;
    datagram_client_part(&p->n.base);
    datagram_client_fini(&p->n.base);
    live_end(p->src);
    env_free(&p->env);
}

bool rtmfp_player_is_closed(const struct rtmfp_player *p)
{
    return p->n.base.state == DATAGRAM_ENDING;
}
