/* SPDX-License-Identifier: MIT */
/* fuzz_amf0.c - any bytes as AMF0: reading ends, stays within its memory, and a round trip of the result
 * is identical. */
#include "fuzz.h"
#include "proto/rtmp/amf0.h"
#include "proto/rtmp/command.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const size_t fuzz_input_most = FUZZ_LARGEST;

static void round_trip(const struct amf_value *v)
{
    struct wr once, again;
    struct amf_value v2;
    struct amf a;
    struct rd r;
    err_t err;

    wr_init(&once, 1 << 20);
    wr_init(&again, 1 << 20);
    amf0_write(&once, v);
    assert(!once.bad);
    amf_init(&a, 4 * AMF_MEMORY);
    r = rd_init(once.buf, once.len);
    err = amf0_read(&a, &r, &v2);
    assert(!err && rd_left(&r) == 0);
    amf0_write(&again, &v2);
    assert(again.len == once.len && memcmp(again.buf, once.buf, once.len) == 0);
    amf_free(&a);
    wr_free(&once);
    wr_free(&again);
}

static void try_message(uint8_t type, const uint8_t *data, size_t size)
{
    struct rtmp_msg msg = { .type = type, .size = (uint32_t)size,
                            .payload = (uint8_t *)(uintptr_t)data };
    struct rtmp_connect connect;
    struct rtmp_command c;
    struct rtmp_play play;
    err_t err = rtmp_command_parse(&c, &msg);

    if (!err) {
        rtmp_play_parse(&play, &c);
        err = rtmp_connect_parse(&connect, &c);
        rtmp_command_free(&c);
    }
    err_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    struct amf_value v;
    struct amf a;
    err_t err = NULL;

    amf_init(&a, 0);
    while (!err && rd_left(&r) > 0) {
        err = amf0_read(&a, &r, &v);
        if (!err)
            round_trip(&v);
        assert(a.used <= AMF_MEMORY);
    }
    err_free(&err);
    amf_free(&a);
    try_message(RTMP_COMMAND, data, size);
    try_message(RTMP_COMMAND_AMF3, data, size);
    assert(err_live() == 0);
    return 0;
}
