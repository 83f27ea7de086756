/* SPDX-License-Identifier: MIT */
/* udp_impl.h - the insides of udp.h, for the files udp*.c alone. */
#ifndef SERVE_RTSP_UDP_IMPL_H
#define SERVE_RTSP_UDP_IMPL_H

#include "base/err.h"
#include "base/table.h"
#include "co/net/udp.h"
#include "serve/rtsp/udp.h"

#include <stdint.h>
#include <sys/uio.h>

/* ---- bytes of the wire as datagrams, and which of them the kernel is given together
 *
 * The wire has packets as they go over a connection: '$', channel, length, packet. A run is packets
 * of one channel one after the other that have the same size, the last may be shorter: what the
 * kernel cuts by itself (UDP_SEGMENT). What is between them on other channels goes to other ports,
 * so it breaks no run. Nothing is copied: a run points at packets without the four bytes in front.
 */

enum {
    RTSP_RUN_SEGMENTS = 64,  /* UDP_MAX_SEGMENTS of older kernels */
    RTSP_RUN_BYTES = 65000,
    RTSP_RUNS = 512,         /* of one call, and packets */
};

struct rtsp_run {
    uint8_t channel;
    uint16_t segment; /* bytes of each packet, */
    uint16_t last;    /* and of the last one */
    int first, count; /* its packets, in rtsp_runs.iov */
    size_t size;      /* bytes of them */
    size_t begin;     /* where the first one is in the wire, from the first range's begin */
};

struct rtsp_runs {
    int n, packets;
    size_t size;      /* bytes of all packets */
    size_t end;       /* where the next one begins in the wire */
    struct rtsp_run v[RTSP_RUNS]; /* in the order in which they begin */
    struct iovec iov[RTSP_RUNS];
    /* on the way there */
    int16_t open[256];            /* the run of a channel that may go on; -1: none */
    struct iovec seen[RTSP_RUNS];
    int16_t run_of[RTSP_RUNS];
};

/* The runs in these ranges from byte `at` on: all of RTP or all of RTCP, since those leave from
 * different ports; and no packet when there are `most` bytes. Packets are whole in a range.
 * ERR_MALFORMED: what is there is no packet. */
err_t rtsp_runs_cut(struct rtsp_runs *r, const struct iovec *iov, int n, size_t at, size_t most)
    __attribute__((warn_unused_result));

/* ---- which address is whose, of the datagrams that come to one port of ours
 *
 * As many as sessions have; those who are in none are found in no longer time for it: the table
 * has a secret, so nobody can choose addresses that collide.
 */

struct rtsp_udp_key { /* the table's own */
    struct table_link link;
    struct udp_addr at;
    struct rtsp_udp_port *port;
};

struct rtsp_udp_port { /* a member of who has it */
    struct udp_path path; /* set before it is added */
    bool waits;           /* nothing came from there yet: what comes may come from another port,
                           * since a router gave it another */
    /* the table's own */
    struct rtsp_udp_key said, other; /* where it said that it is; where it was seen then, or
                                      * other.port NULL */
    struct table_link wait; /* while it waits */
    struct rtsp_udp_table *table;
};

struct rtsp_udp_table {
    struct table by_port, by_ip; /* by_ip: those that wait */
    size_t count;                /* ports */
    uint8_t secret[SIPHASH_KEY];
};

void rtsp_udp_table_init(struct rtsp_udp_table *t);
void rtsp_udp_table_fini(struct rtsp_udp_table *t); /* it is empty */
/* False: another one has that address. */
bool rtsp_udp_table_add(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
    __attribute__((warn_unused_result));
void rtsp_udp_table_remove(struct rtsp_udp_table *t, struct rtsp_udp_port *p);
/* Whose address that is; NULL: nobody's. */
struct rtsp_udp_port *rtsp_udp_table_find(const struct rtsp_udp_table *t,
                                          const struct udp_addr *from);
/* It is known where that one is. */
void rtsp_udp_table_known(struct rtsp_udp_port *p);
/* Nobody has that address: the one who waits at its ip, if there is exactly one, has it from now
 * on, and waits no more. NULL: it is nobody's. */
struct rtsp_udp_port *rtsp_udp_table_move(struct rtsp_udp_table *t, const struct udp_addr *from);
/* Something came from where it had said that it is: that counts more than where it was seen. */
void rtsp_udp_table_back(struct rtsp_udp_table *t, struct rtsp_udp_port *p);

/* ---- ports and peers */

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
