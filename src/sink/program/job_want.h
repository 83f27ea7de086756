/* SPDX-License-Identifier: MIT */
/* job_want.h - a program that shall run: what for, and its command line.
 *
 * Arguments of the configuration may have variables; those of time are replaced anew at each
 * start. What is left of two wishes without the time is compared to see whether a reload changed
 * anything. Pure.
 */
#ifndef SINK_PROGRAM_JOB_WANT_H
#define SINK_PROGRAM_JOB_WANT_H

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
struct job_want {
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

struct job_wants {
    struct job_want **v;
    size_t n;
};

const char *job_kind_name(enum job_kind kind); /* "exec" */

struct job_want *job_want_new(enum job_kind kind, const char *vhost, const char *stream,
                              const char *name);
void job_want_free(struct job_want *w); /* may be NULL */
void job_want_var(struct job_want *w, const char *name, const char *value); /* of ours */
void job_want_var_from(struct job_want *w, enum job_var_from from, const char *name,
                       const char *value);
void job_want_add(struct job_want *w, const char *text);          /* as it stands */
void job_want_add_template(struct job_want *w, const char *text); /* with variables */
/* "-name value"; without a value the name alone. */
void job_want_add_option(struct job_want *w, const char *name, const char *value);
/* The same, but not looked at by job_want_same(). */
void job_want_add_free_option(struct job_want *w, const char *name, const char *value);
/* Where the configuration wants the logs of programs (ff_log_dir): its name is made of kind,
 * stream and name. "/dev/null" and "" are none. */
void job_want_log_in(struct job_want *w, const char *folder);

/* The command line at that time (milliseconds since 1970; below 0: with variables of time left as
 * they are), ending by NULL. ERR_MALFORMED, ERR_TOO_LARGE: a value that may not be in there. */
err_t job_want_argv(const struct job_want *w, int64_t msec, bool utc, char ***argv)
    __attribute__((warn_unused_result));
void job_want_argv_free(char **argv); /* may be NULL */
/* Its environment, ending by NULL: PATH, HOME, LANG, TZ and those named in `more` as we have them,
 * and its variables, [tcUrl] as SRS_TCURL. Nothing else of ours, passwords are in there. w may be
 * NULL. Free it by job_want_argv_free(). */
char **job_want_env(const struct job_want *w, const struct conf_list *more);
/* The same for one text. */
err_t job_want_expand(const struct job_want *w, const char *text, int64_t msec, bool utc,
                      char **out) __attribute__((warn_unused_result));

/* Is it the same program for the same thing? Wherever it is logged. */
bool job_want_same(const struct job_want *a, const struct job_want *b);

void job_wants_add(struct job_wants *all, struct job_want *w); /* takes it over */
void job_wants_free(struct job_wants *all);

#endif
