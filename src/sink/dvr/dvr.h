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

#include "session/condition.h"
#include "sink/sink.h"

extern const struct sink_ops dvr_sink;

/* A recording that goes on, for those who look. Strings are valid during the call. */
struct dvr_info {
    const char *id;          /* by which lists know it */
    const struct stream_key *key;
    bool mp4;                /* else FLV */
    const char *file;        /* as it will be called; "": none grows now */
    co_usec file_at;         /* when it was begun */
    uint64_t bytes;          /* of it */
    const char *root;        /* the folder that all of them are in */
    const struct condition *condition; /* it runs while a file grows */
};
void dvrs_each(const struct sink *sink, void (*each)(void *arg, const struct dvr_info *one),
               void *arg);

#endif
