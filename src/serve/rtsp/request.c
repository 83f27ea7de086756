/* SPDX-License-Identifier: MIT */
/* request.c - what a client asks, answered. */
#include "base/log.h"
#include "serve/rtsp/file.h"
#include "serve/rtsp/publish.h"
#include "wire/rtsp_describe.h"

#include <string.h>

enum { ANSWER_MAX = 128 * 1024 };

static void answer_whole(struct rtsp_asked *a, int status)
{
    rtsp_asked_put(a, status);
    rtsp_put_body(a->w, NULL, 0);
}

/* ---- each method; what none of them answers is answered by *status */

static void put_description(struct rtsp_asked *a)
{
    const struct session *s = &a->c->base;
    struct wr sdp;

    wr_init(&sdp, ANSWER_MAX);
    if (a->c->file)
        rtsp_file_describe(a->c, &sdp);
    else
        rtsp_describe_live(s->src, &(struct sdp_session_out){
            .id = (uint64_t)s->began_at, .version = 1, .name = s->names.name, .duration = -1 },
            &sdp);
    rtsp_asked_put(a, 200);
    rtsp_put_format(a->w, "Content-Base", "%.*s/", (int)strcspn(a->req->url, "?"), a->req->url);
    rtsp_put_field(a->w, "Content-Type", "application/sdp");
    rtsp_put_body(a->w, sdp.buf, sdp.len);
    wr_free(&sdp);
}

/* A publisher may come later than its players. */
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

/* Whatever it says of versions and of how much it likes each. */
static bool takes_sdp(const struct rtsp_message *req)
{
    const char *accept = rtsp_message_field(req, "Accept");

    return !accept || !*accept || strcasestr(accept, "application/sdp") || strchr(accept, '*');
}

static err_t on_describe(struct rtsp_asked *a, int *status)
{
    err_t err;

    if (!takes_sdp(a->req)) {
        *status = 406;
        return NULL;
    }
    err = rtsp_conn_enter(a, RTSP_PLAYER, status);
    if (err || *status)
        return err;
    err = wait_for_tracks(a->c, status);
    if (!err && *status == 0)
        put_description(a);
    return err;
}

/* The track that is asked for; the stream's own url is that of a single one. False: it is not
 * there. */
static bool find_track(const struct rtsp_asked *a, unsigned *track)
{
    struct rtp_wire_track t[RTP_WIRE_N];

    rtsp_conn_tracks(a->c, t);
    if (a->target.track >= 0)
        *track = (unsigned)a->target.track;
    else
        *track = t[0].codec ? 0 : 1;
    return *track < RTP_WIRE_N && t[*track].codec;
}

static err_t set_up_player(struct rtsp_asked *a, struct rtsp_transport *t, int *status)
{
    struct rtsp_conn *c = a->c;
    unsigned track;
    err_t err = rtsp_conn_enter(a, RTSP_PLAYER, status);

    if (!err && !*status) /* it may come without a DESCRIBE */
        err = wait_for_tracks(c, status);
    if (!err && !*status && !find_track(a, &track))
        *status = 404;
    c->rules.transports.multicast &= !c->file; /* each player is at its own place */
    if (!err && !*status)
        *status = rtsp_server_setup(&c->server, a->req, track, co_now(), &a->session, t);
    return err;
}

static err_t on_setup(struct rtsp_asked *a, int *status)
{
    struct rtsp_conn *c = a->c;
    struct rtsp_transport t;
    err_t err = NULL;

    rtsp_conn_udp_may(c, &c->rules.transports);
    if (c->publish)
        *status = rtsp_publish_setup(a, &t);
    else
        err = set_up_player(a, &t, status);
    if (!err && *status == 0 && t.lower != RTSP_TCP)
        *status = rtsp_conn_udp_setup(a, &t, c->publish ? rtsp_publish_datagram : NULL);
    if (err || *status)
        return err;
    co_deadline_cancel(&c->deadline);
    c->reader.frames = true;
    rtsp_asked_put(a, 200);
    rtsp_put_name(a->w, "Transport");
    rtsp_transport_put(a->w, &t);
    rtsp_put_line_end(a->w);
    rtsp_put_body(a->w, NULL, 0);
    return NULL;
}

static err_t on_announce(struct rtsp_asked *a, int *status)
{
    err_t err = rtsp_conn_enter(a, RTSP_PUBLISHER, status);

    if (err || *status)
        return err;
    rtsp_server_announced(&a->c->server);
    *status = 200;
    return NULL;
}

static void on_teardown(struct rtsp_asked *a)
{
    struct rtsp_conn *c = a->c;
    bool flowing = a->session && a->session == c->flowing;

    rtsp_conn_udp_teardown(c, a->session, a->target.track);
    if (!rtsp_server_teardown(&c->server, a->session, a->target.track)) {
        if (flowing && !c->publish)
            rtsp_play_less(c);
        return;
    }
    if (flowing) {
        c->player.sender.done = true;
        c->flowing = NULL;
    } else if (c->publish) { /* it never began */
        rtsp_conn_leave(c, NULL);
    }
    a->session = NULL;
}

/* One at a time; and none whose stream it has left meanwhile. */
static bool may_play(const struct rtsp_asked *a)
{
    const struct rtsp_conn *c = a->c;

    return (!c->flowing || c->flowing == a->session) && c->role == RTSP_PLAYER &&
           (c->multicast || a->session->lower != RTSP_MULTICAST);
}

static err_t obey(struct rtsp_asked *a, int *status)
{
    switch (a->req->method) {
    case RTSP_DESCRIBE:
        return on_describe(a, status);
    case RTSP_SETUP:
        return on_setup(a, status);
    case RTSP_PLAY:
        if (may_play(a))
            return a->c->file ? rtsp_file_play(a, status) : rtsp_play(a);
        *status = 455;
        return NULL;
    case RTSP_PAUSE:
        rtsp_session_accepted(a->session, RTSP_PAUSE);
        if (a->session == a->c->flowing)
            rtsp_play_pause(a->c);
        break;
    case RTSP_ANNOUNCE:
        return on_announce(a, status);
    case RTSP_RECORD:
        *status = rtsp_publish_record(a);
        break;
    case RTSP_TEARDOWN:
        on_teardown(a);
        break;
    case RTSP_GET_PARAMETER:
    case RTSP_SET_PARAMETER:
        if (a->req->size > 0 && a->c->file && a->req->method == RTSP_GET_PARAMETER)
            rtsp_file_parameters(a, status);
        else if (a->req->size > 0) /* of all that they could name we have nothing */
            *status = 451;
        break;
    default:
        break;
    }
    if (*status == 0)
        *status = 200;
    return NULL;
}

static err_t answer(struct rtsp_asked *a)
{
    int status = rtsp_server_check(&a->c->server, a->req, co_now(), &a->session);
    err_t err = status ? NULL : rtsp_target_parse(&a->target, a->req->url);

    if (err) {
        status = 400;
        err_free(&err);
    }
    if (!status)
        err = obey(a, &status);
    if (!err && status > 0 && a->w->len == 0)
        answer_whole(a, status);
    return err;
}

err_t rtsp_conn_request(struct rtsp_conn *c, const struct rtsp_message *req)
{
    struct rtsp_asked a = { .c = c, .req = req };
    struct wr w;
    err_t err;

    wr_init(&w, ANSWER_MAX);
    a.w = &w;
    err = answer(&a);
    if (!err)
        err = wr_err(&w, "an answer");
    if (!err && w.len > 0)
        err = io_write(c->base.io, w.buf, w.len);
    rtsp_target_free(&a.target);
    wr_free(&w);
    return err;
}
