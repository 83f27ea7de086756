/* SPDX-License-Identifier: MIT */
/* test_session_clients.c - the list of clients: entering, leaving, walks during changes, ids. */
#include "co/co.h"
#include "live/sender.h"
#include "session/clients.h"
#include "session/env.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 1000 };

static struct live_registry *streams;
static struct clients *clients;
static const struct session_stream names = { "v.com", "live", "s", "", "rtmp://h/live", "",
                                           "1.2.3.4", NULL, NULL, NULL };
static unsigned kicked;

static void describe(struct client *c, struct clients_info *out)
{
    (void)c;
    *out = (struct clients_info){ .ip = "1.2.3.4", .tc_url = "", .page_url = "", .swf_url = "" };
}

static void kick(struct client *c)
{
    (void)c;
    kicked++;
}

static const struct clients_kind kind = { describe, kick };

static struct live_source *begin(void)
{
    static const struct live_settings set = { .queue_length = 1000000, .max_bytes = 1 << 20 };

    streams = live_registry_new();
    clients = clients_new(streams, "vid-1");
    return live_registry_get(streams, "v.com/live/s", &set);
}

static void end(struct live_source *src)
{
    (void)live_source_unref(src);
    live_registry_free(streams);
    clients_free(clients);
    assert_int_equal(live_source_live(), 0);
}

static void enter(struct client *c, unsigned i, enum clients_type type,
                  struct live_source *src)
{
    char id[16];

    (void)snprintf(id, sizeof(id), "c%07u", i);
    clients_wait(clients, c, &kind, type, id, &names, src);
    clients_admit(c, &names);
}

static void test_in_and_out(void **state)
{
    struct client publisher, player, forward;
    struct live_source *src = begin();
    const struct clients_stream *s;
    char id[CLIENTS_ID_SIZE];
    err_t err;

    (void)state;
    enter(&publisher, 1, CLIENTS_FMLE_PUBLISH, src);
    enter(&player, 2, CLIENTS_RTMP_PLAY, src);
    enter(&forward, 3, CLIENTS_FORWARD, src);
    s = clients_stream(clients, src);
    assert_int_equal(s->clients, 2);
    assert_int_equal(s->forwards, 1);
    assert_ptr_equal(s->publisher, &publisher);
    assert_string_equal(s->vhost->name, "v.com");
    assert_int_equal(s->vhost->clients, 2);
    assert_int_equal(s->vhost->streams, 1);
    assert_int_equal(clients_count_all(clients), 2);
    assert_ptr_equal(clients_find(clients, "c0000002"), &player);
    assert_null(clients_find(clients, "c0000009"));
    assert_null(clients_find(clients, "c000000"));
    assert_null(clients_find(clients, ""));
    client_id(&player, id);
    assert_string_equal(id, "c0000002");
    clients_find(clients, id)->kind->kick(&player);
    assert_int_equal(kicked, 1);

    clients_count(&player, 10, 1000);
    assert_int_equal(clients_total(clients, CLIENTS_RTMP_PLAY)->out, 1000);
    err = err_new(ERR_IO_TIMEOUT, "slow");
    clients_leave(&player, 12, 1500, err);
    err_free(&err);
    assert_int_equal(clients_total(clients, CLIENTS_RTMP_PLAY)->out, 1500);
    assert_int_equal(clients_total(clients, CLIENTS_RTMP_PLAY)->in, 12);
    assert_int_equal(clients_total(clients, CLIENTS_RTMP_PLAY)->errors, 1);
    assert_int_equal(clients_total(clients, CLIENTS_RTMP_PLAY)->clients, 1);
    assert_int_equal(clients_total(clients, CLIENTS_RTMP_PLAY)->now, 0);
    clients_leave(&player, 12, 1500, NULL); /* a second time has no effect */
    err = err_new(ERR_IO_CLOSED, "left");
    clients_leave(&publisher, 0, 0, err);
    err_free(&err);
    assert_int_equal(clients_total(clients, CLIENTS_FMLE_PUBLISH)->errors, 0);
    assert_null(s->publisher);
    clients_leave(&forward, 0, 0, NULL);
    end(src);
}

/* A waiting client is found and disconnected, and does not count until it is admitted. */
static void test_waiting(void **state)
{
    struct live_source *src = begin();
    struct client there, waits;
    const struct clients_stream *s;

    (void)state;
    enter(&there, 1, CLIENTS_FMLE_PUBLISH, src);
    clients_wait(clients, &waits, &kind, CLIENTS_FLASH_PUBLISH, "c0000002", &names, src);
    s = clients_stream(clients, src);
    assert_ptr_equal(clients_find(clients, "c0000002"), &waits);
    assert_ptr_equal(s->publisher, &there);
    assert_int_equal(s->clients, 1);
    assert_int_equal(s->vhost->clients, 1);
    assert_int_equal(s->clients + s->waiting, 2);
    assert_int_equal(clients_total(clients, CLIENTS_FLASH_PUBLISH)->clients, 0);
    clients_leave(&waits, 5, 5, NULL);
    assert_int_equal(clients_total(clients, CLIENTS_FLASH_PUBLISH)->in, 0);
    assert_int_equal(s->clients + s->waiting, 1);
    clients_wait(clients, &waits, &kind, CLIENTS_FLASH_PUBLISH, "c0000002", &names, src);
    clients_admit(&waits, &names);
    clients_leave(&there, 0, 0, NULL);
    assert_ptr_equal(s->publisher, &waits);
    assert_int_equal(s->clients, 1);
    assert_int_equal(s->clients + s->waiting, 1);
    assert_int_equal(clients_total(clients, CLIENTS_FLASH_PUBLISH)->now, 1);
    clients_leave(&waits, 0, 0, NULL);
    assert_int_equal(clients_count_all(clients), 0);
    end(src);
}

/* ---- RTP */

static void tell(struct client *c, enum clients_transport way, uint32_t lost, co_usec jitter)
{
    clients_rtp(c, &(struct clients_rtp){ way, lost, jitter });
}

static void test_rtp(void **state)
{
    const struct clients_total *t;
    struct live_source *src = begin();
    struct client one, two, waits;

    (void)state;
    enter(&one, 1, CLIENTS_RTSP_PLAY, src);
    enter(&two, 2, CLIENTS_RTSP_PLAY, src);
    clients_wait(clients, &waits, &kind, CLIENTS_RTSP_PLAY, "c0000003", &names, src);
    t = clients_total(clients, CLIENTS_RTSP_PLAY);
    tell(&waits, CLIENTS_TRANSPORT_UDP, 3, 1);
    assert_int_equal(t->ways[CLIENTS_TRANSPORT_UDP], 0);
    assert_int_equal(t->lost, 0);
    tell(&one, CLIENTS_TRANSPORT_UDP, 0, 0);
    tell(&two, CLIENTS_TRANSPORT_TCP, 0, 0);
    assert_int_equal(t->ways[CLIENTS_TRANSPORT_UDP], 1);
    assert_int_equal(t->ways[CLIENTS_TRANSPORT_TCP], 1);
    assert_int_equal(t->jitters, 0);
    tell(&one, CLIENTS_TRANSPORT_UDP, 10, 3000);
    tell(&two, CLIENTS_TRANSPORT_UDP, 5, 1000);
    assert_int_equal(t->ways[CLIENTS_TRANSPORT_UDP], 2);
    assert_int_equal(t->ways[CLIENTS_TRANSPORT_TCP], 0);
    assert_int_equal(t->lost, 15);
    assert_int_equal(t->jitter, 4000);
    assert_int_equal(t->jitters, 2);
    tell(&one, CLIENTS_TRANSPORT_UDP, 8, 1000); /* some came late */
    assert_int_equal(t->lost, 15);
    assert_int_equal(one.lost, 8);
    assert_int_equal(t->jitter, 2000);
    tell(&one, CLIENTS_TRANSPORT_UDP, 0, -1);
    assert_int_equal(t->jitters, 1);
    tell(&one, CLIENTS_TRANSPORT_UDP, 0, INT64_MAX);
    assert_true(t->jitter == (uint64_t)UINT32_MAX + 1000);
    clients_leave(&one, 0, 0, NULL);
    assert_int_equal(t->ways[CLIENTS_TRANSPORT_UDP], 1);
    assert_int_equal(t->jitter, 1000);
    clients_leave(&two, 0, 0, NULL);
    clients_leave(&waits, 0, 0, NULL);
    assert_int_equal(t->ways[CLIENTS_TRANSPORT_UDP], 0);
    assert_int_equal(t->lost, 15); /* relative to all that came */
    assert_int_equal(t->jitter, 0);
    assert_int_equal(t->jitters, 0);
    tell(&one, CLIENTS_TRANSPORT_UDP, 1, 1); /* it is gone */
    assert_int_equal(t->lost, 15);
    assert_true(sizeof(one) <= 64);
    end(src);
}

/* ---- files */

static bool playing = true;

static bool describe_feed(const struct live_feed *f, struct live_feed_info *out)
{
    (void)f;
    *out = (struct live_feed_info){ .name = "a.mp4", .duration = CO_SECONDS(60), .kbps = 800 };
    return playing;
}

static const struct live_feed_kind feed_kind = { .describe = describe_feed };
static struct live_feed feed = { .kind = &feed_kind };
static const struct live_sender sender = { .feed = &feed };

static void describe_file(struct client *c, struct clients_info *out)
{
    describe(c, out);
    out->sender = &sender;
}

static void enter_file(struct client *c, const char *id, enum clients_type type,
                       struct live_source *src)
{
    static const struct clients_kind of_file = { describe_file, kick };

    clients_wait(clients, c, &of_file, type, id, &names, src);
    clients_admit(c, &names);
}

/* A name that plays from a file is not a live stream, counts what its players are sent, and exists
 * as long as any of them. */
static void test_files(void **state)
{
    struct live_source *src = begin();
    const struct clients_stream *s = clients_stream(clients, src);
    struct live_source_stat stat;
    struct live_feed_info info;
    struct client one, two;

    (void)state;
    assert_int_equal(s->vhost->streams, 1);
    assert_false(clients_stream_file(s, &info));
    enter_file(&one, "c0000001", CLIENTS_RTSP_VOD, src);
    enter_file(&two, "c0000002", CLIENTS_FLV_VOD, src);
    assert_true(s->file);
    assert_int_equal(s->vhost->streams, 0);
    assert_int_equal(s->vhost->clients, 2);
    assert_true(clients_stream_file(s, &info));
    assert_string_equal(info.name, "a.mp4");
    playing = false;
    assert_false(clients_stream_file(s, &info));
    playing = true;
    clients_count(&one, 10, 1000);
    clients_count(&two, 10, 500);
    clients_sample(clients);
    live_source_stat(src, &stat);
    assert_int_equal(clients_stream_out(s, &stat), 1500);
    assert_int_equal(s->vhost->out, 1500);
    assert_int_equal(clients_stream_kbps(s), 800);
    assert_int_equal(s->vhost->wanted_kbps, 1600);
    clients_leave(&one, 10, 1100, NULL);
    assert_false(clients_stream_file(s, &info)); /* until the next one reports its bytes */
    clients_count(&two, 10, 600);
    assert_true(clients_stream_file(s, &info));
    clients_leave(&two, 10, 600, NULL);
    assert_false(clients_stream_file(s, &info));
    live_source_stat(src, &stat);
    assert_int_equal(clients_stream_out(s, &stat), 1700);
    assert_int_equal(clients_total(clients, CLIENTS_RTSP_VOD)->out, 1100);
    end(src);
}

/* ---- walks */

static unsigned seen[2 * MANY];

static void see(struct client *c, void *arg)
{
    char id[CLIENTS_ID_SIZE];

    (void)arg;
    client_id(c, id);
    seen[strtoul(id + 1, NULL, 10)]++;
}

/* A client that exists during a whole walk is shown once, regardless of others. */
static void test_walk_while_it_grows(void **state)
{
    struct live_source *src = begin();
    struct client *c = calloc(2 * MANY, sizeof(*c));
    unsigned next = MANY, gone = 0;
    uint64_t at = 0;

    (void)state;
    assert_non_null(c);
    memset(seen, 0, sizeof(seen));
    for (unsigned i = 0; i < MANY; i++)
        enter(&c[i], i, CLIENTS_RTMP_PLAY, src);
    while (clients_walk(clients, &at, see, NULL)) {
        for (int k = 0; k < 3 && next < 2 * MANY; k++, next++)
            enter(&c[next], next, CLIENTS_RTMP_PLAY, src);
        if (gone < MANY / 4)
            clients_leave(&c[gone++], 0, 0, NULL);
    }
    assert_int_equal(next, 2 * MANY); /* so the table doubled meanwhile */
    for (unsigned i = 0; i < 2 * MANY; i++) {
        if (i >= gone && i < MANY)
            assert_int_equal(seen[i], 1);
        else
            assert_true(seen[i] <= 1);
        clients_leave(&c[i], 0, 0, NULL);
    }
    free(c);
    end(src);
}

static void test_walk_of_an_empty_list(void **state)
{
    struct live_source *src = begin();
    uint64_t at = 0;
    unsigned turns = 1;

    (void)state;
    while (clients_walk(clients, &at, see, NULL))
        turns++;
    assert_int_equal(turns, 1);
    end(src);
}

/* ---- names */

static void test_ids(void **state)
{
    struct live_source *src = begin();
    struct clients *other = clients_new(streams, "vid-2");
    char a[CLIENTS_NAME_ID_SIZE], b[CLIENTS_NAME_ID_SIZE];

    (void)state;
    clients_name_id(clients, "v/live/s", a);
    clients_name_id(clients, "v/live/s", b);
    assert_string_equal(a, b);
    assert_int_equal(strlen(a), 11);
    assert_memory_equal(a, "vid-", 4);
    clients_name_id(clients, "v/live/t", b);
    assert_string_not_equal(a, b);
    clients_name_id(other, "v/live/s", b);
    assert_string_not_equal(a, b);
    clients_free(other);
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
        assert_string_equal(clients_url(rows[i].vhost, "live", "s", buf, sizeof(buf)),
                            rows[i].want);
}

/* A vhost's totals outlive its streams. */
static void test_vhost_totals(void **state)
{
    static const struct live_settings set = { .queue_length = 1000000, .max_bytes = 1 << 20 };
    struct live_source *src = begin(), *other;
    struct av_packet *pkt = av_packet_new(100);

    (void)state;
    pkt->origin = 9;
    other = live_registry_get(streams, "v.com/live/t", &set);
    (void)clients_stream(clients, src);
    (void)clients_stream(clients, other);
    assert_int_equal(clients_vhost_find(clients, "v.com")->streams, 2);
    live_source_push(other, pkt, 0);
    (void)av_packet_unref(pkt);
    (void)live_source_unref(other);
    assert_int_equal(clients_vhost_find(clients, "v.com")->streams, 1);
    assert_int_equal(clients_vhost_find(clients, "v.com")->in, 100);
    clients_sample(clients);
    assert_int_equal(clients_vhost_find(clients, "v.com")->in, 100);
    end(src);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_in_and_out), TEST(test_waiting), TEST(test_rtp),
        TEST(test_files),
        TEST(test_walk_while_it_grows), TEST(test_walk_of_an_empty_list),
        TEST(test_ids), TEST(test_urls), TEST(test_vhost_totals),
    };

    assert_ok(co_init());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
