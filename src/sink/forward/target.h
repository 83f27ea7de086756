/* SPDX-License-Identifier: MIT */
/* target.h - the log lines about destinations that fail: some for each address, however many
 * streams are forwarded there. A destination is known while a forward that failed there exists. */
#ifndef SINK_FORWARD_TARGET_H
#define SINK_FORWARD_TARGET_H

#include "base/err.h"
#include "co/co.h"

#include <stdbool.h>

struct forward_target; /* one host and port; all workers share it */

/* What a forward keeps; zeroed at first. */
struct forward_at {
    struct forward_target *target; /* NULL: it never failed */
    bool waits;                    /* it failed, and did not publish since */
};

/* A try failed; `why` is borrowed, and hides what it must. The first failure of a destination is a
 * line, and so is each new kind of error. The same error is logged again after growing pauses. */
void forward_target_failed(struct forward_at *at, const char *host, int port, err_t why);
/* It publishes. One line tells when the failure was logged. */
void forward_target_works(struct forward_at *at);
void forward_target_leave(struct forward_at *at); /* the forward ends */

#endif
