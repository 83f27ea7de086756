/* SPDX-License-Identifier: MIT */
/* hls_play.c - the clock of a player. */
#include "tools/load/hls.h"

void load_hls_play_turn(struct load_hls_play *p, struct load_stat *s, co_usec now, co_usec stall)
{
    if (p->moves) {
        p->shown += now - p->at;
        if (p->shown >= p->got) {
            p->stands_since = now - (p->shown - p->got);
            p->shown = p->got;
            p->moves = p->counted = false;
        }
    }
    p->at = now;
    if (p->stands_since && !p->counted && now - p->stands_since >= stall) {
        s->stalls++;
        p->counted = true;
    }
}

void load_hls_play_add(struct load_hls_play *p, struct load_stat *s, co_usec now, co_usec stall,
                       int64_t duration, int64_t wall)
{
    load_hls_play_turn(p, s, now, stall);
    if (p->counted && p->stands_since)
        load_hist_add(&s->hls.stall, now - p->stands_since);
    p->got += duration;
    p->wall_end = wall ? wall + duration : 0;
    p->moves = p->got > p->shown;
    p->stands_since = 0;
    p->counted = false;
}

void load_hls_play_jump(struct load_hls_play *p, co_usec now, int64_t lead)
{
    p->shown = p->got + (lead > 0 ? lead : 0);
    p->at = now;
    p->moves = false;
    p->stands_since = 0;
}
