/* SPDX-License-Identifier: MIT */
/* rtmfp_guest.h - a server of RTMFP in this process, and clients of it over loopback. */
#ifndef RTMFP_GUEST_H
#define RTMFP_GUEST_H

#include "base/container_of.h"
#include "co/thread.h"
#include "loopback.h"
#include "rtmfp_bytes.h"

#include "proto/rtmfp/initiator.h"
#include "serve/rtmfp/peer.h"
#include "session/clients.h"

static struct session_env *env;
static struct udp_path at;

static inline void begin(const char *server)
{
    char text[512];
    int port = loopback_port();

    (void)snprintf(text, sizeof(text), "listen 1935; rtmfp_server { enabled on; "
                   "listen 127.0.0.1:%d; %s } vhost __defaultVhost__ { rtmfp { enabled on; } }",
                   port, server);
    env = loopback_begin(&rtmfp_protocol, PROTOCOL_RTMFP, text);
    at = (struct udp_path){ 0 };
    assert_ok(udp_addr_parse(&at.peer, "127.0.0.1", port));
}

static inline void finish(void)
{
    loopback_end(&env, PROTOCOL_RTMFP);
}

static inline struct rtmfp_service_stat stat_now(void)
{
    struct rtmfp_service_stat st = { 0 };

    assert_true(rtmfp_counters.read(env, &st));
    return st;
}

/* ---- a client */

struct guest {
    struct udp *socket;
    struct rtmfp_identity me;
    struct rtmfp_initiator initiator;
    struct rtmfp_session session;
    struct rtmfp_sealer sealer;
    struct rtmfp_opener opener;
    uint8_t asked[RTMFP_SEALED_MAX], answered[RTMFP_SEALED_MAX]; /* the last two of a handshake */
    size_t asked_size, answered_size;
    uint8_t said[64];     /* the last message to it */
    size_t said_size;
    unsigned messages, forwards; /* to it; Forwarded IHello */
    uint8_t forward[256]; /* the last one's body */
    size_t forward_size;
};

static inline bool guest_accepts(struct rtmfp_session *s, struct rtmfp_flow_in *f,
                          struct rtmfp_bytes metadata, struct rtmfp_flow_out *answers)
{
    (void)s;
    (void)f;
    (void)metadata;
    (void)answers;
    return true;
}

static inline bool guest_takes(struct rtmfp_session *s, struct rtmfp_flow_in *f, const uint8_t *data,
                        size_t size)
{
    struct guest *g = container_of(s, struct guest, session);

    (void)f;
    g->said_size = size < sizeof(g->said) ? size : sizeof(g->said);
    memcpy(g->said, data, g->said_size);
    g->messages++;
    return true;
}

static inline void guest_is_asked_for(struct rtmfp_session *s, struct rtmfp_bytes body)
{
    struct guest *g = container_of(s, struct guest, session);

    g->forward_size = body.n < sizeof(g->forward) ? body.n : sizeof(g->forward);
    memcpy(g->forward, body.p, g->forward_size);
    g->forwards++;
}

static struct rtmfp_startup startup;
static struct rtmfp_dh *dh;
static struct rtmfp_cipher *cipher;
static struct rtmfp_initiator_set set;
static const struct rtmfp_session_ops guest_ops = {
    .opened = guest_accepts, .message = guest_takes, .forwarded = guest_is_asked_for,
};
static const struct rtmfp_session_set sessions = {
    .ops = &guest_ops, .mode = RTMFP_INITIATOR, .ping = CO_SECONDS(20), .timeout = CO_SECONDS(60),
    .message_max = 1 << 20,
};

static inline void send_to(struct guest *g, const void *data, size_t size)
{
    loopback_send(g->socket, &at, data, size);
}

static inline size_t hear(struct guest *g, uint8_t out[RTMFP_DATAGRAM_MAX], co_usec patience)
{
    return loopback_receive(g->socket, out, RTMFP_DATAGRAM_MAX, patience);
}

/* It looks for what the EPD says; `as`: by that certificate, NULL: by one of its own. */
static inline void guest_look_for(struct guest *g, struct rtmfp_bytes epd,
                                  const struct rtmfp_identity *as)
{
    static const struct udp_opts opts = { 0 };
    struct rtmfp_pair pair;

    *g = (struct guest){ 0 };
    assert_ok(udp_open(&g->socket, "127.0.0.1", 0, &opts));
    rtmfp_pair_make(dh, &pair, RTMFP_GROUP_2);
    rtmfp_identity_init(&g->me, false, (const bool[RTMFP_GROUPS]){ true, true, true });
    assert_true(rtmfp_initiator_init(&g->initiator, &set, as ? as : &g->me, &pair, epd,
                                     0x0c000001, &at.peer, co_clock()));
}

static const uint8_t guest_app[] = { 5, 0x0a, 'l', 'i', 'v', 'e' };

static inline void guest_open(struct guest *g)
{
    guest_look_for(g, rtmfp_bytes(guest_app, sizeof(guest_app)), NULL);
}

static inline void guest_close(struct guest *g)
{
    if (g->initiator.state == RTMFP_KEYED)
        rtmfp_session_fini(&g->session);
    rtmfp_initiator_wipe(&g->initiator);
    rtmfp_identity_fini(&g->me);
    udp_close(g->socket);
}

/* The handshake, for so long at most. */
static inline bool guest_greet(struct guest *g, co_usec patience)
{
    co_usec until = co_clock() + patience;
    uint8_t data[RTMFP_DATAGRAM_MAX];
    struct udp_addr to;
    size_t n;

    while (g->initiator.state < RTMFP_KEYED && co_clock() < until) {
        while ((n = rtmfp_initiator_output(&g->initiator, data, &to, co_clock())) > 0) {
            memcpy(g->asked, data, n);
            g->asked_size = n;
            send_to(g, data, n);
        }
        n = hear(g, data, CO_MS(10));
        if (n == 0)
            continue;
        assert_true(n <= sizeof(g->answered));
        memcpy(g->answered, data, n);
        g->answered_size = n;
        rtmfp_initiator_input(&g->initiator, data, n, &at.peer, co_clock());
    }
    if (g->initiator.state != RTMFP_KEYED)
        return false;
    g->sealer.key = g->initiator.send;
    g->opener.key = g->initiator.receive;
    rtmfp_session_init(&g->session, &sessions, &at.peer, co_clock());
    return true;
}

static inline void guest_say(struct guest *g)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;

    while (true) {
        struct wr w = rtmfp_seal_begin(&g->sealer, datagram, sizeof(datagram), RTMFP_PLAIN_MAX);

        if (!rtmfp_session_output(&g->session, &w, &to, co_clock()))
            return;
        send_to(g, datagram, rtmfp_seal(cipher, &g->sealer, g->initiator.far_id, &w));
    }
}

static inline bool guest_hear(struct guest *g)
{
    uint8_t data[RTMFP_DATAGRAM_MAX], out[RTMFP_DATAGRAM_MAX];
    struct rtmfp_bytes plain;
    size_t n = hear(g, data, CO_SECONDS(3));

    if (n == 0 || rtmfp_open(cipher, &g->opener, data, n, out, &plain) != RTMFP_OPENED)
        return false;
    rtmfp_session_input(&g->session, plain, &at.peer, co_clock());
    return true;
}

static inline void guest_ping(struct guest *g)
{
    rtmfp_session_ping(&g->session);
    guest_say(g);
    assert_true(guest_hear(g));
    assert_int_equal(g->session.pings, 0);
}

static inline int guests_start(void **state)
{
    (void)state;
    assert_ok(co_init());
    dh = rtmfp_dh_new();
    cipher = rtmfp_cipher_new();
    set = (struct rtmfp_initiator_set){ .startup = &startup, .dh = dh };
    return !rtmfp_startup_init(&startup);
}

static inline int guests_stop(void **state)
{
    (void)state;
    rtmfp_startup_fini(&startup);
    rtmfp_cipher_free(cipher);
    rtmfp_dh_free(dh);
    co_threads_end(CO_SECONDS(5));
    return 0;
}

#endif
