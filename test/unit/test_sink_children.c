/* SPDX-License-Identifier: MIT */
/* test_sink_children.c - programs for the streams of two workers: another worker may own a stream
 * that a transcode of one makes. Two sets of sinks stand for the workers. */
#include "env.h"
#include "co/os/child.h"
#include "pull/ingest/ingests.h"
#include "session/workers.h"
#include "sink/list.h"
#include "sink/program/children.h"
#include "sink/program/job.h"
#include "sink/store/disk.h"

static struct workers workers = { .n = 2 };

struct side {
    struct session_env *env;
    struct disk *disk;
    struct sink_list *list;
    struct sink *programs;
};

static const struct sink_ops *const rows[] = { &program_sink, &ingests_sink };

static void open_side(struct side *s, unsigned worker, const char *conf)
{
    static const struct disk_limits limits = { .lane_bytes = 1 << 20, .all_bytes = 1 << 20 };

    *s = (struct side){ .env = env_new(conf) };
    s->env->workers = &workers;
    s->env->worker = worker;
    s->disk = disk_new(&limits);
    s->list = sink_list_new(rows, COUNT(rows), &(struct sink_setup){
        .env = s->env, .segments = s->disk, .records = s->disk });
    s->programs = sink_list_find(s->list, &program_sink);
}

static void close_side(struct side *s)
{
    sink_list_interrupt(s->list);
    sink_list_stop(s->list);
    disk_free(s->disk, CO_SECONDS(5));
    sink_list_free(s->list);
    env_free(&s->env);
}

static struct live_source *publish(struct side *s, const char *name)
{
    const struct live_settings set = { 0 };
    const struct session_stream names = { .vhost = "v", .app = "live", .name = name, .param = "",
                                          .tc_url = "", .page_url = "", .ip = "" };
    struct stream_key *key = session_stream_key(&names);
    struct live_source *src = live_registry_get(s->env->streams, key->path, &set);

    (void)stream_key_unref(key);
    sink_list_begin(s->list, conf_vhost_find(s->env->conf, "v"), &names, src);
    return src;
}

static void unpublish(struct side *s, struct live_source *src)
{
    sink_list_end(s->list, src);
    (void)live_source_unref(src);
}

/* Those that are not about to end. */
static unsigned jobs(const struct side *s)
{
    struct job_info info;
    unsigned n = 0;

    for (const struct job *j = children_next(s->programs, NULL); j;
         j = children_next(s->programs, j)) {
        job_poll(j, &info);
        n += info.state != JOB_ENDS;
    }
    return n;
}

/* Any running ones. Limited, because a program ends within seconds. */
static void wait_for_none(const struct side *s)
{
    for (int i = 0; i < 1000 && children_next(s->programs, NULL); i++)
        assert_ok(co_sleep(CO_MS(10)));
    assert_null(children_next(s->programs, NULL));
}

static const char text[] =
    "listen 1935; vhost v { transcode { enabled on; ffmpeg /bin/cat; engine e { enabled on; "
    "vcodec copy; acodec copy; output rtmp://127.0.0.1:[port]/[app]?vhost=[vhost]/[stream]_[engine]"
    "; } } }";

static void what_is_made_is_not_transcoded(void **state)
{
    struct live_source *src, *made;
    struct side a, b;

    (void)state;
    open_side(&a, 0, text);
    open_side(&b, 1, text);
    src = publish(&a, "s");
    assert_int_equal(jobs(&a), 1);
    made = publish(&b, "s_e"); /* it came back, to another worker */
    assert_int_equal(jobs(&b), 0);
    sink_list_reload(b.list);
    assert_int_equal(jobs(&b), 0);
    unpublish(&b, made);
    unpublish(&a, src);
    wait_for_none(&a);
    made = publish(&b, "s_e"); /* by another publisher: no longer by a program */
    assert_int_equal(jobs(&b), 1);
    unpublish(&b, made);
    close_side(&a);
    close_side(&b);
}

static const char ingest[] =
    "listen 1935; vhost v { ingest i { enabled on; input { type file; url x; } ffmpeg /bin/cat; "
    "engine { enabled off; output rtmp://127.0.0.1:[port]/live?vhost=[vhost]/s; } } }";

static void ingests_run_once(void **state)
{
    struct side s[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        open_side(&s[i], i, ingest);
        sink_list_start(s[i].list);
        sink_list_reload(s[i].list);
    }
    assert_int_equal(jobs(&s[0]), 1);
    assert_int_equal(jobs(&s[1]), 0);
    for (int i = 0; i < 2; i++)
        close_side(&s[i]);
}

static int start(void **state)
{
    (void)state;
    return err_code(co_init()) ? 1 : 0;
}

static int none_left(void **state)
{
    assert_int_equal(co_child_live(), 0);
    return nothing_left(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_made_is_not_transcoded, none_left),
        cmocka_unit_test_teardown(ingests_run_once, none_left),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
