/* SPDX-License-Identifier: MIT */
/* profile.h - the profilers that ./configure built in; in other builds none of it does anything. */
#ifndef APP_PROFILE_H
#define APP_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

/* Begin to profile, in the process that serves (timers do not survive a fork), and say so in the
 * log. The files are written where the process is: gperf.srs.gcp, gperf.srs.gmp.*, gmon.out. */
void profile_start(void);
/* Write the reports of gperftools, before the clients are sent away: a heap profile shows what
 * they hold. gprof and the heap checker write theirs when main() returns. */
void profile_stop(void);

/* How eagerly tcmalloc gives free memory back to the system: 0 never .. 10 at once. */
void profile_release_rate(double rate);
/* What tcmalloc says of itself, several lines; false where malloc is not tcmalloc. */
bool profile_malloc_text(char *text, size_t size);

#endif
