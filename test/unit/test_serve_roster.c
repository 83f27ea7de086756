/* SPDX-License-Identifier: MIT */
/* test_serve_roster.c - who is on: entering, leaving, walks while others come and go, ids. */
#include "unit.h"

#include "co/co.h"
#include "serve/roster.h"
#include "serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 1000 };

static struct live_registry *streams;
static struct roster *roster;
static const struct serve_stream names = { "v.com", "live", "s", "", "rtmp://h/live", "",
                                           "1.2.3.4", NULL };
static unsigned kicked;

static void describe(struct roster_client *c, struct roster_info *out)
{
    (void)c;
    *out = (struct roster_info){ .ip = "1.2.3.4", .tc_url = "", .page_url = "", .swf_url = "" };
}

static void kick(struct roster_client *c)
{
    (void)c;
    kicked++;
}

static const struct roster_kind kind = { describe, kick };

static struct live_source *begin(void)
{
    static const struct live_settings set = { .queue_length = 1000000, .max_bytes = 1 << 20 };

    streams = live_registry_new();
    roster = roster_new(streams, "vid-1");
    return live_registry_get(streams, "v.com/live/s", &set);
}

static void end(struct live_source *src)
{
    (void)live_source_unref(src);
    live_registry_free(streams);
    roster_free(roster);
    assert_int_equal(live_source_live(), 0);
}

static void enter(struct roster_client *c, unsigned i, enum roster_type type,
                  struct live_source *src)
{
    char id[16];

    (void)snprintf(id, sizeof(id), "c%07u", i);
    roster_enter(roster, c, &kind, type, id, &names, src);
}

static void test_in_and_out(void **state)
{
    struct roster_client publisher, player, forward;
    struct live_source *src = begin();
    const struct roster_stream *s;
    char id[ROSTER_ID_SIZE];
    err_t err;

    (void)state;
    enter(&publisher, 1, ROSTER_FMLE_PUBLISH, src);
    enter(&player, 2, ROSTER_RTMP_PLAY, src);
    enter(&forward, 3, ROSTER_FORWARD, src);
    s = roster_stream(roster, src);
    assert_int_equal(s->clients, 2);
    assert_int_equal(s->forwards, 1);
    assert_ptr_equal(s->publisher, &publisher);
    assert_string_equal(s->vhost->name, "v.com");
    assert_int_equal(s->vhost->clients, 2);
    assert_int_equal(s->vhost->streams, 1);
    assert_int_equal(roster_count_clients(roster), 2);
    assert_ptr_equal(roster_find(roster, "c0000002"), &player);
    assert_null(roster_find(roster, "c0000009"));
    assert_null(roster_find(roster, "c000000"));
    assert_null(roster_find(roster, ""));
    roster_client_id(&player, id);
    assert_string_equal(id, "c0000002");
    roster_find(roster, id)->kind->kick(&player);
    assert_int_equal(kicked, 1);

    roster_count(&player, 10, 1000);
    assert_int_equal(roster_total(roster, ROSTER_RTMP_PLAY)->out, 1000);
    err = err_new(ERR_IO_TIMEOUT, "slow");
    roster_leave(&player, 12, 1500, err);
    err_free(&err);
    assert_int_equal(roster_total(roster, ROSTER_RTMP_PLAY)->out, 1500);
    assert_int_equal(roster_total(roster, ROSTER_RTMP_PLAY)->in, 12);
    assert_int_equal(roster_total(roster, ROSTER_RTMP_PLAY)->errors, 1);
    assert_int_equal(roster_total(roster, ROSTER_RTMP_PLAY)->clients, 1);
    assert_int_equal(roster_total(roster, ROSTER_RTMP_PLAY)->now, 0);
    roster_leave(&player, 12, 1500, NULL); /* a second time is nothing */
    err = err_new(ERR_IO_CLOSED, "left");
    roster_leave(&publisher, 0, 0, err);
    err_free(&err);
    assert_int_equal(roster_total(roster, ROSTER_FMLE_PUBLISH)->errors, 0);
    assert_null(s->publisher);
    roster_leave(&forward, 0, 0, NULL);
    end(src);
}

/* Who waits is found and kicked, and counts for nothing until it is let in. */
static void test_waiting(void **state)
{
    struct live_source *src = begin();
    struct roster_client there, waits;
    const struct roster_stream *s;

    (void)state;
    enter(&there, 1, ROSTER_FMLE_PUBLISH, src);
    roster_wait(roster, &waits, &kind, ROSTER_FLASH_PUBLISH, "c0000002", &names, src);
    s = roster_stream(roster, src);
    assert_ptr_equal(roster_find(roster, "c0000002"), &waits);
    assert_ptr_equal(s->publisher, &there);
    assert_int_equal(s->clients, 1);
    assert_int_equal(s->vhost->clients, 1);
    assert_int_equal(roster_listed(s), 2);
    assert_int_equal(roster_total(roster, ROSTER_FLASH_PUBLISH)->clients, 0);
    roster_leave(&waits, 5, 5, NULL);
    assert_int_equal(roster_total(roster, ROSTER_FLASH_PUBLISH)->in, 0);
    assert_int_equal(roster_listed(s), 1);
    roster_wait(roster, &waits, &kind, ROSTER_FLASH_PUBLISH, "c0000002", &names, src);
    roster_admit(&waits, &names);
    roster_leave(&there, 0, 0, NULL);
    assert_ptr_equal(s->publisher, &waits);
    assert_int_equal(s->clients, 1);
    assert_int_equal(roster_listed(s), 1);
    assert_int_equal(roster_total(roster, ROSTER_FLASH_PUBLISH)->now, 1);
    roster_leave(&waits, 0, 0, NULL);
    assert_int_equal(roster_count_clients(roster), 0);
    end(src);
}

/* ---- walks */

static unsigned seen[2 * MANY];

static void see(struct roster_client *c, void *arg)
{
    char id[ROSTER_ID_SIZE];

    (void)arg;
    roster_client_id(c, id);
    seen[strtoul(id + 1, NULL, 10)]++;
}

/* Who is there from the begin of a walk to its end is shown once, whoever comes and goes. */
static void test_walk_while_it_grows(void **state)
{
    struct live_source *src = begin();
    struct roster_client *c = calloc(2 * MANY, sizeof(*c));
    unsigned next = MANY, gone = 0;
    uint64_t at = 0;

    (void)state;
    assert_non_null(c);
    memset(seen, 0, sizeof(seen));
    for (unsigned i = 0; i < MANY; i++)
        enter(&c[i], i, ROSTER_RTMP_PLAY, src);
    while (roster_walk(roster, &at, see, NULL)) {
        for (int k = 0; k < 3 && next < 2 * MANY; k++, next++)
            enter(&c[next], next, ROSTER_RTMP_PLAY, src);
        if (gone < MANY / 4)
            roster_leave(&c[gone++], 0, 0, NULL);
    }
    assert_int_equal(next, 2 * MANY); /* so the table doubled on the way */
    for (unsigned i = 0; i < 2 * MANY; i++) {
        if (i >= gone && i < MANY)
            assert_int_equal(seen[i], 1);
        else
            assert_true(seen[i] <= 1);
        roster_leave(&c[i], 0, 0, NULL);
    }
    free(c);
    end(src);
}

static void test_walk_of_nobody(void **state)
{
    struct live_source *src = begin();
    uint64_t at = 0;
    unsigned turns = 1;

    (void)state;
    while (roster_walk(roster, &at, see, NULL))
        turns++;
    assert_int_equal(turns, 64);
    end(src);
}

/* ---- names */

static void test_ids(void **state)
{
    struct live_source *src = begin();
    struct roster *other = roster_new(streams, "vid-2");
    char a[ROSTER_NAME_ID_SIZE], b[ROSTER_NAME_ID_SIZE];

    (void)state;
    roster_name_id(roster, "v/live/s", a);
    roster_name_id(roster, "v/live/s", b);
    assert_string_equal(a, b);
    assert_int_equal(strlen(a), 11);
    assert_memory_equal(a, "vid-", 4);
    roster_name_id(roster, "v/live/t", b);
    assert_string_not_equal(a, b);
    roster_name_id(other, "v/live/s", b);
    assert_string_not_equal(a, b);
    roster_free(other);
    end(src);
}

static void test_urls(void **state)
{
    static const struct {
        const char *vhost, *want;
    } rows[] = {
        { "__defaultVhost__", "/live/s" }, { "a.b", "a.b/live/s" },
    };
    char buf[64];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(roster_url(rows[i].vhost, "live", "s", buf, sizeof(buf)),
                            rows[i].want);
}

/* A vhost's totals outlive its streams. */
static void test_vhost_totals(void **state)
{
    static const struct live_settings set = { .queue_length = 1000000, .max_bytes = 1 << 20 };
    struct live_source *src = begin(), *other;
    struct av_packet *pkt = av_packet_new(100);

    (void)state;
    pkt->tag = 9;
    other = live_registry_get(streams, "v.com/live/t", &set);
    (void)roster_stream(roster, src);
    (void)roster_stream(roster, other);
    assert_int_equal(roster_vhosts(roster)->streams, 2);
    live_source_push(other, pkt, 0);
    (void)av_packet_unref(pkt);
    (void)live_source_unref(other);
    assert_int_equal(roster_vhosts(roster)->streams, 1);
    assert_int_equal(roster_vhosts(roster)->in, 100);
    roster_sample(roster);
    assert_int_equal(roster_vhosts(roster)->in, 100);
    end(src);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_in_and_out), TEST(test_waiting), TEST(test_walk_while_it_grows), TEST(test_walk_of_nobody),
        TEST(test_ids), TEST(test_urls), TEST(test_vhost_totals),
    };

    assert_ok(co_init());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
