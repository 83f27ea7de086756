/* SPDX-License-Identifier: MIT */
/* rtsp_send.h - the frames of a file as RTP of one publisher. */
#ifndef TOOLS_LOAD_RTSP_SEND_H
#define TOOLS_LOAD_RTSP_SEND_H

#include "co/net/udp.h"
#include "proto/rtsp/transport.h"
#include "tools/load/rtp_out.h"
#include "tools/load/run.h"

struct load_sender {
    struct load_client *c;
    struct load_out out;
    struct load_sender_pair {       /* of each track */
        struct udp *pair[2];        /* media, reports; NULL: over the connection */
        struct udp_addr to[2];
    } pairs[LOAD_TRACKS];
    co_usec report_due;
};

err_t load_sender_init(struct load_sender *s, struct load_client *c,
                       const struct load_media *source) __attribute__((warn_unused_result));
void  load_sender_fini(struct load_sender *s); /* all zero is fine */
/* What SETUP offers for a track, and what was answered. */
err_t load_sender_offer(struct load_sender *s, unsigned track, struct rtsp_transport *offer)
    __attribute__((warn_unused_result));
err_t load_sender_begin(struct load_sender *s, unsigned track, const struct rtsp_transport *got)
    __attribute__((warn_unused_result));
/* Send a message of the file `time` ms after the begin, and reports when they are due. Yields. */
err_t load_sender_send(struct load_sender *s, const struct load_message *msg, uint64_t time)
    __attribute__((warn_unused_result));

#endif
