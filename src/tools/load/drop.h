/* SPDX-License-Identifier: MIT */
/* drop.h - take the bytes of a stream and drop them as cheaply as the kernel allows: it wakes a
 * player when some hundred ms are there (SO_RCVLOWAT), and copies nothing (MSG_TRUNC).
 */
#ifndef TOOLS_LOAD_DROP_H
#define TOOLS_LOAD_DROP_H

#include "tools/load/run.h"

/* Until the session is over or fails. alive(c), if not NULL, is called now and then. */
err_t load_drop(struct load_client *c, err_t (*alive)(struct load_client *c))
    __attribute__((warn_unused_result));

#endif
