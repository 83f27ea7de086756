/* SPDX-License-Identifier: MIT */
/* rtsp_describe.h - a stream as a session description: what DESCRIBE answers. */
#ifndef WIRE_RTSP_DESCRIBE_H
#define WIRE_RTSP_DESCRIBE_H

#include "live/source.h"
#include "proto/sdp/sdp.h"
#include "wire/rtp.h"

enum rtsp_described {
    RTSP_DESCRIBE_WAIT, /* nobody publishes, or it is not known yet what there is */
    RTSP_DESCRIBE_DONE, /* all tracks are known, or it looks as if no other comes */
    RTSP_DESCRIBE_NONE, /* it is published, and RTP carries nothing of it */
};

/* Bits of the tracks that are known, of RTP_WIRE_VIDEO and RTP_WIRE_AUDIO. */
unsigned rtsp_describe_tracks(const struct live_source *src);
/* It came by RTMP: its configurations are messages of that. */
bool rtsp_describe_is_rtmp(const struct live_source *src);
/* What is known now. *rest: so long at most until it is not WAIT any more, if nothing else comes;
 * CO_FOREVER: until something does. */
enum rtsp_described rtsp_describe_state(const struct live_source *src, co_usec *rest);
/* Wait until it is not WAIT, or so long: then what is known counts. Yields; the caller has a
 * reference to src. */
err_t rtsp_describe_wait(struct live_source *src, co_usec most, enum rtsp_described *out)
    __attribute__((warn_unused_result));
/* What its metadata say of the bit rates of picture and sound, kbit/s; 0: nothing. */
void rtsp_describe_rates(const struct live_source *src, unsigned kbits[2]);
/* Append the description: of the session, and of those tracks that RTP carries, video first. Of a
 * rate that is 0 nothing is said. */
void rtsp_describe_put(const struct sdp_session_out *session,
                       const struct rtp_wire_track tracks[RTP_WIRE_N],
                       const unsigned kbits[RTP_WIRE_N], struct wr *sdp);
/* The same of a live stream, with the tracks that are known. */
void rtsp_describe_live(const struct live_source *src, const struct sdp_session_out *session,
                        struct wr *sdp);

#endif
