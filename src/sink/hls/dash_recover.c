/* SPDX-License-Identifier: MIT */
/* dash_recover.c - go on with the MPD that an earlier process left on disk.
 *
 * Its periods stay in the MPD as they are, for as long as a player may be in them; then they go,
 * and so do their files.
 */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "co/thread.h"
#include "sink/hls/stream.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MPD_MAX = 4 << 20, PERIODS_MAX = 1 << 18, CLOCK_SLACK = 5000 };

/* Copies of all that it needs. */
struct reading {
    struct disk_job job;
    char *path, *periods;
    int64_t available, published;
};

static void run(void *arg)
{
    struct reading *r = arg;
    size_t size;
    char *text = disk_read_file(&r->job, r->path, MPD_MAX, &size);
    const char *periods = NULL;
    size_t n = 0;

    if (text)
        r->available = mpd_available(text, size);
    if (text)
        r->published = mpd_published(text, size);
    if (r->available > 0)
        n = mpd_periods(text, size, &periods);
    if (n > 0 && n < PERIODS_MAX)
        r->periods = strndup(periods, n);
    free(text);
}

static void drop(void *arg)
{
    struct reading *r = arg;

    free(r->path);
    free(r->periods);
    free(r);
}

void dash_recover_list(struct hls_stream *s)
{
    struct reading *r = must(calloc(1, sizeof(*r)));
    err_t err;

    r->path = must_dup(s->m3u8_path);
    err = co_thread_run(CO_POOL_FILE, run, r, drop, CO_SECONDS(10));
    if (err) {
        log_end("DASH: the MPD of before is not read, a new one begins", &err);
        return;
    }
    if (r->published <= co_wall_ms() + CLOCK_SLACK) {
        s->segmenter.available = r->available;
        s->before = r->periods;
        r->periods = NULL;
    } else {
        log_warn("%s: the MPD of before is of %lld s from now; the clock was set back, a new one "
                 "begins", s->m3u8_path, (long long)(r->published - co_wall_ms()) / 1000);
    }
    s->before_until = co_now();
    drop(r);
}

/* Is there a segment with a name that it gets from us, by its url in the MPD? */
bool dash_list_is_ours(const struct hls_stream *s)
{
    char *folder = dash_folder(s);
    const char *slash = strrchr(folder, '/'), *at = s->before;
    size_t n = strlen(slash ? slash + 1 : folder);
    bool found = false;

    while (at && !found && (at = strstr(at, "media=\""))) {
        at += 7;
        found = strncmp(at, slash ? slash + 1 : folder, n) == 0 &&
                (strncmp(at + n, "/video-", 7) == 0 || strncmp(at + n, "/audio-", 7) == 0);
    }
    free(folder);
    return found;
}

void dash_recover(struct hls_stream *s)
{
    dash_recover_list(s);
    s->before_until = co_now() + dash_window(s) * 100 / 9;
    if (s->before)
        log_trace("DASH of %s/%s goes on with the MPD of before", s->app, s->stream);
}

/* ------------------------------------------------------------ what it left */

struct cleaning {
    struct disk_job job; /* first */
    struct hls_stream *stream; /* with a reference */
    char *folder, *root;
    long long period;        /* older ones go */
};

/* "video-1795246441224-0.m4s", "audio-init-1795246441224.mp4": the period, or -1. */
static long long period_of(const char *name)
{
    bool init;
    long long period;
    char *end;

    if (strncmp(name, "video-", 6) != 0 && strncmp(name, "audio-", 6) != 0)
        return -1;
    name += 6;
    init = strncmp(name, "init-", 5) == 0;
    name += init ? 5 : 0;
    if (*name < '0' || *name > '9')
        return -1;
    period = strtoll(name, &end, 10);
    if (init)
        return strcmp(end, ".mp4") == 0 ? period : -1;
    if (*end++ != '-')
        return -1;
    end += strspn(end, "0123456789");
    return strcmp(end, ".m4s") == 0 ? period : -1;
}

static void clean(struct disk_job *job)
{
    struct cleaning *c = container_of(job, struct cleaning, job);
    DIR *d = opendir(c->folder);
    const struct dirent *e;
    char *path;

    while (d && (e = readdir(d))) {
        long long period = period_of(e->d_name);

        if (period < 0 || period >= c->period ||
            asprintf(&path, "%s/%s", c->folder, e->d_name) < 0)
            continue;
        disk_remove(path, c->root);
        free(path);
    }
    if (d)
        (void)closedir(d);
}

static void cleaned(struct disk_job *job)
{
    struct cleaning *c = container_of(job, struct cleaning, job);
    struct hls_stream *s = c->stream;

    free(c->folder);
    free(c->root);
    free(c);
    hls_stream_unref(s);
}

void dash_forget_before(struct hls_stream *s, int64_t period)
{
    struct cleaning *c;

    free(s->before);
    s->before = NULL;
    s->before_until = 0;
    if (!s->set.cleanup && !s->disposing)
        return;
    c = must(calloc(1, sizeof(*c)));
    c->stream = hls_stream_ref(s);
    c->folder = dash_folder(s);
    c->root = must(strdup(s->set.path));
    c->period = period;
    c->job.run = clean;
    c->job.done = cleaned;
    (void)disk_put(&s->lane, &c->job, true);
}
