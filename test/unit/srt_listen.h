/* SPDX-License-Identifier: MIT */
/* srt_listen.h - a service of SRT on loopback, in the thread that tests, and callers of it. */
#ifndef SRT_LISTEN_H
#define SRT_LISTEN_H

#include "loopback.h"
#include "proto/srt/call.h"
#include "serve/srt/impl.h"

static struct session_env *srt_env;
static struct udp_path srt_at;

/* `server` and `vhost`: what else is in these blocks. */
static inline void srt_begin(const char *server, const char *vhost)
{
    char text[1024];
    int port = loopback_port();

    (void)snprintf(text, sizeof(text), "listen 1935; srt_server { enabled on; "
                   "listen 127.0.0.1:%d; %s } vhost __defaultVhost__ { srt { enabled on; } %s }"
                   "vhost off.com { }", port, server, vhost);
    srt_env = loopback_begin(&srt_protocol, PROTOCOL_SRT, text);
    srt_at = (struct udp_path){ 0 };
    assert_ok(udp_addr_parse(&srt_at.peer, "127.0.0.1", port));
}

static inline void srt_finish(void)
{
    loopback_end(&srt_env, PROTOCOL_SRT);
}

static inline struct srt_service_stat srt_stat_now(void)
{
    struct srt_service_stat st = { 0 };

    assert_true(srt_counters.read(srt_env, &st));
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
    loopback_send(g->socket, &srt_at, data, size);
}

/* What comes within that time, one: copied, its size; 0: nothing did. */
static inline size_t srt_guest_hear(struct srt_guest *g, uint8_t out[2048], co_usec patience)
{
    return loopback_receive(g->socket, out, 2048, patience);
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

#endif
