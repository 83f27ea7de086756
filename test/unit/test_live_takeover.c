/* SPDX-License-Identifier: MIT */
/* test_live_takeover.c - which publisher has a stream: claims, takeovers and the registry. */
#include "live_players.h"

static const struct live_takeover takeover_on = { LIVE_TAKEOVER_ON, 0, 0 };

/* ---- the first player of a large backlog */

static err_t wait_for_ever(void *arg)
{
    struct live_publisher *p = arg;

    p->co = co_self();
    assert_int_equal(co_park(CO_FOREVER), CO_STOPPED);
    return co_check();
}

static const char token[] = "a", other_token[] = "b";

/* The old one is at 127.0.0.1. */
static const struct {
    const char *name, *ip;
    int silent;                /* ms */
    const char *shown, *shows; /* from the old one, from the new one; NULL: no request */
    const struct live_takeover *rule;
    int wait;                  /* ms, -1 forever; 0: admitted */
} takeover_rows[] = {
    { "off: never", "127.0.0.1", 9000, NULL, NULL, &takeover_off, -1 },
    { "off: proof does not help", "127.0.0.1", 9000, token, token, &takeover_off, -1 },
    { "stale: another address", "127.0.0.2", 0, NULL, NULL, &takeover_stale, -1 },
    { "stale: another address, silent a bit", "127.0.0.2", 1900, NULL, NULL, &takeover_stale, -1 },
    { "stale: another address, silent", "127.0.0.2", 2000, NULL, NULL, &takeover_stale, 0 },
    { "stale: the same address alone", "127.0.0.1", 0, NULL, NULL, &takeover_stale, 500 },
    { "stale: the same address, silent a bit", "127.0.0.1", 400, NULL, NULL, &takeover_stale, 100 },
    { "stale: the same address, silent", "127.0.0.1", 500, NULL, NULL, &takeover_stale, 0 },
    { "stale: the same proof", "127.0.0.2", 0, token, token, &takeover_stale, 0 },
    { "stale: another proof", "127.0.0.2", 0, token, other_token, &takeover_stale, -1 },
    { "stale: proof to one who had none", "127.0.0.2", 0, NULL, token, &takeover_stale, -1 },
    { "stale: none to one who had proof", "127.0.0.1", 0, token, NULL, &takeover_stale, 500 },
    { "on: always", "127.0.0.2", 0, NULL, NULL, &takeover_on, 0 },
};

static void show(struct live_publisher *p, const char *shown)
{
    p->has_proof = shown != NULL;
    memset(p->proof, shown ? shown[0] : 0, sizeof(p->proof));
}

/* The clock continues during the test. */
static void assert_wait(co_usec wait, int ms)
{
    if (ms < 0)
        assert_int_equal(wait, CO_FOREVER);
    else
        assert_true(wait <= CO_MS(ms) && wait >= CO_MS(ms) - CO_MS(90));
}

static void test_takeover(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(takeover_rows); i++) {
        const struct live_takeover *rule = takeover_rows[i].rule;
        struct live_source *src = live_source_new("a", &live_defaults);
        struct live_publisher old = { .ip = "127.0.0.1" }, new = { .ip = takeover_rows[i].ip };
        bool taken = takeover_rows[i].wait == 0;
        struct co_group g;

        print_message("  %s\n", takeover_rows[i].name);
        co_group_init(&g);
        assert_ok(co_go(&g, "old publisher", wait_for_ever, &old));
        assert_ok(co_sleep(1000));
        assert_ok(live_source_begin(src, &old, &takeover_off));
        old.active_at = co_now() - CO_MS(takeover_rows[i].silent);
        show(&old, takeover_rows[i].shown);
        show(&new, takeover_rows[i].shows);
        assert_wait(live_source_wait(src, &new, rule), takeover_rows[i].wait);
        assert_err(live_source_begin(src, &new, rule), taken ? ERR_OK : ERR_STREAM_BUSY);
        assert_int_equal(old.replaced, taken);
        if (taken)
            assert_err(co_group_wait(&g), ERR_REPLACED);
        else
            assert_err(co_group_stop(&g), ERR_STOPPED);
        live_source_end(src, &old); /* too late to matter if it was replaced */
        assert_int_equal(live_source_publishing(src), taken);
        live_source_end(src, &new);
        (void)live_source_unref(src);
    }
    assert_int_equal(live_source_live(), 0);
}

/* A publisher waiting for a backend keeps its claim; the stream continues meanwhile with its publisher. */
static void test_claim(void **state)
{
    struct live_source *src = live_source_new("a", &live_defaults);
    struct live_publisher now = { .ip = "127.0.0.1" }, first = { .ip = "127.0.0.2" };
    struct live_publisher second = { .ip = "127.0.0.3" }, neighbour = { .ip = "127.0.0.2" };
    struct co_group g;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "now", wait_for_ever, &now));
    assert_ok(co_go(&g, "first", wait_for_ever, &first));
    assert_ok(co_sleep(1000));
    now.active_at = first.active_at = second.active_at = co_now();
    assert_ok(live_source_begin(src, &now, &takeover_off));
    assert_err(live_source_claim(src, &first, &takeover_off), ERR_STREAM_BUSY);
    assert_ok(live_source_claim(src, &first, &takeover_on));
    assert_true(live_source_publishing(src));
    assert_false(now.replaced); /* not before it begins */
    live_source_unclaim(src, &first); /* it was not allowed */
    assert_ok(live_source_claim(src, &first, &takeover_on));
    assert_err(live_source_claim(src, &second, &takeover_stale), ERR_STREAM_BUSY);
    now.active_at -= CO_SECONDS(3);
    first.active_at -= CO_MS(600); /* a slow backend does not count as the publisher's silence */
    assert_err(live_source_claim(src, &neighbour, &takeover_stale), ERR_STREAM_BUSY);
    assert_wait(live_source_wait(src, &neighbour, &takeover_stale), 1400);
    assert_ok(live_source_claim(src, &second, &takeover_on));
    assert_true(first.replaced);
    assert_err(live_source_begin(src, &first, &takeover_on), ERR_REPLACED);
    live_source_unclaim(src, &first); /* not its claim any more */
    assert_false(now.replaced);
    assert_ok(live_source_begin(src, &second, &takeover_on));
    assert_true(now.replaced);
    assert_err(co_group_wait(&g), ERR_REPLACED);
    live_source_end(src, &second);
    (void)live_source_unref(src);
    assert_int_equal(live_source_live(), 0);
}

static void test_registry(void **state)
{
    struct live_registry *r = live_registry_new();
    struct live_source *sources[300];
    char name[32];
    size_t seen = 0;

    (void)state;
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "v/a/%d", i);
        sources[i] = live_registry_get(r, name, &live_defaults);
    }
    assert_int_equal(live_registry_count(r), 300);
    assert_ptr_equal(live_registry_find(r, "v/a/17"), sources[17]);
    assert_null(live_registry_find(r, "v/a/x"));
    for (struct live_source *s = live_registry_next(r, NULL); s; s = live_registry_next(r, s))
        seen++;
    assert_int_equal(seen, 300);
    for (int i = 0; i < 299; i++)
        (void)live_source_unref(sources[i]);
    assert_int_equal(live_registry_count(r), 1);
    live_registry_free(r);
    (void)live_source_unref(sources[299]);
    assert_int_equal(live_source_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_takeover), TEST(test_claim), TEST(test_registry),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
