/* SPDX-License-Identifier: MIT */
/* test_rtmfp_directory.c - the directory of RTMFP peers: owners of ids, and what others learn of them. */
#include "serve/rtmfp/directory.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct udp_addr at(const char *ip, int port)
{
    struct udp_addr a;

    assert_ok(udp_addr_parse(&a, ip, port));
    return a;
}

static struct rtmfp_seat seat(uint32_t session, const char *ip)
{
    return (struct rtmfp_seat){ .worker = session % 4, .session = session, .at = at(ip, 4000) };
}

static void name(uint8_t id[RTMFP_PEER_ID], uint32_t n)
{
    memset(id, 0, RTMFP_PEER_ID);
    memcpy(id + 7, &n, sizeof(n));
}

static uint32_t who_has(struct rtmfp_directory *d, const uint8_t *id)
{
    struct rtmfp_address told[RTMFP_TOLD_MAX];
    struct udp_addr asker = at("198.51.100.9", 1);
    struct rtmfp_seat s;

    return rtmfp_directory_find(d, id, &asker, &s, told) > 0 ? s.session : 0;
}

static void the_first_keeps_its_id(void **state)
{
    struct rtmfp_directory *d = rtmfp_directory_new(100);
    struct rtmfp_presence *v[RTMFP_SAME_ID_MAX];
    uint8_t id[RTMFP_PEER_ID];
    struct rtmfp_seat holder, s;

    (void)state;
    name(id, 1);
    assert_int_equal(who_has(d, id), 0);
    for (uint32_t i = 0; i < RTMFP_SAME_ID_MAX; i++) {
        s = seat(11 + i, "192.0.2.1");
        v[i] = rtmfp_directory_enter(d, id, &s, &holder);
        assert_non_null(v[i]);
        assert_int_equal(holder.session, i ? 11 : 0);
        assert_int_equal(who_has(d, id), 11);
    }
    s = seat(99, "192.0.2.1");
    assert_null(rtmfp_directory_enter(d, id, &s, &holder));
    assert_int_equal(holder.session, 11);
    rtmfp_directory_leave(d, v[1]); /* a waiting one */
    assert_int_equal(who_has(d, id), 11);
    rtmfp_directory_leave(d, v[0]);
    assert_int_equal(who_has(d, id), 13);
    rtmfp_directory_pass(d, id, 13 % 4, 14); /* which does not have it */
    rtmfp_directory_pass(d, id, 2, 13);      /* another worker's */
    assert_int_equal(who_has(d, id), 13);
    rtmfp_directory_pass(d, id, 13 % 4, 13);
    assert_int_equal(who_has(d, id), 14);
    rtmfp_directory_leave(d, v[3]);
    assert_int_equal(who_has(d, id), 13); /* it waited after it */
    rtmfp_directory_pass(d, id, 13 % 4, 13);
    assert_int_equal(who_has(d, id), 13); /* no other peer has it */
    s = seat(33, "192.0.2.7");
    rtmfp_directory_move(d, v[2], &s);
    assert_int_equal(who_has(d, id), 33);
    rtmfp_directory_leave(d, v[2]);
    assert_int_equal(who_has(d, id), 0);
    assert_int_equal(rtmfp_directory_count(d), 0);
    rtmfp_directory_free(d);
}

static void it_is_bounded(void **state)
{
    enum { MOST = 3000 };
    struct rtmfp_directory *d = rtmfp_directory_new(MOST);
    struct rtmfp_presence **v = calloc(MOST, sizeof(struct rtmfp_presence *));
    uint8_t id[RTMFP_PEER_ID];
    struct rtmfp_seat holder, s;

    (void)state;
    for (uint32_t i = 0; i < MOST; i++) { /* in pairs of one id */
        name(id, i / 2);
        s = seat(1 + i, "192.0.2.1");
        v[i] = rtmfp_directory_enter(d, id, &s, &holder);
        assert_non_null(v[i]);
    }
    name(id, MOST);
    s = seat(1, "192.0.2.1");
    assert_null(rtmfp_directory_enter(d, id, &s, &holder));
    assert_int_equal(rtmfp_directory_count(d), MOST);
    for (uint32_t i = 0; i < MOST; i++) {
        name(id, i / 2);
        assert_int_equal(who_has(d, id), 1 + i);
        rtmfp_directory_leave(d, v[i]);
    }
    free(v);
    rtmfp_directory_free(d);
}

/* ---- addresses that others learn */

static const struct {
    const char *reported;
    int port;
    bool other_house, same_house; /* whether a peer of either learns it */
} rows[] = {
    { "203.0.113.5", 5000, true, true },
    { "2001:db8::5", 5000, true, true },
    { "192.0.2.1", 4001, true, true },
    { "192.168.1.5", 5000, false, true },
    { "10.0.0.5", 5000, false, true },
    { "172.16.0.1", 5000, false, true },
    { "169.254.0.1", 5000, false, true },
    { "fe80::1", 5000, false, true },
    { "fd00::1", 5000, false, true },
    { "127.0.0.1", 5000, false, false },
    { "127.255.0.1", 5000, false, false },
    { "::1", 5000, false, false },
    { "0.0.0.0", 5000, false, false },
    { "0.1.2.3", 5000, false, false },
    { "::", 5000, false, false },
    { "224.0.0.1", 5000, false, false },
    { "239.1.2.3", 5000, false, false },
    { "255.255.255.255", 5000, false, false },
    { "ff02::1", 5000, false, false },
    { "203.0.113.5", 0, false, false },
    { "192.0.2.1", 4000, false, false }, /* the observed one, which is known already */
};

static size_t told_to(struct rtmfp_directory *d, const char *ip, struct rtmfp_address *told)
{
    struct udp_addr asker = at(ip, 9);
    uint8_t id[RTMFP_PEER_ID];
    struct rtmfp_seat s;
    size_t n;

    name(id, 1);
    n = rtmfp_directory_find(d, id, &asker, &s, told);
    assert_in_range(n, 1, RTMFP_TOLD_MAX);
    assert_int_equal(told[0].origin, RTMFP_OBSERVED);
    assert_true(udp_addr_same(&told[0].at, &s.at));
    for (size_t i = 1; i < n; i++)
        assert_int_equal(told[i].origin, RTMFP_LOCAL);
    return n;
}

static void addresses_are_for_those_who_can_use_them(void **state)
{
    struct rtmfp_address told[RTMFP_TOLD_MAX], one;
    struct rtmfp_directory *d = rtmfp_directory_new(1);
    struct rtmfp_seat s = seat(1, "192.0.2.1"), holder;
    uint8_t id[RTMFP_PEER_ID];
    struct rtmfp_presence *p;

    (void)state;
    name(id, 1);
    p = rtmfp_directory_enter(d, id, &s, &holder);
    assert_non_null(p);
    for (size_t i = 0; i < COUNT(rows); i++) {
        one = (struct rtmfp_address){ .at = at(rows[i].reported, rows[i].port) };
        assert_int_equal(rtmfp_directory_report(d, p, &one, 1),
                         rows[i].same_house || i + 1 == COUNT(rows));
        assert_int_equal(told_to(d, "198.51.100.1", told), rows[i].other_house ? 2 : 1);
        assert_int_equal(told_to(d, "192.0.2.1", told), rows[i].same_house ? 2 : 1);
        if (rows[i].same_house)
            assert_true(udp_addr_same(&told[1].at, &one.at));
    }
    rtmfp_directory_report(d, p, NULL, 0);
    assert_int_equal(told_to(d, "192.0.2.1", told), 1);
    rtmfp_directory_leave(d, p);
    rtmfp_directory_free(d);
}

static void few_addresses_are_kept(void **state)
{
    struct rtmfp_address told[RTMFP_TOLD_MAX], list[40];
    struct rtmfp_directory *d = rtmfp_directory_new(1);
    struct rtmfp_seat s = seat(1, "192.0.2.1"), holder;
    uint8_t id[RTMFP_PEER_ID];
    struct rtmfp_presence *p;

    (void)state;
    name(id, 1);
    p = rtmfp_directory_enter(d, id, &s, &holder);
    assert_non_null(p);
    for (size_t i = 0; i < COUNT(list); i++) /* each twice */
        list[i] = (struct rtmfp_address){ .at = at("203.0.113.5", 5000 + (int)i / 2) };
    assert_int_equal(rtmfp_directory_report(d, p, list, 6), 6);
    assert_int_equal(told_to(d, "198.51.100.1", told), 4);
    assert_int_equal(told[3].at.port, 5002);
    rtmfp_directory_report(d, p, list, COUNT(list));
    assert_int_equal(told_to(d, "198.51.100.1", told), RTMFP_TOLD_MAX);
    rtmfp_directory_leave(d, p);
    rtmfp_directory_free(d);
}

/* ---- two workers */

enum { ROUNDS = 20000, IDS = 7 };

struct side {
    struct rtmfp_directory *d;
    uint32_t session;
    unsigned found, wrong;
};

static void round_of(struct side *me, uint32_t i)
{
    struct rtmfp_seat s = { .session = me->session, .at = { .port = 7 } }, holder, found;
    struct rtmfp_address told[RTMFP_TOLD_MAX], said = { .at = { .ip = { 0x20, 1 }, .port = 5 } };
    uint8_t id[RTMFP_PEER_ID];
    struct rtmfp_presence *p;

    name(id, i % IDS);
    p = rtmfp_directory_enter(me->d, id, &s, &holder);
    if (!p) {
        me->wrong++;
        return;
    }
    rtmfp_directory_report(me->d, p, &said, 1);
    rtmfp_directory_pass(me->d, id, 0, me->session);
    if (rtmfp_directory_find(me->d, id, &s.at, &found, told) == 0)
        me->wrong++; /* one of both has it */
    else
        me->found++;
    rtmfp_directory_leave(me->d, p);
}

static void *side_runs(void *arg)
{
    struct side *me = arg;

    for (uint32_t i = 0; i < ROUNDS; i++)
        round_of(me, i);
    return NULL;
}

static void two_workers(void **state)
{
    struct rtmfp_directory *d = rtmfp_directory_new(2);
    struct side sides[2] = { { .d = d, .session = 1 }, { .d = d, .session = 2 } };
    pthread_t other;

    (void)state;
    assert_int_equal(pthread_create(&other, NULL, side_runs, &sides[1]), 0);
    (void)side_runs(&sides[0]);
    (void)pthread_join(other, NULL);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(sides[i].wrong, 0);
        assert_int_equal(sides[i].found, ROUNDS);
    }
    assert_int_equal(rtmfp_directory_count(d), 0);
    rtmfp_directory_free(d);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(the_first_keeps_its_id),
        TEST(it_is_bounded),
        TEST(addresses_are_for_those_who_can_use_them),
        TEST(few_addresses_are_kept),
        TEST(two_workers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
