/* SPDX-License-Identifier: MIT */
/* udp_impl.h - internals of udp.h; used only by udp*.c. */
#ifndef SERVE_RTSP_UDP_IMPL_H
#define SERVE_RTSP_UDP_IMPL_H

#include "base/err.h"
#include "base/table.h"
#include "co/net/udp.h"
#include "serve/rtsp/udp.h"

#include <stdint.h>
#include <sys/uio.h>

/* ---- bytes of the wire as datagrams, grouped for the kernel
 *
 * The wire has interleaved packets: '$', channel, length, packet. A run is a sequence of packets of
 * one channel with the same size (the last one may be shorter), which the kernel sends in one call
 * and cuts itself (UDP_SEGMENT). Packets of other channels in between go to other ports and do not
 * end the run. Nothing is copied: a run points to packets behind their four-byte headers.
 */

enum {
    RTSP_RUN_SEGMENTS = 64,  /* UDP_MAX_SEGMENTS of older kernels */
    RTSP_RUN_BYTES = 65000,
    RTSP_RUNS = 512,         /* limit per call, for runs and for packets */
};

struct rtsp_run {
    uint8_t channel;
    uint16_t segment; /* bytes of each packet */
    uint16_t last;    /* bytes of the last packet */
    int first, count; /* its packets in rtsp_runs.iov */
    size_t size;      /* total bytes */
    size_t begin;     /* offset of the first packet in the wire, from the start of the first
                       * range */
};

struct rtsp_runs {
    int n, packets;
    size_t size;      /* bytes of all packets */
    size_t end;       /* offset of the next packet in the wire */
    struct rtsp_run v[RTSP_RUNS]; /* ordered by their start */
    struct iovec iov[RTSP_RUNS];
    /* working state of rtsp_runs_cut() */
    int16_t open[256]; /* per channel, the run that may continue; -1: none */
    struct iovec seen[RTSP_RUNS];
    int16_t run_of[RTSP_RUNS];
};

/* Finds the runs in these ranges from byte `at` on. It stops before a switch between RTP and RTCP,
 * as those use different ports, and at `limit` bytes. Each packet lies within one range.
 * ERR_MALFORMED: no packet at that position. */
err_t rtsp_runs_cut(struct rtsp_runs *r, const struct iovec *iov, int n, size_t at, size_t limit)
    __attribute__((warn_unused_result));

/* ---- table of addresses: the session of a datagram that arrives on one of our ports
 *
 * It has one entry per port of each session. A lookup takes the same time for unknown addresses:
 * the hash has a secret, so peers cannot choose addresses that collide.
 */

struct rtsp_udp_key { /* private to the table */
    struct table_link link;
    struct udp_addr at;
    struct rtsp_udp_port *port;
};

struct rtsp_udp_port { /* embedded in the track */
    struct udp_path path; /* set before it is added */
    bool unconfirmed;           /* no datagram arrived from there yet: the first one may come from
                           * another port, because of a router */
    /* private to the table */
    /* announced address; observed address, or other.port NULL */
    struct rtsp_udp_key announced, observed;
    struct table_link wait; /* linked while it waits */
    struct rtsp_udp_table *table;
};

struct rtsp_udp_table {
    struct table by_port, by_ip; /* by_ip: only ports that wait */
    size_t count;                /* number of ports */
    uint8_t secret[SIPHASH_KEY];
};

void rtsp_udp_table_init(struct rtsp_udp_table *t);
void rtsp_udp_table_fini(struct rtsp_udp_table *t); /* must be empty */
/* Returns false if another port has that address. */
bool rtsp_udp_table_add(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
    __attribute__((warn_unused_result));
void rtsp_udp_table_remove(struct rtsp_udp_table *t, struct rtsp_udp_port *p);
/* Returns the port with that address, or NULL. */
struct rtsp_udp_port *rtsp_udp_table_find(const struct rtsp_udp_table *t,
                                          const struct udp_addr *from);
/* Confirms the address of the port: it waits no longer. */
void rtsp_udp_table_confirm(struct rtsp_udp_port *p);
/* For an unknown address: if exactly one port waits at this ip, it gets this address and waits no
 * longer. Returns NULL if there is none. */
struct rtsp_udp_port *rtsp_udp_table_move(struct rtsp_udp_table *t, const struct udp_addr *from);
/* A datagram came from the announced address: it replaces the observed one. */
void rtsp_udp_table_restore(struct rtsp_udp_table *t, struct rtsp_udp_port *p);

/* ---- ports and peers */

enum { RTSP_UDP_RTP, RTSP_UDP_RTCP, RTSP_UDP_SIDES };

struct rtsp_udp_track {
    struct rtsp_udp_track *next;
    struct rtsp_udp_peer *peer;
    unsigned number;
    struct rtsp_udp_port ports[RTSP_UDP_SIDES];
};

/* Waits until a socket has room. */
struct rtsp_udp_waiter {
    struct rtsp_udp_waiter *next, **prev; /* prev NULL: not linked */
    struct co *co;
};

/* The peer's io, see udp_io.c. */
struct rtsp_udp_pipe {
    struct io io;
    struct io *control; /* NULL: not set yet */
    bool detached;
    co_usec at;         /* time of the last token update */
    co_usec short_since; /* out of tokens since then; 0: it has some */
    size_t tokens, rate; /* bytes that it may send now; bytes gained per second */
    struct rtsp_udp_waiter waiter;
};

struct rtsp_udp_peer {
    struct rtsp_udp *udp;
    struct udp_path path; /* without ports */
    struct rtsp_udp_track *tracks;
    rtsp_udp_input *input;
    void *arg;
    struct rtsp_udp_pipe pipe;
    struct co *co;        /* stopped when no keepalive arrives */
    struct co_timer timer;
    co_usec *last_seen, timeout;
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
    int port;                /* from the configuration; -1: private */
    bool plain;              /* from the configuration: no segmentation */
    bool closing;
    unsigned users;          /* peers and readers */
    unsigned peers;
    struct rtsp_udp_side side[RTSP_UDP_SIDES];
    struct rtsp_udp_stat stat;
    struct rtsp_runs runs;   /* scratch space, used between two yields */
    struct udp_out out[RTSP_RUNS];
};

struct rtsp_udp_track *rtsp_udp_track(const struct rtsp_udp_peer *p, unsigned number);
struct rtsp_udp_track *rtsp_udp_track_of(struct rtsp_udp_port *port, unsigned side);
void rtsp_udp_pipe_init(struct rtsp_udp_pipe *pipe);
/* Count one more peer, or one less. */
void rtsp_udp_join(struct rtsp_udp *u);
void rtsp_udp_part(struct rtsp_udp *u);
/* Wakes all waiters, as the socket may have room. */
void rtsp_udp_room(struct rtsp_udp_side *side);

#endif
