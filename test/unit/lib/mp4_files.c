/* SPDX-License-Identifier: MIT */
/* mp4_files.c - shared by tests of MP4 files. */
#include "mp4_files.h"

unsigned demux_any(const uint8_t *data, size_t size)
{
    const struct demux_limits limits = { .index_max = 1 << 20 };
    struct demux_index *x;
    const char *why = NULL;
    struct walk_all w = { 0 };
    struct file f;

    file_init(&f, data, size);
    if (demux_open(&x, &f.in, &limits, &why) != DEMUX_OK) {
        assert_null(x);
        assert_true(why && *why);
        return 0;
    }
    walk_all(&w, x, &f);
    for (int64_t t = -1; t < 30 * 90000; t += 2 * 90000 + 17)
        assert_true(demux_seek(x, t) >= demux_seek(x, t - 1000));
    demux_close(x);
    return w.samples;
}
