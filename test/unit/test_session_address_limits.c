/* SPDX-License-Identifier: MIT */
/* test_session_address_limits.c - connections by address: number, rate, memory. */
#include "conf/endpoint.h"
#include "session/address_limits.h"
#include "session/reject_counters.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct address_limits_config three = { 3, 0 };
static const struct address_limits_config slow = { 0, 5 };

static const uint8_t *addr(const char *text, uint8_t out[ADDRESS_BYTES])
{
    bool v4;

    assert_true(conf_address_parse(text, strlen(text), out, &v4));
    return out;
}

static enum address_answer enter(struct address_limits *p, struct address_slot *place, const char *ip,
                               const struct address_limits_config *l, co_usec now)
{
    uint8_t a[ADDRESS_BYTES];

    return address_limits_enter(p, place, addr(ip, a), l, now);
}

static void each_address_has_its_own(void **state)
{
    struct address_limits *p = address_limits_new(10);
    struct address_slot a[4] = { 0 }, b = { 0 };
    uint8_t ip[ADDRESS_BYTES];

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(enter(p, &a[i], "203.0.113.1", &three, 0), ADDRESS_WELCOME);
    assert_int_equal(enter(p, &a[3], "203.0.113.1", &three, 0), ADDRESS_TOO_MANY);
    assert_null(a[3].peer);
    assert_int_equal(enter(p, &b, "203.0.113.2", &three, 0), ADDRESS_WELCOME);
    assert_int_equal(address_limits_connections(p, addr("203.0.113.1", ip)), 3);
    address_limits_leave(&a[0], 0);
    address_limits_leave(&a[0], 0); /* once is enough */
    assert_int_equal(enter(p, &a[3], "203.0.113.1", &three, 0), ADDRESS_WELCOME);
    for (int i = 1; i < 4; i++)
        address_limits_leave(&a[i], 0);
    address_limits_leave(&b, 0);
    assert_int_equal(address_limits_connections(p, addr("203.0.113.1", ip)), 0);
    address_limits_free(p);
}

static const struct {
    const char *a, *b;
    bool same;
} networks[] = {
    { "2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true },
    { "2001:db8:1:2::1", "2001:db8:1:3::1", false },
    { "203.0.113.1", "203.0.113.2", false },
    { "203.0.113.1", "::ffff:203.0.113.1", true },
    { "::1", "203.0.113.1", false },
};

static void an_ipv6_network_is_one(void **state)
{
    static const struct address_limits_config single = { 1, 0 };

    (void)state;
    for (size_t i = 0; i < COUNT(networks); i++) {
        struct address_limits *p = address_limits_new(10);
        struct address_slot a = { 0 }, b = { 0 };

        assert_int_equal(enter(p, &a, networks[i].a, &single, 0), ADDRESS_WELCOME);
        assert_int_equal(enter(p, &b, networks[i].b, &single, 0),
                         networks[i].same ? ADDRESS_TOO_MANY : ADDRESS_WELCOME);
        address_limits_leave(&a, 0);
        address_limits_leave(&b, 0);
        address_limits_free(p);
    }
}

/* Number of n connects, made at once, that are accepted. */
static int connects(struct address_limits *p, const char *ip, int n, co_usec now)
{
    int welcome = 0;

    for (int i = 0; i < n; i++) {
        struct address_slot place = { 0 };

        welcome += enter(p, &place, ip, &slow, now) == ADDRESS_WELCOME;
        address_limits_leave(&place, now);
    }
    return welcome;
}

static void connects_are_paced(void **state)
{
    struct address_limits *p = address_limits_new(10);

    (void)state;
    assert_int_equal(connects(p, "203.0.113.1", 1000, 0), 5 * ADDRESS_BURST);
    assert_int_equal(connects(p, "203.0.113.1", 1000, 0), 0);
    assert_int_equal(connects(p, "203.0.113.2", 1, 0), 1);
    assert_int_equal(connects(p, "203.0.113.1", 1000, CO_SECONDS(1)), 5);
    assert_int_equal(connects(p, "203.0.113.1", 1000, CO_MS(1200)), 1);
    assert_int_equal(connects(p, "203.0.113.1", 1000, CO_SECONDS(1000)), 5 * ADDRESS_BURST);
    address_limits_free(p);
}

/* A slot that turns out to belong to a client behind a proxy. */
static void a_place_moves(void **state)
{
    struct address_limits *p = address_limits_new(10);
    struct address_slot place = { 0 }, full[3] = { 0 };
    uint8_t ip[ADDRESS_BYTES];

    (void)state;
    assert_int_equal(enter(p, &place, "198.51.100.1", &three, 0), ADDRESS_WELCOME);
    assert_int_equal(enter(p, &place, "203.0.113.1", &three, 0), ADDRESS_WELCOME);
    assert_int_equal(address_limits_connections(p, addr("198.51.100.1", ip)), 0);
    assert_int_equal(address_limits_connections(p, addr("203.0.113.1", ip)), 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(enter(p, &full[i], "203.0.113.9", &three, 0), ADDRESS_WELCOME);
    assert_int_equal(enter(p, &place, "203.0.113.9", &three, 0), ADDRESS_TOO_MANY);
    assert_null(place.peer);
    assert_int_equal(address_limits_connections(p, addr("203.0.113.1", ip)), 0);
    for (int i = 0; i < 3; i++)
        address_limits_leave(&full[i], 0);
    address_limits_free(p);
}

static uint8_t *numbered(uint8_t out[ADDRESS_BYTES], uint32_t i)
{
    memset(out, 0, ADDRESS_BYTES);
    out[0] = 0x20;
    memcpy(out + 4, &i, sizeof(i));
    return out;
}

/* Endless addresses, as a client with a large IPv6 network has them. */
static void memory_is_bounded(void **state)
{
    struct address_limits *p = address_limits_new(100);
    struct address_slot place = { 0 };
    uint8_t a[ADDRESS_BYTES];

    (void)state;
    for (uint32_t i = 0; i < 200000; i++) {
        (void)address_limits_enter(p, &place, numbered(a, i), &slow, 0);
        address_limits_leave(&place, 0);
        assert_true(address_limits_count(p) <= ADDRESS_REMEMBERED + 1);
    }
    for (uint32_t i = 0; i < ADDRESS_REMEMBERED; i++) { /* later: two are dropped for each new one */
        (void)address_limits_enter(p, &place, numbered(a, 0), &slow, CO_SECONDS(60));
        address_limits_leave(&place, CO_SECONDS(60));
    }
    assert_true(address_limits_count(p) <= 1);
    address_limits_free(p);
}

/* An address that is rejected all the time is not forgotten because of others, and so gets no new burst. */
static void the_busy_one_is_remembered(void **state)
{
    struct address_limits *p = address_limits_new(100);
    struct address_slot place = { 0 };
    uint8_t a[ADDRESS_BYTES];

    (void)state;
    (void)connects(p, "203.0.113.1", 1000, 0);
    for (uint32_t i = 0; i < 100000; i++) {
        (void)address_limits_enter(p, &place, numbered(a, i), &slow, 0);
        address_limits_leave(&place, 0);
        if (i % 1000 == 0)
            assert_int_equal(connects(p, "203.0.113.1", 1, 0), 0);
    }
    address_limits_free(p);
}

/* Connected addresses are all kept, regardless of their number. */
static void many_are_connected(void **state)
{
    enum { N = 50000 };
    struct address_limits *p = address_limits_new(N);
    struct address_slot *v = calloc(N, sizeof(*v));
    uint8_t a[ADDRESS_BYTES];

    (void)state;
    assert_non_null(v);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(address_limits_enter(p, &v[i], numbered(a, i), &three, 0), ADDRESS_WELCOME);
    assert_int_equal(address_limits_count(p), N);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(address_limits_connections(p, numbered(a, i)), 1);
    for (uint32_t i = 0; i < N; i++)
        address_limits_leave(&v[i], CO_SECONDS(1));
    assert_true(address_limits_count(p) <= ADDRESS_REMEMBERED + 2);
    free(v);
    address_limits_free(p);
}

static const struct {
    const char *ip;
    bool private;
} addresses[] = {
    { "127.0.0.1", true }, { "127.9.9.9", true }, { "::1", true }, { "10.1.2.3", true },
    { "172.16.0.1", true }, { "172.31.255.255", true }, { "172.32.0.1", false },
    { "172.15.0.1", false }, { "192.168.1.1", true }, { "192.169.1.1", false },
    { "169.254.1.1", true }, { "100.64.0.1", true }, { "100.128.0.1", false },
    { "fd00::1", true }, { "fc00::1", true }, { "fe80::1", true }, { "2001:db8::1", false },
    { "203.0.113.1", false }, { "11.0.0.1", false }, { "128.0.0.1", false }, { "::", true },
};

static void private_addresses_are_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(addresses); i++) {
        uint8_t a[ADDRESS_BYTES];

        if (address_is_private(addr(addresses[i].ip, a)) != addresses[i].private)
            fail_msg("%s", addresses[i].ip);
    }
}

static void the_log_is_told_now_and_then(void **state)
{
    struct reject_counters r = { 0 };

    (void)state;
    assert_int_equal(reject_counters_add(&r, REJECT_PER_ADDRESS, CO_SECONDS(1)), 1);
    for (int i = 0; i < 500; i++)
        assert_int_equal(reject_counters_add(&r, REJECT_PER_ADDRESS, CO_SECONDS(2)), 0);
    assert_int_equal(reject_counters_add(&r, REJECT_CONNECT_RATE, CO_SECONDS(2)), 1);
    assert_int_equal(reject_counters_add(&r, REJECT_PER_ADDRESS, CO_SECONDS(11)), 501);
    assert_int_equal(r.v[REJECT_PER_ADDRESS].total, 502);
    for (int k = 0; k < REJECT_KINDS; k++)
        assert_non_null(reject_reason_name(k));
}

/* ---- workers */

/* One worker logs for all of them. */
static void workers_tell_together(void **state)
{
    struct reject_counters_logged all = { 0 };
    struct reject_counters r[2] = { { .all = &all }, { .all = &all } };

    (void)state;
    assert_int_equal(reject_counters_add(&r[0], REJECT_PER_ADDRESS, CO_SECONDS(1)), 1);
    for (int i = 0; i < 500; i++)
        assert_int_equal(reject_counters_add(&r[i % 2], REJECT_PER_ADDRESS, CO_SECONDS(2)), 0);
    assert_int_equal(reject_counters_add(&r[1], REJECT_CONNECT_RATE, CO_SECONDS(2)), 1);
    assert_int_equal(reject_counters_add(&r[1], REJECT_PER_ADDRESS, CO_SECONDS(11)), 501);
    assert_int_equal(r[0].v[REJECT_PER_ADDRESS].total, 251);
    assert_int_equal(r[1].v[REJECT_PER_ADDRESS].total, 251);
}

enum { WORKERS = 4, COMINGS = 20000, AT_ONCE = 8 };

struct worker {
    pthread_t thread;
    struct address_limits *peers;
    struct address_slot last; /* that the first thread removes */
    unsigned welcome, refused;
};

static void *come_and_go(void *arg)
{
    struct worker *w = arg;
    struct address_slot places[AT_ONCE] = { 0 };
    const struct address_limits_config limits = { WORKERS * AT_ONCE / 2, 0 };

    for (unsigned i = 0; i < COMINGS; i++) {
        uint8_t a[ADDRESS_BYTES] = { [10] = 0xff, [11] = 0xff, [12] = 8, [15] = (uint8_t)(i % 3) };
        enum address_answer answer = address_limits_enter(w->peers, &places[i % AT_ONCE], a, &limits, i);

        w->welcome += answer == ADDRESS_WELCOME;
        w->refused += answer == ADDRESS_TOO_MANY;
    }
    w->last = places[0];
    for (int i = 1; i < AT_ONCE; i++)
        address_limits_leave(&places[i], COMINGS);
    return NULL;
}

/* One table for all: none is lost, and another worker can release a slot. */
static void threads_share(void **state)
{
    struct worker workers[WORKERS] = { { 0 } };
    struct address_limits *p = address_limits_new(10);
    uint8_t ip[ADDRESS_BYTES];

    (void)state;
    address_limits_share(p);
    for (int i = 0; i < WORKERS; i++) {
        workers[i].peers = p;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, come_and_go, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].welcome + workers[i].refused, COMINGS);
        assert_true(workers[i].welcome > 0);
        address_limits_leave(&workers[i].last, COMINGS);
    }
    for (int i = 0; i < 3; i++) {
        char text[24];

        (void)snprintf(text, sizeof(text), "8.0.0.%d", i);
        assert_int_equal(address_limits_connections(p, addr(text, ip)), 0);
    }
    assert_int_equal(address_limits_count(p), 3);
    address_limits_free(p);
}

/* A worker whose clock is a little behind takes nothing from an address. */
static void clocks_differ(void **state)
{
    struct address_limits *p = address_limits_new(10);
    struct address_slot a = { 0 };

    (void)state;
    for (int i = 0; i < 5 * ADDRESS_BURST; i++)
        assert_int_equal(enter(p, &a, "203.0.113.1", &slow, CO_SECONDS(9) - i), ADDRESS_WELCOME);
    assert_int_equal(enter(p, &a, "203.0.113.1", &slow, CO_SECONDS(8)), ADDRESS_TOO_FAST);
    assert_int_equal(enter(p, &a, "203.0.113.1", &slow, CO_SECONDS(10)), ADDRESS_WELCOME);
    address_limits_leave(&a, 0);
    address_limits_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_address_has_its_own), TEST(an_ipv6_network_is_one), TEST(connects_are_paced),
        TEST(a_place_moves), TEST(memory_is_bounded), TEST(the_busy_one_is_remembered),
        TEST(many_are_connected), TEST(private_addresses_are_known),
        TEST(the_log_is_told_now_and_then), TEST(workers_tell_together),
        TEST(threads_share), TEST(clocks_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
