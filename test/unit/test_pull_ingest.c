/* SPDX-License-Identifier: MIT */
/* test_pull_ingest.c - files that are published in a loop, without ffmpeg. */
#include "env.h"
#include "flv_file.h"
#include "pull/ingest/ingests.h"
#include "session/workers.h"
#include "sink/list.h"
#include "temp_dir.h"
#include "vod/reader.h"

#define FRAME_MS 20
enum { FRAMES = 10, LIMIT = 1 << 20 };

/* A key frame, others, an audio frame with each: 200 ms. */
static void write_file(const char *name, unsigned frames)
{
    char path[64];
    struct wr w;
    FILE *f;

    flv_begin(&w, LIMIT);
    flv_configs(&w);
    for (unsigned i = 0; i < frames; i++) {
        if (i % 5 == 0)
            flv_key(&w, i * FRAME_MS, 0);
        else
            flv_inter(&w, i * FRAME_MS, 40 + i);
        flv_audio(&w, i * FRAME_MS);
    }
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(w.buf, 1, w.len, f), w.len);
    assert_int_equal(fclose(f), 0);
    wr_free(&w);
}

/* ---- a minimal server */

static struct session_env *env;
static struct sink_list *list;
static struct sink *files;
static const struct env_published *published;

static const char *conf_of(const char *file, const char *stream)
{
    static char text[512];

    (void)snprintf(text, sizeof(text),
                   "listen 1935; vhost __defaultVhost__ { ingest i { enabled %s; input { url %s/%s; }"
                   " engine { output rtmp://127.0.0.1:[port]/live/%s; } } }",
                   file ? "on" : "off", dir, file ? file : "", stream);
    return text;
}

static void begin(const char *conf)
{
    static const struct sink_ops *const rows[] = { &ingests_sink };

    env = env_new(conf);
    published = env_published(env);
    env->vod = vod_new(env->streams, env->conf, 1);
    list = sink_list_new(rows, COUNT(rows), &(struct sink_setup){ .env = env });
    files = sink_list_find(list, &ingests_sink);
}

static void end(void)
{
    sink_list_interrupt(list);
    sink_list_stop(list);
    sink_list_free(list);
    vod_free(env->vod);
    env_free(&env);
}

static void reload(const char *conf)
{
    env_reload(env, conf);
    sink_list_reload(list);
}

static bool in_state(enum job_state state)
{
    const struct ingest_run *r = ingests_next(files, NULL);
    struct job_info info = { 0 };

    if (r)
        ingests_info(r, &info);
    return r && info.state == state && !ingests_next(files, r);
}

static uint64_t packets(void)
{
    struct live_source_stat stat = { 0 };

    if (published->src)
        live_source_stat(published->src, &stat);
    return stat.in_packets;
}

#define WAIT_FOR(what) do {                              \
        for (int i_ = 0; i_ < 1000 && !(what); i_++)     \
            assert_ok(co_sleep(CO_MS(5)));               \
        assert_true(what);                               \
    } while (0)

/* ---- the reader */

static void all_of_a_file(void **state)
{
    struct vod_reader *r;
    struct vod_file *f;
    struct av_packet *pkt;
    unsigned configs = 0, n = 0;
    char path[64];

    (void)state;
    write_file("a.flv", FRAMES);
    begin(conf_of(NULL, "s"));
    (void)snprintf(path, sizeof(path), "%s/a.flv", dir);
    assert_ok(vod_file_open_path(&f, env->vod, path));
    r = vod_reader_new(f);
    (void)vod_file_unref(f);
    for (;;) {
        assert_ok(vod_reader_next(r, &pkt));
        if (!pkt)
            break;
        assert_int_equal(pkt->origin, pkt->kind == AV_VIDEO ? FLV_VIDEO
                                      : pkt->kind == AV_AUDIO ? FLV_AUDIO : FLV_DATA);
        if (pkt->config) {
            assert_int_equal(n, 0);
            configs++;
        } else {
            assert_int_equal(pkt->dts, AV_MS(n / 2 * FRAME_MS));
            assert_int_equal(pkt->key, n % 10 == 0);
            n++;
        }
        (void)av_packet_unref(pkt);
    }
    assert_int_equal(configs, 3); /* with the metadata */
    assert_int_equal(n, 2 * FRAMES);
    vod_reader_free(r);
    assert_err(vod_file_open_path(&f, env->vod, "no/such.flv"), ERR_NO_FILE);
    end();
}

/* ---- ingests */

static void again_and_again(void **state)
{
    enum { ROUND = 2 * FRAMES, HEAD = 3 }; /* packets; the expected log line */
    co_usec at;

    (void)state;
    write_file("a.flv", FRAMES);
    begin(conf_of("a.flv", "s"));
    at = co_clock();
    sink_list_start(list);
    WAIT_FOR(packets() > HEAD + 2 * ROUND);
    at = co_clock() - at;
    assert_true(at >= CO_MS(2 * FRAMES * FRAME_MS - 50)); /* as fast as it plays */
    assert_int_equal(published->begun, 1);
    assert_true(in_state(JOB_RUNS));
    assert_string_equal(live_source_name(published->src), "__defaultVhost__/live/s");
    end();
}

static void what_a_reload_changes(void **state)
{
    (void)state;
    write_file("a.flv", FRAMES);
    write_file("b.flv", FRAMES);
    begin(conf_of("a.flv", "s"));
    sink_list_start(list);
    WAIT_FOR(packets() > 0);
    reload(conf_of("a.flv", "s"));
    assert_ok(co_sleep(CO_MS(20)));
    assert_int_equal(published->begun, 1);
    reload(conf_of("b.flv", "s")); /* the same stream: one after the other */
    WAIT_FOR(published->begun == 2 && packets() > 0);
    assert_true(in_state(JOB_RUNS));
    reload(conf_of("b.flv", "t"));
    WAIT_FOR(published->begun == 3 && packets() > 0);
    assert_string_equal(live_source_name(published->src), "__defaultVhost__/live/t");
    reload(conf_of(NULL, "t"));
    WAIT_FOR(!ingests_next(files, NULL));
    assert_int_equal(published->ended, 3);
    end();
}

static void a_file_that_is_not_there(void **state)
{
    struct job_info info;

    (void)state;
    begin(conf_of("a.flv", "s"));
    sink_list_start(list);
    WAIT_FOR(in_state(JOB_WAITS));
    ingests_info(ingests_next(files, NULL), &info);
    assert_int_equal(info.kind, JOB_INGEST);
    assert_int_equal(info.pid, 0);
    assert_int_equal(info.starts, 1);
    assert_true(info.next > co_clock());
    assert_non_null(strstr(info.ended, "a.flv"));
    assert_int_equal(published->begun, 0);
    reload(conf_of(NULL, "s")); /* a waiting one ends at once */
    WAIT_FOR(!ingests_next(files, NULL));
    end();
}

/* It is truncated during playback: the part that was read plays, then it is reported. */
static void a_file_that_goes(void **state)
{
    char path[64];

    (void)state;
    write_file("a.flv", FRAMES);
    (void)snprintf(path, sizeof(path), "%s/a.flv", dir);
    begin(conf_of("a.flv", "s"));
    sink_list_start(list);
    WAIT_FOR(packets() > 0);
    assert_int_equal(unlink(path), 0);
    WAIT_FOR(in_state(JOB_WAITS));
    assert_int_equal(published->ended, 1);
    end();
}

static int start(void **state)
{
    (void)state;
    return err_code(co_init()) ? 1 : 0;
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, dir_make, dir_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(all_of_a_file), IN_DIR(again_and_again), IN_DIR(what_a_reload_changes),
        IN_DIR(a_file_that_is_not_there), IN_DIR(a_file_that_goes),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
