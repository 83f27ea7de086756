/* SPDX-License-Identifier: MIT */
/* session.h - the state of one RTSP client, for the files of serve/rtsp alone.
 *
 * One coroutine: it talks (session.c), reading requests and waiting, until media are to flow;
 * then it sends (play.c) or receives (publish.c), and takes requests between its turns; then it
 * talks again. All requests go to rtsp_conn_request(), by c->answer.
 *
 * A connection is about one stream at a time, and stays at the worker where that is served. It goes
 * there with the request that names the stream, which is answered there. A file (file.h) is served
 * by any worker.
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

/* What it is to its stream, by DESCRIBE, SETUP or ANNOUNCE. */
enum rtsp_role { RTSP_NOBODY, RTSP_PLAYER, RTSP_PUBLISHER };

struct rtsp_conn {
    struct session base;
    struct session_player player; /* of a RTSP_PLAYER */
    struct rtsp_publish *publish; /* of a RTSP_PUBLISHER; or NULL */
    struct rtsp_reader reader;
    struct rtsp_server server;
    struct rtsp_server_rules rules;
    struct rtsp_auth auth;
    bool logged_in;            /* to `path` */
    unsigned may;              /* of who logged in: 1u << enum rtsp_role */
    enum rtsp_role role;
    struct rtsp_session *flowing; /* the one whose media flow, or paused; NULL: none do */
    char *names;               /* memory of base.names */
    char *path;                /* of its stream, as requests have it; NULL: none is named yet */
    struct rtsp_udp_peer *udp; /* media of that session as datagrams; NULL: of none */
    struct rtsp_session *udp_session;
    struct rtsp_file *file;    /* that it plays; NULL: its stream is live */
    struct rtsp_multicast *multicast; /* of its stream, if it asked for it; or NULL */
    bool multicast_plays;
    struct rtsp_heard {        /* of the player, by its last report of each track */
        uint32_t lost;         /* packets */
        uint32_t jitter;       /* microseconds */
    } heard[RTP_WIRE_N];
    /* rtsp_conn_request(), which play.c and publish.c need not know */
    err_t (*answer)(struct rtsp_conn *c, const struct rtsp_message *req);
    bool opened;               /* the player has a wire */
    bool begin;                /* media flow from now on: the answer is sent, they are next */
    bool tunnelled;            /* base.io is a tunnel */
    struct rtsp_post *post;    /* it is no conversation at all: the way up of a tunnel */

    struct tcp_conn tcp;
    bool settled;              /* it came from another worker to be served here */
    struct co_deadline deadline; /* of what it should have said by now */
};

/* One request on its way to its answer. */
struct rtsp_asked {
    struct rtsp_conn *c;
    const struct rtsp_message *req;
    struct rtsp_session *session; /* NULL: none (yet) */
    struct rtsp_target target;
    struct wr *w;              /* the answer, as far as it is written */
};

/* Answer one request. With c->tcp.move_to set it was not answered: it goes along. Yields. */
err_t rtsp_conn_request(struct rtsp_conn *c, const struct rtsp_message *req)
    __attribute__((warn_unused_result));

/* Writes the head of an answer, to which fields may be added. */
static inline void rtsp_asked_put(struct rtsp_asked *a, int status)
{
    rtsp_server_put(&a->c->server, a->w, status, a->req, a->session);
}

/* ---- admit.c: which stream, and is it allowed? */

/* It has so long, from now on, to set up a track; cancelled by the first one. */
void rtsp_conn_expect_setup(struct rtsp_conn *c);

/* Its stream is the target's, and it is this to it: 0; or the status to answer, or -1: nothing is
 * answered here, it goes to another worker (tcp.move_to). A stream that it had before and that is
 * not this one is left. Yields. */
err_t rtsp_conn_enter(struct rtsp_asked *a, enum rtsp_role role, int *status)
    __attribute__((warn_unused_result));
/* login.c: who it is, where the vhost of its stream wants to know. *status becomes 401, or 403
 * while its address is locked: that is answered. ERR_DENIED: it guessed too often, or its user may
 * not do this. Yields. */
err_t rtsp_conn_login(struct rtsp_asked *a, enum rtsp_role role, int *status)
    __attribute__((warn_unused_result));
/* It has to do with no stream any more; `why` is borrowed. Yields. */
void rtsp_conn_leave(struct rtsp_conn *c, err_t why);

/* ---- stats.c */

/* The tracks of its stream, or of its file; borrowed until the next yield. */
void rtsp_conn_tracks(const struct rtsp_conn *c, struct rtp_wire_track out[RTP_WIRE_N]);
/* What the list of clients shows of the session that flows: when it begins, and with each report.
 * Packets since then, of all tracks; of jitter the largest. */
void rtsp_conn_report(struct rtsp_conn *c, uint64_t lost, co_usec jitter);
/* RTCP of a player came, about that track. Does not yield. */
void rtsp_conn_take_rtcp(struct rtsp_conn *c, unsigned track, const uint8_t *data, size_t size);

/* ---- play.c */

/* It is let in, to its stream or, by base.on_demand, to a file. */
err_t rtsp_play_begin(struct rtsp_conn *c) __attribute__((warn_unused_result));
/* PLAY was asked for and may be: answers. Yields while there is no key frame yet. */
err_t rtsp_play(struct rtsp_asked *a) __attribute__((warn_unused_result));
/* The tracks that are set up, and their channels where they have some. */
uint32_t rtsp_play_tracks(const struct rtsp_session *session);
/* RTP-Info, of the session's tracks. */
void rtsp_play_put_info(struct rtsp_asked *a, const struct rtp_wire_start start[RTP_WIRE_N]);
/* It was answered: media flow from now on. */
void rtsp_play_flows(struct rtsp_asked *a);
void rtsp_play_pause(struct rtsp_conn *c);
void rtsp_play_less(struct rtsp_conn *c);  /* a track is no longer set up */
/* Send media until TEARDOWN, or the end. Yields. */
err_t rtsp_play_send(struct rtsp_conn *c) __attribute__((warn_unused_result));

/* ---- udp_conn.c: media of a session as datagrams */

/* Which of these may a SETUP agree on? None over TLS or a tunnel, whose client wants nothing beside
 * it. */
void rtsp_conn_udp_may(const struct rtsp_conn *c, struct rtsp_transport_rules *rules);
/* The track of this request was set up so: adds what is to be answered. Datagrams of a
 * publisher go to on_media. 461: it cannot be, and is not set up any more. */
int rtsp_conn_udp_setup(struct rtsp_asked *a, struct rtsp_transport *t, rtsp_udp_input *on_media);
/* The session plays from now on: what its sender writes to. */
struct io *rtsp_conn_udp_play(struct rtsp_conn *c, struct rtsp_session *session);
/* Its connection has ended. True: it plays on without. */
bool rtsp_conn_udp_alone(struct rtsp_conn *c, err_t why);
/* The session, or a track of it (else -1), is no more. */
void rtsp_conn_udp_teardown(struct rtsp_conn *c, const struct rtsp_session *session, int track);
void rtsp_conn_udp_end(struct rtsp_conn *c);
/* It plays by multicast, as rtsp_multicast_play(); that has no effect on one that does. */
err_t rtsp_conn_multicast_play(struct rtsp_conn *c, struct rtp_wire_start start[RTP_WIRE_N])
    __attribute__((warn_unused_result));
void rtsp_conn_multicast_pause(struct rtsp_conn *c);
void rtsp_conn_multicast_end(struct rtsp_conn *c); /* it has no group any more */
/* Hear it until TEARDOWN, or the end: its media are sent by another. Yields. */
err_t rtsp_conn_multicast_send(struct rtsp_conn *c) __attribute__((warn_unused_result));

/* ---- tunnels */

/* tunnel.c: a request of HTTP came, of a tunnel or not. Yields. */
err_t rtsp_conn_tunnel(struct rtsp_conn *c, const struct rtsp_message *req)
    __attribute__((warn_unused_result));
/* session.c: base.io is a tunnel from now on, where nothing was read yet. */
void rtsp_conn_tunnelled(struct rtsp_conn *c);
/* session.c: over a pipe that is a tunnel, taken over; and its co_fn. */
struct rtsp_conn *rtsp_conn_over(struct session_env *env, struct io *io, const char *ip, int port);
err_t rtsp_conn_over_main(void *conn);
void rtsp_conn_free(struct rtsp_conn *c);

#endif
