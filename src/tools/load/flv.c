/* SPDX-License-Identifier: MIT */
/* flv.c - walk over the tags of an FLV stream. */
#include "tools/load/skim.h"

#include <string.h>

#include "format/flv/flv.h"

enum part { FILE_HEADER, TAG_HEADER, BODY, TRAILER };

void load_flv_init(struct load_flv *f)
{
    *f = (struct load_flv){ .left = FLV_FILE_HEADER + FLV_TAG_TRAILER };
}

static void next(struct load_flv *f, enum part part, uint32_t size)
{
    f->part = (uint8_t)part;
    f->left = size;
    f->head_size = 0;
}

static bool is_media(const struct load_flv *f)
{
    return f->msg.type == FLV_AUDIO || f->msg.type == FLV_VIDEO;
}

/* A part is complete: its first bytes are in `head`. */
static err_t end_part(struct load_flv *f)
{
    struct rd r = rd_init(f->head, f->head_size);
    struct flv_tag tag;
    err_t err;

    switch ((enum part)f->part) {
    case FILE_HEADER:
        err = flv_file_parse(&r);
        next(f, TAG_HEADER, FLV_TAG_HEADER);
        return err;
    case TAG_HEADER:
        err = flv_tag_parse(&tag, &r);
        if (err)
            return err;
        f->msg = (struct load_skim_msg){ .type = tag.type, .time = tag.time, .size = tag.size };
        next(f, tag.size ? BODY : TRAILER, tag.size ? tag.size : FLV_TAG_TRAILER);
        return NULL;
    case BODY:
        next(f, TRAILER, FLV_TAG_TRAILER);
        return NULL;
    case TRAILER:
        next(f, TAG_HEADER, FLV_TAG_HEADER);
        return NULL;
    }
    return NULL;
}

err_t load_flv_feed(struct load_flv *f, const uint8_t *p, size_t size,
                    void (*media)(void *arg, const struct load_skim_msg *msg), void *arg)
{
    err_t err = NULL;

    while (!err && size > 0) {
        size_t n = f->left < size ? f->left : size, keep = sizeof(f->head) - f->head_size;
        bool body = f->part == BODY && is_media(f), had = keep == 0;

        if (keep > n)
            keep = n;
        memcpy(f->head + f->head_size, p, keep);
        f->head_size += (uint8_t)keep;
        f->left -= (uint32_t)n;
        p += n;
        size -= n;
        f->msg.head = f->head;
        f->msg.head_size = f->head_size;
        f->msg.end = false;
        if (body && !had && (f->head_size == sizeof(f->head) || f->left == 0))
            media(arg, &f->msg);
        f->msg.end = true;
        if (body && f->left == 0)
            media(arg, &f->msg);
        if (f->left == 0)
            err = end_part(f);
    }
    return err;
}
