/* SPDX-License-Identifier: MIT */
/* test_stun.c - STUN messages according to RFC 5769, and ICE-lite of one session. */
#include "hex.h"
#include "proto/stun/ice.h"
#include "proto/stun/message.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>

#define ID "b7 e7 a7 01 bc 34 d6 86 fa 87 df ae "
#define PASSWORD "VOkJxbRl1RmTxUk/WvJxBt"

/* RFC 5769, 2.1 to 2.3 */
static const char request[] =
    "00 01 00 58 21 12 a4 42 " ID "80 22 00 10 53 54 55 4e 20 74 65 73 74 20 63 6c 69 65 6e 74 "
    "00 24 00 04 6e 00 01 ff 80 29 00 08 93 2f f9 b1 51 26 3b 36 00 06 00 09 65 76 74 6a 3a 68 36 "
    "76 59 20 20 20 00 08 00 14 9a ea a7 0c bf d8 cb 56 78 1e f2 b5 b2 d3 f2 49 c1 b5 71 a2 "
    "80 28 00 04 e5 7a 3b cf";
static const char response4[] =
    "01 01 00 3c 21 12 a4 42 " ID "80 22 00 0b 74 65 73 74 20 76 65 63 74 6f 72 20 00 20 00 08 00 "
    "01 a1 47 e1 12 a6 43 00 08 00 14 2b 91 f5 99 fd 9e 90 c3 8c 74 89 f9 2a f9 ba 53 f0 6b e7 d7 "
    "80 28 00 04 c0 7d 4c 96";
static const char response6[] =
    "01 01 00 48 21 12 a4 42 " ID "80 22 00 0b 74 65 73 74 20 76 65 63 74 6f 72 20 00 20 00 14 00 "
    "02 a1 47 01 13 a9 fa a5 d3 f1 79 bc 25 f4 b5 be d2 b9 d9 00 08 00 14 a3 82 95 4e 4b e6 7b f1 "
    "17 84 c9 7c 82 92 c2 75 bf e3 ed 41 80 28 00 04 c8 fb 0b 4c";

static void test_request(void **state)
{
    uint8_t data[STUN_MAX];
    size_t n = hex_bytes(request, data, sizeof(data));
    struct stun_message m;

    (void)state;
    assert_true(stun_parse(&m, data, n));
    assert_int_equal(m.class, STUN_REQUEST);
    assert_int_equal(m.method, 1);
    assert_int_equal(m.username_size, 9);
    assert_memory_equal(m.username, "evtj:h6vY", 9);
    assert_true(m.has_priority && m.priority == 0x6e0001ff);
    assert_true(m.controlled && !m.controlling && m.tie == 0x932ff9b151263b36);
    assert_true(m.has_fingerprint && !m.use_candidate && m.n_unknown == 0);
    assert_true(stun_is_of(&m, PASSWORD));
    assert_false(stun_is_of(&m, PASSWORD "x"));
    assert_false(stun_is_of(&m, ""));
}

static void test_responses(void **state)
{
    static const struct { const char *hex, *from; } rows[] = {
        { response4, "192.0.2.1:32853" },
        { response6, "[2001:db8:1234:5678:11:2233:4455:6677]:32853" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t data[STUN_MAX];
        size_t n = hex_bytes(rows[i].hex, data, sizeof(data));
        struct stun_message m;
        char text[UDP_TEXT];

        assert_true(stun_parse(&m, data, n));
        assert_int_equal(m.class, STUN_SUCCESS);
        assert_true(m.has_mapped && stun_is_of(&m, PASSWORD));
        assert_string_equal(udp_addr_text(&m.mapped, text, sizeof(text)), rows[i].from);
    }
}

/* Any changed bit makes it invalid, or not of this password; so does any other length. */
static void test_forged(void **state)
{
    uint8_t data[STUN_MAX];
    size_t n = hex_bytes(request, data, sizeof(data));
    struct stun_message m;

    (void)state;
    for (size_t i = 0; i < n * 8; i++) {
        data[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_false(stun_parse(&m, data, n) && stun_is_of(&m, PASSWORD) && m.has_fingerprint);
        data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t *cut = malloc(i ? i : 1);

        assert_non_null(cut);
        memcpy(cut, data, i);
        assert_false(stun_parse(&m, cut, i));
        if (i >= STUN_HEADER) { /* also where its length says so: in the middle of attributes */
            cut[2] = (uint8_t)((i - STUN_HEADER) >> 8);
            cut[3] = (uint8_t)(i - STUN_HEADER);
            if (stun_parse(&m, cut, i))
                (void)stun_is_of(&m, PASSWORD);
        }
        free(cut);
    }
}

static void test_shapes(void **state)
{
    static const struct { const char *name, *hex; bool is; } rows[] = {
        { "no attributes", "00 01 00 00 21 12 a4 42 " ID, true },
        { "another cookie", "00 01 00 00 21 12 a4 43 " ID, false },
        { "upper bits", "80 01 00 00 21 12 a4 42 " ID, false },
        { "length not of 4", "00 01 00 02 21 12 a4 42 " ID "00 00", false },
        { "longer than it is", "00 01 00 04 21 12 a4 42 " ID, false },
        { "shorter than it is", "00 01 00 00 21 12 a4 42 " ID "80 22 00 00", false },
        { "attribute over the end", "00 01 00 04 21 12 a4 42 " ID "80 22 00 01", false },
        { "priority of 3", "00 01 00 08 21 12 a4 42 " ID "00 24 00 03 01 02 03 00", false },
        { "integrity of 4", "00 01 00 08 21 12 a4 42 " ID "00 08 00 04 01 02 03 00", false },
        { "fingerprint that is wrong", "00 01 00 08 21 12 a4 42 " ID "80 28 00 04 01 02 03 04",
          false },
        { "address of no family", "01 01 00 0c 21 12 a4 42 " ID "00 20 00 08 00 03 a1 47 e1 12 a6 43",
          false },
        { "address of 3 bytes", "01 01 00 0c 21 12 a4 42 " ID "00 20 00 07 00 01 a1 47 e1 12 a6 43",
          false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t data[STUN_MAX];
        struct stun_message m;
        size_t n = hex_bytes(rows[i].hex, data, sizeof(data));

        print_message("  %s\n", rows[i].name);
        assert_int_equal(stun_parse(&m, data, n), rows[i].is);
    }
}

/* We can read what we write, with the right password. */
static void test_written(void **state)
{
    static const char *const from[] = { "1.2.3.4", "2001:db8::1" };
    struct stun_check c = { .id = "abcdefghijkl", .username = "them:us", .password = "secret",
                            .controlling = true, .use_candidate = true, .has_priority = true,
                            .priority = 5, .tie = 77 };
    uint8_t out[STUN_MAX], back[STUN_MAX];
    struct stun_message m, b;
    size_t n = stun_write_check(out, &c);

    (void)state;
    assert_true(stun_parse(&m, out, n) && stun_is_of(&m, "secret") && m.has_fingerprint);
    assert_true(m.use_candidate && m.controlling && m.tie == 77 && m.priority == 5);
    for (size_t i = 0; i < COUNT(from); i++) {
        struct udp_addr a;

        assert_ok(udp_addr_parse(&a, from[i], 999));
        n = stun_write_success(back, &m, &a, "x");
        assert_true(stun_parse(&b, back, n) && stun_is_of(&b, "x"));
        assert_true(b.class == STUN_SUCCESS && udp_addr_same(&a, &b.mapped));
        assert_memory_equal(b.id, m.id, STUN_ID);
    }
    n = stun_write_error(back, &m, 487, "x");
    assert_true(stun_parse(&b, back, n) && b.class == STUN_ERROR && b.error == 487);
    n = stun_write_error(back, &m, 487, NULL);
    assert_true(stun_parse(&b, back, n) && b.integrity_at == 0 && !stun_is_of(&b, ""));
}

static void test_too_long(void **state)
{
    char name[700];
    struct stun_check c = { .username = name, .password = "p", .has_priority = true,
                            .controlling = true, .use_candidate = true };
    uint8_t out[STUN_MAX];

    (void)state;
    for (size_t n = 0; n < sizeof(name); n++) {
        struct stun_message m;
        size_t size;

        memset(name, 'a', n);
        name[n] = '\0';
        size = stun_write_check(out, &c);
        assert_true(size == 0 ? n > 450 : size <= STUN_MAX && stun_parse(&m, out, size) &&
                    m.username_size == n && stun_is_of(&m, "p"));
    }
}

/* ---- ICE */

static struct ice session;
static uint8_t answer[STUN_MAX];
static size_t answer_size;

static void begin(void)
{
    memset(&session, 0, sizeof(session));
    memcpy(session.ufrag, "OURUFRAG", 8);
    memcpy(session.pwd, "ourpasswordourpasswordourpasswor", 32);
    memcpy(session.peer_ufrag, "them", 4);
}

static struct ice_path way_of(int i)
{
    struct ice_path w = { .link = i >= 100 ? &session : NULL };

    w.path.peer.port = (uint16_t)i;
    w.path.peer.ip[15] = 1;
    return w;
}

static enum ice_result check(const struct stun_check *as, int from, co_usec now)
{
    static unsigned n;
    struct stun_check c = *as;
    uint8_t out[STUN_MAX];
    struct stun_message m;
    struct ice_path w = way_of(from);

    if (!c.id[0]) { /* a separate transaction */
        n++;
        memcpy(c.id + 4, &n, sizeof(n));
    }

    c.username = c.username ? c.username : "OURUFRAG:them";
    c.password = c.password ? c.password : session.pwd;
    assert_true(stun_parse(&m, out, stun_write_check(out, &c)));
    return ice_input(&session, &m, &w, now, answer, &answer_size);
}

static int at(void)
{
    const struct ice_path *w = ice_path(&session);

    return w ? w->path.peer.port : 0;
}

static void test_who(void **state)
{
    static const struct { const char *name, *username, *password; bool is; } rows[] = {
        { "the peer", "OURUFRAG:them", NULL, true },
        { "another password", "OURUFRAG:them", "x", false },
        { "nobody", "", NULL, false },
        { "ours alone", "OURUFRAG", NULL, false },
        { "without theirs", "OURUFRAG:", NULL, false },
        { "more of theirs", "OURUFRAG:themm", NULL, false },
        { "the other way round", "them:OURUFRAG", NULL, false },
        { "another of ours", "OURUFRAH:them", NULL, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stun_check c = { .username = rows[i].username, .password = rows[i].password };
        enum ice_result said;

        print_message("  %s\n", rows[i].name);
        begin();
        said = check(&c, 1, 1);
        assert_int_equal(said, rows[i].is ? ICE_MOVED : ICE_DROPPED);
        assert_int_equal(answer_size > 0, rows[i].is);
        assert_int_equal(at(), rows[i].is ? 1 : 0);
        assert_int_equal(session.checks, rows[i].is);
        assert_int_equal(session.refused, !rows[i].is);
    }
}

static void test_no_integrity(void **state)
{
    uint8_t out[STUN_MAX];
    struct stun_check c = { .username = "OURUFRAG:them" };
    struct stun_message m;
    struct ice_path w = way_of(1);

    (void)state;
    begin();
    assert_true(stun_parse(&m, out, stun_write_check(out, &c)));
    assert_int_equal(ice_input(&session, &m, &w, 1, answer, &answer_size), ICE_DROPPED);
    assert_int_equal(answer_size, 0);
    assert_null(ice_path(&session));
}

/* An answer of the peer, or an indication, is not a check. */
static void test_no_request(void **state)
{
    uint8_t out[STUN_MAX], back[STUN_MAX];
    struct stun_check c = { .username = "OURUFRAG:them", .password = "p" };
    struct stun_message m, b;
    struct ice_path w = way_of(1);

    (void)state;
    begin();
    assert_true(stun_parse(&m, out, stun_write_check(out, &c)));
    assert_true(stun_parse(&b, back, stun_write_success(back, &m, &w.path.peer, session.pwd)));
    assert_int_equal(ice_input(&session, &b, &w, 1, answer, &answer_size), ICE_DROPPED);
    assert_int_equal(answer_size, 0);
}

/* The peer gets its observed address. */
static void test_answer(void **state)
{
    struct stun_check c = { .id = "123456789012" };
    struct stun_message m;

    (void)state;
    begin();
    (void)check(&c, 4711, 1);
    assert_true(stun_parse(&m, answer, answer_size));
    assert_true(stun_is_of(&m, session.pwd) && m.has_fingerprint && m.class == STUN_SUCCESS);
    assert_int_equal(m.mapped.port, 4711);
    assert_memory_equal(m.id, c.id, STUN_ID);
}

static void test_role(void **state)
{
    struct stun_check c = { .controlled = true };
    struct stun_message m;

    (void)state;
    begin();
    assert_int_equal(check(&c, 1, 1), ICE_MOVED);
    begin();
    session.strict = true;
    assert_int_equal(check(&c, 1, 1), ICE_ANSWERED);
    assert_true(stun_parse(&m, answer, answer_size) && stun_is_of(&m, session.pwd));
    assert_int_equal(m.error, 487);
    assert_null(ice_path(&session));
    c = (struct stun_check){ .controlling = true };
    assert_int_equal(check(&c, 1, 1), ICE_MOVED);
}

/* A request of the peer with attributes after its name, and a MAC. */
static size_t signed_with(uint8_t *out, const char *attributes)
{
    size_t n = hex_bytes("00 01 00 00 21 12 a4 42 " ID "00 06 00 0d 4f 55 52 55 46 52 41 47 3a 74 "
                         "68 65 6d 00 00 00", out, STUN_MAX);

    n += hex_bytes(attributes, out + n, STUN_MAX - n);
    out[3] = (uint8_t)(n + 24 - STUN_HEADER);
    memcpy(out + n, "\0\x08\0\x14", 4);
    assert_non_null(HMAC(EVP_sha1(), session.pwd, (int)strlen(session.pwd), out, n, out + n + 4,
                         NULL));
    return n + 24;
}

static void test_unknown(void **state)
{
    static const struct { const char *attributes; unsigned error; } rows[] = {
        { "", 0 }, { "c0 57 00 04 00 01 00 0a", 0 }, { "00 03 00 04 00 00 00 00", 420 },
        { "7f ff 00 01 aa 00 00 00 00 02 00 00 00 04 00 00", 420 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t out[STUN_MAX];
        struct stun_message m;
        struct ice_path w = way_of(1);

        begin();
        assert_true(stun_parse(&m, out, signed_with(out, rows[i].attributes)));
        assert_int_equal(ice_input(&session, &m, &w, 1, answer, &answer_size),
                         rows[i].error ? ICE_ANSWERED : ICE_MOVED);
        assert_true(stun_parse(&m, answer, answer_size) && stun_is_of(&m, session.pwd));
        assert_int_equal(m.error, rows[i].error);
        assert_int_equal(at(), rows[i].error ? 0 : 1);
    }
}

static void test_rate(void **state)
{
    struct stun_check c = { 0 };
    unsigned answered = 0;

    (void)state;
    begin();
    for (int i = 0; i < 200; i++)
        answered += check(&c, 1, CO_SECONDS(10) + i) != ICE_DROPPED;
    assert_int_equal(answered, ICE_RATE);
    /* Packets of others do not count: no one can silence it. */
    assert_int_equal(check(&c, 1, CO_SECONDS(11) + 1), ICE_ANSWERED);
    c.password = "forged";
    for (int i = 0; i < 200; i++)
        assert_int_equal(check(&c, 1, CO_SECONDS(11) + i), ICE_DROPPED);
    c.password = NULL;
    assert_int_equal(check(&c, 1, CO_SECONDS(11) + 300), ICE_ANSWERED);
}

static void test_address(void **state)
{
    enum { CHECK, USE, HEARD };
    static const struct { const char *name; struct { int ms, what, from; } did[5]; int at; } rows[] = {
        { "the first that is proven", { { 1, CHECK, 1 }, { 2, CHECK, 2 } }, 1 },
        { "nominated", { { 1, CHECK, 1 }, { 2, CHECK, 2 }, { 3, USE, 2 } }, 2 },
        { "nominated at once", { { 1, CHECK, 1 }, { 3, USE, 2 } }, 2 },
        { "nominated, then checks of another", { { 1, USE, 1 }, { 3, CHECK, 2 } }, 1 },
        { "back again", { { 1, USE, 1 }, { 3, USE, 2 }, { 1500, USE, 1 } }, 1 },
        { "two in turn: once a second", { { 1, USE, 1 }, { 3, USE, 2 }, { 4, USE, 1 } }, 2 },
        { "a new one each time: three soon after each other",
          { { 1, USE, 1 }, { 2, USE, 2 }, { 3, USE, 3 }, { 4, USE, 4 }, { 5, USE, 5 } }, 4 },
        { "silent", { { 1, CHECK, 2 }, { 2, USE, 1 }, { 5001, CHECK, 2 } }, 1 },
        { "silent for 5 s", { { 1, CHECK, 2 }, { 2, USE, 1 }, { 5002, CHECK, 2 } }, 2 },
        { "a new one", { { 1, USE, 1 }, { 500, CHECK, 2 } }, 1 },
        { "a new one after half a second", { { 1, USE, 1 }, { 501, CHECK, 2 } }, 2 },
        { "its media were heard",
          { { 1, CHECK, 2 }, { 2, USE, 1 }, { 2000, HEARD, 1 }, { 5002, CHECK, 2 } }, 1 },
        { "media by another that was checked",
          { { 1, USE, 1 }, { 2, CHECK, 2 }, { 3, HEARD, 2 } }, 2 },
        { "media of the one that is chosen, then by another",
          { { 1, USE, 1 }, { 2, CHECK, 2 }, { 3, HEARD, 1 }, { 4, HEARD, 2 } }, 1 },
        { "the same after 5 s",
          { { 1, CHECK, 2 }, { 2, USE, 1 }, { 3, HEARD, 1 }, { 5003, HEARD, 2 } }, 2 },
        { "media by a new one", { { 1, USE, 1 }, { 2, HEARD, 1 }, { 3, CHECK, 2 }, { 501, HEARD, 2 } },
          1 },
        { "the same after half a second",
          { { 1, USE, 1 }, { 2, HEARD, 1 }, { 3, CHECK, 2 }, { 502, HEARD, 2 } }, 2 },
        { "nominated, once media came by the other", { { 1, USE, 1 }, { 2, HEARD, 1 }, { 3, USE, 2 } },
          1 },
        { "the same, while that is silent", { { 1, USE, 1 }, { 2, HEARD, 1 }, { 9000, USE, 2 } }, 1 },
        { "media by one that was not checked", { { 1, USE, 1 }, { 9000, HEARD, 2 } }, 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        begin();
        for (size_t k = 0; k < COUNT(rows[i].did) && rows[i].did[k].ms; k++) {
            struct stun_check c = { .use_candidate = rows[i].did[k].what == USE };
            struct ice_path w = way_of(rows[i].did[k].from);
            int was = at();
            bool moved;

            if (rows[i].did[k].what == HEARD)
                moved = ice_received(&session, &w, CO_MS(rows[i].did[k].ms));
            else
                moved = check(&c, rows[i].did[k].from, CO_MS(rows[i].did[k].ms)) == ICE_MOVED;
            assert_int_equal(moved, was != at());
        }
        assert_int_equal(at(), rows[i].at);
    }
}

/* ---- the peer's address */

/* Our check on this candidate pair; 0: none. */
static size_t ask(int from, co_usec now, struct stun_message *m, uint8_t out[STUN_MAX])
{
    static uint8_t id[STUN_ID];
    struct ice_path w = way_of(from);
    size_t size;

    id[0]++;
    size = ice_write_check(&session, &w, id, "theirs", now, out);
    if (size > 0)
        assert_true(stun_parse(m, out, size));
    return size;
}

static enum ice_result answered(const struct stun_message *m, int from, const char *pwd, co_usec now)
{
    struct ice_path w = way_of(from);
    uint8_t out[STUN_MAX];
    struct stun_message a;

    assert_true(stun_parse(&a, out, stun_write_success(out, m, &w.path.peer, pwd)));
    return ice_answer(&session, &a, &w, "theirs", now);
}

/* A nomination moves media once the peer answered there, with its password. */
static void test_asked(void **state)
{
    const struct stun_check use = { .use_candidate = true };
    struct ice_path one = way_of(1), two = way_of(2), none = way_of(3);
    uint8_t out[STUN_MAX], again[STUN_MAX];
    struct stun_message m, other;

    (void)state;
    begin();
    assert_int_equal(check(&use, 1, CO_MS(1)), ICE_MOVED);
    assert_false(session.sure);
    ice_reached(&session, &two);
    assert_false(session.sure);
    ice_reached(&session, &one);
    assert_true(session.sure);
    assert_false(ice_needs_check(&session, &one, CO_MS(1)) || ice_needs_check(&session, &none, 1));
    assert_int_equal(check(&use, 2, CO_MS(10)), ICE_ANSWERED);
    assert_true(ice_needs_check(&session, &two, CO_MS(10)));
    assert_int_equal(ask(3, CO_MS(10), &m, out), 0);
    assert_true(ask(2, CO_MS(10), &m, out) > 0);
    assert_true(m.class == STUN_REQUEST && m.controlled && m.has_priority && m.has_fingerprint &&
                stun_is_of(&m, "theirs"));
    assert_int_equal(m.username_size, 13);
    assert_memory_equal(m.username, "them:OURUFRAG", 13);
    assert_int_equal(ask(2, CO_MS(59), &other, again), 0);
    assert_true(ask(2, CO_MS(61), &other, again) > 0);
    assert_memory_equal(other.id, m.id, STUN_ID); /* a late answer is accepted, too */
    assert_int_equal(answered(&m, 2, "another", CO_MS(70)), ICE_DROPPED);
    assert_int_equal(answered(&m, 1, "theirs", CO_MS(70)), ICE_DROPPED);
    assert_int_equal(answered(&m, 3, "theirs", CO_MS(70)), ICE_DROPPED);
    assert_int_equal(at(), 1);
    assert_int_equal(answered(&m, 2, "theirs", CO_MS(70)), ICE_MOVED);
    assert_int_equal(at(), 2);
    assert_int_equal(answered(&m, 2, "theirs", CO_MS(71)), ICE_DROPPED); /* once */
    assert_true(session.sure);
    assert_int_equal(check(&use, 1, CO_MS(2000)), ICE_ANSWERED); /* back: the same again */
    assert_int_equal(at(), 2);
    assert_true(ask(1, CO_MS(2000), &m, out) > 0);
    assert_true(ask(1, CO_MS(6000), &other, again) > 0);
    assert_memory_not_equal(other.id, m.id, STUN_ID);
    assert_int_equal(answered(&m, 1, "theirs", CO_MS(6001)), ICE_DROPPED);
    assert_int_equal(answered(&other, 1, "theirs", CO_MS(6001)), ICE_MOVED);
}

/* An eavesdropper repeats a check from many addresses: nothing is answered, nothing moves. */
static void test_replayed(void **state)
{
    enum { OLD = ICE_SEEN + 1 };
    struct stun_check c = { .use_candidate = true, .id = "000000000000" };
    struct ice_path one = way_of(1);
    struct stun_message m;
    uint8_t out[STUN_MAX];

    (void)state;
    begin();
    assert_int_equal(check(&c, 1, 1), ICE_MOVED);
    ice_reached(&session, &one);
    for (int i = 2; i < 300; i++) {
        assert_int_equal(check(&c, i, CO_MS(i)), ICE_DROPPED);
        assert_int_equal(answer_size, 0);
    }
    assert_int_equal(session.n, 1);
    assert_int_equal(session.received_at, 1);
    assert_int_equal(check(&c, 1, CO_MS(301)), ICE_ANSWERED); /* its answer was lost */
    assert_int_equal(session.received_at, 1);
    for (int i = 0; i < OLD; i++) { /* so that the first one is forgotten */
        c.id[11]++;
        assert_int_equal(check(&c, 1, CO_SECONDS(1 + i)), ICE_ANSWERED);
    }
    c.id[11] = '0';
    for (int i = 2; i < 12; i++) {
        (void)check(&c, i, CO_SECONDS(2 * OLD));
        if (answer_size > 0)
            (void)ask(i, CO_SECONDS(2 * OLD), &m, out); /* to an address without an answer */
        assert_int_equal(at(), 1);
        assert_true(ice_knows(&session, &one));
    }
}

/* Eight are remembered; the chosen one is never replaced by others. */
static void test_ways(void **state)
{
    struct stun_check c = { 0 };

    (void)state;
    for (int chosen = 1; chosen <= ICE_PATHS; chosen++) {
        struct ice_path w = way_of(chosen);

        begin();
        for (int i = 1; i <= ICE_PATHS; i++) {
            c.use_candidate = i == chosen;
            (void)check(&c, i, CO_MS(i));
        }
        c.use_candidate = false;
        for (int i = 20; i < 50; i++) {
            struct ice_path new = way_of(i);

            (void)check(&c, chosen, CO_MS(99 + 50 * i)); /* or it would be dropped */
            (void)check(&c, i, CO_MS(100 + 50 * i));
            assert_true(session.n == ICE_PATHS && ice_knows(&session, &new));
        }
        assert_true(ice_knows(&session, &w));
        assert_int_equal(at(), chosen);
    }
}

/* A closed connection removes its candidate pair; media continue on another one. */
static void test_forget(void **state)
{
    struct stun_check c = { .use_candidate = true };
    struct ice_path w = way_of(1);

    (void)state;
    begin();
    (void)check(&c, 100, CO_MS(1));
    ice_forget(&session, &session);
    assert_true(session.n == 0 && !ice_path(&session));
    (void)check(&c, 1, CO_MS(2));
    (void)check(&c, 100, CO_MS(3));
    (void)check(&c, 2, CO_MS(4));
    assert_int_equal(at(), 2);
    ice_forget(&session, &session);
    assert_int_equal(at(), 2);
    assert_int_equal(session.n, 2);
    (void)check(&c, 101, CO_MS(5));
    assert_int_equal(at(), 101);
    (void)ice_received(&session, &w, CO_MS(6));
    ice_forget(&session, &session);
    assert_int_equal(at(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_request), TEST(test_responses), TEST(test_forged), TEST(test_shapes),
        TEST(test_written), TEST(test_too_long), TEST(test_who), TEST(test_no_integrity),
        TEST(test_no_request), TEST(test_answer), TEST(test_role), TEST(test_unknown),
        TEST(test_rate), TEST(test_address), TEST(test_asked),
        TEST(test_replayed), TEST(test_ways), TEST(test_forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
