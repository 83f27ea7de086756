/* SPDX-License-Identifier: MIT */
/* receive.h - RTP of a described source into a live stream: of a publisher, or of a server that is
 * pulled from.
 *
 *     rtsp_receive_new(&r, sdp, size, &opts);        which of its media are taken
 *     rtsp_receive_set_up(r, n);                     those that were agreed on
 *     rtsp_receive_begin(r, src, now);
 *     rtsp_receive_put(r, n, false, packet, size, now) ...
 *     if (now >= rtsp_receive_due(r)) { rtsp_receive_tick(r, now); rtsp_receive_report(r, ...); }
 *
 * Media have the numbers that they have in the description, from 0. Those that we carry become
 * packets of the stream, one of video and one of audio; what comes of others is dropped. No I/O,
 * and nothing here yields.
 */
#ifndef SERVE_RTSP_RECEIVE_H
#define SERVE_RTSP_RECEIVE_H

#include "session/rtp_intake.h"

struct rtsp_receive; /* owned by who made it */

struct rtsp_receive_opts {
    int track;          /* of several media of video, the one of this number; -1: the first */
    bool keep_broken;   /* what follows a loss is taken before the next key frame, too */
    co_usec jitter;     /* so long a datagram that is missing is waited for */
    const char *signature; /* who we are, for who plays; borrowed */
};

/* ERR_UNSUPPORTED: nothing in it that we carry; and what sdp_parse() says. What is left out is told
 * in a line of the log. */
err_t rtsp_receive_new(struct rtsp_receive **out, const char *sdp, size_t size,
                       const struct rtsp_receive_opts *opts) __attribute__((warn_unused_result));
void rtsp_receive_free(struct rtsp_receive *r); /* NULL is fine */

unsigned rtsp_receive_count(const struct rtsp_receive *r); /* of media */
/* Where it is, as the description says: a whole url, a part of one, or "". */
const char *rtsp_receive_control(const struct rtsp_receive *r, unsigned media);
/* The same of all of it. */
const char *rtsp_receive_session_control(const struct rtsp_receive *r);
/* Do its packets become part of the stream? */
bool rtsp_receive_takes(const struct rtsp_receive *r, unsigned media);
/* It was agreed on that it is sent, or no longer is. */
void rtsp_receive_set_up(struct rtsp_receive *r, unsigned media, bool on);
/* Of those that are taken, how many are set up? */
unsigned rtsp_receive_ready(const struct rtsp_receive *r);

/* From now on packets come, for the publisher of that stream, of which it takes a reference. Those
 * of media that were not set up are dropped. `datagrams`: they may be lost, and change places. */
void rtsp_receive_begin(struct rtsp_receive *r, struct live_source *src, bool datagrams,
                        co_usec now);
/* A packet came, on its channel or port for RTP or the one for RTCP. True: it was one of media. */
bool rtsp_receive_put(struct rtsp_receive *r, unsigned media, bool is_rtcp, const uint8_t *data,
                      size_t size, co_usec now);
/* When there is something to do though nothing comes; CO_FOREVER: never. */
co_usec rtsp_receive_due(const struct rtsp_receive *r);
/* What was waited for has not come. */
void rtsp_receive_tick(struct rtsp_receive *r, co_usec now);
/* A report that is to be sent, on the channel or port for RTCP of that one. False: none is due. */
enum { RTSP_RECEIVE_REPORT = 128 };
bool rtsp_receive_report(struct rtsp_receive *r, co_usec now, unsigned *media,
                         uint8_t out[RTSP_RECEIVE_REPORT], size_t *size);
/* All that is set up has said BYE. */
bool rtsp_receive_over(const struct rtsp_receive *r);

/* Of all media together; dropped: of no medium that is taken, too. */
void rtsp_receive_stat(const struct rtsp_receive *r, struct rtp_intake_stat *out);

#endif
