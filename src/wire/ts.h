/* SPDX-License-Identifier: MIT */
/* ts.h - a live stream as MPEG-TS, muxed once for all its players. */
#ifndef WIRE_TS_H
#define WIRE_TS_H

#include "live/wire.h"

extern const struct live_format ts_wire;

#endif
