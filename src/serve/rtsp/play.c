/* SPDX-License-Identifier: MIT */
/* play.c - sends a live stream or a file to a player, and handles its input meanwhile. */
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

/* ---- input while media are sent: requests, and receiver reports */

static void on_frame(struct rtsp_conn *c, const struct rtsp_item *item)
{
    for (unsigned i = 0; c->flowing && i < c->flowing->n_tracks; i++) {
        unsigned track = c->flowing->order[i];

        if (c->flowing->lower == RTSP_TCP && c->flowing->tracks[track].pair.rtcp == item->channel)
            rtsp_conn_take_rtcp(c, track, item->data, item->size);
    }
}

/* Handles the input that is already here. */
static err_t handle_input(struct rtsp_conn *c)
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
        err = handle_input(c);
    if (err && rtsp_conn_udp_detach(c, err))
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

/* Opens the wire. RTP numbering continues after a pause, so the wire must survive its last player.
 * After a short pause it continues at the same packet: packets sent again would look like
 * duplicates. */
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

/* Waits a moment for a key frame, for a player that came before its publisher or a stream without a
 * cached GOP: then the response has the start of its media. Without it audio and video are not in
 * sync at first. */
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

void rtsp_play_put_info(struct rtsp_exchange *x, const struct rtp_wire_start start[RTP_WIRE_N])
{
    struct rtsp_rtp_info out[RTP_WIRE_N];
    size_t n = 0;

    for (unsigned i = 0; i < x->session->n_tracks; i++) {
        unsigned track = x->session->order[i];
        const char *url = x->session->tracks[track].url;

        if (track >= RTP_WIRE_N || !start[track].has_time)
            continue;
        out[n++] = (struct rtsp_rtp_info){
            .url = url, .url_size = strlen(url), .has_seq = start[track].has_seq,
            .has_time = true, .seq = start[track].seq, .time = start[track].time };
    }
    if (n == 0)
        return;
    rtsp_put_name(x->w, "RTP-Info");
    rtsp_rtp_info_put(x->w, out, n);
    rtsp_put_line_end(x->w);
}

/* Opens the wire and gets the start of its media. */
static err_t begin(struct rtsp_exchange *x, struct rtp_wire_start start[RTP_WIRE_N])
{
    err_t err;

    open_wire(x->c, x->session);
    err = wait_for_key(x->c);
    if (!err)
        rtp_wire_start(&x->c->player.sender.consumer, rtsp_play_tracks(x->session), start);
    return err;
}

void rtsp_play_start_media(struct rtsp_exchange *x)
{
    struct rtsp_conn *c = x->c;
    bool first = c->flowing != x->session;

    c->player.sender.io = rtsp_conn_udp_play(c, x->session);
    c->flowing = x->session;
    c->begin = true;
    if (first)
        rtsp_conn_report(c, c->receiver[0].lost + c->receiver[1].lost, 0);
}

/* Handles PLAY. Media that already play continue; the response is sent before the first media. */
err_t rtsp_play(struct rtsp_exchange *x)
{
    struct rtsp_conn *c = x->c;
    bool starts = x->session->state == RTSP_READY;
    struct rtp_wire_start start[RTP_WIRE_N];
    err_t err = NULL;

    live_sender_pause(&c->player.sender, false);
    if (x->session->lower == RTSP_MULTICAST)
        err = rtsp_conn_multicast_play(c, start);
    else if (starts)
        err = begin(x, start);
    if (err)
        return err;
    rtsp_session_accepted(x->session, RTSP_PLAY);
    rtsp_exchange_put(x, 200);
    rtsp_put_field(x->w, "Range", "npt=0.000-");
    if (starts)
        rtsp_play_put_info(x, start);
    rtsp_put_body(x->w, NULL, 0);
    rtsp_play_start_media(x);
    return NULL;
}

void rtsp_play_tracks_changed(struct rtsp_conn *c)
{
    if (c->opened && c->file)
        rtsp_file_tracks_changed(c);
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
    err_t err = handle_input(c); /* bytes that came together with PLAY */

    while (!err && !c->player.sender.done) {
        err = c->flowing->lower == RTSP_MULTICAST ? rtsp_conn_multicast_send(c)
                                                  : session_player_send(&c->player);
        if (!err && c->file && c->flowing)
            rtsp_file_ended(c);
    }
    c->begin = c->player.sender.done = false;
    return err;
}
