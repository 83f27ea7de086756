/* SPDX-License-Identifier: MIT */
/* exec.c - programs that run while a stream is published. */
#include "sink/program/exec.h"

#include "base/must.h"
#include "base/text.h"
#include "sink/program/ffmpeg.h"
#include "sink/program/job_plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* ---- redirections: ">file", "1>file", "2> file", "2>&1" */

/* Checks whether a redirection begins at v[*i]; moves *i to its last word. */
static bool is_redirect(const struct conf_list *line, size_t *i, int *fd, const char **file)
{
    const char *p = line->v[*i];
    bool more = *i + 1 < line->n;

    *fd = 1;
    if (*p == '1' || *p == '2') {
        *fd = *p - '0';
        p++;
        if (!*p && more && line->v[*i + 1][0] == '>')
            p = line->v[++*i];
    }
    if (*p != '>')
        return false;
    p += strspn(p, ">");
    if (!*p && *i + 1 < line->n)
        p = line->v[++*i];
    *file = p;
    return *p != '\0';
}

static void redirect(struct job_spec *w, int fd, const char *file)
{
    char **to = fd == 1 ? &w->out : &w->err;

    free(*to);
    *to = NULL;
    if (strcmp(file, "&1") == 0)
        file = w->out;
    if (file)
        *to = must_dup(file);
}

/* ---- one line */

static void add_vars(struct job_spec *w, const struct conf *c, const struct session_stream *names)
{
    char *url = ffmpeg_url(c, names->vhost, names->app, names->name, names->param);
    char here[300];

    ffmpeg_here(c, here, sizeof(here));
    job_spec_var(w, "vhost", names->vhost);
    job_spec_var(w, "port", strrchr(here, ':') + 1);
    job_spec_var_from(w, JOB_VAR_NAME, "app", names->app);
    job_spec_var_from(w, JOB_VAR_NAME, "stream", names->name);
    job_spec_var_from(w, JOB_VAR_QUERY, "param", names->param);
    job_spec_var_from(w, JOB_VAR_URL, "url", url);
    job_spec_var_from(w, JOB_VAR_TEXT, "tcUrl", names->tc_url);
    job_spec_var_from(w, JOB_VAR_TEXT, "pageUrl", names->page_url);
    job_spec_var_from(w, JOB_VAR_TEXT, "swfUrl", text_or_empty(names->swf_url));
    free(url);
}

static struct job_spec *make(const struct conf *c, const struct conf_list *line,
                             const struct session_stream *names, const char *stream, size_t index)
{
    char name[128];
    struct job_spec *w;

    (void)snprintf(name, sizeof(name), index ? "%.100s-%zu" : "%.100s", base_name(line->v[0]),
                   index + 1);
    w = job_spec_new(JOB_EXEC, names->vhost, stream, name);
    for (size_t i = 0; i < line->n; i++) {
        const char *file;
        int fd;

        if (i > 0 && is_redirect(line, &i, &fd, &file))
            redirect(w, fd, file);
        else
            job_spec_add_template(w, line->v[i]);
    }
    add_vars(w, c, names);
    job_spec_log_in(w, c->ff_log_dir);
    return w;
}

void exec_wants(const struct conf *c, const struct conf_vhost *v,
                const struct session_stream *names, const char *stream, struct job_specs *out)
{
    for (size_t i = 0; v->exec.enabled && i < v->exec.publish.n; i++) {
        const struct conf_list *line = &v->exec.publish.v[i];

        if (line->n > 0)
            job_specs_add_fitting(out, make(c, line, names, stream, i));
    }
}
