/* SPDX-License-Identifier: MIT */
/* children.c - all programs that the server runs. */
#include "sink/program/children.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "sink/list.h"
#include "sink/program/exec.h"
#include "sink/program/own_transcodes.h"
#include "sink/program/transcode.h"

#include <stdlib.h>
#include <string.h>

/* Jobs that are applied together: those of one stream, or all standing jobs. */
struct set {
    struct job **v;
    size_t n;
};

/* The sink's data about a published stream. */
struct stream {
    const char *name;                /* "vhost/app/stream" */
    const struct session_stream *names;
    struct job_specs wants;          /* specs for the current reload */
    bool looked_at;                  /* `wants` is set */
    struct set set;
};

struct children {
    struct sink sink;
    struct jobs jobs;
    struct set standing;
};

static struct children *children_of(struct sink *sink)
{
    return container_of(sink, struct children, sink);
}

static void init(struct sink *sink, const struct sink_setup *setup)
{
    children_of(sink)->jobs = (struct jobs){ .env = setup->env, .disk = setup->segments,
                                             .group = &sink->group };
}

/* ---- sets */

static struct job *take_same(struct set *set, const struct job_spec *want)
{
    for (size_t i = 0; i < set->n; i++) {
        struct job *j = set->v[i];

        if (j && job_spec_same(job_spec_of(j), want)) {
            set->v[i] = NULL;
            return j;
        }
    }
    return NULL;
}

static void end_set(struct set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        if (set->v[i])
            job_end(set->v[i]);
    }
    free(set->v);
    *set = (struct set){ 0 };
}

/* Applies new specs to a set: keeps jobs with the same spec, ends others, starts missing ones.
 * Takes over `wants`. */
static void apply(struct children *c, struct set *set, struct job_specs *wants)
{
    struct set next = { must(calloc(wants->n + 1, sizeof(struct job *))), 0 };

    for (size_t i = 0; i < wants->n; i++) {
        struct job *j = take_same(set, wants->v[i]);

        if (j) {
            next.v[next.n++] = j;
            job_spec_free(wants->v[i]);
            wants->v[i] = NULL;
        }
    }
    end_set(set); /* before new jobs use the same output */
    for (size_t i = 0; i < wants->n; i++) {
        struct job *j = wants->v[i] ? job_start(&c->jobs, wants->v[i]) : NULL;

        wants->v[i] = NULL;
        if (j)
            next.v[next.n++] = j;
    }
    job_specs_free(wants);
    *set = next;
}

void children_apply_standing(struct sink *sink, struct job_specs *wants)
{
    struct children *c = children_of(sink);

    apply(c, &c->standing, wants);
}

/* ---- streams */

static void look_at(struct children *c, struct stream *s, const struct conf_vhost *v)
{
    s->looked_at = true;
    if (!v || !v->enabled)
        return;
    exec_wants(c->sink.env->conf, v, s->names, s->name, &s->wants);
    transcode_wants(c->sink.env->conf, v, s->names, s->name, &s->wants);
}

static bool leads_to(const struct children *c, const char *output, const char *name)
{
    char *target = transcode_target(c->sink.env->conf, output);
    bool is = target && strcmp(target, name) == 0;

    free(target);
    return is;
}

static bool wants_make(const struct children *c, const struct stream *s, const char *name)
{
    for (size_t i = 0; i < s->wants.n; i++) {
        const struct job_spec *w = s->wants.v[i];
        char *output = NULL;
        err_t err;
        bool is;

        if (w->kind != JOB_TRANSCODE)
            continue;
        err = job_spec_expand(w, w->args[w->n - 1].text, -1, true, &output);
        is = !err && leads_to(c, output, name);
        err_free(&err);
        free(output);
        if (is)
            return true;
    }
    return false;
}

static bool jobs_make(const struct children *c, const struct stream *s, const char *name)
{
    for (size_t i = 0; i < s->set.n; i++) {
        const struct job *j = s->set.v[i];

        if (job_spec_of(j)->kind == JOB_TRANSCODE && leads_to(c, job_output(j), name))
            return true;
    }
    return false;
}

static bool makes(const struct children *c, const struct stream *s, const char *name)
{
    return wants_make(c, s, name) || jobs_make(c, s, name);
}

/* Returns the stream from which a transcode produces this one, malloc'ed, or NULL. */
static char *maker_of(const struct children *c, const struct stream *s)
{
    struct sink_stream *at = NULL;

    while ((at = sink_list_next(c->sink.list, at))) {
        const struct stream *other = *sink_of(&c->sink, at);

        if (other && other != s && makes(c, other, s->name))
            return must_dup(other->name);
    }
    return own_transcodes_of(c->sink.env, s->name);
}

/* Does not transcode the output of a transcode, because that would never end. */
static void break_circle(const struct children *c, struct stream *s)
{
    char *other = maker_of(c, s);

    if (!other)
        return;
    for (size_t i = 0, n = s->wants.n; i < n; i++) {
        struct job_spec *w = s->wants.v[i];

        if (w->kind != JOB_TRANSCODE)
            continue;
        log_trace("no transcode %s of %s: it is the output of the transcode of %s", w->name,
                  s->name, other);
        job_spec_free(w);
        memmove(&s->wants.v[i], &s->wants.v[i + 1], (n - i - 1) * sizeof(struct job_spec *));
        s->wants.n = --n;
        i--;
    }
    free(other);
}

static struct stream *stream_of(struct sink *sink, struct sink_stream *stream)
{
    void **at = sink_of(sink, stream);
    struct stream *s = *at;

    if (!s) {
        *at = s = must(calloc(1, sizeof(*s)));
        s->name = live_source_name(stream->src);
        s->names = &stream->names;
    }
    return s;
}

static void begin(struct sink *sink, struct sink_stream *stream, const struct conf_vhost *vhost)
{
    struct children *c = children_of(sink);
    struct stream *s = stream_of(sink, stream);

    if (!s->looked_at)
        look_at(c, s, vhost);
    s->looked_at = false;
    break_circle(c, s);
    apply(c, &s->set, &s->wants);
}

static void end(struct sink *sink, struct sink_stream *stream)
{
    void **at = sink_of(sink, stream);
    struct stream *s = *at;

    if (!s)
        return;
    *at = NULL;
    end_set(&s->set);
    job_specs_free(&s->wants);
    free(s);
}

/* Collects the specs of all streams before it starts any job, because one stream may be produced
 * from another. */
static void reload(struct sink *sink)
{
    struct children *c = children_of(sink);
    struct sink_stream *at = NULL;

    while ((at = sink_list_next(sink->list, at)))
        look_at(c, stream_of(sink, at), conf_vhost_find(c->sink.env->conf, at->names.vhost));
}

/* ---- the sink */

static void stop(struct sink *sink)
{
    end_set(&children_of(sink)->standing);
}

const struct sink_ops program_sink = {
    .name = "program", .size = sizeof(struct children), .init = init, .begin = begin, .end = end,
    .reload = reload, .interrupt = sink_interrupt, .stop = stop,
};

const struct job *children_next(const struct sink *sink, const struct job *j)
{
    return j ? job_next(j) : container_of(sink, struct children, sink)->jobs.list;
}
