/* SPDX-License-Identifier: MIT */
/* job_plain.h - what a peer named, on a command line of ours. Pure.
 *
 * Who publishes chooses names freely, and a program may take an argument as commands (`sh -c`,
 * `env -S`, `python3 -c`) or as an address of its own choice. Which programs do is not ours to
 * know, so it is decided by the place: inside a longer word a value must be plain, whatever the
 * program; a word that is the variable alone is one argument and may have any value that is
 * neither an option nor a way out of a folder. See doc/security-programs.md.
 */
#ifndef SINK_PROGRAM_JOB_PLAIN_H
#define SINK_PROGRAM_JOB_PLAIN_H

#include "sink/program/job_spec.h"

/* A value that may not stand where the configuration wants it. */
struct job_misfit {
    const struct job_var *var;
    const char *word; /* of the configuration; "" for none: it fits nowhere */
};

/* Add it if it fits; else say so in the log and free it. Takes it over. */
void job_specs_add_fitting(struct job_specs *all, struct job_spec *w);

#endif
