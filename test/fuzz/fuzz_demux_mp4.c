/* SPDX-License-Identifier: MIT */
/* fuzz_demux_mp4.c - any bytes as an MP4 file that is played from any position. */
#include "demux_fuzz.h"

/* All samples of a moof are read for each group that begins in it. */
enum { JUMPS = 8, STEPS = 1 << 20 };

/* Seeks in it. */
static void jump(const struct demux_index *x, const struct file *f)
{
    int64_t length = demux_info(x)->duration + demux_info(x)->zero;
    demux_position last = 0;
    struct demux_group *g;
    const char *why;

    for (int64_t i = 0; i <= JUMPS; i++) {
        demux_position at = demux_seek(x, length / JUMPS * i);

        assert(at >= last);
        last = at;
        if (demux_group(&g, x, &f->in, at, &why) == DEMUX_OK)
            assert(g->starts);
        free(g);
        if (demux_group(&g, x, &f->in, at + (uint64_t)i, &why) == DEMUX_OK)
            assert(g->next > g->place);
        free(g);
    }
}

static void play(const struct demux_index *x, const struct file *f)
{
    demux_position at = demux_seek(x, INT64_MIN);
    struct demux_group *g;
    const char *why;
    bool over = false;

    for (int64_t left = STEPS; left > 0 && !over; left -= f->in.size) {
        int64_t last[DEMUX_TRACKS] = { 0 }; /* lists of fragments are wrong about data between them */

        if (demux_group(&g, x, &f->in, at, &why) != DEMUX_OK)
            break;
        assert(g->place == at);
        check_group(x, f, g, last);
        over = g->last;
        at = g->next;
        free(g);
    }
    jump(x, f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    play_file(data, size, play);
    return 0;
}
