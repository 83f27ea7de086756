/* SPDX-License-Identifier: MIT */
/* crash.h - what a program that dies of a bug still says: which signal, who ran, and where.
 *
 *   crash: signal 11 at address 0x8, coroutine rtmp-play, at f+0x2 < g+0x9
 *
 * Then it dies as it would have, with its core if that is wanted.
 * Builds with sanitizers keep theirs.
 */
#ifndef APP_DEV_CRASH_H
#define APP_DEV_CRASH_H

#include <stdbool.h>

/* After the log is open. Its own stack, so it works when a coroutine's has run over. Without
 * core_dump it leaves none, whatever ulimit -c says. */
void crash_init(bool core_dump);

#endif
