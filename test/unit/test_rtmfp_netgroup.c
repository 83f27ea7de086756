/* SPDX-License-Identifier: MIT */
/* test_rtmfp_netgroup.c - RTMFP groups: the join message, and which members are introduced. */
#include "serve/rtmfp/group_ring.h"
#include "proto/rtmfp/certificate.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* ---- the join message */

static const uint8_t specifier[] = "G:0123456789";

static size_t write_join(uint8_t *out, size_t room, struct rtmfp_bytes id)
{
    struct wr w = rtmfp_wr(out, room);

    wr_u8(&w, 0x01);
    rtmfp_bytes_write(&w, id);
    return w.len;
}

static void joins_are_read(void **state)
{
    uint8_t body[64] = { 0x10 }, message[80], id[RTMFP_GROUP_ID], right[RTMFP_GROUP_ID];
    size_t n;

    (void)state;
    memcpy(body + 1, specifier, sizeof(specifier));
    n = write_join(message, sizeof(message), rtmfp_bytes(body, 1 + sizeof(specifier)));
    for (size_t cut = 0; cut < n; cut++)
        assert_false(rtmfp_group_read(rtmfp_bytes(message, cut), id));
    assert_true(rtmfp_group_read(rtmfp_bytes(message, n), id));
    rtmfp_sha256(rtmfp_bytes(specifier, sizeof(specifier)), right);
    assert_memory_equal(id, right, sizeof(id));
    message[0] = 0x02;
    assert_false(rtmfp_group_read(rtmfp_bytes(message, n), id));

    body[0] = 0x15;
    memset(body + 1, 7, RTMFP_GROUP_ID);
    n = write_join(message, sizeof(message), rtmfp_bytes(body, 1 + RTMFP_GROUP_ID));
    assert_int_equal(message[1], 0x21);
    for (size_t cut = 0; cut < n; cut++)
        assert_false(rtmfp_group_read(rtmfp_bytes(message, cut), id));
    assert_true(rtmfp_group_read(rtmfp_bytes(message, n), id));
    assert_memory_equal(id, body + 1, sizeof(id));
}

static void wrong_joins(void **state)
{
    static const struct {
        uint8_t v[12];
        size_t n;
    } rows[] = {
        { { 0x01, 0x00 }, 2 },                   /* nothing */
        { { 0x01 }, 1 },
        { { 0x01, 0x00, 0x10 }, 3 },
        { { 0x01, 0x01, 0x10 }, 3 },             /* an empty specifier */
        { { 0x01, 0x02, 0x11, 'x' }, 4 },        /* another format */
        { { 0x01, 0x03, 0x15, 7, 7 }, 5 },       /* too short */
        { { 0x01, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00 }, 12 },
    };
    uint8_t id[RTMFP_GROUP_ID];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_false(rtmfp_group_read(rtmfp_bytes(rows[i].v, rows[i].n), id));
}

/* ---- members */

static struct rtmfp_groups_of session(uint32_t n)
{
    struct rtmfp_groups_of s = { .worker = n % 4, .session = n };

    memcpy(s.peer_id + 5, &n, sizeof(n));
    return s;
}

static const uint8_t one[RTMFP_GROUP_ID] = { 1 };

static bool join(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s, struct rtmfp_joined *out)
{
    return rtmfp_netgroups_join(g, s, 2, one, out);
}

static void expect_count(struct rtmfp_netgroups *g, size_t groups, size_t members)
{
    size_t n, m;

    rtmfp_netgroups_count(g, &n, &m);
    assert_int_equal(n, groups);
    assert_int_equal(m, members);
}

static void address_of(const struct rtmfp_groups_of *s, uint8_t out[RTMFP_HASH])
{
    uint8_t epd[RTMFP_EPD_OF_ID] = { 0x21, 0x0f };

    memcpy(epd + 2, s->peer_id, RTMFP_PEER_ID);
    rtmfp_sha256(rtmfp_bytes(epd, sizeof(epd)), out);
}

/* Number of the first n between both, going up from `from`. */
static unsigned between(struct rtmfp_groups_of *v, unsigned n, const uint8_t *from,
                        const uint8_t *to)
{
    bool over = memcmp(from, to, RTMFP_HASH) > 0;
    uint8_t at[RTMFP_HASH];
    unsigned count = 0;

    for (unsigned i = 0; i < n; i++) {
        bool above, below;

        address_of(&v[i], at);
        above = memcmp(at, from, RTMFP_HASH) > 0;
        below = memcmp(at, to, RTMFP_HASH) < 0;
        count += over ? above || below : above && below;
    }
    return count;
}

enum { MEMBERS = 100 };

static void expect_nearest(struct rtmfp_groups_of *v, unsigned n, const struct rtmfp_joined *out)
{
    uint8_t me[RTMFP_HASH], other[RTMFP_HASH];

    address_of(&v[n], me);
    for (size_t i = 0; i < out->near; i++) {
        const struct rtmfp_neighbour *of = &out->neighbours[i];
        unsigned up, down;

        assert_in_range(of->session, 1, n);
        assert_int_equal(of->worker, of->session % 4);
        assert_int_equal(of->flow, 2);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(of->session, out->neighbours[k].session);
        address_of(&v[of->session - 1], other);
        up = between(v, n, me, other);
        down = between(v, n, other, me);
        assert_true(n <= RTMFP_NEAREST || up < RTMFP_NEAREST / 2 || down < RTMFP_NEAREST / 2);
    }
}

static void who_joins_is_told_of_the_last_and_the_nearest_of_it(void **state)
{
    struct rtmfp_netgroups *g = rtmfp_netgroups_new(MEMBERS);
    static struct rtmfp_groups_of v[MEMBERS + 1];
    struct rtmfp_joined out;

    (void)state;
    for (unsigned i = 0; i < MEMBERS; i++) {
        v[i] = session(1 + i);
        assert_true(join(g, &v[i], &out));
        assert_int_equal(out.n, i < RTMFP_JOINER_TOLD ? i : RTMFP_JOINER_TOLD);
        assert_int_equal(out.near, i < RTMFP_NEAREST ? i : RTMFP_NEAREST);
        for (unsigned k = 0; k < out.n && k < RTMFP_LAST_JOINED; k++)
            assert_memory_equal(out.told[k], v[i - 1 - k].peer_id, RTMFP_PEER_ID);
        expect_nearest(v, i, &out);
    }
    expect_count(g, 1, MEMBERS);
    v[MEMBERS] = session(MEMBERS + 1);
    assert_false(join(g, &v[MEMBERS], &out)); /* there is no room */
    assert_int_equal(v[MEMBERS].n, 0);
    for (unsigned i = 0; i < MEMBERS; i += 2)
        rtmfp_netgroups_leave(g, &v[i], 2);
    assert_true(join(g, &v[MEMBERS], &out));
    assert_memory_equal(out.told[0], v[MEMBERS - 1].peer_id, RTMFP_PEER_ID);
    assert_memory_equal(out.told[1], v[MEMBERS - 3].peer_id, RTMFP_PEER_ID);
    for (unsigned i = 0; i <= MEMBERS; i++)
        rtmfp_netgroups_leave_all(g, &v[i]);
    expect_count(g, 0, 0);
    rtmfp_netgroups_free(g);
}

static void a_session_has_some_groups(void **state)
{
    struct rtmfp_netgroups *g = rtmfp_netgroups_new(1000);
    struct rtmfp_groups_of s = session(1);
    uint8_t id[RTMFP_GROUP_ID] = { 0 };
    struct rtmfp_joined out;

    (void)state;
    rtmfp_netgroups_leave(g, &s, 1);
    for (unsigned i = 0; i < RTMFP_GROUPS_MAX; i++) {
        id[3] = (uint8_t)i;
        assert_true(rtmfp_netgroups_join(g, &s, i, id, &out));
        assert_false(rtmfp_netgroups_join(g, &s, 1000, id, &out)); /* it is in there */
        id[4] = 1;
        assert_false(rtmfp_netgroups_join(g, &s, i, id, &out));    /* the flow has a group */
        id[4] = 0;
    }
    id[3] = RTMFP_GROUPS_MAX;
    assert_false(rtmfp_netgroups_join(g, &s, 1000, id, &out));
    expect_count(g, RTMFP_GROUPS_MAX, RTMFP_GROUPS_MAX);
    rtmfp_netgroups_leave(g, &s, 5);
    rtmfp_netgroups_leave(g, &s, 5);
    expect_count(g, RTMFP_GROUPS_MAX - 1, RTMFP_GROUPS_MAX - 1);
    assert_true(rtmfp_netgroups_join(g, &s, 1000, id, &out));
    rtmfp_netgroups_leave_all(g, &s);
    assert_int_equal(s.n, 0);
    expect_count(g, 0, 0);
    rtmfp_netgroups_free(g);
}

/* It came back before its old session was over: it is not introduced to itself. */
static void a_peer_twice(void **state)
{
    struct rtmfp_netgroups *g = rtmfp_netgroups_new(10);
    struct rtmfp_groups_of a = session(1), again = session(1), b = session(2);
    struct rtmfp_joined out;

    (void)state;
    again.session = 3;
    assert_true(join(g, &a, &out));
    assert_true(join(g, &again, &out));
    assert_int_equal(out.n, 0);
    assert_int_equal(out.near, 0);
    assert_true(join(g, &b, &out));
    assert_int_equal(out.n, 1); /* one peer, */
    assert_int_equal(out.near, 2); /* each of whose sessions is sent */
    rtmfp_netgroups_leave_all(g, &a);
    rtmfp_netgroups_leave_all(g, &b);
    assert_true(join(g, &b, &out));
    assert_int_equal(out.near, 1);
    assert_int_equal(out.neighbours[0].worker, again.worker);
    assert_int_equal(out.neighbours[0].session, 3);
    rtmfp_netgroups_leave_all(g, &again);
    rtmfp_netgroups_leave_all(g, &b);
    expect_count(g, 0, 0);
    rtmfp_netgroups_free(g);
}

static bool is_told(const struct rtmfp_joined *out, const struct rtmfp_groups_of *s)
{
    for (size_t i = 0; i < out->n; i++) {
        if (memcmp(out->told[i], s->peer_id, RTMFP_PEER_ID) == 0)
            return true;
    }
    return false;
}

static void silent_members_are_not_introduced(void **state)
{
    enum { ALL = 12, LOUD = 3 };
    struct rtmfp_netgroups *g = rtmfp_netgroups_new(100);
    struct rtmfp_groups_of v[ALL], late = session(50), last = session(51);
    struct rtmfp_joined out;

    (void)state;
    for (unsigned i = 0; i < ALL; i++) {
        v[i] = session(1 + i);
        assert_true(join(g, &v[i], &out));
    }
    for (unsigned i = LOUD; i < ALL; i++) /* none of those that joined last is left */
        rtmfp_netgroups_silent(g, &v[i], true);
    assert_true(join(g, &late, &out));
    assert_int_equal(out.n, LOUD);
    for (unsigned i = 0; i < ALL; i++)
        assert_true(is_told(&out, &v[i]) == (i < LOUD));
    assert_int_equal(out.near, RTMFP_NEAREST); /* that may come back */
    rtmfp_netgroups_silent(g, &v[ALL - 1], false);
    assert_true(join(g, &last, &out));
    assert_int_equal(out.n, LOUD + 2);
    assert_true(is_told(&out, &v[ALL - 1]));
    for (unsigned i = 0; i < ALL; i++)
        rtmfp_netgroups_leave_all(g, &v[i]);
    rtmfp_netgroups_leave_all(g, &late);
    rtmfp_netgroups_leave_all(g, &last);
    rtmfp_netgroups_free(g);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(joins_are_read),
        TEST(wrong_joins),
        TEST(who_joins_is_told_of_the_last_and_the_nearest_of_it),
        TEST(a_session_has_some_groups),
        TEST(a_peer_twice),
        TEST(silent_members_are_not_introduced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
