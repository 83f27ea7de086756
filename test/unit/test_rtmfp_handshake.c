/* SPDX-License-Identifier: MIT */
/* test_rtmfp_handshake.c - RTMFP handshakes between our own two ends: keys, repeats, cookies, times. */
#include "rtmfp_greeting.h"

/* ---- all kinds of keys */

static void make_static(struct rtmfp_identity *who, bool is_server, enum rtmfp_group g)
{
    struct rtmfp_pair pair;

    rtmfp_pair_make(the_ends.dh, &pair, g);
    rtmfp_identity_fini(who);
    rtmfp_identity_init_static(who, is_server, &pair);
}

static void one_kind(enum rtmfp_group g, bool client_static, bool server_static,
                     const struct rtmfp_policies *a, const struct rtmfp_policies *b)
{
    bool with = (a->hmac == RTMFP_REQUIRE || a->hmac == RTMFP_OFFER) && b->hmac != RTMFP_OFF;

    greeting_begin(a, b);
    if (client_static)
        make_static(&initiator_identity, false, g);
    if (server_static)
        make_static(&the_ends.me, true, g);
    greeting_new(g, 0);
    assert_true(greeting_turn(0));
    assert_int_equal(the_initiator.state, RTMFP_KEYING);
    assert_true(greeting_turn(0));
    assert_int_equal(the_initiator.packets, 2);
    assert_keyed(&the_ends.sessions[0]);
    with |= a->hmac == RTMFP_REQUIRE;
    assert_int_equal(the_initiator.send.hmac, with ? b->hmac == RTMFP_OFF ? 10 : 16 : 0);
    assert_int_equal(the_initiator.send.numbered, with);
    assert_int_equal(rtmfp_initiator_deadline(&the_initiator), CO_FOREVER);
    greeting_finish();
}

static void all_kinds_of_keys(void **state)
{
    const struct rtmfp_policies *const policies[] = { &policy_off, &policy_offer, &policy_require };

    (void)state;
    for (int g = 0; g < RTMFP_GROUPS; g++)
        for (int kind = 0; kind < 4; kind++)
            one_kind((enum rtmfp_group)g, kind & 1, kind & 2, &policy_offer, &policy_off);
    for (int i = 0; i < 9; i++)
        if (i != 6) /* neither sends what is required */
            one_kind(RTMFP_GROUP_2, i & 1, false, policies[i % 3], policies[i / 3]);
}

static void one_that_requires_more(void **state)
{
    (void)state;
    greeting_begin(&policy_off, &policy_require);
    greeting_new(RTMFP_GROUP_2, 0);
    assert_true(greeting_turn(0));
    assert_true(greeting_turn(0));
    assert_int_equal(the_initiator.state, RTMFP_UNSUITED);
    greeting_finish();
}

static void no_group_in_common(void **state)
{
    (void)state;
    greeting_begin(&policy_off, &policy_off);
    make_static(&the_ends.me, true, RTMFP_GROUP_5);
    greeting_new(RTMFP_GROUP_2, 0);
    assert_true(greeting_turn(0));
    assert_int_equal(the_initiator.state, RTMFP_UNSUITED);
    greeting_finish();
    greeting_begin(&policy_off, &policy_off);
    make_static(&initiator_identity, false, RTMFP_GROUP_14);
    greeting_new(RTMFP_GROUP_14, 0);
    the_ends.me.groups[RTMFP_GROUP_14] = false;
    assert_true(greeting_turn(0));
    assert_false(greeting_turn(0));
    assert_int_equal(the_ends.out.why, RTMFP_DROP_COMPONENT);
    greeting_finish();
}

/* ---- repeats */

static void repeats(void **state)
{
    uint8_t datagram[RTMFP_SEALED_MAX], answer[RTMFP_SEALED_MAX];
    size_t n, size;

    (void)state;
    greeting_begin(&policy_offer, &policy_offer);
    greeting_new(RTMFP_GROUP_2, 0);
    n = initiator_asked(datagram, 0);
    assert_int_equal(responder_input(datagram, n, 0), RTMFP_JOB);
    the_ends.keying = initiator_at;
    the_ends.keying_id = the_initiator.id;
    assert_int_equal(responder_input(datagram, n, 0), RTMFP_DROPPED);
    assert_int_equal(the_ends.out.why, RTMFP_DROP_KEYING);
    the_ends.keying.port = 0;
    assert_non_null(ends_open(&the_ends, 0));
    size = the_ends.out.size;
    memcpy(answer, the_ends.out.datagram, size);
    assert_int_equal(responder_input(datagram, n, 0), RTMFP_ANSWERED); /* the same again */
    assert_int_equal(the_ends.out.size, size);
    assert_memory_equal(the_ends.out.datagram, answer, size);
    assert_int_equal(the_ends.responder.repeats, 1);
    rtmfp_initiator_input(&the_initiator, answer, size, &responder_at, 0);
    assert_keyed(&the_ends.sessions[0]);
    rtmfp_initiator_input(&the_initiator, answer, size, &responder_at, 0); /* no longer relevant */
    assert_int_equal(the_initiator.state, RTMFP_KEYED);
    the_ends.sessions[0].answer_size = 0;
    assert_int_equal(responder_input(datagram, n, 0), RTMFP_DROPPED);
    assert_int_equal(the_ends.out.why, RTMFP_DROP_ANSWERED);
    assert_int_equal(the_ends.jobs, 1);
    /* replayed when the session is gone: other keys */
    memcpy(answer, &the_ends.sessions[0].keyed.send, sizeof(struct rtmfp_key));
    the_ends.n = 0;
    assert_int_equal(responder_input(datagram, n, 0), RTMFP_JOB);
    assert_non_null(ends_open(&the_ends, 0));
    assert_memory_not_equal(answer, &the_ends.sessions[0].keyed.send, RTMFP_KEY);
    greeting_finish();
}

/* A static key of ours does not produce the same keys either. */
static void replayed_to_a_static_key(void **state)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct rtmfp_keyed first;
    size_t n;

    (void)state;
    greeting_begin(&policy_off, &policy_off);
    make_static(&the_ends.me, true, RTMFP_GROUP_2);
    greeting_new(RTMFP_GROUP_2, 0);
    n = initiator_asked(datagram, 0);
    assert_int_equal(responder_input(datagram, n, 0), RTMFP_JOB);
    assert_true(rtmfp_job_run(the_ends.dh, &the_ends.me, NULL, &the_ends.out.job, &first));
    assert_non_null(ends_open(&the_ends, 0));
    assert_memory_not_equal(first.send.aes, the_ends.sessions[0].keyed.send.aes, RTMFP_KEY);
    greeting_finish();
}

/* The same client with another key: its old session ends. Another client: ignored. */
static void restarted(void **state)
{
    struct rtmfp_identity other;

    (void)state;
    greeting_begin(&policy_off, &policy_off);
    greeting_new(RTMFP_GROUP_2, 0);
    assert_true(greeting_turn(0) && greeting_turn(0));
    greeting_new(RTMFP_GROUP_2, 0);
    assert_true(greeting_turn(0));
    the_ends.full = true;
    assert_false(greeting_turn(0));
    assert_int_equal(the_ends.out.why, RTMFP_DROP_LIMIT);
    assert_int_equal(the_ends.stale, 1);
    the_ends.full = false;
    assert_true(greeting_turn(CO_MS(1500)));
    assert_int_equal(the_ends.n, 1);
    assert_keyed(&the_ends.sessions[0]);
    rtmfp_identity_init(&other, false, all_groups);
    greeting_new(RTMFP_GROUP_2, 0);
    the_initiator.me = &other;
    assert_true(greeting_turn(0));
    assert_false(greeting_turn(0));
    assert_int_equal(the_ends.out.why, RTMFP_DROP_OTHER_PEER);
    assert_int_equal(the_ends.stale, 1);
    greeting_finish();
}

/* ---- cookies */

static void moved_while_asking(void **state)
{
    (void)state;
    greeting_begin(&policy_off, &policy_off);
    greeting_new(RTMFP_GROUP_2, 0);
    assert_true(greeting_turn(0));
    initiator_at.port++;
    assert_true(greeting_turn(0)); /* a new cookie */
    assert_int_equal(the_initiator.state, RTMFP_KEYING);
    assert_int_equal(the_ends.responder.changes, 1);
    assert_int_equal(the_ends.n, 0);
    assert_true(greeting_turn(0)); /* at once */
    assert_keyed(&the_ends.sessions[0]);
    greeting_finish();
}

static void cookies_that_are_none(void **state)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;
    size_t n;

    (void)state;
    greeting_begin(&policy_off, &policy_off);
    greeting_new(RTMFP_GROUP_2, 0);
    n = initiator_asked(datagram, 0);
    assert_int_equal(responder_input(datagram, n, CO_SECONDS(121)), RTMFP_DROPPED);
    assert_int_equal(the_ends.out.why, RTMFP_DROP_EXPIRED);
    the_initiator.cookie[0] ^= 1;
    n = rtmfp_initiator_output(&the_initiator, datagram, &to, CO_SECONDS(2));
    assert_int_equal(responder_input(datagram, n, 0), RTMFP_DROPPED);
    assert_int_equal(the_ends.out.why, RTMFP_DROP_FOREIGN);
    assert_int_equal(the_ends.responder.drops[RTMFP_DROP_FOREIGN], 1);
    assert_int_equal(the_ends.responder.drops[RTMFP_DROP_EXPIRED], 1);
    greeting_finish();
}

/* ---- times */

static void there_is_no_answer(void **state)
{
    static const int want[] = { 0, 1500, 4500, 9000, 15000, 22500, 31500, 42000, 54000, 67500,
                                82500 };
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;
    co_usec now = 0;

    (void)state;
    greeting_begin(&policy_off, &policy_off);
    greeting_new(RTMFP_GROUP_2, 0);
    for (size_t i = 0; i < COUNT(want); i++) {
        now = rtmfp_initiator_deadline(&the_initiator);
        assert_int_equal(now, CO_MS(want[i]));
        assert_true(rtmfp_initiator_output(&the_initiator, datagram, &to, now) > 0);
        assert_int_equal(rtmfp_initiator_output(&the_initiator, datagram, &to, now), 0);
    }
    assert_int_equal(rtmfp_initiator_deadline(&the_initiator), CO_SECONDS(95));
    assert_int_equal(rtmfp_initiator_output(&the_initiator, datagram, &to, CO_SECONDS(95)), 0);
    assert_int_equal(the_initiator.state, RTMFP_UNANSWERED);
    assert_int_equal(rtmfp_initiator_deadline(&the_initiator), CO_FOREVER);
    greeting_finish();
}

/* Half of all packets are lost, in each direction. */
static void losses(void **state)
{
    (void)state;
    greeting_begin(&policy_offer, &policy_offer);
    for (unsigned seed = 0; seed < 200; seed++) {
        uint64_t dice = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;

        greeting_new(RTMFP_GROUP_2, 0);
        for (co_usec now; (now = rtmfp_initiator_deadline(&the_initiator)) != CO_FOREVER;) {
            uint8_t datagram[RTMFP_SEALED_MAX];
            struct udp_addr to;
            size_t n = rtmfp_initiator_output(&the_initiator, datagram, &to, now);

            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            if (n > 0 && dice & 1 << 20 && ends_hear(&the_ends, datagram, n, &initiator_at, now) &&
                dice & 1 << 21)
                rtmfp_initiator_input(&the_initiator, the_ends.out.datagram, the_ends.out.size, &responder_at, now);
        }
        if (the_initiator.state == RTMFP_KEYED)
            assert_keyed(ends_at(&the_ends, &initiator_at));
        else
            assert_int_equal(the_initiator.state, RTMFP_UNANSWERED);
        the_ends.n = 0;
        rtmfp_initiator_wipe(&the_initiator);
    }
    assert_in_range(the_ends.jobs, 180, 200);
    greeting_finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(all_kinds_of_keys), TEST_OF(one_that_requires_more),
        TEST_OF(no_group_in_common), TEST_OF(repeats), TEST_OF(replayed_to_a_static_key),
        TEST_OF(restarted), TEST_OF(moved_while_asking), TEST_OF(cookies_that_are_none),
        TEST_OF(there_is_no_answer), TEST_OF(losses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
