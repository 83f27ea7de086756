/* SPDX-License-Identifier: MIT */
/* fault_injection.h - bugs on purpose, so that a user can see what the tools say of one.
 *
 * Only in builds for tools that look at memory (--gmc, --gmd, --valgrind, --sanitizer); any other
 * build has no such code. PLANT=leak loses some memory, PLANT=overflow writes behind the end of
 * some. */
#ifndef APP_DEV_FAULT_INJECTION_H
#define APP_DEV_FAULT_INJECTION_H

#include "base/err.h"
#include "co/co.h"

/* Start a coroutine in g that does what the environment asks for, if it asks. */
err_t fault_injection_start(struct co_group *g) __attribute__((warn_unused_result));

#endif
