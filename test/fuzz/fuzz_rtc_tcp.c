/* SPDX-License-Identifier: MIT */
/* fuzz_rtc_tcp.c - any bytes on a TCP connection for RFC 4571 frames of WebRTC packets: frames in
 * pieces, a first one that is an ICE check or not, and further ones. */
#include "fuzz.h"
#include "serve/rtc/impl.h"

#include <assert.h>
#include <string.h>

static const char conf[] =
    "listen 1935; rtc_server { enabled off; } vhost __defaultVhost__ { rtc { enabled on; } }";

static struct session_env env;
static struct co_group connections;

static void begin(void)
{
    struct datagram_sockets *sockets;
    err_t err;

    fuzz_serve(&env, conf);
    fuzz_time_flies();
    fuzz_no_threads();
    co_group_init(&connections);
    env.connections = &connections;
    /* it is off: there are none */
    err = datagram_sockets_open(&sockets, &rtc_protocol, NULL, env.conf, 1);
    assert(!err && sockets->n == 0);
    err = datagram_service_new(&env, sockets);
    assert(!err);
    datagram_sockets_close(sockets);
}

static err_t serve(void *peer)
{
    struct fuzz_peer *p = peer;

    rtc_service_tcp(rtc_service_of(&env), &p->io, NULL, 0);
    return NULL;
}

/* The first byte: the size of the pieces of the rest. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_peer p;
    err_t err;

    if (!env.conf)
        begin();
    if (size == 0)
        return 0;
    fuzz_peer_init(&p, data + 1, size - 1, data[0]);
    err = fuzz_run(serve, &p);
    assert(!err);
    assert(!rtc_service_of(&env)->base.clients && p.rest.out_size == 0); /* unknown peers get no answer */
    return 0;
}
