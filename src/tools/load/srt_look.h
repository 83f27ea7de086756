/* SPDX-License-Identifier: MIT */
/* srt_look.h - what a player sees in packets of MPEG-TS: pictures, key frames, the clock of a
 * publisher of ours, and packets that are missing though nobody told.
 */
#ifndef TOOLS_LOAD_SRT_LOOK_H
#define TOOLS_LOAD_SRT_LOOK_H

#include "proto/srt/recv.h"
#include "tools/load/run.h"

enum { LOAD_LOOK_PIDS = 8 };

struct load_look {
    struct load_look_pid {
        uint16_t pid;
        uint8_t cc;
        bool known;
    } pids[LOAD_LOOK_PIDS];
};

void load_look(struct load_look *l, struct load_client *c, const struct srt_message *m);

#endif
