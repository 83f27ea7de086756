/* SPDX-License-Identifier: MIT */
/* rtsp_text.c - parses RTSP messages from text, for tests. */
#include "io_mem.h"
#include "rtsp_text.h"

const struct rtsp_message *rtsp_text_read(struct rtsp_text *t, const void *text,
                                                        size_t size)
{
    static const struct rtsp_limits limits = {
        .max_line = 4096, .max_head = 16384, .max_fields = 64, .max_body = 65536,
        .idle_time = CO_FOREVER, .message_time = CO_FOREVER,
    };
    struct rtsp_item item;

    io_mem_init(&t->m, text, size);
    rtsp_reader_init(&t->reader, &t->m.io, &limits);
    assert_ok(rtsp_reader_next(&t->reader, &item));
    assert_int_equal(item.kind, RTSP_ITEM_MESSAGE);
    return item.message;
}

void rtsp_text_free(struct rtsp_text *t)
{
    rtsp_reader_fini(&t->reader);
}
