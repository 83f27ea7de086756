/* SPDX-License-Identifier: MIT */
/* rtsp.h - RTP of a described source into a live stream: of a publisher, or of a server that is
 * pulled from.
 *
 *     rtsp_intake_new(&r, sdp, size, &opts);        which of its media are taken
 *     rtsp_intake_set_up(r, n);                     those that were agreed on
 *     rtsp_intake_begin(r, src, now);
 *     rtsp_intake_put(r, n, false, packet, size, now) ...
 *     if (now >= rtsp_intake_due(r)) { rtsp_intake_tick(r, now); rtsp_intake_report(r, ...); }
 *
 * Media have the numbers that they have in the description, from 0. Those that we carry become
 * packets of the stream, one of video and one of audio; what comes of others is dropped. No I/O,
 * and nothing here yields.
 */
#ifndef INTAKE_RTSP_H
#define INTAKE_RTSP_H

#include "intake/rtp.h"

struct rtsp_intake; /* owned by who made it */

struct rtsp_intake_opts {
    int track;          /* of several media of video, the one of this number; -1: the first */
    bool keep_broken;   /* what follows a loss is taken before the next key frame, too */
    co_usec jitter;     /* so long a datagram that is missing is waited for */
    const char *signature; /* who we are, for who plays; borrowed */
};

/* ERR_UNSUPPORTED: nothing in it that we carry; and what sdp_parse() says. What is left out is told
 * in a line of the log. */
err_t rtsp_intake_new(struct rtsp_intake **out, const char *sdp, size_t size,
                       const struct rtsp_intake_opts *opts) __attribute__((warn_unused_result));
void rtsp_intake_free(struct rtsp_intake *r); /* NULL is fine */

unsigned rtsp_intake_count(const struct rtsp_intake *r); /* of media */
/* Where it is, as the description says: a whole url, a part of one, or "". */
const char *rtsp_intake_control(const struct rtsp_intake *r, unsigned media);
/* The same of all of it. */
const char *rtsp_intake_session_control(const struct rtsp_intake *r);
/* Do its packets become part of the stream? */
bool rtsp_intake_takes(const struct rtsp_intake *r, unsigned media);
/* It was agreed on that it is sent, or no longer is. */
void rtsp_intake_set_up(struct rtsp_intake *r, unsigned media, bool on);
/* Of those that are taken, how many are set up? */
unsigned rtsp_intake_ready(const struct rtsp_intake *r);

/* From now on packets come, for the publisher of that stream, of which it takes a reference. Those
 * of media that were not set up are dropped. `datagrams`: they may be lost, and change places. */
void rtsp_intake_begin(struct rtsp_intake *r, struct live_source *src, bool datagrams,
                        co_usec now);
/* A packet came, on its channel or port for RTP or the one for RTCP. True: it was one of media. */
bool rtsp_intake_put(struct rtsp_intake *r, unsigned media, bool is_rtcp, const uint8_t *data,
                      size_t size, co_usec now);
/* When there is something to do though nothing comes; CO_FOREVER: never. */
co_usec rtsp_intake_due(const struct rtsp_intake *r);
/* What was waited for has not come. */
void rtsp_intake_tick(struct rtsp_intake *r, co_usec now);
/* A report that is to be sent, on the channel or port for RTCP of that one. False: none is due. */
enum { RTSP_INTAKE_REPORT = 128 };
bool rtsp_intake_report(struct rtsp_intake *r, co_usec now, unsigned *media,
                         uint8_t out[RTSP_INTAKE_REPORT], size_t *size);
/* All that is set up has said BYE. */
bool rtsp_intake_over(const struct rtsp_intake *r);

/* Of all media together; dropped: of no medium that is taken, too. */
void rtsp_intake_stat(const struct rtsp_intake *r, struct rtp_intake_stat *out);

#endif
