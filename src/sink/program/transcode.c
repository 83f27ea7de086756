/* SPDX-License-Identifier: MIT */
/* transcode.c - transcodes streams with ffmpeg. */
#include "sink/program/transcode.h"

#include "base/log.h"
#include "base/must.h"
#include "proto/rtmp/url.h"
#include "sink/program/ffmpeg.h"
#include "sink/program/job_plain.h"

#include <stdlib.h>
#include <string.h>

/* Matches the rule's "", "app" or "app/stream". */
static bool is_for(const struct conf_transcode *rule, const struct session_stream *s)
{
    size_t n = strlen(s->app);

    if (!*rule->name || strcmp(rule->name, s->app) == 0)
        return true;
    return strncmp(rule->name, s->app, n) == 0 && rule->name[n] == '/' &&
           strcmp(rule->name + n + 1, s->name) == 0;
}

static bool is_rtmp(const struct rtmp_url *u)
{
    return strncmp(u->schema, "rtmp", 4) == 0;
}

static char *name_of(const struct conf *c, const struct rtmp_url *u)
{
    const struct conf_vhost *v = conf_vhost_find(c, u->vhost);

    return must_print("%s/%s/%s", v ? v->name : u->vhost, u->app, u->stream);
}

char *transcode_target(const struct conf *c, const char *output)
{
    struct rtmp_url u = { 0 };
    char *name = NULL;
    err_t err = rtmp_url_parse(&u, output);

    if (!err && is_rtmp(&u))
        name = name_of(c, &u);
    err_free(&err);
    rtmp_url_free(&u);
    return name;
}

static bool is_our_port(const struct conf *c, int port)
{
    size_t i = 0;

    while (i < c->rtmp.listen.n && c->rtmp.listen.v[i].port != port)
        i++;
    return i < c->rtmp.listen.n;
}

/* Returns true if the output is the stream that it reads, on this server. */
static bool is_circle(const struct conf *c, const struct job_spec *w)
{
    const char *output = w->args[w->n - 1].text;
    struct rtmp_url u = { 0 };
    char *real = NULL, *name = NULL;
    err_t err = job_spec_expand(w, output, 0, true, &real);
    bool circle = false;

    if (!err)
        err = rtmp_url_parse(&u, real);
    if (!err && is_rtmp(&u)) {
        bool here = strcmp(u.host, "127.0.0.1") == 0 || strcmp(u.host, "localhost") == 0 ||
                    strcmp(u.host, "::1") == 0;

        name = name_of(c, &u);
        circle = here && is_our_port(c, u.port) && strcmp(name, w->stream) == 0;
    }
    err_free(&err);
    free(name);
    free(real);
    rtmp_url_free(&u);
    return circle;
}

static struct job_spec *make(const struct conf *c, const struct conf_transcode *rule,
                             const struct conf_engine *e, const struct session_stream *s,
                             const char *stream)
{
    struct job_spec *w = job_spec_new(JOB_TRANSCODE, s->vhost, stream, e->name);
    char *input = ffmpeg_url(c, s->vhost, s->app, s->name, s->param);
    const struct ffmpeg_job job = { .program = rule->ffmpeg, .log_level = c->ff_log_level,
                                    .input = input, .engine = e };
    char here[300];

    ffmpeg_here(c, here, sizeof(here));
    ffmpeg_line(w, &job);
    job_spec_var(w, "vhost", s->vhost);
    job_spec_var(w, "port", strrchr(here, ':') + 1);
    job_spec_var(w, "engine", e->name);
    job_spec_var_from(w, JOB_VAR_NAME, "app", s->app);
    job_spec_var_from(w, JOB_VAR_NAME, "stream", s->name);
    job_spec_var_from(w, JOB_VAR_QUERY, "param", s->param);
    job_spec_log_in(w, c->ff_log_dir);
    free(input);
    return w;
}

static void add_rule(const struct conf *c, const struct conf_transcode *rule,
                     const struct session_stream *s, const char *stream, struct job_specs *out)
{
    for (size_t i = 0; i < rule->engine.n; i++) {
        const struct conf_engine *e = &rule->engine.v[i];
        struct job_spec *w;

        if (!e->enabled)
            continue;
        if (!*e->output) {
            log_warn("transcode of %s: engine \"%s\" has no output", stream, e->name);
            continue;
        }
        w = make(c, rule, e, s, stream);
        if (!is_circle(c, w)) {
            job_specs_add_fitting(out, w);
            continue;
        }
        log_warn("transcode of %s: engine \"%s\" would publish to the stream that it reads",
                 stream, e->name);
        job_spec_free(w);
    }
}

void transcode_wants(const struct conf *c, const struct conf_vhost *v,
                     const struct session_stream *names, const char *stream, struct job_specs *out)
{
    for (size_t i = 0; i < v->transcode.n; i++) {
        const struct conf_transcode *rule = &v->transcode.v[i];

        if (rule->enabled && is_for(rule, names))
            add_rule(c, rule, names, stream, out);
    }
}
