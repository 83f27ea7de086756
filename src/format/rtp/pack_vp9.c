/* SPDX-License-Identifier: MIT */
/* pack_vp9.c - VP9: fragments of frames, each after a descriptor, [VP9-RTP] 4.2. */
#include "format/rtp/pack_impl.h"

#include <string.h>

enum { DESCRIPTOR = 3, HAS_ID = 0x80, INTER = 0x40, BEGIN = 0x08, END = 0x04 };

err_t rtp_vp9_pack(struct rtp_packer *p, const struct frame *f)
{
    const uint8_t *from = f->data;
    size_t left = f->size, each = rtp_pack_even(left, p->opts.mtu - DESCRIPTOR);

    p->picture = (p->picture + 1) & 0x7fff;
    while (left > 0) {
        size_t n = left < each ? left : each;
        uint8_t *at = rtp_pack_packet(p, DESCRIPTOR + n, n == left);

        if (!at)
            break;
        at[0] = (uint8_t)(HAS_ID | (f->key ? 0 : INTER) | (left == f->size ? BEGIN : 0) |
                          (n == left ? END : 0));
        at[1] = (uint8_t)(0x80 | p->picture >> 8); /* a PictureID of 15 bits */
        at[2] = (uint8_t)p->picture;
        memcpy(at + DESCRIPTOR, from, n);
        from += n;
        left -= n;
    }
    return NULL;
}
