/* SPDX-License-Identifier: MIT */
/* fault_injection.h - intentional bugs, so that a user can see what a memory tool reports.
 *
 * Only in builds for memory tools (--gmc, --gmd, --valgrind, --sanitizer); other builds do not
 * contain this code. PLANT=leak leaks a block, PLANT=overflow writes past the end of one. */
#ifndef APP_DEV_FAULT_INJECTION_H
#define APP_DEV_FAULT_INJECTION_H

#include "base/err.h"
#include "co/co.h"

/* Starts a coroutine in g that causes the bug requested by the environment, if any. */
err_t fault_injection_start(struct co_group *g) __attribute__((warn_unused_result));

#endif
