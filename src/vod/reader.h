/* SPDX-License-Identifier: MIT */
/* reader.h - the packets of a file, one after the other, for a coroutine that may wait for a disk:
 * what an ingest publishes. */
#ifndef VOD_READER_H
#define VOD_READER_H

#include "av/packet.h"
#include "vod/vod.h"

struct vod_reader; /* one coroutine's */

/* From the begin of the file, which it takes a reference to. */
struct vod_reader *vod_reader_new(struct vod_file *file);
void vod_reader_free(struct vod_reader *r); /* NULL is fine */
/* The next packet, metadata and configurations first, new and with one reference, the caller's;
 * *pkt is NULL at the end. dts is the file's. ERR_UNSUPPORTED: the file is damaged there, or was
 * cut; ERR_IO_TIMEOUT, ERR_SYSTEM: the disk; ERR_NO_MEMORY. Yields. */
err_t vod_reader_next(struct vod_reader *r, struct av_packet **pkt)
    __attribute__((warn_unused_result));

#endif
