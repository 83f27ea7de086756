/* SPDX-License-Identifier: MIT */
/* pin.h - threads that stay on some cores, and what they start, which need not. */
#ifndef CO_PIN_H
#define CO_PIN_H

#include <sched.h>
#include <stdbool.h>

/* The cores that the process was let run on when this was first asked, or something was pinned;
 * none when the system does not say. Any thread. */
const cpu_set_t *co_pin_allowed(void);
/* The thread that calls runs on these cores only, from now on. False: errno says why not. */
bool co_pin(const cpu_set_t *cores);
/* A thread or a process that was started by a pinned one has all cores again. Calls the system at
 * most: also a child that has our memory may. */
void co_unpin(void);

#endif
