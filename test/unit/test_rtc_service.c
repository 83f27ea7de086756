/* SPDX-License-Identifier: MIT */
/* test_rtc_service.c - WebRTC sessions over loopback: which are admitted and which are not, from the
 * first check to the end, and unknown peers. */
#include "loopback.h"
#include "base/container_of.h"
#include "co/thread.h"
#include "rtc_guest.h"
#include "serve/rtc/impl.h"
#include "session/clients.h"

static struct session_env *env;
static int port;

static const char *server = ""; /* more directives of rtc_server */

static const char *conf_of(const char *top, const char *vhost)
{
    static char text[1024];

    (void)snprintf(text, sizeof(text), "listen 1935; %s rtc_server { enabled on; "
                   "listen 127.0.0.1:%d; %s } vhost __defaultVhost__ { rtc { enabled on; %s } }"
                   "vhost off.com { }", top, port, server, vhost);
    return text;
}

static void begin(const char *top, const char *vhost)
{
    port = loopback_port();
    env = loopback_begin(&rtc_protocol, PROTOCOL_RTC, conf_of(top, vhost));
}

static void finish(void)
{
    loopback_end(&env, PROTOCOL_RTC);
}

static struct rtc_service_stat stat_now(void)
{
    struct rtc_service_stat st = { 0 };

    assert_true(rtc_counters.read(env, &st));
    return st;
}

static struct rtc_peer *newest(void)
{
    return container_of(rtc_service_of(env)->base.clients, struct rtc_peer, base);
}

/* RTP packets that its publishers sent. */
static uint64_t received(void)
{
    uint64_t n = 0;

    for (struct datagram_client *c = rtc_service_of(env)->base.clients; c; c = c->next)
        n += container_of(c, struct rtc_peer, base)->received;
    return n;
}

/* ---- start and end */

static void test_a_publisher_connects_sends_and_says_goodbye(void **state)
{
    struct rtc_guest g;

    (void)state;
    begin("", "");
    rtc_guest_open(&g, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PUBLISH, "s"), 201);
    assert_int_equal(env_published(env)->begun, 1);
    assert_int_equal(stat_now().waiting, 1);
    assert_int_equal(g.theirs[0], 'A');
    rtc_guest_packet(&g, 96); /* no peer knows it yet */
    rtc_guest_send(&g, "\x16hi", 3);
    UNTIL(stat_now().strangers == 2);
    assert_true(rtc_guest_connects(&g));
    assert_int_equal(stat_now().publishers, 1);
    assert_true(newest()->connected > 0);
    rtc_guest_packet(&g, 96);
    rtc_guest_packet(&g, 201);
    rtc_guest_forged(&g, 96); /* forged */
    UNTIL(received() == 1 && stat_now().rtcp_in == 1 && stat_now().forged == 1);
    rtc_guest_bye(&g);
    UNTIL(stat_now().sessions == 0);
    assert_int_equal(env_published(env)->ended, 1);
    assert_int_equal(stat_now().forged, 1); /* ended ones are counted, too */
    rtc_guest_close(&g);
    finish();
}

/* ---- configuration */

static void test_a_payload_type_is_dropped_on_purpose(void **state)
{
    struct rtc_guest g;

    (void)state;
    begin("", "drop_for_pt 96;");
    rtc_guest_open(&g, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PUBLISH, "s"), 201);
    assert_true(rtc_guest_connects(&g));
    rtc_guest_packet(&g, 96);
    rtc_guest_packet(&g, 97);
    rtc_guest_packet(&g, 201);
    UNTIL(stat_now().rtcp_in == 1);
    assert_int_equal(received(), 1);
    rtc_guest_close(&g);
    finish();
}

/* A check, keys and packets, as before SRTP. */
static void test_a_black_hole_is_shown_what_comes(void **state)
{
    static const struct udp_opts opts = { 0 };
    char text[80];
    struct rtc_guest g, hole = { .checks = 0 };
    uint8_t in[2048];

    (void)state;
    assert_ok(udp_open(&hole.socket, "127.0.0.1", 0, &opts));
    (void)snprintf(text, sizeof(text), "black_hole { enabled on; addr 127.0.0.1:%d; }",
                   hole.socket->at.port);
    server = text;
    begin("", "");
    rtc_guest_open(&g, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PUBLISH, "s"), 201);
    assert_true(rtc_guest_connects(&g));
    assert_true(rtc_guest_hear(&hole, in, CO_SECONDS(2)) > 20 && in[0] == 0);
    assert_true(rtc_guest_hear(&hole, in, CO_SECONDS(2)) > 13 && in[0] == 22); /* its handshake */
    rtc_guest_packet(&g, 96);
    rtc_guest_forged(&g, 96); /* forged: not counted */
    rtc_guest_packet(&g, 201);
    while (rtc_guest_hear(&hole, in, CO_SECONDS(2)) > 0 && in[0] >= 20 && in[0] < 64)
        continue;
    assert_true(in[0] == 0x80 && in[1] == 96);
    assert_true(rtc_guest_hear(&hole, in, CO_SECONDS(2)) > 0 && in[1] == 201);
    server = "";
    (void)conf_unref(env->conf);
    env->conf = mem_conf(conf_of("", "")); /* switched off by a reload */
    rtc_protocol.reload(&rtc_service_of(env)->base);
    rtc_guest_packet(&g, 96);
    UNTIL(received() == 2);
    assert_int_equal(rtc_guest_hear(&hole, in, CO_MS(10)), 0);
    rtc_guest_close(&g);
    rtc_guest_close(&hole);
    finish();
}

/* One for all of the same kind; another kind after a reload, for new clients. */
static void test_certificates_are_as_configured(void **state)
{
    struct rtc_guest g[3];
    const struct dtls_identity *made;

    (void)state;
    begin("", "");
    for (unsigned i = 0; i < 2; i++) {
        rtc_guest_open(&g[i], port);
        assert_int_equal(rtc_guest_ask(&g[i], env, RTC_REQUEST_PLAY, "s"), 201);
        assert_true(rtc_guest_connects(&g[i]));
        assert_true(strncmp(dtls_cipher(g[i].dtls), "ECDHE-ECDSA", 11) == 0);
    }
    made = rtc_service_of(env)->identity[0];
    assert_true(made == newest()->identity && !rtc_service_of(env)->identity[1]);
    assert_memory_equal(&g[0].fingerprint, &g[1].fingerprint, sizeof(g[0].fingerprint));
    server = "ecdsa off;";
    env_reload(env, conf_of("", "dtls_version dtls1.0;"));
    rtc_protocol.reload(&rtc_service_of(env)->base);
    server = "";
    rtc_guest_open(&g[2], port);
    assert_int_equal(rtc_guest_ask(&g[2], env, RTC_REQUEST_PLAY, "s"), 201);
    assert_true(rtc_guest_connects(&g[2]));
    assert_true(strncmp(dtls_cipher(g[2].dtls), "ECDHE-RSA", 9) == 0);
    assert_true(newest()->identity == rtc_service_of(env)->identity[1] && newest()->identity != made);
    assert_null(rtc_service_of(env)->identity[0]);
    for (unsigned i = 0; i < 3; i++)
        rtc_guest_close(&g[i]);
    finish();
}

static void test_a_player_has_no_coroutine_and_ends(void **state)
{
    struct rtc_guest g;

    (void)state;
    begin("", "");
    rtc_guest_open(&g, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PLAY, "s"), 201);
    UNTIL(env->connections->count == 0);
    assert_true(rtc_guest_connects(&g));
    assert_int_equal(stat_now().players, 1);
    rtc_guest_packet(&g, 96); /* a player has nothing to send */
    rtc_guest_packet(&g, 201);
    UNTIL(stat_now().rtcp_in == 1);
    assert_int_equal(received(), 0);
    rtc_guest_bye(&g);
    UNTIL(stat_now().sessions == 0);
    rtc_guest_close(&g);
    finish();
}

static void test_a_handshake_with_another_certificate_ends_it(void **state)
{
    struct rtc_guest g;

    (void)state;
    begin("", "");
    rtc_guest_open(&g, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PLAY, "s"), 201);
    assert_true(rtc_guest_checks(&g));
    rtc_guest_shakes_wrongly(&g);
    UNTIL(stat_now().sessions == 0);
    assert_int_equal(stat_now().failed_handshakes, 1);
    assert_int_equal(stat_now().handshakes, 0);
    rtc_guest_close(&g);
    finish();
}

static void test_refusals_have_their_status(void **state)
{
    static const struct {
        const char *top, *vhost, *stream, *offer; /* its codec; or not even that */
        enum rtc_request_kind kind;
        int status, code;
    } rows[] = {
        { "", "", "s", "H264", RTC_REQUEST_PLAY, 201, 0 },
        { "", "", "s", "", RTC_REQUEST_PLAY, 400, 5043 },
        { "", "", "s", "x", RTC_REQUEST_PLAY, 400, 5012 },
        { "", "", "s", "NONE", RTC_REQUEST_PLAY, 400, 5018 },
        { "", "", "s", "NONE", RTC_REQUEST_PUBLISH, 400, 5018 },
        { "", "", "off", "H264", RTC_REQUEST_PLAY, 403, 5021 },
        { "", "} security { enabled on; deny play all;", "s", "H264", RTC_REQUEST_PLAY, 401, 2048 },
        { "", "} security { enabled on; deny publish all;", "s", "H264", RTC_REQUEST_PUBLISH, 401,
          2048 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtc_request a;

        begin(rows[i].top, rows[i].vhost);
        a = rtc_request_of(rows[i].kind, rows[i].stream, strlen(rows[i].offer) < 4 ? strdup(rows[i].offer)
                       : rtc_offer_of(rows[i].kind, "guest", rows[i].offer));
        if (strcmp(rows[i].stream, "off") == 0) {
            free(a.vhost);
            a.vhost = strdup("off.com");
        }
        rtc_request_answer(env, &a);
        if (a.status != rows[i].status || a.code != rows[i].code)
            fail_msg("row %zu: %d, %d, %s", i, a.status, a.code, a.text ? a.text : "");
        assert_int_equal(a.status == 201, a.answer != NULL);
        assert_int_equal(a.status != 201, a.text != NULL);
        rtc_request_free(&a);
        finish();
    }
}

static void test_one_stream_has_one_publisher(void **state)
{
    struct rtc_guest g = { 0 };

    (void)state;
    begin("", "} publish { takeover off;");
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PUBLISH, "s"), 201);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PUBLISH, "s"), 409);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PUBLISH, "t"), 201);
    finish();
}

static void test_sessions_are_limited(void **state)
{
    struct rtc_guest g = { 0 };

    (void)state;
    begin("max_connections 3;", "");
    for (int i = 0; i < 3; i++)
        assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PLAY, "s"), 201);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PLAY, "s"), 503);
    finish();
    begin("max_connections 100;", "");
    for (int i = 0; i < RTC_PENDING_OF_ADDRESS; i++)
        assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PLAY, "s"), 201);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PLAY, "s"), 503);
    rtc_guest_open(&g, port);
    finish();
    rtc_guest_close(&g);
}

/* ---- later */

static int later(enum rtc_request_kind kind, const char *session, const char *token, const char *ufrag)
{
    struct rtc_request a = { .kind = kind };
    int status;

    (void)snprintf(a.session, sizeof(a.session), "%s", session);
    (void)snprintf(a.token, sizeof(a.token), "%s", token);
    (void)snprintf(a.fragment.ufrag, sizeof(a.fragment.ufrag), "%s", ufrag);
    rtc_request_answer(env, &a);
    status = a.status;
    rtc_request_free(&a);
    return status;
}

static void test_delete_needs_the_token_and_ends_it(void **state)
{
    struct rtc_guest g;

    (void)state;
    begin("", "");
    rtc_guest_open(&g, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PUBLISH, "s"), 201);
    assert_int_equal(later(RTC_REQUEST_DELETE, g.session, "0123456789abcdef", ""), 403);
    assert_int_equal(later(RTC_REQUEST_DELETE, g.session, "", ""), 403);
    assert_int_equal(stat_now().sessions, 1);
    assert_int_equal(later(RTC_REQUEST_DELETE, g.session, g.token, ""), 200);
    UNTIL(stat_now().sessions == 0);
    assert_int_equal(later(RTC_REQUEST_DELETE, g.session, g.token, ""), 200);
    assert_int_equal(later(RTC_REQUEST_DELETE, "", "", ""), 200);
    rtc_guest_close(&g);
    finish();
}

static void test_ice_restarts(void **state)
{
    struct rtc_guest g;
    struct rtc_request a = { .kind = RTC_REQUEST_RESTART };

    (void)state;
    begin("", "");
    rtc_guest_open(&g, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PLAY, "s"), 201);
    assert_true(rtc_guest_connects(&g));
    assert_int_equal(later(RTC_REQUEST_RESTART, g.session, g.token, g.ours), 204);
    assert_int_equal(later(RTC_REQUEST_RESTART, g.session, g.token, ""), 204);
    assert_int_equal(later(RTC_REQUEST_RESTART, "Axxxxxxx:guest", g.token, "new"), 404);
    (void)snprintf(a.session, sizeof(a.session), "%s", g.session);
    (void)snprintf(a.token, sizeof(a.token), "%s", g.token);
    (void)snprintf(a.fragment.ufrag, sizeof(a.fragment.ufrag), "newguest");
    (void)snprintf(a.fragment.pwd, sizeof(a.fragment.pwd), RTC_GUEST_PWD);
    (void)snprintf(a.etag, sizeof(a.etag), "wrong");
    rtc_request_answer(env, &a);
    assert_int_equal(a.status, 412);
    a.etag[0] = '\0';
    a.status = 0;
    rtc_request_answer(env, &a);
    assert_int_equal(a.status, 200);
    rtc_guest_check(&g, g.pwd, true); /* the old name is free */
    UNTIL(stat_now().strangers == 1);
    rtc_guest_read(&g, a.answer);
    (void)snprintf(g.ours, sizeof(g.ours), "newguest");
    assert_true(rtc_guest_checks(&g));
    rtc_guest_packet(&g, 201); /* its keys are the same */
    UNTIL(stat_now().rtcp_in == 1);
    rtc_request_free(&a);
    assert_int_equal(later(RTC_REQUEST_DELETE, g.session, g.token, ""), 200);
    UNTIL(stat_now().sessions == 0);
    rtc_guest_close(&g);
    finish();
}

/* ---- unknown peers and floods */

static void test_unknown_peers_move_nothing(void **state)
{
    struct rtc_guest g, thief;
    uint8_t in[2048];

    (void)state;
    begin("", "");
    rtc_guest_open(&g, port);
    rtc_guest_open(&thief, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PUBLISH, "s"), 201);
    assert_true(rtc_guest_connects(&g));
    (void)snprintf(thief.theirs, sizeof(thief.theirs), "%s", g.theirs);
    (void)snprintf(thief.ours, sizeof(thief.ours), "%s", g.ours);
    rtc_guest_check(&thief, "the wrong password of it", true);
    rtc_guest_packet(&thief, 96);
    rtc_guest_send(&thief, "\x16" "bye", 4);
    rtc_guest_send(&thief, "", 0);
    rtc_guest_send(&thief, "\x80", 1);
    UNTIL(stat_now().strangers == 4 && stat_now().forged_checks == 1);
    assert_int_equal(rtc_guest_hear(&thief, in, CO_MS(20)), 0); /* nothing is answered */
    assert_int_equal(stat_now().publishers, 1);
    assert_int_equal(received(), 0);
    assert_true(rtc_guest_checks(&g));
    assert_int_equal(stat_now().address_changes, 0);
    rtc_guest_close(&thief);
    rtc_guest_close(&g);
    finish();
}

static void test_who_moves_is_found_again(void **state)
{
    struct rtc_guest g;
    struct udp *old;
    static const struct udp_opts opts = { 0 };

    (void)state;
    begin("", "");
    rtc_guest_open(&g, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PUBLISH, "s"), 201);
    assert_true(rtc_guest_connects(&g));
    old = g.socket;
    assert_ok(udp_open(&g.socket, "127.0.0.1", 0, &opts));
    assert_true(rtc_guest_checks(&g)); /* with USE-CANDIDATE */
    rtc_guest_packet(&g, 96);     /* which proves who it is */
    UNTIL(received() == 1);
    assert_int_equal(stat_now().address_changes, 0); /* but not where */
    assert_true(rtc_guest_answers(&g));
    UNTIL(stat_now().address_changes == 1);
    udp_close(old);
    rtc_guest_close(&g);
    finish();
}

/* Sends from `from` a packet with the source address of `as`. */
static void forge(struct rtc_guest *as, const struct rtc_guest *from, struct rtc_guest *out)
{
    *out = *from;
    out->socket = as->socket;
}

/* The source address of a check can be forged: it does not take over another one's address. */
static void test_a_neighbour_keeps_its_address(void **state)
{
    struct rtc_guest g, thief, forged;
    uint8_t in[2048];

    (void)state;
    begin("", "");
    rtc_guest_open(&g, port);
    rtc_guest_open(&thief, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PUBLISH, "s"), 201);
    assert_true(rtc_guest_connects(&g));
    assert_int_equal(rtc_guest_ask(&thief, env, RTC_REQUEST_PUBLISH, "t"), 201);
    assert_true(rtc_guest_connects(&thief));
    forge(&g, &thief, &forged);
    for (int i = 0; i < 20; i++)
        rtc_guest_check(&forged, thief.pwd, true);
    UNTIL(stat_now().checks == 22);
    rtc_guest_packet(&g, 96);
    UNTIL(received() == 1);
    assert_int_equal(stat_now().address_changes, 0);
    assert_true(rtc_guest_hear(&g, in, CO_SECONDS(2)) > 0); /* answers, and probes */
    rtc_guest_close(&thief);
    rtc_guest_close(&g);
    finish();
}

/* A page is reloaded, and NAT gives it the same address: it is there, as it shows. */
static void test_a_new_session_takes_the_address_of_one_that_is_gone(void **state)
{
    struct rtc_guest g, next, again;

    (void)state;
    begin("", "");
    rtc_guest_open(&g, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PLAY, "s"), 201);
    assert_true(rtc_guest_connects(&g));
    next = g;
    assert_int_equal(rtc_guest_ask(&next, env, RTC_REQUEST_PUBLISH, "t"), 201);
    forge(&g, &next, &again);
    assert_true(rtc_guest_checks(&again));
    assert_true(rtc_guest_answers(&again));
    again.dtls = NULL; /* those of the one that is gone */
    again.srtp = NULL;
    assert_true(rtc_guest_shakes(&again));
    rtc_guest_packet(&again, 96);
    UNTIL(received() == 1);
    assert_int_equal(stat_now().publishers, 1);
    rtc_guest_forget(&again);
    rtc_guest_close(&g);
    finish();
}

static void test_who_sends_rubbish_is_not_read(void **state)
{
    struct rtc_guest g;

    (void)state;
    begin("", "");
    rtc_guest_open(&g, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PUBLISH, "s"), 201);
    assert_true(rtc_guest_connects(&g));
    for (int i = 0; i < 1500; i++) {
        rtc_guest_forged(&g, 96);
        if (i % 100 == 0)
            assert_ok(co_sleep(CO_MS(1)));
    }
    UNTIL(newest()->deaf_until > 0);
    rtc_guest_packet(&g, 96);
    assert_ok(co_sleep(CO_MS(10)));
    assert_int_equal(received(), 0);
    newest()->deaf_until = 0;
    rtc_guest_packet(&g, 96);
    UNTIL(received() == 1);
    rtc_guest_close(&g);
    finish();
}

static void test_in_the_clear_is_for_this_machine(void **state)
{
    struct rtc_guest g;
    struct rtc_request a;

    (void)state;
    begin("", "");
    rtc_guest_open(&g, port);
    a = rtc_request_of(RTC_REQUEST_PLAY, "s", rtc_offer_of(RTC_REQUEST_PLAY, "guest", "H264"));
    a.no_dtls = true;
    free(a.ip);
    a.ip = strdup("192.0.2.1");
    rtc_request_answer(env, &a);
    assert_int_equal(a.status, 401);
    rtc_request_free(&a);
    a = rtc_request_of(RTC_REQUEST_PUBLISH, "s", rtc_offer_of(RTC_REQUEST_PUBLISH, "guest", "H264"));
    a.no_dtls = true;
    rtc_request_answer(env, &a);
    assert_int_equal(a.status, 201);
    rtc_guest_read(&g, a.answer);
    strcpy(g.ours, "guest");
    rtc_request_free(&a);
    assert_true(rtc_guest_checks(&g));
    assert_int_equal(stat_now().publishers, 1); /* that was all */
    rtc_guest_packet(&g, 96);
    UNTIL(received() == 1);
    rtc_guest_close(&g);
    finish();
}

/* ---- time, and the end */

static void test_silence_ends_it(void **state)
{
    struct rtc_guest g;

    (void)state;
    begin("", "stun_timeout 1;");
    rtc_guest_open(&g, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PLAY, "s"), 201);
    assert_true(rtc_guest_connects(&g));
    UNTIL(stat_now().sessions == 0);
    assert_int_equal(stat_now().timeouts, 1);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PLAY, "s"), 201);
    newest()->answered -= CO_SECONDS(30); /* it never connects */
    rtc_peer_set_timer(newest(), co_clock());
    UNTIL(stat_now().sessions == 0);
    assert_int_equal(stat_now().timeouts, 2);
    rtc_guest_close(&g);
    finish();
}

static void test_who_is_kicked_ends(void **state)
{
    struct rtc_guest g = { 0 };

    (void)state;
    begin("", "");
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PLAY, "s"), 201);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PUBLISH, "s"), 201);
    for (int i = 0; i < 2; i++) {
        struct client *c = clients_find(env->clients, newest()->base.cid);

        assert_non_null(c);
        c->kind->kick(c);
        UNTIL(stat_now().sessions == (unsigned)(1 - i));
    }
    finish();
}

static void test_the_server_quits(void **state)
{
    struct rtc_guest g;

    (void)state;
    begin("", "");
    rtc_guest_open(&g, port);
    assert_int_equal(rtc_guest_ask(&g, env, RTC_REQUEST_PLAY, "s"), 201);
    assert_true(rtc_guest_connects(&g));
    assert_int_equal(rtc_guest_ask(&(struct rtc_guest){ 0 }, env, RTC_REQUEST_PUBLISH, "s"), 201);
    datagram_service_refuse(&rtc_service_of(env)->base);
    assert_int_equal(rtc_guest_ask(&(struct rtc_guest){ 0 }, env, RTC_REQUEST_PLAY, "s"), 503);
    finish();
    assert_true(rtc_guest_hears_bye(&g));
    rtc_guest_close(&g);
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
    assert_int_equal(co_live(), 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_publisher_connects_sends_and_says_goodbye),
        TEST(test_a_payload_type_is_dropped_on_purpose),
        TEST(test_a_black_hole_is_shown_what_comes),
        TEST(test_certificates_are_as_configured),
        TEST(test_a_player_has_no_coroutine_and_ends),
        TEST(test_a_handshake_with_another_certificate_ends_it),
        TEST(test_refusals_have_their_status),
        TEST(test_one_stream_has_one_publisher),
        TEST(test_sessions_are_limited),
        TEST(test_delete_needs_the_token_and_ends_it),
        TEST(test_ice_restarts),
        TEST(test_unknown_peers_move_nothing),
        TEST(test_who_moves_is_found_again),
        TEST(test_a_neighbour_keeps_its_address),
        TEST(test_a_new_session_takes_the_address_of_one_that_is_gone),
        TEST(test_who_sends_rubbish_is_not_read),
        TEST(test_in_the_clear_is_for_this_machine),
        TEST(test_silence_ends_it),
        TEST(test_who_is_kicked_ends),
        TEST(test_the_server_quits),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
