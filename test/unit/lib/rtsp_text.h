/* SPDX-License-Identifier: MIT */
/* rtsp_text.h - parses RTSP messages from text, for tests. */
#ifndef RTSP_TEXT_H
#define RTSP_TEXT_H

#include "io_mem.h"
#include "proto/rtsp/reader.h"
#include "unit.h"

#include <string.h>

struct rtsp_text {
    struct rtsp_reader reader;
    struct io_mem m;
};

/* Parses the first message in the text; valid until rtsp_text_free(). */
const struct rtsp_message *rtsp_text_read(struct rtsp_text *t, const void *text, size_t size);

void rtsp_text_free(struct rtsp_text *t);

#endif
