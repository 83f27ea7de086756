/* SPDX-License-Identifier: MIT */
/* heartbeat.h - periodic status reports, posted to a URL for cluster managers. */
#ifndef APP_HEARTBEAT_H
#define APP_HEARTBEAT_H

#include "app/api/api.h"

/* co_fn, with the api_parts as argument: posts while the configuration enables it, until stopped.
 * */
err_t heartbeat_run(void *parts);

#endif
