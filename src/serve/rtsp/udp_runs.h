/* SPDX-License-Identifier: MIT */
/* udp_runs.h - bytes of the wire as datagrams, and which of them the kernel is given together. No
 * I/O.
 *
 * The wire has packets as they go over a connection: '$', channel, length, packet. A run is packets
 * of one channel one after the other that have the same size, the last may be shorter: what the
 * kernel cuts by itself (UDP_SEGMENT). What is between them on other channels goes to other ports,
 * so it breaks no run. Nothing is copied: a run points at packets without the four bytes in front.
 */
#ifndef SERVE_RTSP_UDP_RUNS_H
#define SERVE_RTSP_UDP_RUNS_H

#include "base/err.h"

#include <stdint.h>
#include <sys/uio.h>

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

#endif
