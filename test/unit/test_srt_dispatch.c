/* SPDX-License-Identifier: MIT */
/* test_srt_dispatch.c - session of an SRT datagram: the kernel's choice among workers, ids, callers
 * and their repeats, and when a round trip is requested. */
#include "co/net/udp.h"
#include "proto/srt/packet.h"
#include "serve/srt/callers.h"
#include "serve/srt/impl.h"
#include "session/admission_queue.h"
#include "serve/datagram/slots.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS = 3 };

/* ---- the kernel's choice */

struct group {
    struct udp *v[WORKERS], *caller;
    struct udp_path path;
};

static void open_group(struct group *g)
{
    static const struct udp_opts opts = { 0 };
    struct sock_filter code[SRT_DISPATCH_STEPS];
    const struct sock_fprog program = { SRT_DISPATCH_STEPS, code };
    int fds[WORKERS];
    bool chosen;

    (void)srt_dispatch_program(code, WORKERS);
    assert_ok(udp_bind_group(fds, WORKERS, "127.0.0.1", 0, &program, &chosen));
    assert_true(chosen);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_ok(udp_adopt(&g->v[i], fds[i], &opts));
    assert_ok(udp_open(&g->caller, "127.0.0.1", 0, &opts));
    g->path = (struct udp_path){ .peer = g->v[0]->at };
}

static void close_group(struct group *g)
{
    for (unsigned i = 0; i < WORKERS; i++)
        udp_close(g->v[i]);
    udp_close(g->caller);
}

static void put32(uint8_t *at, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* Which of them gets it; it is the only one. */
static int who_gets(struct group *g, const void *data, size_t size)
{
    struct iovec iov = { (void *)(uintptr_t)data, size };
    const struct udp_out out = { &iov, 1, 0, &g->path, UDP_NOT_ECT };
    int who = -1;

    assert_int_equal(udp_send(g->caller, &out, 1), 1);
    for (int tries = 0; tries < 100 && who < 0; tries++) {
        for (int i = 0; i < WORKERS; i++) {
            const struct udp_in *v;
            size_t n;

            assert_ok(udp_recv_now(g->v[i], &v, &n));
            if (n == 0)
                (void)udp_wait(g->v[i], 1);
            else
                who = i;
        }
    }
    return who;
}

static void test_each_worker_gets_its_ids(void **state)
{
    static const struct {
        uint32_t id, caller;
        size_t size;
        int who;
    } rows[] = {
        { 1, 0, 16, 1 },         { 2, 9, 1332, 2 },       { 3, 9, 64, 0 },
        { 0xffffffff, 0, 20, 0 }, { 3000001, 0, 16, 1 },
        { 0, 4, 64, 1 },         { 0, 5, 64, 2 },         { 0, 0xfffffffe, 500, 2 },
        { 0, 5, 43, 0 }, /* too short for a caller's id */
        { 7, 0, 15, 0 }, /* too short for any */
    };
    struct group g;

    (void)state;
    open_group(&g);
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t data[2048] = { 0x80 };

        put32(data + 12, rows[i].id);
        put32(data + 40, rows[i].caller);
        assert_int_equal(who_gets(&g, data, rows[i].size), rows[i].who);
    }
    close_group(&g);
}

static void test_a_group_is_alone_at_its_address(void **state)
{
    static const struct udp_opts opts = { .reuseport = true };
    int fds[2], more[2];
    struct udp *u;
    bool chosen;

    (void)state;
    assert_ok(udp_bind_group(fds, 1, "127.0.0.1", 0, NULL, &chosen));
    assert_false(chosen);
    assert_ok(udp_adopt(&u, fds[0], &opts));
    assert_err(udp_bind_group(more, 2, "127.0.0.1", u->at.port, NULL, &chosen), ERR_SOCKET_BIND);
    assert_int_equal(more[0], -1);
    assert_int_equal(more[1], -1);
    udp_close(u);
}

/* ---- ids */

static void test_ids_name_their_worker_and_are_not_used_again(void **state)
{
    enum { N = 300, ROUNDS = 20 };
    struct datagram_slots s;
    uint32_t ids[N], at = 0;
    char what[N];

    (void)state;
    datagram_slots_init(&s, 2, WORKERS, 30);
    assert_null(datagram_slots_find(&s, 2));
    for (unsigned r = 0; r < ROUNDS; r++) {
        for (unsigned i = 0; i < N; i++) {
            ids[i] = datagram_slots_take(&s, &what[i]);
            assert_true(ids[i] > 0 && ids[i] < 1u << 30);
            assert_int_equal(datagram_worker_of(ids[i], WORKERS), 2);
        }
        for (unsigned i = 0; i < N; i++)
            assert_ptr_equal(datagram_slots_find(&s, ids[i]), &what[i]);
        for (unsigned i = 0; i < N; i++) {
            datagram_slots_give(&s, ids[i]);
            assert_null(datagram_slots_find(&s, ids[i]));
            datagram_slots_give(&s, ids[i]);
        }
    }
    assert_int_equal(s.used, 0);
    ids[0] = datagram_slots_take(&s, &what[0]);
    assert_ptr_equal(datagram_slots_next(&s, &at), &what[0]);
    assert_null(datagram_slots_next(&s, &at));
    assert_null(datagram_slots_find(&s, ids[0] + 1)); /* another worker's */
    assert_null(datagram_slots_find(&s, 0));
    assert_null(datagram_slots_find(&s, 0xffffffff));
    datagram_slots_fini(&s);
}

static void test_slots_are_bounded(void **state)
{
    struct datagram_slots s;
    char what;

    (void)state;
    datagram_slots_init(&s, 0, 64, 30);
    for (unsigned i = 0; i < DATAGRAM_SLOTS_MAX; i++)
        assert_int_not_equal(datagram_slots_take(&s, &what), 0);
    assert_int_equal(datagram_slots_take(&s, &what), 0);
    datagram_slots_fini(&s);
}

/* ---- callers */

static struct srt_handshake wish(uint32_t id, const char *streamid)
{
    struct srt_handshake h = { .id = id, .first_seq = 77, .has_streamid = true };

    h.streamid_size = strlen(streamid);
    memcpy(h.streamid, streamid, h.streamid_size);
    return h;
}

static void test_callers_are_found_by_address_and_id(void **state)
{
    enum { N = 2000 };
    struct srt_callers *t = calloc(1, sizeof(*t));
    struct srt_caller *v = calloc(N, sizeof(*v));

    (void)state;
    srt_callers_init(t);
    for (unsigned i = 0; i < N; i++) {
        assert_ok(udp_addr_parse(&v[i].from, i % 2 ? "10.0.0.1" : "fe80::1", (int)(i % 50) + 1));
        v[i].id = i / 50;
        assert_null(srt_callers_find(t, &v[i].from, v[i].id));
        srt_callers_add(t, &v[i]);
    }
    for (unsigned i = 0; i < N; i++)
        assert_ptr_equal(srt_callers_find(t, &v[i].from, v[i].id), &v[i]);
    for (unsigned i = 0; i < N; i++) {
        srt_callers_remove(t, &v[i]);
        srt_callers_remove(t, &v[i]);
    }
    assert_int_equal(t->here.n, 0);
    srt_callers_fini(t);
    free(t);
    free(v);
}

static void test_refusals_are_remembered_for_a_second(void **state)
{
    const struct srt_handshake bad = wish(1, "#!::r=live/x"), other = wish(1, "#!::r=live/y");
    struct srt_callers *t = calloc(1, sizeof(*t));
    struct udp_addr from, again, elsewhere;
    struct srt_handshake key = bad;

    (void)state;
    assert_ok(udp_addr_parse(&from, "10.0.0.1", 1000));
    assert_ok(udp_addr_parse(&again, "10.0.0.1", 1001));
    assert_ok(udp_addr_parse(&elsewhere, "10.0.0.2", 1000));
    key.has_km = true;
    srt_callers_init(t);
    assert_int_equal(srt_callers_refused(t, &from, &bad, 5), 0);
    srt_callers_refuse(t, &from, &bad, 2403, 5);
    assert_int_equal(srt_callers_refused(t, &from, &bad, 5), 2403);
    assert_int_equal(srt_callers_refused(t, &again, &bad, CO_SECONDS(1)), 2403);
    assert_int_equal(srt_callers_refused(t, &again, &bad, CO_SECONDS(1) + 5), 0);
    assert_int_equal(srt_callers_refused(t, &elsewhere, &bad, 5), 0);
    assert_int_equal(srt_callers_refused(t, &from, &other, 5), 0);
    assert_int_equal(srt_callers_refused(t, &from, &key, 5), 0);
    srt_callers_fini(t);
    free(t);
}

static void test_who_went_elsewhere_is_known_for_some_seconds(void **state)
{
    struct srt_callers *t = calloc(1, sizeof(*t));
    struct srt_handshake h = wish(9, "x"), anew = h;
    struct srt_caller c = { .id = 9, .first_seq = 77 };
    unsigned worker;

    (void)state;
    anew.first_seq++;
    assert_ok(udp_addr_parse(&c.from, "10.0.0.1", 1000));
    srt_callers_init(t);
    assert_false(srt_callers_away(t, &c.from, &h, 1, &worker));
    srt_callers_went(t, &c, 2, 1);
    assert_true(srt_callers_away(t, &c.from, &h, CO_SECONDS(3), &worker));
    assert_int_equal(worker, 2);
    assert_false(srt_callers_away(t, &c.from, &anew, CO_SECONDS(3), &worker));
    assert_false(srt_callers_away(t, &c.from, &h, CO_SECONDS(30), &worker));
    srt_callers_fini(t);
    free(t);
}

static void test_an_ipv6_network_is_one_customer(void **state)
{
    struct srt_callers *t = calloc(1, sizeof(*t));
    struct udp_addr a, b;

    (void)state;
    assert_ok(udp_addr_parse(&a, "2001:db8::1", 1));
    assert_ok(udp_addr_parse(&b, "2001:db8::2:3:4:5", 2));
    srt_callers_init(t);
    assert_int_equal(srt_callers_place(t, &a, 1024), srt_callers_place(t, &b, 1024));
    assert_true(srt_callers_place(t, &a, 7) < 7);
    srt_callers_fini(t);
    free(t);
}

/* ---- order of callbacks */

static struct admission_queue gate;
static co_usec patience;
static unsigned in, most, done, stopped;

enum { MOST = 8 };

static err_t guest(void *arg)
{
    err_t err = admission_queue_enter(&gate, MOST, patience);

    (void)arg;
    if (err) {
        stopped++;
        err_free(&err);
        return NULL;
    }
    in++;
    most = in > most ? in : most;
    err = co_sleep(CO_MS(2));
    err_free(&err);
    in--;
    admission_queue_leave(&gate);
    done++;
    return NULL;
}

static void guests_come(struct co_group *g, unsigned n)
{
    gate = (struct admission_queue){ 0 };
    in = most = done = stopped = 0;
    patience = CO_FOREVER;
    co_group_init(g);
    for (unsigned i = 0; i < n; i++)
        assert_ok(co_go(g, "guest", guest, NULL));
}

static void test_some_at_a_time(void **state)
{
    enum { N = 50 };
    struct co_group g;

    (void)state;
    guests_come(&g, N);
    assert_ok(co_group_wait(&g));
    assert_int_equal(most, MOST);
    assert_int_equal(done, N);
    assert_int_equal(gate.n, 0);
}

static void test_who_is_stopped_leaves_the_line(void **state)
{
    enum { N = 30 };
    struct co_group g;

    (void)state;
    guests_come(&g, N);
    co_yield();
    assert_ok(co_group_stop(&g));
    assert_int_equal(done + stopped, N);
    assert_int_equal(stopped, N - MOST);
    assert_int_equal(gate.n, 0);
    assert_null(gate.first);
}

static void test_who_waits_too_long_leaves_the_line(void **state)
{
    enum { N = 30 };
    struct co_group g;

    (void)state;
    guests_come(&g, N);
    patience = CO_MS(1); /* a turn takes 2 ms */
    assert_ok(co_group_wait(&g));
    assert_int_equal(done, MOST);
    assert_int_equal(stopped, N - MOST);
    assert_int_equal(gate.n, 0);
    assert_null(gate.first);
}

static int set_up(void **state)
{
    (void)state;
    assert_ok(co_init());
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_worker_gets_its_ids),
        TEST(test_a_group_is_alone_at_its_address),
        TEST(test_ids_name_their_worker_and_are_not_used_again),
        TEST(test_slots_are_bounded),
        TEST(test_callers_are_found_by_address_and_id),
        TEST(test_refusals_are_remembered_for_a_second),
        TEST(test_who_went_elsewhere_is_known_for_some_seconds),
        TEST(test_an_ipv6_network_is_one_customer),
        TEST(test_some_at_a_time),
        TEST(test_who_is_stopped_leaves_the_line),
        TEST(test_who_waits_too_long_leaves_the_line),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
