/* SPDX-License-Identifier: MIT */
/* demux_file.h - files in memory for a demuxer, and a walk over its output. */
#ifndef DEMUX_FILE_H
#define DEMUX_FILE_H

#include "base/container_of.h"
#include "format/demux/demux.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

struct file {
    struct demux_input in;
    const uint8_t *data;
    unsigned reads;   /* so far */
    size_t bytes;     /* that were read */
    unsigned fail_at; /* this read fails, from 1; 0: none */
    enum demux_status fail; /* with this */
};

void file_init(struct file *f, const uint8_t *data, size_t size);
struct demux_index *file_open(struct file *f);

/* Walks over all samples of a file and checks the invariants. */
struct walk_all {
    unsigned groups, samples, of[DEMUX_TRACKS], configs;
    int64_t last[DEMUX_TRACKS];
    struct demux_sample v[64]; /* the first ones */
    enum demux_status ended;
};

void walk_all(struct walk_all *w, const struct demux_index *x, struct file *f);

#endif
