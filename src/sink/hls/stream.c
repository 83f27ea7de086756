/* SPDX-License-Identifier: MIT */
/* stream.c - the life cycle of a stream's HLS or DASH, which outlives its publisher. */
#include "sink/hls/stream.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "session/stream_owners.h"
#include "session/workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CROWD = 8 };

/* After this time an ended stream that is on disk leaves memory; a publisher that returns continues
 * it. */
#define FORGET CO_SECONDS(20)
#define AGAIN CO_SECONDS(1)   /* interval of attempts to write what could not be written */
#define GIVE_UP CO_SECONDS(5) /* time for these attempts if memory is short */

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

struct hls_stream *hls_stream_find(struct hls *h, const struct session_stream *names,
                                   const struct hls_format *format)
{
    struct hls_stream *s = h->streams;

    while (s && (s->info.format != format || !same(s->info.key->name, names->name) ||
                 !same(s->info.key->app, names->app) || !same(s->info.key->vhost, names->vhost)))
        s = s->next;
    return s;
}

bool hls_stream_differs(const struct hls_stream *s, const struct conf_hls *set)
{
    const struct conf_hls *old = &s->info.set;

    return s->info.container != s->info.format->container(set) || old->ll != set->ll ||
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
    struct hls_info *info = &s->info;
    const struct conf_hls *set = &info->set;
    struct conf *old = info->conf;

    info->conf = conf_ref(conf);
    info->dash = &vhost->dash;
    info->format->settings(vhost, &info->set);
    info->container = info->format->container(set);
    (void)conf_unref(old);
    s->mux.segmenter.rules = (struct segmenter_rules){
        .fragment = ticks(set->fragment), .audio_ratio = set->aof_ratio,
        .target_ratio = set->td_ratio, .wait_keyframe = set->wait_keyframe,
        .floor = set->ts_floor, .part = ticks(set->part), .periods = info->format->periods,
        .parts = set->ll ? SEGMENTER_PARTS : info->container->parts,
    };
}

static void leave_owner(struct hls_stream *s)
{
    if (s->owner)
        stream_owners_release(s->info.hls->env->workers, s->owner);
    s->owner = NULL;
}

static void free_stream(struct hls_stream *s)
{
    live_reader_close(&s->reader);
    live_evictable_close(&s->keeper);
    hls_muxer_fini(&s->mux);
    hls_store_fini(&s->store);
    (void)block_cache_unref(s->info.cache);
    (void)conf_unref(s->info.conf);
    free(s->list.q.v);
    free(s->list.expired.v);
    free(s->info.m3u8_path);
    sink_notifier_fini(&s->notifier);
    (void)stream_key_unref(s->info.key);
    free(s->info.name);
    free(s);
}

/* ------------------------------------------------------------ events of its parts */

static void written(struct hls_stream *s, const struct hls_segment *seg)
{
    struct hls_info *info = &s->info;
    char *url, *m3u8_url;

    if (info->format->notifies) {
        url = hls_url(info, seg->path);
        m3u8_url = hls_url(info, info->m3u8_path);
        sink_notify(&s->notifier, info->hls->env, info->conf, HOOKS_HLS, (struct hooks_event){
            .file = seg->path, .url = url, .m3u8 = info->m3u8_path, .m3u8_url = m3u8_url,
            .duration = (double)seg->duration / AV_CLOCK, .seq_no = (int64_t)seg->seq });
        free(url);
        free(m3u8_url);
    }
    hls_list_write(&s->list);
}

static void list_written(struct hls_stream *s)
{
    hls_list_written(&s->list);
}

/* Applies hls_on_error. */
static void failed(struct hls_stream *s, const char *path, const char *why)
{
    const struct hls_info *info = &s->info;

    switch (info->set.on_error) {
    case CONF_HLS_DISCONNECT:
        if (!s->src)
            break;
        log_warn("HLS of %s/%s: disconnecting the publisher (hls_on_error disconnect)",
                 info->key->app, info->key->name);
        live_source_kick(s->src, err_new(ERR_STOPPED, "cannot write %s: %s", path, why));
        break;
    case CONF_HLS_IGNORE:
        if (!s->given_up)
            log_warn("HLS of %s/%s ends until it is published again (hls_on_error ignore)",
                     info->key->app, info->key->name);
        s->given_up = true;
        break;
    case CONF_HLS_CONTINUE:
        break;
    }
}

/* ------------------------------------------------------------ memory */

/* Its memory counts in that of streams: over `limits { memory }` the largest lose theirs. */
static struct hls_stream *stream_of(const struct live_evictable *k)
{
    return container_of(k, struct hls_stream, keeper);
}

static size_t growing(const struct hls_stream *s)
{
    return s->mux.now ? blocks_len(&s->mux.out) + mp4_frag_bytes(&s->mux.mp4) : 0;
}

/* Drops segments first, then the growing one. */
static size_t droppable(const struct live_evictable *k)
{
    const struct hls_stream *s = stream_of(k);
    size_t idle = hls_list_idle(&s->list);

    return idle > 0 ? idle : growing(s);
}

/* Drops the growing segment and continues at the next key frame. With parts, which players already
 * have, the segment ends early instead. */
static void lose_growing(struct hls_stream *s)
{
    if (s->info.set.ll) {
        hls_segment_close(&s->mux, segmenter_end(&s->mux.segmenter));
        return;
    }
    hls_segment_drop(&s->mux);
    mp4_frag_drop(&s->mux.mp4);
    mp4_frag_jump(&s->mux.mp4);
    ts_mux_drop(&s->mux.ts);
    s->mux.segmenter.discontinuity = true;
}

static void cut(struct live_evictable *k)
{
    struct hls_stream *s = stream_of(k);

    if (hls_list_idle(&s->list) > 0)
        hls_list_lose(&s->list);
    else if (s->mux.now)
        lose_growing(s);
}

/* ------------------------------------------------------------ life cycle */

static bool set_path(struct hls_info *info)
{
    const struct hls_numbers none = { .wall = co_wall_ms() };
    char path[HLS_NAME_MAX];
    err_t err = hls_name(info, info->set.path, info->set.m3u8_file, &none, path);

    if (!err) {
        info->m3u8_path = must_dup(path);
        return true;
    }
    log_end("HLS, DASH: no playlist can have this name", &err);
    return false;
}

struct hls_stream *hls_stream_new(struct hls *h, const struct session_stream *names,
                                  struct conf *conf, const struct conf_vhost *vhost,
                                  const struct hls_format *format, uint64_t next_seq)
{
    static const struct live_evictable_ops keeping = { droppable, cut };
    static const struct hls_events events = { written, list_written, failed, free_stream };
    struct hls_stream *s = must(calloc(1, sizeof(*s)));
    struct hls_info *info = &s->info;

    ref_init(&info->ref);
    info->stream = s;
    info->events = &events;
    info->hls = h;
    info->format = format;
    info->key = session_stream_key(names);
    info->name = must_print("%s of %s/%s", format->name, info->key->app, info->key->name);
    info->cache = block_cache_ref(h->cache);
    hls_clock_begin(&info->clock);
    hls_stream_apply(s, conf, vhost);
    s->list = (struct hls_list){ .info = info, .store = &s->store, .mux = &s->mux };
    s->mux.info = info;
    s->mux.store = &s->store;
    s->mux.list = &s->list;
    s->mux.next_seq = next_seq;
    s->ready = !info->set.recover;
    hls_store_init(&s->store, info);
    hls_muxer_init(&s->mux);
    if (!set_path(info)) {
        hls_info_unref(info);
        return NULL;
    }
    hls_record_init(&s->store);
    live_evictable_open(&s->keeper, h->env->streams, info->name, &keeping);
    if (h->env->workers)
        s->owner = stream_owners_hold(h->env->workers, info->key->path, h->env->worker);
    return s;
}

/* Removes it from the registry; running jobs keep references. */
static void leave(struct hls_stream *s)
{
    struct hls_stream **at = &s->info.hls->streams;

    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
    co_timer_cancel(&s->dispose);
    co_timer_cancel(&s->again);
    s->left = true;
    leave_owner(s);
    hls_list_wake(&s->list);
    hls_part_no_hint(&s->mux);
    if (s->list.playlist)
        hls_names_drop(s->info.hls, s->info.m3u8_path, s->list.playlist);
    s->list.playlist = hls_file_unref(s->list.playlist);
    s->list.update = hls_file_unref(s->list.update);
}

void hls_stream_dispose(struct hls_stream *s, bool remove)
{
    char other[HLS_NAME_MAX + 8]; /* the previous playlist, kept to be overwritten */

    (void)snprintf(other, sizeof(other), "%s.tmp", s->info.m3u8_path);
    leave(s);
    s->info.disposing = remove;
    s->info.keep_files = !remove;
    hls_list_clear(&s->list);
    hls_disk_remove(&s->store, s->info.m3u8_path);
    hls_disk_remove(&s->store, other);
    hls_muxer_clear(&s->mux);
    hls_disk_remove(&s->store, s->store.record.path);
    hls_info_unref(&s->info);
}

static void is_silent(struct co_timer *t)
{
    struct hls_stream *s = container_of(t, struct hls_stream, dispose);

    if (s->info.set.dispose > 0)
        log_trace("%s: its files were removed, it had no publisher for %lld s", s->info.name,
                  us_to_s(s->info.set.dispose));
    hls_stream_dispose(s, s->info.set.dispose > 0);
}

/* Frees the memory if everything is on disk, else when the files are removed. */
static void forget(struct co_timer *t)
{
    struct hls_stream *s = container_of(t, struct hls_stream, dispose);
    co_usec until = s->ended_at + s->info.set.dispose;

    if (until <= co_now()) /* always true with hls_dispose 0 */
        is_silent(t);
    else if (hls_is_on_disk(s))
        hls_ended_add(s);
    else
        co_timer_set(t, until, is_silent);
}

/* Frees it early because it is empty, or because too many streams have ended. */
static void makes_room(struct co_timer *t)
{
    struct hls_stream *s = container_of(t, struct hls_stream, dispose);

    hls_stream_dispose(s, s->info.set.dispose > 0);
}

static void run(struct hls_stream *s)
{
    err_t err;

    if (s->running)
        return;
    err = co_go(&s->info.hls->sink.group, "hls", hls_run, s);
    if (err) {
        log_end("HLS or DASH does not begin", &err);
        return;
    }
    (void)hls_info_ref(&s->info); /* for its coroutine, which starts at the next yield */
    s->running = true;
}

/* Starts with the next publisher. */
static void start(struct hls_stream *s)
{
    struct hls_publication *p = s->next_publication;

    s->next_publication = p->next;
    sink_notifier_take(&s->notifier, &p->notifier);
    live_reader_move(&s->reader, &p->reader);
    free(p);
    co_timer_cancel(&s->dispose);
    co_timer_cancel(&s->again);
    if (!s->info.set.recover)
        hls_list_clear(&s->list);
    hls_muxer_restart(&s->mux);
    s->info.live = true;
    s->given_up = false;
    s->tracks = (struct frame_tracks){ 0 };
    s->dropped = 0;
    run(s);
}

void hls_stream_begin(struct hls_stream *s, const struct session_stream *names,
                      struct live_source *src)
{
    struct hls_publication **last = &s->next_publication, *p = must(calloc(1, sizeof(*p)));

    while (*last)
        last = &(*last)->next;
    *last = p;
    sink_notifier_set(&p->notifier, s->info.hls->env, names, src);
    live_reader_open(&p->reader, src);
    s->src = src;
    if (!s->info.live)
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
    s->info.live = false;
    if (s->mux.now)
        hls_segment_close(&s->mux, segmenter_end(&s->mux.segmenter));
    else if (s->info.set.ll)
        hls_list_publish(&s->list);
    if (s->list.swapped)
        hls_list_write(&s->list);
    if (s->mux.bad > 1)
        log_warn("%s: %u invalid frames were dropped", s->info.name, s->mux.bad);
    live_reader_close(&s->reader);
}

static bool is_empty(const struct hls_stream *s)
{
    return s->ready && s->mux.next_seq == 0 && s->list.q.n == 0 && s->list.expired.n == 0;
}

static bool is_waiting(const struct hls_stream *s)
{
    return s->dispose.prev && s->dispose.due > co_now();
}

/* Ended streams that wait for a publisher: their number, memory, and the first to be freed. */
struct ended {
    unsigned n;
    size_t bytes;
    struct hls_stream *first, *heavy; /* heavy: the first that has segments in memory */
};

static struct ended count_ended(const struct hls *h)
{
    struct ended e = { 0 };

    for (struct hls_stream *s = h->streams; s; s = s->next) {
        if (!is_waiting(s))
            continue;
        e.n++;
        e.bytes += s->store.in_memory;
        if (!e.first || s->dispose.due < e.first->dispose.due)
            e.first = s;
        if (s->store.in_memory > 0 && (!e.heavy || s->dispose.due < e.heavy->dispose.due))
            e.heavy = s;
    }
    return e;
}

/* Limits the number of ended streams to that of connections, because a client that publishes under
 * one name after the other creates many. Their unwritten segments together may take the memory of
 * one stream. */
static void bound_ended(struct hls *h)
{
    unsigned most = workers_share(h->env, h->env->conf->max_connections);
    size_t share = live_evictable_share(live_registry_memory(h->env->streams));
    struct ended e = count_ended(h);

    if (e.n > most)
        co_timer_set(&e.first->dispose, co_now(), makes_room);
    while (e.bytes > share && e.heavy) {
        size_t before = e.heavy->store.in_memory;

        hls_list_lose(&e.heavy->list);
        if (e.heavy->list.q.n == 0)
            co_timer_set(&e.heavy->dispose, co_now(), makes_room);
        if (e.heavy->store.in_memory >= before)
            return; /* it is being written */
        e = count_ended(h);
    }
}

/* Returns true if memory has more ended streams than an eighth of max_connections. */
static bool is_crowded(const struct hls *h)
{
    return count_ended(h).n > workers_share(h->env, h->env->conf->max_connections / CROWD);
}

static bool is_memory_short(const struct hls *h)
{
    const struct live_memory *m = live_registry_memory(h->env->streams);

    return m->limit > 0 && m->used > m->limit - m->limit / 8;
}

/* If there are many ended streams, an unwritten one is freed if its playlist is empty or if it has
 * no file on disk. It is also freed if memory is short and the disk has been too slow for
 * GIVE_UP. */
static bool is_given_up(const struct hls_stream *s)
{
    return (s->ready && s->list.q.n == 0) || !s->store.begun ||
           (co_now() - s->ended_at > GIVE_UP && is_memory_short(s->info.hls));
}

static void write_again(struct co_timer *t)
{
    struct hls_stream *s = container_of(t, struct hls_stream, again);
    bool is_left = hls_list_again(&s->list) || s->store.lane.jobs > 0;
    bool rests = hls_is_on_disk(s);

    if ((rests || is_given_up(s)) && is_crowded(s->info.hls)) {
        if (rests)
            hls_ended_add(s);
        else
            hls_stream_dispose(s, s->info.set.dispose > 0);
    } else if (is_left) {
        co_timer_set(t, co_now() + AGAIN, write_again);
    }
}

/* Keeps serving its playlist for a while, if there is one. */
static void wait_for_publisher(struct hls_stream *s)
{
    co_usec lasts;

    if (is_empty(s)) {
        co_timer_set(&s->dispose, co_now(), makes_room);
        return;
    }
    s->ended_at = co_now();
    lasts = s->info.set.dispose > 0 && s->info.set.dispose < FORGET ? s->info.set.dispose : FORGET;
    co_timer_set(&s->dispose, co_now() + lasts, forget);
    co_timer_set(&s->again, co_now() + AGAIN, write_again);
    bound_ended(s->info.hls);
}

bool hls_stream_finish(struct hls_stream *s)
{
    if (!live_reader_ended(&s->reader) || !(live_reader_done(&s->reader) || s->given_up))
        return false;
    last_segment(s);
    if (s->next_publication)
        start(s);
    else if (!s->info.hls->stopping)
        wait_for_publisher(s);
    return true;
}

/* Packets of a stream that still reads its journal, from a disk that may hang, are lost. */
void hls_stream_finish_all(struct hls_stream *s)
{
    while (s->info.live && live_reader_ended(&s->reader)) {
        hls_drain(s, true);
        s->given_up |= !s->ready;
        (void)hls_stream_finish(s);
    }
}
