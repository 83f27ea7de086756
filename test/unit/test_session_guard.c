/* SPDX-License-Identifier: MIT */
/* test_session_guard.c - addresses that send wrong secrets. */
#include "session/guard.h"
#include "unit.h"

#include <stdio.h>

static void addresses_that_guess(void **state)
{
    const struct guard_rule rule = { .attempts = 3, .lock = CO_SECONDS(60) };
    const struct guard_rule never = { 0, CO_SECONDS(60) };
    struct guard *g = guard_new();
    co_usec now = CO_SECONDS(1000);
    char ip[40];

    (void)state;
    assert_int_equal(guard_wrong(g, GUARD_RTSP, "10.0.0.1", &rule, NULL, 0, now), 1);
    assert_int_equal(guard_wrong(g, GUARD_RTSP, "::ffff:10.0.0.1", &rule, NULL, 0, now), 2);
    assert_int_equal(guard_locked(g, GUARD_RTSP, "10.0.0.1", now), 0);
    assert_int_equal(guard_wrong(g, GUARD_RTSP, "10.0.0.1", &rule, NULL, 0, now), 3);
    assert_int_equal(guard_locked(g, GUARD_RTSP, "10.0.0.1", now), CO_SECONDS(60));
    assert_int_equal(guard_locked(g, GUARD_RTSP, "10.0.0.2", now), 0);
    assert_int_equal(guard_locked(g, GUARD_RTSP, "10.0.0.1", now + CO_SECONDS(60)), 0);
    assert_int_equal(guard_wrong(g, GUARD_RTSP, "10.0.0.1", &rule, NULL, 0, now + CO_SECONDS(61)), 1);

    /* a /64 counts as one; a zone does not change the address */
    for (int i = 0; i < 3; i++) {
        (void)snprintf(ip, sizeof(ip), "2001:db8:1:2::%d", i + 1);
        (void)guard_wrong(g, GUARD_RTSP, ip, &rule, NULL, 0, now);
    }
    assert_true(guard_locked(g, GUARD_RTSP, "2001:db8:1:2:ffff::9", now) > 0);
    assert_int_equal(guard_locked(g, GUARD_RTSP, "2001:db8:1:3::1", now), 0);
    (void)guard_wrong(g, GUARD_RTSP, "fe80::1%eth0", &rule, NULL, 0, now);
    assert_int_equal(guard_wrong(g, GUARD_RTSP, "fe80::1%eth1", &rule, NULL, 0, now), 2);

    /* a crowd takes no more memory, and does not free the one locked longest */
    for (int i = 0; i < 3; i++)
        (void)guard_wrong(g, GUARD_RTSP, "10.0.0.9", &rule, NULL, 0, now + CO_SECONDS(30));
    for (int i = 0; i < GUARD_ADDRESSES * 2; i++) {
        (void)snprintf(ip, sizeof(ip), "172.16.%d.%d", i / 256, i % 256);
        (void)guard_wrong(g, GUARD_RTSP, ip, &rule, NULL, 0, now);
    }
    assert_true(guard_locked(g, GUARD_RTSP, "10.0.0.9", now + CO_SECONDS(31)) > 0);

    /* never locks */
    for (int i = 0; i < 100; i++)
        (void)guard_wrong(g, GUARD_RTSP, "10.9.9.9", &never, NULL, 0, now);
    assert_int_equal(guard_locked(g, GUARD_RTSP, "10.9.9.9", now), 0);
    guard_free(g);
}

/* Each kind of secret counts separately. */
static void kinds(void **state)
{
    const struct guard_rule rule = { .attempts = 1, .lock = CO_SECONDS(60) };
    struct guard *g = guard_new();

    (void)state;
    assert_int_equal(guard_wrong(g, GUARD_RTSP, "10.0.0.1", &rule, NULL, 0, 5), 1);
    assert_true(guard_locked(g, GUARD_RTSP, "10.0.0.1", 5) > 0);
    assert_int_equal(guard_locked(g, GUARD_API, "10.0.0.1", 5), 0);
    assert_int_equal(guard_locked(g, GUARD_KEY, "10.0.0.1", 5), 0);
    assert_int_equal(guard_locked(NULL, GUARD_RTSP, "10.0.0.1", 5), 0);
    assert_int_equal(guard_wrong(NULL, GUARD_RTSP, "10.0.0.1", &rule, NULL, 0, 5), 0);
    guard_free(g);
}

/* An encoder that repeats its old key forever counts as one guess; many keys lock it. */
static void the_same_again(void **state)
{
    const struct guard_rule rule = { .attempts = 5, .lock = CO_SECONDS(60) };
    struct guard *g = guard_new();
    char key[16];

    (void)state;
    for (int i = 0; i < 100; i++) {
        (void)snprintf(key, sizeof(key), "old%d", i % 4);
        assert_true(guard_wrong(g, GUARD_KEY, "10.0.0.1", &rule, key, 4, i) <= 4);
    }
    assert_int_equal(guard_locked(g, GUARD_KEY, "10.0.0.1", 100), 0);
    assert_int_equal(guard_wrong(g, GUARD_KEY, "10.0.0.1", &rule, "new", 3, 100), 5);
    assert_true(guard_locked(g, GUARD_KEY, "10.0.0.1", 101) > 0);
    guard_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(addresses_that_guess), TEST(kinds), TEST(the_same_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
