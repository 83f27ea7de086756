/* SPDX-License-Identifier: MIT */
/* replay.h - run a target with an input, and with all files of a folder. */
#ifndef REPLAY_H
#define REPLAY_H

#include <stddef.h>
#include <stdint.h>

typedef int fuzz_target(const uint8_t *data, size_t size);

/* An input that crashes, takes more than 200 ms of processor time, or is not done in 20 seconds, ends the
 * process, and is written to $FUZZ_FOUND<pid>. */
void replay_init(void);
/* The first run: what a target sets up once is no part of what an input costs. */
void replay_warm_up(fuzz_target *target);
/* Gives the processor time it took, in microseconds. */
int64_t replay_run(fuzz_target *target, const uint8_t *data, size_t size);
/* Write the input that runs to a file. */
void replay_save(void);
/* Call `fn` with the bytes of this file, or of each file below this folder. Gives their number. */
size_t replay_files(const char *path, void (*fn)(const uint8_t *data, size_t size));

#endif
