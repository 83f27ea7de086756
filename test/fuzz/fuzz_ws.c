/* SPDX-License-Identifier: MIT */
/* fuzz_ws.c - WebSocket frames: whole, and in pieces, they must have the same meaning. */
#include "base/wr.h"
#include "proto/http/ws.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAME_MAX = 100000 };

static err_t on_payload(void *arg, const struct http_ws_in *in, const uint8_t *data, size_t size,
                        bool end)
{
    struct wr *w = arg;

    assert(in->size <= FRAME_MAX && in->at <= in->size && size <= in->at);
    assert(end == (in->at == in->size));
    wr_bytes(w, data, size);
    if (end)
        wr_u8(w, in->op);
    return NULL;
}

/* Feeds it in pieces; returns the error code and the output. */
static enum err_code feed(const uint8_t *data, size_t size, size_t piece, bool from_client,
                          struct wr *out)
{
    static const struct http_ws_handler handler = { on_payload };
    uint8_t *copy = malloc(size + 1);
    struct http_ws_in in;
    enum err_code code;
    err_t err = NULL;

    assert(copy);
    memcpy(copy, data, size);
    http_ws_in_init(&in, from_client, FRAME_MAX);
    for (size_t at = 0; at < size && !err; at += piece)
        err = http_ws_feed(&in, copy + at, size - at < piece ? size - at : piece, &handler, out);
    code = err_code(err);
    err_free(&err);
    free(copy);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr whole, cut;
    bool from_client;
    size_t piece;

    if (size < 2)
        return 0;
    from_client = data[0] & 1;
    piece = (size_t)(data[0] >> 1) + 1;
    data++;
    size--;
    wr_init(&whole, 1 << 22);
    wr_init(&cut, 1 << 22);
    assert(feed(data, size, size, from_client, &whole) ==
           feed(data, size, piece, from_client, &cut));
    assert(whole.len == cut.len);
    assert(whole.len == 0 || memcmp(whole.buf, cut.buf, whole.len) == 0);
    wr_free(&whole);
    wr_free(&cut);
    return 0;
}
