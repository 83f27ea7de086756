/* SPDX-License-Identifier: MIT */
/* flv_file.c - FLV files for tests: tags, one after the other. */
#include "flv_file.h"

void flv_begin(struct wr *w, size_t limit)
{
    uint8_t head[FLV_FILE_HEADER + FLV_TAG_TRAILER];

    wr_init(w, limit);
    flv_file_build(head, true, true);
    wr_bytes(w, head, sizeof(head));
}

void flv_tag(struct wr *w, uint8_t type, uint32_t time, const void *body, size_t size)
{
    const struct flv_tag t = { .type = type, .size = (uint32_t)size, .time = time };
    uint8_t head[FLV_TAG_HEADER];

    flv_tag_build(head, &t);
    wr_bytes(w, head, sizeof(head));
    wr_bytes(w, body, size);
    wr_u32(w, (uint32_t)size + FLV_TAG_HEADER);
}

void flv_key(struct wr *w, uint32_t time, int cts)
{
    uint8_t body[] = { 0x17, 1, 0, 0, (uint8_t)cts, 0, 0, 0, 1, 0x65 };

    flv_tag(w, FLV_VIDEO, time, body, sizeof(body));
}

void flv_inter(struct wr *w, uint32_t time, size_t size)
{
    uint8_t body[4096] = { 0x27, 1, 0, 0, 0, 0, 0, 0, 1, 0x41 };

    flv_tag(w, FLV_VIDEO, time, body, size);
}

void flv_audio(struct wr *w, uint32_t time)
{
    FLV_TAG(w, FLV_AUDIO, time, "\xaf\x01\xde\xad");
}

void flv_configs(struct wr *w)
{
    FLV_TAG(w, FLV_VIDEO, 0, FLV_VIDEO_CONFIG);
    FLV_TAG(w, FLV_AUDIO, 0, FLV_AUDIO_CONFIG);
}
