/* SPDX-License-Identifier: MIT */
/* srt_listen.h - a service of SRT on loopback, in the thread that tests, and callers of it. */
#ifndef SRT_LISTEN_H
#define SRT_LISTEN_H

#include "co/net/udp.h"
#include "conf_mem.h"
#include "proto/srt/call.h"
#include "serve/srt/impl.h"
#include "session/clients.h"

static struct session_env srt_env;
static struct co_group srt_connections;
static struct udp_path srt_at;
static unsigned srt_begun, srt_ended; /* streams */

static inline void srt_on_publish(void *arg, const struct conf_vhost *vhost,
                                  const struct session_stream *s, struct live_source *src)
{
    (void)arg, (void)vhost, (void)s, (void)src;
    srt_begun++;
}

static inline void srt_on_unpublish(void *arg, struct live_source *src)
{
    (void)arg, (void)src;
    srt_ended++;
}

/* A port of UDP that nobody has. */
static inline int srt_free_port(void)
{
    static const struct udp_opts opts = { 0 };
    struct udp *u;
    int port;

    assert_ok(udp_open(&u, "127.0.0.1", 0, &opts));
    port = u->at.port;
    udp_close(u);
    return port;
}

/* `server` and `vhost`: what else is in these blocks. */
static inline void srt_begin(const char *server, const char *vhost)
{
    struct datagram_sockets *sockets;
    char text[1024];
    int port = srt_free_port();

    (void)snprintf(text, sizeof(text), "listen 1935; srt_server { enabled on; "
                   "listen 127.0.0.1:%d; %s } vhost __defaultVhost__ { srt { enabled on; } %s }"
                   "vhost off.com { }", port, server, vhost);
    srt_env = (struct session_env){ .generation = 1, .connections = &srt_connections,
                                    .on_publish = srt_on_publish, .signature = "us",
                                    .on_unpublish = srt_on_unpublish };
    co_group_init(&srt_connections);
    srt_env.conf = mem_conf(text);
    srt_env.streams = live_registry_new();
    srt_env.clients = clients_new(srt_env.streams, "server");
    srt_begun = srt_ended = 0;
    srt_at = (struct udp_path){ 0 };
    assert_ok(udp_addr_parse(&srt_at.peer, "127.0.0.1", port));
    assert_ok(datagram_sockets_open(&sockets, &srt_protocol, NULL, srt_env.conf, 1));
    assert_ok(datagram_service_new(&srt_env, sockets));
    datagram_sockets_close(sockets);
    assert_non_null(srt_service_of(&srt_env));
}

/* Whichever way it went, nothing is left of anybody. */
static inline void srt_finish(void)
{
    err_t err = co_group_stop(&srt_connections);

    err_free(&err);
    datagram_service_free(srt_env.service[PROTOCOL_SRT]);
    assert_null(srt_service_of(&srt_env));
    assert_int_equal(srt_begun, srt_ended);
    assert_int_equal(srt_env.publishers + srt_env.players, 0);
    assert_int_equal(clients_count_all(srt_env.clients), 0);
    assert_int_equal(live_registry_count(srt_env.streams), 0);
    live_registry_free(srt_env.streams);
    clients_free(srt_env.clients);
    srt_env.conf = conf_unref(srt_env.conf);
    assert_int_equal(conf_live(), 0);
}

static inline struct srt_service_stat srt_stat_now(void)
{
    struct srt_service_stat st = { 0 };

    assert_true(srt_counters.read(&srt_env, &st));
    return st;
}

static inline uint64_t srt_refused_with(uint32_t code)
{
    return srt_stat_now().refused[srt_refusal_place(code)];
}

/* ---- callers */

struct srt_guest {
    struct udp *socket;
    struct srt_call call;
    struct srt_secret secret;
    struct srt_conn conn;
    bool says_no_size; /* of keys: as libsrt, if nobody told it one */
};

static inline void srt_guest_open(struct srt_guest *g, const char *ip)
{
    static const struct udp_opts opts = { 0 };

    *g = (struct srt_guest){ 0 };
    assert_ok(udp_open(&g->socket, ip, 0, &opts));
}

static inline void srt_guest_close(struct srt_guest *g)
{
    udp_close(g->socket);
}

static inline void srt_guest_send(struct srt_guest *g, const void *data, size_t size)
{
    struct iovec iov = { (void *)(uintptr_t)data, size };
    const struct udp_out out = { &iov, 1, 0, &srt_at, UDP_NOT_ECT };

    assert_int_equal(udp_send(g->socket, &out, 1), 1);
}

/* What comes within that time, one: copied, its size; 0: nothing did. */
static inline size_t srt_guest_hear(struct srt_guest *g, uint8_t out[2048], co_usec patience)
{
    co_usec until = co_clock() + patience;
    const struct udp_in *v;
    size_t n;

    do {
        assert_ok(udp_recv_now(g->socket, &v, &n));
        if (n > 0) {
            assert_true(v->size <= 2048);
            memcpy(out, v->data, v->size);
            return v->size;
        }
        (void)udp_wait(g->socket, CO_MS(2));
    } while (co_clock() < until);
    return 0;
}

/* Call, until it is answered or some time is over. */
static inline void srt_guest_call(struct srt_guest *g, const char *streamid, uint32_t id,
                                  uint32_t first_seq, const char *passphrase, unsigned key_size)
{
    const struct srt_call_opts o = {
        .streamid = streamid, .id = id, .first_seq = first_seq, .mss = 1500, .window = 8192,
        .recv_latency = CO_MS(20), .peer_latency = CO_MS(20), .timeout = CO_SECONDS(3),
        .secret = passphrase ? &g->secret : NULL,
    };
    uint8_t data[2048];

    if (passphrase)
        assert_true(srt_secret_new(&g->secret, key_size, passphrase));
    srt_call_begin(&g->call, &o, co_clock());
    while (g->call.state == SRT_CALL_INDUCTION || g->call.state == SRT_CALL_CONCLUSION) {
        struct srt_packet p;
        size_t size;

        while ((size = srt_call_output(&g->call, data, co_clock())) > 0) {
            if (g->says_no_size)
                memset(data + SRT_HEADER + 4, 0, 2);
            srt_guest_send(g, data, size);
        }
        size = srt_guest_hear(g, data, CO_MS(20));
        if (size > 0 && srt_packet_read(&p, data, size))
            srt_call_input(&g->call, &p, co_clock());
    }
}

/* The code by which one that calls is refused; 0: it is let in. */
static inline uint32_t srt_call_once(const char *streamid, const char *passphrase, unsigned key)
{
    struct srt_guest g;
    uint32_t code;

    srt_guest_open(&g, "127.0.0.1");
    srt_guest_call(&g, streamid, 77, 1000, passphrase, key);
    assert_int_not_equal(g.call.state, SRT_CALL_TIMEOUT);
    code = g.call.state == SRT_CALL_DONE ? 0 : g.call.refused;
    srt_guest_close(&g);
    return code;
}

/* Wait until that holds. */
#define srt_until(what) do {                                              \
        co_usec until_ = co_clock() + CO_SECONDS(3);                      \
        while (!(what) && co_clock() < until_)                            \
            assert_ok(co_sleep(CO_MS(2)));                                \
        assert_true(what);                                                \
    } while (0)

#endif
