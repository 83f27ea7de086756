/* SPDX-License-Identifier: MIT */
/* job_spec.h - the description of a program to run: its kind and command line.
 *
 * Configured arguments may contain variables; those of time are replaced at each start. A reload
 * compares two specs without the time to detect a change. Pure.
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
    bool vars; /* replace variables; else use it unchanged */
    bool free; /* a change does not restart the program */
};

/* The origin and format of a value. */
enum job_var_from {
    JOB_VAR_OURS,  /* the configuration or the server */
    JOB_VAR_NAME,  /* the client: a name */
    JOB_VAR_QUERY, /* the client: "?token=x" or "" */
    JOB_VAR_URL,   /* a URL of this server that contains the above */
    JOB_VAR_TEXT,  /* the client: any text */
};

struct job_var {
    const char *name; /* a literal */
    char *value;
    enum job_var_from from;
};

/* Owns all strings. */
struct job_spec {
    enum job_kind kind;
    char *vhost;
    char *stream; /* "vhost/app/stream" of its stream, or "" */
    char *name;   /* id of the ingest, name of the engine, or program of the exec */
    struct job_arg *args;
    size_t n;
    struct job_var vars[JOB_VARS_MAX];
    size_t n_vars;
    char *out, *err; /* files for stdout and stderr, with variables; NULL: the log */
    char *log;       /* log file; NULL: none */
};

struct job_specs {
    struct job_spec **v;
    size_t n;
};

const char *job_kind_name(enum job_kind kind); /* "exec" */

struct job_spec *job_spec_new(enum job_kind kind, const char *vhost, const char *stream,
                              const char *name);
void job_spec_free(struct job_spec *w); /* may be NULL */
void job_spec_var(struct job_spec *w, const char *name, const char *value); /* JOB_VAR_OURS */
void job_spec_var_from(struct job_spec *w, enum job_var_from from, const char *name,
                       const char *value);
void job_spec_add(struct job_spec *w, const char *text);          /* unchanged */
void job_spec_add_template(struct job_spec *w, const char *text); /* with variables */
/* Adds "-name value", or only "-name" if there is no value. */
void job_spec_add_option(struct job_spec *w, const char *name, const char *value);
/* The same, but job_spec_same() ignores it. */
void job_spec_add_free_option(struct job_spec *w, const char *name, const char *value);
/* Sets the log file in `folder` (ff_log_dir): its name consists of kind, stream and name.
 * "/dev/null" and "" mean no log. */
void job_spec_log_in(struct job_spec *w, const char *folder);

/* Builds the NULL-terminated command line for a time (ms since 1970; below 0: variables of time
 * stay unchanged). ERR_MALFORMED, ERR_TOO_LARGE: a value is not allowed. */
err_t job_spec_argv(const struct job_spec *w, int64_t msec, bool utc, char ***argv)
    __attribute__((warn_unused_result));
void job_spec_argv_free(char **argv); /* may be NULL */
/* Builds the NULL-terminated environment: PATH, HOME, LANG, TZ and the variables named in `more`
 * from the server's environment, and the spec's variables, such as [tcUrl] as SRS_TCURL. Other
 * variables of the server may contain passwords and are not passed. w may be NULL. Free it with
 * job_spec_argv_free(). */
char **job_spec_env(const struct job_spec *w, const struct conf_list *more);
/* Expands the variables of one text. */
err_t job_spec_expand(const struct job_spec *w, const char *text, int64_t msec, bool utc,
                      char **out) __attribute__((warn_unused_result));

/* Returns true if two specs run the same program for the same stream; their logs may differ. */
bool job_spec_same(const struct job_spec *a, const struct job_spec *b);

void job_specs_add(struct job_specs *all, struct job_spec *w); /* takes it over */
void job_specs_free(struct job_specs *all);

#endif
