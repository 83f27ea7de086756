/* SPDX-License-Identifier: MIT */
/* test_rtc_table.c - session of a WebRTC datagram: addresses, names, and addresses of others. */
#include "serve/rtc/peer.h"
#include "serve/rtc/table.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

static const struct rtc_endpoint *ends[2];
static char some[2];

static struct udp_addr address(unsigned n)
{
    struct udp_addr a = { .port = (uint16_t)(1 + n % 60000) };

    a.ip[10] = a.ip[11] = 0xff;
    a.ip[12] = 192;
    a.ip[15] = (uint8_t)(n / 60000);
    return a;
}

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) /* compared only, never dereferenced */
        ends[i] = (const struct rtc_endpoint *)(const void *)&some[i];
    return 0;
}

static void test_an_address_belongs_to_one_session_of_an_endpoint(void **state)
{
    struct rtc_peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
    struct udp_addr one = address(1), two = address(2);
    static struct rtc_table t;

    (void)state;
    rtc_table_init(&t);
    assert_null(rtc_table_find(&t, ends[0], &one));
    assert_non_null(rtc_table_own(&t, a, ends[0], &one, 0, false, 1));
    assert_true(rtc_table_own(&t, a, ends[0], &one, 0, true, 2)->sure);
    assert_true(rtc_table_own(&t, a, ends[0], &one, 0, false, 3)->sure);
    assert_false(rtc_table_own(&t, a, ends[0], &one, 3, false, 4)->sure); /* over another path now */
    assert_int_equal(a->routes->worker, 3);
    assert_ptr_equal(rtc_table_find(&t, ends[0], &one)->peer, a);
    assert_null(rtc_table_find(&t, ends[1], &one));
    assert_null(rtc_table_find(&t, ends[0], &two));
    assert_null(rtc_table_own(&t, b, ends[0], &one, 0, false, 5)); /* its source may be forged */
    a->routes->used = 6;
    assert_null(rtc_table_own(&t, b, ends[0], &one, 0, false, 5 + RTC_OWNER_SILENT));
    assert_ptr_equal(rtc_table_find(&t, ends[0], &one)->peer, a);
    assert_ptr_equal(rtc_table_own(&t, b, ends[0], &one, 0, true, 7)->peer, b); /* it is there */
    assert_null(a->routes);
    assert_null(rtc_table_own(&t, a, ends[0], &one, 0, false, 8));
    assert_non_null(rtc_table_own(&t, a, ends[0], &one, 0, false, 8 + RTC_OWNER_SILENT));
    assert_null(b->routes);
    assert_non_null(rtc_table_own(&t, b, ends[0], &one, 0, true, 9));
    assert_ptr_equal(rtc_table_find(&t, ends[0], &one)->peer, b);
    assert_null(a->routes);
    rtc_table_drop(&t, b->routes);
    assert_null(b->routes);
    assert_int_equal(t.routes.n, 0);
    rtc_table_fini(&t);
    free(a);
    free(b);
}

static void test_a_session_has_few_addresses_and_keeps_its_own(void **state)
{
    struct rtc_peer *p = calloc(1, sizeof(*p));
    struct udp_addr own = address(2000);
    static struct rtc_table t;

    (void)state;
    rtc_table_init(&t);
    assert_non_null(rtc_table_own(&t, p, ends[0], &own, 0, true, 1));
    assert_null(rtc_table_spare(p));
    for (unsigned i = 0; i < 1000; i++) {
        struct udp_addr from = address(i);

        assert_non_null(rtc_table_own(&t, p, ends[0], &from, 0, false, 2 + i));
        assert_true(t.routes.n <= ICE_PATHS);
        assert_ptr_equal(rtc_table_find(&t, ends[0], &from)->peer, p);
        assert_ptr_equal(rtc_table_find(&t, ends[0], &own)->peer, p); /* with any other content */
    }
    assert_non_null(rtc_table_spare(p));
    rtc_table_fini(&t);
    assert_null(p->routes);
    free(p);
}

static void test_addresses_of_others_are_bounded_and_forgotten(void **state)
{
    struct rtc_peer *p = calloc(1, sizeof(*p));
    struct udp_addr one = address(0), last = address(RTC_FOREIGN_MAX);
    static struct rtc_table t;

    (void)state;
    rtc_table_init(&t);
    assert_non_null(rtc_table_own(&t, p, ends[0], &one, 0, true, 1));
    rtc_table_foreign(&t, ends[0], &one, 2, false, 2); /* a check alone gives it to no other session */
    assert_non_null(p->routes);
    rtc_table_foreign(&t, ends[0], &one, 2, true, 2);
    assert_null(p->routes);
    rtc_table_foreign(&t, ends[0], &one, 3, false, 3);
    assert_int_equal(rtc_table_find(&t, ends[0], &one)->worker, 2);
    rtc_table_foreign(&t, ends[0], &one, 3, false, 2 + RTC_OWNER_SILENT);
    assert_int_equal(rtc_table_find(&t, ends[0], &one)->worker, 3);
    rtc_table_foreign(&t, ends[0], &one, 2, true, 3);
    assert_int_equal(rtc_table_find(&t, ends[0], &one)->worker, 2);
    rtc_table_forget(&t, ends[0], &one, 1); /* it is not that one's */
    assert_non_null(rtc_table_find(&t, ends[0], &one));
    rtc_table_forget(&t, ends[0], &one, 2);
    assert_null(rtc_table_find(&t, ends[0], &one));
    for (unsigned i = 0; i <= RTC_FOREIGN_MAX; i++) {
        struct udp_addr from = address(i);

        rtc_table_foreign(&t, ends[0], &from, 1, false, 1);
    }
    assert_int_equal(t.foreign, RTC_FOREIGN_MAX);
    assert_null(rtc_table_find(&t, ends[0], &last));
    for (size_t i = 0; i <= t.routes.mask; i++) /* checks some, each time */
        rtc_table_foreign(&t, ends[0], &last, 1, false, 2 + RTC_FOREIGN_KEEP);
    assert_int_equal(t.foreign, 1);
    rtc_table_fini(&t);
    free(p);
}

static void test_what_follows_a_check_goes_where_that_went(void **state)
{
    struct udp_addr one = address(1), two = address(2);
    static struct rtc_table t;
    unsigned worker;

    (void)state;
    rtc_table_init(&t);
    assert_false(rtc_table_hinted(&t, ends[0], &one, 0, &worker));
    rtc_table_hint(&t, ends[0], &one, 3, 10);
    assert_false(rtc_table_hinted(&t, ends[0], &two, 10, &worker));
    assert_false(rtc_table_hinted(&t, ends[1], &one, 10, &worker));
    assert_false(rtc_table_hinted(&t, ends[0], &one, 10 + RTC_HINT_KEEP, &worker));
    for (unsigned i = 0; i < RTC_HINT_DATAGRAMS; i++) {
        assert_true(rtc_table_hinted(&t, ends[0], &one, 10, &worker));
        assert_int_equal(worker, 3);
    }
    assert_false(rtc_table_hinted(&t, ends[0], &one, 10, &worker));
    rtc_table_fini(&t);
}

#define named rtc_table_named

static void test_names_are_whole(void **state)
{
    enum { N = 1000 };
    struct rtc_peer *v = calloc(N, sizeof(*v));
    static struct rtc_table t;

    (void)state;
    rtc_table_init(&t);
    for (unsigned i = 0; i < N; i++) {
        (void)snprintf(v[i].ice.ufrag, sizeof(v[i].ice.ufrag), "A%07u", i);
        (void)snprintf(v[i].ufrag, sizeof(v[i].ufrag), "A%07u", N - 1 - i);
        v[i].location.kind = RTC_NAME_LOCATION;
        rtc_table_name(&t, &v[i].name, &v[i], v[i].ice.ufrag);
        rtc_table_name(&t, &v[i].location, &v[i], v[i].ufrag);
    }
    for (unsigned i = 0; i < N; i++) {
        assert_ptr_equal(named(&t, RTC_NAME_CHECKS, v[i].ice.ufrag, 8), &v[i]);
        assert_ptr_equal(named(&t, RTC_NAME_LOCATION, v[i].ufrag, 8), &v[i]);
    }
    assert_null(named(&t, RTC_NAME_CHECKS, "A0000001", 7));
    assert_null(named(&t, RTC_NAME_CHECKS, "A0000001\0\0", 10));
    assert_null(named(&t, RTC_NAME_LOCATION, "", 0));
    for (unsigned i = 0; i < N; i++) {
        rtc_table_unname(&t, &v[i].name);
        rtc_table_unname(&t, &v[i].name);
        assert_null(named(&t, RTC_NAME_CHECKS, v[i].ice.ufrag, 8));
        assert_non_null(named(&t, RTC_NAME_LOCATION, v[i].ice.ufrag, 8));
    }
    for (unsigned i = 0; i < N; i++)
        rtc_table_unname(&t, &v[i].location);
    assert_int_equal(t.names.n, 0);
    rtc_table_fini(&t);
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_address_belongs_to_one_session_of_an_endpoint),
        cmocka_unit_test(test_a_session_has_few_addresses_and_keeps_its_own),
        cmocka_unit_test(test_addresses_of_others_are_bounded_and_forgotten),
        cmocka_unit_test(test_what_follows_a_check_goes_where_that_went),
        cmocka_unit_test(test_names_are_whole),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
