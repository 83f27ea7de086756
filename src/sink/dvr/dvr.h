/* SPDX-License-Identifier: MIT */
/* dvr.h - records streams to files, configured by the vhost's `dvr`.
 *
 * FLV files get the tags unchanged. MP4 files are written as fragments, so that a crash loses only
 * the last one, and become seekable files when they close. A growing file is called NAME.tmp; an
 * existing file is never overwritten. Helper threads do all disk access (disk.h).
 */
#ifndef SINK_DVR_DVR_H
#define SINK_DVR_DVR_H

#include "session/condition.h"
#include "sink/sink.h"

extern const struct sink_ops dvr_sink;

/* A running recording, for the API. Strings are valid during the call. */
struct dvr_info {
    const char *id;          /* id in lists of the API */
    const struct stream_key *key;
    bool mp4;                /* else FLV */
    const char *file;        /* final name of the growing file, or "" */
    co_usec file_at;         /* when the file was started */
    uint64_t bytes;          /* size of the file */
    const char *root;        /* the folder of all recordings */
    const struct condition *condition; /* running while a file grows */
};
void dvrs_each(const struct sink *sink, void (*each)(void *arg, const struct dvr_info *one),
               void *arg);

#endif
