/* SPDX-License-Identifier: MIT */
/* request.c - handles the requests of a client. */
#include "base/log.h"
#include "serve/rtsp/file.h"
#include "serve/rtsp/publish.h"
#include "wire/rtsp_describe.h"

#include <string.h>

enum { ANSWER_MAX = 128 * 1024 };

static void respond(struct rtsp_exchange *x, int status)
{
    rtsp_exchange_put(x, status);
    rtsp_put_body(x->w, NULL, 0);
}

/* ---- methods; a method that writes no response sets *status */

static void put_description(struct rtsp_exchange *x)
{
    const struct session *s = &x->c->base;
    struct wr sdp;

    wr_init(&sdp, ANSWER_MAX);
    if (x->c->file)
        rtsp_file_describe(x->c, &sdp);
    else
        rtsp_describe_live(s->src, &(struct sdp_session_out){
            .id = (uint64_t)s->began_at, .version = 1, .name = s->names.name, .duration = -1 },
            &sdp);
    rtsp_exchange_put(x, 200);
    rtsp_put_format(x->w, "Content-Base", "%.*s/", (int)strcspn(x->req->url, "?"), x->req->url);
    rtsp_put_field(x->w, "Content-Type", "application/sdp");
    rtsp_put_body(x->w, sdp.buf, sdp.len);
    wr_free(&sdp);
}

/* Waits for the tracks of the stream, as a publisher may come later than its players. */
static err_t wait_for_tracks(struct rtsp_conn *c, int *status)
{
    enum rtsp_described found;
    err_t err;

    if (c->file)
        return NULL;
    err = rtsp_describe_wait(c->base.src, c->base.conf->rtsp_server.describe_wait, &found);

    if (found != RTSP_DESCRIBE_DONE)
        *status = found == RTSP_DESCRIBE_NONE ? 415 : 404;
    else if (!c->base.vhost->rtsp.rtmp_to_rtsp && rtsp_describe_is_rtmp(c->base.src))
        *status = 404;
    return err;
}

/* Returns true if the client accepts SDP; parameters of Accept are ignored. */
static bool takes_sdp(const struct rtsp_message *req)
{
    const char *accept = rtsp_message_field(req, "Accept");

    return !accept || !*accept || strcasestr(accept, "application/sdp") || strchr(accept, '*');
}

static err_t on_describe(struct rtsp_exchange *x, int *status)
{
    err_t err;

    if (!takes_sdp(x->req)) {
        *status = 406;
        return NULL;
    }
    err = rtsp_conn_enter(x, RTSP_PLAYER, status);
    if (err || *status)
        return err;
    err = wait_for_tracks(x->c, status);
    if (!err && *status == 0)
        put_description(x);
    return err;
}

/* Finds the requested track; the URL of the stream itself means its only or first one. Returns
 * false if there is none. */
static bool find_track(const struct rtsp_exchange *x, unsigned *track)
{
    struct rtp_wire_track t[RTP_WIRE_N];

    rtsp_conn_tracks(x->c, t);
    if (x->target.track >= 0)
        *track = (unsigned)x->target.track;
    else
        *track = t[0].codec ? 0 : 1;
    return *track < RTP_WIRE_N && t[*track].codec;
}

static err_t set_up_player(struct rtsp_exchange *x, struct rtsp_transport *t, int *status)
{
    struct rtsp_conn *c = x->c;
    unsigned track;
    err_t err = rtsp_conn_enter(x, RTSP_PLAYER, status);

    if (!err && !*status) /* a SETUP may come without a DESCRIBE */
        err = wait_for_tracks(c, status);
    if (!err && !*status && !find_track(x, &track))
        *status = 404;
    c->rules.transports.multicast &= !c->file; /* no multicast for files: each player has its own
                                                * position */
    if (!err && !*status)
        *status = rtsp_server_setup(&c->server, x->req, track, co_now(), &x->session, t);
    return err;
}

static err_t on_setup(struct rtsp_exchange *x, int *status)
{
    struct rtsp_conn *c = x->c;
    struct rtsp_transport t;
    err_t err = NULL;

    rtsp_conn_udp_rules(c, &c->rules.transports);
    if (c->publish)
        *status = rtsp_publish_setup(x, &t);
    else
        err = set_up_player(x, &t, status);
    if (!err && *status == 0 && t.lower != RTSP_TCP)
        *status = rtsp_conn_udp_setup(x, &t, c->publish ? rtsp_publish_datagram : NULL);
    if (err || *status)
        return err;
    co_deadline_cancel(&c->deadline);
    c->reader.frames = true;
    rtsp_exchange_put(x, 200);
    rtsp_put_name(x->w, "Transport");
    rtsp_transport_put(x->w, &t);
    rtsp_put_line_end(x->w);
    rtsp_put_body(x->w, NULL, 0);
    return NULL;
}

static err_t on_announce(struct rtsp_exchange *x, int *status)
{
    err_t err = rtsp_conn_enter(x, RTSP_PUBLISHER, status);

    if (err || *status)
        return err;
    rtsp_server_announced(&x->c->server);
    *status = 200;
    return NULL;
}

static void on_teardown(struct rtsp_exchange *x)
{
    struct rtsp_conn *c = x->c;
    bool flowing = x->session && x->session == c->flowing;

    rtsp_conn_udp_teardown(c, x->session, x->target.track);
    if (!rtsp_server_teardown(&c->server, x->session, x->target.track)) {
        if (flowing && !c->publish)
            rtsp_play_tracks_changed(c);
        return;
    }
    if (flowing) {
        c->player.sender.done = true;
        c->flowing = NULL;
    } else if (c->publish) { /* it never started */
        rtsp_conn_leave(c, NULL);
    }
    x->session = NULL;
}

/* Returns true if no other session of the connection plays, and its stream is still this one. */
static bool may_play(const struct rtsp_exchange *x)
{
    const struct rtsp_conn *c = x->c;

    return (!c->flowing || c->flowing == x->session) && c->role == RTSP_PLAYER &&
           (c->multicast || x->session->lower != RTSP_MULTICAST);
}

static err_t handle(struct rtsp_exchange *x, int *status)
{
    switch (x->req->method) {
    case RTSP_DESCRIBE:
        return on_describe(x, status);
    case RTSP_SETUP:
        return on_setup(x, status);
    case RTSP_PLAY:
        if (may_play(x))
            return x->c->file ? rtsp_file_play(x, status) : rtsp_play(x);
        *status = 455;
        return NULL;
    case RTSP_PAUSE:
        rtsp_session_accepted(x->session, RTSP_PAUSE);
        if (x->session == x->c->flowing)
            rtsp_play_pause(x->c);
        break;
    case RTSP_ANNOUNCE:
        return on_announce(x, status);
    case RTSP_RECORD:
        *status = rtsp_publish_record(x);
        break;
    case RTSP_TEARDOWN:
        on_teardown(x);
        break;
    case RTSP_GET_PARAMETER:
    case RTSP_SET_PARAMETER:
        if (x->req->size > 0 && x->c->file && x->req->method == RTSP_GET_PARAMETER)
            rtsp_file_parameters(x, status);
        else if (x->req->size > 0) /* no parameters are supported */
            *status = 451;
        break;
    default:
        break;
    }
    if (*status == 0)
        *status = 200;
    return NULL;
}

static err_t answer(struct rtsp_exchange *x)
{
    int status = rtsp_server_check(&x->c->server, x->req, co_now(), &x->session);
    err_t err = status ? NULL : rtsp_target_parse(&x->target, x->req->url);

    if (err) {
        status = 400;
        err_free(&err);
    }
    if (!status)
        err = handle(x, &status);
    if (!err && status > 0 && x->w->len == 0)
        respond(x, status);
    return err;
}

err_t rtsp_conn_request(struct rtsp_conn *c, const struct rtsp_message *req)
{
    struct rtsp_exchange x = { .c = c, .req = req };
    struct wr w;
    err_t err;

    wr_init(&w, ANSWER_MAX);
    x.w = &w;
    err = answer(&x);
    if (!err)
        err = wr_err(&w, "an answer");
    if (!err && w.len > 0)
        err = io_write(c->base.io, w.buf, w.len);
    rtsp_target_free(&x.target);
    wr_free(&w);
    return err;
}
