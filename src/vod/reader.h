/* SPDX-License-Identifier: MIT */
/* reader.h - reads the packets of a file one after another, for an ingest that publishes the file.
 * The calling coroutine may wait for a disk. */
#ifndef VOD_READER_H
#define VOD_READER_H

#include "av/packet.h"
#include "vod/vod.h"

struct vod_reader; /* used by one coroutine */

/* Starts at the beginning of the file and takes a reference to it. */
struct vod_reader *vod_reader_new(struct vod_file *file);
void vod_reader_free(struct vod_reader *r); /* NULL is allowed */
/* Gives the next packet, metadata and configurations first; the caller gets the only reference.
 * *pkt is NULL at the end. dts is the time in the file. ERR_UNSUPPORTED: the file is damaged there,
 * or truncated; ERR_IO_TIMEOUT, ERR_SYSTEM: the disk; ERR_NO_MEMORY. Yields. */
err_t vod_reader_next(struct vod_reader *r, struct av_packet **pkt)
    __attribute__((warn_unused_result));

#endif
