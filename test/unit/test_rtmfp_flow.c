/* SPDX-License-Identifier: MIT */
/* test_rtmfp_flow.c - what came of a flow, messages out of fragments, and what a sender keeps of
 * its own. */
#include "unit.h"

#include "proto/rtmfp/congestion.h"
#include "proto/rtmfp/flow_in.h"
#include "proto/rtmfp/flow_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- received sequence numbers, compared with a table of all of them */

static void ranges_are_a_set(void **state)
{
    enum { N = 300 };
    bool came[N + 2] = { true };
    struct rtmfp_ranges r = { .n = 0 };

    (void)state;
    srand(5);
    for (int i = 0; i < 2000; i++) {
        uint64_t seq = 1 + (uint64_t)rand() % N;
        uint64_t upto = 0;

        assert_int_equal(rtmfp_ranges_has(&r, seq), came[seq]);
        if (rand() % 50 == 0) {
            rtmfp_ranges_forward(&r, seq / 8);
            memset(came, true, seq / 8 + 1);
        } else {
            assert_true(rtmfp_ranges_add(&r, seq));
            came[seq] = true;
        }
        while (came[upto + 1])
            upto++;
        assert_int_equal(r.upto, upto);
        for (unsigned k = 0; k < r.n; k++) {
            assert_true(r.v[k].first > (k ? r.v[k - 1].last : r.upto) + 1); /* a gap before each */
            assert_true(r.v[k].last >= r.v[k].first);
        }
    }
    rtmfp_ranges_fini(&r);
}

static void ranges_are_bounded(void **state)
{
    struct rtmfp_ranges r = { .n = 0 };

    (void)state;
    for (uint64_t i = 1; i <= RTMFP_RANGES_MAX; i++)
        assert_true(rtmfp_ranges_add(&r, 2 * i + 1));
    assert_false(rtmfp_ranges_add(&r, 5000));
    assert_false(rtmfp_ranges_has(&r, 5000));
    assert_true(rtmfp_ranges_add(&r, 4)); /* next to an existing one */
    assert_true(rtmfp_ranges_add(&r, UINT64_MAX)); /* since there is room for one more */
    rtmfp_ranges_forward(&r, UINT64_MAX);
    assert_int_equal(r.n, 0);
    assert_null(r.v);
    assert_true(rtmfp_ranges_add(&r, 7));
}

/* ---- fragments to messages */

static char got[4096];
static bool refuse;

static bool take(void *user, struct rtmfp_flow_in *f, const uint8_t *data, size_t size)
{
    size_t at = strlen(got);

    (void)user;
    (void)f;
    if (at + size + 2 < sizeof(got)) {
        memcpy(got + at, data, size);
        memcpy(got + at + size, ".", 2);
    }
    return !refuse;
}

struct step {
    uint64_t seq, forward;
    const char *place; /* whole, <begin, -middle, >end; !: abandoned; $: final */
    const char *text;
};

static enum rtmfp_taken put(struct rtmfp_flow_in *f, const struct step *s, struct rtmfp_store *held)
{
    struct rtmfp_user_data d = {
        .seq = s->seq, .offset = s->seq - s->forward, .data = rtmfp_bytes(s->text, strlen(s->text)),
        .abandoned = strchr(s->place, '!') != NULL, .final = strchr(s->place, '$') != NULL,
        .position = strchr(s->place, '<') ? RTMFP_BEGIN : strchr(s->place, '-') ? RTMFP_MIDDLE
               : strchr(s->place, '>') ? RTMFP_END : RTMFP_WHOLE,
    };

    return rtmfp_flow_in_put(f, &d, held, 1000, take, NULL);
}

static void messages_out_of_fragments(void **state)
{
    static const struct {
        const char *what;
        struct step steps[8];
        const char *out;
        uint64_t lost;
    } rows[] = {
        { "in order", { { 1, 0, "", "a" }, { 2, 0, "", "b" } }, "a.b.", 0 },
        { "repeated", { { 1, 0, "", "a" }, { 1, 0, "", "a" }, { 2, 0, "", "b" } }, "a.b.", 0 },
        { "the other way round", { { 2, 0, "", "b" }, { 1, 0, "", "a" } }, "a.b.", 0 },
        { "in pieces", { { 1, 0, "<", "a" }, { 2, 0, "-", "b" }, { 3, 0, ">", "c" } }, "abc.", 0 },
        { "pieces, the last one first",
          { { 3, 0, ">", "c" }, { 2, 0, "-", "b" }, { 1, 0, "<", "a" } }, "abc.", 0 },
        { "an end without its begin", { { 1, 0, ">", "c" }, { 2, 0, "", "d" } }, "d.", 1 },
        { "a begin without its end", { { 1, 0, "<", "a" }, { 2, 0, "", "d" } }, "d.", 1 },
        { "a middle is given up", { { 1, 0, "<", "a" }, { 3, 2, ">", "c" }, { 4, 2, "", "d" } },
          "d.", 2 },
        { "a begin is given up", { { 2, 1, "-", "b" }, { 3, 1, ">", "c" }, { 4, 1, "", "d" } },
          "d.", 1 },
        { "a whole one is given up", { { 2, 1, "", "b" } }, "b.", 1 },
        { "given up by a chunk of its own", { { 1, 0, "", "a" }, { 3, 0, "", "c" },
          { 2, 2, "!", "" } }, "a.c.", 1 },
        { "given up in the middle", { { 1, 0, "<", "a" }, { 2, 0, "!", "" }, { 3, 0, "", "c" } },
          "c.", 1 },
        { "far ahead", { { 1, 0, "", "a" }, { 1000000, 999999, "", "b" }, { 1000001, 0, "", "c" } },
          "a.b.c.", 1 },
        { "the last of all", { { UINT64_MAX, UINT64_MAX - 1, "", "z" } }, "z.", 1 },
        { "empty ones", { { 1, 0, "", "" }, { 2, 0, "<", "" }, { 3, 0, ">", "" } }, "..", 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_flow_in f = { .id = 1 };
        struct rtmfp_store held = { .most = RTMFP_SESSION_HELD };

        got[0] = '\0';
        for (unsigned k = 0; k < 8 && rows[i].steps[k].place; k++)
            assert_int_equal(put(&f, &rows[i].steps[k], &held), RTMFP_TAKEN);
        if (strcmp(got, rows[i].out) != 0)
            fail_msg("%s: %s", rows[i].what, got);
        assert_int_equal(f.lost, rows[i].lost);
        assert_int_equal(held.held, f.part_room);
        rtmfp_flow_in_fini(&f, &held);
        assert_int_equal(held.held, 0);
    }
}

static void contradictions(void **state)
{
    static const struct step rows[] = {
        { 3, 4, "", "x" },  /* FSN above the sequence */
        { 9, 0, "$", "x" }, /* another end */
        { 8, 0, "", "x" },  /* behind the end */
    };
    struct rtmfp_flow_in f = { .id = 1 };
    struct rtmfp_store held = { .most = RTMFP_SESSION_HELD };

    (void)state;
    got[0] = '\0';
    assert_int_equal(put(&f, &(struct step){ 6, 0, "", "y" }, &held), RTMFP_TAKEN);
    assert_int_equal(put(&f, &(struct step){ 5, 0, "$", "x" }, &held), RTMFP_NONSENSE);
    assert_int_equal(put(&f, &(struct step){ 7, 0, "$", "x" }, &held), RTMFP_TAKEN);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(put(&f, &rows[i], &held), RTMFP_NONSENSE);
    assert_false(rtmfp_flow_in_complete(&f));
    assert_int_equal(put(&f, &(struct step){ 7, 5, "$", "x" }, &held), RTMFP_TAKEN);
    assert_true(rtmfp_flow_in_complete(&f));
    assert_string_equal(got, "y.x.");
    rtmfp_flow_in_fini(&f, &held);
    assert_int_equal(held.held, 0);
}

static void a_refused_flow_holds_nothing(void **state)
{
    struct rtmfp_flow_in f = { .id = 1 };
    struct rtmfp_store held = { .most = RTMFP_SESSION_HELD };

    (void)state;
    got[0] = '\0';
    refuse = true;
    assert_int_equal(put(&f, &(struct step){ 3, 0, "", "c" }, &held), RTMFP_TAKEN);
    assert_int_equal(put(&f, &(struct step){ 1, 0, "", "a" }, &held), RTMFP_TAKEN);
    refuse = false;
    assert_true(f.rejected);
    assert_int_equal(held.held, 0);
    assert_int_equal(put(&f, &(struct step){ 2, 0, "", "b" }, &held), RTMFP_TAKEN);
    assert_string_equal(got, "a.");
    assert_int_equal(f.seen.upto, 3); /* it is acknowledged all the same */
    rtmfp_flow_in_fini(&f, &held);
}

/* Fragments that never end: the flow's and the session's share, and no more. */
static void memory_is_bounded(void **state)
{
    static uint8_t bytes[1100];
    struct rtmfp_flow_in f[8] = { { .id = 1 } };
    struct rtmfp_store held = { .most = RTMFP_SESSION_HELD };
    size_t most = 0;
    unsigned refused = 0;

    (void)state;
    for (uint64_t seq = 2; seq < 4000; seq++) {
        struct rtmfp_flow_in *to = &f[seq % 8];
        struct rtmfp_user_data d = { .seq = 2 + seq / 8, .offset = 2, .position = RTMFP_MIDDLE,
                                     .data = rtmfp_bytes(bytes, sizeof(bytes)) };

        if (!rtmfp_ranges_has(&to->seen, d.seq)) {
            d.offset = d.seq;
            refused += rtmfp_flow_in_put(to, &d, &held, 1 << 20, take, NULL) == RTMFP_NO_ROOM;
        }
        most = held.held > most ? held.held : most;
    }
    assert_true(refused > 0);
    assert_in_range(most, RTMFP_SESSION_HELD / 2, RTMFP_SESSION_HELD);
    for (unsigned i = 0; i < 8; i++) {
        assert_true(f[i].held <= RTMFP_FLOW_HELD);
        assert_true(rtmfp_flow_in_window(&f[i], &held) >= 1);
        rtmfp_flow_in_fini(&f[i], &held);
    }
    assert_int_equal(held.held, 0);
}

/* Small ones are not many either: they are all given out when the gap is filled. */
static void so_is_what_waits_for_one_gap(void **state)
{
    static const size_t most[] = { 64 << 10, RTMFP_SESSION_HELD };

    (void)state;
    for (size_t i = 0; i < COUNT(most); i++) {
        struct rtmfp_flow_in f = { .id = 1 };
        struct rtmfp_store held = { .most = most[i] };
        unsigned taken = 0;

        for (uint64_t seq = 2; seq < 2000; seq++) {
            struct rtmfp_user_data d = { .seq = seq, .offset = seq, .position = RTMFP_WHOLE };

            taken += rtmfp_flow_in_put(&f, &d, &held, 1000, take, NULL) == RTMFP_TAKEN;
        }
        assert_int_equal(taken, (i ? RTMFP_FLOW_HELD : most[i]) / 1024);
        assert_true(held.held <= most[i]);
        assert_int_equal(rtmfp_flow_in_window(&f, &held), 1);
        rtmfp_flow_in_fini(&f, &held);
        assert_int_equal(held.held, 0);
    }
}

static void messages_have_a_limit(void **state)
{
    static char text[400];
    struct rtmfp_flow_in f = { .id = 1 };
    struct rtmfp_store held = { .most = RTMFP_SESSION_HELD };

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    assert_int_equal(put(&f, &(struct step){ 1, 0, "<", text }, &held), RTMFP_TAKEN);
    assert_int_equal(put(&f, &(struct step){ 2, 0, "-", text }, &held), RTMFP_TAKEN);
    assert_int_equal(put(&f, &(struct step){ 3, 0, "-", text }, &held), RTMFP_TOO_LARGE);
    rtmfp_flow_in_fini(&f, &held);
    f = (struct rtmfp_flow_in){ .id = 2, .most = 300 }; /* a flow may have its own */
    assert_int_equal(put(&f, &(struct step){ 1, 0, "", text }, &held), RTMFP_TOO_LARGE);
    rtmfp_flow_in_fini(&f, &held);
    assert_int_equal(held.held, 0);
}

/* ---- a sender's queue */

static void write_text(struct rtmfp_flow_out *f, const char *text, co_usec made, bool keep)
{
    struct rtmfp_message *m = rtmfp_message_new(strlen(text), made);

    memcpy(m->bytes, text, strlen(text));
    assert_true(rtmfp_flow_out_write(f, m, keep));
    rtmfp_message_unref(m);
}

/* All that it gives now, as text: <begin, -middle, >end, ! abandoned, $ final. */
static const char *cut_all(struct rtmfp_flow_out *f, size_t room, uint32_t number)
{
    static char out[1000];
    struct rtmfp_cut c;
    size_t n = 0;

    while (rtmfp_flow_out_next(f, room, 0, number, &c))
        n += (size_t)snprintf(out + n, sizeof(out) - n, "%u%s%.*s%s%s ", (unsigned)c.seq,
                              (const char *[]){ "", "<", ">", "-" }[c.position], (int)c.size,
                              c.data ? (const char *)c.data : "", c.abandoned ? "!" : "",
                              c.final ? "$" : "");
    out[n ? n - 1 : 0] = '\0';
    return out;
}

static void late_ones_are_given_up(void **state)
{
    struct rtmfp_freed freed = { .bytes = 0 };
    struct rtmfp_flow_out f;
    bool gaps = false;

    (void)state;
    rtmfp_flow_out_init(&f, 2, RTMFP_VIDEO);
    write_text(&f, "config", 1, true);
    write_text(&f, "old", 1, false);
    assert_string_equal(cut_all(&f, 100, 1), "1config 2old");
    write_text(&f, "waits", 2, false);
    write_text(&f, "stays", 2, true);
    write_text(&f, "new", 9, false);
    assert_int_equal(rtmfp_flow_out_abandon(&f, 5), 2); /* one in flight, one waiting */
    assert_int_equal(rtmfp_flow_out_abandon(&f, 5), 0);
    assert_int_equal(f.forward, 0); /* the configuration is under way */
    assert_string_equal(cut_all(&f, 100, 2), "3stays 4new");
    rtmfp_flow_out_acked(&f, 3, 4, &freed);
    for (int i = 0; i < 3; i++)
        (void)rtmfp_flow_out_judge(&f, freed.latest, &gaps);
    assert_true(gaps);
    assert_int_equal(f.lost, 1);
    assert_string_equal(cut_all(&f, 100, 3), "1config"); /* and nothing of the old one */
    rtmfp_flow_out_acked(&f, 1, 1, &freed);
    (void)rtmfp_flow_out_judge(&f, freed.latest, &gaps);
    assert_int_equal(f.forward, 4);
    assert_int_equal(f.base, 5);
    assert_int_equal(f.in_flight, 0);
    rtmfp_flow_out_fini(&f);
}

static void the_end_is_said(void **state)
{
    struct rtmfp_freed freed = { .bytes = 0 };
    struct rtmfp_flow_out f;

    (void)state;
    rtmfp_flow_out_init(&f, 2, RTMFP_COMMANDS);
    write_text(&f, "a", 1, true);
    rtmfp_flow_out_close(&f);
    assert_string_equal(cut_all(&f, 100, 1), "1a$");
    rtmfp_flow_out_timeout(&f);
    assert_string_equal(cut_all(&f, 100, 2), "1a$");
    assert_false(rtmfp_flow_out_complete(&f));
    rtmfp_flow_out_acked(&f, 0, 1, &freed);
    rtmfp_flow_out_timeout(&f);
    assert_true(rtmfp_flow_out_complete(&f));
    rtmfp_flow_out_fini(&f);

    /* one whose last message is out already ends with an empty fragment */
    rtmfp_flow_out_init(&f, 2, RTMFP_COMMANDS);
    write_text(&f, "a", 1, true);
    assert_string_equal(cut_all(&f, 100, 1), "1a");
    rtmfp_flow_out_close(&f);
    assert_string_equal(cut_all(&f, 100, 1), "2!$");
    rtmfp_flow_out_fini(&f);
}

static void messages_are_cut_to_the_room(void **state)
{
    static char text[201];
    struct rtmfp_flow_out f;

    (void)state;
    memset(text, 'x', 200);
    rtmfp_flow_out_init(&f, 2, RTMFP_VIDEO);
    write_text(&f, text, 1, true);
    write_text(&f, "y", 1, true);
    struct rtmfp_cut c;
    assert_true(rtmfp_flow_out_next(&f, 90, 0, 1, &c));
    assert_int_equal(c.position, RTMFP_BEGIN);
    assert_false(rtmfp_flow_out_next(&f, RTMFP_FRAGMENT_LEAST - 1, 0, 1, &c));
    assert_true(rtmfp_flow_out_next(&f, 90, 1, 2, &c));
    assert_int_equal(c.position, RTMFP_MIDDLE);
    assert_false(rtmfp_flow_out_next(&f, 90, 1, 2, &c)); /* it does not follow that one */
    assert_true(rtmfp_flow_out_next(&f, 90, 2, 2, &c));
    assert_int_equal(c.position, RTMFP_END);
    assert_int_equal(c.size, 20);
    assert_true(rtmfp_flow_out_next(&f, 70, 3, 2, &c));
    assert_int_equal(c.position, RTMFP_WHOLE);
    rtmfp_flow_out_fini(&f);
}

/* ---- congestion */

static void timeouts(void **state)
{
    struct rtmfp_congestion c;
    co_usec was;

    (void)state;
    rtmfp_congestion_init(&c);
    assert_int_equal(c.erto, 3000000);
    rtmfp_congestion_rtt(&c, 40000);
    assert_int_equal(c.srtt, 40000);
    assert_int_equal(c.rttvar, 20000);
    assert_int_equal(c.erto, 40000 + 4 * 20000 + 200000);
    for (int i = 0; i < 100; i++)
        rtmfp_congestion_rtt(&c, 40000);
    assert_int_equal(c.erto, 250000); /* not below */
    c.in_flight = 1000;
    rtmfp_congestion_sent(&c, 5000000);
    assert_int_equal(rtmfp_congestion_deadline(&c), 5250000);
    was = c.erto;
    rtmfp_congestion_timeout(&c, 5250000);
    assert_int_equal(c.erto, was * 14142 / 10000);
    assert_int_equal(c.cwnd, RTMFP_SEGMENT);
    for (int i = 0; i < 100; i++)
        rtmfp_congestion_timeout(&c, 5250000);
    assert_int_equal(c.erto, 10000000); /* not above */
}

/* An answer that is late is asked for, twice, before all is taken as lost. */
static void answers_are_asked_for(void **state)
{
    struct rtmfp_congestion c;
    co_usec at = 1000000;

    (void)state;
    rtmfp_congestion_init(&c);
    for (int i = 0; i < 100; i++)
        rtmfp_congestion_rtt(&c, 40000);
    c.in_flight = 1000;
    rtmfp_congestion_sent(&c, at);
    assert_int_equal(rtmfp_congestion_deadline(&c), at + 250000); /* one may wait for a second */
    for (int i = 1; i < RTMFP_BURST; i++)
        rtmfp_congestion_sent(&c, at);
    assert_false(rtmfp_congestion_open(&c));
    c.in_flight = c.cwnd;
    for (int i = 0; i < 2; i++) {
        co_usec due = rtmfp_congestion_deadline(&c);

        assert_in_range(due - at, 40000, 80000);
        at = due;
        assert_true(rtmfp_congestion_probe(&c, at));
        assert_true(rtmfp_congestion_open(&c)); /* for one packet, though the window is full */
        rtmfp_congestion_sent(&c, at);
        assert_false(rtmfp_congestion_open(&c));
    }
    assert_int_equal(rtmfp_congestion_deadline(&c), at + 250000);
    assert_false(rtmfp_congestion_probe(&c, at + 250000));
    rtmfp_congestion_acked(&c, &(struct rtmfp_ack_summary){ .any = true, .before = 1 }, at);
    c.in_flight = 1000;
    rtmfp_congestion_sent(&c, at);
    assert_int_equal(rtmfp_congestion_deadline(&c), at + 250000);
    c.in_flight = c.cwnd; /* no room for a second one */
    assert_in_range(rtmfp_congestion_deadline(&c) - at, 40000, 80000);
}

static void windows(void **state)
{
    struct rtmfp_congestion c;
    struct rtmfp_ack_summary acked = { .acked = 4380, .before = 1 << 20, .any = true };
    uint32_t was;

    (void)state;
    rtmfp_congestion_init(&c);
    rtmfp_congestion_acked(&c, &acked, 1000000);
    assert_int_equal(c.cwnd, 4380 + 3 * RTMFP_SEGMENT); /* slow start: no more than by a burst */
    c.cwnd = 100000;
    rtmfp_congestion_acked(&c, &(struct rtmfp_ack_summary){ .any = true, .before = 80000, .lost = true },
                           2000000);
    assert_int_equal(c.cwnd, 40000);
    rtmfp_congestion_rtt(&c, 40000);
    rtmfp_congestion_acked(&c, &(struct rtmfp_ack_summary){ .any = true, .before = 40000, .lost = true },
                           2010000);
    assert_int_equal(c.cwnd, 40000); /* once in a round trip */
    c.critical = true;
    rtmfp_congestion_acked(&c, &(struct rtmfp_ack_summary){ .any = true, .before = 40000, .lost = true },
                           3000000);
    assert_int_equal(c.cwnd, 35000); /* an eighth */
    was = c.cwnd;
    for (uint32_t n = 0; n < was; n += 1000)
        rtmfp_congestion_acked(&c, &(struct rtmfp_ack_summary){ .acked = 1000, .before = was,
                                                          .any = true }, 4000000);
    assert_in_range(c.cwnd - was, 340, 400); /* 384 a round trip */
    rtmfp_congestion_acked(&c, &(struct rtmfp_ack_summary){ .acked = 1000, .before = 5000, .any = true },
                           4000000);
    assert_in_range(c.cwnd - was, 340, 400); /* an unused window does not grow */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(ranges_are_a_set),
        TEST(ranges_are_bounded),
        TEST(messages_out_of_fragments),
        TEST(contradictions),
        TEST(a_refused_flow_holds_nothing),
        TEST(memory_is_bounded),
        TEST(so_is_what_waits_for_one_gap),
        TEST(messages_have_a_limit),
        TEST(late_ones_are_given_up),
        TEST(the_end_is_said),
        TEST(messages_are_cut_to_the_room),
        TEST(timeouts),
        TEST(answers_are_asked_for),
        TEST(windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
