/* SPDX-License-Identifier: MIT */
/* crash.h - what a program that dies of a bug still says: which signal, who ran, and where.
 *
 *   crash: signal 11 at address 0x8, coroutine rtmp-play, at f+0x2 < g+0x9
 *
 * and where the process has several schedulers, "worker 2, coroutine ...", by number.
 * Then it dies as it would have, with its core if that is wanted.
 * Builds with sanitizers keep theirs.
 */
#ifndef APP_DEV_CRASH_H
#define APP_DEV_CRASH_H

#include <stdbool.h>

/* After the log is open. Its own stack, so it works when a coroutine's has run over. Without
 * core_dump it leaves none, whatever ulimit -c says. */
void crash_init(bool core_dump);
/* For one more thread that runs coroutines: a stack of its own for this, and the signals are not
 * blocked, or a fault would end the process without a word. Ends with the thread. */
void crash_thread_init(void);

#endif
