/* SPDX-License-Identifier: MIT */
/* rtmfp_play_fakes.h - what serve/rtmfp/play.c needs of others: for tests of it alone. */
#ifndef RTMFP_PLAY_FAKES_H
#define RTMFP_PLAY_FAKES_H

#include "serve/rtmfp/peer.h"
#include "wire/rtmfp.h"
#include "unit.h"

static struct rtmfp_wire *wire;
static unsigned let_go;

struct rtmfp_wire *rtmfp_stream_wire(struct datagram_stream *st)
{
    (void)st;
    return wire;
}

struct datagram_stream *rtmfp_stream_get(struct rtmfp_service *s, struct live_source *src)
{
    (void)s;
    (void)src;
    return NULL;
}

void datagram_stream_put(struct datagram_stream *st)
{
    (void)st;
}

void datagram_stream_add(struct datagram_stream *st, struct datagram_player *p)
{
    (void)st;
    (void)p;
}

void datagram_stream_remove(struct datagram_stream *st, struct datagram_player *p)
{
    (void)st;
    p->prev = NULL;
}

void rtmfp_peer_touch(struct rtmfp_peer *p)
{
    p->touched = true;
}

void rtmfp_peer_media(struct rtmfp_peer *p, bool on)
{
    (void)p;
    (void)on;
}

void rtmfp_netstream_status(struct rtmfp_netstream *n, unsigned status, const char *text)
{
    (void)n;
    (void)status;
    (void)text;
}

void rtmfp_netstream_say(struct rtmfp_netstream *n, uint8_t type, uint32_t time,
                         const uint8_t *data, size_t size)
{
    (void)n;
    (void)type;
    (void)time;
    (void)data;
    (void)size;
}

void datagram_client_close(struct datagram_client *c, err_t why)
{
    c->state = DATAGRAM_ENDING;
    let_go++;
    err_free(&why);
}

/* It plays the source. */
static inline void begin_playing(struct rtmfp_netstream *n, struct live_source *src)
{
    n->base.state = DATAGRAM_ACTIVE;
    n->base.player.prev = &n->base.player.next;
    n->base.session.src = src;
    n->base.session.names.name = "s";
}

#endif
