/* SPDX-License-Identifier: MIT */
/* fuzz.h - what the targets share. */
#ifndef FUZZ_H
#define FUZZ_H

#include "co/net/io.h"
#include "io_mem.h"
#include "session/env.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A target that takes inputs of more than 64 KB says how large, at most FUZZ_LARGEST. */
enum { FUZZ_LARGEST = 1024 * 1024 };
extern const size_t fuzz_input_most __attribute__((weak));

/* ---- a server in memory */

/* The configuration of this text, which has no environment. */
struct conf *fuzz_conf(const char *text);
/* Start the scheduler, look at each line for the log, and serve that configuration. */
void fuzz_serve(struct session_env *env, const char *conf);

/* Run it in a coroutine and tell how it ended. */
err_t fuzz_run(co_fn *fn, void *arg);
/* A simple RTMP handshake before what a peer says, malloc'ed: it is so much larger. */
enum { FUZZ_HANDSHAKE = 1 + 1536 + 1536 };
uint8_t *fuzz_shake_hands(const uint8_t *data, size_t size);

/* ---- time: nobody waits */

/* From now on a wait is over at once, and the clock moves by it. Without a wait it moves by a
 * microsecond per look. Only for what has no helper threads at work. */
void fuzz_time_flies(void);
/* How busy the thread is then said to be, in thousandths. */
void fuzz_time_busy(unsigned permille);

/* From now on what helper threads do is done at once, in place. */
void fuzz_no_threads(void);

/* ---- a peer that says something, then waits, then says more */

struct fuzz_peer {
    struct io io;       /* first */
    struct io_mem rest; /* what it will say */
    size_t piece;       /* what it says at once; 0: all */
    size_t ready;       /* bytes it has said that were not read */
    co_usec every;      /* between two pieces */
    unsigned pauses;    /* it makes so many, then says all the rest */
    size_t window;      /* it takes so much between two pieces; 0: all */
    size_t taken;
    /* Something else happens in each pause. */
    void (*meanwhile)(void *arg);
    void *arg;
};

void fuzz_peer_init(struct fuzz_peer *p, const void *in, size_t size, size_t piece);

#endif
