/* SPDX-License-Identifier: MIT */
/* test_rtsp_multicast.c - the multicast group of a stream. */
#include "base/ip.h"
#include "conf_mem.h"
#include "serve/rtsp/multicast.h"
#include "unit.h"

static const struct conf_network *range_of(struct conf **c, const char *text)
{
    char conf[200];

    (void)snprintf(conf, sizeof(conf), "listen 1935; rtsp_server { multicast { range %s; } }",
                   text);
    *c = mem_conf(conf);
    return (*c)->rtsp_server.multicast.range.v;
}

/* The last byte of each group that a stream may get, in the order of attempts. */
static void groups_are(const char *range, const char *stream, unsigned worker, unsigned workers,
                       unsigned want)
{
    struct conf *c;
    const struct conf_network *net = range_of(&c, range);
    uint8_t seen[256] = { 0 };
    struct udp_addr at;
    unsigned n = 0;

    while (rtsp_multicast_group(&at, net, stream, worker, workers, n)) {
        assert_true(udp_addr_is_v4(&at) && at.ip[12] == 239 && at.ip[13] == 7 && at.ip[14] == 0);
        assert_int_equal(at.ip[15] % workers, worker);
        assert_int_equal(seen[at.ip[15]]++, 0);
        n++;
    }
    assert_int_equal(n, want);
    conf_unref(c);
}

static void test_all_of_a_range(void **state)
{
    (void)state;
    groups_are("239.7.0.0/24", "v/live/s", 0, 1, 256);
    groups_are("239.7.0.99/24", "v/live/s", 0, 1, 256); /* a network: the host part is ignored */
    groups_are("239.7.0.0/24", "v/live/t", 2, 4, 64);
    groups_are("239.7.0.0/30", "v/live/s", 0, 3, 2);
    groups_are("239.7.0.0/30", "v/live/s", 2, 3, 1);
    groups_are("239.7.0.0/32", "v/live/s", 0, 4, 1);
    groups_are("239.7.0.0/32", "v/live/s", 1, 4, 0);
}

/* Workers never share a group; a stream always gets the same group; streams differ. */
static void test_groups_differ(void **state)
{
    struct conf *c;
    const struct conf_network *net = range_of(&c, "224.0.0.0/4");
    struct udp_addr a, b;

    (void)state;
    assert_true(rtsp_multicast_group(&a, net, "v/live/s", 0, 4, 0));
    assert_true(a.ip[12] >> 4 == 0xe);
    assert_true(rtsp_multicast_group(&b, net, "v/live/s", 0, 4, 0));
    assert_true(udp_addr_same(&a, &b));
    assert_true(rtsp_multicast_group(&b, net, "v/live/t", 0, 4, 0));
    assert_false(udp_addr_same(&a, &b));
    assert_true(rtsp_multicast_group(&b, net, "v/live/s", 3, 4, 0));
    assert_false(udp_addr_same(&a, &b));
    assert_true(rtsp_multicast_group(&b, net, "v/live/s", 0, 4, 1));
    assert_false(udp_addr_same(&a, &b));
    conf_unref(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_of_a_range),
        cmocka_unit_test(test_groups_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
