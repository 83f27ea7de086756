/* SPDX-License-Identifier: MIT */
/* heartbeat.h - a sign of life, posted to a url: so who manages a node knows that it is there. */
#ifndef APP_HEARTBEAT_H
#define APP_HEARTBEAT_H

#include "app/api/api.h"

/* co_fn over the api_parts: post while the configuration says so, until stopped. */
err_t heartbeat_run(void *parts);

#endif
