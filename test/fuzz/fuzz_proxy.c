/* SPDX-License-Identifier: MIT */
/* fuzz_proxy.c - PROXY protocol headers: in pieces and whole they must have the same meaning. */
#include "io_mem.h"
#include "proto/proxy/proxy.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The result with fewer bytes must not contradict the one with more. */
static void grow(const uint8_t *data, size_t size, enum err_code code, size_t took)
{
    struct proxy_peer who;
    size_t need = 0;

    for (size_t n = 0; n <= size && n <= PROXY_MAX + 1; n++) {
        err_t err = proxy_parse(data, n, &who, &need);

        if (err) {
            assert(code != ERR_OK && !who.known);
            err_free(&err);
            return;
        }
        assert(need <= PROXY_MAX);
        if (n >= need) {
            assert(code == ERR_OK && need == took);
            return;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct proxy_peer who, read;
    enum err_code code;
    uint8_t addr[IP_SIZE];
    size_t need = 0;
    struct io_mem m;
    err_t err = proxy_parse(data, size, &who, &need);

    code = err_code(err);
    err_free(&err);
    if (who.known)
        assert(code == ERR_OK && need <= size && ip_parse(who.ip, strlen(who.ip), addr) &&
               who.port >= 0 && who.port <= 65535);
    grow(data, size, code, need);
    io_mem_init(&m, data, size);
    m.piece = size % 5;
    err = proxy_read(&m.io, &read, CO_SECONDS(1000));
    assert(!err == (code == ERR_OK && need <= size));
    if (!err)
        assert(m.in_size == size - need && memcmp(&read, &who, sizeof(who)) == 0);
    err_free(&err);
    assert(err_live() == 0);
    return 0;
}
