/* SPDX-License-Identifier: MIT */
/* test_rtmfp_handshake.c - an initiator and a responder: all kinds of keys, repeats, moves,
 * redirects, losses; and what a responder does not answer. */
#include "rtmfp_ends.h"

static const struct rtmfp_policies off, offer = { RTMFP_OFFER, RTMFP_OFFER },
                                        require = { RTMFP_REQUIRE, RTMFP_REQUIRE };

static struct ends e;
static struct rtmfp_identity client;
static struct rtmfp_initiator in;
static struct udp_addr here, server;

static const bool all_groups[RTMFP_GROUPS] = { true, true, true };

static int start(void **state)
{
    (void)state;
    here = ends_address(2, 5000);
    server = ends_address(1, 1935);
    return 0;
}

static void begin(const struct rtmfp_policies *responder, const struct rtmfp_policies *initiator)
{
    ends_init(&e, responder, initiator);
    rtmfp_identity_init(&client, false, all_groups);
}

static void finish(void)
{
    rtmfp_initiator_wipe(&in);
    rtmfp_identity_fini(&client);
    ends_fini(&e);
}

/* The initiator with the key that it has, or a new one. */
static void greet(enum rtmfp_group group, co_usec now)
{
    struct rtmfp_pair pair;
    uint8_t epd[160];
    struct wr w = rtmfp_wr(epd, sizeof(epd));

    /* long enough for an answer with a static key, which is larger than those of servers */
    rtmfp_epd_write_uri(&w, text_bytes("rtmfp://example/live/0123456789012345678901234567890123456"
                                       "789012345678901234567890123456789012345678901234567890"));
    if (!client.is_static)
        rtmfp_pair_make(e.dh, &pair, group);
    assert_true(rtmfp_initiator_init(&in, &e.set, &client, client.is_static ? NULL : &pair,
                                     rtmfp_bytes(epd, w.len), 0x77000001, &server, now));
}

/* One packet of the initiator's to the responder, and the answer back; false: there was none. */
static bool turn(co_usec now)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;
    size_t n = rtmfp_initiator_output(&in, datagram, &to, now);

    if (n == 0 || !ends_hear(&e, datagram, n, &here, now))
        return false;
    rtmfp_initiator_input(&in, e.out.datagram, e.out.size, &server, now);
    return true;
}

/* What the one seals the other opens. */
static void assert_talk(struct rtmfp_key *out, struct rtmfp_key *in_key)
{
    struct rtmfp_sealer sealer = { .key = *out };
    struct rtmfp_opener opener = { .key = *in_key };
    uint8_t datagram[RTMFP_SEALED_MAX], plain[RTMFP_DATAGRAM_MAX];
    struct wr w = rtmfp_seal_begin(&sealer, datagram, sizeof(datagram), RTMFP_PLAIN_MAX);
    struct rtmfp_bytes got;
    size_t n;

    wr_text(&w, "hello");
    n = rtmfp_seal(e.startup.cipher, &sealer, 5, &w);
    assert_int_equal(rtmfp_open(e.startup.cipher, &opener, datagram, n, plain, &got),
                     RTMFP_OPENED);
    assert_memory_equal(got.p, "hello", 5);
}

/* Any of the server's certificates. */
static bool is_ours(const uint8_t id[RTMFP_PEER_ID])
{
    bool ours = memcmp(id, e.me.id, RTMFP_PEER_ID) == 0;

    for (int i = 0; i < RTMFP_SHORTER; i++)
        ours |= memcmp(id, e.me.shorter[i].id, RTMFP_PEER_ID) == 0;
    return ours;
}

static void assert_keyed(struct ends_session *s)
{
    assert_int_equal(in.state, RTMFP_KEYED);
    assert_memory_equal(&in.send, &s->keyed.receive, sizeof(in.send));
    assert_memory_equal(&in.receive, &s->keyed.send, sizeof(in.send));
    assert_memory_equal(in.nonce, s->keyed.nonce, sizeof(in.nonce));
    assert_int_equal(s->id, in.id);
    assert_true(in.far_id >= 0x1000);
    assert_memory_equal(s->peer, client.id, RTMFP_PEER_ID);
    assert_true(is_ours(in.peer));
    assert_talk(&in.send, &s->keyed.receive);
    assert_talk(&s->keyed.send, &in.receive);
    assert_int_equal(in.pair.secret[0] | in.pair.secret[27], 0); /* wiped */
}

/* ---- all kinds of keys */

static void make_static(struct rtmfp_identity *who, bool is_server, enum rtmfp_group g)
{
    struct rtmfp_pair pair;

    rtmfp_pair_make(e.dh, &pair, g);
    rtmfp_identity_fini(who);
    rtmfp_identity_init_static(who, is_server, &pair);
}

static void one_kind(enum rtmfp_group g, bool client_static, bool server_static,
                     const struct rtmfp_policies *a, const struct rtmfp_policies *b)
{
    bool with = (a->hmac == RTMFP_REQUIRE || a->hmac == RTMFP_OFFER) && b->hmac != RTMFP_OFF;

    begin(a, b);
    if (client_static)
        make_static(&client, false, g);
    if (server_static)
        make_static(&e.me, true, g);
    greet(g, 0);
    assert_true(turn(0));
    assert_int_equal(in.state, RTMFP_ASKING);
    assert_true(turn(0));
    assert_int_equal(in.packets, 2);
    assert_keyed(&e.sessions[0]);
    with |= a->hmac == RTMFP_REQUIRE;
    assert_int_equal(in.send.hmac, with ? b->hmac == RTMFP_OFF ? 10 : 16 : 0);
    assert_int_equal(in.send.numbered, with);
    assert_int_equal(rtmfp_initiator_deadline(&in), CO_FOREVER);
    finish();
}

static void all_kinds_of_keys(void **state)
{
    const struct rtmfp_policies *const policies[] = { &off, &offer, &require };

    (void)state;
    for (int g = 0; g < RTMFP_GROUPS; g++)
        for (int kind = 0; kind < 4; kind++)
            one_kind((enum rtmfp_group)g, kind & 1, kind & 2, &offer, &off);
    for (int i = 0; i < 9; i++)
        if (i != 6) /* nobody sends what is required */
            one_kind(RTMFP_GROUP_2, i & 1, false, policies[i % 3], policies[i / 3]);
}

static void one_that_requires_more(void **state)
{
    (void)state;
    begin(&off, &require);
    greet(RTMFP_GROUP_2, 0);
    assert_true(turn(0));
    assert_true(turn(0));
    assert_int_equal(in.state, RTMFP_UNSUITED);
    finish();
}

static void no_group_in_common(void **state)
{
    (void)state;
    begin(&off, &off);
    make_static(&e.me, true, RTMFP_GROUP_5);
    greet(RTMFP_GROUP_2, 0);
    assert_true(turn(0));
    assert_int_equal(in.state, RTMFP_UNSUITED);
    finish();
    begin(&off, &off);
    make_static(&client, false, RTMFP_GROUP_14);
    greet(RTMFP_GROUP_14, 0);
    e.me.groups[RTMFP_GROUP_14] = false;
    assert_true(turn(0));
    assert_false(turn(0));
    assert_int_equal(e.out.why, RTMFP_DROP_COMPONENT);
    finish();
}

/* ---- repeats */

/* The IIKeying of the initiator, sent once. */
static size_t asked(uint8_t *datagram, co_usec now)
{
    struct udp_addr to;
    size_t n;

    assert_true(turn(now));
    assert_int_equal(in.state, RTMFP_ASKING);
    n = rtmfp_initiator_output(&in, datagram, &to, now);
    assert_true(n > 0);
    return n;
}

static enum rtmfp_responded say(const uint8_t *datagram, size_t n, co_usec now)
{
    return rtmfp_responder_input(&e.responder, datagram, n, &here, now, &e.out);
}

static void repeats(void **state)
{
    uint8_t datagram[RTMFP_SEALED_MAX], answer[RTMFP_SEALED_MAX];
    size_t n, size;

    (void)state;
    begin(&offer, &offer);
    greet(RTMFP_GROUP_2, 0);
    n = asked(datagram, 0);
    assert_int_equal(say(datagram, n, 0), RTMFP_JOB);
    e.keying = here;
    e.keying_id = in.id;
    assert_int_equal(say(datagram, n, 0), RTMFP_DROPPED);
    assert_int_equal(e.out.why, RTMFP_DROP_KEYING);
    e.keying.port = 0;
    assert_non_null(ends_open(&e, 0));
    size = e.out.size;
    memcpy(answer, e.out.datagram, size);
    assert_int_equal(say(datagram, n, 0), RTMFP_ANSWERED); /* the same again */
    assert_int_equal(e.out.size, size);
    assert_memory_equal(e.out.datagram, answer, size);
    assert_int_equal(e.responder.repeats, 1);
    rtmfp_initiator_input(&in, answer, size, &server, 0);
    assert_keyed(&e.sessions[0]);
    rtmfp_initiator_input(&in, answer, size, &server, 0); /* no longer of interest */
    assert_int_equal(in.state, RTMFP_KEYED);
    e.sessions[0].answer_size = 0;
    assert_int_equal(say(datagram, n, 0), RTMFP_DROPPED);
    assert_int_equal(e.out.why, RTMFP_DROP_ANSWERED);
    assert_int_equal(e.jobs, 1);
    /* replayed when the session is gone: other keys */
    memcpy(answer, &e.sessions[0].keyed.send, sizeof(struct rtmfp_key));
    e.n = 0;
    assert_int_equal(say(datagram, n, 0), RTMFP_JOB);
    assert_non_null(ends_open(&e, 0));
    assert_memory_not_equal(answer, &e.sessions[0].keyed.send, RTMFP_KEY);
    finish();
}

/* A static key of ours does not make the same keys either. */
static void replayed_to_a_static_key(void **state)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct rtmfp_keyed first;
    size_t n;

    (void)state;
    begin(&off, &off);
    make_static(&e.me, true, RTMFP_GROUP_2);
    greet(RTMFP_GROUP_2, 0);
    n = asked(datagram, 0);
    assert_int_equal(say(datagram, n, 0), RTMFP_JOB);
    assert_true(rtmfp_job_run(e.dh, &e.me, NULL, &e.out.job, &first));
    assert_non_null(ends_open(&e, 0));
    assert_memory_not_equal(first.send.aes, e.sessions[0].keyed.send.aes, RTMFP_KEY);
    finish();
}

/* The same client with another key: the session that it had is gone. Another client: ignored. */
static void begun_anew(void **state)
{
    struct rtmfp_identity other;

    (void)state;
    begin(&off, &off);
    greet(RTMFP_GROUP_2, 0);
    assert_true(turn(0) && turn(0));
    greet(RTMFP_GROUP_2, 0);
    assert_true(turn(0));
    e.full = true;
    assert_false(turn(0));
    assert_int_equal(e.out.why, RTMFP_DROP_LIMIT);
    assert_int_equal(e.stale, 1);
    e.full = false;
    assert_true(turn(CO_MS(1500)));
    assert_int_equal(e.n, 1);
    assert_keyed(&e.sessions[0]);
    rtmfp_identity_init(&other, false, all_groups);
    greet(RTMFP_GROUP_2, 0);
    in.me = &other;
    assert_true(turn(0));
    assert_false(turn(0));
    assert_int_equal(e.out.why, RTMFP_DROP_OTHER_PEER);
    assert_int_equal(e.stale, 1);
    finish();
}

/* ---- cookies */

static void moved_while_asking(void **state)
{
    (void)state;
    begin(&off, &off);
    greet(RTMFP_GROUP_2, 0);
    assert_true(turn(0));
    here.port++;
    assert_true(turn(0)); /* a new cookie */
    assert_int_equal(in.state, RTMFP_ASKING);
    assert_int_equal(e.responder.changes, 1);
    assert_int_equal(e.n, 0);
    assert_true(turn(0)); /* at once */
    assert_keyed(&e.sessions[0]);
    finish();
}

static void cookies_that_are_none(void **state)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;
    size_t n;

    (void)state;
    begin(&off, &off);
    greet(RTMFP_GROUP_2, 0);
    n = asked(datagram, 0);
    assert_int_equal(say(datagram, n, CO_SECONDS(121)), RTMFP_DROPPED);
    assert_int_equal(e.out.why, RTMFP_DROP_EXPIRED);
    in.cookie[0] ^= 1;
    n = rtmfp_initiator_output(&in, datagram, &to, CO_SECONDS(2));
    assert_int_equal(say(datagram, n, 0), RTMFP_DROPPED);
    assert_int_equal(e.out.why, RTMFP_DROP_FOREIGN);
    assert_int_equal(e.responder.drops[RTMFP_DROP_FOREIGN], 1);
    assert_int_equal(e.responder.drops[RTMFP_DROP_EXPIRED], 1);
    finish();
}

/* ---- times */

static void nobody_answers(void **state)
{
    static const int want[] = { 0, 1500, 4500, 9000, 15000, 22500, 31500, 42000, 54000, 67500,
                                82500 };
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;
    co_usec now = 0;

    (void)state;
    begin(&off, &off);
    greet(RTMFP_GROUP_2, 0);
    for (size_t i = 0; i < COUNT(want); i++) {
        now = rtmfp_initiator_deadline(&in);
        assert_int_equal(now, CO_MS(want[i]));
        assert_true(rtmfp_initiator_output(&in, datagram, &to, now) > 0);
        assert_int_equal(rtmfp_initiator_output(&in, datagram, &to, now), 0);
    }
    assert_int_equal(rtmfp_initiator_deadline(&in), CO_SECONDS(95));
    assert_int_equal(rtmfp_initiator_output(&in, datagram, &to, CO_SECONDS(95)), 0);
    assert_int_equal(in.state, RTMFP_UNANSWERED);
    assert_int_equal(rtmfp_initiator_deadline(&in), CO_FOREVER);
    finish();
}

/* Half of all packets are lost, either way. */
static void losses(void **state)
{
    (void)state;
    begin(&offer, &offer);
    for (unsigned seed = 0; seed < 200; seed++) {
        uint64_t dice = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;

        greet(RTMFP_GROUP_2, 0);
        for (co_usec now; (now = rtmfp_initiator_deadline(&in)) != CO_FOREVER;) {
            uint8_t datagram[RTMFP_SEALED_MAX];
            struct udp_addr to;
            size_t n = rtmfp_initiator_output(&in, datagram, &to, now);

            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            if (n > 0 && dice & 1 << 20 && ends_hear(&e, datagram, n, &here, now) &&
                dice & 1 << 21)
                rtmfp_initiator_input(&in, e.out.datagram, e.out.size, &server, now);
        }
        if (in.state == RTMFP_KEYED)
            assert_keyed(ends_at(&e, &here));
        else
            assert_int_equal(in.state, RTMFP_UNANSWERED);
        e.n = 0;
        rtmfp_initiator_wipe(&in);
    }
    assert_in_range(e.jobs, 180, 200);
    finish();
}

/* ---- redirects, introductions */

static size_t redirect(size_t came, const struct rtmfp_address *list, size_t n,
                       uint8_t *datagram)
{
    return rtmfp_responder_redirect(&e.responder, came, e.out.hello.tag, list, n, 0, datagram);
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
    begin(&off, &off);
    e.responder.redirects = true;
    greet(RTMFP_GROUP_2, 0);
    n = rtmfp_initiator_output(&in, datagram, &to, 0);
    assert_int_equal(say(datagram, n, 0), RTMFP_REDIRECTED);
    n = redirect(n, list, 3, answer);
    rtmfp_initiator_input(&in, answer, n, &server, 0);
    assert_true(in.state == RTMFP_GREETING && in.n_tries == 3 && in.redirects == 1);
    assert_true(rtmfp_initiator_output(&in, datagram, &to, 0) > 0);
    assert_true(udp_addr_same(&to, &list[0].at));
    n = rtmfp_initiator_output(&in, datagram, &to, 0);
    assert_true(n > 0 && udp_addr_same(&to, &list[1].at));
    assert_int_equal(rtmfp_initiator_output(&in, answer, &to, 0), 0);
    /* none: the address where it came from, once */
    n = redirect(52, NULL, 0, answer);
    rtmfp_initiator_input(&in, answer, n, &here, 0);
    rtmfp_initiator_input(&in, answer, n, &here, 0);
    assert_int_equal(in.n_tries, 4);
    in.tag[0] ^= 1; /* of another one */
    rtmfp_initiator_input(&in, answer, n, &list[0].at, 0);
    assert_int_equal(in.redirects, 3);
    in.tag[0] ^= 1;
    /* who answers first is asked */
    e.responder.redirects = false;
    n = rtmfp_initiator_output(&in, datagram, &to, CO_SECONDS(3));
    assert_true(ends_hear(&e, datagram, n, &here, 0));
    rtmfp_initiator_input(&in, e.out.datagram, e.out.size, &list[1].at, CO_SECONDS(3));
    assert_int_equal(in.state, RTMFP_ASKING);
    assert_true(rtmfp_initiator_output(&in, datagram, &to, CO_SECONDS(3)) > 0);
    assert_true(udp_addr_same(&to, &list[1].at));
    finish();
}

static void redirect_of_many(void **state)
{
    static struct rtmfp_address list[200];
    uint8_t answer[RTMFP_SEALED_MAX], datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;
    size_t n;

    (void)state;
    begin(&off, &off);
    e.responder.redirects = true;
    greet(RTMFP_GROUP_2, 0);
    n = rtmfp_initiator_output(&in, datagram, &to, 0);
    assert_int_equal(say(datagram, n, 0), RTMFP_REDIRECTED);
    for (size_t i = 0; i < 200; i++)
        list[i] = (struct rtmfp_address){ RTMFP_RELAY, ends_address((uint8_t)i, 1935) };
    n = redirect(n, list, 200, answer); /* as many as three times the hello hold */
    rtmfp_initiator_input(&in, answer, n, &server, 0);
    assert_int_equal(in.n_tries, RTMFP_TRIES_MAX);
    finish();
}

/* Clients ask for a peer by its id: somebody else knows whether it is here. */
static void introductions(void **state)
{
    uint8_t id[RTMFP_PEER_ID], epd[64], datagram[RTMFP_SEALED_MAX];
    struct wr w = rtmfp_wr(epd, sizeof(epd));
    struct udp_addr to;
    struct rtmfp_pair pair;
    size_t n;

    (void)state;
    begin(&off, &off);
    memset(id, 0x55, sizeof(id));
    rtmfp_epd_write_id(&w, id);
    rtmfp_pair_make(e.dh, &pair, RTMFP_GROUP_2);
    for (int ours = 0; ours < 2; ours++) {
        if (ours)
            memcpy(epd + 2, e.me.id, RTMFP_PEER_ID);
        assert_true(rtmfp_initiator_init(&in, &e.set, &client, &pair, rtmfp_bytes(epd, w.len), 9,
                                         &server, 0));
        n = rtmfp_initiator_output(&in, datagram, &to, 0);
        if (ours) {
            assert_int_equal(say(datagram, n, 0), RTMFP_ANSWERED);
            continue;
        }
        assert_int_equal(say(datagram, n, 0), RTMFP_INTRODUCE);
        assert_memory_equal(e.out.peer, id, RTMFP_PEER_ID);
        assert_true(rtmfp_bytes_same(e.out.hello.epd, rtmfp_bytes(epd, w.len)));
        assert_true(rtmfp_bytes_same(e.out.hello.tag, rtmfp_bytes(in.tag, RTMFP_TAG)));
    }
    /* whose certificate another one than was asked for answers is not taken */
    in.epd[5] ^= 1;
    rtmfp_initiator_input(&in, e.out.datagram, e.out.size, &server, 0);
    assert_int_equal(in.state, RTMFP_GREETING);
    finish();
}

/* ---- in pieces */

static void asked_in_pieces(void **state)
{
    uint8_t datagram[RTMFP_SEALED_MAX], plain[RTMFP_DATAGRAM_MAX], out[64];
    struct rtmfp_head head = { .mode = RTMFP_STARTUP, .has_time = true };
    size_t n, at = 0;

    (void)state;
    begin(&off, &off);
    greet(RTMFP_GROUP_2, 0);
    n = asked(datagram, 0);
    assert_int_equal(rtmfp_open(e.startup.cipher, &e.startup.in, datagram, n, plain,
                                &(struct rtmfp_bytes){ 0 }), RTMFP_OPENED);
    n -= RTMFP_ID + 2;
    memmove(plain, plain + 2, n); /* the checksum */
    for (uint64_t i = 0; at < n; i++, at += 30) {
        struct rtmfp_piece p = { at + 30 < n, 3, i, { plain + at, at + 30 < n ? 30 : n - at } };
        struct wr w = rtmfp_wr(out, sizeof(out));

        rtmfp_packet_begin(&w, &head);
        assert_true(rtmfp_piece_write(&w, &p));
        assert_int_equal(say(datagram, ends_seal(&e, rtmfp_bytes(out, w.len), datagram), 0),
                         p.more ? RTMFP_DROPPED : RTMFP_JOB);
    }
    assert_int_equal(rtmfp_fragments_count(e.responder.fragments), 0);
    assert_non_null(ends_open(&e, 0));
    rtmfp_initiator_input(&in, e.out.datagram, e.out.size, &server, 0);
    assert_keyed(&e.sessions[0]);
    finish();
}

/* ---- what is not answered */

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
        { "0b 0000 300003 03 01 0a", RTMFP_DROP_CHUNK }, /* of the EPD one byte is missing, */
        { "0b 0000 300003 02 02 0a", RTMFP_DROP_CHUNK }, /* of its option */
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
    begin(&off, &off);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].plain);

        n = ends_seal(&e, bytes_of(&h), datagram);
        assert_int_equal(say(datagram, n, 0), RTMFP_DROPPED);
        if (e.out.why != rows[i].why)
            fail_msg("row %zu: %s", i, rtmfp_drop_text(e.out.why));
    }
    while (n-- > 0) {
        assert_int_equal(say(datagram, n, 0), RTMFP_DROPPED);
        assert_int_equal(e.out.why, RTMFP_DROP_PACKET);
    }
    finish();
}

/* An IIKeying with a good cookie and these parts. */
static enum rtmfp_responded ask_with(uint32_t id, const char *certificate, const char *component)
{
    struct rtmfp_hex cert = rtmfp_hex(certificate), skic = rtmfp_hex(component);
    uint8_t cookie[RTMFP_COOKIE], plain[RTMFP_PLAIN_MAX], datagram[RTMFP_SEALED_MAX];
    struct rtmfp_iikeying c = { .id = id, .cookie = { cookie, sizeof(cookie) },
                                .certificate = bytes_of(&cert), .component = bytes_of(&skic) };
    struct rtmfp_head head = { .mode = RTMFP_STARTUP };
    struct wr w = rtmfp_wr(plain, sizeof(plain));

    rtmfp_cookie_make(&e.responder.cookies, cookie, RTMFP_COOKIE_HELLO, &here, 0);
    rtmfp_packet_begin(&w, &head);
    assert_true(rtmfp_iikeying_write(&w, &c));
    return say(datagram, ends_seal(&e, rtmfp_bytes(plain, w.len), datagram), 0);
}

#define KEY "ffff0000" /* that is just large enough, with enough ones and zeros */

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
        { 1, "02 15 02", "06 0d 02 ffff", RTMFP_DROP_COMPONENT }, /* cut */
        { 1, "02 15 02", "06 0d 02 " KEY " 03 1a 04 00", RTMFP_DROP_COMPONENT },
        { 1, "02 15 02", "02 0d 02", RTMFP_DROP_PUBLIC_KEY },
        { 1, "02 15 02", "03 0d 02 00", RTMFP_DROP_PUBLIC_KEY },
        { 1, "02 15 02", "03 0d 02 01", RTMFP_DROP_PUBLIC_KEY },
        { 1, "02 15 02", "06 0d 02 fffe0000", RTMFP_DROP_PUBLIC_KEY },
        { 1, "03 1d 02 00", "02 1d 02", RTMFP_DROP_PUBLIC_KEY },
    };

    (void)state;
    begin(&off, &off);
    for (size_t i = 0; i < COUNT(rows); i++) {
        enum rtmfp_responded said = ask_with(rows[i].id, rows[i].certificate, rows[i].component);

        if ((said == RTMFP_JOB) != (rows[i].why == OK) ||
            (said == RTMFP_DROPPED && (int)e.out.why != rows[i].why))
            fail_msg("row %zu: %s", i, rtmfp_drop_text(e.out.why));
        if (said == RTMFP_JOB) {
            assert_non_null(ends_open(&e, 0));
            e.n = 0;
        }
    }
    e.full = true;
    assert_int_equal(ask_with(1, rows[0].certificate, rows[0].component), RTMFP_DROPPED);
    assert_int_equal(e.out.why, RTMFP_DROP_LIMIT);
    e.full = false;
    e.responder.policies = require;
    assert_int_equal(ask_with(1, rows[0].certificate, rows[0].component), RTMFP_DROPPED);
    assert_int_equal(e.out.why, RTMFP_DROP_POLICY);
    finish();
}

/* What the initiator is told that is wrong leaves it where it is. */
static void wrong_answers(void **state)
{
    uint8_t datagram[RTMFP_SEALED_MAX], answer[RTMFP_SEALED_MAX];
    size_t n, size;

    (void)state;
    begin(&off, &off);
    greet(RTMFP_GROUP_2, 0);
    n = asked(datagram, 0);
    assert_true(ends_hear(&e, datagram, n, &here, 0));
    size = e.out.size;
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *data = exact(e.out.datagram, cut);

        rtmfp_initiator_input(&in, data, cut, &server, 0);
        assert_int_equal(in.state, RTMFP_ASKING);
        free(data);
    }
    /* plain ones that end anywhere */
    for (size_t cut = 0; cut + 1 < e.sessions[0].answer_size; cut++) {
        size_t made = rtmfp_responder_open_with(&e.responder,
                                                rtmfp_bytes(e.sessions[0].answer, cut), in.id, 0,
                                                answer);

        rtmfp_initiator_input(&in, answer, made, &server, 0);
        if (in.state != RTMFP_ASKING)
            fail_msg("cut at %zu", cut);
    }
    rtmfp_initiator_input(&in, e.out.datagram, size, &server, 0);
    assert_keyed(&e.sessions[0]);
    finish();
}

/* ---- false addresses: what is answered before the cookie came back */

static size_t hello_of(size_t uri, size_t tag, uint8_t *datagram)
{
    static const uint8_t letters[RTMFP_EPD_MAX] = { 'x' };
    uint8_t epd[RTMFP_EPD_MAX];
    struct wr w = rtmfp_wr(epd, sizeof(epd)), p = rtmfp_startup_begin(&e.startup, datagram, 0);

    rtmfp_epd_write_uri(&w, rtmfp_bytes(letters, uri));
    assert_true(rtmfp_ihello_write(&p, &(struct rtmfp_ihello){ { epd, w.len }, { letters, tag } }));
    return rtmfp_startup_seal(&e.startup, 0, &p);
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
        begin(&off, &off);
        if (other)
            rtmfp_identity_init(&e.me, true, none_of_2);
        for (size_t uri = 0; uri <= 600; uri++) {
            for (size_t tag = 0; tag <= RTMFP_TAG_MAX; tag += tag < 20 ? 1 : 11) {
                e.responder.redirects = false;
                n = hello_of(uri, tag, datagram);
                if (say(datagram, n, 0) != RTMFP_ANSWERED) {
                    assert_int_equal(e.out.why, RTMFP_DROP_SMALL);
                    assert_true(n <= 20 || (n == 36 && tag > 17));
                    silent++;
                } else if (e.out.size > 3 * n) {
                    fail_msg("%zu bytes were answered by %zu", n, e.out.size);
                }
                e.responder.redirects = true;
                assert_int_equal(say(datagram, n, 0), RTMFP_REDIRECTED);
                assert_true(redirect(n, list, COUNT(list), answer) <= 3 * n);
            }
        }
        finish();
    }
    assert_true(silent > 0 && silent < 400);
}

/* 36 bytes, the app alone: by the shortest certificate, which has one group. */
static void opened_by_the_smallest_hello(void **state)
{
    static const char *const apps[] = { "live", "livestreams", "rtmfp://10.0.0.1/live" };
    struct rtmfp_pair pair;
    uint8_t epd[64];

    (void)state;
    for (size_t i = 0; i < COUNT(apps); i++) {
        struct wr w = rtmfp_wr(epd, sizeof(epd));

        begin(&offer, &offer);
        rtmfp_epd_write_uri(&w, text_bytes(apps[i]));
        rtmfp_pair_make(e.dh, &pair, i == 0 ? RTMFP_GROUP_2 : RTMFP_GROUP_14);
        assert_true(rtmfp_initiator_init(&in, &e.set, &client, &pair, rtmfp_bytes(epd, w.len),
                                         0x77000001, &server, 0));
        assert_true(turn(0));
        assert_true(turn(0));
        assert_keyed(&e.sessions[0]);
        finish();
    }
}

#define TEST_OF(f) cmocka_unit_test_setup_teardown(f, start, nothing_left)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(all_kinds_of_keys), TEST_OF(one_that_requires_more), TEST_OF(no_group_in_common),
        TEST_OF(repeats), TEST_OF(replayed_to_a_static_key), TEST_OF(begun_anew),
        TEST_OF(moved_while_asking), TEST_OF(cookies_that_are_none), TEST_OF(nobody_answers),
        TEST_OF(losses), TEST_OF(redirected), TEST_OF(redirect_of_many), TEST_OF(introductions),
        TEST_OF(asked_in_pieces), TEST_OF(drops), TEST_OF(keyings), TEST_OF(wrong_answers),
        TEST_OF(answers_are_at_most_three_times_the_hello),
        TEST_OF(opened_by_the_smallest_hello),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
