/* SPDX-License-Identifier: MIT */
/* job_spec.h - a program that shall run: what for, and its command line.
 *
 * Arguments of the configuration may have variables; those of time are replaced anew at each
 * start. What is left of two wishes without the time is compared to see whether a reload changed
 * anything. Pure.
 */
#ifndef SINK_PROGRAM_JOB_SPEC_H
#define SINK_PROGRAM_JOB_SPEC_H

#include "base/err.h"
#include "conf/conf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum job_kind { JOB_EXEC, JOB_INGEST, JOB_TRANSCODE };
enum { JOB_KINDS = JOB_TRANSCODE + 1 };

enum { JOB_ARG_MAX = 4096, JOB_ARGS_MAX = 512, JOB_VARS_MAX = 12 };

struct job_arg {
    char *text;
    bool vars; /* replace its variables; else it is as it stands */
    bool free; /* another one is no reason to start the program anew */
};

/* Who chose its value, and what it looks like. */
enum job_var_from {
    JOB_VAR_OURS,  /* the configuration, or we */
    JOB_VAR_NAME,  /* a peer: a name */
    JOB_VAR_QUERY, /* a peer: "?token=x" or "" */
    JOB_VAR_URL,   /* an address of ours with those in it */
    JOB_VAR_TEXT,  /* a peer: whatever it likes */
};

struct job_var {
    const char *name; /* a literal */
    char *value;
    enum job_var_from from;
};

/* All strings are its own. */
struct job_spec {
    enum job_kind kind;
    char *vhost;
    char *stream; /* "vhost/app/stream" of the stream that it belongs to, or "" */
    char *name;   /* the id of an ingest, the name of an engine, the program of an exec */
    struct job_arg *args;
    size_t n;
    struct job_var vars[JOB_VARS_MAX];
    size_t n_vars;
    char *out, *err; /* files for its output, with variables; NULL: its log */
    char *log;       /* NULL: none */
};

struct job_specs {
    struct job_spec **v;
    size_t n;
};

const char *job_kind_name(enum job_kind kind); /* "exec" */

struct job_spec *job_spec_new(enum job_kind kind, const char *vhost, const char *stream,
                              const char *name);
void job_spec_free(struct job_spec *w); /* may be NULL */
void job_spec_var(struct job_spec *w, const char *name, const char *value); /* of ours */
void job_spec_var_from(struct job_spec *w, enum job_var_from from, const char *name,
                       const char *value);
void job_spec_add(struct job_spec *w, const char *text);          /* as it stands */
void job_spec_add_template(struct job_spec *w, const char *text); /* with variables */
/* "-name value"; without a value the name alone. */
void job_spec_add_option(struct job_spec *w, const char *name, const char *value);
/* The same, but not looked at by job_spec_same(). */
void job_spec_add_free_option(struct job_spec *w, const char *name, const char *value);
/* Where the configuration wants the logs of programs (ff_log_dir): its name is made of kind,
 * stream and name. "/dev/null" and "" are none. */
void job_spec_log_in(struct job_spec *w, const char *folder);

/* The command line at that time (milliseconds since 1970; below 0: with variables of time left as
 * they are), ending by NULL. ERR_MALFORMED, ERR_TOO_LARGE: a value that may not be in there. */
err_t job_spec_argv(const struct job_spec *w, int64_t msec, bool utc, char ***argv)
    __attribute__((warn_unused_result));
void job_spec_argv_free(char **argv); /* may be NULL */
/* Its environment, ending by NULL: PATH, HOME, LANG, TZ and those named in `more` as we have them,
 * and its variables, [tcUrl] as SRS_TCURL. Nothing else of ours, passwords are in there. w may be
 * NULL. Free it by job_spec_argv_free(). */
char **job_spec_env(const struct job_spec *w, const struct conf_list *more);
/* The same for one text. */
err_t job_spec_expand(const struct job_spec *w, const char *text, int64_t msec, bool utc,
                      char **out) __attribute__((warn_unused_result));

/* Is it the same program for the same thing? Wherever it is logged. */
bool job_spec_same(const struct job_spec *a, const struct job_spec *b);

void job_specs_add(struct job_specs *all, struct job_spec *w); /* takes it over */
void job_specs_free(struct job_specs *all);

#endif
