/* SPDX-License-Identifier: MIT */
/* udp_conn.c - a client with media as datagrams: setup, playback, end. */
#include "base/log.h"
#include "serve/rtsp/publish.h"
#include "wire/rtp.h"

#include <string.h>

#define CHECK_EVERY CO_SECONDS(5)

void rtsp_conn_udp_rules(const struct rtsp_conn *c, struct rtsp_transport_rules *rules)
{
    bool direct = !c->base.io->below;

    rules->udp = direct && c->base.conf->rtsp_server.udp;
    rules->multicast = direct && c->base.conf->rtsp_server.multicast.enabled;
}

static void on_datagram(void *conn, unsigned track, bool rtcp, const uint8_t *data, size_t size,
                        co_usec now)
{
    (void)now;
    if (rtcp)
        rtsp_conn_take_rtcp(conn, track, data, size);
}

static err_t peer_new(struct rtsp_conn *c, rtsp_udp_input *on_media)
{
    char local[IO_ADDR_SIZE];
    struct rtsp_udp *udp;
    int port;
    err_t err = rtsp_udp_of(&udp, c->base.env);

    io_tcp_local(c->base.io, local, &port);
    if (!err)
        err = rtsp_udp_peer_new(&c->udp, udp, c->tcp.ip, local,
                                on_media ? on_media : on_datagram, c);
    return err;
}

static err_t add_track(struct rtsp_conn *c, struct rtsp_session *session, unsigned track,
                       struct rtsp_transport *t, rtsp_udp_input *on_media)
{
    err_t err = NULL;

    if (c->udp_session != session)
        rtsp_conn_udp_end(c); /* set up by another session of this client */
    if (!c->udp)
        err = peer_new(c, on_media);
    if (!err)
        err = rtsp_udp_add(c->udp, track, t->client_port);
    if (err)
        return err;
    c->udp_session = session;
    t->server_port = rtsp_udp_peer_ports(c->udp);
    t->has_ssrc = !session->record;
    t->ssrc = rtp_wire_ssrc(rtp_wire_seed(live_source_name(c->base.src)), track);
    return NULL;
}

static err_t join(struct rtsp_conn *c, unsigned track, struct rtsp_transport *t)
{
    char local[IO_ADDR_SIZE];
    int port;
    err_t err = NULL;

    io_tcp_local(c->base.io, local, &port);
    if (!c->multicast)
        err = rtsp_multicast_join(&c->multicast, &c->base, local);
    if (!err)
        rtsp_multicast_put(c->multicast, track, t);
    return err;
}

/* Undoes the setup: the client may request another transport next. */
static void undo_setup(struct rtsp_exchange *x, unsigned track)
{
    struct rtsp_conn *c = x->c;
    bool announced = c->server.announced;

    rtsp_conn_udp_teardown(c, x->session, (int)track);
    if (rtsp_server_teardown(&c->server, x->session, (int)track))
        x->session = NULL;
    if (announced)
        rtsp_server_announced(&c->server);
}

/* Returns the track that the request has just set up. */
static unsigned track_of(const struct rtsp_exchange *x)
{
    const struct rtsp_session *session = x->session;
    unsigned track = 0;

    while (!session->tracks[track].url || strcmp(session->tracks[track].url, x->req->url) != 0)
        track++;
    return track;
}

int rtsp_conn_udp_setup(struct rtsp_exchange *x, struct rtsp_transport *t, rtsp_udp_input *on_media)
{
    unsigned track = track_of(x);
    err_t err = t->lower == RTSP_MULTICAST ? join(x->c, track, t)
                                           : add_track(x->c, x->session, track, t, on_media);
    char text[300];

    if (!err)
        return 0;
    log_warn("RTSP client gets no datagrams, it may try another transport: %s",
             err_text(err, text, sizeof(text)));
    err_free(&err);
    undo_setup(x, track);
    return 461;
}

struct io *rtsp_conn_udp_play(struct rtsp_conn *c, struct rtsp_session *session)
{
    if (!c->udp || c->udp_session != session)
        return c->base.io;
    rtsp_udp_watch(c->udp, &session->last_seen,
                   c->base.conf->rtsp_server.session_timeout + RTSP_SESSION_GRACE);
    return rtsp_udp_io(c->udp, c->base.io);
}

/* ---- multicast */

err_t rtsp_conn_multicast_play(struct rtsp_conn *c, struct rtp_wire_start start[RTP_WIRE_N])
{
    err_t err;

    memset(start, 0, RTP_WIRE_N * sizeof(*start));
    if (c->multicast_plays)
        return NULL;
    err = rtsp_multicast_play(c->multicast, start);
    if (err)
        return err;
    c->multicast_plays = true;
    c->base.sender = rtsp_multicast_sender(c->multicast);
    return NULL;
}

void rtsp_conn_multicast_pause(struct rtsp_conn *c)
{
    if (!c->multicast_plays)
        return;
    rtsp_multicast_pause(c->multicast);
    c->multicast_plays = false;
    c->base.sender = &c->player.sender;
}

void rtsp_conn_multicast_end(struct rtsp_conn *c)
{
    rtsp_conn_multicast_pause(c);
    rtsp_multicast_leave(c->multicast);
    c->multicast = NULL;
}

/* Waits for input and handles it; returns an error when the session must end. */
static err_t multicast_turn(struct rtsp_conn *c)
{
    co_usec timeout = c->base.conf->rtsp_server.session_timeout + RTSP_SESSION_GRACE;
    co_usec left = c->flowing->last_seen + timeout - co_now();
    bool changed;
    err_t err;

    if (left <= 0)
        return err_new(ERR_IO_TIMEOUT, "no sign of life for %lld ms", us_to_ms(timeout));
    if (!io_readable(c->base.io))
        (void)io_wait(c->base.io, false, left < CHECK_EVERY ? left : CHECK_EVERY);
    err = co_check();
    if (!err)
        err = session_apply(&c->base, &changed);
    if (!err && rtsp_multicast_failed(c->multicast))
        err = err_new(ERR_IO_CLOSED, "the multicast sender has failed");
    if (!err && io_readable(c->base.io))
        err = c->player.kind->on_readable(&c->player);
    return err;
}

err_t rtsp_conn_multicast_send(struct rtsp_conn *c)
{
    err_t err = NULL;

    while (!err && !c->player.sender.done) {
        session_count(&c->base, co_now());
        err = multicast_turn(c);
    }
    return err;
}

/* ---- end */

bool rtsp_conn_udp_detach(struct rtsp_conn *c, err_t why)
{
    if (!c->udp || !c->flowing || c->udp_session != c->flowing || err_code(why) != ERR_IO_CLOSED)
        return false;
    if (!rtsp_udp_detach(c->udp))
        return false;
    log_trace("RTSP client has closed its connection, media continue while it sends reports");
    return true;
}

/* Returns true if another session than `closed` uses the group. */
static bool group_in_use(const struct rtsp_conn *c, const struct rtsp_session *closed)
{
    const struct rtsp_session *s = c->server.sessions;

    while (s && (s == closed || s->lower != RTSP_MULTICAST))
        s = s->next;
    return s;
}

void rtsp_conn_udp_teardown(struct rtsp_conn *c, const struct rtsp_session *session, int track)
{
    bool all = track < 0 || (session && session->n_tracks <= 1);

    if (all && session != c->flowing && !group_in_use(c, session))
        rtsp_conn_multicast_end(c);
    if (!c->udp || c->udp_session != session)
        return;
    if (track >= 0 && session->n_tracks > 1)
        rtsp_udp_remove(c->udp, (unsigned)track);
    else if (session == c->flowing)
        rtsp_udp_unwatch(c->udp); /* its sender still uses it */
    else
        rtsp_conn_udp_end(c);
}

void rtsp_conn_udp_end(struct rtsp_conn *c)
{
    rtsp_udp_peer_free(c->udp);
    c->udp = NULL;
    c->udp_session = NULL;
}
