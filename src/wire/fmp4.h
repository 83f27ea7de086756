/* SPDX-License-Identifier: MIT */
/* fmp4.h - a live stream as fragmented MP4, plain and in WebSocket messages, made once for all.
 *
 * [ISO-FF] ISO/IEC 14496-12 8.8; "ISO BMFF Byte Stream Format" of Media Source Extensions.
 *
 * A fragment (moof and mdat) holds one video frame and the audio that came since the last one, so
 * video is sent one frame late: how long a frame lasts is known when the next one comes. Audio
 * that waits for 100 ms goes in a fragment of its own. Times are those of the stream's log.
 *
 * A player that joins first gets an initialization segment of its own: ftyp, moov, and a `free` box
 * with the text "codecs=avc1.64001f,mp4a.40.2". When a track appears, changes its decoder
 * configuration, or is silent for 3 s, another initialization segment comes in its place in the
 * stream, before the next key frame; media that needs it is left out until then.
 */
#ifndef WIRE_FMP4_H
#define WIRE_FMP4_H

#include "live/wire.h"

enum { FMP4_WIRE_LEAVE_OUT }; /* the parameter: bits of FLV_WIRE_NO_... (flv.h) */

extern const struct live_format fmp4_wire;
extern const struct live_format fmp4_wire_ws; /* each packet's bytes are one binary message */

#endif
