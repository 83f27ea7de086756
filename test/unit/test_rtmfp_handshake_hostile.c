/* SPDX-License-Identifier: MIT */
/* test_rtmfp_handshake_hostile.c - redirects, introductions, fragments, and packets that get no answer. */
#include "rtmfp_greeting.h"

/* ---- redirects, introductions */

static size_t redirect(size_t came, const struct rtmfp_address *list, size_t n,
                       uint8_t *datagram)
{
    return rtmfp_responder_redirect(&the_ends.responder, came, the_ends.out.hello.tag, list, n, 0, datagram);
}

static void redirected(void **state)
{
    struct rtmfp_address list[3] = { { RTMFP_RELAY, ends_address(7, 1935) },
                                     { RTMFP_RELAY, ends_address(8, 1935) },
                                     { RTMFP_RELAY, ends_address(7, 1935) } };
    uint8_t datagram[RTMFP_SEALED_MAX], answer[RTMFP_SEALED_MAX];
    struct udp_addr to;
    size_t n;

    (void)state;
    greeting_begin(&policy_off, &policy_off);
    the_ends.responder.redirects = true;
    greeting_new(RTMFP_GROUP_2, 0);
    n = rtmfp_initiator_output(&the_initiator, datagram, &to, 0);
    assert_int_equal(responder_input(datagram, n, 0), RTMFP_REDIRECTED);
    n = redirect(n, list, 3, answer);
    rtmfp_initiator_input(&the_initiator, answer, n, &responder_at, 0);
    assert_true(the_initiator.state == RTMFP_GREETING && the_initiator.n_tries == 3 && the_initiator.redirects == 1);
    assert_true(rtmfp_initiator_output(&the_initiator, datagram, &to, 0) > 0);
    assert_true(udp_addr_same(&to, &list[0].at));
    n = rtmfp_initiator_output(&the_initiator, datagram, &to, 0);
    assert_true(n > 0 && udp_addr_same(&to, &list[1].at));
    assert_int_equal(rtmfp_initiator_output(&the_initiator, answer, &to, 0), 0);
    /* none: the address where it came from, once */
    n = redirect(52, NULL, 0, answer);
    rtmfp_initiator_input(&the_initiator, answer, n, &initiator_at, 0);
    rtmfp_initiator_input(&the_initiator, answer, n, &initiator_at, 0);
    assert_int_equal(the_initiator.n_tries, 4);
    the_initiator.tag[0] ^= 1; /* another initiator's */
    rtmfp_initiator_input(&the_initiator, answer, n, &list[0].at, 0);
    assert_int_equal(the_initiator.redirects, 3);
    the_initiator.tag[0] ^= 1;
    /* the first to answer is used */
    the_ends.responder.redirects = false;
    n = rtmfp_initiator_output(&the_initiator, datagram, &to, CO_SECONDS(3));
    assert_true(ends_hear(&the_ends, datagram, n, &initiator_at, 0));
    rtmfp_initiator_input(&the_initiator, the_ends.out.datagram, the_ends.out.size, &list[1].at, CO_SECONDS(3));
    assert_int_equal(the_initiator.state, RTMFP_KEYING);
    assert_true(rtmfp_initiator_output(&the_initiator, datagram, &to, CO_SECONDS(3)) > 0);
    assert_true(udp_addr_same(&to, &list[1].at));
    greeting_finish();
}

static void redirect_of_many(void **state)
{
    static struct rtmfp_address list[200];
    uint8_t answer[RTMFP_SEALED_MAX], datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;
    size_t n;

    (void)state;
    greeting_begin(&policy_off, &policy_off);
    the_ends.responder.redirects = true;
    greeting_new(RTMFP_GROUP_2, 0);
    n = rtmfp_initiator_output(&the_initiator, datagram, &to, 0);
    assert_int_equal(responder_input(datagram, n, 0), RTMFP_REDIRECTED);
    for (size_t i = 0; i < 200; i++)
        list[i] = (struct rtmfp_address){ RTMFP_RELAY, ends_address((uint8_t)i, 1935) };
    n = redirect(n, list, 200, answer); /* as many as three times the hello hold */
    rtmfp_initiator_input(&the_initiator, answer, n, &responder_at, 0);
    assert_int_equal(the_initiator.n_tries, RTMFP_TRIES_MAX);
    greeting_finish();
}

/* Clients request a peer by its id: another component knows whether it is here. */
static void introductions(void **state)
{
    uint8_t id[RTMFP_PEER_ID], epd[64], datagram[RTMFP_SEALED_MAX];
    struct wr w = rtmfp_wr(epd, sizeof(epd));
    struct udp_addr to;
    struct rtmfp_pair pair;
    size_t n;

    (void)state;
    greeting_begin(&policy_off, &policy_off);
    memset(id, 0x55, sizeof(id));
    rtmfp_epd_write_id(&w, id);
    rtmfp_pair_make(the_ends.dh, &pair, RTMFP_GROUP_2);
    for (int ours = 0; ours < 2; ours++) {
        if (ours)
            memcpy(epd + 2, the_ends.me.id, RTMFP_PEER_ID);
        assert_true(rtmfp_initiator_init(&the_initiator, &the_ends.set, &initiator_identity, &pair, rtmfp_bytes(epd, w.len), 9,
                                         &responder_at, 0));
        n = rtmfp_initiator_output(&the_initiator, datagram, &to, 0);
        if (ours) {
            assert_int_equal(responder_input(datagram, n, 0), RTMFP_ANSWERED);
            continue;
        }
        assert_int_equal(responder_input(datagram, n, 0), RTMFP_INTRODUCE);
        assert_memory_equal(the_ends.out.peer, id, RTMFP_PEER_ID);
        assert_true(rtmfp_bytes_same(the_ends.out.hello.epd, rtmfp_bytes(epd, w.len)));
        assert_true(rtmfp_bytes_same(the_ends.out.hello.tag, rtmfp_bytes(the_initiator.tag, RTMFP_TAG)));
    }
    /* an answer with another certificate than requested is ignored */
    the_initiator.epd[5] ^= 1;
    rtmfp_initiator_input(&the_initiator, the_ends.out.datagram, the_ends.out.size, &responder_at, 0);
    assert_int_equal(the_initiator.state, RTMFP_GREETING);
    greeting_finish();
}

/* ---- in fragments */

static void asked_in_pieces(void **state)
{
    uint8_t datagram[RTMFP_SEALED_MAX], plain[RTMFP_DATAGRAM_MAX], out[64];
    struct rtmfp_head head = { .mode = RTMFP_STARTUP, .has_time = true };
    size_t n, at = 0;

    (void)state;
    greeting_begin(&policy_off, &policy_off);
    greeting_new(RTMFP_GROUP_2, 0);
    n = initiator_asked(datagram, 0);
    assert_int_equal(rtmfp_open(the_ends.startup.cipher, &the_ends.startup.in, datagram, n, plain,
                                &(struct rtmfp_bytes){ 0 }), RTMFP_OPENED);
    n -= RTMFP_ID + 2;
    memmove(plain, plain + 2, n); /* the checksum */
    for (uint64_t i = 0; at < n; i++, at += 30) {
        struct rtmfp_piece p = { at + 30 < n, 3, i, { plain + at, at + 30 < n ? 30 : n - at } };
        struct wr w = rtmfp_wr(out, sizeof(out));

        rtmfp_packet_begin(&w, &head);
        assert_true(rtmfp_piece_write(&w, &p));
        assert_int_equal(responder_input(datagram, ends_seal(&the_ends, rtmfp_bytes(out, w.len), datagram), 0),
                         p.more ? RTMFP_DROPPED : RTMFP_JOB);
    }
    assert_int_equal(rtmfp_fragments_count(the_ends.responder.fragments), 0);
    assert_non_null(ends_open(&the_ends, 0));
    rtmfp_initiator_input(&the_initiator, the_ends.out.datagram, the_ends.out.size, &responder_at, 0);
    assert_keyed(&the_ends.sessions[0]);
    greeting_finish();
}

/* ---- packets that get no answer */

static void drops(void **state)
{
    static const struct {
        const char *plain;
        enum rtmfp_drop why;
    } rows[] = {
        { "00 300000", RTMFP_DROP_PACKET },                 /* no mode */
        { "09 0000 300008 04 030a 6162 0102", RTMFP_DROP_PACKET }, /* another one */
        { "0b 0000", RTMFP_DROP_CHUNK },
        { "0b 0000 300000", RTMFP_DROP_CHUNK },
        { "0b 0000 300003 03 01 0a", RTMFP_DROP_CHUNK }, /* one byte of the EPD is missing, */
        { "0b 0000 300003 02 02 0a", RTMFP_DROP_CHUNK }, /* one byte of its option is missing */
        { "0b 0000 300001 00", RTMFP_DROP_UNSELECTED },
        { "0b 0000 300004 02 01 00 aa", RTMFP_DROP_UNSELECTED },
        { "0b 0000 700000 710000 780000 790000 010000 990000", RTMFP_DROP_CHUNK },
        { "0b 0000 380000", RTMFP_DROP_CHUNK },
        { "0b 0000 380007 00000001 00 00 00", RTMFP_DROP_FOREIGN },
        { "0b 0000 7f0000", RTMFP_DROP_CHUNK },
        { "0b 0000 7f0004 80 01 00 aa", RTMFP_DROP_PIECE },
        { "0b 0000 7f0007 00 02 00 09 30 00 00", RTMFP_DROP_PACKET },
        { "0b 0000 7f000a 00 03 00 0b 00 00 7f 00 00", RTMFP_DROP_CHUNK },
    };
    uint8_t datagram[RTMFP_SEALED_MAX];
    size_t n = 0;

    (void)state;
    greeting_begin(&policy_off, &policy_off);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].plain);

        n = ends_seal(&the_ends, bytes_of(&h), datagram);
        assert_int_equal(responder_input(datagram, n, 0), RTMFP_DROPPED);
        if (the_ends.out.why != rows[i].why)
            fail_msg("row %zu: %s", i, rtmfp_drop_text(the_ends.out.why));
    }
    while (n-- > 0) {
        assert_int_equal(responder_input(datagram, n, 0), RTMFP_DROPPED);
        assert_int_equal(the_ends.out.why, RTMFP_DROP_PACKET);
    }
    greeting_finish();
}

/* An IIKeying with a valid cookie and these parts. */
static enum rtmfp_responded ask_with(uint32_t id, const char *certificate, const char *component)
{
    struct rtmfp_hex cert = rtmfp_hex(certificate), skic = rtmfp_hex(component);
    uint8_t cookie[RTMFP_COOKIE], plain[RTMFP_PLAIN_MAX], datagram[RTMFP_SEALED_MAX];
    struct rtmfp_iikeying c = { .id = id, .cookie = { cookie, sizeof(cookie) },
                                .certificate = bytes_of(&cert), .component = bytes_of(&skic) };
    struct rtmfp_head head = { .mode = RTMFP_STARTUP };
    struct wr w = rtmfp_wr(plain, sizeof(plain));

    rtmfp_cookie_make(&the_ends.responder.cookies, cookie, RTMFP_COOKIE_HELLO, &initiator_at, 0);
    rtmfp_packet_begin(&w, &head);
    assert_true(rtmfp_iikeying_write(&w, &c));
    return responder_input(datagram, ends_seal(&the_ends, rtmfp_bytes(plain, w.len), datagram), 0);
}

#define KEY "ffff0000" /* just large enough, with enough ones and zeros */

static void keyings(void **state)
{
    enum { OK = RTMFP_DROP_KINDS };
    static const struct {
        uint32_t id;
        const char *certificate, *component;
        int why;
    } rows[] = {
        { 1, "06 1d 02 " KEY, "02 1d 02", OK },
        { 1, "08 1d 02 0000" KEY, "02 1d 02", OK },
        { 1, "02 15 02", "06 0d 02 " KEY, OK },
        { 1, "02 15 02", "06 0d 05 " KEY, OK },
        { 1, "02 15 02", "06 0d 0e " KEY, OK },
        { 1, "", "06 0d 02 " KEY, OK },
        { 1, "06 1d 02 " KEY " 06 1d 05 " KEY, "02 1d 05", OK },
        { 0, "06 1d 02 " KEY, "02 1d 02", RTMFP_DROP_CERTIFICATE },
        { 1, "06 1d 02", "02 1d 02", RTMFP_DROP_CERTIFICATE },
        { 1, "02 15 02 06 1d 02 " KEY, "02 1d 02", RTMFP_DROP_CERTIFICATE },
        { 1, "06 1d 02 " KEY, "02 1d 05", RTMFP_DROP_COMPONENT }, /* not in the certificate */
        { 1, "06 1d 02 " KEY, "02 1d 10", RTMFP_DROP_COMPONENT },
        { 1, "06 1d 10 " KEY, "02 1d 10", RTMFP_DROP_COMPONENT },
        { 1, "06 1d 02 " KEY, "", RTMFP_DROP_COMPONENT },
        { 1, "06 1d 02 " KEY, "02 1d 02 02 1d 02", RTMFP_DROP_COMPONENT },
        { 1, "06 1d 02 " KEY, "02 1d 02 06 0d 02 " KEY, RTMFP_DROP_COMPONENT },
        { 1, "06 1d 02 " KEY, "06 0d 02 " KEY, RTMFP_DROP_COMPONENT },
        { 1, "02 1d 02", "02 1d 02", RTMFP_DROP_COMPONENT }, /* an empty key */
        { 1, "02 15 02", "06 0d 02 " KEY " 06 0d 02 " KEY, RTMFP_DROP_COMPONENT },
        { 1, "02 15 02", "06 0d 02 " KEY " 06 0d 05 " KEY, RTMFP_DROP_COMPONENT },
        { 1, "02 15 02", "06 0d 02 " KEY " 02 1d 02", RTMFP_DROP_COMPONENT },
        { 1, "02 15 02", "06 0d 10 " KEY, RTMFP_DROP_COMPONENT },
        { 1, "02 15 02", "06 0d 02 ffff", RTMFP_DROP_COMPONENT }, /* truncated */
        { 1, "02 15 02", "06 0d 02 " KEY " 03 1a 04 00", RTMFP_DROP_COMPONENT },
        { 1, "02 15 02", "02 0d 02", RTMFP_DROP_PUBLIC_KEY },
        { 1, "02 15 02", "03 0d 02 00", RTMFP_DROP_PUBLIC_KEY },
        { 1, "02 15 02", "03 0d 02 01", RTMFP_DROP_PUBLIC_KEY },
        { 1, "02 15 02", "06 0d 02 fffe0000", RTMFP_DROP_PUBLIC_KEY },
        { 1, "03 1d 02 00", "02 1d 02", RTMFP_DROP_PUBLIC_KEY },
    };

    (void)state;
    greeting_begin(&policy_off, &policy_off);
    for (size_t i = 0; i < COUNT(rows); i++) {
        enum rtmfp_responded said = ask_with(rows[i].id, rows[i].certificate, rows[i].component);

        if ((said == RTMFP_JOB) != (rows[i].why == OK) ||
            (said == RTMFP_DROPPED && (int)the_ends.out.why != rows[i].why))
            fail_msg("row %zu: %s", i, rtmfp_drop_text(the_ends.out.why));
        if (said == RTMFP_JOB) {
            assert_non_null(ends_open(&the_ends, 0));
            the_ends.n = 0;
        }
    }
    the_ends.full = true;
    assert_int_equal(ask_with(1, rows[0].certificate, rows[0].component), RTMFP_DROPPED);
    assert_int_equal(the_ends.out.why, RTMFP_DROP_LIMIT);
    the_ends.full = false;
    the_ends.responder.policies = policy_require;
    assert_int_equal(ask_with(1, rows[0].certificate, rows[0].component), RTMFP_DROPPED);
    assert_int_equal(the_ends.out.why, RTMFP_DROP_POLICY);
    greeting_finish();
}

/* Invalid packets to the initiator leave its state unchanged. */
static void wrong_answers(void **state)
{
    uint8_t datagram[RTMFP_SEALED_MAX], answer[RTMFP_SEALED_MAX];
    size_t n, size;

    (void)state;
    greeting_begin(&policy_off, &policy_off);
    greeting_new(RTMFP_GROUP_2, 0);
    n = initiator_asked(datagram, 0);
    assert_true(ends_hear(&the_ends, datagram, n, &initiator_at, 0));
    size = the_ends.out.size;
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *data = exact(the_ends.out.datagram, cut);

        rtmfp_initiator_input(&the_initiator, data, cut, &responder_at, 0);
        assert_int_equal(the_initiator.state, RTMFP_KEYING);
        free(data);
    }
    /* plain ones that end anywhere */
    for (size_t cut = 0; cut + 1 < the_ends.sessions[0].answer_size; cut++) {
        size_t made = rtmfp_responder_open_with(&the_ends.responder,
                                                rtmfp_bytes(the_ends.sessions[0].answer, cut), the_initiator.id, 0,
                                                answer);

        rtmfp_initiator_input(&the_initiator, answer, made, &responder_at, 0);
        if (the_initiator.state != RTMFP_KEYING)
            fail_msg("cut at %zu", cut);
    }
    rtmfp_initiator_input(&the_initiator, the_ends.out.datagram, size, &responder_at, 0);
    assert_keyed(&the_ends.sessions[0]);
    greeting_finish();
}

/* ---- forged addresses: answers before the cookie returns */

static size_t hello_of(size_t uri, size_t tag, uint8_t *datagram)
{
    static const uint8_t letters[RTMFP_EPD_MAX] = { 'x' };
    uint8_t epd[RTMFP_EPD_MAX];
    struct wr w = rtmfp_wr(epd, sizeof(epd)), p = rtmfp_startup_begin(&the_ends.startup, datagram, 0);

    rtmfp_epd_write_uri(&w, rtmfp_bytes(letters, uri));
    assert_true(rtmfp_ihello_write(&p, &(struct rtmfp_ihello){ { epd, w.len }, { letters, tag } }));
    return rtmfp_startup_seal(&the_ends.startup, 0, &p);
}

static void answers_are_at_most_three_times_the_hello(void **state)
{
    static const bool none_of_2[RTMFP_GROUPS] = { false, true, true };
    static struct rtmfp_address list[24];
    uint8_t datagram[RTMFP_SEALED_MAX], answer[RTMFP_SEALED_MAX];
    size_t silent = 0, n;

    (void)state;
    for (size_t i = 0; i < COUNT(list); i++) {
        list[i] = (struct rtmfp_address){ RTMFP_RELAY, ends_address((uint8_t)i, 1935) };
        memset(list[i].at.ip, (int)i + 1, sizeof(list[i].at.ip)); /* IPv6 */
    }
    for (int other = 0; other < 2; other++) {
        greeting_begin(&policy_off, &policy_off);
        if (other)
            rtmfp_identity_init(&the_ends.me, true, none_of_2);
        for (size_t uri = 0; uri <= 600; uri++) {
            for (size_t tag = 0; tag <= RTMFP_TAG_MAX; tag += tag < 20 ? 1 : 11) {
                the_ends.responder.redirects = false;
                n = hello_of(uri, tag, datagram);
                if (responder_input(datagram, n, 0) != RTMFP_ANSWERED) {
                    assert_int_equal(the_ends.out.why, RTMFP_DROP_SMALL);
                    assert_true(n <= 20 || (n == 36 && tag > 17));
                    silent++;
                } else if (the_ends.out.size > 3 * n) {
                    fail_msg("%zu bytes were answered by %zu", n, the_ends.out.size);
                }
                the_ends.responder.redirects = true;
                assert_int_equal(responder_input(datagram, n, 0), RTMFP_REDIRECTED);
                assert_true(redirect(n, list, COUNT(list), answer) <= 3 * n);
            }
        }
        greeting_finish();
    }
    assert_true(silent > 0 && silent < 400);
}

/* 36 bytes, only the app: answered with the shortest certificate, which has one group. */
static void opened_by_the_smallest_hello(void **state)
{
    static const char *const apps[] = { "live", "livestreams", "rtmfp://10.0.0.1/live" };
    struct rtmfp_pair pair;
    uint8_t epd[64];

    (void)state;
    for (size_t i = 0; i < COUNT(apps); i++) {
        struct wr w = rtmfp_wr(epd, sizeof(epd));

        greeting_begin(&policy_offer, &policy_offer);
        rtmfp_epd_write_uri(&w, text_bytes(apps[i]));
        rtmfp_pair_make(the_ends.dh, &pair, i == 0 ? RTMFP_GROUP_2 : RTMFP_GROUP_14);
        assert_true(rtmfp_initiator_init(&the_initiator, &the_ends.set, &initiator_identity, &pair, rtmfp_bytes(epd, w.len),
                                         0x77000001, &responder_at, 0));
        assert_true(greeting_turn(0));
        assert_true(greeting_turn(0));
        assert_keyed(&the_ends.sessions[0]);
        greeting_finish();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(redirected), TEST_OF(redirect_of_many), TEST_OF(introductions),
        TEST_OF(asked_in_pieces), TEST_OF(drops), TEST_OF(keyings), TEST_OF(wrong_answers),
        TEST_OF(answers_are_at_most_three_times_the_hello),
        TEST_OF(opened_by_the_smallest_hello),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
