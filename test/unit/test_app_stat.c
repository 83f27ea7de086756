/* SPDX-License-Identifier: MIT */
/* test_app_stat.c - log lines about the process and its workers. */
#include "env.h"
#include "app/os/stat_stall.h"
#include "app/os/stat_line.h"
#include "base/log.h"
#include "serve/rtc/rtc.h"
#include "serve/rtmfp/rtmfp.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Increments per second, with the lateness of ticks since the start. */
static const struct {
    const char *want;
    double cpu;
    uint64_t rss_kbyte;
    struct worker_counters now;
} rows[] = {
    { "Hybrid cpu=0.00%,0MB", .cpu = 0 },
    { "Hybrid cpu=12.35%,38MB", .cpu = 12.345678, .rss_kbyte = (39 << 10) - 1 },
    { "Hybrid cpu=0.00%,0MB, conns=103,1,101,1, streams=1",
      .now = { .connections = 103, .publishers = 1, .players = 101, .forwards = { 0, 1 },
               .streams = 2, .replicas = 1, .at_home = 1 } },
    { "Hybrid cpu=0.00%,0MB, sched=2840/s, co=110", .now = { .switches = 2840, .coroutines = 110 } },
    { "Hybrid cpu=0.00%,0MB, held=2, holds=7, clock=0,2,240,5,1,0,0,1,4",
      .now = { .held = 2, .holds = 7, .late = { 0, 2, 240, 5, 1, 0, 0, 1, 4 } } },
};

static const struct worker_counters nothing;

static size_t line_of_row(size_t i, char *buf, size_t size)
{
    return stat_process_text(&rows[i].now, &nothing, CO_SECONDS(1), rows[i].cpu,
                             rows[i].rss_kbyte, buf, size);
}

static void test_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char buf[256];

        assert_int_equal(line_of_row(i, buf, sizeof(buf)), strlen(rows[i].want));
        assert_string_equal(buf, rows[i].want);
    }
}

static void test_it_is_cut_where_there_is_no_room(void **state)
{
    char buf[300], want[300];

    (void)state;
    (void)line_of_row(COUNT(rows) - 1, want, sizeof(want));
    for (size_t size = 1; size <= sizeof(buf); size++) {
        size_t n = line_of_row(COUNT(rows) - 1, buf, size);

        assert_true(n < size);
        assert_int_equal(strlen(buf), n);
        assert_memory_equal(buf, want, n);
    }
}

/* ---- workers */

static const struct {
    const char *want;
    unsigned worker;
    struct worker_counters now;
} worker_rows[] = {
    { "Worker 0 cpu=0.00%", .now = { .cpu = 0 } },
    { "Worker 63 cpu=99.99%, conns=103,1,101,2, streams=3,1, moved=2,5, sched=2840/s, co=110, "
      "held=1, holds=7, late=0.12ms,4", .worker = 63,
      .now = { .cpu = 999870, .connections = 103, .publishers = 1, .players = 101,
               .forwards = { 1, 1 }, .streams = 3, .replicas = 1, .moved_in = 2, .moved_out = 5,
               .switches = 2840, .coroutines = 110, .held = 1, .holds = 7, .late_us = 1230,
               .late = { 0, 6, 0, 0, 0, 0, 1, 2, 1 } } },
    { "Worker 1 cpu=0.00%, moved=0,1", .worker = 1, .now = { .moved_out = 1 } },
};

static void test_worker_lines(void **state)
{
    static struct worker_counters then = { .taken_at = 1000000 }, now;

    (void)state;
    for (size_t i = 0; i < COUNT(worker_rows); i++) {
        const char *want = worker_rows[i].want;
        char buf[256];

        now = worker_rows[i].now;
        now.taken_at = 2000000;
        assert_int_equal(stat_worker_text(worker_rows[i].worker, &now, &then, CO_SECONDS(2), buf,
                                          sizeof(buf)), strlen(want));
        assert_string_equal(buf, want);
    }
}

/* The line of a table about events since the last call, `seconds` ago. */
static size_t line_of(const struct counter_table *t, const void *now, void *then, int seconds,
                      char *line, size_t size)
{
    size_t n = counters_line(t, now, then, CO_SECONDS(seconds), line, size);

    memcpy(then, now, t->size);
    return n;
}

/* Rates cover the time between two lines; groups without events are left out. */
static void test_line_of_webrtc(void **state)
{
    struct rtc_service_stat now = { .no_room = { 100, 0 } }, then = now;
    char line[512];
    size_t size;

    (void)state;
    assert_int_equal(line_of(&rtc_counters, &now, &then, 1, line, sizeof(line)), 0);
    now = (struct rtc_service_stat){ .sessions = 12, .sockets.in = 2050, .received = 1500,
                                     .checks = 25,
                                     .sockets.out = 17000, .sent = 16500,
                                     .plis_sent = 5, .twcc_sent = 150,
                                     .nacks_sent = 15, .nacks = 60, .retransmitted = 55,
                                     .rtcp_in = 500, .rtcp_out = 250, .checks_answered = 20,
                                     .reports_sent = 60, .nacks_sent_audio = 5,
                                     .nacks_sent_video = 10, .nacks_found = 10,
                                     .asked = 100, .requested_missing = 45, .by_name = 25,
                                     .by_address = 2000, .no_room = { 110, 5 } };
    size = line_of(&rtc_counters, &now, &then, 5, line, sizeof(line));
    assert_int_equal(size, strlen(line));
    assert_string_equal(line, "RTC: Server conns=12, rpkts=(410,rtp:300,stun:5,rtcp:100), "
                              "spkts=(3400,rtp:3300,stun:4,rtcp:50), rtcp=(pli:1,twcc:30,rr:12), "
                              "snk=(3,a:1,v:2,h:2), rnk=(12,20,h:11,m:9), loss=(r:2,s:1), "
                              "fid=(id:5,addr:400)");
    assert_true(line_of(&rtc_counters, &now, &then, 5, line, sizeof(line)) > 0);
    assert_string_equal(line, "RTC: Server conns=12");
    assert_int_equal(line_of(&rtc_counters, &now, &then, 5, line, 9), 8);
    now.sessions = 0;
    now.no_room[0] += 100; /* that of the machine alone causes no line */
    assert_int_equal(line_of(&rtc_counters, &now, &then, 5, line, sizeof(line)), 0);
}

static void test_line_of_rtmfp(void **state)
{
    struct rtmfp_service_stat now = { 0 }, then = { 0 };
    char line[512];
    size_t size;

    (void)state;
    assert_int_equal(line_of(&rtmfp_counters, &now, &then, 1, line, sizeof(line)), 0);
    now = (struct rtmfp_service_stat){ .sessions = 20000, .connected = 19990, .publishers = 12,
                                       .players = 450, .opened = 490, .key_jobs = 500,
                                       .key_time = 210000, .keying = 3, .startup = 1000,
                                       .startup_limited = 40, .drops = { 5, 15 },
                                       .bad = { 0, 5, 10 }, .sockets.overflow = 5,
                                       .again = 200, .abandoned = 10, .skips = 5,
                                       .pings_lost = 25, .introductions = 100,
                                       .unknown_peers = 15 };
    size = line_of(&rtmfp_counters, &now, &then, 5, line, sizeof(line));
    assert_int_equal(size, strlen(line));
    assert_string_equal(line, "RTMFP: Server conns=20000,19990, streams=12,450, "
                              "opens=(98,keys:100,0.42ms,wait:3), drops=(12,bad:3,room:1), "
                              "again=40, abandoned=2, skips=1, pings=5, peers=(20,none:3)");
    now.keying = 0;
    assert_true(line_of(&rtmfp_counters, &now, &then, 5, line, sizeof(line)) > 0);
    assert_string_equal(line, "RTMFP: Server conns=20000,19990, streams=12,450");
    now.sessions = 0;
    assert_int_equal(line_of(&rtmfp_counters, &now, &then, 5, line, sizeof(line)), 0);
    assert_int_equal(line_of(&rtmfp_counters, &now, &then, 5, line, 9), 0);
}

/* A worker's line covers the time since its previous one, up to its last sample. */
static void test_what_a_worker_did(void **state)
{
    static const struct worker_counters last = { .taken_at = 100000000, .cpu = 5000000, .switches = 100,
                                         .moved_in = 3, .late = { 0, 0, 100 }, .late_us = 1000 };
    static const struct worker_counters now = { .taken_at = 104000000, .cpu = 6000000, .switches = 4100,
                                        .coroutines = 9, .moved_in = 5, .moved_out = 1, .holds = 1,
                                        .late = { 0, 0, 295, 0, 0, 0, 3, 1, 1 },
                                        .late_us = 201000 };
    char line[256];

    (void)state;
    (void)stat_worker_text(2, &now, &last, CO_SECONDS(105), line, sizeof(line));
    assert_string_equal(line, "Worker 2 cpu=25.00%, moved=2,1, sched=1000/s, co=9, holds=1, "
                              "late=1.00ms,5");
    (void)stat_worker_text(2, &now, &now, CO_SECONDS(107), line, sizeof(line)); /* it is blocked */
    assert_string_equal(line, "Worker 2 cpu=0.00%, co=9, silent=3.0s");
    (void)stat_worker_text(2, &nothing, &last, CO_SECONDS(103), line, sizeof(line));
    assert_string_equal(line, "Worker 2 cpu=0.00%, silent=3.0s"); /* before its first sample */
    (void)stat_process_text(&now, &last, CO_SECONDS(4), 25, 0, line, sizeof(line));
    assert_string_equal(line, "Hybrid cpu=25.00%,0MB, sched=1000/s, co=9, holds=1, "
                              "clock=0,0,195,0,0,0,3,1,1");
}

/* They come from the worker's published state. */
static void test_a_worker_counts(void **state)
{
    struct workers *w = aligned_alloc(WORKERS_LINE, sizeof(*w));
    struct session_env *env = env_new("listen 1935;");
    struct worker_counters_of of = { .env = env, .connections = 7 };
    struct worker_counters c;

    (void)state;
    assert_non_null(w);
    memset(w, 0, sizeof(*w));
    w->n = 2;
    env->workers = w;
    env->worker = 1;
    env->publishers = 2;
    env->players = 3;
    atomic_store(&w->v[1].gauges.moved_in, 5);
    worker_counters_sample(&of);
    env->worker = 0; /* the reader */
    worker_counters_one(&of, 1, &c);
    assert_in_range(c.taken_at, 1, co_clock());
    assert_true(c.cpu > 0);
    assert_int_equal(c.connections, 7);
    assert_int_equal(c.publishers, 2);
    assert_int_equal(c.players, 3);
    assert_int_equal(c.forwards[0] + c.forwards[1], 0);
    assert_int_equal(c.moved_in, 5);
    env->publishers = env->players = 0;
    env_free(&env);
    free(w);
}

static struct worker_counters_of other;
static err_t made;

static void *make_error(void *unused)
{
    (void)unused;
    made = err_new(ERR_STOPPED, "made by one worker");
    worker_counters_sample(&other);
    return NULL;
}

/* One thread frees memory of another: the sum is right all the same. */
static void test_objects_that_cross(void **state)
{
    struct workers *w = aligned_alloc(WORKERS_LINE, sizeof(*w));
    struct session_env *first = env_new("listen 1935;"), *second = env_new("listen 1935;");
    struct worker_counters_of of = { .env = first };
    struct worker_counters sum;
    pthread_t id;

    (void)state;
    assert_non_null(w);
    memset(w, 0, sizeof(*w));
    w->n = 2;
    first->workers = second->workers = w;
    second->worker = 1;
    other.env = second;
    assert_int_equal(pthread_create(&id, NULL, make_error, NULL), 0);
    assert_int_equal(pthread_join(id, NULL), 0);
    worker_counters_sum(&of, &sum);
    assert_int_equal(sum.errors, 1);
    err_free(&made);
    worker_counters_sum(&of, &sum);
    assert_int_equal(err_live(), -1);
    assert_int_equal(sum.errors, 0);
    env_free(&first);
    env_free(&second);
    free(w);
    made = err_new(ERR_STOPPED, "so that nothing is left here"); /* the count is of this thread */
    free(made);
}

/* ---- blocked workers */

static char said[2000];

static void keep(enum log_level level, const char *line, size_t size)
{
    assert_int_equal(level, LOG_WARN);
    strncat(said, line, size);
}

static const struct {
    int at, late; /* milliseconds */
    const char *want; /* expected line, NULL: none */
} looks[] = {
    { 1000, 0, NULL },
    { 2000, 1000, NULL },
    { 2100, 1100, "worker 2 has been stalled for 1100 ms" },
    { 2200, 1200, NULL }, /* once */
    { 4000, 3000, NULL },
    { 4100, 50, "worker 2 continues after 3100 ms" },
    { 4200, 0, NULL },
    { 9000, 2000, "worker 2 has been stalled for 2000 ms" },
    { 9100, 0, "worker 2 continues after 2100 ms" },
    { 12000, 1500, "worker 2 has been stalled for 1500 ms" },
    { 14000, 1800, "worker 2 continues after 3500 ms" }, /* and blocked once more */
    { 15000, 2800, NULL },
    { 15100, 0, "worker 2 continues after 2900 ms" },
};

static void test_who_is_held_up(void **state)
{
    const struct log_setup kept = { .min = LOG_TRACE, .write = keep };
    struct stat_stall h = { 0 };

    (void)state;
    log_init(&kept);
    for (size_t i = 0; i < COUNT(looks); i++) {
        said[0] = '\0';
        stat_stall_check(&h, 2, CO_MS(looks[i].late), CO_MS(looks[i].at));
        print_message("  %d: %s", looks[i].at, *said ? said : "\n");
        if (looks[i].want)
            assert_non_null(strstr(said, looks[i].want));
        else
            assert_string_equal(said, "");
    }
    log_init(&(struct log_setup){ .min = LOG_TRACE });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines),
        TEST(test_it_is_cut_where_there_is_no_room),
        TEST(test_worker_lines),
        TEST(test_line_of_webrtc),
        TEST(test_line_of_rtmfp),
        TEST(test_what_a_worker_did),
        TEST(test_a_worker_counts),
        TEST(test_objects_that_cross),
        TEST(test_who_is_held_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
