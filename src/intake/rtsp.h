/* SPDX-License-Identifier: MIT */
/* rtsp.h - RTP of an SDP description into a live stream, from a publisher or from a server that
 * is pulled.
 *
 *     rtsp_intake_new(&r, sdp, size, &opts);        chooses the media to use
 *     rtsp_intake_set_up(r, n);                     media that were set up
 *     rtsp_intake_begin(r, src, now);
 *     rtsp_intake_put(r, n, false, packet, size, now) ...
 *     if (now >= rtsp_intake_due(r)) { rtsp_intake_tick(r, now); rtsp_intake_report(r, ...); }
 *
 * Media are numbered from 0 in the order of the description. One video and one audio medium become
 * packets of the stream; packets of others are dropped. No I/O, and nothing here yields.
 */
#ifndef INTAKE_RTSP_H
#define INTAKE_RTSP_H

#include "intake/rtp.h"

struct rtsp_intake; /* owned by the caller of rtsp_intake_new() */

struct rtsp_intake_opts {
    int track;          /* number of the video medium to use if there are several; -1: the first */
    bool keep_broken;   /* use frames after a loss without waiting for a key frame */
    co_usec jitter;     /* how long to wait for a missing datagram */
    const char *signature; /* our name in the metadata, borrowed */
};

/* Parses the description and logs the media that are left out. ERR_UNSUPPORTED: it has no medium
 * that we support; or an error of sdp_parse(). */
err_t rtsp_intake_new(struct rtsp_intake **out, const char *sdp, size_t size,
                       const struct rtsp_intake_opts *opts) __attribute__((warn_unused_result));
void rtsp_intake_free(struct rtsp_intake *r); /* NULL is fine */

unsigned rtsp_intake_count(const struct rtsp_intake *r); /* number of media */
/* Returns the control attribute of a medium: an absolute URL, a relative one, or "". */
const char *rtsp_intake_control(const struct rtsp_intake *r, unsigned media);
/* The same for the session. */
const char *rtsp_intake_session_control(const struct rtsp_intake *r);
/* Returns true if the medium becomes part of the stream. */
bool rtsp_intake_takes(const struct rtsp_intake *r, unsigned media);
/* Sets whether the medium was set up to be sent. */
void rtsp_intake_set_up(struct rtsp_intake *r, unsigned media, bool on);
/* Returns the number of used media that are set up. */
unsigned rtsp_intake_ready(const struct rtsp_intake *r);

/* Starts taking packets for the publisher of that stream, to which it takes a reference. Drops
 * packets of media that were not set up. `datagrams`: packets may be lost or reordered. */
void rtsp_intake_begin(struct rtsp_intake *r, struct live_source *src, bool datagrams,
                        co_usec now);
/* Takes a packet from a medium's channel or port for RTP or RTCP. Returns true for a media
 * packet. */
bool rtsp_intake_put(struct rtsp_intake *r, unsigned media, bool is_rtcp, const uint8_t *data,
                      size_t size, co_usec now);
/* Returns the time of the next rtsp_intake_tick() if no packet arrives; CO_FOREVER: none. */
co_usec rtsp_intake_due(const struct rtsp_intake *r);
/* Handles packets that are still missing when their time is up. */
void rtsp_intake_tick(struct rtsp_intake *r, co_usec now);
/* Writes a report that is due, to be sent on the RTCP channel or port of *media. Returns false if
 * none is due. */
enum { RTSP_INTAKE_REPORT = 128 };
bool rtsp_intake_report(struct rtsp_intake *r, co_usec now, unsigned *media,
                         uint8_t out[RTSP_INTAKE_REPORT], size_t *size);
/* Returns true if all media that were set up have sent BYE. */
bool rtsp_intake_over(const struct rtsp_intake *r);

/* Statistics of all media together; `dropped` includes packets of unused media. */
void rtsp_intake_stat(const struct rtsp_intake *r, struct rtp_intake_stat *out);

#endif
