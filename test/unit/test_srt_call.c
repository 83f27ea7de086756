/* SPDX-License-Identifier: MIT */
/* test_srt_call.c - callers of an SRT listener: every possible answer, and none; addresses. */
#include "hex.h"
#include "proto/srt/call.h"

#include <stdlib.h>

enum { OURS = 0x1234567, SEQ = 0x7ffffff0, THEIRS = 0x7654321 };
#define PASSPHRASE "0123456789"

static const uint8_t key[SRT_COOKIE_KEY] = { 7 };
static const struct srt_terms terms = { 1400, 100, CO_MS(120), CO_MS(500) };

struct line {
    struct srt_call call;
    uint8_t said[SRT_HANDSHAKE_MAX], answer[SRT_HANDSHAKE_MAX];
    size_t size;
    struct srt_packet p;       /* its last packet */
    struct srt_handshake h;
    struct udp_addr at;
};

static struct srt_call_opts plain(void)
{
    return (struct srt_call_opts){
        .streamid = "#!::r=live/x", .id = OURS, .first_seq = SEQ, .mss = 1500, .window = 8192,
        .recv_latency = CO_MS(200), .peer_latency = CO_MS(300), .timeout = CO_SECONDS(3),
    };
}

static void begin(struct line *l, const struct srt_call_opts *o, co_usec now)
{
    assert_ok(udp_addr_parse(&l->at, "10.0.0.1", 5000));
    srt_call_begin(&l->call, o, now);
}

/* Its next packet, which must be a handshake of this kind. */
static void hear(struct line *l, uint32_t kind, co_usec now)
{
    l->size = srt_call_output(&l->call, l->said, now);
    assert_true(l->size >= 64);
    assert_true(srt_packet_read(&l->p, l->said, l->size));
    assert_int_equal(srt_handshake_read(&l->h, &l->p), SRT_WELCOME);
    assert_true(l->p.to == 0 && l->h.kind == kind && l->h.id == OURS && l->h.first_seq == SEQ);
}

static void tell(struct line *l, size_t size, co_usec now)
{
    struct srt_packet p;

    assert_true(srt_packet_read(&p, l->answer, size));
    srt_call_input(&l->call, &p, now);
}

static void tell_cookie(struct line *l, co_usec now)
{
    size_t n = srt_respond_induction(&l->p, key, &l->at, 5, 0, 77, l->answer);

    assert_true(n > 0);
    tell(l, n, now);
    assert_int_equal(l->call.state, SRT_CALL_CONCLUSION);
}

/* Up to its conclusion, which is in l->h. */
static void up_to_conclusion(struct line *l, const struct srt_call_opts *o)
{
    begin(l, o, CO_SECONDS(10));
    hear(l, SRT_INDUCTION, CO_SECONDS(10));
    tell_cookie(l, CO_SECONDS(10) + 1000);
    hear(l, SRT_CONCLUSION, CO_SECONDS(10) + 1000);
    assert_true(srt_cookie_is_valid(key, &l->at, 5, l->h.cookie));
}

static size_t answer(struct line *l, const uint8_t *km, size_t km_size)
{
    struct srt_agreed a;

    srt_agree(&a, &l->h, &terms, THEIRS);
    return srt_respond_conclusion(&l->h, &a, km, km_size, 500, l->answer);
}

/* ---- the regular sequence */

static void a_call_is_answered(void **state)
{
    struct srt_call_opts o = plain();
    struct line l;

    (void)state;
    up_to_conclusion(&l, &o);
    assert_string_equal(l.h.streamid, o.streamid);
    assert_true(l.h.receiver_latency == 200 && l.h.sender_latency == 300 && !l.h.has_km);
    assert_true(l.h.flags == SRT_FLAGS && l.p.time == 1000);
    tell(&l, answer(&l, NULL, 0), CO_SECONDS(10) + 2000);
    assert_int_equal(l.call.state, SRT_CALL_DONE);
    assert_true(l.call.agreed.id == OURS && l.call.agreed.peer_id == THEIRS);
    assert_true(l.call.agreed.first_seq == SEQ && l.call.agreed.payload == 1400 - 44);
    assert_int_equal(l.call.agreed.window, 100);
    assert_int_equal(l.call.agreed.recv_latency, CO_MS(500));
    assert_int_equal(l.call.agreed.send_latency, CO_MS(300));
    assert_int_equal(l.call.peer_zero, CO_SECONDS(10) + 2000 - 500);
    assert_int_equal(l.call.began_at, CO_SECONDS(10));
    assert_int_equal(srt_call_output(&l.call, l.said, CO_SECONDS(20)), 0);
    assert_int_equal(srt_call_deadline(&l.call), CO_FOREVER);
}

static void it_repeats_every_250_ms(void **state)
{
    struct srt_call_opts o = plain();
    struct line l;

    (void)state;
    begin(&l, &o, 0);
    for (co_usec now = 0; now < CO_SECONDS(1); now += CO_MS(250)) {
        assert_int_equal(srt_call_deadline(&l.call), now);
        hear(&l, SRT_INDUCTION, now);
        assert_int_equal(srt_call_output(&l.call, l.said, now + CO_MS(249)), 0);
    }
    tell_cookie(&l, CO_SECONDS(1) - 1);
    for (co_usec now = CO_SECONDS(1) - 1; now < CO_SECONDS(3); now += CO_MS(250)) {
        assert_int_equal(srt_call_deadline(&l.call), now);
        hear(&l, SRT_CONCLUSION, now);
        assert_int_equal(l.p.time, now);
    }
    assert_int_equal(srt_call_deadline(&l.call), CO_SECONDS(3));
    assert_int_equal(srt_call_output(&l.call, l.said, CO_SECONDS(3)), 0);
    assert_int_equal(l.call.state, SRT_CALL_TIMEOUT);
    tell(&l, answer(&l, NULL, 0), CO_SECONDS(3));
    assert_int_equal(l.call.state, SRT_CALL_TIMEOUT);
}

/* ---- rejections */

static void reject_counters(void **state)
{
    static const uint32_t codes[] = { 1000, 1001, 1010, 1016, 2400, 2409, 3000, 4444 };

    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        struct srt_call_opts o = plain();
        struct line l;

        up_to_conclusion(&l, &o);
        tell(&l, srt_respond_refusal(&l.h, (enum srt_refusal)codes[i], 0, l.answer), CO_SECONDS(11));
        assert_int_equal(l.call.state, SRT_CALL_REFUSED);
        assert_int_equal(l.call.refused, codes[i]);
        assert_int_equal(srt_call_output(&l.call, l.said, CO_SECONDS(11)), 0);
    }
}

static void listeners_of_version_4(void **state)
{
    struct srt_call_opts o = plain();
    struct line l;

    (void)state;
    begin(&l, &o, 0);
    hear(&l, SRT_INDUCTION, 0);
    (void)srt_handshake_write(&l.h, 0, OURS, true, l.answer);
    tell(&l, 64, 1);
    assert_int_equal(l.call.state, SRT_CALL_REFUSED);
    assert_int_equal(l.call.refused, SRT_REFUSED_VERSION);
}

/* None of these changes its state. */
static void noise(void **state)
{
    static const struct {
        size_t at;
        const char *bytes;
    } rows[] = {
        { 0, "00000000" }, { 0, "80010000" }, { 12, "00000000" }, { 12, "01234568" },
        { 36, "00000000" }, { 36, "fffffffe" }, { 36, "80000001" }, { 36, "00000001" },
    };
    struct srt_call_opts o = plain();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct line l;
        size_t n = answer(&l, NULL, 0);

        up_to_conclusion(&l, &o);
        (void)hex_bytes(rows[i].bytes, l.answer + rows[i].at, 4);
        tell(&l, n, CO_SECONDS(10) + 5000);
        assert_int_equal(l.call.state, SRT_CALL_CONCLUSION);
        tell(&l, answer(&l, NULL, 0), CO_SECONDS(10) + 6000);
        assert_int_equal(l.call.state, SRT_CALL_DONE);
    }
}

static void an_answer_is_cut(void **state)
{
    struct srt_call_opts o = plain();

    (void)state;
    for (size_t cut = SRT_HEADER; cut < 64 + 16; cut++) {
        struct line l;

        up_to_conclusion(&l, &o);
        (void)answer(&l, NULL, 0);
        tell(&l, cut, CO_SECONDS(11));
        assert_int_equal(l.call.state, cut < 64 ? SRT_CALL_CONCLUSION : SRT_CALL_REFUSED);
        if (cut >= 64)
            assert_int_equal(l.call.refused, SRT_REFUSED_MALFORMED);
    }
}

/* ---- keys */

/* A listener's answer to the key: its bytes, with a bit changed, a word, nothing. */
static void keys(void **state)
{
    static const struct {
        const char *name, *word;
        int flip;
        uint32_t refused;
    } rows[] = {
        { "ours", NULL, -1, 0 },
        { "another one", NULL, 40, SRT_REFUSED_PASSPHRASE },
        { "bad secret", "00000004", -1, SRT_REFUSED_PASSPHRASE },
        { "bad secret, reversed", "04000000", -1, SRT_REFUSED_PASSPHRASE },
        { "no secret", "00000003", -1, SRT_REFUSED_UNSECURE },
        { "nothing", "", -1, SRT_REFUSED_UNSECURE },
    };

    (void)state;
    for (unsigned size = 16; size <= 32; size += 8) {
        struct srt_secret s, theirs;
        struct srt_call_opts o = plain();

        assert_true(srt_secret_new(&s, size, PASSPHRASE));
        o.secret = &s;
        for (size_t i = 0; i < COUNT(rows); i++) {
            struct line l;
            uint8_t km[SRT_KM_MAX];
            size_t n;
            struct srt_km read;

            up_to_conclusion(&l, &o);
            n = l.h.km_size;
            print_message("  %u, %s\n", size, rows[i].name);
            assert_int_equal(l.h.encryption, size / 8);
            assert_true(l.h.has_km && srt_km_read(&read, l.h.km, n));
            assert_true(srt_km_unwrap(&theirs, &read, PASSPHRASE));
            assert_memory_equal(theirs.key[0], s.key[0], size);
            memcpy(km, l.h.km, n);
            if (rows[i].word)
                n = hex_bytes(rows[i].word, km, sizeof(km));
            if (rows[i].flip >= 0)
                km[rows[i].flip] ^= 1;
            tell(&l, answer(&l, n ? km : NULL, n), CO_SECONDS(11));
            assert_int_equal(l.call.refused, rows[i].refused);
            assert_int_equal(l.call.state,
                             rows[i].refused ? SRT_CALL_REFUSED : SRT_CALL_DONE);
        }
    }
}

static void a_key_that_was_not_asked_for(void **state)
{
    static const uint8_t word[4] = { 0, 0, 0, SRT_KM_NO_SECRET };
    struct srt_call_opts o = plain();
    struct line l;

    (void)state;
    up_to_conclusion(&l, &o);
    tell(&l, answer(&l, word, sizeof(word)), CO_SECONDS(11));
    assert_int_equal(l.call.refused, SRT_REFUSED_UNSECURE);
}

/* ---- addresses */

static void addresses(void **state)
{
    /* want: "host port streamid passphrase key latency caller|listener" */
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "srt://host:10080", "host 10080 - - 0 -1 caller" },
        { "SRT://10.0.0.1:1", "10.0.0.1 1 - - 0 -1 caller" },
        { "srt://[::1]:65535?latency=0", "::1 65535 - - 0 0 caller" },
        { "srt://h:1/?latency=200", "h 1 - - 0 200 caller" },
        { "srt://h:1/x?latency=200", "h 1 - - 0 200 caller" },
        { "srt://h:1?streamid=#!::r=live/x,m=publish&latency=20",
          "h 1 #!::r=live/x,m=publish - 0 20 caller" },
        { "srt://h:1?streamid=#!::h=live/x?secret=1,m=publish",
          "h 1 #!::h=live/x?secret=1,m=publish - 0 -1 caller" },
        { "srt://h:1?streamid=%23!::r=live%2Fx%26y", "h 1 #!::r=live/x&y - 0 -1 caller" },
        { "srt://h:1?streamid=a%zz%4", "h 1 a%zz%4 - 0 -1 caller" },
        { "srt://h:1?passphrase=0123456789", "h 1 - 0123456789 16 -1 caller" },
        { "srt://h:1?passphrase=0123456789&pbkeylen=32", "h 1 - 0123456789 32 -1 caller" },
        { "srt://h:1?pbkeylen=24&passphrase=0123456789", "h 1 - 0123456789 24 -1 caller" },
        { "srt://h:1?pbkeylen=24", "h 1 - - 0 -1 caller" },
        { "srt://h:1?passphrase=", "h 1 - - 0 -1 caller" },
        { "srt://h:1?mode=caller&transtype=live&x", "h 1 - - 0 -1 caller" },
        { "srt://h:1?mode=listener", "h 1 - - 0 -1 listener" },
        { "srt://:1?mode=listener", "- 1 - - 0 -1 listener" },
    };
    static const char *const bad[] = {
        "", "srt:", "srt://", "udp://h:1", "srt://h", "srt://h:", "srt://h:0", "srt://h:65536",
        "srt://h:1x", "srt://h:-1", "srt://:1", "srt://[::1:1", "srt://[::1]", "srt://[::1]x:1",
        "srt://h?x=:1", "srt://h:1?passphrase=012345678", "srt://h:1?latency=x",
        "srt://h:1?latency=-1", "srt://h:1?latency=65536", "srt://h:1?pbkeylen=8",
        "srt://h:1?pbkeylen=20", "srt://h:1?pbkeylen=40", "srt://h:1?mode=rendezvous",
        "srt://h:999999999999",
    };
    struct srt_url u;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char got[2048];

        if (!srt_url_parse(&u, rows[i].text))
            fail_msg("%s: is none", rows[i].text);
#define OR_NONE(x) ((x)[0] ? (x) : "-")
        (void)snprintf(got, sizeof(got), "%s %d %s %s %u %d %s", OR_NONE(u.host), u.port,
                       OR_NONE(u.streamid), OR_NONE(u.passphrase), u.key_size, u.latency,
                       u.listener ? "listener" : "caller");
        assert_string_equal(got, rows[i].want);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        if (srt_url_parse(&u, bad[i]))
            fail_msg("%s: is one", bad[i]);
}

/* Each part of every length; a part that does not fit is rejected, not truncated. */
static void long_addresses(void **state)
{
    static const struct {
        const char *head, *tail;
        size_t most;
    } rows[] = {
        { "srt://", ":1", 255 }, { "srt://h:1?streamid=", "", 512 },
        { "srt://h:1?passphrase=0123456789", "", 69 }, { "srt://h:1?x=", "", 1549 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t n = 1; n < 2000; n++) {
            size_t head = strlen(rows[i].head), tail = strlen(rows[i].tail);
            char *text = malloc(head + n + tail + 1);
            struct srt_url u;

            memcpy(text, rows[i].head, head);
            memset(text + head, 'a', n);
            memcpy(text + head + n, rows[i].tail, tail + 1);
            assert_int_equal(srt_url_parse(&u, text), n <= rows[i].most);
            free(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_is_answered), TEST(it_repeats_every_250_ms), TEST(reject_counters),
        TEST(listeners_of_version_4), TEST(noise), TEST(an_answer_is_cut), TEST(keys),
        TEST(a_key_that_was_not_asked_for), TEST(addresses), TEST(long_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
