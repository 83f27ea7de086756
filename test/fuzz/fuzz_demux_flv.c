/* SPDX-License-Identifier: MIT */
/* fuzz_demux_flv.c - any bytes as an FLV file that is played from any position. */
#include "demux_fuzz.h"

static void play(const struct demux_index *x, const struct file *f)
{
    int64_t last[DEMUX_TRACKS] = { 0 };
    demux_position at = demux_seek(x, INT64_MIN);
    struct demux_group *g;
    const char *why;

    while (demux_group(&g, x, &f->in, at, &why) == DEMUX_OK) {
        bool over = g->last;

        assert(g->place == at);
        check_group(x, f, g, last);
        at = g->next;
        free(g);
        if (over)
            break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    play_file(data, size, play);
    return 0;
}
