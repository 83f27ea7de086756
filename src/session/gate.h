/* SPDX-License-Identifier: MIT */
/* gate.h - so many at a time; others wait in line. One gate for callers of one address, another for
 * all that ask a backend. */
#ifndef SESSION_GATE_H
#define SESSION_GATE_H

#include "co/co.h"

/* Begins zeroed. Of one thread. */
struct session_gate {
    unsigned n;                       /* that are in */
    struct session_gate_guest *first, **end; /* that wait */
};

/* Waits until fewer than `most` are in, for `timeout` at most (ERR_IO_TIMEOUT); then
 * session_gate_leave(). Yields. */
err_t session_gate_enter(struct session_gate *g, unsigned most, co_usec timeout)
    __attribute__((warn_unused_result));
void session_gate_leave(struct session_gate *g);

#endif
