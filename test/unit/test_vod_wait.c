/* SPDX-License-Identifier: MIT */
/* test_vod_wait.c - files on demand: players that wait for a disk, and how much stays in memory. */
#include "vod_groups.h"

#include "base/must.h"
#include "live/impl.h"

#include <unistd.h>

/* Opens files of vod_groups.h. */
enum demux_status demux_open(struct demux_index **out, const struct demux_input *in,
                             const struct demux_limits *limits, const char **why)
{
    return fake_open(out, in, limits, why);
}

/* ---- waiting */

static void who_waits(void **state)
{
    struct player p[10];
    const struct vod_part *part[10] = { NULL };
    struct vod_at place = { .place = 1 };
    struct vod_file *f;
    struct vod_stat s;

    (void)state;
    (void)store_begin();
    store_put("a.mp4", "FAKE", small);
    f = open_file("a.mp4");
    atomic_store(&store_cold, true);
    atomic_store(&store_gate, true);
    for (size_t i = 0; i < COUNT(p); i++) {
        p[i] = new_player();
        assert_int_equal(vod_part_get(f, &both, &place, &none, &p[i].wait, &part[i]), VOD_WAIT);
        assert_int_equal(vod_part_get(f, &both, &place, &none, &p[i].wait, &part[i]), VOD_WAIT);
    }
    wait_for(&store_at_gate, 1);
    vod_wait_end(&p[3].wait); /* one goes */
    vod_wait_end(&p[3].wait);
    atomic_store(&store_gate, false);
    wait_called(&p[9], 1);
    for (size_t i = 0; i < COUNT(p); i++) {
        assert_int_equal(p[i].calls, i != 3);
        assert_int_equal(vod_part_get(f, &both, &place, &none, &p[i].wait, &part[i]), VOD_READY);
        assert_ptr_equal(part[i], part[0]);
    }
    for (size_t i = 0; i < COUNT(p); i++)
        store_give(f, part[i]);
    assert_int_equal(atomic_load(&store_grouped), 1); /* one read for all of them */
    vod_stat(store_env->vod, &s);
    assert_int_equal(s.waited, 10);
    assert_int_equal(s.parts_made, 1);
    (void)vod_file_unref(f);
    store_end();
}

/* Data that was read for a player is there for it, even if nothing is cached. */
static void who_waits_without_a_cache(void **state)
{
    struct player p = new_player();
    struct vod_file *f;
    struct vod_stat s;

    (void)state;
    (void)store_begin();
    store_vhost->vod.cache = 1;
    vod_reload(store_env->vod, store_env->conf, 1);
    store_put("a.mp4", "FAKE", small);
    f = open_file("a.mp4");
    atomic_store(&store_cold, true);
    store_give(f, store_get(f, &both, (struct vod_at){ 0 }, &p));
    vod_stat(store_env->vod, &s);
    assert_int_equal(s.cache_bytes, 0);
    assert_int_equal(p.calls, 1);
    (void)vod_file_unref(f);
    store_end();
}

/* A thousand seeks of a waiting player: positions that it left are not read. */
static void who_seeks_meanwhile(void **state)
{
    struct player p = new_player();
    const struct vod_part *part;
    struct vod_file *f;

    (void)state;
    (void)store_begin();
    store_put("a.mp4", "FAKE", (struct fake_head){ .groups = 1000, .samples = 2, .size = 10 });
    f = open_file("a.mp4");
    atomic_store(&store_cold, true);
    atomic_store(&store_gate, true);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(vod_part_get(f, &both, &(struct vod_at){ .place = i }, &none, &p.wait,
                                      &part), VOD_WAIT);
        if (i % 100 == 0)
            assert_ok(co_sleep(CO_MS(1)));
    }
    atomic_store(&store_gate, false);
    wait_called(&p, 1);
    assert_true(atomic_load(&store_grouped) <= VOD_LOADERS);
    assert_int_equal(vod_part_get(f, &both, &(struct vod_at){ .place = 999 }, &none, &p.wait,
                                  &part), VOD_READY);
    store_give(f, part);
    /* And one that leaves during the read. */
    atomic_store(&store_gate, true);
    assert_int_equal(vod_part_get(f, &both, &(struct vod_at){ .place = 501 }, &none, &p.wait,
                                  &part), VOD_WAIT);
    wait_for(&store_at_gate, 1);
    vod_wait_end(&p.wait);
    atomic_store(&store_gate, false);
    (void)vod_file_unref(f);
    store_end();
    assert_int_equal(p.calls, 1);
}

static void who_waits_in_vain(void **state)
{
    struct player p = new_player(), q = new_player();
    const struct vod_part *part;
    struct vod_at beyond = { .place = 77 }, last = { .place = 1 };
    struct vod_file *f;
    struct vod_stat s;

    (void)state;
    (void)store_begin();
    store_put("a.mp4", "FAKE", small);
    f = open_file("a.mp4");
    assert_int_equal(vod_part_get(f, &both, &beyond, &none, &p.wait, &part), VOD_FAILED);
    assert_null(part);
    assert_int_equal(truncate(store_path("a.mp4"), HEAD + 1500), 0);
    assert_int_equal(vod_part_get(f, &both, &last, &none, &p.wait, &part), VOD_WAIT);
    assert_int_equal(vod_part_get(f, &both, &last, &none, &q.wait, &part), VOD_WAIT);
    wait_called(&p, 1);
    wait_called(&q, 1);
    assert_int_equal(vod_part_get(f, &both, &last, &none, &p.wait, &part), VOD_FAILED);
    assert_int_equal(vod_part_get(f, &both, &last, &none, &q.wait, &part), VOD_FAILED);
    store_give(f, store_get(f, &both, (struct vod_at){ 0 }, &p)); /* the rest of it plays */
    vod_stat(store_env->vod, &s);
    assert_int_equal(s.failed, 2);
    (void)vod_file_unref(f);
    store_end();
}

/* A disk that does not answer: finally the waiting players get an error, and memory that a thread
 * still uses is not freed. */
static void who_waits_too_long(void **state)
{
    struct player p = new_player(), q = new_player();
    const struct vod_part *part;
    struct vod_at first = { 0 }, second = { .place = 1 };
    struct vod_file *f;
    struct vod_stat s;

    (void)state;
    (void)store_begin();
    store_put("a.mp4", "FAKE", small);
    f = open_file("a.mp4");
    atomic_store(&store_cold, true);
    atomic_store(&store_gate, true);
    assert_int_equal(vod_part_get(f, &both, &first, &none, &p.wait, &part), VOD_WAIT);
    ((struct vod_task *)(void *)f->loads)->due = co_now() + CO_MS(500);
    p.wait.since -= CO_SECONDS(3);
    wait_for(&store_at_gate, 1);
    wait_called(&p, 1);
    assert_true(p.wait.told);
    assert_int_equal(vod_part_get(f, &both, &first, &none, &p.wait, &part), VOD_FAILED);
    assert_int_equal(vod_part_get(f, &both, &second, &none, &q.wait, &part), VOD_WAIT);
    ((struct vod_task *)(void *)f->loads)->due = co_now() - 1; /* no thread was free for it */
    wait_called(&q, 1);
    assert_int_equal(vod_part_get(f, &both, &second, &none, &q.wait, &part), VOD_FAILED);
    vod_stat(store_env->vod, &s);
    assert_int_equal(s.failed, 2);
    (void)vod_file_unref(f);
    store_end();
    atomic_store(&store_gate, false);
}

/* ---- which players wait for which disk */

struct hanging {
    struct vod_task task; /* first */
    bool hangs, done;
};

static void hang(void *arg)
{
    if (*(bool *)arg)
        store_pass_gate();
}

static void go_hanging(struct vod_task *t)
{
    struct hanging *h = (struct hanging *)t;
    bool *hangs = must(malloc(sizeof(*hangs)));
    err_t err;

    *hangs = h->hangs;
    err = vod_task_run(t, hang, hangs, free);
    if (!err)
        free(hangs);
    err_free(&err);
    h->done = true;
}

static struct hanging new_task(uint64_t device, bool hangs)
{
    return (struct hanging){ .hangs = hangs, .task = {
        .device = device, .due = co_now() + CO_SECONDS(20), .go = go_hanging } };
}

/* However many wait for a dead disk, readers of another one continue. */
static void who_waits_for_whom(void **state)
{
    static struct hanging dead[100], fine[100];

    (void)state;
    (void)store_begin();
    atomic_store(&store_gate, true);
    for (size_t i = 0; i < COUNT(dead); i++) {
        dead[i] = new_task(1, true);
        vod_queue_put(&store_env->vod->queue, &dead[i].task);
    }
    wait_for(&store_at_gate, 2);
    for (size_t i = 0; i < COUNT(fine); i++) {
        fine[i] = new_task(2 + i % 3, false);
        fine[i].task.ahead = i % 4 == 0;
        vod_queue_put(&store_env->vod->queue, &fine[i].task);
    }
    for (size_t i = 0; i < COUNT(fine); i++) {
        for (int k = 0; k < 5000 && !fine[i].done; k++)
            assert_ok(co_sleep(CO_MS(1)));
        assert_true(fine[i].done);
    }
    assert_int_equal(atomic_load(&store_at_gate), 2);
    for (size_t i = 0; i < COUNT(dead); i++)
        assert_false(dead[i].done);
    vod_queue_take(&store_env->vod->queue, &dead[99].task); /* it was the last of them */
    vod_queue_take(&store_env->vod->queue, &dead[50].task);
    atomic_store(&store_gate, false);
    for (size_t i = 0; i < COUNT(dead); i++) { /* two at a time: in no order */
        for (int k = 0; k < 5000 && !dead[i].done && i != 99 && i != 50; k++)
            assert_ok(co_sleep(CO_MS(1)));
        assert_int_equal(dead[i].done, i != 99 && i != 50);
    }
    store_end();
}

/* The server ends while a disk does not answer. */
static void what_ends_meanwhile(void **state)
{
    struct player p[40];
    const struct vod_part *part;
    struct vod_file *f;

    (void)state;
    (void)store_begin();
    store_put("a.mp4", "FAKE", (struct fake_head){ .groups = 100, .samples = 2, .size = 10 });
    f = open_file("a.mp4");
    atomic_store(&store_cold, true);
    atomic_store(&store_gate, true);
    for (unsigned i = 0; i < COUNT(p); i++) {
        p[i] = new_player();
        assert_int_equal(vod_part_get(f, &both, &(struct vod_at){ .place = i }, &none, &p[i].wait,
                                      &part), VOD_WAIT);
    }
    wait_for(&store_at_gate, 2);
    for (unsigned i = 0; i < COUNT(p); i++)
        vod_wait_end(&p[i].wait);
    (void)vod_file_unref(f);
    vod_free(store_env->vod);
    atomic_store(&store_gate, false);
    env_free(&store_env);
}

/* ---- limits */

/* As many players as files, and more than there is room for. */
static void how_much_is_kept(void **state)
{
    enum { FILES = 100, LIMIT = 1 << 20 };
    struct fake_head h = { .groups = 2, .samples = 28, .size = 1000 };
    struct vod_file *f[FILES];
    const struct vod_part *held[FILES];
    struct player p = new_player();
    struct vod_stat s;
    char name[16];

    (void)state;
    (void)store_begin();
    store_vhost->vod.cache = LIMIT;
    vod_reload(store_env->vod, store_env->conf, 1);
    for (unsigned i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof(name), "%u.mp4", i);
        store_put(name, "FAKE", h);
        f[i] = open_file(name);
    }
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < FILES; i++) {
            store_give(f[i], store_get(f[i], &both, (struct vod_at){ .place = round % 2 }, &p));
            vod_stat(store_env->vod, &s);
            assert_true(s.cache_bytes <= LIMIT);
            assert_true(live_registry_memory(store_env->streams)->used >= s.cache_bytes);
        }
    }
    assert_true(s.cache_bytes > LIMIT / 2);
    for (unsigned i = 0; i < FILES; i++) /* those in use stay as long as that */
        held[i] = store_get(f[i], &both, (struct vod_at){ 0 }, &p);
    vod_stat(store_env->vod, &s);
    assert_true(s.cache_bytes > (size_t)FILES * 28 * 1000);
    for (unsigned i = 0; i < FILES; i++) {
        assert_int_equal(held[i]->data[4], store_byte_at(store_byte_of(&h, 0, 0)));
        store_give(f[i], held[i]);
    }
    vod_stat(store_env->vod, &s);
    assert_true(s.cache_bytes <= LIMIT);
    /* Others need memory. */
    live_registry_limit(store_env->streams, live_registry_memory(store_env->streams)->used - LIMIT / 4);
    store_env->streams->squeeze(store_env->streams);
    vod_stat(store_env->vod, &s);
    assert_true(s.cache_bytes <= LIMIT - LIMIT / 4);
    for (unsigned i = 0; i < FILES; i++)
        (void)vod_file_unref(f[i]);
    store_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(who_waits),
        IN_DIR(who_waits_without_a_cache),
        IN_DIR(who_seeks_meanwhile),
        IN_DIR(who_waits_in_vain),
        IN_DIR(who_waits_too_long),
        IN_DIR(who_waits_for_whom),
        IN_DIR(what_ends_meanwhile),
        IN_DIR(how_much_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
