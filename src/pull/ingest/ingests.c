/* SPDX-License-Identifier: MIT */
/* ingests.c - the ingests of a worker.
 *
 * Each worker checks which ingests the configuration wants, and starts those whose streams it owns.
 * A player that came before any publisher may have made another worker the owner, and may have left
 * before that worker checked: so with several workers each checks again every two seconds.
 */
#include "pull/ingest/ingests.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "pull/ingest/program.h"
#include "pull/ingest/run.h"
#include "session/homes.h"
#include "session/workers.h"
#include "sink/list.h"
#include "sink/program/children.h"

#include <stdlib.h>
#include <string.h>

#define LOOK CO_SECONDS(2)

struct ingests {
    struct sink sink;
    struct session_env *env;
    struct co_group group;
    struct ingest_run *list;
    struct co_timer timer;
    bool ending;
    bool programs; /* those that ffmpeg does run now */
};

static struct ingests *files_of(struct sink *sink)
{
    return container_of(sink, struct ingests, sink);
}

static struct sink *new(const struct sink_setup *setup)
{
    struct ingests *all = must(calloc(1, sizeof(*all)));

    all->env = setup->env;
    co_group_init(&all->group);
    return &all->sink;
}

/* ---- what the configuration wants */

/* Call it for each; it may keep what it is given, and leave it zeroed. True: no more. */
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
    struct conf *c = conf_ref(all->env->conf);
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

static bool wanted(const struct ingest_run *r)
{
    struct ingests *all = r->arg;

    return !all->ending && each(all, is_same, &r->what);
}

/* ---- one that begins and ends */

static void look(struct ingests *all);

static void gone(struct ingest_run *r)
{
    struct ingests *all = r->arg;
    struct ingest_run **at = &all->list;

    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    look(all); /* another one may have waited for its end */
}

/* It runs; or another one that publishes the same is about to end. */
static bool is_there(const struct ingests *all, const struct ingest_source *file)
{
    const struct ingest_run *r = all->list;

    while (r && !ingest_source_same(&r->what, file) &&
           (r->state != JOB_ENDS || strcmp(r->what.to->path, file->to->path) != 0))
        r = r->next;
    return r != NULL;
}

static void start_here(struct ingests *all, struct ingest_source *file, struct home *home)
{
    struct ingest_run *r = ingest_run_new(all->env, file, home);
    err_t err;

    r->wanted = wanted;
    r->gone = gone;
    r->arg = all;
    err = co_go(&all->group, "ingest", ingest_run_main, r);
    if (err) {
        ingest_run_free(r);
        log_end("ingest", &err);
        return;
    }
    r->session.co = co_newest(&all->group);
    r->next = all->list;
    all->list = r;
}

static bool start_one(struct ingests *all, struct ingest_source *file, const void *arg)
{
    struct workers *w = all->env->workers;
    unsigned likely = text_hash(file->to->path) % workers_count(all->env);
    struct home *home;

    (void)arg;
    if (is_there(all, file))
        return false;
    home = w ? homes_hold(w, file->to->path, likely) : NULL;
    if (!home || home_worker(home) == all->env->worker)
        start_here(all, file, home);
    else
        homes_release(w, home);
    return false;
}

static void on_look(struct co_timer *t)
{
    look(container_of(t, struct ingests, timer));
}

static void look(struct ingests *all)
{
    if (all->ending)
        return;
    (void)each(all, start_one, NULL);
    if (all->env->workers)
        co_timer_set(&all->timer, co_now() + LOOK, on_look);
}

/* ---- ingests by ffmpeg: jobs of the sink for programs, once for the process */

static void apply_programs(struct ingests *all)
{
    struct sink *programs = sink_list_find(all->sink.list, &program_sink);
    struct job_wants wants = { 0 };

    if (all->programs && !all->ending)
        ingest_wants(all->env->conf, &wants);
    if (all->programs)
        children_apply_standing(programs, &wants);
}

/* ---- the sink */

static void begin_all(struct sink *sink)
{
    struct ingests *all = files_of(sink);

    all->programs = all->env->worker == 0 && sink_list_find(sink->list, &program_sink);
    apply_programs(all);
    look(all);
}

/* Those that are wanted no more, or as something else, end. */
static void reload(struct sink *sink)
{
    struct ingests *all = files_of(sink);

    for (struct ingest_run *r = all->list; r; r = r->next) {
        if (!wanted(r)) {
            r->state = JOB_ENDS;
            co_stop(r->session.co, NULL);
        }
    }
    apply_programs(all);
    look(all);
}

static void interrupt(struct sink *sink)
{
    struct ingests *all = files_of(sink);

    all->ending = true;
    co_timer_cancel(&all->timer);
    co_group_interrupt(&all->group);
}

static void drain(struct sink *sink)
{
    interrupt(sink);
    apply_programs(files_of(sink));
}

void ingests_end(struct sink *sink)
{
    struct ingests *all = files_of(sink);
    err_t err;

    interrupt(sink);
    err = co_group_stop(&all->group);
    err_free(&err); /* each was logged where it ended */
}

static void free_all(struct sink *sink)
{
    free(files_of(sink));
}

static unsigned count(const struct sink *sink)
{
    return (unsigned)container_of(sink, struct ingests, sink)->group.count;
}

const struct sink_ops ingests_sink = {
    .name = "ingest", .new = new, .start = begin_all,
    .reload = reload, .drain = drain, .interrupt = interrupt, .stop = ingests_end,
    .free = free_all, .count = count,
};

/* ---- for those who look */

const struct ingest_run *ingests_next(const struct sink *sink, const struct ingest_run *r)
{
    return r ? r->next : container_of(sink, struct ingests, sink)->list;
}

void ingests_info(const struct ingest_run *r, struct job_info *out)
{
    *out = (struct job_info){
        .kind = JOB_INGEST, .state = r->state, .vhost = r->what.vhost, .stream = r->what.to->path,
        .name = r->what.name, .command = r->what.shown, .starts = r->starts, .since = r->since,
        .next = r->until, .ended = r->ended, .line = "", .counter = "",
        .id = r->id, .condition = &r->condition, .srt = r->what.srt, .bytes = r->session.in,
    };
}
