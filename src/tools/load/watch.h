/* SPDX-License-Identifier: MIT */
/* watch.h - look at media as they come: gaps, delay, order, what was lost. */
#ifndef TOOLS_LOAD_WATCH_H
#define TOOLS_LOAD_WATCH_H

#include "tools/load/run.h"

/* A message of audio or video; arg is the struct load_client. */
void load_watch(void *arg, const struct load_tag *tag);
/* The same in parts, for media that come otherwise: the first of a session; the first key frame; a
 * frame that is whole, `now` in µs of the wall clock; the one with c->marker in it. */
void load_watch_first(struct load_client *c);
void load_watch_key(struct load_client *c);
void load_watch_came(struct load_client *c, int64_t now);
void load_watch_marker(struct load_client *c, int64_t now);
/* A small window, so that what is not read soon stands at the server. */
void load_watch_slowly(struct load_client *c);
/* drop.c: take the bytes of a stream and drop them as cheaply as the kernel allows: it wakes a
 * player when some hundred ms are there (SO_RCVLOWAT), and copies nothing (MSG_TRUNC). Until the
 * session is over or fails. alive(c), if not NULL, is called now and then. */
err_t load_drop(struct load_client *c, err_t (*alive)(struct load_client *c))
    __attribute__((warn_unused_result));

#endif
