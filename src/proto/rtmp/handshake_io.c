/* SPDX-License-Identifier: MIT */
/* handshake_io.c - the RTMP handshake over a pipe.
 *
 * The buffers are on the heap: a coroutine's stack is small, and what it once touched stays.
 */
#include "proto/rtmp/handshake.h"

#include "base/must.h"

#include <stdlib.h>

static uint8_t *buffer(size_t size)
{
    uint8_t *p = must(malloc(size));

    return p;
}

/* Garbage shall end at its first byte, not when 1537 of it are there or a timeout is up. */
static err_t read_c0c1(struct io *io, uint8_t *c0c1)
{
    size_t n;
    err_t err = io_read(io, c0c1, RTMP_HANDSHAKE_C0C1, &n);

    if (err)
        return err_wrap(err, "C0");
    if (c0c1[0] != 3 || n == RTMP_HANDSHAKE_C0C1)
        return NULL; /* what is wrong about it is said when it is answered */
    err = io_read_full(io, c0c1 + n, RTMP_HANDSHAKE_C0C1 - n);
    return err ? err_wrap(err, "C1") : NULL;
}

static err_t answer(struct io *io, const uint8_t *c0c1)
{
    uint8_t *out = buffer(RTMP_HANDSHAKE_S0S1S2);
    err_t err = rtmp_handshake_s0s1s2(c0c1, out, NULL);

    if (!err) {
        err = io_write(io, out, RTMP_HANDSHAKE_S0S1S2);
        if (err)
            err = err_wrap(err, "S0 S1 S2");
    }
    free(out);
    return err;
}

err_t rtmp_handshake_server(struct io *io)
{
    uint8_t *in = buffer(RTMP_HANDSHAKE_C0C1);
    err_t err = read_c0c1(io, in);

    if (!err)
        err = answer(io, in);
    if (!err) { /* what C2 says is of no use to us */
        err = io_read_full(io, in, RTMP_HANDSHAKE_PART);
        if (err)
            err = err_wrap(err, "C2");
    }
    free(in);
    return err ? err_wrap(err, "handshake") : NULL;
}

static err_t client(struct io *io, uint8_t *buf)
{
    err_t err = rtmp_handshake_c0c1(RTMP_SCHEME_SIMPLE, buf);

    if (err)
        return err;
    err = io_write(io, buf, RTMP_HANDSHAKE_C0C1);
    if (err)
        return err_wrap(err, "C0 C1");
    err = io_read_full(io, buf, RTMP_HANDSHAKE_C0C1);
    if (err)
        return err_wrap(err, "S0 S1");
    if (buf[0] != 3)
        return err_new(ERR_RTMP_HANDSHAKE, "server's first byte is 0x%02x, want 0x03", buf[0]);
    err = io_write(io, buf + 1, RTMP_HANDSHAKE_PART); /* the echo of S1 */
    if (err)
        return err_wrap(err, "C2");
    err = io_read_full(io, buf, RTMP_HANDSHAKE_PART);
    return err ? err_wrap(err, "S2") : NULL;
}

err_t rtmp_handshake_client(struct io *io)
{
    uint8_t *buf = buffer(RTMP_HANDSHAKE_C0C1);
    err_t err = client(io, buf);

    free(buf);
    return err ? err_wrap(err, "handshake") : NULL;
}
