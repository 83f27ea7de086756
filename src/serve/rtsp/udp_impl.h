/* SPDX-License-Identifier: MIT */
/* udp_impl.h - the insides of udp.h, for the files udp*.c alone. */
#ifndef SERVE_RTSP_UDP_IMPL_H
#define SERVE_RTSP_UDP_IMPL_H

#include "serve/rtsp/udp.h"
#include "serve/rtsp/udp_runs.h"
#include "serve/rtsp/udp_table.h"

enum { RTSP_UDP_RTP, RTSP_UDP_RTCP, RTSP_UDP_SIDES };

struct rtsp_udp_track {
    struct rtsp_udp_track *next;
    struct rtsp_udp_peer *peer;
    unsigned number;
    struct rtsp_udp_port ports[RTSP_UDP_SIDES];
};

/* Who waits until a socket has room. */
struct rtsp_udp_waiter {
    struct rtsp_udp_waiter *next, **prev; /* prev NULL: it does not wait */
    struct co *co;
};

/* As a pipe, see udp_io.c. */
struct rtsp_udp_pipe {
    struct io io;
    struct io *control; /* NULL: nobody asked for it yet */
    bool alone;
    co_usec at;         /* when its tokens were counted last */
    co_usec short_since; /* all that it had was used up since then; 0: it was not */
    size_t tokens, rate; /* bytes that it may send now, bytes that it gets per second */
    struct rtsp_udp_waiter waiter;
};

struct rtsp_udp_peer {
    struct rtsp_udp *udp;
    struct udp_path path; /* without ports */
    struct rtsp_udp_track *tracks;
    rtsp_udp_input *input;
    void *arg;
    struct rtsp_udp_pipe pipe;
    struct co *co;        /* stopped when there are no signs of life */
    struct co_timer timer;
    co_usec *heard, patience;
    bool reported;        /* it has sent RTCP */
};

struct rtsp_udp_side {
    struct rtsp_udp *udp;
    struct udp *socket;
    struct rtsp_udp_table table;
    struct co *reader;
    struct rtsp_udp_waiter *waiters;
};

struct rtsp_udp {
    struct session_env *env;
    int port;                /* of the configuration; -1: private */
    bool plain;              /* likewise: not with segmentation */
    bool closing;
    unsigned users;          /* peers and readers */
    unsigned peers;
    struct rtsp_udp_side side[RTSP_UDP_SIDES];
    struct rtsp_udp_stat stat;
    struct rtsp_runs runs;   /* between two yields */
    struct udp_out out[RTSP_RUNS];
};

struct rtsp_udp_track *rtsp_udp_track(const struct rtsp_udp_peer *p, unsigned number);
struct rtsp_udp_track *rtsp_udp_track_of(struct rtsp_udp_port *port, unsigned side);
void rtsp_udp_pipe_init(struct rtsp_udp_pipe *pipe);
/* A peer more, a peer less. */
void rtsp_udp_join(struct rtsp_udp *u);
void rtsp_udp_part(struct rtsp_udp *u);
/* There may be room: those who wait try again. */
void rtsp_udp_room(struct rtsp_udp_side *side);

#endif
