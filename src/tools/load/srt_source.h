/* SPDX-License-Identifier: MIT */
/* srt_source.h - a file as packets of MPEG-TS, each when it is due, round and round.
 *
 * Of FLV our muxer makes them, with times that go on and the clock in each picture; TS is sent as
 * it is, at the pace of its PCR. All publishers of a source send the same packets of its log.
 */
#ifndef TOOLS_LOAD_SRT_SOURCE_H
#define TOOLS_LOAD_SRT_SOURCE_H

#include "format/ts/mux.h"
#include "proto/srt/log.h"
#include "tools/load/media.h"

struct load_ts_file {
    uint8_t *bytes;
    size_t packets;
    co_usec *due;          /* of each, from the begin */
    co_usec period;        /* until it begins again */
};

/* A file, read once. */
struct load_srt_file {
    struct load_media flv; /* n 0: it is TS */
    struct load_ts_file ts;
    double kbps;
};
err_t load_srt_file_load(struct load_srt_file *f, const char *path)
    __attribute__((warn_unused_result));

struct load_srt_source {
    struct srt_log log;
    const struct load_srt_file *file;
    size_t payload;        /* bytes of a packet at most */
    bool marker;
    co_usec from;          /* when its time 0 was; 0: it has not begun */
    /* of FLV */
    struct load_play play;
    uint32_t number;
    struct ts_mux mux;
    struct wr out;
    bool key;              /* what is in `out` begins with a key frame */
    /* of TS */
    size_t at;
    co_usec base;
};

void load_srt_source_init(struct load_srt_source *s, const struct load_srt_file *file,
                          size_t payload, bool marker);
/* What is due by now is in the log after it. The first call begins it. */
void load_srt_source_run(struct load_srt_source *s, co_usec now);

#endif
