/* SPDX-License-Identifier: MIT */
/* fuzz_rtsp_tunnel.c - base64 and WebSocket frames of RTSP tunnels.
 *
 * The result must not depend on how the input is cut. Bit 0 of the first byte selects WebSocket,
 * the others the size of the pieces.
 */
#include "base/wr.h"
#include "proto/rtsp/tunnel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 22, FRAME_MAX = 100000 };

static enum err_code run(const uint8_t *data, size_t size, size_t piece, bool ws, struct wr *out)
{
    uint8_t *copy = malloc(size + 1);
    struct rtsp_base64 b = { 0 };
    struct rtsp_ws w;
    enum err_code code;
    struct wr reply;
    err_t err = NULL;

    assert(copy);
    memcpy(copy, data, size);
    wr_init(&reply, MOST);
    rtsp_ws_init(&w, true, FRAME_MAX);
    for (size_t at = 0; at < size && !err; at += piece) {
        size_t some = size - at < piece ? size - at : piece, n = 0;

        err = ws ? rtsp_ws_feed(&w, copy + at, some, &n, &reply)
                 : rtsp_base64_feed(&b, copy + at, some, &n);
        assert(n <= some);
        wr_bytes(out, copy + at, n);
    }
    wr_bytes(out, reply.buf, reply.len);
    code = err_code(err);
    err_free(&err);
    wr_free(&reply);
    free(copy);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr whole, cut;
    size_t piece;
    bool ws;

    if (size < 2)
        return 0;
    ws = data[0] & 1;
    piece = (size_t)(data[0] >> 1) + 1;
    wr_init(&whole, MOST);
    wr_init(&cut, MOST);
    assert(run(data + 1, size - 1, size, ws, &whole) == run(data + 1, size - 1, piece, ws, &cut));
    assert(whole.len == cut.len);
    assert(whole.len == 0 || memcmp(whole.buf, cut.buf, whole.len) == 0);
    wr_free(&whole);
    wr_free(&cut);
    assert(err_live() == 0);
    return 0;
}
