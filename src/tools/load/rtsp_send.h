/* SPDX-License-Identifier: MIT */
/* rtsp_send.h - the frames of a file as RTP of one publisher. */
#ifndef TOOLS_LOAD_RTSP_SEND_H
#define TOOLS_LOAD_RTSP_SEND_H

#include "tools/load/rtp_out.h"
#include "tools/load/rtsp.h"

struct load_sender {
    struct load_client *c;
    struct load_out out;
    struct load_pair pairs[LOAD_TRACKS];
    co_usec report_due;
};

err_t load_sender_init(struct load_sender *s, struct load_client *c,
                       const struct load_media *source) __attribute__((warn_unused_result));
void  load_sender_fini(struct load_sender *s); /* all zero is fine */
/* A track is set up. */
void  load_sender_begin(struct load_sender *s, unsigned track);
/* Send a message of the file `time` ms after the begin, and reports when they are due. Yields. */
err_t load_sender_send(struct load_sender *s, const struct load_message *msg, uint64_t time)
    __attribute__((warn_unused_result));

#endif
