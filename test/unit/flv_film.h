/* SPDX-License-Identifier: MIT */
/* flv_film.h - small films of FLV for tests: a group of pictures a second, a frame and a sound each
 * 100 ms. */
#ifndef FLV_FILM_H
#define FLV_FILM_H

#include "base/wr.h"
#include "format/flv/flv.h"
#include "media_configs.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static inline void film_tag(struct wr *w, uint8_t type, uint32_t time, const void *body,
                            size_t size)
{
    const struct flv_tag t = { .type = type, .size = (uint32_t)size, .time = time };
    uint8_t head[FLV_TAG_HEADER];

    flv_tag_build(head, &t);
    wr_bytes(w, head, sizeof(head));
    wr_bytes(w, body, size);
    wr_u32(w, (uint32_t)size + FLV_TAG_HEADER);
}

#define FILM_TAG(w, type, time, text) film_tag(w, type, time, text, sizeof(text) - 1)

static inline void film_begin(struct wr *w)
{
    uint8_t head[FLV_FILE_HEADER + FLV_TAG_TRAILER];

    flv_file_build(head, true, true);
    wr_bytes(w, head, sizeof(head));
    FILM_TAG(w, FLV_VIDEO, 0, "\x17\x00\x00\x00\x00" CONFIG_H264);
    FILM_TAG(w, FLV_AUDIO, 0, "\xaf\x00" CONFIG_AAC);
}

/* The frame at a time; `size` of its tag's body. */
static inline void film_frame(struct wr *w, uint32_t time, size_t size)
{
    uint8_t body[256] = { 0x27, 1, 0, 0, 0, 0, 0, 0, 1, 0x41 };

    assert_true(size <= sizeof(body));
    if (time % 1000 == 0) {
        body[0] = 0x17;
        body[9] = 0x65;
    }
    film_tag(w, FLV_VIDEO, time, body, size);
    FILM_TAG(w, FLV_AUDIO, time + 50, "\xaf\x01\xde\xad");
}

/* A file of so many tenths of a second; the frames that are cut off at its end are half there. */
static inline void film_write(const char *folder, const char *name, unsigned tenths, size_t cut)
{
    char path[256];
    struct wr w;
    FILE *f;

    wr_init(&w, 1 << 22);
    film_begin(&w);
    for (unsigned i = 0; i < tenths; i++)
        film_frame(&w, i * 100, 100);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(w.buf, 1, w.len - cut, f), w.len - cut);
    assert_int_equal(fclose(f), 0);
    wr_free(&w);
}

#endif
