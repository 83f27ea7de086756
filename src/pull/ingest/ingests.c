/* SPDX-License-Identifier: MIT */
/* ingests.c - the ingests of a worker.
 *
 * Each worker checks the configured ingests and starts those whose streams it owns. A player that
 * came before any publisher may have made another worker the owner, and may have closed before that
 * worker checked. So with several workers each one checks again every two seconds.
 */
#include "pull/ingest/ingests.h"

#include "base/container_of.h"
#include "base/text.h"
#include "pull/ingest/run.h"
#include "session/stream_owners.h"
#include "session/workers.h"
#include "sink/list.h"
#include "sink/program/children.h"

#include <string.h>

#define CHECK_EVERY CO_SECONDS(2)

struct ingests {
    struct pulls base;
    struct co_timer timer;
    bool programs; /* this worker also manages the ingests that ffmpeg runs */
};

static struct ingests *ingests_of(struct pulls *base)
{
    return container_of(base, struct ingests, base);
}

static struct ingests *files_of(struct sink *sink)
{
    return ingests_of(container_of(sink, struct pulls, sink));
}

static struct ingest_run *run_of(struct pull *p)
{
    return container_of(p, struct ingest_run, pull);
}

/* ---- configured ingests */

/* Called for each configured ingest. It may keep `file`, and must then leave it zeroed. Returns
 * true to stop the iteration. */
typedef bool each_fn(struct ingests *all, struct ingest_source *file, const void *arg);

static bool each_of(struct ingests *all, const struct conf *c, const struct conf_vhost *v,
                    each_fn *fn, const void *arg)
{
    bool done = false;

    for (size_t i = 0; v->enabled && i < v->ingest.n; i++) {
        const struct conf_ingest *in = &v->ingest.v[i];

        for (size_t k = 0; in->enabled && !done && k < in->engine.n; k++) {
            struct ingest_source file;

            if (ingest_source_of(&file, c, v, in, k))
                done = fn(all, &file, arg);
            ingest_source_free(&file);
        }
    }
    return done;
}

static bool each(struct ingests *all, each_fn *fn, const void *arg)
{
    struct conf *c = conf_ref(all->base.sink.env->conf);
    bool done = false;

    for (size_t i = 0; !done && i < c->vhost.n; i++)
        done = each_of(all, c, &c->vhost.v[i], fn, arg);
    (void)conf_unref(c);
    return done;
}

static bool is_same(struct ingests *all, struct ingest_source *file, const void *arg)
{
    (void)all;
    return ingest_source_same(file, arg);
}

static bool is_configured(const struct ingest_run *r)
{
    struct ingests *all = ingests_of(r->pull.all);

    return !all->base.sink.ending && each(all, is_same, &r->source);
}

/* ---- starting and ending */

static void start_missing(struct ingests *all);

/* Starts an ingest that waited for the end of this one. */
static void ended(struct pulls *base)
{
    start_missing(ingests_of(base));
}

/* Returns true if the ingest runs, or another one of the same stream is about to end. */
static bool is_there(const struct ingests *all, const struct ingest_source *file)
{
    struct pull *p = all->base.list;

    while (
        p && !ingest_source_same(&run_of(p)->source, file) &&
        (run_of(p)->state != JOB_ENDS || strcmp(run_of(p)->source.to->path, file->to->path) != 0))
        p = p->next;
    return p != NULL;
}

static void start_here(struct ingests *all, struct ingest_source *file, struct stream_owner *owner)
{
    struct ingest_run *r = ingest_run_new(&all->base, file, owner);

    r->is_configured = is_configured;
    r->ended = ended;
    if (!pull_start(&r->pull, "ingest", ingest_run_main))
        ingest_run_free(r);
}

static bool start_one(struct ingests *all, struct ingest_source *file, const void *arg)
{
    struct workers *w = all->base.sink.env->workers;
    unsigned likely = text_hash(file->to->path) % workers_count(all->base.sink.env);
    struct stream_owner *owner;

    (void)arg;
    if (is_there(all, file))
        return false;
    owner = w ? stream_owners_hold(w, file->to->path, likely) : NULL;
    if (!owner || stream_owner_worker(owner) == all->base.sink.env->worker)
        start_here(all, file, owner);
    else
        stream_owners_release(w, owner);
    return false;
}

static void on_check(struct co_timer *t)
{
    start_missing(container_of(t, struct ingests, timer));
}

static void start_missing(struct ingests *all)
{
    if (all->base.sink.ending)
        return;
    (void)each(all, start_one, NULL);
    if (all->base.sink.env->workers)
        co_timer_set(&all->timer, co_now() + CHECK_EVERY, on_check);
}

/* ---- ingests by ffmpeg: jobs of the sink for programs, on one worker */

static void apply_programs(struct ingests *all)
{
    struct sink *programs = sink_list_find(all->base.sink.list, &program_sink);
    struct job_specs specs = { 0 };

    if (all->programs && !all->base.sink.ending)
        ingest_programs(all->base.sink.env->conf, &specs);
    if (all->programs)
        children_apply_standing(programs, &specs);
}

/* ---- the sink */

static void begin_all(struct sink *sink)
{
    struct ingests *all = files_of(sink);

    all->programs = all->base.sink.env->worker == 0 && sink_list_find(sink->list, &program_sink);
    apply_programs(all);
    start_missing(all);
}

/* Stops ingests that are no longer configured or have changed. */
static void reload(struct sink *sink)
{
    struct ingests *all = files_of(sink);

    for (struct pull *p = all->base.list; p; p = p->next) {
        if (!is_configured(run_of(p))) {
            run_of(p)->state = JOB_ENDS;
            co_stop(p->session.co, NULL);
        }
    }
    apply_programs(all);
    start_missing(all);
}

static void stop(struct sink *sink)
{
    co_timer_cancel(&files_of(sink)->timer);
}

static void interrupt(struct sink *sink)
{
    stop(sink);
    sink_interrupt(sink);
}

static void drain(struct sink *sink)
{
    interrupt(sink);
    apply_programs(files_of(sink));
}

const struct sink_ops ingests_sink = {
    .name = "ingest", .size = sizeof(struct ingests), .start = begin_all, .reload = reload,
    .drain = drain, .interrupt = interrupt, .stop = stop,
};

/* ---- lists of ingests */

const struct ingest_run *ingests_next(const struct sink *sink, const struct ingest_run *r)
{
    struct pull *next = r ? r->pull.next : container_of(sink, struct pulls, sink)->list;

    return next ? run_of(next) : NULL;
}

void ingests_info(const struct ingest_run *r, struct job_info *out)
{
    *out = (struct job_info){
        .kind = JOB_INGEST,
        .state = r->state,
        .vhost = r->source.vhost,
        .stream = r->source.to->path,
        .name = r->source.name,
        .command = r->source.public_path,
        .starts = r->starts,
        .since = r->since,
        .next = r->until,
        .ended = r->end_reason,
        .line = "",
        .counter = "",
        .id = r->pull.id,
        .condition = &r->pull.condition,
        .srt = r->source.srt,
        .bytes = r->pull.session.in,
    };
}
