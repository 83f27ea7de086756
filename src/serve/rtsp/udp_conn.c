/* SPDX-License-Identifier: MIT */
/* udp_conn.c - a client that wants its media as datagrams: asked for, played, over. */
#include "base/log.h"
#include "serve/rtsp/publish.h"
#include "wire/rtp.h"

#include <string.h>

bool rtsp_conn_udp_may(const struct rtsp_conn *c)
{
    return c->base.conf->rtsp_server.udp && !c->base.io->below;
}

static void on_datagram(void *conn, unsigned track, bool rtcp, const uint8_t *data, size_t size,
                        co_usec now)
{
    (void)now;
    if (rtcp)
        rtsp_conn_heard(conn, track, data, size);
}

static err_t peer_new(struct rtsp_conn *c)
{
    char local[IO_ADDR_SIZE];
    struct rtsp_udp *udp;
    int port;
    err_t err = rtsp_udp_of(&udp, c->base.env);

    io_tcp_local(c->base.io, local, &port);
    if (!err)
        err = rtsp_udp_peer_new(&c->udp, udp, c->ip, local,
                                c->publish ? rtsp_publish_datagram : on_datagram, c);
    return err;
}

static err_t add_track(struct rtsp_conn *c, struct rtsp_session *session, unsigned track,
                       struct rtsp_transport *t)
{
    err_t err = NULL;

    if (c->udp_session != session)
        rtsp_conn_udp_end(c); /* what another session of this client had asked for */
    if (!c->udp)
        err = peer_new(c);
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

/* As if it had not been asked for: the client may ask for another transport next. */
static void undo(struct rtsp_asked *a, unsigned track)
{
    struct rtsp_conn *c = a->c;
    bool announced = c->server.announced;

    rtsp_conn_udp_teardown(c, a->session, (int)track);
    if (rtsp_server_teardown(&c->server, a->session, (int)track))
        a->session = NULL;
    if (announced)
        rtsp_server_announced(&c->server);
}

/* The one that the request has just set up. */
static unsigned track_of(const struct rtsp_asked *a)
{
    const struct rtsp_session *session = a->session;
    unsigned track = 0;

    while (!session->tracks[track].url || strcmp(session->tracks[track].url, a->req->url) != 0)
        track++;
    return track;
}

int rtsp_conn_udp_setup(struct rtsp_asked *a, struct rtsp_transport *t)
{
    unsigned track = track_of(a);
    err_t err = add_track(a->c, a->session, track, t);

    char text[300];

    if (!err)
        return 0;
    log_warn("RTSP client gets no datagrams, it may try another transport: %s",
             err_text(err, text, sizeof(text)));
    err_free(&err);
    undo(a, track);
    return 461;
}

struct io *rtsp_conn_udp_play(struct rtsp_conn *c, struct rtsp_session *session)
{
    if (!c->udp || c->udp_session != session)
        return c->base.io;
    rtsp_udp_watch(c->udp, &session->heard,
                   c->base.conf->rtsp_server.session_timeout + RTSP_SESSION_GRACE);
    return rtsp_udp_io(c->udp, c->base.io);
}

bool rtsp_conn_udp_alone(struct rtsp_conn *c, err_t why)
{
    if (!c->udp || !c->flowing || c->udp_session != c->flowing || err_code(why) != ERR_IO_CLOSED)
        return false;
    if (!rtsp_udp_alone(c->udp))
        return false;
    log_trace("RTSP client has closed its connection, media go on while it sends reports");
    return true;
}

void rtsp_conn_udp_teardown(struct rtsp_conn *c, const struct rtsp_session *session, int track)
{
    if (!c->udp || c->udp_session != session)
        return;
    if (track >= 0 && session->n_tracks > 1)
        rtsp_udp_remove(c->udp, (unsigned)track);
    else if (session == c->flowing)
        rtsp_udp_unwatch(c->udp); /* its sender still has it */
    else
        rtsp_conn_udp_end(c);
}

void rtsp_conn_udp_end(struct rtsp_conn *c)
{
    rtsp_udp_peer_free(c->udp);
    c->udp = NULL;
    c->udp_session = NULL;
}
