/* SPDX-License-Identifier: MIT */
/* test_vod_refused.c - rejected players of files: few log lines, and all are counted. */
#include "base/log.h"
#include "live/source.h"
#include "env.h"
#include "unit.h"
#include "vod/store.h"

#include <stdio.h>
#include <string.h>

enum { LINES = 20 };

static struct {
    char v[LINES][500];
    unsigned n;
} lines;

static void keep(enum log_level level, const char *line, size_t size)
{
    assert_int_equal(level, LOG_WARN);
    assert_true(lines.n < LINES && size < sizeof(lines.v[0]));
    memcpy(lines.v[lines.n], line, size);
    lines.v[lines.n++][size] = '\0';
}

static struct session_env *env;

static int setup(void **state)
{
    err_t err = co_init();

    (void)state;
    if (err)
        return 1;
    log_init(&(struct log_setup){ .min = LOG_TRACE, .write = keep });
    lines.n = 0;
    env = env_new("listen 1935;");
    env->vod = vod_new(env->streams, env->conf, 1);
    return 0;
}

static void end_vod(void)
{
    vod_free(env->vod);
    env->vod = NULL;
}

static int teardown(void **state)
{
    (void)state;
    if (env->vod)
        end_vod();
    env_free(&env);
    log_init(&(struct log_setup){ .min = LOG_TRACE });
    co_fini();
    return 0;
}

static void refuse(unsigned n, const char *how, const char *name)
{
    for (unsigned i = 0; i < n; i++) {
        err_t err = err_new(ERR_NO_FILE, "%s", name);

        vod_refused(env->vod, how, "203.0.113.7", err);
        err_free(&err);
    }
}

static void assert_says(const char *line, const char *what)
{
    if (!strstr(line, what))
        fail_msg("\"%s\" is not in: %s", what, line);
}

static uint64_t counted(void)
{
    struct vod_stat s;

    vod_stat(env->vod, &s);
    return s.refused;
}

static void one_is_told_whole(void **state)
{
    (void)state;
    refuse(1, "HTTP", "a.mp4");
    assert_int_equal(lines.n, 1);
    assert_says(lines.v[0], "HTTP player of 203.0.113.7 is refused: ");
    assert_says(lines.v[0], "NO_FILE");
    assert_says(lines.v[0], "a.mp4");
    end_vod();
    assert_int_equal(lines.n, 1);
}

static void the_others_are_counted(void **state)
{
    (void)state;
    refuse(200, "HTTP", "a.mp4");
    refuse(198, "RTSP", "b.mp4");
    refuse(2, "RTMP", "a.mp4");
    assert_int_equal(lines.n, 2);
    assert_says(lines.v[0], "a.mp4");
    assert_says(lines.v[1], "b.mp4");
    assert_int_equal(counted(), 400);
    end_vod();
    assert_int_equal(lines.n, 3);
    assert_says(lines.v[2], ": 398 more were refused, the last one: RTMP player of ");
    assert_says(lines.v[2], "a.mp4");
}

static void refuse_names(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "%u.mp4", i);
        refuse(1, "HTTP", name);
    }
}

/* Requests for different files cause no more lines. */
static void names_are_bounded(void **state)
{
    (void)state;
    refuse_names(400);
    assert_int_equal(lines.n, 16);
    end_vod();
    assert_int_equal(lines.n, 17);
    assert_says(lines.v[16], ": 384 more were refused");
    assert_says(lines.v[16], "399.mp4");
}

/* As its timer does. */
static void pass(void)
{
    struct co_timer *t = &env->vod->refused.timer;

    assert_non_null(t->prev);
    co_timer_cancel(t);
    t->fn(t);
}

/* Continuous requests are one line each time, and a full one after a quiet time. */
static void later_it_restarts(void **state)
{
    static const struct { unsigned more, lines; const char *says; } rows[] = {
        { 3, 2, ": 2 more" }, { 4, 3, ": 4 more" }, { 1, 4, ": 1 more" }, { 0, 4, ": 1 more" },
        { 1, 5, "more of that are counted" }, { 2, 7, ": 1 more" },
    };

    (void)state;
    for (unsigned i = 0; i < COUNT(rows); i++) {
        refuse(rows[i].more, "HTTP", "a.mp4");
        pass();
        if (lines.n != rows[i].lines)
            fail_msg("row %u: %u lines", i, lines.n);
        assert_says(lines.v[lines.n - 1], rows[i].says);
    }
    assert_non_null(env->vod->refused.timer.prev);
    pass();
    assert_null(env->vod->refused.timer.prev);
}

static void many_make_room_for_others(void **state)
{
    (void)state;
    refuse_names(16);
    refuse(1, "HTTP", "late.mp4");
    assert_int_equal(lines.n, 16);
    pass();
    assert_int_equal(lines.n, 17);
    assert_says(lines.v[16], "late.mp4");
    refuse(1, "HTTP", "late.mp4");
    assert_int_equal(lines.n, 18);
}

/* With names of the maximum length. */
static void lines_are_bounded(void **state)
{
    char name[2000];

    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    refuse(2, "WebSocket", name);
    end_vod();
    assert_int_equal(lines.n, 2);
    assert_says(lines.v[1], ": 1 more were refused, the last one: WebSocket player of ");
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(one_is_told_whole), WITH(the_others_are_counted), WITH(later_it_restarts),
        WITH(lines_are_bounded), WITH(names_are_bounded), WITH(many_make_room_for_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
