/* SPDX-License-Identifier: MIT */
/* marker.c - the publisher's clock inside the video. */
#include "tools/load/marker.h"

#include "av/nalu.h"
#include "base/must.h"
#include "tools/load/run.h"

#include <stdlib.h>
#include <string.h>

enum { NAME = 16, TIME = 10, NUMBER = 5, DATA = NAME + TIME + NUMBER, USER_DATA = 5 };

static const uint8_t name[NAME] = { 0xb7, 0x5e, 0x1d, 0x90, 0x6a, 0x42, 0x4f, 0x8c,
                                    0x9e, 0x33, 0xd1, 0x07, 0xac, 0x58, 0xe6, 0x24 };

/* Seven bits a byte, the eighth set, so that no byte is zero. */
static void put(uint8_t *out, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(0x80 | (v >> 7 * (n - 1 - i) & 0x7f));
}

static uint64_t get(const uint8_t *p, size_t n)
{
    uint64_t v = 0;

    for (size_t i = 0; i < n; i++)
        v = v << 7 | (p[i] & 0x7f);
    return v;
}

size_t load_marker_build(uint8_t out[LOAD_MARKER_SIZE], enum av_codec codec,
                         const struct load_marker *m)
{
    const struct nalu_codec *units = av_codec_row(codec)->nalu;
    uint8_t *p = out + 4;

    memcpy(p, units->sei, units->sei_size);
    p += units->sei_size;
    *p++ = USER_DATA;
    *p++ = DATA;
    memcpy(p, name, NAME);
    put(p + NAME, (uint64_t)m->time, TIME);
    put(p + NAME + TIME, m->number, NUMBER);
    p += DATA;
    *p++ = 0x80; /* rbsp_trailing_bits */
    memcpy(out, "\0\0\0", 3);
    out[3] = (uint8_t)(p - out - 4);
    return (size_t)(p - out);
}

void load_marker_put(struct frame *f, uint32_t number)
{
    static uint8_t *marked;
    static size_t cap;
    struct load_marker m = { .number = number, .time = load_wall() };
    size_t n;

    if (f->size + LOAD_MARKER_SIZE > cap) {
        cap = 2 * (f->size + LOAD_MARKER_SIZE);
        marked = must(realloc(marked, cap));
    }
    n = load_marker_build(marked, f->codec, &m);
    memcpy(marked + n, f->data, f->size);
    f->data = marked;
    f->size += n;
}

static bool read_at(struct load_marker *m, const uint8_t *p)
{
    m->time = (int64_t)get(p + NAME, TIME);
    m->number = (uint32_t)get(p + NAME + TIME, NUMBER);
    return true;
}

bool load_marker_find(struct load_marker *m, const uint8_t *head, size_t size)
{
    size_t end = size < LOAD_MARKER_HEAD ? size : LOAD_MARKER_HEAD;

    /* after 5 bytes of FLV header (8 in enhanced coded frames) come length, type, size, name */
    for (size_t at = 5 + 7; at + DATA <= end; at++) {
        if (head[at] == name[0] && memcmp(head + at, name, NAME) == 0)
            return read_at(m, head + at);
    }
    return false;
}

bool load_marker_find_in(struct load_marker *m, const uint8_t *payload, size_t size)
{
    const uint8_t *p = memmem(payload, size, name, NAME);

    return p && (size_t)(p - payload) + DATA <= size && read_at(m, p);
}
