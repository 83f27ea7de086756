/* SPDX-License-Identifier: MIT */
/* ingest.h - streams that ffmpeg brings in: `ingest` of a vhost. */
#ifndef SINK_PROGRAM_INGEST_H
#define SINK_PROGRAM_INGEST_H

#include "sink/program/job_want.h"

/* Add an ffmpeg for each engine of each ingest of all vhosts. Does not yield. */
void ingest_wants(const struct conf *c, struct job_wants *out);

#endif
