/* SPDX-License-Identifier: MIT */
/* rtmfp_guest.c - an RTMFP server in this process, and its clients over loopback. */
#include "rtmfp_guest.h"

const uint8_t guest_app[GUEST_APP] = { 5, 0x0a, 'l', 'i', 'v', 'e' };

struct session_env *guests_env;
struct udp_path guests_at;

void guests_begin(const char *server)
{
    char text[512];
    int port = loopback_port();

    (void)snprintf(text, sizeof(text), "listen 1935; rtmfp_server { enabled on; "
                   "listen 127.0.0.1:%d; %s } vhost __defaultVhost__ { rtmfp { enabled on; } }",
                   port, server);
    guests_env = loopback_begin(&rtmfp_protocol, PROTOCOL_RTMFP, text);
    guests_at = (struct udp_path){ 0 };
    assert_ok(udp_addr_parse(&guests_at.peer, "127.0.0.1", port));
}

void guests_finish(void)
{
    loopback_end(&guests_env, PROTOCOL_RTMFP);
}

struct rtmfp_service_stat guests_stat(void)
{
    struct rtmfp_service_stat st = { 0 };

    assert_true(rtmfp_counters.read(guests_env, &st));
    return st;
}

/* ---- a client */

static bool guest_accepts(struct rtmfp_session *s, struct rtmfp_flow_in *f,
                          struct rtmfp_bytes metadata, struct rtmfp_flow_out *answers)
{
    (void)s;
    (void)f;
    (void)metadata;
    (void)answers;
    return true;
}

static bool guest_takes(struct rtmfp_session *s, struct rtmfp_flow_in *f, const uint8_t *data,
                        size_t size)
{
    struct guest *g = container_of(s, struct guest, session);

    (void)f;
    g->said_size = size < sizeof(g->said) ? size : sizeof(g->said);
    memcpy(g->said, data, g->said_size);
    g->messages++;
    return true;
}

static void guest_is_asked_for(struct rtmfp_session *s, struct rtmfp_bytes body)
{
    struct guest *g = container_of(s, struct guest, session);

    g->forward_size = body.n < sizeof(g->forward) ? body.n : sizeof(g->forward);
    memcpy(g->forward, body.p, g->forward_size);
    g->forwards++;
}

struct rtmfp_startup guests_startup;
struct rtmfp_dh *guests_dh;
struct rtmfp_cipher *guests_cipher;
struct rtmfp_initiator_set guests_set;
static const struct rtmfp_session_ops guest_ops = {
    .opened = guest_accepts, .message = guest_takes, .forwarded = guest_is_asked_for,
};
static const struct rtmfp_session_set guests_sessions = {
    .ops = &guest_ops, .mode = RTMFP_INITIATOR, .ping = CO_SECONDS(20), .timeout = CO_SECONDS(60),
    .message_max = 1 << 20,
};

void guest_send(struct guest *g, const void *data, size_t size)
{
    loopback_send(g->socket, &guests_at, data, size);
}

size_t guest_receive(struct guest *g, uint8_t out[RTMFP_DATAGRAM_MAX], co_usec patience)
{
    return loopback_receive(g->socket, out, RTMFP_DATAGRAM_MAX, patience);
}

void guest_look_for(struct guest *g, struct rtmfp_bytes epd,
                                  const struct rtmfp_identity *as)
{
    static const struct udp_opts opts = { 0 };
    struct rtmfp_pair pair;

    *g = (struct guest){ 0 };
    assert_ok(udp_open(&g->socket, "127.0.0.1", 0, &opts));
    rtmfp_pair_make(guests_dh, &pair, RTMFP_GROUP_2);
    rtmfp_identity_init(&g->me, false, (const bool[RTMFP_GROUPS]){ true, true, true });
    assert_true(rtmfp_initiator_init(&g->initiator, &guests_set, as ? as : &g->me, &pair, epd,
                                     0x0c000001, &guests_at.peer, co_clock()));
}

void guest_open(struct guest *g)
{
    guest_look_for(g, rtmfp_bytes(guest_app, GUEST_APP), NULL);
}

void guest_close(struct guest *g)
{
    if (g->initiator.state == RTMFP_KEYED)
        rtmfp_session_fini(&g->session);
    rtmfp_initiator_wipe(&g->initiator);
    rtmfp_identity_fini(&g->me);
    udp_close(g->socket);
}

bool guest_greet(struct guest *g, co_usec patience)
{
    co_usec until = co_clock() + patience;
    uint8_t data[RTMFP_DATAGRAM_MAX];
    struct udp_addr to;
    size_t n;

    while (g->initiator.state < RTMFP_KEYED && co_clock() < until) {
        while ((n = rtmfp_initiator_output(&g->initiator, data, &to, co_clock())) > 0) {
            memcpy(g->asked, data, n);
            g->asked_size = n;
            guest_send(g, data, n);
        }
        n = guest_receive(g, data, CO_MS(10));
        if (n == 0)
            continue;
        assert_true(n <= sizeof(g->answered));
        memcpy(g->answered, data, n);
        g->answered_size = n;
        rtmfp_initiator_input(&g->initiator, data, n, &guests_at.peer, co_clock());
    }
    if (g->initiator.state != RTMFP_KEYED)
        return false;
    g->sealer.key = g->initiator.send;
    g->opener.key = g->initiator.receive;
    rtmfp_session_init(&g->session, &guests_sessions, &guests_at.peer, co_clock());
    return true;
}

void guest_say(struct guest *g)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;

    while (true) {
        struct wr w = rtmfp_seal_begin(&g->sealer, datagram, sizeof(datagram), RTMFP_PLAIN_MAX);

        if (!rtmfp_session_output(&g->session, &w, &to, co_clock()))
            return;
        guest_send(g, datagram, rtmfp_seal(guests_cipher, &g->sealer, g->initiator.far_id, &w));
    }
}

bool guest_hear(struct guest *g)
{
    uint8_t data[RTMFP_DATAGRAM_MAX], out[RTMFP_DATAGRAM_MAX];
    struct rtmfp_bytes plain;
    size_t n = guest_receive(g, data, CO_SECONDS(3));

    if (n == 0 || rtmfp_open(guests_cipher, &g->opener, data, n, out, &plain) != RTMFP_OPENED)
        return false;
    rtmfp_session_input(&g->session, plain, &guests_at.peer, co_clock());
    return true;
}

void guest_ping(struct guest *g)
{
    rtmfp_session_ping(&g->session);
    guest_say(g);
    assert_true(guest_hear(g));
    assert_int_equal(g->session.pings, 0);
}

int guests_start(void **state)
{
    (void)state;
    assert_ok(co_init());
    guests_dh = rtmfp_dh_new();
    guests_cipher = rtmfp_cipher_new();
    guests_set = (struct rtmfp_initiator_set){ .startup = &guests_startup, .dh = guests_dh };
    return !rtmfp_startup_init(&guests_startup);
}

int guests_stop(void **state)
{
    (void)state;
    rtmfp_startup_fini(&guests_startup);
    rtmfp_cipher_free(guests_cipher);
    rtmfp_dh_free(guests_dh);
    co_threads_end(CO_SECONDS(5));
    return 0;
}
