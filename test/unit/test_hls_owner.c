/* SPDX-License-Identifier: MIT */
/* test_hls_owner.c - HLS and DASH of two workers: which one owns a file or a session, and where requests that
 * reach the other one go. Two sets of objects stand for the workers, on one thread, except for the table,
 * which two threads use at once. */
#include "base/must.h"
#include "env.h"
#include "io_mem.h"
#include "serve/hls/http.h"
#include "serve/hls/session.h"
#include "serve/http/http.h"
#include "serve/http/mux.h"
#include "serve/http/static.h"
#include "session/clients.h"
#include "session/stream_owners.h"
#include "sink/hls/store/owner.h"
#include "sink/hls/stream.h"
#include "temp_dir.h"

#include <pthread.h>
#include <sys/stat.h>

/* The parts of a worker that HLS uses. */
struct side {
    struct session_env *env;
    struct disk *disk;
    struct hls *hls;
    struct http_service service;
};

static struct workers workers;
static struct side side[2];
static struct co_group mails; /* reads for both */

/* ------------------------------------------------------------ the table */

enum { NAMES = 200, ROUNDS = 300 };

static struct session_env *server_of(const char *conf, unsigned worker)
{
    struct session_env *env = env_new(conf);

    env->workers = &workers;
    env->worker = worker;
    return env;
}

static void the_last_one_has_it(void **state)
{
    struct session_env *alone = env_new("listen 1935;");
    struct session_env *a = server_of("listen 1935;", 0), *b = server_of("listen 1935;", 1);

    (void)state;
    assert_int_equal(hls_owner_of(a, "x"), HLS_NO_OWNER);
    hls_owner_set(a, "x");
    hls_owner_set(a, "x");
    assert_int_equal(hls_owner_of(a, "x"), 0);
    assert_int_equal(hls_owner_of(b, "x"), 0);
    assert_int_equal(hls_owner_of(b, "?x"), HLS_NO_OWNER);
    hls_owner_clear(b, "x"); /* which is not its own */
    assert_int_equal(hls_owner_of(b, "x"), 0);
    hls_owner_set(b, "x");
    hls_owner_clear(a, "x"); /* any more */
    assert_int_equal(hls_owner_of(a, "x"), 1);
    hls_owner_clear(b, "x");
    assert_int_equal(hls_owner_of(a, "x"), HLS_NO_OWNER);
    hls_owner_set(alone, "x"); /* with one worker the table is empty */
    assert_int_equal(hls_owner_of(a, "x"), HLS_NO_OWNER);
    env_free(&a);
    env_free(&b);
    env_free(&alone);
}

/* Own names, and some that both have. Returns an error text. */
static void *use_table(void *arg)
{
    const struct session_env *env = arg;
    uintptr_t wrong = 0;
    char name[32];

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < NAMES; i++) {
            (void)snprintf(name, sizeof(name), "%u/s-%d.ts", i % 4 ? env->worker : 9, i);
            hls_owner_set(env, name);
            wrong += i % 4 && hls_owner_of(env, name) != (int)env->worker;
        }
        for (int i = 0; i < NAMES; i++) {
            (void)snprintf(name, sizeof(name), "%u/s-%d.ts", i % 4 ? env->worker : 9, i);
            hls_owner_clear(env, name);
            wrong += i % 4 && hls_owner_of(env, name) != HLS_NO_OWNER;
        }
    }
    return (void *)wrong;
}

static void two_threads_use_it(void **state)
{
    struct session_env *a = server_of("listen 1935;", 0), *b = server_of("listen 1935;", 1);
    pthread_t thread;
    void *wrong;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, use_table, b), 0);
    assert_null(use_table(a));
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    for (int i = 0; i < NAMES; i += 4) {
        char name[32];

        (void)snprintf(name, sizeof(name), "9/s-%d.ts", i);
        assert_int_equal(hls_owner_of(a, name), HLS_NO_OWNER);
    }
    env_free(&a);
    env_free(&b);
}

/* ------------------------------------------------------------ two workers */

static void open_side(struct side *s, unsigned worker, const char *conf)
{
    static const struct disk_limits limits = { .lane_bytes = 1 << 20, .all_bytes = 1 << 20 };

    *s = (struct side){ .env = server_of(conf, worker) };
    s->disk = disk_new(&limits);
    s->hls = hls_of(sink_new(&hls_sink, &(struct sink_setup){ .env = s->env,
                                                              .segments = s->disk }));
    hls_sessions_begin(s->hls);
    s->service = (struct http_service){ .env = s->env, .mux = http_mux_new() };
    hls_http_mount(s->hls, s->service.mux);
    http_static_mount(s->service.mux);
    workers.v[worker].env = s->env;
    co_group_init(&workers.v[worker].calls);
    assert_ok(co_mailbox_open(&workers.v[worker].mail));
    assert_ok(co_go(&mails, "mail", co_mailbox_run, &workers.v[worker].mail));
}

static void close_side(struct side *s)
{
    sink_stop(&s->hls->sink);
    disk_free(s->disk, CO_SECONDS(5));
    hls_sessions_free(s->hls);
    sink_free(&s->hls->sink);
    http_mux_free(s->service.mux);
    env_free(&s->env);
}

/* "open" lets all play; "asked" does not, so its files need sessions. They share a folder. */
static int begin(void **state)
{
    char *text;

    if (dir_make(state) != 0)
        return 1;
    text = must_print("listen 1935; http_server { enabled on; dir %s; } vhost __defaultVhost__ { "
                      "hls { enabled on; hls_path %s; hls_ll on; } dash { enabled on; dash_path %s; "
                      "} } vhost asked { security { enabled on; allow play all; } hls { enabled on; "
                      "hls_path %s; hls_m3u8_file a/[app]/[stream].m3u8; "
                      "hls_ts_file a/[app]/[stream]-[seq].ts; } dash { enabled on; dash_path %s; "
                      "dash_mpd_file a/[app]/[stream].mpd; } }", dir, dir, dir, dir, dir);
    co_group_init(&mails);
    workers.n = 2;
    workers.stream_owners = stream_owners_new();
    open_side(&side[0], 0, text);
    open_side(&side[1], 1, text);
    free(text);
    return 0;
}

static int end(void **state)
{
    close_side(&side[0]);
    close_side(&side[1]);
    assert_err(co_group_stop(&mails), ERR_STOPPED);
    for (int i = 0; i < 2; i++) {
        assert_ok(co_group_stop(&workers.v[i].calls));
        co_mailbox_close(&workers.v[i].mail);
    }
    stream_owners_free(workers.stream_owners); /* no worker owns any: it searches */
    return dir_remove(state);
}

static struct session_stream names_of(const char *vhost, const char *name)
{
    return (struct session_stream){ .vhost = vhost, .app = "live", .name = name, .param = "",
                                    .tc_url = "", .page_url = "", .ip = "" };
}

/* One segment is in memory, one only on disk. */
static struct hls_stream *publish(struct side *s, const char *vhost, const char *name)
{
    const struct session_stream names = names_of(vhost, name);
    struct hls_stream *made = hls_stream_new(s->hls, &names, s->env->conf,
                                             conf_vhost_find(s->env->conf, vhost),
                                             &hls_formats[HLS_FORMAT_HLS], 0);

    assert_non_null(made);
    made->next = s->hls->streams;
    s->hls->streams = made;
    made->mux.segmenter.target = 1;
    for (uint64_t i = 0; i < 2; i++) {
        struct hls_segment *seg = must(calloc(1, sizeof(*seg)));

        seg->seq = i;
        seg->duration = AV_MS(1000);
        seg->on_disk = true;
        seg->path = must_print("%.*s-%d.ts", (int)strlen(made->info.m3u8_path) - 5, made->info.m3u8_path,
                               (int)i);
        seg->uri = hls_uri(&made->info, seg->path);
        if (i == 1) {
            wr_bytes(&made->mux.out.w, "media", 5);
            hls_segment_fill(&made->store, seg, &made->mux.out);
        }
        hls_push(&made->list.q, seg);
    }
    made->mux.next_seq = 2;
    hls_part_hint(&made->mux, 2, 0);
    hls_list_publish(&made->list);
    return made;
}

static char *below(const char *path)
{
    return must_print("%s/%s", dir, path);
}

static int where(const struct side *s, const char *path)
{
    char *whole = below(path);
    int worker = hls_names_owner(s->hls, whole);

    free(whole);
    return worker;
}

static int stream_owner_of(const char *path)
{
    struct stream_owner *owner = stream_owners_hold(&workers, path, 1);
    int worker = (int)stream_owner_worker(owner);

    stream_owners_release(&workers, owner);
    return worker;
}

static void files_are_where_their_stream_is(void **state)
{
    struct hls_stream *s;

    (void)state;
    assert_int_equal(stream_owner_of("__defaultVhost__/live/s"), 1); /* requested on either worker */
    s = publish(&side[0], "__defaultVhost__", "s");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(where(&side[i], "live/s.m3u8"), 0);
        assert_int_equal(where(&side[i], "live/.//./s.m3u8"), 0);
        assert_int_equal(where(&side[i], "live/s-1.ts"), 0);
        assert_int_equal(where(&side[i], "live/s-2.0.m4s"), 0); /* a hint */
        assert_int_equal(where(&side[i], "live/s-0.ts"), HLS_NO_OWNER);
    }
    hls_segment_forget(&s->store, s->list.q.v[1]);
    assert_int_equal(where(&side[1], "live/s-1.ts"), HLS_NO_OWNER);
    assert_int_equal(stream_owner_of("__defaultVhost__/live/s"), 0); /* its publisher comes back here */
    hls_stream_dispose(s, false);
    assert_int_equal(where(&side[1], "live/s.m3u8"), HLS_NO_OWNER);
    assert_int_equal(where(&side[1], "live/s-2.0.m4s"), HLS_NO_OWNER);
    assert_int_equal(stream_owner_of("__defaultVhost__/live/s"), 1);
}

/* Different bytes have different entity tags, even from another worker in the same millisecond. */
static void entity_tags_differ(void **state)
{
    struct hls_file *a, *b;
    struct wr w;

    (void)state;
    wr_init(&w, 8);
    for (int i = 0; i < 1000; i++) {
        a = hls_file_new(side[0].hls, &w, "");
        b = hls_file_new(side[1].hls, &w, "");
        assert_true(a->etag != b->etag);
        (void)hls_file_unref(a);
        (void)hls_file_unref(b);
    }
}

/* ------------------------------------------------------------ requests */

enum { HERE = -1 }; /* answered by the worker that got it */

static char said[4096]; /* the whole of the last response */

struct answer {
    int status, move_to;
};

/* `moved`: another worker sent it here. */
static struct answer ask(struct side *s, const char *target, bool moved)
{
    char *in = must_print("GET %s HTTP/1.1\r\nHost: h\r\nUser-Agent: u\r\n\r\n", target);
    const struct http_limits limits = {
        .max_line = 4096, .max_head = 8192, .max_fields = 9, .idle_time = CO_SECONDS(9),
        .head_time = CO_SECONDS(9), .body_time = CO_SECONDS(9),
    };
    struct answer made = { 0 };
    struct http_response r;
    struct http_reader reader;
    struct http_request *req;
    struct io_mem m;

    io_mem_init(&m, in, strlen(in));
    m.out = (uint8_t *)said;
    m.out_cap = sizeof(said) - 1;
    http_reader_init(&reader, &m.io, &limits);
    assert_ok(http_reader_next(&reader, &req));
    http_response_init(&r, &m.io, req, "us", "now");
    struct http_exchange x = {
        .env = s->env, .req = req, .resp = &r, .reader = &reader, .io = &m.io,
        .conf = s->env->conf, .vhost = conf_vhost_find(s->env->conf, "h"), .ip = "1.2.3.4",
        .peer = "1.2.3.4", .ports = HTTP_PORT_SERVER, .moved = moved, .move_to = HERE,
    };
    assert_ok(http_mux_serve(s->service.mux, &x));
    said[m.out_size] = '\0';
    made.status = r.status;
    made.move_to = x.move_to;
    assert_true((x.move_to == HERE) == (r.status != 0)); /* either, and nothing was sent yet */
    http_response_fini(&r);
    http_reader_fini(&reader);
    free(in);
    return made;
}

static const struct {
    const char *target;
    int move_to, status;
} plain[] = {
    { "/live/s.m3u8", 0, 0 },
    { "/live/s.m3u8?_HLS_msn=1", 0, 0 },
    { "/live/./s.m3u8", 0, 0 },
    { "/live/s-1.ts", 0, 0 },      /* in memory */
    { "/live/s-0.ts", HERE, 404 }, /* on disk, if anywhere */
    { "/live/s-0.ts?hls_ctx=nobody00", HERE, 404 },
    { "/live/other.m3u8", HERE, 404 },
    { "/live/s.ts", HERE, 403 },    /* as if it existed: a vhost with authorization may have it */
    { "/index.html", HERE, 404 },
};

static void requests_go_to_what_is_in_memory(void **state)
{
    struct answer a;

    (void)state;
    (void)publish(&side[0], "__defaultVhost__", "s");
    assert_int_equal(ask(&side[1], "/live/s-2.0.m4s", false).move_to, 0); /* it is announced */
    for (size_t i = 0; i < COUNT(plain); i++) {
        a = ask(&side[1], plain[i].target, false);
        if (a.move_to != plain[i].move_to || a.status != plain[i].status)
            fail_msg("%s: to %d, %d", plain[i].target, a.move_to, a.status);
        a = ask(&side[0], plain[i].target, true);
        if (a.move_to != HERE || a.status != (plain[i].status ? plain[i].status : 200))
            fail_msg("%s at home: to %d, %d", plain[i].target, a.move_to, a.status);
    }
}

/* The key in the master playlist. */
static void take_key(char key[HLS_SESSION_KEY + 1])
{
    const char *at = strstr(said, "hls_ctx=");

    assert_non_null(at);
    (void)snprintf(key, HLS_SESSION_KEY + 1, "%s", at + 8);
}

static void sessions_are_where_their_stream_is(void **state)
{
    char key[HLS_SESSION_KEY + 1], target[100];
    struct answer a;

    (void)state;
    (void)publish(&side[0], "__defaultVhost__", "s");
    a = ask(&side[0], "/live/s.m3u8", true);
    assert_int_equal(a.status, 200);
    take_key(key);
    assert_int_equal(hls_session_owner(side[1].env, key), 0);
    (void)snprintf(target, sizeof(target), "/live/s-0.ts?hls_ctx=%s", key); /* on disk alone */
    a = ask(&side[1], target, false);
    assert_int_equal(a.move_to, 0);
    a = ask(&side[0], target, true);
    assert_int_equal(a.status, 404); /* it is not */
    a = ask(&side[1], target, true); /* another owner by now: not forwarded again */
    assert_int_equal(a.status, 404);
    (void)snprintf(target, sizeof(target), "/live/s.m3u8?hls_ctx=%s", key);
    assert_int_equal(ask(&side[1], target, false).move_to, 0);
    assert_int_equal(ask(&side[0], target, true).status, 200);
    assert_int_equal(side[0].env->players, 1);
    assert_int_equal(side[1].env->players, 0);
}

#define FORGOTTEN "forgotten0123456789abcdefghijklm"

/* A key of an earlier session at another worker is not given to another client. */
static void ids_are_of_the_process(void **state)
{
    char key[HLS_SESSION_KEY + 1], target[100];
    struct answer a;

    (void)state;
    (void)publish(&side[0], "__defaultVhost__", "s");
    (void)publish(&side[1], "__defaultVhost__", "t");
    a = ask(&side[0], "/live/s.m3u8", false);
    take_key(key);
    (void)snprintf(target, sizeof(target), "/live/t.m3u8?hls_ctx=%s", key);
    a = ask(&side[1], target, false);
    assert_int_equal(a.status, 200);
    assert_null(strstr(said, key)); /* it got its own */
    assert_int_equal(hls_session_owner(side[1].env, key), 0);
    a = ask(&side[1], "/live/t.m3u8?hls_ctx=" FORGOTTEN, false);
    assert_non_null(strstr(said, "hls_ctx=" FORGOTTEN)); /* that one is free */
    assert_int_equal(hls_session_owner(side[0].env, FORGOTTEN), 1);
}

static void write_file(const char *path, const char *text)
{
    char *whole = below(path);
    struct disk_job job = { 0 };

    assert_true(disk_write_file(&job, whole, text, strlen(text)));
    free(whole);
}

static const char old_list[] = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n"
                               "#EXTINF:1.000,\nold-0.ts\n#EXT-X-ENDLIST\n";

/* Only on disk, of a vhost with authorization: one worker has its players, the owner if there is one. */
static void old_lists_have_one_worker(void **state)
{
    struct stream_owner *owner;
    struct answer a;
    char key[HLS_SESSION_KEY + 1], target[100];
    int to;

    (void)state;
    write_file("a/live/old.m3u8", old_list);
    write_file("a/live/old-0.ts", "media");
    a = ask(&side[0], "/a/live/old.m3u8", false);
    to = a.move_to == HERE ? 0 : a.move_to;
    assert_int_equal(ask(&side[!to], "/a/live/old.m3u8", false).move_to, to);
    a = ask(&side[to], "/a/live/old.m3u8", true);
    assert_int_equal(a.status, 200);
    take_key(key);
    (void)snprintf(target, sizeof(target), "/a/live/old-0.ts?hls_ctx=%s", key);
    assert_int_equal(ask(&side[!to], target, false).move_to, to);
    assert_int_equal(ask(&side[to], target, true).status, 200);
    assert_int_equal(ask(&side[!to], "/a/live/old-0.ts", false).status, 403);
    owner = stream_owners_hold(&workers, "asked/live/new", 1);
    write_file("a/live/new.m3u8", old_list);
    assert_int_equal(ask(&side[0], "/a/live/new.m3u8", false).move_to, 1);
    assert_int_equal(ask(&side[1], "/a/live/new.m3u8", false).move_to, HERE);
    stream_owners_release(&workers, owner);
}

/* On any worker, a client without a session gets nothing that needs one. */
static void another_worker_admits_no_client(void **state)
{
    (void)state;
    (void)publish(&side[0], "asked", "s");
    write_file("a/live/s-0.ts", "media");
    assert_int_equal(ask(&side[1], "/a/live/s-0.ts", false).status, 403);
    assert_int_equal(ask(&side[0], "/a/live/s-0.ts", false).status, 403);
    assert_int_equal(ask(&side[1], "/a/live/s-1.ts", false).move_to, 0);
    assert_int_equal(ask(&side[0], "/a/live/s-1.ts", true).status, 403);
    assert_int_equal(ask(&side[1], "/a/live/s-1.ts", true).status, 403);
    assert_int_equal(ask(&side[1], "/a/live/s.m3u8", false).move_to, 0);
}

static int start(void **state)
{
    (void)state;
    return err_code(co_init()) ? 1 : 0;
}

#define BOTH(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_last_one_has_it), TEST(two_threads_use_it),
        BOTH(files_are_where_their_stream_is), BOTH(entity_tags_differ),
        BOTH(requests_go_to_what_is_in_memory), BOTH(sessions_are_where_their_stream_is),
        BOTH(ids_are_of_the_process), BOTH(old_lists_have_one_worker),
        BOTH(another_worker_admits_no_client),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
