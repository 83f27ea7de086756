/* SPDX-License-Identifier: MIT */
/* kept.c - lists pulls, ingests and recordings of all workers. */
#include "app/api/kept.h"

#include "base/log_clean.h"
#include "base/must.h"
#include "base/text.h"
#include "conf/arena.h"
#include "pull/ingest/ingests.h"
#include "pull/rtsp/pulls.h"
#include "session/stream_key.h"
#include "sink/dvr/dvr.h"
#include "sink/program/children.h"
#include "sink/program/transcode.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* ---- one row */

static const char *dup(struct kept_part *part, const char *text)
{
    return conf_arena_dup(part->arena, text);
}

static const char *hide(struct kept_part *part, const char *text)
{
    char *hidden = log_hide(text);
    const char *out = dup(part, hidden);

    free(hidden);
    return out;
}

static struct kept_row *add(struct kept_part *part, const char *what, const char *id,
                            const struct condition *condition, const char *place)
{
    struct kept_row *row;

    if (part->n == part->cap) {
        part->cap = part->cap ? part->cap * 2 : 16;
        part->v = must(realloc(part->v, part->cap * sizeof(part->v[0])));
    }
    row = &part->v[part->n++];
    *row = (struct kept_row){ .what = what, .id = dup(part, id), .name = "", .vhost = "",
                              .app = "", .stream = "", .place = hide(part, place),
                              .condition = *condition };
    (void)snprintf(row->condition.error, sizeof(row->condition.error), "%s",
                   hide(part, condition->error));
    return row;
}

static void set_stream(struct kept_part *part, struct kept_row *row, const struct stream_key *key)
{
    if (!key)
        return;
    row->vhost = dup(part, key->vhost);
    row->app = dup(part, key->app);
    row->stream = dup(part, key->name);
}

/* ---- rows of a worker, on its thread */

static void add_pull(void *part, const struct rtsp_pull_info *p)
{
    struct kept_row *row = add(part, "rtsp", p->id, p->condition, p->url);

    set_stream(part, row, p->key);
    row->on_demand = p->on_demand;
    row->again_at = p->retry_at;
    row->bytes = p->bytes;
}

/* `target` is "vhost/app/stream", or unknown. */
static void add_ingest(struct kept_part *part, const struct job_info *i, const char *what,
                       const char *target, const char *place)
{
    struct kept_row *row = add(part, what, i->id, i->condition, place);
    char *vhost = conf_arena_dup(part->arena, text_or_empty(target)), *app = strchr(vhost, '/');
    char *stream = app ? strrchr(app + 1, '/') : NULL;

    row->name = dup(part, i->name);
    row->vhost = dup(part, i->vhost);
    if (stream) {
        *app++ = '\0';
        *stream++ = '\0';
        row->vhost = vhost;
        row->app = app;
        row->stream = stream;
    }
    row->again_at = i->state == JOB_WAITS ? i->next : 0;
    row->bytes = i->state == JOB_RUNS ? i->bytes : 0;
}

static void look_at_pulls(struct session_env *env, void *arg)
{
    struct kept_part *part = arg;
    const struct sink *programs = part->of->sink(env, &program_sink);
    const struct sink *files = part->of->sink(env, &ingests_sink);
    const struct ingest_run *file = NULL;
    const struct job *job = NULL;
    struct job_info i;

    rtsp_pulls_each(part->of->sink(env, &rtsp_pulls_sink), add_pull, part);
    while ((file = ingests_next(files, file))) {
        ingests_info(file, &i);
        add_ingest(part, &i, i.srt ? "srt" : "file", i.stream, i.command);
    }
    while ((job = children_next(programs, job))) {
        char *target;

        job_poll(job, &i);
        if (i.kind != JOB_INGEST)
            continue;
        target = transcode_target(env->conf, job_output(job));
        add_ingest(part, &i, "program", target, job_input(job));
        free(target);
    }
}

static void add_recording(void *part, const struct dvr_info *d)
{
    struct kept_row *row = add(part, d->mp4 ? "mp4" : "flv", d->id, d->condition, d->file);

    set_stream(part, row, d->key);
    row->began_at = *d->file ? d->file_at : 0;
    row->bytes = d->bytes;
}

static void look_at_recordings(struct session_env *env, void *arg)
{
    struct kept_part *part = arg;

    dvrs_each(part->of->sink(env, &dvr_sink), add_recording, part);
}

/* ---- all workers */

static void drop(void *arg)
{
    struct kept_part *part = arg;

    if (!part)
        return;
    conf_arena_free(part->arena);
    free(part->v);
    free(part);
}

void kept_collect(struct kept *k, const struct api_parts *of, enum kept_kind kind,
                 co_usec patience)
{
    workers_fn *look = kind == KEPT_PULLS ? look_at_pulls : look_at_recordings;

    *k = (struct kept){ .n_parts = of->sink ? workers_count(of->env) : 0 };
    for (unsigned w = 0; w < k->n_parts; w++) {
        struct kept_part *part = must(calloc(1, sizeof(*part)));

        part->of = of;
        part->arena = conf_arena_new();
        if (workers_ask(of->env, w, look, part, drop, patience))
            k->parts[w] = part;
    }
}

void kept_free(struct kept *k)
{
    for (unsigned w = 0; w < k->n_parts; w++)
        drop(k->parts[w]);
}

const struct kept_row *kept_next(const struct kept *k, const struct kept_row *row)
{
    bool found = !row;

    for (unsigned w = 0; w < k->n_parts; w++) {
        const struct kept_part *part = k->parts[w];

        if (!part || part->n == 0)
            continue;
        if (found)
            return &part->v[0];
        if (row >= part->v && row < part->v + part->n) {
            if (row + 1 < part->v + part->n)
                return row + 1;
            found = true;
        }
    }
    return NULL;
}
