/* SPDX-License-Identifier: MIT */
/* test_srt_service.c - SRT callers over loopback: admission, rejections and their reasons, repeated
 * calls, floods, unknown peers, and the end. */
#include "co/thread.h"
#include "session/guard.h"
#include "srt_listen.h"

#define PUBLISH "#!::r=live/s,m=publish"
#define SECRET "a long enough secret"

/* ---- admission */

static void test_a_publisher_is_let_in_and_leaves(void **state)
{
    struct srt_guest g;
    uint8_t bye[SRT_HEADER + 4] = { 0 };

    (void)state;
    srt_begin("", "");
    srt_guest_open(&g, "127.0.0.1");
    srt_guest_call(&g, PUBLISH, 77, 0x7ffffff0, NULL, 0);
    assert_int_equal(g.call.state, SRT_CALL_DONE);
    assert_int_equal(g.call.agreed.send_latency, CO_MS(120)); /* recvlatency is more than it requests */
    assert_int_equal(srt_env->publishers, 1);
    assert_int_equal(env_published(srt_env)->begun, 1);
    assert_int_equal(srt_stat_now().publishers, 1);
    srt_packet_write(&(struct srt_packet){ .control = true, .type = SRT_SHUTDOWN,
                                           .to = g.call.agreed.peer_id }, bye);
    srt_guest_send(&g, bye, sizeof(bye));
    UNTIL(srt_env->publishers == 0);
    UNTIL(srt_stat_now().connections == 0);
    srt_guest_close(&g);
    srt_finish();
}

static void test_refusals_have_their_codes(void **state)
{
    static const struct {
        const char *server, *vhost, *streamid;
        const char *passphrase;
        unsigned key;
        uint32_t code;
    } rows[] = {
        { "", "", PUBLISH, NULL, 0, 0 },
        { "", "", "#!:{r:{}}", NULL, 0, SRT_REFUSED_BAD_REQUEST },
        { "", "", "#!::r=live/s,m=bidirectional", NULL, 0, SRT_REFUSED_BAD_MODE },
        { "", "", "#!::r=live/s,m=publish,t=file", NULL, 0, SRT_REFUSED_MEDIA_TYPE },
        { "", "", "#!::h=off.com,r=live/s,m=publish", NULL, 0, SRT_REFUSED_FORBIDDEN },
        { "", "security { enabled on; deny publish all; }", PUBLISH, NULL, 0,
          SRT_REFUSED_FORBIDDEN },
        { "max_connections 1;", "", PUBLISH, NULL, 0, 0 },
        { "", "", PUBLISH, SECRET, 16, SRT_REFUSED_UNSECURE },
        { "passphrase \"" SECRET "\";", "", PUBLISH, NULL, 0, SRT_REFUSED_UNSECURE },
        { "passphrase \"" SECRET "\";", "", PUBLISH, SECRET "!", 16, SRT_REFUSED_PASSPHRASE },
        { "passphrase \"" SECRET "\";", "", PUBLISH, SECRET, 16, 0 },
        { "passphrase \"" SECRET "\";", "", PUBLISH, SECRET, 24, 0 },
        { "passphrase \"" SECRET "\";", "", PUBLISH, SECRET, 32, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t code;

        srt_begin(rows[i].server, rows[i].vhost);
        code = srt_call_once(rows[i].streamid, rows[i].passphrase, rows[i].key);
        if (code != rows[i].code)
            fail_msg("row %zu: %u", i, code);
        if (code)
            assert_int_equal(srt_refused_with(code), 1);
        srt_finish();
    }
}

/* A server without `pbkeylen` sends none, and so does a caller without a setting: its
 * keys do. */
static void test_the_size_of_keys_need_not_be_said(void **state)
{
    static const unsigned sizes[] = { 16, 24, 32 };

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct srt_guest g;

        srt_begin("passphrase \"" SECRET "\";", "");
        srt_guest_open(&g, "127.0.0.1");
        g.says_no_size = true;
        srt_guest_call(&g, PUBLISH, 77, 1000, SECRET, sizes[i]);
        assert_int_equal(g.call.state, SRT_CALL_DONE);
        srt_guest_close(&g);
        srt_finish();
    }
}

static void test_one_stream_has_one_publisher(void **state)
{
    (void)state;
    srt_begin("", "publish { takeover off; }");
    assert_int_equal(srt_call_once(PUBLISH, NULL, 0), 0);
    assert_int_equal(srt_call_once(PUBLISH, NULL, 0), SRT_REFUSED_CONFLICT);
    assert_int_equal(srt_call_once("#!::r=live/other,m=publish", NULL, 0), 0);
    srt_finish();
}

/* ---- limits */

static void test_connections_are_limited(void **state)
{
    static const char *const of_one_address[] = {
        "max_ip 1;", "max_connections 2; } limits { limit_private on;",
    };

    (void)state;
    srt_begin("max_connections 1;", "");
    assert_int_equal(srt_call_once(PUBLISH, NULL, 0), 0);
    assert_int_equal(srt_call_once("#!::r=live/b,m=publish", NULL, 0), SRT_REFUSED_BACKLOG);
    srt_finish();
    for (size_t i = 0; i < COUNT(of_one_address); i++) {
        srt_begin(of_one_address[i], "");
        assert_int_equal(srt_call_once(PUBLISH, NULL, 0), 0);
        assert_int_equal(srt_call_once("#!::r=live/b,m=publish", NULL, 0), SRT_REFUSED_OVERLOAD);
        srt_finish();
    }
}

static void test_who_is_refused_is_answered_from_memory(void **state)
{
    (void)state;
    srt_begin("passphrase \"" SECRET "\";", "");
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(srt_call_once(PUBLISH, "another one!", 16), SRT_REFUSED_PASSPHRASE);
    assert_int_equal(srt_stat_now().key_jobs, 1);
    assert_int_equal(srt_refused_with(SRT_REFUSED_PASSPHRASE), 5);
    srt_finish();
}

/* Two wrong ones lock the address: the right one is rejected then, and no key is derived. */
static void test_who_guesses_is_locked(void **state)
{
    static const char *const streams[] = { "#!::r=live/a,m=publish", "#!::r=live/b,m=publish" };

    (void)state;
    srt_begin("passphrase \"" SECRET "\"; } limits { wrong_secrets 2;", "");
    srt_env->guard = guard_new();
    for (size_t i = 0; i < COUNT(streams); i++)
        assert_int_equal(srt_call_once(streams[i], "another one!", 16),
                         SRT_REFUSED_PASSPHRASE);
    assert_int_equal(srt_stat_now().key_jobs, 2);
    assert_int_equal(srt_call_once(PUBLISH, SECRET, 16), SRT_REFUSED_PASSPHRASE);
    assert_int_equal(srt_stat_now().key_jobs, 2);
    assert_int_equal(guard_locked(srt_env->guard, GUARD_SRT, "127.0.0.2", co_clock()), 0);
    guard_free(srt_env->guard);
    srt_env->guard = NULL;
    srt_finish();
}

static void test_a_quitting_server_says_so(void **state)
{
    (void)state;
    srt_begin("", "");
    datagram_service_refuse(&srt_service_of(srt_env)->base);
    assert_int_equal(srt_call_once(PUBLISH, NULL, 0), SRT_REFUSED_CLOSING);
    srt_finish();
}

/* ---- repeated calls */

/* The conclusion of a caller that ignores the answer. */
static size_t conclusion(struct srt_guest *g, uint32_t first_seq, uint8_t out[SRT_HANDSHAKE_MAX])
{
    const struct srt_call_opts o = { .streamid = PUBLISH, .id = 9, .first_seq = first_seq,
                                     .mss = 1500, .window = 8192, .timeout = CO_SECONDS(3) };
    uint8_t data[2048];
    struct srt_packet p;
    size_t size;

    srt_call_begin(&g->call, &o, co_clock());
    size = srt_call_output(&g->call, out, co_clock());
    srt_guest_send(g, out, size);
    size = srt_guest_hear(g, data, CO_SECONDS(1));
    assert_true(srt_packet_read(&p, data, size));
    assert_int_equal(size, SRT_HEADER + SRT_HANDSHAKE_BODY);
    srt_call_input(&g->call, &p, co_clock());
    return srt_call_output(&g->call, out, co_clock());
}

/* A server, and some that have not called yet, each with a separate socket. */
static void begin_with(const char *vhost, struct srt_guest *v, unsigned n, const char *const *ips)
{
    srt_begin("", vhost);
    for (unsigned i = 0; i < n; i++)
        srt_guest_open(&v[i], ips[i]);
}

static const char *const one_host[] = { "127.0.0.1", "127.0.0.1" };
static const char *const two_hosts[] = { "127.0.0.1", "127.0.0.2" };

static void test_a_conclusion_that_comes_again_has_the_same_answer(void **state)
{
    uint8_t data[SRT_HANDSHAKE_MAX], first[2048], second[2048];
    struct srt_guest g;
    size_t size, n;

    (void)state;
    begin_with("", &g, 1, one_host);
    size = conclusion(&g, 1000, data);
    srt_guest_send(&g, data, size);
    n = srt_guest_hear(&g, first, CO_SECONDS(1));
    assert_true(n > 0);
    srt_guest_send(&g, data, size);
    assert_int_equal(srt_guest_hear(&g, second, CO_SECONDS(1)), n);
    assert_memory_equal(first, second, 8); /* the time follows it */
    assert_memory_equal(first + 12, second + 12, n - 12);
    assert_int_equal(srt_stat_now().connections, 1);
    srt_guest_close(&g);
    srt_finish();
}

static void test_a_socket_that_calls_again_replaces_itself(void **state)
{
    uint8_t data[SRT_HANDSHAKE_MAX], heard[2048];
    struct srt_guest g;
    size_t size;

    (void)state;
    begin_with("publish { takeover on; }", &g, 1, one_host);
    size = conclusion(&g, 1000, data);
    srt_guest_send(&g, data, size);
    assert_true(srt_guest_hear(&g, heard, CO_SECONDS(1)) > 0);
    size = conclusion(&g, 2000, data);
    srt_guest_send(&g, data, size);
    UNTIL(env_published(srt_env)->begun == 2);
    UNTIL(srt_stat_now().connections == 1);
    srt_guest_close(&g);
    srt_finish();
}

/* ---- unknown peers */

static void test_a_cookie_is_of_its_address(void **state)
{
    uint8_t data[SRT_HANDSHAKE_MAX], heard[2048];
    struct srt_guest v[2];
    size_t size;

    (void)state;
    begin_with("", v, 2, two_hosts);
    size = conclusion(&v[0], 1000, data);
    srt_guest_send(&v[1], data, size);
    assert_int_equal(srt_guest_hear(&v[1], heard, CO_MS(20)), 0);
    assert_int_equal(srt_stat_now().bad_cookies, 1);
    assert_int_equal(srt_stat_now().connections, 0);
    srt_guest_close(&v[0]);
    srt_guest_close(&v[1]);
    srt_finish();
}

static void test_packets_of_others_are_counted_and_dropped(void **state)
{
    uint8_t bye[SRT_HEADER + 4] = { 0 }, odd[2048] = { 0 };
    struct srt_guest v[2];

    (void)state;
    begin_with("", v, 2, one_host);
    srt_guest_call(&v[0], PUBLISH, 77, 1000, NULL, 0);
    srt_packet_write(&(struct srt_packet){ .control = true, .type = SRT_SHUTDOWN,
                                           .to = v[0].call.agreed.peer_id }, bye);
    srt_guest_send(&v[1], bye, sizeof(bye));  /* not its address */
    srt_guest_send(&v[1], odd, 15);           /* no packet */
    srt_guest_send(&v[1], odd, 2048);         /* data to no session */
    srt_packet_write(&(struct srt_packet){ .control = true, .type = SRT_SHUTDOWN,
                                           .to = v[0].call.agreed.peer_id + 1 }, bye);
    srt_guest_send(&v[0], bye, sizeof(bye));      /* an unused id */
    UNTIL(srt_stat_now().strangers == 4);
    assert_int_equal(srt_env->publishers, 1);
    srt_guest_close(&v[0]);
    srt_guest_close(&v[1]);
    srt_finish();
}

static void test_a_flood_leaves_nothing(void **state)
{
    enum { N = 2000 };
    uint8_t data[SRT_HANDSHAKE_MAX], heard[2048];
    struct srt_guest g;
    size_t size;

    (void)state;
    srt_begin("handshakes 1;", "");
    srt_guest_open(&g, "127.0.0.1");
    size = conclusion(&g, 1000, data);
    for (unsigned i = 0; i < N; i++) { /* each with another id: another caller */
        data[SRT_HEADER + 24] = (uint8_t)(i >> 8);
        data[SRT_HEADER + 25] = (uint8_t)i;
        data[SRT_HEADER + 8] = 0xff; /* malformed */
        srt_guest_send(&g, data, size);
        if (i % 50 == 49)
            while (srt_guest_hear(&g, heard, 0))
                ;
        assert_ok(co_sleep(i % 50 == 49 ? CO_MS(1) : 0));
    }
    UNTIL(srt_stat_now().handshakes == N);
    assert_int_equal(srt_stat_now().connections, 0);
    assert_true(srt_refused_with(SRT_REFUSED_MALFORMED) > 0);
    srt_guest_close(&g);
    srt_finish();
}

/* ---- ends */

static void test_a_publisher_is_kicked(void **state)
{
    char id[CLIENTS_ID_SIZE];
    uint8_t heard[2048];
    struct srt_packet p;
    struct srt_guest g;
    struct client *c;
    uint32_t at = 0;
    struct srt_peer *peer;

    (void)state;
    srt_begin("", "");
    srt_guest_open(&g, "127.0.0.1");
    srt_guest_call(&g, PUBLISH, 77, 1000, NULL, 0);
    peer = datagram_slots_next(&srt_service_of(srt_env)->slots, &at);
    assert_non_null(peer);
    client_id(&peer->base.session.entry, id);
    c = clients_find(srt_env->clients, id);
    assert_non_null(c);
    c->kind->kick(c);
    UNTIL(srt_env->publishers == 0);
    do
        assert_true(srt_packet_read(&p, heard, srt_guest_hear(&g, heard, CO_SECONDS(1))));
    while (p.type != SRT_SHUTDOWN);
    assert_int_equal(p.to, 77);
    srt_guest_close(&g);
    srt_finish();
}

static void test_who_is_silent_goes(void **state)
{
    struct srt_guest g;

    (void)state;
    srt_begin("peer_idle_timeout 500;", "");
    srt_guest_open(&g, "127.0.0.1");
    srt_guest_call(&g, PUBLISH, 77, 1000, NULL, 0);
    assert_int_equal(srt_env->publishers, 1);
    UNTIL(srt_env->publishers == 0);
    srt_guest_close(&g);
    srt_finish();
}

static int set_up(void **state)
{
    (void)state;
    assert_ok(co_init());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    co_threads_end(CO_SECONDS(5));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_publisher_is_let_in_and_leaves),
        TEST(test_refusals_have_their_codes),
        TEST(test_the_size_of_keys_need_not_be_said),
        TEST(test_one_stream_has_one_publisher),
        TEST(test_connections_are_limited),
        TEST(test_who_is_refused_is_answered_from_memory),
        TEST(test_who_guesses_is_locked),
        TEST(test_a_quitting_server_says_so),
        TEST(test_a_conclusion_that_comes_again_has_the_same_answer),
        TEST(test_a_socket_that_calls_again_replaces_itself),
        TEST(test_a_cookie_is_of_its_address),
        TEST(test_packets_of_others_are_counted_and_dropped),
        TEST(test_a_flood_leaves_nothing),
        TEST(test_a_publisher_is_kicked),
        TEST(test_who_is_silent_goes),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
