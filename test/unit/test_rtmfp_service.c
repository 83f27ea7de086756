/* SPDX-License-Identifier: MIT */
/* test_rtmfp_service.c - clients of RTMFP over loopback: handshakes, repeats of them, pings, the
 * end from either side, limits, strangers.
 */
#include "co/thread.h"
#include "conf_mem.h"
#include "rtmfp_bytes.h"

#include "proto/rtmfp/initiator.h"
#include "serve/rtmfp/peer.h"
#include "session/clients.h"

static struct session_env env;
static struct co_group connections;
static struct udp_path at;

static int free_port(void)
{
    static const struct udp_opts opts = { 0 };
    struct udp *u;
    int port;

    assert_ok(udp_open(&u, "127.0.0.1", 0, &opts));
    port = u->at.port;
    udp_close(u);
    return port;
}

static void begin(const char *server)
{
    struct datagram_sockets *sockets;
    char text[512];
    int port = free_port();

    (void)snprintf(text, sizeof(text), "listen 1935; rtmfp_server { enabled on; "
                   "listen 127.0.0.1:%d; %s } vhost __defaultVhost__ { rtmfp { enabled on; } }",
                   port, server);
    env = (struct session_env){ .generation = 1, .connections = &connections, .signature = "us" };
    co_group_init(&connections);
    env.conf = mem_conf(text);
    env.streams = live_registry_new();
    env.clients = clients_new(env.streams, "server");
    at = (struct udp_path){ 0 };
    assert_ok(udp_addr_parse(&at.peer, "127.0.0.1", port));
    assert_ok(datagram_sockets_open(&sockets, &rtmfp_protocol, NULL, env.conf, 1));
    assert_ok(datagram_service_new(&env, sockets));
    datagram_sockets_close(sockets);
    assert_non_null(env.rtmfp);
}

static void finish(void)
{
    err_t err = co_group_stop(&connections);

    err_free(&err);
    datagram_service_free(rtmfp_protocol.of(&env));
    assert_null(env.rtmfp);
    live_registry_free(env.streams);
    clients_free(env.clients);
    env.conf = conf_unref(env.conf);
    assert_int_equal(conf_live(), 0);
}

static struct rtmfp_service_stat stat_now(void)
{
    struct rtmfp_service_stat st;

    rtmfp_service_stat(env.rtmfp, &st);
    return st;
}

#define UNTIL(what) do {                                                  \
        co_usec until_ = co_clock() + CO_SECONDS(5);                      \
        while (!(what) && co_clock() < until_)                            \
            assert_ok(co_sleep(CO_MS(2)));                                \
        assert_true(what);                                                \
    } while (0)

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
};

static struct rtmfp_startup startup;
static struct rtmfp_dh *dh;
static struct rtmfp_cipher *cipher;
static struct rtmfp_initiator_set set;
static const struct rtmfp_session_ops no_ops;
static const struct rtmfp_session_set sessions = {
    .ops = &no_ops, .mode = RTMFP_INITIATOR, .ping = CO_SECONDS(20), .timeout = CO_SECONDS(60),
    .message_max = 1 << 20,
};

static void send_to(struct guest *g, const void *data, size_t size)
{
    struct iovec iov = { (void *)(uintptr_t)data, size };
    const struct udp_out out = { &iov, 1, 0, &at, UDP_NOT_ECT };

    assert_int_equal(udp_send(g->socket, &out, 1), 1);
}

static size_t hear(struct guest *g, uint8_t out[RTMFP_DATAGRAM_MAX], co_usec patience)
{
    co_usec until = co_clock() + patience;
    const struct udp_in *v;
    size_t n;

    do {
        assert_ok(udp_recv_now(g->socket, &v, &n));
        if (n > 0) {
            memcpy(out, v->data, v->size);
            return v->size;
        }
        (void)udp_wait(g->socket, CO_MS(2));
    } while (co_clock() < until);
    return 0;
}

static void guest_open(struct guest *g)
{
    static const uint8_t epd[] = { 5, 0x0a, 'l', 'i', 'v', 'e' };
    static const struct udp_opts opts = { 0 };
    struct rtmfp_pair pair;

    *g = (struct guest){ 0 };
    assert_ok(udp_open(&g->socket, "127.0.0.1", 0, &opts));
    rtmfp_pair_make(dh, &pair, RTMFP_GROUP_2);
    rtmfp_identity_init(&g->me, false, (const bool[RTMFP_GROUPS]){ true, true, true });
    assert_true(rtmfp_initiator_init(&g->initiator, &set, &g->me, &pair,
                                     rtmfp_bytes(epd, sizeof(epd)), 0x0c000001, &at.peer,
                                     co_clock()));
}

static void guest_close(struct guest *g)
{
    if (g->initiator.state == RTMFP_KEYED)
        rtmfp_session_fini(&g->session);
    rtmfp_initiator_wipe(&g->initiator);
    rtmfp_identity_fini(&g->me);
    udp_close(g->socket);
}

/* The handshake, for so long at most. */
static bool guest_greet(struct guest *g, co_usec patience)
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

static void guest_say(struct guest *g)
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

static bool guest_hear(struct guest *g)
{
    uint8_t data[RTMFP_DATAGRAM_MAX], out[RTMFP_DATAGRAM_MAX];
    struct rtmfp_bytes plain;
    size_t n = hear(g, data, CO_SECONDS(3));

    if (n == 0 || rtmfp_open(cipher, &g->opener, data, n, out, &plain) != RTMFP_OPENED)
        return false;
    rtmfp_session_input(&g->session, plain, &at.peer, co_clock());
    return true;
}

static void guest_ping(struct guest *g)
{
    rtmfp_session_ping(&g->session);
    guest_say(g);
    assert_true(guest_hear(g));
    assert_int_equal(g->session.pings, 0);
}

/* ---- tests */

static void test_a_client_opens_pings_and_closes(void **state)
{
    static struct guest g;

    (void)state;
    begin("");
    guest_open(&g);
    assert_true(guest_greet(&g, CO_SECONDS(5)));
    assert_int_equal(stat_now().opened, 1);
    assert_int_equal(stat_now().sessions, 1);
    guest_ping(&g);
    rtmfp_session_close(&g.session, co_clock());
    guest_say(&g);
    assert_true(guest_hear(&g));
    assert_int_equal(g.session.state, RTMFP_CLOSED);
    UNTIL(stat_now().sessions == 0);
    assert_int_equal(stat_now().ended[RTMFP_ENDED_THERE], 1);
    guest_close(&g);
    finish();
}

static void test_a_repeat_has_the_same_answer_until_the_session_speaks(void **state)
{
    uint8_t data[RTMFP_DATAGRAM_MAX];
    static struct rtmfp_startup other;
    struct rtmfp_packet first, second;
    struct rtmfp_chunk a, b;
    static struct guest g;
    size_t n;

    (void)state;
    begin("");
    guest_open(&g);
    assert_true(guest_greet(&g, CO_SECONDS(5)));
    send_to(&g, g.asked, g.asked_size);
    n = hear(&g, data, CO_SECONDS(3));
    assert_true(rtmfp_startup_init(&other));
    assert_true(rtmfp_startup_open(&startup, g.answered, g.answered_size, &first));
    assert_true(rtmfp_startup_open(&other, data, n, &second));
    assert_true(rtmfp_chunk_next(&first, &a));
    assert_true(rtmfp_chunk_next(&second, &b));
    assert_int_equal(a.body.n, b.body.n);
    assert_memory_equal(a.body.p, b.body.p, a.body.n);
    rtmfp_startup_fini(&other);
    assert_int_equal(stat_now().repeats, 1);
    assert_int_equal(stat_now().opened, 1);
    guest_ping(&g);
    send_to(&g, g.asked, g.asked_size);
    UNTIL(stat_now().drops[RTMFP_DROP_ANSWERED] == 1);
    guest_close(&g);
    finish();
}

static void test_sessions_are_limited(void **state)
{
    static const char *const limits[] = { "max_sessions 1;", "max_sessions_ip 1;" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        static struct guest a, b;

        begin(limits[i]);
        guest_open(&a);
        guest_open(&b);
        assert_true(guest_greet(&a, CO_SECONDS(5)));
        assert_false(guest_greet(&b, CO_MS(50)));
        assert_int_equal(stat_now().drops[RTMFP_DROP_LIMIT], 1);
        guest_close(&a);
        guest_close(&b);
        finish();
    }
}

static void test_who_has_closed_makes_room(void **state)
{
    static struct guest a, b;

    (void)state;
    begin("max_sessions 1; max_sessions_ip 1;");
    guest_open(&a);
    guest_open(&b);
    assert_true(guest_greet(&a, CO_SECONDS(5)));
    guest_ping(&a);
    rtmfp_session_close(&a.session, co_clock());
    guest_say(&a);
    UNTIL(stat_now().sessions == 0);
    assert_true(guest_greet(&b, CO_SECONDS(5))); /* while the other one lingers */
    assert_int_equal(stat_now().drops[RTMFP_DROP_LIMIT], 0);
    guest_close(&a);
    guest_close(&b);
    finish();
}

static void test_startup_packets_are_limited(void **state)
{
    static struct guest g;

    (void)state;
    begin("max_startup_ip 1;");
    guest_open(&g);
    assert_true(guest_greet(&g, CO_SECONDS(5))); /* two packets */
    send_to(&g, g.asked, g.asked_size);
    UNTIL(stat_now().startup_limited == 1);
    guest_close(&g);
    finish();
}

static void test_what_is_nobodys_is_counted_and_dropped(void **state)
{
    uint8_t odd[64] = { 1, 2, 3, 4 }, data[RTMFP_DATAGRAM_MAX];
    static struct guest g;

    (void)state;
    begin("");
    guest_open(&g);
    send_to(&g, odd, 3);
    send_to(&g, odd, 36);
    UNTIL(stat_now().bad[RTMFP_BAD_SIZES] == 1);
    UNTIL(stat_now().bad[RTMFP_BAD_STRANGER] == 1);
    assert_int_equal(hear(&g, data, CO_MS(10)), 0);
    guest_close(&g);
    finish();
}

static void test_a_server_that_quits_says_so(void **state)
{
    static struct guest g;

    (void)state;
    begin("");
    guest_open(&g);
    assert_true(guest_greet(&g, CO_SECONDS(5)));
    guest_ping(&g);
    finish();
    assert_true(guest_hear(&g));
    assert_int_equal(g.session.end, RTMFP_ENDED_THERE);
    guest_close(&g);
}

static int start(void **state)
{
    (void)state;
    assert_ok(co_init());
    dh = rtmfp_dh_new();
    cipher = rtmfp_cipher_new();
    set = (struct rtmfp_initiator_set){ .startup = &startup, .dh = dh };
    return !rtmfp_startup_init(&startup);
}

static int stop(void **state)
{
    (void)state;
    rtmfp_startup_fini(&startup);
    rtmfp_cipher_free(cipher);
    rtmfp_dh_free(dh);
    co_threads_end(CO_SECONDS(5));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_client_opens_pings_and_closes),
        TEST(test_a_repeat_has_the_same_answer_until_the_session_speaks),
        TEST(test_sessions_are_limited),
        TEST(test_who_has_closed_makes_room),
        TEST(test_startup_packets_are_limited),
        TEST(test_what_is_nobodys_is_counted_and_dropped),
        TEST(test_a_server_that_quits_says_so),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
