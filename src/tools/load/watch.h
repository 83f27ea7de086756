/* SPDX-License-Identifier: MIT */
/* watch.h - look at media as they come: gaps, delay, order, what was lost. */
#ifndef TOOLS_LOAD_WATCH_H
#define TOOLS_LOAD_WATCH_H

#include "tools/load/run.h"

/* A message of audio or video, its first bytes or its end; arg is the struct load_client. */
void load_watch(void *arg, const struct load_skim_msg *msg);
/* A small window, so that what is not read soon stands at the server. */
void load_watch_slowly(struct load_client *c);

#endif
