/* SPDX-License-Identifier: MIT */
/* source.c - decides which ingests need no ffmpeg, and builds the command lines of the others. */
#include "pull/ingest/source.h"

#include "base/log.h"
#include "base/log_clean.h"
#include "base/must.h"
#include "proto/rtmp/url.h"
#include "proto/srt/call.h"
#include "sink/program/ffmpeg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { INGEST_NAME_MAX = 300 };

/* Writes the name of an engine of an ingest, as lists show it. */
static void put_name(const struct conf_ingest *in, size_t engine, char *name, size_t size)
{
    const struct conf_engine *e = &in->engine.v[engine];

    if (in->engine.n == 1)
        (void)snprintf(name, size, "%s", in->name);
    else if (*e->name)
        (void)snprintf(name, size, "%s-%s", in->name, e->name);
    else
        (void)snprintf(name, size, "%s-%zu", in->name, engine + 1);
}

/* Sets the variables of its output. */
static void put_vars(struct job_spec *w, const struct conf *c, const struct conf_vhost *v,
                     const struct conf_engine *e)
{
    char here[300];

    ffmpeg_here(c, here, sizeof(here));
    job_spec_var(w, "vhost", v->name);
    job_spec_var(w, "port", strrchr(here, ':') + 1);
    job_spec_var(w, "engine", e->name);
}

/* Returns true for plain files that the server can read. Inputs with a syntax of ffmpeg are
 * excluded: "concat:a.flv", "http://host/a.mp4", "%03d.mp4". */
static bool is_readable_file(const char *path)
{
    static const char *const ends[] = { ".flv", ".mp4", ".m4v", ".m4a", ".mov", ".f4v" };
    const char *end = strrchr(path, '.');
    bool is = false;

    for (size_t i = 0; end && i < sizeof(ends) / sizeof(ends[0]); i++)
        is |= strcasecmp(end, ends[i]) == 0;
    return is && !strpbrk(path, ":|%*");
}

/* Returns true for an SRT listener to call. URLs that listen themselves, or have parameters only
 * ffmpeg understands (such as a latency in microseconds), are left to ffmpeg. */
static bool is_listener(const char *url)
{
    struct srt_url u;

    return srt_url_parse(&u, url) && !u.listener;
}

static bool is_native(const struct conf_ingest *in)
{
    return in->input.type == CONF_INGEST_FILE ? is_readable_file(in->input.url)
                                              : is_listener(in->input.url);
}

/* Returns true if the input has no options for ffmpeg, except those that have no effect here:
 * reading in real time and looping. */
static bool is_plain_input(const struct conf_engine *e)
{
    static const char *const ours[] = { "re", "stream_loop" };

    for (size_t i = 0; i < e->perfile.n; i++) {
        bool is = false;

        for (size_t k = 0; k < sizeof(ours) / sizeof(ours[0]); k++)
            is |= strcmp(e->perfile.v[i].name, ours[k]) == 0;
        if (!is)
            return false;
    }
    return true;
}

/* Returns true if the URL is an RTMP address of this server. */
static bool is_this_server(const struct conf *c, const struct rtmp_url *u)
{
    bool local = strcmp(u->host, "127.0.0.1") == 0 || strcmp(u->host, "localhost") == 0 ||
                 strcmp(u->host, "::1") == 0;

    for (size_t i = 0; i < c->rtmp.listen.n; i++) {
        const struct conf_endpoint *e = &c->rtmp.listen.v[i];

        if (e->port == u->port && (local || strcmp(e->host, u->host) == 0))
            return strcmp(u->schema, "rtmp") == 0;
    }
    return false;
}

/* Returns true if the output contains the time, so that it changes with each start. */
static bool has_time(const struct job_spec *w, const char *output, const char *at_no_time)
{
    char *at_a_time = NULL;
    err_t err = job_spec_expand(w, output, INT64_C(1000000000000), true, &at_a_time);
    bool has = err || strcmp(at_a_time, at_no_time) != 0;

    err_free(&err);
    free(at_a_time);
    return has;
}

/* Returns the stream that the engine's output names, or NULL if it is not on this server. */
static struct stream_key *target(const struct conf *c, const struct conf_vhost *v,
                                 const struct conf_engine *e)
{
    struct job_spec *w = job_spec_new(JOB_INGEST, v->name, "", "");
    struct stream_key *key = NULL;
    struct rtmp_url u = { 0 };
    char *output = NULL;
    err_t err;

    put_vars(w, c, v, e);
    err = job_spec_expand(w, e->output, -1, true, &output);
    if (!err && !has_time(w, e->output, output))
        err = rtmp_url_parse(&u, output);
    if (!err && u.schema && is_this_server(c, &u) && *u.app && *u.stream) {
        const struct conf_vhost *to = conf_vhost_find(c, u.vhost);

        if (to && to->enabled)
            key = stream_key_new(to->name, u.app, u.stream);
    }
    err_free(&err); /* ffmpeg reports the error */
    rtmp_url_free(&u);
    free(output);
    job_spec_free(w);
    return key;
}

bool ingest_source_of(struct ingest_source *out, const struct conf *c, const struct conf_vhost *v,
                      const struct conf_ingest *in, size_t engine)
{
    const struct conf_engine *e = &in->engine.v[engine];
    char name[INGEST_NAME_MAX];

    *out = (struct ingest_source){ 0 };
    if (e->enabled || !is_native(in) || !is_plain_input(e) || !*e->output)
        return false;
    out->to = target(c, v, e);
    if (!out->to)
        return false;
    put_name(in, engine, name, sizeof(name));
    out->vhost = must_dup(v->name);
    out->name = must_dup(name);
    out->path = must_dup(in->input.url);
    out->srt = in->input.type == CONF_INGEST_STREAM;
    out->public_path = log_hide(out->path);
    return true;
}

bool ingest_source_same(const struct ingest_source *a, const struct ingest_source *b)
{
    return strcmp(a->vhost, b->vhost) == 0 && strcmp(a->name, b->name) == 0 &&
           strcmp(a->path, b->path) == 0 && strcmp(a->to->path, b->to->path) == 0;
}

void ingest_source_free(struct ingest_source *f)
{
    free(f->vhost);
    free(f->name);
    free(f->path);
    free(f->public_path);
    f->to = stream_key_unref(f->to);
    *f = (struct ingest_source){ 0 };
}

/* ---- ffmpeg */

static struct job_spec *job_of(const struct conf *c, const struct conf_vhost *v,
                               const struct conf_ingest *in, size_t index)
{
    const struct conf_engine *e = &in->engine.v[index];
    const struct ffmpeg_job job = {
        .program = in->ffmpeg, .log_level = c->ff_log_level, .input = in->input.url, .engine = e,
        .pace = in->input.type == CONF_INGEST_FILE,
        .copy = !e->enabled || !*e->vcodec || !*e->acodec,
    };
    struct job_spec *w;
    char name[INGEST_NAME_MAX];

    put_name(in, index, name, sizeof(name));
    w = job_spec_new(JOB_INGEST, v->name, "", name);
    ffmpeg_line(w, &job);
    put_vars(w, c, v, e);
    job_spec_log_in(w, c->ff_log_dir);
    return w;
}

static void add(const struct conf *c, const struct conf_vhost *v, const struct conf_ingest *in,
                struct job_specs *out)
{
    if (!*in->input.url || in->engine.n == 0) {
        log_warn("ingest %s of %s is ignored: it has no %s", in->name, v->name,
                 *in->input.url ? "engine" : "input URL");
        return;
    }
    for (size_t i = 0; i < in->engine.n; i++) {
        struct ingest_source file;

        if (ingest_source_of(&file, c, v, in, i))
            ingest_source_free(&file); /* run by ingests.c */
        else if (*in->engine.v[i].output)
            job_specs_add(out, job_of(c, v, in, i));
        else
            log_warn("ingest %s of %s is ignored: its engine has no output", in->name, v->name);
    }
}

void ingest_programs(const struct conf *c, struct job_specs *out)
{
    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost *v = &c->vhost.v[i];

        for (size_t k = 0; v->enabled && k < v->ingest.n; k++) {
            if (v->ingest.v[k].enabled)
                add(c, v, &v->ingest.v[k], out);
        }
    }
}
