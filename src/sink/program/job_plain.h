/* SPDX-License-Identifier: MIT */
/* job_plain.h - checks names chosen by clients before they are used in a command line. Pure.
 *
 * Publishers choose names freely, and a program may run an argument as code (`sh -c`, `env -S`,
 * `python3 -c`) or open it as a URL. The server cannot know which programs do, so the position in
 * the command line decides: inside a longer word a value must be plain, for any program. A word
 * that consists only of the variable may have any value that is neither an option nor leads out of
 * a folder. See doc/security-programs.md.
 */
#ifndef SINK_PROGRAM_JOB_PLAIN_H
#define SINK_PROGRAM_JOB_PLAIN_H

#include "sink/program/job_spec.h"

/* A value that is not allowed at its position. */
struct job_misfit {
    const struct job_var *var;
    const char *word; /* the configured word; "": the value is not allowed anywhere */
};

/* Adds the spec if its values are allowed; else logs the reason and frees it. Takes over `w`. */
void job_specs_add_fitting(struct job_specs *all, struct job_spec *w);

#endif
