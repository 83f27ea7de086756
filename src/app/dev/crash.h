/* SPDX-License-Identifier: MIT */
/* crash.h - logs the reason of a crash: signal, coroutine and call stack.
 *
 *   crash: signal 11 at address 0x8, coroutine rtmp-play, at f+0x2 < g+0x9
 *
 * With several schedulers it says "worker 2, coroutine ...". Then the process dies by the signal,
 * with a core dump if that is enabled. Builds with sanitizers keep their own handlers.
 */
#ifndef APP_DEV_CRASH_H
#define APP_DEV_CRASH_H

#include <stdbool.h>

/* Installs the handlers. Call it after the log is open. They use their own stack, so they work even
 * if a coroutine's stack has overflowed. Without core_dump there is no core, regardless of
 * ulimit -c. */
void crash_init(bool core_dump);
/* For another thread that runs coroutines: gives it a signal stack and unblocks the signals, since
 * otherwise a fault would end the process silently. Ends with the thread. */
void crash_thread_init(void);

#endif
