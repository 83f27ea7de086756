/* SPDX-License-Identifier: MIT */
/* fuzz_backend.c - any bytes as the response of a backend: read, checked, and searched for urls. */
#include "co/co.h"
#include "io_mem.h"
#include "proto/http/client.h"
#include "session/hooks_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(int status, const char *body, size_t size)
{
    char **urls;
    size_t n;
    err_t err = hooks_verdict(status, body, size);

    assert(!err || err_code(err) == ERR_HOOK_DENIED);
    err_free(&err);
    hooks_forward_urls(body, size, &urls, &n);
    while (n > 0)
        free(urls[--n]);
    free(urls);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    const struct http_call call = { .timeout = CO_SECONDS(1000), .max_reply = 4096,
                                    .cut = size % 2 == 1 };
    struct http_location to;
    struct http_reply reply;
    struct io_mem m;
    err_t err;

    if (!ready) {
        err = co_init();
        assert(!err);
        ready = true;
    }
    err = http_location_parse(&to, "http://h/x");
    assert(!err);
    io_mem_init(&m, data, size);
    m.piece = size % 7;
    m.out_cap = 1 << 20;
    err = http_client_exchange(&reply, &m.io, &to, &call);
    http_location_free(&to);
    if (!err) {
        assert(reply.size <= 4096);
        judge(reply.status, reply.body, reply.size);
        http_reply_free(&reply);
    }
    err_free(&err);
    judge(200, (const char *)data, size); /* directly, too: most bytes are not a response */
    assert(err_live() == 0);
    return 0;
}
