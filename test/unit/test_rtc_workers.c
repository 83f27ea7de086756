/* SPDX-License-Identifier: MIT */
/* test_rtc_workers.c - WebRTC on two workers: requests go to the stream's owner worker, and datagrams that the
 * kernel gives to the wrong worker are passed on. */
#include "loopback.h"
#include "co/thread.h"
#include "rtc_guest.h"
#include "serve/rtc/impl.h"
#include "two_workers.h"

enum { GUESTS = 16, PLACES = 40 };

static int port;

static int set_up(void **state)
{
    char text[400];

    (void)state;
    assert_ok(co_init());
    port = loopback_port();
    (void)snprintf(text, sizeof(text), "listen 1935; rtc_server { enabled on; listen 127.0.0.1:%d;"
                   "} vhost __defaultVhost__ { rtc { enabled on; } }", port);
    loopback_begin_two(&rtc_protocol, PROTOCOL_RTC, text);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    loopback_end_two();
    co_threads_end(CO_SECONDS(5));
    return 0;
}

/* Packets of unknown peers fill only their part of the queue; known clients still get through. */
__attribute__((noinline)) static void a_flood_of_strangers_leaves_room(struct rtc_guest *g)
{
    atomic_uint *under_way = &rtc_service_of(&two_env[0])->shared->base.mails[1];
    static struct rtc_guest stranger;
    unsigned i = 0;
    uint64_t passed, heard = rtc_guest_stat(1).rtcp_in;

    do {
        assert_true(i < GUESTS);
        passed = rtc_guest_stat(0).passed;
        rtc_guest_packet(&g[i++], 201);
        UNTIL(rtc_guest_stat(1).rtcp_in == heard + i);
    } while (rtc_guest_stat(0).passed == passed);
    stranger = g[--i];
    strcpy(stranger.theirs, "Bnobody");
    atomic_fetch_add(under_way, RTC_MAILS_STRANGE);
    passed = rtc_guest_stat(0).passed;
    rtc_guest_check(&stranger, "none", true);
    rtc_guest_packet(&g[i], 201);
    UNTIL(rtc_guest_stat(1).rtcp_in == heard + i + 2);
    assert_int_equal(rtc_guest_stat(0).passed, passed + 1);
    atomic_fetch_sub(under_way, RTC_MAILS_STRANGE);
}

/* A client that checks from many addresses has as many places on the forwarding worker as here. */
static void a_session_has_few_places(const struct rtc_guest *g)
{
    size_t before = rtc_service_of(&two_env[0])->table.routes.n;

    for (unsigned i = 0; i < PLACES; i++) {
        static struct rtc_guest place;

        rtc_guest_open(&place, port);
        memcpy(place.ours, g->ours, sizeof(place.ours));
        memcpy(place.theirs, g->theirs, sizeof(place.theirs));
        memcpy(place.pwd, g->pwd, sizeof(place.pwd));
        assert_true(rtc_guest_checks(&place));
        rtc_guest_close(&place);
    }
    UNTIL(rtc_service_of(&two_env[0])->table.routes.n <= before + ICE_PATHS);
}

static void end_of(struct rtc_guest *g)
{
    static struct rtc_request a;

    memset(&a, 0, sizeof(a));
    a.kind = RTC_REQUEST_DELETE;
    (void)snprintf(a.session, sizeof(a.session), "%s", g->session);
    (void)snprintf(a.token, sizeof(a.token), "%s", g->token);
    rtc_request_answer(&two_env[0], &a);
    assert_int_equal(a.status, 200);
    rtc_request_free(&a);
    rtc_guest_close(g);
}

static void test_sessions_are_at_home_and_hear_their_clients(void **state)
{
    struct two_guest resident = { .type = CLIENTS_RTMP_PLAY, .id = "resident", .stream = "s" };
    static struct rtc_guest g[GUESTS];

    (void)state;
    workers_call(&two_env[0], 1, two_enter, &resident); /* the stream's owner is there */
    for (unsigned i = 0; i < GUESTS; i++) {
        uint64_t passed = rtc_guest_stat(0).passed;

        rtc_guest_open(&g[i], port);
        assert_int_equal(rtc_guest_ask(&g[i], &two_env[0], i ? RTC_REQUEST_PLAY : RTC_REQUEST_PUBLISH,
                                       "s"), 201);
        assert_int_equal(g[i].theirs[0], 'B');
        assert_true(rtc_guest_connects(&g[i]));
        rtc_guest_packet(&g[i], 201);
        UNTIL(rtc_guest_stat(1).rtcp_in == i + 1);
        passed = rtc_guest_stat(0).passed - passed; /* a check, its keys, a packet: all of them, or none */
        assert_true(passed == 0 || passed == g[i].sent);
    }
    assert_int_equal(rtc_guest_stat(1).sessions, GUESTS);
    assert_int_equal(rtc_guest_stat(0).sessions, 0);
    assert_true(rtc_guest_stat(0).passed > 0);
    a_flood_of_strangers_leaves_room(g);
    a_session_has_few_places(&g[1]);
    for (unsigned i = 0; i < GUESTS; i++)
        end_of(&g[i]);
    UNTIL(rtc_guest_stat(1).sessions == 0);
    workers_call(&two_env[0], 1, two_leave, &resident);
}

/* With any first letter, unless it may be another worker's, or is. */
static void test_names_that_were_asked_for_are_found(void **state)
{
    static const struct { const char *wish; bool given; } of[] = {
        { "Afree", true }, { "Bfree", true }, { "free", true }, { "9-32-letters-and-digits-9012345A",
        true }, { "AAAAAAAA", false }, { "BAAAAAAA", true }, { "free", false }, { "Zfree123", true },
    };
    struct two_guest resident = { .type = CLIENTS_RTMP_PLAY, .id = "resident", .stream = "s" };
    static struct rtc_guest g[COUNT(of)];
    uint64_t heard = rtc_guest_stat(1).rtcp_in;

    (void)state;
    workers_call(&two_env[0], 1, two_enter, &resident);
    for (unsigned round = 0; round < 2; round++) { /* they are free again */
        for (unsigned i = 0; i < COUNT(of); i++) {
            rtc_guest_open(&g[i], port);
            strcpy(g[i].wish, of[i].wish);
            assert_int_equal(rtc_guest_ask(&g[i], &two_env[0], RTC_REQUEST_PLAY, "s"), 201);
            assert_int_equal(strcmp(g[i].theirs, of[i].wish) == 0, of[i].given);
            assert_true(rtc_guest_connects(&g[i]));
            rtc_guest_packet(&g[i], 201);
        }
        UNTIL(rtc_guest_stat(1).rtcp_in == heard + (round + 1) * COUNT(of));
        assert_int_equal(rtc_guest_stat(1).sessions, COUNT(of));
        for (unsigned i = 0; i < COUNT(of); i++)
            end_of(&g[i]);
        UNTIL(rtc_guest_stat(1).sessions == 0);
    }
    workers_call(&two_env[0], 1, two_leave, &resident);
}

/* It is forgotten there, too, when its session is over. */
static void test_addresses_are_passed_on_for_as_long_as_their_session_is(void **state)
{
    (void)state;
    UNTIL(rtc_guest_stat(0).sessions == 0 && rtc_service_of(&two_env[0])->table.routes.n == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sessions_are_at_home_and_hear_their_clients),
        TEST(test_names_that_were_asked_for_are_found),
        TEST(test_addresses_are_passed_on_for_as_long_as_their_session_is),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
