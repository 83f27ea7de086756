/* SPDX-License-Identifier: MIT */
/* test_rtmfp_meet.c - RTMFP clients that look for each other over loopback: introduction, claims
 * of an id, groups, other servers, rate of requests per address.
 */
#include "rtmfp_guest.h"

#include "serve/rtmfp/redirect.h"
#include "serve/rtmfp/table.h"

/* ---- the requester */

struct told {
    size_t n;
    struct rtmfp_address list[RTMFP_REDIRECTS_MAX];
};

/* Type of the one datagram: a Redirect, which is returned, or another. */
static bool read_told(const uint8_t *data, size_t size, struct told *out)
{
    static struct rtmfp_startup other;
    struct rtmfp_packet packet;
    struct rtmfp_redirect r;
    struct rtmfp_chunk c;
    struct rd in;

    assert_true(rtmfp_startup_init(&other));
    assert_true(rtmfp_startup_open(&other, data, size, &packet));
    assert_true(rtmfp_chunk_next(&packet, &c));
    out->n = 0;
    if (c.type == RTMFP_REDIRECT) {
        assert_true(rtmfp_redirect_read(&r, c.body));
        assert_int_equal(r.tag.n, RTMFP_TAG);
        for (in = rtmfp_rd(r.addresses); rd_left(&in) > 0; out->n++)
            rtmfp_address_read(&in, &out->list[out->n]);
        assert_false(in.bad);
    }
    rtmfp_startup_fini(&other);
    return out->n > 0;
}

/* False: there was no answer, or one without addresses. NULL: none is expected. */
static bool ask_with(const uint8_t *epd, size_t size, struct told *out)
{
    uint8_t data[RTMFP_DATAGRAM_MAX];
    static struct guest g;
    struct udp_addr to;
    bool told = false;
    size_t n;

    guest_look_for(&g, rtmfp_bytes(epd, size), NULL);
    n = rtmfp_initiator_output(&g.initiator, data, &to, co_clock());
    assert_true(n > 0);
    guest_send(&g, data, n);
    n = guest_receive(&g, data, out ? CO_SECONDS(3) : CO_MS(30));
    if (n > 0)
        told = !out || read_told(data, n, out);
    guest_close(&g);
    return told;
}

static bool ask_for(const uint8_t *peer_id, struct told *out)
{
    uint8_t epd[2 + RTMFP_PEER_ID] = { 0x21, 0x0f };

    memcpy(epd + 2, peer_id, RTMFP_PEER_ID);
    return ask_with(epd, sizeof(epd), out);
}

/* ---- the peers */

static struct rtmfp_peer *enter(struct guest *g)
{
    struct rtmfp_peer *p;

    assert_true(guest_greet(g, CO_SECONDS(5)));
    guest_ping(g);
    p = rtmfp_table_find(rtmfp_service_of(guests_env)->table, &g->socket->at);
    assert_non_null(p);
    return p;
}

static void gone(struct guest *g)
{
    rtmfp_session_close(&g->session, co_clock());
    guest_say(g);
    UNTIL(!rtmfp_table_find(rtmfp_service_of(guests_env)->table, &g->socket->at));
    guest_close(g);
}

/* Everything that arrives, until there are n messages. */
static void guest_hears(struct guest *g, unsigned messages)
{
    while (g->messages < messages)
        assert_true(guest_hear(g));
    guest_say(g);
}

static void test_two_are_introduced(void **state)
{
    static const uint8_t nobody[RTMFP_PEER_ID] = { 1 };
    struct rtmfp_address own = { .at = { .port = 9 } };
    struct rtmfp_forwarded f;
    static struct guest a;
    struct rtmfp_peer *p;
    struct told told;

    (void)state;
    guests_begin("");
    guest_open(&a);
    p = enter(&a);
    assert_false(ask_for(a.me.id, NULL)); /* it did not send setPeerInfo */
    assert_ok(udp_addr_parse(&own.at, "203.0.113.5", 4000));
    rtmfp_presence_set(p, &own, 1);
    assert_true(ask_for(a.me.id, &told));
    assert_int_equal(told.n, 2);
    assert_int_equal(told.list[0].origin, RTMFP_OBSERVED);
    assert_true(udp_addr_same(&told.list[0].at, &a.socket->at));
    assert_int_equal(told.list[1].origin, RTMFP_LOCAL);
    assert_true(udp_addr_same(&told.list[1].at, &own.at));
    while (a.forwards == 0)
        assert_true(guest_hear(&a));
    assert_true(rtmfp_forwarded_read(&f, rtmfp_bytes(a.forward, a.forward_size)));
    assert_int_equal(f.epd.n, 2 + RTMFP_PEER_ID);
    assert_memory_equal(f.epd.p + 2, a.me.id, RTMFP_PEER_ID);
    assert_int_equal(f.reply_to.origin, RTMFP_OBSERVED);
    assert_int_equal(f.tag.n, RTMFP_TAG);

    assert_false(ask_for(nobody, NULL));
    assert_int_equal(guests_stat().introductions, 1);
    assert_int_equal(guests_stat().unknown_peers, 2);
    assert_int_equal(guests_stat().redirects, 0);
    gone(&a);
    assert_false(ask_for(a.me.id, NULL));
    guests_finish();
}

static void test_no_introductions_if_off(void **state)
{
    static struct guest a;

    (void)state;
    guests_begin("introduce off;");
    guest_open(&a);
    rtmfp_presence_set(enter(&a), NULL, 0);
    assert_false(ask_for(a.me.id, NULL));
    assert_int_equal(guests_stat().introductions, 0);
    guest_close(&a);
    guests_finish();
}

static void test_an_address_may_ask_so_often(void **state)
{
    static const uint8_t nobody[RTMFP_PEER_ID] = { 1 };
    unsigned asked = 0;

    (void)state;
    guests_begin("");
    while (guests_stat().introductions_limited == 0 && asked++ < 100) {
        static struct guest g;
        uint8_t data[RTMFP_DATAGRAM_MAX], epd[2 + RTMFP_PEER_ID] = { 0x21, 0x0f, 1 };
        struct udp_addr to;

        guest_look_for(&g, rtmfp_bytes(epd, sizeof(epd)), NULL);
        guest_send(&g, data, rtmfp_initiator_output(&g.initiator, data, &to, co_clock()));
        UNTIL(guests_stat().unknown_peers + guests_stat().introductions_limited == asked);
        guest_close(&g);
    }
    assert_in_range(asked, 21, 60); /* 20 at once, and then 20 a second */
    assert_false(ask_for(nobody, NULL));
    guests_finish();
}

/* The first keeps the id as long as it answers. */
static void test_two_claim_one_id(void **state)
{
    static struct guest a, b;
    struct told told;

    (void)state;
    guests_begin("");
    guest_open(&a);
    rtmfp_presence_set(enter(&a), NULL, 0);
    guest_look_for(&b, rtmfp_bytes(guest_app, sizeof(guest_app)), &a.me);
    rtmfp_presence_set(enter(&b), NULL, 0);
    assert_true(ask_for(a.me.id, &told));
    assert_true(udp_addr_same(&told.list[0].at, &a.socket->at));
    assert_true(guest_hear(&a)); /* it is pinged, */
    guest_say(&a);
    rtmfp_presence_set(rtmfp_table_find(rtmfp_service_of(guests_env)->table, &b.socket->at), NULL, 0);
    assert_true(ask_for(a.me.id, &told));
    assert_true(udp_addr_same(&told.list[0].at, &a.socket->at));
    gone(&a);                    /* and then it has gone */
    assert_true(ask_for(a.me.id, &told));
    assert_true(udp_addr_same(&told.list[0].at, &b.socket->at));
    gone(&b);
    guests_finish();
}

/* ---- other servers */

static const uint8_t of_app[] = { 20, 0x0a, 'r', 't', 'm', 'f', 'p', ':', '/', '/', 'h',
                                  '/', 'l', 'i', 'v', 'e', '/', 'a', '/', 'b', 'c' };
static const uint8_t same_app[] = { 14, 0x0a, 'r', 't', 'm', 'f', 'p', ':', '/', '/', 'g',
                                    '/', 'l', 'i', 'v' };

static void test_clients_are_sent_to_other_servers(void **state)
{
    static const uint8_t nobody[RTMFP_PEER_ID] = { 1 };
    static struct guest g;
    struct told told, again;

    (void)state;
    guests_begin("redirect 192.0.2.1:1935 [2001:db8::2]:2000 192.0.2.3;");
    assert_true(ask_with(of_app, sizeof(of_app), &told));
    assert_int_equal(told.n, 3);
    for (size_t i = 0; i < told.n; i++)
        assert_int_equal(told.list[i].origin, RTMFP_RELAY);
    assert_int_equal(told.list[1].at.port, 2000);
    assert_int_equal(told.list[2].at.port, 1935);
    assert_false(ask_for(nobody, NULL)); /* redirect_peers is off */
    assert_int_equal(guests_stat().redirects, 1);
    guests_finish();

    guests_begin("redirect 192.0.2.1 192.0.2.2 192.0.2.3; redirect_by app; redirect_peers on;");
    assert_true(ask_with(of_app, sizeof(of_app), &told));
    assert_int_equal(told.n, 1);
    assert_true(ask_with(of_app, sizeof(of_app), &again));
    assert_true(udp_addr_same(&told.list[0].at, &again.list[0].at));
    assert_true(ask_with(same_app, sizeof(same_app), &again));
    assert_int_equal(again.n, 1);
    assert_true(ask_for(nobody, &told));
    assert_int_equal(told.n, 3);
    assert_int_equal(guests_stat().redirects, 4);
    guests_finish();

    guests_begin("redirect 192.0.2.1; redirect_peers only;");
    guest_open(&g);
    rtmfp_presence_set(enter(&g), NULL, 0);
    assert_true(ask_for(nobody, &told));
    assert_int_equal(told.list[0].origin, RTMFP_RELAY);
    assert_true(ask_for(g.me.id, &told));
    assert_int_equal(told.list[0].origin, RTMFP_OBSERVED);
    guest_close(&g);
    guests_finish();
}

/* ---- groups */

enum { FOUR = 4 };

/* Its flow exists so that ours can answer it; its messages are sent here. */
static void join(struct guest *g, struct rtmfp_peer *p, struct rtmfp_flow_in *f)
{
    static const uint8_t message[] = { 0x01, 0x05, 0x10, 'G', ':', '0', '1' };
    const struct rtmfp_flow_out *out = rtmfp_flow_open(&g->session, rtmfp_bytes("GC", 2), NULL,
                                                       RTMFP_COMMANDS);

    f->id = out->id;
    assert_true(rtmfp_netgroup_opened(p, f));
    assert_true(rtmfp_netgroup_message(p, f, message, sizeof(message)));
    assert_true(rtmfp_netgroup_message(p, f, message, 1)); /* the rest is not read */
    rtmfp_peer_touch(p);
}

static void test_a_group_of_four(void **state)
{
    static struct rtmfp_flow_in flows[FOUR];
    static struct guest g[FOUR];
    struct rtmfp_peer *p[FOUR];

    (void)state;
    guests_begin("");
    for (unsigned i = 0; i < FOUR; i++) {
        guest_open(&g[i]);
        p[i] = enter(&g[i]);
        join(&g[i], p[i], &flows[i]);
        guest_hears(&g[i], i); /* the existing members, the last one first */
        for (unsigned k = 0; k < i; k++) {
            guest_hears(&g[k], i);
            assert_int_equal(g[k].said_size, 1 + RTMFP_PEER_ID);
            assert_int_equal(g[k].said[0], 0x0b);
            assert_memory_equal(g[k].said + 1, g[i].me.id, RTMFP_PEER_ID);
        }
        assert_true(i == 0 || memcmp(g[i].said + 1, g[0].me.id, RTMFP_PEER_ID) == 0);
    }
    assert_int_equal(guests_stat().groups, 1);
    assert_int_equal(guests_stat().group_members, FOUR);
    rtmfp_netgroup_closed(p[0], &flows[0]);
    assert_int_equal(guests_stat().group_members, FOUR - 1);
    for (unsigned i = 0; i < FOUR; i++)
        gone(&g[i]);
    assert_int_equal(guests_stat().groups, 0);
    guests_finish();
}

static void test_flows_of_groups_that_join_nothing(void **state)
{
    static const uint8_t wrong[] = { 0x01, 0x05, 0x11, 'G', ':', '0', '1' };
    static const uint8_t right[] = { 0x01, 0x05, 0x10, 'G', ':', '0', '1' };
    struct rtmfp_flow_in f = { .id = 2 }, same = { .id = 4 }, strange = { .id = 6 };
    static struct guest g;
    struct rtmfp_peer *p;

    (void)state;
    guests_begin("");
    guest_open(&g);
    p = enter(&g);
    assert_false(rtmfp_netgroup_message(p, &strange, right, sizeof(right)));
    rtmfp_netgroup_closed(p, &strange);
    assert_true(rtmfp_netgroup_opened(p, &f));
    assert_false(rtmfp_netgroup_message(p, &f, wrong, sizeof(wrong)));
    assert_true(rtmfp_netgroup_message(p, &f, right, sizeof(right)));
    assert_true(rtmfp_netgroup_opened(p, &same));
    assert_false(rtmfp_netgroup_message(p, &same, right, sizeof(right))); /* it is in there */
    rtmfp_netgroup_closed(p, &same);
    assert_int_equal(guests_stat().group_members, 1);
    gone(&g); /* with a flow that was not closed */
    assert_int_equal(guests_stat().group_members, 0);
    guests_finish();

    guests_begin("groups_enabled off;");
    guest_open(&g);
    p = enter(&g);
    assert_false(rtmfp_netgroup_opened(p, &f));
    guest_close(&g);
    guests_finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_two_are_introduced),
        TEST(test_no_introductions_if_off),
        TEST(test_an_address_may_ask_so_often),
        TEST(test_two_claim_one_id),
        TEST(test_clients_are_sent_to_other_servers),
        TEST(test_a_group_of_four),
        TEST(test_flows_of_groups_that_join_nothing),
    };

    return cmocka_run_group_tests(tests, guests_start, guests_stop);
}
