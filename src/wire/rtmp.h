/* SPDX-License-Identifier: MIT */
/* rtmp.h - a live stream as RTMP chunks, rendered once for all players and forwards.
 *
 * Every message begins with a fmt 0 chunk and an absolute time, so the bytes are valid wherever a
 * player joins. Differences between peers are in the parameters; peers with the same parameters
 * share a wire.
 */
#ifndef WIRE_RTMP_H
#define WIRE_RTMP_H

#include "live/wire.h"

enum { RTMP_WIRE_CHUNK_SIZE, RTMP_WIRE_STREAM_ID, RTMP_WIRE_LEAVE_OUT };
/* Bits of RTMP_WIRE_LEAVE_OUT: a peer that sent receiveAudio(false), receiveVideo(false), and one
 * that did not announce Opus, which plain demuxers cannot skip: FFmpeg 5.1 and 7.1 read no video
 * either. */
enum { RTMP_WIRE_NO_AUDIO = 1, RTMP_WIRE_NO_VIDEO = 2, RTMP_WIRE_NO_OPUS = 4 };

extern const struct live_format rtmp_wire;

#endif
