/* SPDX-License-Identifier: MIT */
/* play.c - send a live stream, or a file, to a player, and hear what it says meanwhile. */
#include "base/container_of.h"
#include "base/log.h"
#include "proto/rtsp/range.h"
#include "proto/rtsp/rtp_info.h"
#include "serve/rtsp/file.h"
#include "wire/rtp.h"

#include <string.h>

#define START_WAIT CO_SECONDS(2)

static struct rtsp_conn *conn_of(const struct session_player *player)
{
    return container_of(player, struct rtsp_conn, player);
}

/* ---- what it says while it is sent something: requests, and reports of what it receives */

static void on_frame(struct rtsp_conn *c, const struct rtsp_item *item)
{
    for (unsigned i = 0; c->flowing && i < c->flowing->n_tracks; i++) {
        unsigned track = c->flowing->order[i];

        if (c->flowing->lower == RTSP_TCP && c->flowing->tracks[track].pair.rtcp == item->channel)
            rtsp_conn_take_rtcp(c, track, item->data, item->size);
    }
}

/* Requests that are here already. */
static err_t hear(struct rtsp_conn *c)
{
    struct rtsp_item item = { .kind = RTSP_ITEM_NONE };
    err_t err;

    do {
        err = rtsp_reader_take(&c->reader, &item);
        if (!err && item.kind == RTSP_ITEM_MESSAGE && item.message->is_request)
            err = c->answer(c, item.message);
        else if (!err && item.kind == RTSP_ITEM_FRAME)
            on_frame(c, &item);
        co_yield_if_due();
    } while (!err && item.kind != RTSP_ITEM_NONE && !c->player.sender.done);
    rtsp_reader_trim(&c->reader);
    return err;
}

static err_t on_readable(struct session_player *player)
{
    struct rtsp_conn *c = conn_of(player);
    size_t n;
    err_t err = rtsp_reader_fill(&c->reader, false, &n);

    if (!err)
        err = hear(c);
    if (err && rtsp_conn_udp_alone(c, err))
        err_free(&err);
    return err;
}

static void log_sample(const struct session_player *p, co_usec now)
{
    session_player_log_sample(p, " rtsp", us_to_ms(now - p->s->began_at));
}

err_t rtsp_play_begin(struct rtsp_conn *c)
{
    static const struct session_player_kind kinds[] = {
        { .type = CLIENTS_RTSP_PLAY, .what = "player", .sampled = SAMPLED_PLAY,
          .on_readable = on_readable, .log_sample = log_sample },
        { .type = CLIENTS_RTSP_VOD, .what = "player of a file", .sampled = SAMPLED_PLAY,
          .on_readable = on_readable, .log_sample = rtsp_file_log_sample },
    };

    return session_player_begin(&c->player, &c->base, &kinds[c->base.on_demand], NULL);
}

/* ---- PLAY */

uint32_t rtsp_play_tracks(const struct rtsp_session *session)
{
    uint32_t tracks = 0;

    for (unsigned i = 0; i < session->n_tracks; i++) {
        unsigned track = session->order[i];

        tracks |= 1u << track;
        if (session->lower == RTSP_TCP)
            tracks |= rtp_wire_on_channel(track, session->tracks[track].pair.rtp);
    }
    return tracks;
}

/* Numbers of the wire go on over a pause: it must not go with its last player meanwhile. After one
 * that was short it goes on where it was: what was sent already would be taken for repeated. */
static void open_wire(struct rtsp_conn *c, const struct rtsp_session *session)
{
    uint32_t param[LIVE_PARAMS] = {
        [RTP_WIRE_MTU] = (uint32_t)c->base.conf->rtsp_server.mtu,
        [RTP_WIRE_SEED] = rtp_wire_seed(live_source_name(c->base.src)),
        [RTP_WIRE_TRACKS] = rtsp_play_tracks(session),
    };

    session_player_reopen(&c->player, &rtp_wire, param);
    c->opened = true;
}

static bool waits_for_key(const struct rtsp_conn *c)
{
    struct live_sender_stat stat;

    live_sender_stat(&c->player.sender, &stat);
    return stat.state == LIVE_WAIT_KEY;
}

/* A player that came before its publisher, or where no group of pictures is kept: it is told where
 * its media begin if that is to be known soon. Without, sound and picture are apart at first. */
static err_t wait_for_key(struct rtsp_conn *c)
{
    struct live_consumer *at = &c->player.sender.consumer;
    co_usec until = co_now() + START_WAIT;
    err_t err = NULL;

    live_source_refresh(c->base.src);
    while (!err && waits_for_key(c) && co_now() < until) {
        live_consumer_park_me(at, live_consumer_pending(at) + 1);
        if (co_park(until - co_now()) == CO_STOPPED)
            err = co_stop_why();
        live_consumer_unpark(at);
        live_source_refresh(c->base.src);
    }
    return err;
}

void rtsp_play_put_info(struct rtsp_asked *a, const struct rtp_wire_start start[RTP_WIRE_N])
{
    struct rtsp_rtp_info out[RTP_WIRE_N];
    size_t n = 0;

    for (unsigned i = 0; i < a->session->n_tracks; i++) {
        unsigned track = a->session->order[i];
        const char *url = a->session->tracks[track].url;

        if (track >= RTP_WIRE_N || !start[track].has_time)
            continue;
        out[n++] = (struct rtsp_rtp_info){
            .url = url, .url_size = strlen(url), .has_seq = start[track].has_seq,
            .has_time = true, .seq = start[track].seq, .time = start[track].time };
    }
    if (n == 0)
        return;
    rtsp_put_name(a->w, "RTP-Info");
    rtsp_rtp_info_put(a->w, out, n);
    rtsp_put_line_end(a->w);
}

/* Where it begins. */
static err_t begin(struct rtsp_asked *a, struct rtp_wire_start start[RTP_WIRE_N])
{
    err_t err;

    open_wire(a->c, a->session);
    err = wait_for_key(a->c);
    if (!err)
        rtp_wire_start(&a->c->player.sender.consumer, rtsp_play_tracks(a->session), start);
    return err;
}

void rtsp_play_flows(struct rtsp_asked *a)
{
    struct rtsp_conn *c = a->c;
    bool first = c->flowing != a->session;

    c->player.sender.io = rtsp_conn_udp_play(c, a->session);
    c->flowing = a->session;
    c->begin = true;
    if (first)
        rtsp_conn_report(c, c->heard[0].lost + c->heard[1].lost, 0);
}

/* What is being played already goes on; the answer comes before the first media. */
err_t rtsp_play(struct rtsp_asked *a)
{
    struct rtsp_conn *c = a->c;
    bool begins = a->session->state == RTSP_READY;
    struct rtp_wire_start start[RTP_WIRE_N];
    err_t err = NULL;

    live_sender_pause(&c->player.sender, false);
    if (a->session->lower == RTSP_MULTICAST)
        err = rtsp_conn_multicast_play(c, start);
    else if (begins)
        err = begin(a, start);
    if (err)
        return err;
    rtsp_session_accepted(a->session, RTSP_PLAY);
    rtsp_asked_put(a, 200);
    rtsp_put_field(a->w, "Range", "npt=0.000-");
    if (begins)
        rtsp_play_put_info(a, start);
    rtsp_put_body(a->w, NULL, 0);
    rtsp_play_flows(a);
    return NULL;
}

void rtsp_play_less(struct rtsp_conn *c)
{
    if (c->opened && c->file)
        rtsp_file_less(c);
    else if (c->opened)
        open_wire(c, c->flowing);
}

void rtsp_play_pause(struct rtsp_conn *c)
{
    if (c->file && c->opened && !c->player.sender.paused)
        rtsp_file_pause(c);
    if (c->opened || c->multicast)
        live_sender_pause(&c->player.sender, true);
    rtsp_conn_multicast_pause(c);
}

err_t rtsp_play_send(struct rtsp_conn *c)
{
    err_t err = hear(c); /* what came in one piece with PLAY */

    while (!err && !c->player.sender.done) {
        err = c->flowing->lower == RTSP_MULTICAST ? rtsp_conn_multicast_send(c)
                                                  : session_player_send(&c->player);
        if (!err && c->file && c->flowing)
            rtsp_file_ended(c);
    }
    c->begin = c->player.sender.done = false;
    return err;
}
