/* SPDX-License-Identifier: MIT */
/* stream.c - the life of a stream's HLS or DASH: longer than that of its publisher. */
#include "sink/hls/stream.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "session/homes.h"
#include "session/workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CROWD = 8 };

#define AUDIO_SPAN AV_MS(100)
/* After this time a stream that is on disk leaves memory; a publisher that returns continues it. */
#define FORGET CO_SECONDS(20)
#define AGAIN CO_SECONDS(1) /* to write what could not be written */
#define GIVE_UP CO_SECONDS(5) /* to write it, where memory is short */

struct hls_stream *hls_stream_find(struct hls *h, const struct session_stream *names,
                                   const struct hls_kind *kind)
{
    struct hls_stream *s = h->streams;

    while (s && (s->kind != kind ||
                 strcmp(s->key->name, names->name) != 0 || strcmp(s->key->app, names->app) != 0 ||
                 strcmp(s->key->vhost, names->vhost) != 0))
        s = s->next;
    return s;
}

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

bool hls_stream_differs(const struct hls_stream *s, const struct conf_hls *set)
{
    const struct conf_hls *old = &s->set;

    return s->container != s->kind->container(set) || old->ll != set->ll ||
           old->part != set->part ||
           !same(old->path, set->path) || !same(old->m3u8_file, set->m3u8_file) ||
           !same(old->ts_file, set->ts_file) || !same(old->fmp4_file, set->fmp4_file) ||
           !same(old->init_file, set->init_file) || !same(old->entry_prefix, set->entry_prefix) ||
           old->keys != set->keys || !same(old->key_file, set->key_file) ||
           !same(old->key_file_path, set->key_file_path) || !same(old->key_url, set->key_url);
}

static int64_t ticks(int64_t usec)
{
    return usec * 9 / 100;
}

void hls_stream_apply(struct hls_stream *s, struct conf *conf, const struct conf_vhost *vhost)
{
    struct conf *old = s->conf;

    s->conf = conf_ref(conf);
    s->dash = &vhost->dash;
    s->kind->settings(vhost, &s->set);
    s->container = s->kind->container(&s->set);
    (void)conf_unref(old);
    s->segmenter.rules = (struct segmenter_rules){
        .fragment = ticks(s->set.fragment), .audio_ratio = s->set.aof_ratio,
        .target_ratio = s->set.td_ratio, .wait_keyframe = s->set.wait_keyframe,
        .floor = s->set.ts_floor, .part = ticks(s->set.part), .periods = s->kind->periods,
        .parts = s->set.ll ? SEGMENTER_PARTS : s->container->parts,
    };
}

static void init_muxers(struct hls_stream *s)
{
    ts_mux_init(&s->ts);
    s->ts.audio_span = AUDIO_SPAN;
    mp4_frag_init(&s->mp4, HLS_SEGMENT_MAX * 2, &s->shop->blocks);
}

static void fini_muxers(struct hls_stream *s)
{
    ts_mux_fini(&s->ts);
    mp4_frag_fini(&s->mp4);
}

static void leave_home(struct hls_stream *s)
{
    if (s->home)
        homes_release(s->hls->env->workers, s->home);
    s->home = NULL;
}

static void free_stream(struct hls_stream *s)
{
    live_reader_close(&s->reader);
    live_keeper_close(&s->keeper);
    fini_muxers(s);
    disk_room_close(&s->disk.room);
    blocks_free(&s->out);
    (void)shop_unref(s->shop);
    EVP_CIPHER_CTX_free(s->crypt.cipher);
    (void)conf_unref(s->conf);
    free(s->list.v);
    free(s->expired.v);
    free(s->m3u8_path);
    free(s->hint);
    sink_notifier_fini(&s->notifier);
    hls_record_fini(s);
    (void)stream_key_unref(s->key);
    free(s->name);
    free(s);
}

struct hls_stream *hls_stream_new(struct hls *h, const struct session_stream *names,
                                  struct conf *conf, const struct conf_vhost *vhost,
                                  const struct hls_kind *kind,
                                  uint64_t next_seq)
{
    struct hls_stream *s = must(calloc(1, sizeof(*s)));
    char path[HLS_NAME_MAX];
    err_t err;

    ref_init(&s->ref);
    s->free = free_stream;
    s->hls = h;
    hls_clock_begin(&s->clock);
    s->key = session_stream_key(names);
    if (h->env->workers)
        s->home = homes_hold(h->env->workers, s->key->path, h->env->worker);
    s->kind = kind;
    hls_stream_apply(s, conf, vhost);
    s->shop = shop_ref(h->shop);
    blocks_init(&s->out, HLS_SEGMENT_MAX * 2, &s->shop->blocks);
    disk_lane_init(&s->disk.lane, h->disk);
    disk_room_open(&s->disk.room, h->disk, s->set.path);
    init_muxers(s);
    s->ll = s->set.ll;
    s->ready = !s->set.recover;
    s->next_seq = next_seq;
    err = hls_name(s, s->set.path, s->set.m3u8_file, 0, 0, path, sizeof(path));
    if (err) {
        log_end("HLS, DASH: no playlist can have this name", &err);
        leave_home(s);
        hls_stream_unref(s);
        return NULL;
    }
    s->m3u8_path = must_dup(path);
    hls_record_init(s);
    hls_limit_memory(s);
    return s;
}

/* Give up all that the registry has of it; jobs that are under way keep the rest. */
static void leave(struct hls_stream *s)
{
    struct hls_stream **at = &s->hls->streams;

    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
    co_timer_cancel(&s->dispose);
    co_timer_cancel(&s->again);
    s->left = true;
    leave_home(s);
    hls_wake(s);
    if (s->hint)
        hls_names_drop(s->hls, s->hint, NULL);
    if (s->playlist)
        hls_names_drop(s->hls, s->m3u8_path, s->playlist);
    s->playlist = hls_file_unref(s->playlist);
    s->update = hls_file_unref(s->update);
}

/* The list of before, that was there to be written over. */
static void remove_other(struct hls_stream *s)
{
    char path[HLS_NAME_MAX + 8];

    (void)snprintf(path, sizeof(path), "%s.tmp", s->m3u8_path);
    hls_disk_remove(s, path);
}

void hls_stream_dispose(struct hls_stream *s, bool remove)
{
    leave(s);
    s->disposing = remove;
    s->keep_files = !remove;
    hls_list_clear(s);
    hls_disk_remove(s, s->m3u8_path);
    remove_other(s);
    hls_shared_unref(s, s->init);
    hls_shared_unref(s, s->last_init);
    hls_shared_unref(s, s->crypt.key);
    s->init = s->last_init = s->crypt.key = NULL;
    for (int k = 0; k < 2; k++) {
        hls_shared_unref(s, s->track_init[k]);
        s->track_init[k] = NULL;
    }
    hls_disk_remove(s, s->record.path);
    hls_stream_unref(s);
}

static void is_silent(struct co_timer *t)
{
    struct hls_stream *s = container_of(t, struct hls_stream, dispose);

    if (s->set.dispose > 0)
        log_trace("%s: its files are removed, nobody published for %lld s", s->name,
                  us_to_s(s->set.dispose));
    hls_stream_dispose(s, s->set.dispose > 0);
}

/* It leaves memory if all of it is on disk, else when its files are removed. */
static void forget(struct co_timer *t)
{
    struct hls_stream *s = container_of(t, struct hls_stream, dispose);
    co_usec until = s->ended_at + s->set.dispose;

    if (until <= co_now()) /* with hls_dispose 0 as well */
        is_silent(t);
    else if (hls_is_on_disk(s))
        hls_ended_add(s);
    else
        co_timer_set(t, until, is_silent);
}

/* Its turn came early: nobody misses it, or too many streams have ended. */
static void makes_room(struct co_timer *t)
{
    struct hls_stream *s = container_of(t, struct hls_stream, dispose);

    hls_stream_dispose(s, s->set.dispose > 0);
}

static void run(struct hls_stream *s)
{
    err_t err;

    if (s->running)
        return;
    err = co_go(&s->hls->group, "hls", hls_run, s);
    if (err) {
        log_end("HLS or DASH does not begin", &err);
        return;
    }
    (void)hls_stream_ref(s); /* its coroutine's, which runs once we yield */
    s->running = true;
}

/* The turn of the publisher that is next. */
static void start(struct hls_stream *s)
{
    struct hls_publication *p = s->next_publication;

    s->next_publication = p->next;
    sink_notifier_take(&s->notifier, &p->notifier);
    live_reader_move(&s->reader, &p->reader);
    free(p);
    co_timer_cancel(&s->dispose);
    co_timer_cancel(&s->again);
    fini_muxers(s);
    init_muxers(s);
    hls_shared_unref(s, s->init);
    s->init = NULL;
    if (!s->set.recover)
        hls_list_clear(s);
    s->began_at = co_now();
    s->live = true;
    s->begun = s->given_up = false;
    s->tracks = (struct frame_tracks){ 0 };
    s->dropped = 0;
    s->bad = 0;
    segmenter_restart(&s->segmenter, s->next_seq > 0);
    run(s);
}

void hls_stream_begin(struct hls_stream *s, const struct session_stream *names,
                      struct live_source *src)
{
    struct hls_publication **last = &s->next_publication, *p = must(calloc(1, sizeof(*p)));

    while (*last)
        last = &(*last)->next;
    *last = p;
    sink_notifier_set(&p->notifier, s->hls->env, names, src);
    live_reader_open(&p->reader, src);
    s->src = src;
    if (!s->live)
        start(s);
}

void hls_stream_end(struct hls_stream *s)
{
    struct hls_publication *p = s->next_publication;

    while (p && p->next)
        p = p->next;
    live_reader_end(p ? &p->reader : &s->reader);
    s->src = NULL;
    if (!s->running)
        hls_stream_finish_all(s);
}

static void last_segment(struct hls_stream *s)
{
    s->live = false;
    if (s->now)
        hls_segment_close(s, segmenter_end(&s->segmenter));
    else if (s->ll)
        hls_list_publish(s);
    if (s->disk.list_swapped)
        hls_disk_list(s);
    if (s->bad > 1)
        log_warn("%s: %u frames were left out", s->name, s->bad);
    live_reader_close(&s->reader);
}

static bool is_empty(const struct hls_stream *s)
{
    return s->ready && s->next_seq == 0 && s->list.n == 0 && s->expired.n == 0;
}

static bool is_waiting(const struct hls_stream *s)
{
    return s->dispose.prev && s->dispose.due > co_now();
}

/* Ended streams that wait for a publisher: their number and memory, and which one goes first. */
struct ended {
    unsigned n;
    size_t bytes;
    struct hls_stream *first, *heavy; /* heavy: the first of those that have something */
};

static struct ended count_ended(const struct hls *h)
{
    struct ended e = { 0 };

    for (struct hls_stream *s = h->streams; s; s = s->next) {
        if (!is_waiting(s))
            continue;
        e.n++;
        e.bytes += s->in_memory;
        if (!e.first || s->dispose.due < e.first->dispose.due)
            e.first = s;
        if (s->in_memory > 0 && (!e.heavy || s->dispose.due < e.heavy->dispose.due))
            e.heavy = s;
    }
    return e;
}

/* They are at most as many as there may be connections: whoever publishes under one name after the
 * other makes one each. What could not be written of all of them counts as that of one stream. */
static void bound_ended(struct hls *h)
{
    unsigned most = workers_share(h->env, h->env->conf->max_connections);
    size_t share = live_keeper_share(live_registry_memory(h->env->streams));
    struct ended e = count_ended(h);

    if (e.n > most)
        co_timer_set(&e.first->dispose, co_now(), makes_room);
    while (e.bytes > share && e.heavy) {
        size_t before = e.heavy->in_memory;

        hls_list_lose(e.heavy);
        if (e.heavy->list.n == 0)
            co_timer_set(&e.heavy->dispose, co_now(), makes_room);
        if (e.heavy->in_memory >= before)
            return; /* it is on its way to the disk */
        e = count_ended(h);
    }
}

/* More than an eighth of max_connections ended streams are in memory. */
static bool is_crowded(const struct hls *h)
{
    return count_ended(h).n > workers_share(h->env, h->env->conf->max_connections / CROWD);
}

static bool is_memory_short(const struct hls *h)
{
    const struct live_memory *m = live_registry_memory(h->env->streams);

    return m->limit > 0 && m->used > m->limit - m->limit / 8;
}

/* In a crowd an ended stream leaves memory unwritten if its list is empty, if it has no file on
 * disk, or if memory is short and the disk has been too slow for GIVE_UP. */
static bool is_given_up(const struct hls_stream *s)
{
    return (s->ready && s->list.n == 0) || !s->disk.begun ||
           (co_now() - s->ended_at > GIVE_UP && is_memory_short(s->hls));
}

static void write_again(struct co_timer *t)
{
    struct hls_stream *s = container_of(t, struct hls_stream, again);
    bool is_left = hls_disk_again(s) || s->disk.lane.jobs > 0;
    bool rests = hls_is_on_disk(s);

    if ((rests || is_given_up(s)) && is_crowded(s->hls)) {
        if (rests)
            hls_ended_add(s);
        else
            hls_stream_dispose(s, s->set.dispose > 0);
    } else if (is_left) {
        co_timer_set(t, co_now() + AGAIN, write_again);
    }
}

/* Its list is served for a while yet, if there is one. */
static void wait_for_publisher(struct hls_stream *s)
{
    co_usec lasts;

    if (is_empty(s)) {
        co_timer_set(&s->dispose, co_now(), makes_room);
        return;
    }
    s->ended_at = co_now();
    lasts = s->set.dispose > 0 && s->set.dispose < FORGET ? s->set.dispose : FORGET;
    co_timer_set(&s->dispose, co_now() + lasts, forget);
    co_timer_set(&s->again, co_now() + AGAIN, write_again);
    bound_ended(s->hls);
}

bool hls_stream_finish(struct hls_stream *s)
{
    if (!live_reader_ended(&s->reader) || !(live_reader_done(&s->reader) || s->given_up))
        return false;
    last_segment(s);
    if (s->next_publication)
        start(s);
    else if (!s->hls->stopping)
        wait_for_publisher(s);
    return true;
}

/* Those of a stream that reads its list yet, from a disk that may hang, are lost. */
void hls_stream_finish_all(struct hls_stream *s)
{
    while (s->live && live_reader_ended(&s->reader)) {
        hls_drain(s, true);
        s->given_up |= !s->ready;
        (void)hls_stream_finish(s);
    }
}
