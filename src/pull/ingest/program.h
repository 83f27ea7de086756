/* SPDX-License-Identifier: MIT */
/* program.h - streams that ffmpeg brings in: `ingest` of a vhost. */
#ifndef PULL_INGEST_PROGRAM_H
#define PULL_INGEST_PROGRAM_H

#include "sink/program/job_want.h"

/* Add an ffmpeg for each engine of each ingest of all vhosts, but for files that need none. Does
 * not yield. */
void ingest_wants(const struct conf *c, struct job_wants *out);

/* What lists call an engine of an ingest. */
enum { INGEST_NAME_MAX = 300 };
void ingest_name(const struct conf_ingest *in, size_t engine, char *name, size_t size);
/* The variables of its output. */
void ingest_vars(struct job_want *w, const struct conf *c, const struct conf_vhost *v,
                 const struct conf_engine *e);

#endif
