/* SPDX-License-Identifier: MIT */
/* session.h - state of one RTSP client; used only inside serve/rtsp.
 *
 * One coroutine reads requests (session.c) until media start. Then it sends (play.c) or receives
 * (publish.c) and handles requests between its turns, until the media end. All requests go to
 * rtsp_conn_request(), through c->answer.
 *
 * A connection has one stream at a time and stays on the worker that serves it. It moves there with
 * the request that names the stream, which is answered there. Every worker serves files (file.h).
 */
#ifndef SERVE_RTSP_SESSION_H
#define SERVE_RTSP_SESSION_H

#include "co/co.h"
#include "co/net/io_tcp.h"
#include "proto/rtsp/auth.h"
#include "proto/rtsp/reader.h"
#include "proto/rtsp/server.h"
#include "proto/rtsp/url.h"
#include "serve/rtsp/multicast.h"
#include "serve/rtsp/rtsp.h"
#include "serve/rtsp/udp.h"
#include "serve/tcp/conn.h"
#include "session/player.h"
#include "wire/rtp.h"

/* The role of the client, set by DESCRIBE, SETUP or ANNOUNCE. */
enum rtsp_role { RTSP_NO_ROLE, RTSP_PLAYER, RTSP_PUBLISHER };

struct rtsp_conn {
    struct session base;
    struct session_player player; /* for RTSP_PLAYER */
    struct rtsp_publish *publish; /* for RTSP_PUBLISHER; or NULL */
    struct rtsp_reader reader;
    struct rtsp_server server;
    struct rtsp_server_rules rules;
    struct rtsp_auth auth;
    bool logged_in;            /* for the stream `path` */
    unsigned roles;            /* roles of its user: 1u << enum rtsp_role */
    enum rtsp_role role;
    struct rtsp_session *flowing; /* the session that plays, records or is paused; NULL: none */
    char *names;               /* memory of base.names */
    char *path;                /* path of its stream, as in requests; NULL: no stream yet */
    struct rtsp_udp_peer *udp; /* sends or receives the media of udp_session as datagrams; NULL:
                                * none */
    struct rtsp_session *udp_session;
    struct rtsp_file *file;    /* the file that it plays; NULL: a live stream */
    struct rtsp_multicast *multicast; /* sender of its stream, if it plays by multicast; or NULL */
    bool multicast_plays;
    struct rtsp_receiver {     /* from the player's last report of each track */
        uint32_t lost;         /* packets */
        uint32_t jitter;       /* microseconds */
    } receiver[RTP_WIRE_N];
    /* rtsp_conn_request(), so that play.c and publish.c do not depend on it */
    err_t (*answer)(struct rtsp_conn *c, const struct rtsp_message *req);
    bool opened;               /* the player has a wire */
    bool begin;                /* media start now: the response is sent */
    bool tunnelled;            /* base.io is a tunnel */
    struct rtsp_post *post;    /* this connection is the POST of a tunnel, and no session */

    struct tcp_conn tcp;
    bool arrived;              /* it arrived from another worker to be served here */
    struct co_deadline deadline; /* for the next expected request */
};

/* A request that is being answered. */
struct rtsp_exchange {
    struct rtsp_conn *c;
    const struct rtsp_message *req;
    struct rtsp_session *session; /* NULL: none (yet) */
    struct rtsp_target target;
    struct wr *w;                 /* the part of the response that is written */
};

/* Answers one request. If it sets c->tcp.move_to, the request was not answered and moves with the
 * connection. Yields. */
err_t rtsp_conn_request(struct rtsp_conn *c, const struct rtsp_message *req)
    __attribute__((warn_unused_result));

/* Writes the head of a response; the caller may add fields. */
static inline void rtsp_exchange_put(struct rtsp_exchange *x, int status)
{
    rtsp_server_put(&x->c->server, x->w, status, x->req, x->session);
}

/* ---- admit.c: finds and authorizes the stream */

/* Starts the deadline for setting up a track; the first SETUP cancels it. */
void rtsp_conn_expect_setup(struct rtsp_conn *c);

/* Makes the target its stream, in that role. *status: 0; the status of an error response; or -1 if
 * nothing is sent because the connection moves to another worker (tcp.move_to). Leaves another
 * stream that it had before. Yields. */
err_t rtsp_conn_enter(struct rtsp_exchange *x, enum rtsp_role role, int *status)
    __attribute__((warn_unused_result));
/* login.c: authenticates the client if the vhost of its stream requires it. *status becomes 401, or
 * 403 while its address is locked; then the response is written. ERR_DENIED: too many wrong
 * passwords, or the user lacks this role. Yields. */
err_t rtsp_conn_login(struct rtsp_exchange *x, enum rtsp_role role, int *status)
    __attribute__((warn_unused_result));
/* Leaves its stream; `why` is borrowed. Yields. */
void rtsp_conn_leave(struct rtsp_conn *c, err_t why);

/* ---- stats.c */

/* Gets the tracks of its stream or file; borrowed until the next yield. */
void rtsp_conn_tracks(const struct rtsp_conn *c, struct rtp_wire_track out[RTP_WIRE_N]);
/* Updates the list of clients with the active session, at its start and with each report. lost:
 * packets of all tracks since then; jitter: the largest of any track. */
void rtsp_conn_report(struct rtsp_conn *c, uint64_t lost, co_usec jitter);
/* Handles RTCP of a player about that track. Does not yield. */
void rtsp_conn_take_rtcp(struct rtsp_conn *c, unsigned track, const uint8_t *data, size_t size);

/* ---- play.c */

/* Admits the player of its stream or, with base.on_demand, of a file. */
err_t rtsp_play_begin(struct rtsp_conn *c) __attribute__((warn_unused_result));
/* Handles a PLAY that is allowed, and sends the response. Yields while there is no key frame
 * yet. */
err_t rtsp_play(struct rtsp_exchange *x) __attribute__((warn_unused_result));
/* Returns the tracks that are set up, with their channels if interleaved. */
uint32_t rtsp_play_tracks(const struct rtsp_session *session);
/* Writes RTP-Info for the tracks of the session. */
void rtsp_play_put_info(struct rtsp_exchange *x, const struct rtp_wire_start start[RTP_WIRE_N]);
/* The response is written: media start now. */
void rtsp_play_start_media(struct rtsp_exchange *x);
void rtsp_play_pause(struct rtsp_conn *c);
void rtsp_play_tracks_changed(struct rtsp_conn *c);  /* a track was torn down */
/* Sends media until TEARDOWN or the end. Yields. */
err_t rtsp_play_send(struct rtsp_conn *c) __attribute__((warn_unused_result));

/* ---- udp_conn.c: media of a session as datagrams */

/* Sets which datagram transports a SETUP may use: none over TLS or a tunnel, whose clients expect
 * everything inside it. */
void rtsp_conn_udp_rules(const struct rtsp_conn *c, struct rtsp_transport_rules *rules);
/* Sets up the track of this request with that transport and completes it for the response.
 * Datagrams of a publisher go to on_media. Returns 461 if it is not possible, and undoes the
 * setup. */
int rtsp_conn_udp_setup(struct rtsp_exchange *x, struct rtsp_transport *t,
                        rtsp_udp_input *on_media);
/* The session starts to play: returns the io for its sender. */
struct io *rtsp_conn_udp_play(struct rtsp_conn *c, struct rtsp_session *session);
/* Called when its connection has ended. Returns true if it plays on without it. */
bool rtsp_conn_udp_detach(struct rtsp_conn *c, err_t why);
/* The session, or one track of it (else -1), was torn down. */
void rtsp_conn_udp_teardown(struct rtsp_conn *c, const struct rtsp_session *session, int track);
void rtsp_conn_udp_end(struct rtsp_conn *c);
/* Starts multicast, see rtsp_multicast_play(). No effect if it plays already. */
err_t rtsp_conn_multicast_play(struct rtsp_conn *c, struct rtp_wire_start start[RTP_WIRE_N])
    __attribute__((warn_unused_result));
void rtsp_conn_multicast_pause(struct rtsp_conn *c);
void rtsp_conn_multicast_end(struct rtsp_conn *c); /* leaves the group */
/* Handles requests until TEARDOWN or the end; the multicast sender sends the media. Yields. */
err_t rtsp_conn_multicast_send(struct rtsp_conn *c) __attribute__((warn_unused_result));

/* ---- tunnels */

/* tunnel.c: handles an HTTP request, which may open a tunnel. Yields. */
err_t rtsp_conn_tunnel(struct rtsp_conn *c, const struct rtsp_message *req)
    __attribute__((warn_unused_result));
/* session.c: base.io is a tunnel from now on, and nothing was read from it yet. */
void rtsp_conn_tunnelled(struct rtsp_conn *c);
/* session.c: creates a connection over a tunnel, which it owns; and its co_fn. */
struct rtsp_conn *rtsp_conn_over_tunnel(struct session_env *env, struct io *io, const char *ip,
                                        int port);
err_t rtsp_conn_tunnel_main(void *conn);
void rtsp_conn_free(struct rtsp_conn *c);

#endif
