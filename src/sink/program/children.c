/* SPDX-License-Identifier: MIT */
/* children.c - all programs that the configuration wants beside the server. */
#include "sink/program/children.h"

#include "base/log.h"
#include "base/must.h"
#include "sink/program/exec.h"
#include "sink/program/ingest.h"
#include "sink/program/transcode.h"

#include <stdlib.h>
#include <string.h>

/* Jobs that belong together: of one stream, or all ingests. */
struct set {
    struct job **v;
    size_t n;
};

/* A stream that is published now. */
struct stream {
    struct stream *next;
    const struct live_source *src; /* only compared */
    char *name;                    /* "vhost/app/stream" */
    struct session_stream names;     /* its strings are ours */
    struct job_wants wants;        /* while all are looked at together */
    struct set set;
};

struct children {
    struct session_env *env;
    struct jobs *jobs;
    struct stream *streams;
    struct set ingests;
    bool ingesting;
};

struct children *children_new(struct session_env *env, struct disk *disk)
{
    struct children *c = must(calloc(1, sizeof(*c)));

    c->env = env;
    c->jobs = jobs_new(env, disk);
    return c;
}

/* ---- sets */

static struct job *take_same(struct set *set, const struct job_want *want)
{
    for (size_t i = 0; i < set->n; i++) {
        struct job *j = set->v[i];

        if (j && job_want_same(job_wish(j), want)) {
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

/* Those of the set that are wanted stay, others end, what is missing is started. Takes the wants
 * over. */
static void apply(struct children *c, struct set *set, struct job_wants *wants)
{
    struct set next = { must(calloc(wants->n + 1, sizeof(struct job *))), 0 };

    for (size_t i = 0; i < wants->n; i++) {
        struct job *j = take_same(set, wants->v[i]);

        if (j) {
            next.v[next.n++] = j;
            job_want_free(wants->v[i]);
            wants->v[i] = NULL;
        }
    }
    end_set(set); /* before others take their place at the same output */
    for (size_t i = 0; i < wants->n; i++) {
        struct job *j = wants->v[i] ? job_start(c->jobs, wants->v[i]) : NULL;

        wants->v[i] = NULL;
        if (j)
            next.v[next.n++] = j;
    }
    job_wants_free(wants);
    *set = next;
}

/* ---- ingests */

static void apply_ingests(struct children *c)
{
    struct job_wants wants = { 0 };

    ingest_wants(c->env->conf, &wants);
    apply(c, &c->ingests, &wants);
}

void children_start(struct children *c)
{
    c->ingesting = true;
    apply_ingests(c);
}

void children_stop_ingest(struct children *c)
{
    c->ingesting = false;
    end_set(&c->ingests);
}

/* ---- streams */

static void free_stream(struct stream *s)
{
    session_stream_free(&s->names);
    free(s->name);
    free(s);
}

static void want(struct children *c, struct stream *s, const struct conf_vhost *v)
{
    s->wants = (struct job_wants){ 0 };
    if (!v || !v->enabled)
        return;
    exec_wants(c->env->conf, v, &s->names, s->name, &s->wants);
    transcode_wants(c->env->conf, v, &s->names, s->name, &s->wants);
}

static bool leads_to(const struct children *c, const char *output, const char *name)
{
    char *target = transcode_target(c->env->conf, output);
    bool is = target && strcmp(target, name) == 0;

    free(target);
    return is;
}

static bool wants_make(const struct children *c, const struct stream *s, const char *name)
{
    for (size_t i = 0; i < s->wants.n; i++) {
        const struct job_want *w = s->wants.v[i];
        char *output = NULL;
        err_t err;
        bool is;

        if (w->kind != JOB_TRANSCODE)
            continue;
        err = job_want_expand(w, w->args[w->n - 1].text, -1, true, &output);
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

        if (job_wish(j)->kind == JOB_TRANSCODE && leads_to(c, job_output(j), name))
            return true;
    }
    return false;
}

static bool makes(const struct children *c, const struct stream *s, const char *name)
{
    return wants_make(c, s, name) || jobs_make(c, s, name);
}

/* A stream that a transcode makes is not transcoded: of each would come another one, for ever. */
static void break_circle(const struct children *c, struct stream *s)
{
    const struct stream *other = c->streams;

    while (other && (other == s || !makes(c, other, s->name)))
        other = other->next;
    if (!other)
        return;
    for (size_t i = 0, n = s->wants.n; i < n; i++) {
        struct job_want *w = s->wants.v[i];

        if (w->kind != JOB_TRANSCODE)
            continue;
        log_trace("no transcode %s of %s: it is made by the one of %s", w->name, s->name,
                  other->name);
        job_want_free(w);
        memmove(&s->wants.v[i], &s->wants.v[i + 1], (n - i - 1) * sizeof(struct job_want *));
        s->wants.n = --n;
        i--;
    }
}

void children_begin(struct children *c, const struct conf_vhost *vhost,
                    const struct session_stream *names, struct live_source *src)
{
    struct stream *s = must(calloc(1, sizeof(*s)));

    s->src = src;
    s->name = must_dup(live_source_name(src));
    s->names = session_stream_copy(names);
    s->next = c->streams;
    c->streams = s;
    want(c, s, vhost);
    break_circle(c, s);
    apply(c, &s->set, &s->wants);
}

void children_end(struct children *c, const struct live_source *src)
{
    struct stream **at = &c->streams, *s;

    while (*at && (*at)->src != src)
        at = &(*at)->next;
    s = *at;
    if (!s)
        return;
    *at = s->next;
    end_set(&s->set);
    free_stream(s);
}

void children_reload(struct children *c)
{
    if (c->ingesting)
        apply_ingests(c);
    /* All wishes first: who makes whom is not known before. */
    for (struct stream *s = c->streams; s; s = s->next)
        want(c, s, conf_vhost_find(c->env->conf, s->names.vhost));
    for (struct stream *s = c->streams; s; s = s->next) {
        break_circle(c, s);
        apply(c, &s->set, &s->wants);
    }
}

/* ---- all of them */

void children_interrupt(struct children *c)
{
    jobs_interrupt(c->jobs);
}

void children_free(struct children *c)
{
    while (c->streams)
        children_end(c, c->streams->src);
    end_set(&c->ingests);
    jobs_free(c->jobs);
    free(c);
}

const struct job *children_next(const struct children *c, const struct job *j)
{
    return jobs_next(c->jobs, j);
}
