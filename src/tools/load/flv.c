/* SPDX-License-Identifier: MIT */
/* flv.c - walk over the tags of an FLV stream. */
#include "tools/load/flv.h"

#include "format/flv/flv.h"

#include <string.h>

enum part { NOTHING, FILE_HEADER, TAG_HEADER, BODY };

static void next(struct load_flv *f, enum part part, uint32_t size)
{
    f->part = (uint8_t)part;
    f->left = size;
    f->head_size = 0;
}

/* A part is complete: its first bytes are in `head`. */
static err_t end_part(struct load_flv *f, load_tag_fn *take, void *arg)
{
    struct rd r = rd_init(f->head, f->head_size);
    struct flv_tag tag;
    err_t err;

    if (f->part == TAG_HEADER) {
        err = flv_tag_parse(&tag, &r);
        if (err)
            return err;
        f->tag = (struct load_tag){ tag.type, tag.time, tag.size, f->head, 0 };
        next(f, BODY, tag.size + FLV_TAG_TRAILER);
        return NULL;
    }
    err = f->part == FILE_HEADER ? flv_file_parse(&r) : NULL;
    f->tag.head_size = f->head_size < f->tag.size ? f->head_size : f->tag.size;
    if (f->part == BODY && f->tag.size > 0 &&
        (f->tag.type == FLV_AUDIO || f->tag.type == FLV_VIDEO))
        take(arg, &f->tag);
    next(f, TAG_HEADER, FLV_TAG_HEADER);
    return err;
}

err_t load_flv_feed(struct load_flv *f, const uint8_t *p, size_t size, load_tag_fn *take, void *arg)
{
    err_t err = NULL;

    if (f->part == NOTHING)
        next(f, FILE_HEADER, FLV_FILE_HEADER + FLV_TAG_TRAILER);
    while (!err && size > 0) {
        size_t n = f->left < size ? f->left : size, keep = sizeof(f->head) - f->head_size;

        keep = keep < n ? keep : n;
        memcpy(f->head + f->head_size, p, keep);
        f->head_size += (uint8_t)keep;
        f->left -= (uint32_t)n;
        p += n;
        size -= n;
        if (f->left == 0)
            err = end_part(f, take, arg);
    }
    return err;
}
