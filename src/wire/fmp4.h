/* SPDX-License-Identifier: MIT */
/* fmp4.h - a live stream as fragmented MP4, plain and in WebSocket messages, rendered once for all
 * players.
 *
 * [ISO-FF] ISO/IEC 14496-12 8.8; "ISO BMFF Byte Stream Format" of Media Source Extensions.
 *
 * A fragment (moof and mdat) holds one video frame and the audio since the last one. Video is sent
 * one frame late, because the duration of a frame is known only when the next one arrives. Audio
 * that has waited for 100 ms gets its own fragment. Times are those of the stream's log.
 *
 * A joining player first gets its own initialization segment: ftyp, moov, and a `free` box with the
 * text "codecs=avc1.64001f,mp4a.40.2". When a track appears, changes its decoder configuration, or
 * is silent for 3 s, the stream gets a new initialization segment before the next key frame; media
 * that need it are left out until then.
 */
#ifndef WIRE_FMP4_H
#define WIRE_FMP4_H

#include "live/wire.h"

enum { FMP4_WIRE_LEAVE_OUT }; /* the parameter: bits of FLV_WIRE_NO_... (flv.h) */

extern const struct live_format fmp4_wire;
extern const struct live_format fmp4_wire_ws; /* each packet's bytes are one binary message */

#endif
