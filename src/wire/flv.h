/* SPDX-License-Identifier: MIT */
/* flv.h - a live stream as FLV tags, plain and in WebSocket frames, rendered once for all.
 *
 * Each tag is followed by its PreviousTagSize; over WebSocket the two are one binary message, and
 * its frame header is part of the shared bytes.
 */
#ifndef WIRE_FLV_H
#define WIRE_FLV_H

#include "live/wire.h"

enum { FLV_WIRE_LEAVE_OUT }; /* the parameter: bits of the tracks that a player does not get */
enum { FLV_WIRE_NO_AUDIO = 1, FLV_WIRE_NO_VIDEO = 2, FLV_WIRE_NO_OPUS = 4 };

extern const struct live_format flv_wire;
extern const struct live_format flv_wire_ws;

#endif
