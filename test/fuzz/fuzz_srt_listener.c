/* SPDX-License-Identifier: MIT */
/* fuzz_srt_listener.c - any datagrams into an SRT listener, into its publishers and its players.
 *
 * The input is datagrams, each after three bytes: the change applied to it (see below), and
 * its size. So cookies and ids need not be guessed.
 */
#include "fuzz.h"
#include "serve/srt/impl.h"

#include <assert.h>
#include <string.h>

enum { HEAD = 3, ID_AT = 12, COOKIE_AT = SRT_HEADER + 28, DATAGRAM_MAX = 2048, MOST = 64 };

enum {
    COOKIE = 1,    /* it gets the right cookie */
    OWN_ID = 2,    /* it goes to the existing connection */
    ELSEWHERE = 4, /* it comes from another address */
    LATER = 8,     /* some time passes before it */
    MUCH = 16,     /* more of it */
};

static const char conf[] =
    "listen 1935; srt_server { handshakes 0; default_streamid \"#!::r=live/d,m=publish\"; }"
    "vhost __defaultVhost__ { srt { enabled on; } }"
    "vhost key.com { srt { enabled on; passphrase 0123456789; } }"
    "vhost only.com { srt { enabled on; srt_to_rtmp off; } publish { takeover on; } }";

static struct session_env env;
static struct co_group connections;
static struct srt_service *service;
static struct srt_endpoint endpoint;
static unsigned begun;

static void on_publish(void *arg, const struct conf_vhost *vhost, const struct session_stream *s,
                       struct live_source *src)
{
    (void)arg, (void)vhost, (void)src;
    assert(s->vhost && s->app && s->name && s->param);
    begun++;
}

static void on_unpublish(void *arg, struct live_source *src)
{
    (void)arg, (void)src;
    assert(begun > 0);
    begun--;
}

/* ---- a socket that accepts everything: all output is SRT packets */

static err_t nothing(struct udp *u, const struct udp_in **v, size_t *n)
{
    (void)u, (void)v;
    *n = 0;
    return NULL;
}

static size_t take(struct udp *u, const struct udp_out *v, size_t n)
{
    (void)u;
    for (size_t i = 0; i < n; i++) {
        struct srt_packet p;

        assert(v[i].count > 0 && v[i].iov[0].iov_len >= SRT_HEADER);
        assert(srt_packet_read(&p, v[i].iov[0].iov_base, v[i].iov[0].iov_len));
    }
    return n;
}

static enum co_wake wait(struct udp *u, co_usec timeout)
{
    (void)u;
    return co_park(timeout);
}

static void wake(struct udp *u)
{
    (void)u;
}

static co_usec now(const struct udp *u)
{
    (void)u;
    return co_clock();
}

static const struct udp_ops ops = { "fuzz", nothing, take, wait, wake, now, NULL };

static void begin(void)
{
    static struct udp socket = { .ops = &ops };
    static struct datagram_endpoint *only = &endpoint.base;
    struct datagram_sockets *sockets;
    err_t err;

    fuzz_serve(&env, conf);
    fuzz_time_flies();
    fuzz_no_threads();
    co_group_init(&connections);
    env.connections = &connections;
    env.on_publish = on_publish;
    env.on_unpublish = on_unpublish;
    live_registry_limit(env.streams, 1 << 20);
    /* it is off: there are none */
    err = datagram_sockets_open(&sockets, &srt_protocol, NULL, env.conf, 1);
    assert(!err && sockets->n == 0);
    err = datagram_service_new(&env, sockets);
    assert(!err);
    datagram_sockets_close(sockets);
    service = srt_service_of(&env);
    endpoint.base = (struct datagram_endpoint){ .service = &service->base, .socket = &socket };
    endpoint.service = service;
    endpoint.out.endpoint = &endpoint.base;
    service->base.endpoints = &only;
    service->base.n_endpoints = 1;
}

/* ---- arrivals */

static void put32(uint8_t *at, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(v >> (24 - 8 * i));
}

static uint32_t newest_id(void)
{
    const struct srt_peer *p, *last = NULL;
    uint32_t at = 0;

    while ((p = datagram_slots_next(&service->slots, &at)))
        last = p;
    return last ? last->id : 0;
}

static void pass(co_usec time)
{
    err_t err = co_sleep(time);

    err_free(&err);
}

static void datagram(unsigned how, const uint8_t *data, size_t size)
{
    uint8_t copy[DATAGRAM_MAX];
    struct udp_in in = { .data = copy, .size = size };

    memcpy(copy, data, size);
    in.path.peer = (struct udp_addr){ .ip = { [10] = 255, 255, 10, 0, 0, 1 }, .port = 1000 };
    in.path.peer.port = (uint16_t)(in.path.peer.port + (how & ELSEWHERE));
    in.path.local = (struct udp_addr){ .ip = { [10] = 255, 255, 10, 0, 0, 2 }, .port = 10080 };
    if (how & LATER)
        pass(how & MUCH ? CO_SECONDS(3) : CO_MS(30));
    in.at = co_clock();
    if (how & COOKIE && size >= COOKIE_AT + 4)
        put32(copy + COOKIE_AT, srt_cookie(service->shared->cookie_key, &in.path.peer,
                                           in.at / CO_SECONDS(60)));
    if (how & OWN_ID && size >= ID_AT + 4)
        put32(copy + ID_AT, newest_id());
    srt_endpoint_input(&endpoint.base, &in, 0, in.at);
    srt_endpoint_end_batch(&endpoint.base);
    co_yield();
}

static err_t talk(void *arg)
{
    const uint8_t *at = ((const uint8_t **)arg)[0], *end = ((const uint8_t **)arg)[1];
    err_t err;

    for (int n = 0; n < MOST && end - at > HEAD; n++) {
        size_t size = (size_t)(at[1] << 8 | at[2]), left = (size_t)(end - at) - HEAD;

        size = size < left ? size : left;
        size = size < DATAGRAM_MAX ? size : DATAGRAM_MAX;
        datagram(at[0], at + HEAD, size);
        at += HEAD + size;
    }
    pass(CO_MS(20));
    datagram_clients_close(&service->base, "the end");
    err = co_group_wait(&connections);
    err_free(&err);
    while (service->base.n_peers > 0)
        pass(CO_MS(10));
    pass(CO_SECONDS(2)); /* rejected ones are forgotten */
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *range[2] = { data, data + size };
    err_t err;

    if (!env.conf)
        begin();
    err = fuzz_run(talk, range);
    assert(!err);
    assert(env.publishers == 0 && env.players == 0 && begun == 0 && service->callers.here.n == 0);
    assert(av_packet_live() == 0 && atomic_load(&service->shared->connections) == 0);
    return 0;
}
