/* SPDX-License-Identifier: MIT */
/* drop.h - take the bytes of a stream and drop them as cheaply as the kernel allows: it wakes a
 * player when some hundred ms are there (SO_RCVLOWAT), and copies nothing (MSG_TRUNC).
 */
#ifndef BENCH_DROP_H
#define BENCH_DROP_H

#include "bench/run.h"

/* Until the session is over or fails. alive(c), if not NULL, is called now and then. */
err_t bench_drop(struct bench_client *c, err_t (*alive)(struct bench_client *c))
    __attribute__((warn_unused_result));

#endif
