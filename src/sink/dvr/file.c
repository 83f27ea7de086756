/* SPDX-License-Identifier: MIT */
/* file.c - disk jobs of recordings. */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "conf/expand.h"
#include "sink/dvr/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* JOB: memory of a job without its blocks, bytes. */
enum { NAMES = 1000, JOB = 512 };

struct job {
    struct disk_job job;       /* first */
    struct dvr_stream *stream; /* owns a reference */
    struct dvr_file *file;
    struct wr header;
    struct blocks data;
    bool key;                  /* a player can start at its beginning */
    bool has_key;              /* it contains a key frame: */
    struct flv_key key_frame;
    bool skipped;              /* the bytes before it are missing */
    enum dvr_step step;
};

/* ------------------------------------------------------------ names */

struct dvr_file *dvr_file_new(struct dvr_stream *s, int64_t dts)
{
    const char *text = s->set->path;
    const struct conf_variable vars[] = {
        { "vhost", s->key->vhost }, { "app", s->key->app }, { "stream", s->key->name },
    };
    struct conf_expand with = { .v = vars, .n = sizeof(vars) / sizeof(vars[0]), .file = true,
                                .utc = s->conf->utc_time, .msec = co_wall_ms() };
    char whole[DVR_PATH_MAX], path[DVR_PATH_MAX];
    struct dvr_file *f;
    err_t err;

    if (!conf_expand_is_file(text)) {
        (void)snprintf(whole, sizeof(whole), "%s%s[stream].[timestamp].flv", text,
                       text_ends(text, "/") ? "" : "/");
        text = whole;
    }
    err = conf_expand(text, &with, path, sizeof(path));
    if (err) {
        log_end("a recording cannot have this name", &err);
        return NULL;
    }
    f = must(calloc(1, sizeof(*f)));
    f->path = must_dup(path);
    f->mp4 = text_ends(path, ".mp4");
    f->begin = f->newest = dts;
    f->fd = -1;
    f->floor = s->dvrs->sink.env->conf->limits.disk_free;
    log_trace("recording %s/%s to %s", s->key->app, s->key->name, path);
    return f;
}

static void dvr_file_free(struct dvr_file *f)
{
    if (f->fd >= 0)
        (void)close(f->fd);
    dvr_finish_free(f->finish);
    wr_free(&f->header);
    flv_key_list_free(&f->keys);
    free(f->path);
    free(f->tmp);
    free(f);
}

/* ------------------------------------------------------------ on a helper thread */

static bool open_tmp(struct job *j)
{
    struct dvr_file *f = j->file;

    if (f->fd >= 0)
        return true;
    for (int i = 0; i < NAMES; i++) { /* the name may exist already */
        free(f->tmp);
        f->tmp = must_print(i ? "%s.%d.tmp" : "%s.tmp", f->path, i);
        j->job.error = 0;
        f->fd = disk_open(&j->job, f->tmp, O_RDWR | O_CREAT | O_EXCL);
        if (f->fd >= 0 || j->job.error != EEXIST)
            break;
    }
    return f->fd >= 0;
}

/* Skipped bytes are zeros and take no space on most file systems. */
static bool write_header(struct job *j)
{
    struct dvr_file *f = j->file;
    size_t before = f->gap > 0 ? f->gap_at : f->header.len;

    if (!disk_write(&j->job, f->fd, f->header.buf, before))
        return false;
    if (f->gap > 0 && lseek(f->fd, (off_t)f->gap, SEEK_CUR) < 0) {
        j->job.error = errno;
        j->job.what = "seek";
        return false;
    }
    return disk_write(&j->job, f->fd, f->header.buf + before, f->header.len - before);
}

static bool write_block(struct job *j)
{
    struct dvr_file *f = j->file;
    bool first = f->good == 0 && f->header.len > 0;

    if (!open_tmp(j) || (first && !write_header(j)) ||
        !disk_write_blocks(&j->job, f->fd, j->data.first))
        return false;
    if (first)
        f->good += f->header.len + f->gap;
    j->key_frame.at += f->good;
    if (j->has_key)
        flv_key_list_add(&f->keys, &j->key_frame);
    f->good += blocks_len(&j->data);
    return true;
}

/* Writes a block completely or not at all, so that a full disk leaves a valid file. */
static void run_append(struct disk_job *job)
{
    struct job *j = container_of(job, struct job, job);
    struct dvr_file *f = j->file;

    if (j->header.len > 0) {
        f->header = j->header;
        wr_init(&j->header, 0);
    }
    if (f->lost && !j->key) {
        j->skipped = true;
        return;
    }
    if (write_block(j)) {
        f->lost = false;
        return;
    }
    f->lost = true;
    if (f->fd < 0)
        return;
    if (ftruncate(f->fd, (off_t)f->good) != 0 || lseek(f->fd, (off_t)f->good, SEEK_SET) < 0)
        job->what = "truncate";
}

/* Gives the file its final name, or a similar one if that exists: it never overwrites a file. */
static void give_name(struct job *j, const char *from)
{
    struct dvr_file *f = j->file;
    const char *dot = strrchr(f->path, '.');
    int stem = (int)(dot - f->path), made = -1;
    char *name = NULL;

    for (int i = 0; made != 0 && i < NAMES; i++) {
        free(name);
        if (i == 0)
            name = must_dup(f->path);
        else
            name = must_print("%.*s-%d%s", stem, f->path, i, dot);
        made = link(from, name);
        if (made != 0 && errno == EPERM && access(name, F_OK) != 0)
            made = rename(from, name); /* the file system has no links */
        if (made != 0 && errno != EEXIST)
            break;
    }
    if (made != 0) {
        j->job.error = errno;
        j->job.what = "rename";
        free(name);
        return;
    }
    (void)unlink(from);
    free(f->path);
    f->path = name;
    f->closed = true;
}

static void run_close(struct disk_job *job)
{
    struct job *j = container_of(job, struct job, job);
    struct dvr_file *f = j->file;

    j->step = DVR_DONE;
    if (f->fd < 0)
        return;
    if (f->mp4) {
        j->step = dvr_finish_step(f, job);
        if (j->step == DVR_MORE)
            return;
    } else {
        dvr_flv_finish(f);
    }
    (void)close(f->fd);
    f->fd = -1;
    give_name(j, f->tmp);
}

/* ------------------------------------------------------------ on the coroutine thread */

static struct job *new_job(struct dvr_stream *s, struct dvr_file *f)
{
    struct job *j = must(calloc(1, sizeof(*j)));

    j->stream = dvr_stream_ref(s);
    j->file = f;
    return j;
}

static void free_job(struct job *j)
{
    struct dvr_stream *s = j->stream;

    wr_free(&j->header);
    if (j->data.first)
        block_cache_return(s->cache, &j->data);
    free(j);
    dvr_stream_unref(s);
}

static void log_failed(struct dvr_stream *s, const struct job *j, const char *why)
{
    co_usec now = co_now();
    bool told = s->disk_bad && now - s->told_disk_at < CO_SECONDS(30);

    s->disk_bad = true;
    condition_failed_text(&s->condition, "cannot write %s: %s", j->file->path, why);
    if (told)
        return;
    s->told_disk_at = now;
    log_warn("%s: cannot write %s: %s (%s); the stream continues, the recording resumes at the "
             "next key frame that can be written",
             s->name, j->file->path, why, j->job.what ? j->job.what : "queue");
}

static void append_done(struct disk_job *job)
{
    struct job *j = container_of(job, struct job, job);
    struct dvr_stream *s = j->stream;

    if (job->error) {
        log_failed(s, j, strerror(job->error));
    } else if (!j->skipped && s->disk_bad) {
        log_trace("%s resumes", s->name);
        s->disk_bad = false;
        condition_be(&s->condition, s->file ? CONDITION_RUNNING : CONDITION_WAITING);
    }
    free_job(j);
}

/* The queue is full: drops the block, and continues where a player can start. */
static void refused(struct dvr_stream *s, struct job *j)
{
    j->job.what = "too much waits to be written";
    log_failed(s, j, "the disk is slow");
    s->file_lost = true;
    s->header = j->header;
    wr_init(&j->header, 0);
    free_job(j);
}

void dvr_file_append(struct dvr_stream *s)
{
    struct job *j;

    if (s->block.w.bad || (s->file_lost && !s->block_key)) {
        s->file_lost = true;
        block_cache_return(s->cache, &s->block);
        return;
    }
    s->file_lost = false;
    j = new_job(s, s->file);
    j->job.run = run_append;
    j->job.done = append_done;
    j->job.bytes = JOB + s->block.memory;
    s->bytes += blocks_len(&s->block) + s->header.len;
    disk_room_add(&s->room, (int64_t)(blocks_len(&s->block) + s->header.len));
    j->data = blocks_take(&s->block);
    j->header = s->header;
    j->key = s->block_key;
    j->has_key = s->has_key;
    j->key_frame = s->key_frame;
    wr_init(&s->header, s->header.limit);
    if (!disk_put(&s->lane, &j->job, false))
        refused(s, j);
}

static void close_done(struct disk_job *job)
{
    struct job *j = container_of(job, struct job, job);
    struct dvr_stream *s = j->stream;
    struct dvr_file *f = j->file;

    if (j->step == DVR_MORE) {
        (void)disk_put(&s->lane, job, true);
        return;
    }
    if (job->error)
        log_warn("recording %s remains as %s: %s (%s)", f->path, f->tmp ? f->tmp : "nothing",
                 strerror(job->error), job->what);
    if (f->closed) {
        log_trace("recorded %s, %lld ms, %llu bytes", f->path,
                  av_to_ms(f->newest - f->begin), (unsigned long long)f->good);
        sink_notify(&s->notifier, s->dvrs->sink.env, s->conf, HOOKS_DVR,
                    (struct hooks_event){ .file = f->path });
    }
    if (j->step == DVR_FAILED && f->closed)
        log_warn("recording %s is not seekable: %s", f->path,
                 job->what ? job->what : "no space");
    dvr_file_free(f);
    free_job(j);
}

void dvr_file_close(struct dvr_stream *s)
{
    struct job *j = new_job(s, s->file);

    j->job.run = run_close;
    j->job.done = close_done;
    s->file = NULL;
    s->file_lost = false;
    (void)disk_put(&s->lane, &j->job, true);
}
