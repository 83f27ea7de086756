/* SPDX-License-Identifier: MIT */
/* disk.c - disk jobs for files of HLS and DASH, and the handling of their failures. */
#include "base/log.h"

#include "base/container_of.h"
#include "base/must.h"
#include "sink/hls/format.h"
#include "sink/hls/store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* JOB, REMOVAL: memory of a job without the bytes of its file, including its segment. It dominates
 * for a stream whose codec configuration changes with each frame. */
enum { KEY_MODE = 0600, JOB = 2048, REMOVAL = 1024, REMOVAL_MAX = 16 << 10 };

struct job {
    struct disk_job job; /* first */
    struct hls_store *store;   /* with a reference to its stream */
    char *path;
    struct hls_file *file;     /* the content to write; NULL: remove these paths, */
    struct wr paths;           /* each terminated by '\0', */
    char *root;                /* and empty folders below this one */
    bool swap;                 /* the file will be written again soon */
    struct hls_segment *segment;
    struct hls_shared *shared; /* owns a reference */
    struct hls_lines lines;    /* lines of the journal to write before the file */
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
    if (j->file && j->file->cache)
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
    struct hls_info *info = j->store->info;

    (void)hls_file_unref(j->file);
    free(j->path);
    wr_free(&j->paths);
    free(j->root);
    free(j->lines.path);
    free(j->lines.text);
    free(j);
    hls_info_unref(info);
}

static struct job *new_job(struct hls_store *s, const char *path, struct hls_file *file)
{
    struct job *j = must(calloc(1, sizeof(*j)));

    j->store = s;
    (void)hls_info_ref(s->info);
    j->path = path ? must_dup(path) : NULL;
    j->file = file ? hls_file_ref(file) : NULL;
    j->job.run = run;
    j->job.bytes = file ? JOB + (file->cache ? file->blocks.memory : file->size) : REMOVAL;
    return j;
}

/* ------------------------------------------------------------ failures */

static void log_failed(struct hls_store *s, const struct job *j, const char *why)
{
    co_usec now = co_now();

    if (s->bad && now - s->logged_at < CO_SECONDS(30))
        return;
    s->logged_at = now;
    log_warn("%s: cannot write %s: %s (%s); the stream continues, segments stay in memory",
             s->info->name, j->path, why, j->job.what ? j->job.what : "queue");
}

static void failed(struct hls_store *s, const struct job *j, const char *why)
{
    log_failed(s, j, why);
    s->bad = true;
    s->info->events->failed(s->info->stream, j->path, why);
}

static void worked(struct hls_store *s)
{
    if (s->bad)
        log_trace("%s: files can be written again", s->info->name);
    s->bad = false;
}

static void outcome(struct hls_store *s, const struct job *j)
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

    outcome(j->store, j);
    j->shared->writing = false;
    j->shared->on_disk = job->error == 0;
    hls_shared_unref(j->store, j->shared);
    free_job(j);
}

/* The queue is full: drops the job. */
static void give_up(struct hls_store *s, struct job *j)
{
    j->job.what = "too much waits to be written";
    failed(s, j, "the disk is slow");
    s->record.whole = true; /* its journal lines are lost */
    free_job(j);
}

/* The queue may refuse it while the stream has no files, since no segment on disk needs it yet. */
void hls_disk_shared(struct hls_store *s, struct hls_shared *shared)
{
    struct job *j;

    if (!shared || !shared->file || shared->on_disk || shared->writing)
        return;
    j = new_job(s, shared->path, shared->file);
    j->job.done = shared_done;
    j->job.mode = shared->secret ? KEY_MODE : 0;
    hls_record_shared(s, shared);
    j->lines = hls_record_take(s);
    if (!disk_put(&s->lane, &j->job, s->begun)) {
        give_up(s, j);
        return;
    }
    j->shared = hls_shared_ref(shared);
    shared->writing = s->begun = true;
}

static void removed(struct disk_job *job)
{
    free_job(container_of(job, struct job, job));
}

static struct job *new_removal(struct hls_store *s)
{
    struct job *j = new_job(s, NULL, NULL);

    wr_init(&j->paths, REMOVAL_MAX);
    j->root = must_dup(s->info->set.path);
    j->job.done = removed;
    (void)disk_put(&s->lane, &j->job, true);
    return j;
}

/* Returns the last pending job if it is a removal with space for another path, else a new one. */
static struct job *removal(struct hls_store *s)
{
    struct disk_job *last = disk_lane_last(&s->lane);
    struct job *j = last ? container_of(last, struct job, job) : NULL;

    return j && !j->file && j->paths.len < REMOVAL_MAX - HLS_NAME_MAX * 2 ? j : new_removal(s);
}

void hls_disk_remove(struct hls_store *s, const char *path)
{
    struct job *j;

    if (s->info->hls->stopping || s->info->keep_files || !s->begun)
        return;
    j = removal(s);
    wr_bytes(&j->paths, path, strlen(path) + 1);
}

static void list_done(struct disk_job *job)
{
    struct job *j = container_of(job, struct job, job);

    outcome(j->store, j);
    j->store->info->events->list_written(j->store->info->stream);
    free_job(j);
}

void hls_disk_list(struct hls_store *s, struct hls_file *file, bool swap)
{
    struct job *j = new_job(s, s->info->m3u8_path, file);

    j->job.done = list_done;
    j->swap = swap;
    if (s->record.whole) /* journal lines were lost */
        j->lines = hls_record_take(s);
    (void)disk_put(&s->lane, &j->job, true);
}

static void written(struct hls_store *s, struct hls_segment *seg)
{
    seg->on_disk = true;
    if (!s->info->set.ll)
        hls_segment_forget(s, seg);
    s->info->events->written(s->info->stream, seg);
}

static void segment_done(struct disk_job *job)
{
    struct job *j = container_of(job, struct job, job);
    struct hls_store *s = j->store;
    struct hls_segment *seg = j->segment;

    outcome(s, j);
    seg->writing = false;
    seg->failed = job->error != 0;
    if (seg->removed)
        hls_segment_free(s, seg);
    else if (!seg->failed)
        written(s, seg);
    free_job(j);
}

/* Checks the quota and the free space. Without space a segment stays in memory while it is listed,
 * and the stream continues. */
static bool has_room(struct hls_store *s)
{
    bool was_full = s->room.full;
    enum disk_lack lack = disk_room_lacks(&s->room, s->info->set.quota,
                                          s->info->hls->env->conf->limits.disk_free);
    unsigned n;

    if (lack == DISK_LACKS_NOTHING || was_full)
        return lack == DISK_LACKS_NOTHING;
    n = reject_counters_add(&s->info->hls->env->reject_counters, REJECT_HLS_DISK, co_now());
    if (n > 0)
        log_warn("segments of %u streams stay in memory, the last one is %s: %s of %s", n,
                 s->info->name, lack == DISK_LACKS_QUOTA ? "the quota is exhausted"
                 : "the disk has less than limits.disk_free left",
                 disk_room_root(&s->room));
    return false;
}

static void put_segment(struct hls_store *s, struct hls_segment *seg)
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
    j->lines = hls_record_take(s);
    if (!disk_put(&s->lane, &j->job, false)) {
        give_up(s, j);
        seg->writing = false;
        seg->failed = true;
        return;
    }
    s->begun = true;
    disk_room_add(&s->room, (int64_t)seg->bytes);
}

void hls_disk_segment(struct hls_store *s, struct hls_segment *seg)
{
    hls_disk_shared(s, seg->init);
    hls_disk_shared(s, seg->key);
    put_segment(s, seg);
}

void hls_store_init(struct hls_store *s, struct hls_info *info)
{
    s->info = info;
    disk_lane_init(&s->lane, info->hls->disk);
    disk_room_open(&s->room, info->hls->disk, info->set.path);
}

void hls_store_fini(struct hls_store *s)
{
    disk_room_close(&s->room);
    hls_record_fini(s);
}
