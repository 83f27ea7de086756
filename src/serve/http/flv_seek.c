/* SPDX-License-Identifier: MIT */
/* flv_seek.c - an FLV file from some byte on. */
#include "serve/http/flv_seek.h"

#include "base/mem.h"
#include "format/flv/flv.h"

#include <stdlib.h>

enum {
    LOOK = 256 * 1024, /* the configurations are at the begin, or they are not there */
    TAGS = 32,
    FIRST = FLV_FILE_HEADER + FLV_TAG_TRAILER,
};

static bool is_config(uint8_t type, const uint8_t *body, size_t size)
{
    struct flv_body b = { 0 };
    err_t err = NULL;

    if (type == FLV_DATA)
        return true;
    if (type == FLV_VIDEO)
        err = flv_video_parse(&b, body, size);
    else if (type == FLV_AUDIO)
        err = flv_audio_parse(&b, body, size);
    if (err) {
        err_free(&err);
        return false;
    }
    return b.config;
}

/* The first tags as far as they are configurations; gives where the first other one begins. */
static size_t configs_end(const uint8_t *buf, size_t size)
{
    size_t at = FIRST;

    for (int i = 0; i < TAGS; i++) {
        struct rd r = rd_init(buf + at, size - at);
        struct flv_tag tag;
        const uint8_t *body;
        err_t err = flv_tag_parse(&tag, &r);

        body = err ? NULL : rd_take(&r, tag.size);
        err_free(&err);
        (void)rd_u32(&r);
        if (!body || r.bad || !is_config(tag.type, body, tag.size))
            break;
        at += FLV_TAG_HEADER + tag.size + FLV_TAG_TRAILER;
    }
    return at;
}

err_t http_flv_seek(struct http_exchange *x, const struct co_file *f, int64_t start)
{
    size_t size = f->size < LOOK ? (size_t)f->size : LOOK, head = 0;
    uint8_t *buf = mem_try(size + 1);
    err_t err;

    if (!buf)
        return err_new(ERR_NO_MEMORY, "%zu bytes of a file", size);
    err = co_file_read(f, 0, buf, size);
    if (!err && size >= FIRST)
        head = configs_end(buf, size);
    if (start < (int64_t)head || start > f->size) {
        start = 0;
        head = 0;
    }
    if (!err)
        err = http_response_begin(x->resp, 200, (int64_t)head + f->size - start);
    if (!err && head > 0)
        err = http_response_write(x->resp, buf, head);
    free(buf);
    if (!err)
        err = http_response_flush(x->resp);
    if (err || x->resp->no_body)
        return err;
    err = co_file_send(f, x->io, start, f->size - start);
    http_response_went(x->resp, (size_t)(f->size - start));
    return err ? err : http_response_end(x->resp);
}
