/* SPDX-License-Identifier: MIT */
/* rtsp_ports.h - the media ports of a worker, and a wire of RTP packets: for tests of RTSP over
 * UDP. */
#ifndef RTSP_PORTS_H
#define RTSP_PORTS_H

#include "base/iov.h"
#include "base/log.h"
#include "base/wr.h"
#include "env.h"
#include "io_mem.h"
#include "proto/rtp/header.h"
#include "proto/rtp/rtcp.h"
#include "serve/rtsp/udp.h"
#include "serve/rtsp/udp_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- a wire */

enum { WIRE_MAX = 1 << 20, PACKETS_MAX = 4096 };

extern struct rtsp_ports_state {
    uint8_t bytes[WIRE_MAX];
    size_t size, packets;
    size_t at[PACKETS_MAX]; /* offset of each packet */
} wire_of_test;

void wire_begin(void);

/* Appends an RTP or RTCP packet of this size; all packets differ. */
void wire_put(uint8_t channel, size_t size);
size_t packet_size(size_t i);

#endif
