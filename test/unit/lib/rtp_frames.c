/* SPDX-License-Identifier: MIT */
/* rtp_frames.c - frames that go through RTP packets and back. */
#include "rtp_frames.h"

uint8_t media_frame_buf[MEDIA_FRAME_MAX];

size_t unhex(const char *text, uint8_t *out)
{
    size_t n = 0;

    for (; text[0] && text[1]; text += 2) {
        char two[3] = { text[0], text[1], 0 };

        out[n++] = (uint8_t)strtoul(two, NULL, 16);
    }
    return n;
}
