/* SPDX-License-Identifier: MIT */
/* program.c - streams that ffmpeg brings in. */
#include "pull/ingest/program.h"

#include "base/log.h"
#include "pull/ingest/source.h"
#include "sink/program/ffmpeg.h"

#include <stdio.h>
#include <string.h>

void ingest_name(const struct conf_ingest *in, size_t engine, char *name, size_t size)
{
    const struct conf_engine *e = &in->engine.v[engine];

    if (in->engine.n == 1)
        (void)snprintf(name, size, "%s", in->name);
    else if (*e->name)
        (void)snprintf(name, size, "%s-%s", in->name, e->name);
    else
        (void)snprintf(name, size, "%s-%zu", in->name, engine + 1);
}

void ingest_vars(struct job_want *w, const struct conf *c, const struct conf_vhost *v,
                 const struct conf_engine *e)
{
    char here[300];

    ffmpeg_here(c, here, sizeof(here));
    job_want_var(w, "vhost", v->name);
    job_want_var(w, "port", strrchr(here, ':') + 1);
    job_want_var(w, "engine", e->name);
}

static struct job_want *make(const struct conf *c, const struct conf_vhost *v,
                             const struct conf_ingest *in, size_t index)
{
    const struct conf_engine *e = &in->engine.v[index];
    const struct ffmpeg_job job = {
        .program = in->ffmpeg, .log_level = c->ff_log_level, .input = in->input.url, .engine = e,
        .pace = in->input.type == CONF_INGEST_FILE,
        .copy = !e->enabled || !*e->vcodec || !*e->acodec,
    };
    struct job_want *w;
    char name[INGEST_NAME_MAX];

    ingest_name(in, index, name, sizeof(name));
    w = job_want_new(JOB_INGEST, v->name, "", name);
    ffmpeg_line(w, &job);
    ingest_vars(w, c, v, e);
    job_want_log_in(w, c->ff_log_dir);
    return w;
}

static void add(const struct conf *c, const struct conf_vhost *v, const struct conf_ingest *in,
                struct job_wants *out)
{
    if (!*in->input.url || in->engine.n == 0) {
        log_warn("ingest %s of %s does nothing: it has no %s", in->name, v->name,
                 *in->input.url ? "engine" : "url of an input");
        return;
    }
    for (size_t i = 0; i < in->engine.n; i++) {
        struct ingest_source file;

        if (ingest_source_of(&file, c, v, in, i))
            ingest_source_free(&file); /* ingests.c does it */
        else if (*in->engine.v[i].output)
            job_wants_add(out, make(c, v, in, i));
        else
            log_warn("ingest %s of %s does nothing: its engine has no output", in->name, v->name);
    }
}

void ingest_wants(const struct conf *c, struct job_wants *out)
{
    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost *v = &c->vhost.v[i];

        for (size_t k = 0; v->enabled && k < v->ingest.n; k++) {
            if (v->ingest.v[k].enabled)
                add(c, v, &v->ingest.v[k], out);
        }
    }
}
