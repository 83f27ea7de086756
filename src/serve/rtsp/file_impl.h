/* SPDX-License-Identifier: MIT */
/* file_impl.h - the insides of a client that plays a file, for file.c and play_file.c alone. */
#ifndef SERVE_RTSP_FILE_IMPL_H
#define SERVE_RTSP_FILE_IMPL_H

#include "serve/rtsp/file.h"
#include "vod/wires.h"

struct rtsp_file {
    struct vod_file *file;
    struct vod_feed feed;    /* once it was played */
    struct vod_wire_use use; /* by the tracks that were set up then */
    int64_t end;             /* of what was asked for last, 1/90000 s; INT64_MAX: of the file */
    int scale;               /* in force, thousandths; 0: it was never played */
    bool ended;              /* and not played again since */
};

/* 1/90000 s in microseconds. */
static inline int64_t rtsp_file_us(int64_t ticks)
{
    return ticks > 0 ? ticks * 100 / 9 : 0;
}
int64_t rtsp_file_position(const struct rtsp_file *f); /* 1/90000 s */

#endif
