/* SPDX-License-Identifier: MIT */
/* test_rtmfp_table.c - session of an RTMFP datagram: the socket filter, sessions and handshakes by
 * address, and the rate limit of an address.
 */
#include "rtmfp_bytes.h"

#include "base/ip.h"
#include "serve/rtmfp/impl.h"
#include "serve/rtmfp/rate.h"
#include "serve/rtmfp/table.h"

enum { MANY = 1000 };

/* ---- the filter, as the kernel runs it */

static uint32_t word(const uint8_t *data, uint32_t at)
{
    return (uint32_t)data[at] << 24 | (uint32_t)data[at + 1] << 16 | (uint32_t)data[at + 2] << 8 |
           data[at + 3];
}

static uint32_t run(const struct sock_filter *code, unsigned n, const uint8_t *data, size_t size)
{
    uint32_t a = 0, x = 0;

    for (unsigned i = 0; i < n; i++) {
        const struct sock_filter *c = &code[i];

        switch (c->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (c->k + 4 > size)
                return 0;
            a = word(data, c->k);
            break;
        case BPF_MISC | BPF_TAX: x = a; break;
        case BPF_ALU | BPF_XOR | BPF_X: a ^= x; break;
        case BPF_ALU | BPF_MOD | BPF_K: a %= c->k; break;
        case BPF_JMP | BPF_JEQ | BPF_K: i += a == c->k ? c->jt : c->jf; break;
        case BPF_RET | BPF_A: return a;
        case BPF_RET | BPF_K: return c->k;
        default: fail_msg("step %u is another one", i);
        }
    }
    fail_msg("no end");
    return 0;
}

/* A datagram to this session, scrambled with the bytes after it. */
static void datagram(uint8_t out[20], uint32_t id, uint8_t fill)
{
    uint32_t scrambled;

    for (int i = 4; i < 20; i++)
        out[i] = (uint8_t)(fill + i * 37);
    scrambled = id ^ word(out, 4) ^ word(out, 8);
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(scrambled >> (24 - 8 * i));
}

static void test_the_filter_finds_the_worker(void **state)
{
    static const uint32_t ids[] = { 1, 2, 3, 4, 5, 0x7fffffff, 0x80000000, UINT32_MAX };
    struct sock_filter code[RTMFP_DISPATCH_STEPS];
    uint8_t data[20];

    (void)state;
    for (unsigned workers = 1; workers <= 5; workers++) {
        unsigned n = rtmfp_dispatch_program(code, workers);

        for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
            uint32_t id;

            datagram(data, ids[i], (uint8_t)(workers * 11));
            assert_true(rtmfp_session_id(data, sizeof(data), &id));
            assert_int_equal(id, ids[i]);
            assert_int_equal(run(code, n, data, sizeof(data)), datagram_worker_of(id, workers));
        }
        datagram(data, 0, 9);
        assert_true(run(code, n, data, sizeof(data)) >= 1u << 16); /* no socket: by addresses */
        for (size_t size = 0; size < 12; size++)
            assert_int_equal(run(code, n, data, size), 0);
    }
}

/* ---- the table */

static struct udp_addr address(unsigned i)
{
    struct udp_addr a = { .port = (uint16_t)(1000 + i % 7) };

    ip_from_v4((const uint8_t[4]){ 10, 0, (uint8_t)(i >> 8), (uint8_t)i }, a.ip);
    return a;
}

static void test_sessions_are_found_by_address(void **state)
{
    static struct rtmfp_peer v[MANY], again;
    struct rtmfp_table *t = rtmfp_table_new();
    struct udp_addr at = address(MANY), was = address(5);

    (void)state;
    assert_null(rtmfp_table_find(t, &at));
    for (unsigned i = 0; i < MANY; i++) {
        v[i].session.peer = address(i);
        rtmfp_table_add(t, &v[i]);
    }
    for (unsigned i = 0; i < MANY; i++)
        assert_ptr_equal(rtmfp_table_find(t, &v[i].session.peer), &v[i]);
    assert_null(rtmfp_table_find(t, &at));
    again.session.peer = was; /* for one address the last one counts */
    rtmfp_table_add(t, &again);
    assert_ptr_equal(rtmfp_table_find(t, &was), &again);
    rtmfp_table_remove(t, &again, &was);
    assert_ptr_equal(rtmfp_table_find(t, &was), &v[5]);
    v[5].session.peer = at;   /* it moved */
    rtmfp_table_remove(t, &v[5], &was);
    rtmfp_table_add(t, &v[5]);
    assert_null(rtmfp_table_find(t, &was));
    assert_ptr_equal(rtmfp_table_find(t, &at), &v[5]);
    for (unsigned i = 0; i < MANY; i++) {
        rtmfp_table_remove(t, &v[i], &v[i].session.peer);
        rtmfp_table_remove(t, &v[i], &v[i].session.peer); /* it is not there: fine */
        assert_null(rtmfp_table_find(t, &v[i].session.peer));
    }
    rtmfp_table_free(t);
}

static void test_the_last_of_an_address_stays_the_last_among_many(void **state)
{
    static struct rtmfp_peer v[MANY], pair[2];
    struct rtmfp_table *t = rtmfp_table_new();

    (void)state;
    for (int i = 0; i < 2; i++) {
        pair[i].session.peer = address(MANY + 1);
        rtmfp_table_add(t, &pair[i]);
    }
    for (unsigned i = 0; i < MANY; i++) {
        v[i].session.peer = address(i);
        rtmfp_table_add(t, &v[i]);
    }
    assert_ptr_equal(rtmfp_table_find(t, &pair[0].session.peer), &pair[1]);
    for (unsigned i = 0; i < MANY; i++)
        rtmfp_table_remove(t, &v[i], &v[i].session.peer);
    for (int i = 0; i < 2; i++)
        rtmfp_table_remove(t, &pair[i], &pair[i].session.peer);
    rtmfp_table_free(t);
}

static void test_handshakes_are_found_by_address_and_id(void **state)
{
    static struct rtmfp_handshake v[MANY];
    struct rtmfp_table *t = rtmfp_table_new();

    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        v[i].path.peer = address(i / 2);
        v[i].id = i;
        rtmfp_table_add_keying(t, &v[i]);
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(rtmfp_table_is_keying(t, &v[i].path.peer, i));
        assert_false(rtmfp_table_is_keying(t, &v[i].path.peer, MANY));
        assert_null(rtmfp_table_find(t, &v[i].path.peer));
        rtmfp_table_remove_keying(t, &v[i]);
        assert_false(rtmfp_table_is_keying(t, &v[i].path.peer, i));
    }
    rtmfp_table_free(t);
}

/* ---- rates */

static unsigned taken(struct rtmfp_rate *r, const uint8_t ip[16], unsigned asked, co_usec now)
{
    unsigned n = 0;

    for (unsigned i = 0; i < asked; i++)
        n += rtmfp_rate_take(r, ip, 200, 400, now);
    return n;
}

static void test_an_address_has_its_rate_and_its_burst(void **state)
{
    struct rtmfp_rate *r = rtmfp_rate_new();
    struct udp_addr a = address(1), b = address(2);
    co_usec now = CO_SECONDS(1000);

    (void)state;
    assert_int_equal(taken(r, a.ip, 1000, now), 400);
    assert_int_equal(taken(r, b.ip, 1000, now), 400); /* each its own */
    assert_int_equal(taken(r, a.ip, 1000, now + CO_SECONDS(1)), 200);
    assert_int_equal(taken(r, a.ip, 1000, now + CO_SECONDS(1) + CO_MS(5)), 1);
    assert_int_equal(taken(r, a.ip, 1000, now + CO_SECONDS(60)), 400); /* no more are saved up */
    for (int i = 0; i < MANY; i++)
        assert_true(rtmfp_rate_take(r, a.ip, 0, 0, now)); /* no limit */
    rtmfp_rate_free(r);
}

static void test_an_address_of_ipv6_counts_by_its_network(void **state)
{
    struct rtmfp_rate *r = rtmfp_rate_new();
    uint8_t ip[16] = { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 1 };
    uint8_t other[16] = { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 2 };

    (void)state;
    assert_int_equal(taken(r, ip, 1000, CO_SECONDS(9)), 400);
    ip[15] = 7;
    assert_int_equal(taken(r, ip, 1000, CO_SECONDS(9)), 0);
    assert_int_equal(taken(r, other, 1000, CO_SECONDS(9)), 400);
    rtmfp_rate_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_filter_finds_the_worker),
        TEST(test_sessions_are_found_by_address),
        TEST(test_the_last_of_an_address_stays_the_last_among_many),
        TEST(test_handshakes_are_found_by_address_and_id),
        TEST(test_an_address_has_its_rate_and_its_burst),
        TEST(test_an_address_of_ipv6_counts_by_its_network),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
