/* SPDX-License-Identifier: MIT */
/* stat_proc.h - logs the activity of the process every five seconds. */
#ifndef APP_OS_STAT_PROC_H
#define APP_OS_STAT_PROC_H

#include "base/err.h"

/* A coroutine that logs the lines of stat_line.h, and those of protocols. server: struct server. */
err_t stat_proc_run(void *server);

#endif
