/* SPDX-License-Identifier: MIT */
/* profile.h - the profilers enabled by ./configure; does nothing in other builds. */
#ifndef APP_DEV_PROFILE_H
#define APP_DEV_PROFILE_H

/* Starts profiling and logs it. Call it in the serving process, since timers do not survive a fork.
 * Files are written to the current folder: gperf.srs.gcp, gperf.srs.gmp.*, gmon.out. */
void profile_start(void);
/* Writes the reports of gperftools. Call it while clients are still connected, so that a heap
 * profile shows their memory. gprof and the heap checker write theirs when main() returns. */
void profile_stop(void);
/* For another thread that runs coroutines: call these after co_init() and before co_fini(). */
void profile_thread_begin(void);
void profile_thread_end(void);

#endif
