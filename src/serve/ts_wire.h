/* SPDX-License-Identifier: MIT */
/* ts_wire.h - a live stream as MPEG-TS, muxed once for all who play it. */
#ifndef SERVE_TS_WIRE_H
#define SERVE_TS_WIRE_H

#include "live/wire.h"

extern const struct live_format ts_wire;

#endif
