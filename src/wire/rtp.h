/* SPDX-License-Identifier: MIT */
/* rtp.h - a live stream as interleaved RTP, packed once for all players of the same tracks.
 *
 * Track 0 is video on channels 0 and 1, track 1 audio on 2 and 3, whatever a player asked for. SSRC
 * and sequence and time are the wire's.
 */
#ifndef WIRE_RTP_H
#define WIRE_RTP_H

#include "live/wire.h"

enum { RTP_WIRE_TRACKS, RTP_WIRE_MTU }; /* parameters: bits of tracks, bytes of a payload */
enum { RTP_WIRE_VIDEO = 1, RTP_WIRE_AUDIO = 2 };
enum { RTP_WIRE_TYPE_VIDEO = 96, RTP_WIRE_TYPE_AUDIO = 97 };

extern const struct live_format rtp_wire;

#endif
