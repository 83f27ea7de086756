/* SPDX-License-Identifier: MIT */
/* rtmfp_play_fakes.h - what serve/rtmfp/play.c needs of others: for tests of it alone. */
#ifndef RTMFP_PLAY_FAKES_H
#define RTMFP_PLAY_FAKES_H

#include "serve/rtmfp/stream.h"
#include "unit.h"

static struct rtmfp_wire *wire;
static unsigned let_go;

struct rtmfp_wire *rtmfp_stream_wire(struct rtmfp_stream *st)
{
    (void)st;
    return wire;
}

struct rtmfp_stream *rtmfp_stream_get(struct rtmfp_service *s, struct live_source *src)
{
    (void)s;
    (void)src;
    return NULL;
}

void rtmfp_stream_put(struct rtmfp_stream *st)
{
    (void)st;
}

void rtmfp_stream_add(struct rtmfp_stream *st, struct rtmfp_netstream *n)
{
    (void)st;
    (void)n;
}

void rtmfp_stream_remove(struct rtmfp_stream *st, struct rtmfp_netstream *n)
{
    (void)st;
    (void)n;
}

bool rtmfp_stream_has(const struct rtmfp_netstream *n)
{
    return n->doing == RTMFP_PLAYS;
}

void rtmfp_play_count(struct rtmfp_netstream *n)
{
    (void)n;
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

void rtmfp_netstream_leave(struct rtmfp_netstream *n, err_t why)
{
    n->doing = RTMFP_ENDS;
    let_go++;
    err_free(&why);
}

#endif
