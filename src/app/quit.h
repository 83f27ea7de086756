/* SPDX-License-Identifier: MIT */
/* quit.h - the graceful end: no new clients, and those that are there may finish. */
#ifndef APP_QUIT_H
#define APP_QUIT_H

#include "app/server.h"

/* Wait grace_start_wait (balancers learn meanwhile that we go), close the listeners, wait until
 * the last connection has ended, then grace_final_wait. SIGTERM or SIGINT cuts any of it short.
 * Yields. */
void quit_gracefully(struct server *s);

#endif
