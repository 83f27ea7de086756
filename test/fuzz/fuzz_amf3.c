/* SPDX-License-Identifier: MIT */
/* fuzz_amf3.c - any bytes as AMF3, which begins in AMF0 with marker 11: as consecutive values,
 * and as the arguments of a command (type 17). */
#include "fuzz.h"
#include "proto/rtmp/amf0.h"
#include "proto/rtmp/command.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void values(const uint8_t *data, size_t size)
{
    uint8_t *v = malloc(size + 1);
    struct amf_value value;
    struct wr again;
    struct amf a;
    struct rd r;
    err_t err;

    v[0] = 0x11;
    memcpy(v + 1, data, size);
    amf_init(&a, 0);
    r = rd_init(v, size + 1);
    err = amf0_read(&a, &r, &value);
    assert(a.used <= AMF_MEMORY);
    if (!err) { /* AMF0 can express it */
        wr_init(&again, 4 << 20);
        amf0_write(&again, &value);
        wr_free(&again);
    }
    err_free(&err);
    amf_free(&a);
    free(v);
}

/* publish with an AMF3 name, as older clients send it. */
static void command(const uint8_t *data, size_t size)
{
    static const uint8_t head[] = "\0\2\0\7publish\0\0\0\0\0\0\0\0\0\5\x11";
    size_t before = sizeof(head) - 1;
    uint8_t *v = malloc(before + size);
    struct rtmp_msg msg = { .type = RTMP_COMMAND_AMF3, .size = (uint32_t)(before + size),
                            .payload = v };
    struct rtmp_command c;
    struct rtmp_play play;
    err_t err;

    memcpy(v, head, before);
    memcpy(v + before, data, size);
    err = rtmp_command_parse(&c, &msg);
    if (!err) {
        rtmp_play_parse(&play, &c);
        rtmp_command_free(&c);
    }
    err_free(&err);
    free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    values(data, size);
    command(data, size);
    assert(err_live() == 0);
    return 0;
}
