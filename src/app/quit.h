/* SPDX-License-Identifier: MIT */
/* quit.h - graceful quit: accepts no new clients and lets the connected ones finish. */
#ifndef APP_QUIT_H
#define APP_QUIT_H

#include "app/server.h"

/* Waits for grace_start_wait (load balancers notice meanwhile), closes the listeners, waits until
 * the last connection has ended, then waits for grace_final_wait. SIGTERM or SIGINT cuts any of
 * these waits short. Yields. */
void quit_gracefully(struct server *s);

#endif
