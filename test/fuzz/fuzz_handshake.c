/* SPDX-License-Identifier: MIT */
/* fuzz_handshake.c - any bytes as a client's or a server's handshake: both end, and a server with a
 * valid client has answered completely. The first byte selects how the rest is split. */
#include "io_mem.h"
#include "proto/rtmp/handshake.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct io_mem pipe_of(const uint8_t *data, size_t size)
{
    struct io_mem m;

    io_mem_init(&m, data + 1, size - 1);
    m.piece = data[0] * 7;
    m.out_cap = RTMP_HANDSHAKE_S0S1S2;
    return m;
}

/* The input as the beginning of a C1 with a valid version: digests at all positions. */
static void try_digests(const uint8_t *data, size_t size)
{
    uint8_t *c0c1 = calloc(1, RTMP_HANDSHAKE_C0C1), *out = malloc(RTMP_HANDSHAKE_S0S1S2);
    size_t n = size < RTMP_HANDSHAKE_C0C1 ? size : RTMP_HANDSHAKE_C0C1;
    err_t err;

    memcpy(c0c1, data, n);
    c0c1[0] = 3;
    c0c1[5] |= 1;
    err = rtmp_handshake_s0s1s2(c0c1, out, NULL);
    assert(!err);
    assert(rtmp_handshake_s2_ok(c0c1 + 1, out + RTMP_HANDSHAKE_C0C1));
    free(c0c1);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct io_mem m;
    err_t err;

    if (size == 0)
        return 0;
    m = pipe_of(data, size);
    err = rtmp_handshake_server(&m.io);
    assert(!err || err_code(err) == ERR_IO_CLOSED || err_class(err) == ERR_CLASS_PROTO);
    assert(err || m.out_size == RTMP_HANDSHAKE_S0S1S2);
    err_free(&err);
    m = pipe_of(data, size);
    err = rtmp_handshake_client(&m.io);
    assert(!err || err_code(err) == ERR_IO_CLOSED || err_code(err) == ERR_RTMP_HANDSHAKE);
    err_free(&err);
    try_digests(data, size);
    assert(err_live() == 0);
    return 0;
}
