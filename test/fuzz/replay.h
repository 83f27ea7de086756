/* SPDX-License-Identifier: MIT */
/* replay.h - runs a target with an input, or with all files of a folder. */
#ifndef REPLAY_H
#define REPLAY_H

#include <stddef.h>
#include <stdint.h>

typedef int fuzz_target(const uint8_t *data, size_t size);

/* An input that crashes, takes more than 200 ms of CPU time, or does not end in 20 seconds, ends the
 * process, and is written to $FUZZ_FOUND<pid>. */
void replay_init(void);
/* The first run: one-time setup of a target does not count as the cost of an input. */
void replay_warm_up(fuzz_target *target);
/* Returns its CPU time in microseconds. */
int64_t replay_run(fuzz_target *target, const uint8_t *data, size_t size);
/* Writes the running input to a file. */
void replay_save(void);
/* Calls `fn` with the bytes of this file, or of each file below this folder. Returns their number. */
size_t replay_files(const char *path, void (*fn)(const uint8_t *data, size_t size));

#endif
