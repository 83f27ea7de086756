/* SPDX-License-Identifier: MIT */
/* mp4_cut.c - fragments of a recording, in one piece. */
#include "mp4_cut.h"

void cut(struct mp4_frag *m, int64_t dts, struct wr *out)
{
    struct blocks b;

    blocks_init(&b, CUT_LIMIT, NULL);
    mp4_frag_cut(m, dts, false, &b);
    for (const struct block *p = blocks_begin(&b); p; p = p->next)
        wr_bytes(out, p->data, p->len);
    blocks_free(&b);
}
