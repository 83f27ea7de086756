/* SPDX-License-Identifier: MIT */
/* disk.c - files of HLS and DASH, as jobs for helper threads; what to do when they fail. */
#include "base/log.h"

#include "base/container_of.h"
#include "base/must.h"
#include "sink/hls/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* JOB, REMOVAL: memory of a job apart from the bytes of its file, its segment included. Segments of
 * a stream whose configuration changes with each frame are mostly this. */
enum { LIST_MAX = 4 << 20, KEY_MODE = 0600, JOB = 2048, REMOVAL = 1024, REMOVAL_MAX = 16 << 10 };

struct job {
    struct disk_job job; /* first */
    struct hls_stream *stream; /* with a reference */
    char *path;
    struct hls_file *file;     /* what to write there; NULL: remove all of these */
    struct wr paths;           /* each with its '\0' */
    char *root;                /* and folders that are empty then, below this one */
    bool swap;                 /* it is written again soon */
    struct hls_segment *segment;
    struct hls_shared *shared; /* with a reference */
    struct hls_lines lines;    /* of the journal, to be written before it */
};

static void write_lines(struct hls_lines *lines)
{
    struct disk_job job = { 0 };

    if (lines->whole)
        (void)disk_write_file(&job, lines->path, lines->text, lines->size);
    else
        (void)disk_append_file(&job, lines->path, lines->text, lines->size);
    lines->error = job.error;
}

static void remove_all(const struct job *j)
{
    const char *all = (const char *)j->paths.buf;

    for (size_t at = 0; at < j->paths.len; at += strlen(all + at) + 1)
        disk_remove(all + at, j->root);
}

static void run(struct disk_job *job)
{
    struct job *j = container_of(job, struct job, job);

    if (j->lines.text)
        write_lines(&j->lines);
    if (j->file && j->file->shop)
        (void)disk_write_blocks_file(job, j->path, j->file->blocks.first, j->file->size);
    else if (j->file && j->swap)
        (void)disk_swap_file(job, j->path, j->file->data, j->file->size);
    else if (j->file)
        (void)disk_write_file(job, j->path, j->file->data, j->file->size);
    else
        remove_all(j);
}

static void free_job(struct job *j)
{
    struct hls_stream *s = j->stream;

    (void)hls_file_unref(j->file);
    free(j->path);
    wr_free(&j->paths);
    free(j->root);
    free(j->lines.path);
    free(j->lines.text);
    free(j);
    hls_stream_unref(s);
}

static struct job *new_job(struct hls_stream *s, const char *path, struct hls_file *file)
{
    struct job *j = must(calloc(1, sizeof(*j)));

    j->stream = hls_stream_ref(s);
    j->path = path ? must_dup(path) : NULL;
    j->file = file ? hls_file_ref(file) : NULL;
    j->job.run = run;
    j->job.bytes = file ? JOB + (file->shop ? file->blocks.memory : file->size) : REMOVAL;
    return j;
}

/* ------------------------------------------------------------ when it fails */

static void log_failed(struct hls_stream *s, const struct job *j, const char *why)
{
    co_usec now = co_now();

    if (s->disk.bad && now - s->disk.logged_at < CO_SECONDS(30))
        return;
    s->disk.logged_at = now;
    log_warn("%s: cannot write %s: %s (%s); the stream goes on, segments wait in memory", s->name,
             j->path, why, j->job.what ? j->job.what : "queue");
}

static void failed(struct hls_stream *s, const struct job *j, const char *why)
{
    log_failed(s, j, why);
    s->disk.bad = true;
    switch (s->set.on_error) {
    case CONF_HLS_DISCONNECT:
        if (!s->src)
            break;
        log_warn("HLS of %s/%s: the publisher is sent away (hls_on_error disconnect)",
                 s->key->app, s->key->name);
        live_source_kick(s->src, err_new(ERR_STOPPED, "cannot write %s: %s", j->path, why));
        break;
    case CONF_HLS_IGNORE:
        if (!s->given_up)
            log_warn("HLS of %s/%s ends until it is published again (hls_on_error ignore)",
                     s->key->app, s->key->name);
        s->given_up = true;
        break;
    case CONF_HLS_CONTINUE:
        break;
    }
}

static void worked(struct hls_stream *s)
{
    if (s->disk.bad)
        log_trace("%s: files can be written again", s->name);
    s->disk.bad = false;
}

static void outcome(struct hls_stream *s, const struct job *j)
{
    if (j->job.error)
        failed(s, j, strerror(j->job.error));
    else
        worked(s);
    hls_record_done(s, &j->lines);
}

/* ------------------------------------------------------------ jobs */

static void shared_done(struct disk_job *job)
{
    struct job *j = container_of(job, struct job, job);

    outcome(j->stream, j);
    j->shared->writing = false;
    j->shared->on_disk = job->error == 0;
    hls_shared_unref(j->stream, j->shared);
    free_job(j);
}

/* The queue is full. */
static void give_up(struct hls_stream *s, struct job *j)
{
    j->job.what = "too much waits to be written";
    failed(s, j, "the disk is slow");
    s->record.whole = true; /* its lines are lost */
    free_job(j);
}

/* The queue may refuse it while the stream has no files: no segment on disk needs it yet. */
void hls_disk_shared(struct hls_stream *s, struct hls_shared *shared)
{
    struct job *j;

    if (!shared || !shared->file || shared->on_disk || shared->writing)
        return;
    j = new_job(s, shared->path, shared->file);
    j->job.done = shared_done;
    j->job.mode = shared->secret ? KEY_MODE : 0;
    hls_record_shared(s, shared);
    j->lines = hls_record_take(s, shared);
    if (!disk_put(&s->disk.lane, &j->job, s->disk.begun)) {
        give_up(s, j);
        return;
    }
    j->shared = hls_shared_ref(shared);
    shared->writing = s->disk.begun = true;
}

static void removed(struct disk_job *job)
{
    free_job(container_of(job, struct job, job));
}

static struct job *new_removal(struct hls_stream *s)
{
    struct job *j = new_job(s, NULL, NULL);

    wr_init(&j->paths, REMOVAL_MAX);
    j->root = must_dup(s->set.path);
    j->job.done = removed;
    (void)disk_put(&s->disk.lane, &j->job, true);
    return j;
}

/* The last waiting job if it is a removal with room for one more path, else a new one. */
static struct job *removal(struct hls_stream *s)
{
    struct disk_job *last = disk_lane_last(&s->disk.lane);
    struct job *j = last ? container_of(last, struct job, job) : NULL;

    return j && !j->file && j->paths.len < REMOVAL_MAX - HLS_NAME_MAX * 2 ? j : new_removal(s);
}

void hls_disk_remove(struct hls_stream *s, const char *path)
{
    struct job *j;

    if (s->hls->stopping || s->keep_files || !s->disk.begun)
        return;
    j = removal(s);
    wr_bytes(&j->paths, path, strlen(path) + 1);
}

static void list_done(struct disk_job *job)
{
    struct job *j = container_of(job, struct job, job);
    struct hls_stream *s = j->stream;

    outcome(s, j);
    s->disk.writing_list = false;
    if (s->disk.list_changed)
        hls_disk_list(s);
    free_job(j);
}

/* The disk may be so far behind that the list it has is better than one of nothing. */
static bool has_written(const struct hls_stream *s)
{
    size_t n = s->list.n;

    while (n > 0 && !s->list.v[n - 1]->on_disk)
        n--;
    return n > 0;
}

/* One write at a time: what changes meanwhile is written after it. */
void hls_disk_list(struct hls_stream *s)
{
    struct hls_file *file;
    struct job *j;
    struct wr w;

    s->disk.list_changed = s->disk.writing_list;
    if (s->disk.writing_list || !has_written(s))
        return;
    wr_init(&w, LIST_MAX);
    s->kind->list(s, &w, true);
    if (w.bad) {
        wr_free(&w);
        return;
    }
    file = hls_file_new(s->hls, &w, "");
    j = new_job(s, s->m3u8_path, file);
    (void)hls_file_unref(file);
    j->job.done = list_done;
    j->swap = s->disk.list_swapped = s->live;
    if (s->record.whole) /* its lines were lost */
        j->lines = hls_record_take(s, NULL);
    s->disk.writing_list = true;
    (void)disk_put(&s->disk.lane, &j->job, true);
}

static void notify(struct hls_stream *s, const struct hls_segment *seg)
{
    char *url = hls_url(s, seg->path), *m3u8_url = hls_url(s, s->m3u8_path);

    sink_notify(&s->notifier, s->hls->env, s->conf, HOOKS_HLS, (struct hooks_event){
        .file = seg->path, .url = url, .m3u8 = s->m3u8_path, .m3u8_url = m3u8_url,
        .duration = (double)seg->duration / AV_CLOCK, .seq_no = (int64_t)seg->seq });
    free(url);
    free(m3u8_url);
}

static void segment_written(struct hls_stream *s, struct hls_segment *seg)
{
    if (s->kind->notifies)
        notify(s, seg);
    seg->on_disk = true;
    if (!s->ll)
        hls_segment_forget(s, seg);
    hls_disk_list(s);
}

static void segment_done(struct disk_job *job)
{
    struct job *j = container_of(job, struct job, job);
    struct hls_stream *s = j->stream;
    struct hls_segment *seg = j->segment;

    outcome(s, j);
    seg->writing = false;
    seg->failed = job->error != 0;
    if (seg->removed)
        hls_segment_free(s, seg);
    else if (!seg->failed)
        segment_written(s, seg);
    free_job(j);
}

/* Without room a segment is in memory as long as it is listed, and the stream goes on. */
static bool has_room(struct hls_stream *s)
{
    bool was_full = s->disk.room.full;
    enum disk_lack lack = disk_room_lacks(&s->disk.room, s->set.quota,
                                          s->hls->env->conf->limits.disk_free);
    unsigned n;

    if (lack == DISK_LACKS_NOTHING || was_full)
        return lack == DISK_LACKS_NOTHING;
    n = refusals_add(&s->hls->env->refusals, REFUSAL_HLS_DISK, co_now());
    if (n > 0)
        log_warn("segments of %u streams stay in memory, the last one is %s: %s of %s", n,
                 s->name, lack == DISK_LACKS_QUOTA ? "the quota is used up"
                 : "less than disk_free (limits) is left on the disk",
                 disk_room_root(&s->disk.room));
    return false;
}

static void put_segment(struct hls_stream *s, struct hls_segment *seg)
{
    struct job *j;

    if (!has_room(s)) {
        seg->failed = true;
        return;
    }
    j = new_job(s, seg->path, seg->file);
    j->job.done = segment_done;
    j->segment = seg;
    seg->writing = true;
    seg->failed = false;
    hls_record_segment(s, seg);
    j->lines = hls_record_take(s, NULL);
    if (!disk_put(&s->disk.lane, &j->job, false)) {
        give_up(s, j);
        seg->writing = false;
        seg->failed = true;
        return;
    }
    s->disk.begun = true;
    disk_room_add(&s->disk.room, (int64_t)seg->bytes);
}

static bool is_to_be_written(const struct hls_segment *seg)
{
    return seg->file && !seg->on_disk;
}

static void put_with_shared(struct hls_stream *s, struct hls_segment *seg)
{
    hls_disk_shared(s, seg->init);
    hls_disk_shared(s, seg->key);
    put_segment(s, seg);
}

bool hls_disk_again(struct hls_stream *s)
{
    bool is_left = false;

    for (size_t i = 0; i < s->list.n; i++) {
        struct hls_segment *seg = s->list.v[i];

        if (seg->failed && is_to_be_written(seg))
            put_with_shared(s, seg);
        is_left |= is_to_be_written(seg);
    }
    if (!is_left && s->record.whole)
        hls_disk_list(s);
    return is_left;
}

/* And what comes before it and could not be written. */
void hls_disk_segment(struct hls_stream *s, struct hls_segment *seg)
{
    (void)hls_disk_again(s);
    put_with_shared(s, seg);
}
