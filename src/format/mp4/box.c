/* SPDX-License-Identifier: MIT */
/* box.c - boxes of ISO base media files. */
#include "format/mp4/box.h"

size_t mp4_box(struct wr *w, const char *type)
{
    size_t at = w->len;

    wr_u32(w, 0);
    wr_bytes(w, type, 4);
    return at;
}

size_t mp4_full_box(struct wr *w, const char *type, uint8_t version, uint32_t flags)
{
    size_t at = mp4_box(w, type);

    wr_u8(w, version);
    wr_u24(w, flags);
    return at;
}

void mp4_patch32(struct wr *w, size_t at, uint32_t v)
{
    for (int i = 3; !w->bad && i >= 0; v >>= 8)
        w->buf[at + (size_t)i--] = (uint8_t)v;
}

void mp4_end(struct wr *w, size_t at)
{
    mp4_patch32(w, at, (uint32_t)(w->len - at));
}

void mp4_zeros(struct wr *w, size_t n)
{
    while (n-- > 0)
        wr_u8(w, 0);
}

void mp4_matrix(struct wr *w)
{
    static const uint32_t unity[9] = { 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000 };

    for (int i = 0; i < 9; i++)
        wr_u32(w, unity[i]);
}
