/* SPDX-License-Identifier: MIT */
/* srt_listen.c - an SRT service on loopback, in the test's thread, and its callers. */
#include "srt_listen.h"

struct session_env *srt_env;
struct udp_path srt_at;

void srt_begin(const char *server, const char *vhost)
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

void srt_finish(void)
{
    loopback_end(&srt_env, PROTOCOL_SRT);
}

struct srt_service_stat srt_stat_now(void)
{
    struct srt_service_stat st = { 0 };

    assert_true(srt_counters.read(srt_env, &st));
    return st;
}

uint64_t srt_refused_with(uint32_t code)
{
    return srt_stat_now().refused[srt_refusal_index(code)];
}

/* ---- callers */

void srt_guest_open(struct srt_guest *g, const char *ip)
{
    static const struct udp_opts opts = { 0 };

    *g = (struct srt_guest){ 0 };
    assert_ok(udp_open(&g->socket, ip, 0, &opts));
}

void srt_guest_close(struct srt_guest *g)
{
    udp_close(g->socket);
}

void srt_guest_send(struct srt_guest *g, const void *data, size_t size)
{
    loopback_send(g->socket, &srt_at, data, size);
}

size_t srt_guest_hear(struct srt_guest *g, uint8_t out[2048], co_usec patience)
{
    return loopback_receive(g->socket, out, 2048, patience);
}

void srt_guest_call(struct srt_guest *g, const char *streamid, uint32_t id,
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

uint32_t srt_call_once(const char *streamid, const char *passphrase, unsigned key)
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
