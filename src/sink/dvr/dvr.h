/* SPDX-License-Identifier: MIT */
/* dvr.h - record streams to files, as the vhost's `dvr` says.
 *
 * FLV gets the tags as they came; MP4 is written as fragments, so that a crash costs the last one
 * only, and is made into a file to seek in when it closes. While it grows, a file is called
 * NAME.tmp; one that is there already is never written over. Helper threads do all that touches
 * the disk (disk.h).
 */
#ifndef SINK_DVR_DVR_H
#define SINK_DVR_DVR_H

#include "sink/sink.h"

extern const struct sink_ops dvr_sink;

#endif
