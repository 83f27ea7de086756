/* SPDX-License-Identifier: MIT */
/* test_co_fair.c - no coroutine keeps the thread: time slices, endless loops, and the count of
 * scheduler stalls. Times are CPU times, or as the scheduler counts them, so a busy machine causes no
 * failure. */
#include "base/log.h"
#include "co/stalls.h"
#include "co/net/io.h"
#include "co/net/io_tcp.h"
#include "co/net/round.h"
#include "io_mem.h"
#include "unit.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char lines[4096];

static void keep(enum log_level level, const char *line, size_t size)
{
    size_t used = strlen(lines);

    (void)level;
    (void)snprintf(lines + used, sizeof(lines) - used, "%.*s", (int)size, line);
}

static co_usec cpu_time(void)
{
    struct timespec ts = { 0 };

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (co_usec)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void spin(co_usec t)
{
    co_usec until = cpu_time() + t;

    while (cpu_time() < until)
        continue;
}

/* The same; how long it had the thread. Debts to a queue are paid in that time: time that the machine takes
 * from a turn is part of it. */
static co_usec spin_for(co_usec t)
{
    co_usec began = co_clock();

    spin(t);
    return co_clock() - began;
}

/* As counted for those that wait meanwhile: a turn is a slice at most. */
static co_usec slice_of(co_usec ran)
{
    return ran < CO_MS(1) ? ran : CO_MS(1);
}

static err_t spinner(void *arg)
{
    spin(*(co_usec *)arg);
    return NULL;
}

static err_t sleeper(void *arg)
{
    (void)nanosleep(&(struct timespec){ 0, *(co_usec *)arg * 1000 }, NULL);
    return NULL;
}

/* CPU time that it took. Time taken by a virtual machine's host may count as well: one short stall proves
 * nothing. */
static co_usec run(const char *name, co_fn *fn, co_usec t)
{
    struct co_group g;
    co_usec begun;

    assert_ok(co_sleep(CO_MS(1)));
    begun = cpu_time();
    co_group_init(&g);
    assert_ok(co_go(&g, name, fn, &t));
    assert_ok(co_group_wait(&g));
    return cpu_time() - begun;
}

static struct co_stalls of(const char *name)
{
    const struct co_stalls *h;
    size_t n = co_stalls_list(&h);

    for (size_t i = 0; i < n; i++) {
        if (strcmp(h[i].name, name) == 0)
            return h[i];
    }
    return (struct co_stalls){ 0 };
}

/* Time without the CPU may hide a stall, never cause one. */
static void test_a_hold_is_counted_by_name(void **state)
{
    co_usec most = 0;

    (void)state;
    assert_ok(co_sleep(CO_SECONDS(1))); /* one of the earlier ones may have used this second's line */
    for (int i = 0; i < 1000 && of("spinner").count == 0; i++)
        most = run("spinner", spinner, CO_MS(9));
    assert_true(of("spinner").count > 0);
    assert_in_range(of("spinner").longest, CO_MS(5), most + CO_MS(1));
    assert_non_null(strstr(lines, "coroutine spinner held the thread for "));
    assert_true(co_stalls_count() > 0);
}

static void test_what_is_no_hold(void **state)
{
    unsigned long shorts = 0, blocks = 0, others = of("main").count;

    (void)state;
    for (int i = 0; i < 30; i++) {
        shorts += run("short", spinner, CO_MS(3)) >= CO_MS(5);
        blocks += run("blocked", sleeper, CO_MS(9)) >= CO_MS(5);
    }
    assert_true(of("short").count <= shorts);
    assert_true(of("blocked").count <= blocks);
    assert_true(shorts + blocks < 30);
    assert_ok(co_sleep(CO_MS(30)));
    assert_int_equal(of("main").count, others);
}

static err_t spin_and_rest(void *arg)
{
    spin(*(co_usec *)arg);
    return co_sleep(CO_MS(1));
}

static void test_names_are_bounded(void **state)
{
    static char names[3 * CO_STALLS_NAMES][8];
    const struct co_stalls *h;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        unsigned long before = co_stalls_count();

        (void)snprintf(names[i], sizeof(names[i]), "n%zu", i);
        for (int k = 0; k < 1000 && co_stalls_count() == before; k++)
            (void)run(names[i], spin_and_rest, CO_MS(7));
    }
    assert_int_equal(co_stalls_list(&h), CO_STALLS_NAMES);
    assert_string_equal(h[CO_STALLS_NAMES - 1].name, "others");
    assert_true(h[CO_STALLS_NAMES - 1].count > CO_STALLS_NAMES);
}

/* ---- slices */

static err_t write_on(void *arg)
{
    co_usec until = cpu_time() + CO_MS(40);
    struct io_mem m;
    err_t err = NULL;

    (void)arg;
    io_mem_init(&m, NULL, 0);
    m.out_cap = SIZE_MAX;
    while (!err && cpu_time() < until) {
        spin(10);
        err = io_write(&m.io, "ping", 4);
    }
    return err;
}

static err_t read_on(void *arg)
{
    co_usec until = cpu_time() + CO_MS(40);
    char buf[16];
    err_t err = NULL;

    (void)arg;
    while (!err && cpu_time() < until) {
        struct io_mem m;
        size_t n;

        spin(10);
        io_mem_init(&m, "ping", 4);
        err = io_read(&m.io, buf, sizeof(buf), &n);
    }
    return err;
}

static err_t go_round(void *arg)
{
    co_usec until = cpu_time() + CO_MS(40);
    struct co_round r = { 0 };
    err_t err = NULL;

    (void)arg;
    for (uint64_t moved = 0; !err && cpu_time() < until; moved++) {
        spin(10);
        err = co_round(&r, moved);
    }
    return err;
}

/* It works for 40 ms without waiting: others still run about once a millisecond. */
static void test_who_need_not_wait_lets_others_run(void **state)
{
    static const struct {
        const char *name;
        co_fn *fn;
    } rows[] = { { "writer", write_on }, { "reader", read_on }, { "round", go_round } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct co_group g;
        unsigned ran = 0;

        co_group_init(&g);
        assert_ok(co_go(&g, rows[i].name, rows[i].fn, NULL));
        for (; g.count > 0; ran++)
            co_yield();
        assert_ok(co_group_wait(&g));
        assert_true(ran >= 20);
    }
}

struct task {
    struct co_timer timer;
    struct co_task task;
    bool *ran;
};

static void on_timer(struct co_timer *t)
{
    struct task *task = (struct task *)(void *)t;

    spin(20);
    *task->ran = true;
}

static void on_task(struct co_task *t)
{
    struct task *task = (struct task *)(void *)((char *)t - offsetof(struct task, task));

    spin(20);
    *task->ran = true;
}

static bool all_ran(const bool *ran, size_t n)
{
    return memchr(ran, false, n) == NULL;
}

/* True: no coroutine was delayed. */
static bool let_others_run(struct task *v, bool *ran, int n, bool tasks)
{
    co_usec due = co_clock() + CO_MS(8);
    unsigned long before = of("ticker").count;
    unsigned turns = 0;

    memset(ran, 0, (size_t)n * sizeof(*ran));
    for (int i = 0; i < n; i++) {
        v[i].ran = &ran[i];
        if (tasks)
            co_post(&v[i].task, on_task);
        else
            co_timer_set(&v[i].timer, due, on_timer);
    }
    while (!memchr(ran, true, (size_t)n))
        co_yield();
    for (; !all_ran(ran, (size_t)n); turns++)
        co_yield();
    assert_true(turns >= 20);
    return of("ticker").count == before;
}

/* Thousands of players whose turns are due at once. */
static void test_timers_let_others_run(void **state)
{
    enum { N = 2000, TRIES = 3 };
    struct task *v = calloc(N, sizeof(*v));
    bool *ran = calloc(N, sizeof(*ran));

    (void)state;
    assert_non_null(v);
    assert_non_null(ran);
    for (int tasks = 0; tasks < 2; tasks++) {
        int tries = 1;

        while (!let_others_run(v, ran, N, tasks))
            assert_true(++tries <= TRIES); /* the host may have taken the time, but not each time */
    }
    free(v);
    free(ran);
}

/* ---- waiting for an event next to many that never stop */

enum { GREEDY = 100 };

struct greedy {
    co_usec until; /* CPU time */
    co_usec ran;
    unsigned turns;
};

static err_t be_greedy(void *arg)
{
    struct greedy *g = arg;

    while (cpu_time() < g->until) {
        g->ran += spin_for(CO_MS(1));
        g->turns++;
        co_yield_if_due();
    }
    return NULL;
}

/* It is not queued after all of them each time, even if it used up its slice once. */
static void test_events_do_not_wait_for_the_greedy(void **state)
{
    enum { EVENTS = 10, MOST = 15 };

    (void)state;
    for (int overrun = 0; overrun < 2; overrun++) {
        struct greedy g = { .until = cpu_time() + CO_MS(500) };
        struct co_group group;

        co_group_init(&group);
        for (int i = 0; i < GREEDY; i++)
            assert_ok(co_go(&group, "greedy", be_greedy, &g));
        for (int i = 0; i < EVENTS; i++) {
            assert_ok(co_sleep(CO_MS(1)));
            spin(overrun * CO_MS(1));
            co_yield_if_due();
        }
        assert_in_range(g.turns, EVENTS, GREEDY + EVENTS * MOST); /* a first turn is as any */
        assert_ok(co_group_wait(&group));
    }
}

struct busy {
    struct greedy *greedy;
    unsigned turns;  /* all together */
    co_usec ran;
    bool over;
};

static err_t be_busy(void *arg)
{
    struct busy *b = arg;
    err_t err = NULL;

    while (!err && !b->over) {
        b->ran += spin_for(500);
        b->turns++;
        b->over = b->turns >= GREEDY * 6 || cpu_time() > b->greedy->until;
        err = co_sleep(1);
    }
    return err;
}

static err_t be_greedy_beside(void *arg)
{
    struct busy *b = arg;
    struct greedy *g = b->greedy;

    while (!b->over) {
        spin(CO_MS(1));
        g->turns++;
        co_yield_if_due();
    }
    return NULL;
}

/* The greedy ones do not starve if others have as much to do: counted in turns, because the host may
 * take time from some of them. */
static void test_the_greedy_get_on(void **state)
{
    struct greedy g = { .until = cpu_time() + CO_SECONDS(10) };
    struct busy b = { .greedy = &g };
    struct co_group group;

    (void)state;
    co_group_init(&group);
    assert_ok(co_go(&group, "greedy", be_greedy_beside, &b));
    for (int i = 0; i < GREEDY; i++)
        assert_ok(co_go(&group, "busy", be_busy, &b));
    assert_ok(co_group_wait(&group));
    print_message("  %u turns, others %u\n", g.turns, b.turns);
    assert_true(b.turns >= GREEDY * 6);
    assert_true(g.turns >= 3); /* once for each turn, or two, of all others */
}

/* ---- urgent ones */

struct urgent {
    struct busy *busy;
    unsigned most; /* turns of others from the wakeup until it ran */
};

static err_t be_urgent(void *arg)
{
    struct urgent *u = arg;
    err_t err = NULL;

    co_urgent(true);
    for (int i = 0; !err && i < 20; i++) {
        unsigned before = u->busy->turns;

        err = co_sleep(CO_MS(4));
        if (u->busy->turns - before > u->most)
            u->most = u->busy->turns - before;
    }
    co_urgent(false);
    return err;
}

static err_t be_urgent_all_the_time(void *arg)
{
    struct busy *b = arg;
    err_t err = NULL;

    co_urgent(true);
    while (!err && !b->over) {
        b->greedy->ran += slice_of(spin_for(CO_MS(1)));
        err = co_sleep(1);
    }
    return err;
}

/* An urgent coroutine is not queued after a hundred others. Each of its sleeps takes 4 to 8 ms, and debts to
 * the others are 5 ms more: half a millisecond each. */
static void test_the_urgent_come_first(void **state)
{
    struct greedy g = { .until = cpu_time() + CO_SECONDS(10) };
    struct busy b = { .greedy = &g };
    struct urgent u = { .busy = &b };
    struct co_group group;

    (void)state;
    co_group_init(&group);
    for (int i = 0; i < GREEDY; i++)
        assert_ok(co_go(&group, "busy", be_busy, &b));
    assert_ok(co_go(&group, "urgent", be_urgent, &u));
    assert_ok(co_group_wait(&group));
    print_message("  %u turns of others at most\n", u.most);
    assert_true(b.turns >= GREEDY * 6);
    assert_in_range(u.most, 1, GREEDY / 2);
}

/* The others do not starve: ten that are always urgent leave them a third. */
static void test_others_run_next_to_urgent_ones(void **state)
{
    enum { URGENT = 10 };
    struct greedy g = { .until = cpu_time() + CO_SECONDS(10) };
    struct busy b = { .greedy = &g };
    struct co_group group;

    (void)state;
    co_group_init(&group);
    for (int i = 0; i < URGENT; i++)
        assert_ok(co_go(&group, "urgent", be_urgent_all_the_time, &b));
    for (int i = 0; i < GREEDY; i++)
        assert_ok(co_go(&group, "busy", be_busy, &b));
    assert_ok(co_group_wait(&group));
    print_message("  %lld ms of the urgent, others %lld\n", (long long)us_to_ms(g.ran),
                  (long long)us_to_ms(b.ran));
    assert_true(b.turns >= GREEDY * 6);
    /* It should be twice as much: 2 parts of 3. */
    assert_in_range(g.ran, b.turns * CO_MS(1) / 4, b.ran * 4);
}

/* ---- coroutines that wake each other without end: one of them can always run */

enum { RING_MOST = 100 };

struct ring {
    struct co *members[RING_MOST];
    int n;
    bool over;
    unsigned turns;
    co_usec ran;
};

struct ring_member {
    struct ring *ring;
    int at;
};

static err_t wake_the_next(void *arg)
{
    struct ring_member *m = arg;
    struct ring *r = m->ring;

    while (!r->over) {
        r->ran += slice_of(spin_for(20));
        r->turns++;
        co_unpark(r->members[(m->at + 1) % r->n]);
        if (co_park(CO_SECONDS(10)) == CO_STOPPED)
            break;
    }
    return NULL;
}

static err_t sleep_beside_a_ring(void *arg)
{
    co_usec *longest = arg;

    for (int i = 0; i < 20; i++) {
        co_usec began = cpu_time();
        err_t err = co_sleep(CO_MS(8));

        if (err)
            return err;
        if (cpu_time() - began > *longest)
            *longest = cpu_time() - began;
    }
    return NULL;
}

static void *echo(void *arg)
{
    int fd = *(int *)arg;
    char c;

    while (read(fd, &c, 1) == 1)
        (void)!write(fd, &c, 1);
    return NULL;
}

/* Another thread answers while the ring runs. */
static err_t read_beside_a_ring(void *arg)
{
    co_usec *longest = arg;
    struct io *io;
    pthread_t peer;
    int fds[2];
    err_t err = NULL;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(pthread_create(&peer, NULL, echo, &fds[1]), 0);
    assert_ok(io_tcp_open(&io, fds[0]));
    for (int i = 0; i < 50 && !err; i++) {
        co_usec began = cpu_time();
        char c;

        err = io_write(io, "x", 1);
        if (!err)
            err = io_read_full(io, &c, 1);
        if (cpu_time() - began > *longest)
            *longest = cpu_time() - began;
    }
    io_close(io);
    (void)pthread_join(peer, NULL);
    (void)close(fds[1]);
    return err;
}

static co_usec beside_a_ring(int n, co_fn *fn)
{
    struct ring r = { .n = n };
    struct ring_member members[RING_MOST];
    struct co_group ring, group;
    co_usec longest = 0;

    co_group_init(&ring);
    co_group_init(&group);
    for (int i = 0; i < n; i++) {
        members[i] = (struct ring_member){ &r, i };
        assert_ok(co_go(&ring, "ring", wake_the_next, &members[i]));
        r.members[i] = co_newest(&ring);
    }
    assert_ok(co_go(&group, "innocent", fn, &longest));
    assert_ok(co_group_wait(&group));
    r.over = true;
    for (int i = 0; i < n; i++)
        co_unpark(r.members[i]);
    assert_ok(co_group_wait(&ring));
    assert_true(r.turns > 0);
    return longest;
}

/* A sleep of 8 ms, on a wheel of 4 ms, takes at most one turn of the ring longer, and so does a read.
 * Without checks of the clock the sleeper would never wake. */
static void test_coroutines_that_wake_each_other_delay_no_other(void **state)
{
    static const struct {
        const char *name;
        int n;
    } rows[] = { { "two", 2 }, { "three", 3 }, { "a hundred", RING_MOST } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        co_usec slept = beside_a_ring(rows[i].n, sleep_beside_a_ring);
        co_usec read = beside_a_ring(rows[i].n, read_beside_a_ring);

        print_message("  %s: sleep of 8 ms took %lld us, read %lld us\n", rows[i].name,
                      (long long)slept, (long long)read);
        assert_in_range(slept, 0, CO_MS(100));
        assert_in_range(read, 0, CO_MS(100));
    }
}

/* Coroutines that stepped back have a fifth of the time, although others never wait for events. */
static void test_the_greedy_run_next_to_a_ring(void **state)
{
    struct ring r = { .n = 2 };
    struct ring_member members[2] = { { &r, 0 }, { &r, 1 } };
    struct greedy g = { .until = cpu_time() + CO_MS(400) };
    struct co_group ring, group;

    (void)state;
    co_group_init(&ring);
    co_group_init(&group);
    for (int i = 0; i < r.n; i++) {
        assert_ok(co_go(&ring, "ring", wake_the_next, &members[i]));
        r.members[i] = co_newest(&ring);
    }
    assert_ok(co_go(&group, "greedy", be_greedy, &g));
    assert_ok(co_group_wait(&group));
    r.over = true;
    for (int i = 0; i < r.n; i++)
        co_unpark(r.members[i]);
    assert_ok(co_group_wait(&ring));
    print_message("  %lld ms, the ring %lld\n", (long long)us_to_ms(g.ran), (long long)us_to_ms(r.ran));
    /* A fifth is a quarter of what the others have. */
    assert_true(g.ran >= r.ran / 9);
    assert_in_range(g.turns * CO_MS(1), CO_MS(1), r.ran * 2 / 3);
}

/* ---- loops without progress */

static void test_rounds(void **state)
{
    struct co_round r = { 0 };
    err_t err = NULL;
    int n = 0;

    (void)state;
    for (uint64_t moved = 1; moved < 5000; moved++)
        assert_ok(co_round(&r, moved));
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 900; k++)
            assert_ok(co_round(&r, 5000));
        assert_ok(co_sleep(1)); /* it waited */
    }
    while (!err && n++ < 5000) {
        err = co_round(&r, 5000);
        co_yield(); /* letting others run is not progress */
    }
    assert_err(err, ERR_LOOP);
}

int main(void)
{
    const struct log_setup s = { LOG_TRACE, false, co_cid, keep, NULL };
    const struct CMUnitTest tests[] = {
        TEST(test_who_need_not_wait_lets_others_run),
        TEST(test_timers_let_others_run),
        TEST(test_events_do_not_wait_for_the_greedy),
        TEST(test_the_greedy_get_on),
        TEST(test_the_urgent_come_first),
        TEST(test_others_run_next_to_urgent_ones),
        TEST(test_coroutines_that_wake_each_other_delay_no_other),
        TEST(test_the_greedy_run_next_to_a_ring),
        TEST(test_rounds),
        TEST(test_what_is_no_hold),
        TEST(test_a_hold_is_counted_by_name),
        TEST(test_names_are_bounded),
    };
    err_t err = co_init();

    assert(!err);
    log_init(&s);
    co_stalls_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
