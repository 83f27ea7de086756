/* SPDX-License-Identifier: MIT */
/* memory.h - how much memory the streams and the messages of all clients may take together. */
#ifndef APP_MEMORY_H
#define APP_MEMORY_H

#include "serve/serve.h"

/* What this process may use: the least of what the machine, its control groups and its limits
 * (ulimit -v) have. 0: nobody says. */
int64_t memory_of_process(void);

/* As the configuration says, or as the machine has where it does not. */
void memory_apply(struct serve *serve);

#endif
