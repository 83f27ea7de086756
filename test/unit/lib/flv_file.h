/* SPDX-License-Identifier: MIT */
/* flv_file.h - FLV files for tests: tags, one after the other. */
#ifndef FLV_FILE_H
#define FLV_FILE_H

#include "base/wr.h"
#include "format/flv/flv.h"
#include "media_configs.h"

void flv_begin(struct wr *w, size_t limit);
void flv_tag(struct wr *w, uint8_t type, uint32_t time, const void *body, size_t size);

#define FLV_TAG(w, type, time, text) flv_tag(w, type, time, text, sizeof(text) - 1)

#define FLV_VIDEO_CONFIG "\x17\x00\x00\x00\x00" CONFIG_H264
#define FLV_AUDIO_CONFIG "\xaf\x00" CONFIG_AAC

void flv_key(struct wr *w, uint32_t time, int cts);
void flv_inter(struct wr *w, uint32_t time, size_t size);
void flv_audio(struct wr *w, uint32_t time);
void flv_configs(struct wr *w);

#endif
