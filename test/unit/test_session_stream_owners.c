/* SPDX-License-Identifier: MIT */
/* test_session_stream_owners.c - owner workers of streams, and which clients move there. */
#include "session/stream_owners.h"

#include "base/must.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct workers *make(unsigned n)
{
    struct workers *w = must(aligned_alloc(WORKERS_LINE, sizeof(*w)));

    *w = (struct workers){ .n = n, .stream_owners = stream_owners_new() };
    return w;
}

static void end(struct workers *w)
{
    stream_owners_free(w->stream_owners); /* no client is in any: it asserts that */
    free(w);
}

static struct stream_owner *enter(struct workers *w, const char *path, unsigned here, bool publishes,
                          unsigned spread, unsigned *to)
{
    return stream_owners_enter(w, &(struct stream_owners_client){ .path = path, .here = here, .spread = spread,
                                                 .publishes = publishes }, to);
}

static void all_come_to_one_home(void **state)
{
    struct workers *w = make(4);
    struct stream_owner *in[8];
    unsigned to, first;

    (void)state;
    in[0] = enter(w, "v/live/a", 2, false, 64, &first);
    for (unsigned i = 1; i < 8; i++) {
        in[i] = enter(w, "v/live/a", i % 4, i % 3 == 0, 64, &to);
        assert_int_equal(to, first);
        assert_ptr_equal(in[i], in[0]);
    }
    for (unsigned spread = 6; spread <= 7; spread++) { /* 6 of them play: the seventh moves to the owner */
        atomic_store(&w->v[first].gauges.load, 900);
        stream_owners_leave(w, enter(w, "v/live/a", (first + 1) % 4, false, spread, &to), true);
        assert_int_equal(to == first, spread == 7);
    }
    for (unsigned i = 0; i < 8; i++)
        stream_owners_leave(w, in[i], i % 3 != 0 || i == 0);
    end(w);
}

/* Which clients move, by the number of players and the owner's load. */
static void players_stay_where_there_are_many(void **state)
{
    static const struct {
        unsigned spread, players, load;
        bool publishes, goes_home;
    } rows[] = {
        { 64, 0, 900, false, true },
        { 64, 63, 900, false, true },
        { 64, 64, 900, false, false },
        { 64, 64, 100, false, true },  /* the owner has little to do */
        { 64, 64, 249, false, true },
        { 64, 64, 250, false, false },
        { 64, 64, 900, true, true },   /* a publisher always */
        { 0, 0, 0, false, false },     /* 0: they stay */
        { 0, 0, 0, true, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct workers *w = make(2);
        struct stream_owner *source = stream_owners_hold(w, "v/live/a", 1), *in[64], *one;
        unsigned to;

        for (unsigned k = 0; k < rows[i].players; k++)
            in[k] = enter(w, "v/live/a", 1, false, 64, &to);
        atomic_store(&w->v[1].gauges.load, rows[i].load);
        one = enter(w, "v/live/a", 0, rows[i].publishes, rows[i].spread, &to);
        assert_int_equal(to, rows[i].goes_home);
        stream_owners_leave(w, one, !rows[i].publishes);
        for (unsigned k = 0; k < rows[i].players; k++)
            stream_owners_leave(w, in[k], true);
        stream_owners_release(w, source);
        end(w);
    }
}

static void a_new_stream_goes_where_less_is_to_do(void **state)
{
    struct workers *w = make(2);
    struct stream_owner *one;
    unsigned to;

    (void)state;
    one = enter(w, "v/live/a", 0, true, 64, &to);
    assert_int_equal(to, 0);
    stream_owners_leave(w, one, false);
    atomic_store(&w->v[0].gauges.publishers, 1000); /* known before it is measured */
    one = enter(w, "v/live/b", 0, true, 64, &to);
    assert_int_equal(to, 1);
    stream_owners_leave(w, one, false);
    end(w);
}

static void an_owner_stays_while_it_has_clients(void **state)
{
    struct workers *w = make(4);
    struct stream_owner *source = stream_owners_hold(w, "v/live/a", 3), *one;
    unsigned to;

    (void)state;
    one = enter(w, "v/live/a", 0, true, 64, &to);
    assert_int_equal(to, 3);
    stream_owners_leave(w, one, false);
    one = enter(w, "v/live/a", 1, true, 64, &to);
    assert_int_equal(to, 3);
    stream_owners_release(w, source);
    assert_int_equal(stream_owner_worker(one), 3);
    stream_owners_leave(w, one, false);
    one = enter(w, "v/live/a", 1, true, 64, &to); /* no client was in it */
    assert_int_equal(to, 1);
    stream_owners_leave(w, one, false);
    end(w);
}

static void one_that_is_published_is_found_by_its_name(void **state)
{
    struct workers *w = make(2);
    struct stream_owner *one = stream_owners_hold(w, "v/some/app/cam", 1);
    char path[32], small[14];

    (void)state;
    assert_false(stream_owners_find_published(w, "v", "cam", 3, path, sizeof(path)));
    stream_owner_published(w, one, true);
    assert_true(stream_owners_find_published(w, "v", "cam", 3, path, sizeof(path)));
    assert_string_equal(path, "v/some/app/cam");
    assert_false(stream_owners_find_published(w, "v", "cam", 3, small, sizeof(small)));
    assert_false(stream_owners_find_published(w, "other", "cam", 3, path, sizeof(path)));
    assert_false(stream_owners_find_published(w, "v", "ca", 2, path, sizeof(path)));
    stream_owner_published(w, one, false);
    assert_false(stream_owners_find_published(w, "v", "cam", 3, path, sizeof(path)));
    stream_owners_release(w, one);
    end(w);
}

enum { TURNS = 20000, STREAMS = 300 };

struct racer {
    struct workers *w;
    unsigned here;
    pthread_barrier_t *gate;
    unsigned went[TURNS];
    struct stream_owner *in[TURNS];
};

static void *race(void *arg)
{
    struct racer *r = arg;
    char path[24];

    for (unsigned i = 0; i < TURNS; i++) {
        (void)snprintf(path, sizeof(path), "v/live/%u", i % STREAMS);
        (void)pthread_barrier_wait(r->gate); /* both at the same time */
        r->in[i] = enter(r->w, path, r->here, true, 64, &r->went[i]);
        (void)pthread_barrier_wait(r->gate);
        stream_owners_leave(r->w, r->in[i], false);
    }
    return NULL;
}

/* Two publishers of a name come to two workers at once, repeatedly: always to one owner. */
static void two_who_come_at_once_meet(void **state)
{
    static struct racer r[2];
    struct workers *w = make(2);
    pthread_barrier_t gate;
    pthread_t t[2];

    (void)state;
    assert_int_equal(pthread_barrier_init(&gate, NULL, 2), 0);
    for (unsigned i = 0; i < 2; i++) {
        r[i] = (struct racer){ .w = w, .here = i, .gate = &gate };
        assert_int_equal(pthread_create(&t[i], NULL, race, &r[i]), 0);
    }
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_join(t[i], NULL), 0);
    for (unsigned i = 0; i < TURNS; i++)
        assert_int_equal(r[0].went[i], r[1].went[i]);
    (void)pthread_barrier_destroy(&gate);
    end(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_come_to_one_home),
        cmocka_unit_test(players_stay_where_there_are_many),
        cmocka_unit_test(a_new_stream_goes_where_less_is_to_do),
        cmocka_unit_test(an_owner_stays_while_it_has_clients),
        cmocka_unit_test(one_that_is_published_is_found_by_its_name),
        cmocka_unit_test(two_who_come_at_once_meet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
