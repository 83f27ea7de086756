/* SPDX-License-Identifier: MIT */
/* rtsp_describe.h - a stream as a session description for the response to DESCRIBE. */
#ifndef WIRE_RTSP_DESCRIBE_H
#define WIRE_RTSP_DESCRIBE_H

#include "live/source.h"
#include "proto/sdp/sdp.h"
#include "wire/rtp.h"

enum rtsp_described {
    RTSP_DESCRIBE_WAIT, /* no publisher, or its tracks are not known yet */
    RTSP_DESCRIBE_DONE, /* all tracks are known, or no other is expected */
    RTSP_DESCRIBE_NONE, /* published, but RTP carries none of its tracks */
};

/* Returns the known tracks as bits of RTP_WIRE_VIDEO and RTP_WIRE_AUDIO. */
unsigned rtsp_describe_tracks(const struct live_source *src);
/* Returns true if it was published over RTMP: its configurations are RTMP messages. */
bool rtsp_describe_is_rtmp(const struct live_source *src);
/* Returns the current state. *rest: the time after which it is no longer WAIT if nothing else
 * arrives; CO_FOREVER: only after something arrives. */
enum rtsp_described rtsp_describe_state(const struct live_source *src, co_usec *rest);
/* Waits at most `most` until the state is not WAIT. Yields; the caller has a reference to src. */
err_t rtsp_describe_wait(struct live_source *src, co_usec most, enum rtsp_described *out)
    __attribute__((warn_unused_result));
/* Reads the bit rates of video and audio from its metadata, kbit/s; 0: unknown. */
void rtsp_describe_rates(const struct live_source *src, unsigned kbits[2]);
/* Appends the description of the session and of those tracks that RTP carries, video first. A rate
 * of 0 is left out. */
void rtsp_describe_put(const struct sdp_session_out *session,
                       const struct rtp_wire_track tracks[RTP_WIRE_N],
                       const unsigned kbits[RTP_WIRE_N], struct wr *sdp);
/* The same for a live stream with its known tracks. */
void rtsp_describe_live(const struct live_source *src, const struct sdp_session_out *session,
                        struct wr *sdp);

#endif
