/* SPDX-License-Identifier: MIT */
/* test_rtmfp_service.c - RTMFP clients over loopback: handshakes, their repeats, pings, the
 * end from either side, limits, unknown peers.
 */
#include "rtmfp_guest.h"

static void test_a_client_opens_pings_and_closes(void **state)
{
    static struct guest g;

    (void)state;
    guests_begin("");
    guest_open(&g);
    assert_true(guest_greet(&g, CO_SECONDS(5)));
    assert_int_equal(guests_stat().opened, 1);
    assert_int_equal(guests_stat().sessions, 1);
    guest_ping(&g);
    rtmfp_session_close(&g.session, co_clock());
    guest_say(&g);
    assert_true(guest_hear(&g));
    assert_int_equal(g.session.state, RTMFP_CLOSED);
    UNTIL(guests_stat().sessions == 0);
    assert_int_equal(guests_stat().ended[RTMFP_ENDED_THERE], 1);
    guest_close(&g);
    guests_finish();
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
    guests_begin("");
    guest_open(&g);
    assert_true(guest_greet(&g, CO_SECONDS(5)));
    guest_send(&g, g.asked, g.asked_size);
    n = guest_receive(&g, data, CO_SECONDS(3));
    assert_true(rtmfp_startup_init(&other));
    assert_true(rtmfp_startup_open(&guests_startup, g.answered, g.answered_size, &first));
    assert_true(rtmfp_startup_open(&other, data, n, &second));
    assert_true(rtmfp_chunk_next(&first, &a));
    assert_true(rtmfp_chunk_next(&second, &b));
    assert_int_equal(a.body.n, b.body.n);
    assert_memory_equal(a.body.p, b.body.p, a.body.n);
    rtmfp_startup_fini(&other);
    assert_int_equal(guests_stat().repeats, 1);
    assert_int_equal(guests_stat().opened, 1);
    guest_ping(&g);
    guest_send(&g, g.asked, g.asked_size);
    UNTIL(guests_stat().drops[RTMFP_DROP_ANSWERED] == 1);
    guest_close(&g);
    guests_finish();
}

static void test_sessions_are_limited(void **state)
{
    static const char *const limits[] = {
        "max_sessions 1;", "max_sessions_ip 1;", "max_sessions 2; } limits { limit_private on;",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(limits); i++) {
        static struct guest a, b;

        guests_begin(limits[i]);
        guest_open(&a);
        guest_open(&b);
        assert_true(guest_greet(&a, CO_SECONDS(5)));
        assert_false(guest_greet(&b, CO_MS(50)));
        assert_int_equal(guests_stat().drops[RTMFP_DROP_LIMIT], 1);
        guest_close(&a);
        guest_close(&b);
        guests_finish();
    }
}

static void test_who_has_closed_makes_room(void **state)
{
    static struct guest a, b;

    (void)state;
    guests_begin("max_sessions 1; max_sessions_ip 1;");
    guest_open(&a);
    guest_open(&b);
    assert_true(guest_greet(&a, CO_SECONDS(5)));
    guest_ping(&a);
    rtmfp_session_close(&a.session, co_clock());
    guest_say(&a);
    UNTIL(guests_stat().sessions == 0);
    assert_true(guest_greet(&b, CO_SECONDS(5))); /* while the other one lingers */
    assert_int_equal(guests_stat().drops[RTMFP_DROP_LIMIT], 0);
    guest_close(&a);
    guest_close(&b);
    guests_finish();
}

static void test_startup_packets_are_limited(void **state)
{
    static struct guest g;

    (void)state;
    guests_begin("max_startup_ip 1;");
    guest_open(&g);
    assert_true(guest_greet(&g, CO_SECONDS(5))); /* two packets */
    guest_send(&g, g.asked, g.asked_size);
    UNTIL(guests_stat().startup_limited == 1);
    guest_close(&g);
    guests_finish();
}

static void test_packets_of_no_session_are_counted_and_dropped(void **state)
{
    uint8_t odd[64] = { 1, 2, 3, 4 }, data[RTMFP_DATAGRAM_MAX];
    static struct guest g;

    (void)state;
    guests_begin("");
    guest_open(&g);
    guest_send(&g, odd, 3);
    guest_send(&g, odd, 36);
    UNTIL(guests_stat().bad[RTMFP_BAD_SIZES] == 1);
    UNTIL(guests_stat().bad[RTMFP_BAD_STRANGER] == 1);
    assert_int_equal(guest_receive(&g, data, CO_MS(10)), 0);
    guest_close(&g);
    guests_finish();
}

static void test_a_server_that_quits_says_so(void **state)
{
    static struct guest g;

    (void)state;
    guests_begin("");
    guest_open(&g);
    assert_true(guest_greet(&g, CO_SECONDS(5)));
    guest_ping(&g);
    guests_finish();
    assert_true(guest_hear(&g));
    assert_int_equal(g.session.end, RTMFP_ENDED_THERE);
    guest_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_client_opens_pings_and_closes),
        TEST(test_a_repeat_has_the_same_answer_until_the_session_speaks),
        TEST(test_sessions_are_limited),
        TEST(test_who_has_closed_makes_room),
        TEST(test_startup_packets_are_limited),
        TEST(test_packets_of_no_session_are_counted_and_dropped),
        TEST(test_a_server_that_quits_says_so),
    };

    return cmocka_run_group_tests(tests, guests_start, guests_stop);
}
