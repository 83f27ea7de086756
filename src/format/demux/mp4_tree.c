/* SPDX-License-Identifier: MIT */
/* mp4_tree.c - boxes in memory, [ISO-FF] 4.2. */
#include "format/demux/mp4.h"

bool mp4_tree_next(struct rd *in, struct mp4_node *b)
{
    const uint8_t *begin = in->p;
    uint64_t size;

    if (in->bad || rd_left(in) < 8)
        return false;
    size = rd_u32(in);
    b->type = rd_u32(in);
    if (size == 1)
        size = rd_u64(in);
    else if (size == 0)
        size = (uint64_t)(in->end - begin);
    if (in->bad || size < (uint64_t)(in->p - begin) || size > (uint64_t)(in->end - begin))
        return false;
    b->body = rd_sub(in, (size_t)(size - (uint64_t)(in->p - begin)));
    return true;
}

struct rd mp4_tree_find(struct rd in, uint32_t type)
{
    struct mp4_node b;

    while (mp4_tree_next(&in, &b)) {
        if (b.type == type)
            return b.body;
    }
    return (struct rd){ .bad = true };
}
