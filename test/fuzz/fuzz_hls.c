/* SPDX-License-Identifier: MIT */
/* fuzz_hls.c - untrusted input of HLS and DASH.
 *
 * The first byte selects the test. Even: the rest is a journal that an earlier process left on disk
 * (bit 1: for DASH), or a playlist without a journal, which is not read. Odd: the rest is what a
 * client sends to a server with low-latency HLS, and the first byte is the size of its pieces.
 */
#include "base/must.h"
#include "fuzz.h"
#include "io_mem.h"
#include "serve/hls/http.h"
#include "serve/hls/session.h"
#include "serve/http/http.h"
#include "serve/http/mux.h"
#include "serve/http/static.h"
#include "session/clients.h"
#include "sink/hls/stream.h"

#include <assert.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 8 }; /* files that the journal may name and that exist */

static const struct disk_limits limits = { .lane_bytes = 16 << 20, .all_bytes = 16 << 20,
                                           .threads = 1, .what = "HLS" };
static char dir[] = "/tmp/fuzz_hls.XXXXXX";
static struct session_env env;
static struct http_service service;
static struct disk *disk;
static struct hls *hls;
static struct hls_stream *playing;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static void clean_up(void)
{
    (void)nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static struct hls_stream *stream(const char *name, bool dash)
{
    const struct session_stream names = { .vhost = "__defaultVhost__", .app = "live", .name = name };
    const struct conf_vhost *vhost = conf_vhost_find(env.conf, names.vhost);
    struct hls_stream *s = hls_stream_new(hls, &names, env.conf, vhost,
                                          &hls_formats[dash ? HLS_FORMAT_DASH : HLS_FORMAT_HLS], 0);

    assert(s);
    return s;
}

static void write_file(const char *path, const void *data, size_t size)
{
    struct disk_job job = { 0 };

    (void)disk_write_file(&job, path, data, size);
}

/* Starts a stream with enough segments for delta updates of its playlist. */
static void begin_playing(void)
{
    struct hls_shared *init;

    playing = stream("s", false);
    hls->streams = playing;
    init = hls_shared_at(&playing->store, must_print("%s/live/i.mp4", dir), false);
    for (uint64_t i = 0; i < 20; i++) {
        struct hls_segment *seg = must(calloc(1, sizeof(*seg)));

        seg->seq = 5 + i;
        seg->duration = AV_MS(1000);
        seg->on_disk = true;
        seg->path = must_print("%s/live/s-%d.m4s", dir, (int)i);
        seg->uri = hls_uri(&playing->info, seg->path);
        seg->init = hls_shared_ref(init);
        hls_push(&playing->list.q, seg);
    }
    hls_shared_unref(&playing->store, init);
    playing->mux.next_seq = 25;
    playing->mux.segmenter.target = 1;
    playing->mux.segmenter.part_target = AV_MS(200);
    hls_list_publish(&playing->list);
    assert(hls_m3u8_update(&playing->list));
}

static void begin(void)
{
    char *conf = NULL;

    assert(mkdtemp(dir));
    (void)atexit(clean_up);
    assert(asprintf(&conf, "listen 1935; limits { hls_sessions 20; } "
                    "http_server { enabled on; dir %s; } vhost __defaultVhost__ { "
                    "hls { enabled on; hls_path %s; hls_ll on; } "
                    "dash { enabled on; dash_path %s; } }", dir, dir, dir) > 0);
    fuzz_serve(&env, conf);
    free(conf);
    env.clients = clients_new(env.streams, "us");
    disk = disk_new(&limits);
    hls = hls_of(sink_new(&hls_sink, &(struct sink_setup){ .env = &env, .segments = disk }));
    hls_sessions_begin(hls);
    service = (struct http_service){ .env = &env, .mux = http_mux_new() };
    hls_http_mount(hls, service.mux);
    http_static_mount(service.mux);
    begin_playing();
}

/* ------------------------------------------------------------ playlists */

/* No path leaves the folder: the files will be removed. */
static void check_path(const char *path)
{
    assert(!path || (strncmp(path, dir, strlen(dir)) == 0 && !strstr(path, "..")));
}

static void check_segments(const struct hls_segments *q)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct hls_segment *seg = q->v[i];

        assert(seg->path && seg->uri);
        check_path(seg->path);
        check_path(seg->init ? seg->init->path : NULL);
        check_path(seg->key ? seg->key->path : NULL);
    }
}

static void check_list(struct hls_stream *s)
{
    struct m3u8_reader r;
    struct wr w;
    size_t n = 0;
    err_t err;

    wr_init(&w, 16 << 20);
    hls_m3u8_text(&s->list, &w, true);
    err = m3u8_open(&r, (const char *)w.buf, w.len);
    assert(!err && !w.bad);
    for (enum m3u8_item item; (item = m3u8_item(&r)) != M3U8_END;)
        n += item == M3U8_SEGMENT;
    assert(n <= s->list.q.n);
    wr_free(&w);
}

/* Creates some of the files that the journal names. */
static void write_files(const uint8_t *data, size_t size)
{
    struct journal j;
    size_t n = journal_read(&j, (const char *)data, size) ? j.n : 0;

    for (size_t i = 0; i < n && i < FILES; i++) {
        char *path = must_print("%s/%s", dir, j.v[i].path);

        write_file(path, "", 0);
        free(path);
    }
    journal_free(&j);
}

static void recover(bool dash, const uint8_t *data, size_t size)
{
    static const char word[] = "hls-journal";
    struct hls_stream *s = stream("recovered", dash);
    bool journal = size >= strlen(word) && memcmp(data, word, strlen(word)) == 0;

    write_file(journal ? s->store.record.path : s->info.m3u8_path, data, size);
    if (journal)
        write_files(data, size);
    hls_recover(s);
    check_segments(&s->list.q);
    check_segments(&s->list.expired);
    if (!dash)
        check_list(s);
    hls_list_publish(&s->list);
    hls_list_write(&s->list);
    (void)hls_info_ref(&s->info);
    hls_stream_dispose(s, true);
    while (s->store.lane.jobs > 0)
        co_yield();
    hls_info_unref(&s->info);
}

/* ------------------------------------------------------------ requests */

static err_t talk(void *arg)
{
    return http_session_run(&service, arg, "127.0.0.1");
}

static void ask(const uint8_t *data, size_t size)
{
    struct co_group g;
    struct io_mem m;
    err_t err;

    io_mem_init(&m, data + 1, size - 1);
    m.piece = data[0];
    m.out_cap = 4 << 20;
    co_group_init(&g);
    err = co_go(&g, "client", talk, &m.io);
    assert(!err);
    while (g.count > 0 && !playing->list.waiters) /* a wait for a segment that never comes would
                                                   * take long */
        co_yield();
    err = co_group_stop(&g);
    err_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!hls)
        begin();
    if (size == 0)
        return 0;
    if (data[0] & 1)
        ask(data, size);
    else
        recover(data[0] & 2, data + 1, size - 1);
    assert(err_live() == 0 && av_packet_live() == 0 && !playing->list.waiters);
    return 0;
}
