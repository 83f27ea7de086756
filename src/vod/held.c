/* SPDX-License-Identifier: MIT */
/* held.c - a stretch of a file in memory of ours. */
#include "vod/held.h"

#include <string.h>

bool vod_held_copy(const struct vod_held *h, int64_t at, void *to, size_t size)
{
    uint8_t *out = to;

    if (at < h->at || at > h->end || size > (size_t)(h->end - at))
        return false;
    while (size > 0) {
        size_t in = (size_t)(at - h->at), off = in % VOD_BLOCK;
        size_t n = size < VOD_BLOCK - off ? size : VOD_BLOCK - off;

        memcpy(out, h->blocks[in / VOD_BLOCK] + off, n);
        out += n;
        at += (int64_t)n;
        size -= n;
    }
    return true;
}

uint8_t *vod_held_pop(struct vod_held *h, int64_t before)
{
    int64_t end = h->end - h->at < VOD_BLOCK ? h->end : h->at + VOD_BLOCK;
    uint8_t *first = h->blocks[0];

    if (h->n == 0 || end > before)
        return NULL;
    h->n--;
    h->at = end;
    memmove(h->blocks, h->blocks + 1, h->n * sizeof(uint8_t *));
    return first;
}
