/* SPDX-License-Identifier: MIT */
/* gate.h - so many callers of one address are asked about at a time; others wait in line. */
#ifndef SERVE_SRT_GATE_H
#define SERVE_SRT_GATE_H

#include "co/co.h"

enum { SRT_GATE_PLACES = 1024, SRT_GATE_MOST = 8 };

/* Addresses have places by a hash (callers.h): where two have the same, they share its line. Begins
 * zeroed. */
struct srt_gate {
    struct srt_gate_place {
        unsigned n;                     /* under way */
        struct srt_gate_guest *first, **end;
    } v[SRT_GATE_PLACES];
};

/* Wait for one's turn; then srt_gate_leave(). Yields. */
err_t srt_gate_enter(struct srt_gate *g, unsigned place) __attribute__((warn_unused_result));
void srt_gate_leave(struct srt_gate *g, unsigned place);

#endif
