/* SPDX-License-Identifier: MIT */
/* profile.h - the profilers that ./configure built in; in other builds none of it does anything. */
#ifndef APP_DEV_PROFILE_H
#define APP_DEV_PROFILE_H

/* Begin to profile, in the process that serves (timers do not survive a fork), and say so in the
 * log. The files are written where the process is: gperf.srs.gcp, gperf.srs.gmp.*, gmon.out. */
void profile_start(void);
/* Write the reports of gperftools, before the clients are sent away: a heap profile shows what
 * they hold. gprof and the heap checker write theirs when main() returns. */
void profile_stop(void);
/* One more thread that runs coroutines; after co_init(), before co_fini(). */
void profile_thread_begin(void);
void profile_thread_end(void);

#endif
