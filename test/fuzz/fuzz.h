/* SPDX-License-Identifier: MIT */
/* fuzz.h - shared by the targets. */
#ifndef FUZZ_H
#define FUZZ_H

#include "co/net/io.h"
#include "io_mem.h"
#include "session/env.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A target with inputs of more than 64 KB sets their size, at most FUZZ_LARGEST. */
enum { FUZZ_LARGEST = 1024 * 1024 };
extern const size_t fuzz_input_most __attribute__((weak));

/* ---- a server in memory */

/* Loads this configuration text, without an environment. */
struct conf *fuzz_conf(const char *text);
/* Starts the scheduler, checks each log line, and serves that configuration. */
void fuzz_serve(struct session_env *env, const char *conf);

/* Runs it in a coroutine and returns how it ended. */
err_t fuzz_run(co_fn *fn, void *arg);
/* Puts a simple RTMP handshake before a peer's input, malloc'ed: it is so much larger. */
enum { FUZZ_HANDSHAKE = 1 + 1536 + 1536 };
uint8_t *fuzz_shake_hands(const uint8_t *data, size_t size);

/* ---- simulated time */

/* From now on a wait is over at once, and the clock advances by it. Without a wait it advances by a
 * microsecond per query. Only for targets without helper threads. */
void fuzz_time_flies(void);
/* Simulated load of the thread, in thousandths. */
void fuzz_time_busy(unsigned permille);

/* From now on the work of helper threads runs at once, in place. */
void fuzz_no_threads(void);

/* ---- a peer that sends something, then waits, then sends more */

struct fuzz_peer {
    struct io io;       /* first */
    struct io_mem rest; /* its input */
    size_t piece;       /* bytes per piece; 0: all */
    size_t ready;       /* bytes it has sent that were not read */
    co_usec every;      /* between two pieces */
    unsigned pauses;    /* it pauses this often, then sends the whole rest */
    size_t window;      /* it reads this much between two pieces; 0: all */
    size_t taken;
    /* Called in each pause. */
    void (*meanwhile)(void *arg);
    void *arg;
};

void fuzz_peer_init(struct fuzz_peer *p, const void *in, size_t size, size_t piece);

#endif
