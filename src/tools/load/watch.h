/* SPDX-License-Identifier: MIT */
/* watch.h - look at media as they come: gaps, delay, order, what was lost. */
#ifndef TOOLS_LOAD_WATCH_H
#define TOOLS_LOAD_WATCH_H

#include "tools/load/run.h"

/* Checks a message of audio or video; arg is the struct load_client. */
void load_watch(void *arg, const struct load_tag *tag);
/* The steps of load_watch() for media that are not messages: first media of a session, first key
 * frame, a complete frame, a complete frame with c->marker. `now` is in µs of the wall clock. */
void load_watch_first(struct load_client *c);
void load_watch_key(struct load_client *c);
void load_watch_came(struct load_client *c, int64_t now);
void load_watch_marker(struct load_client *c, int64_t now);
/* Sets a small receive window, so that unread data stays at the server. */
void load_watch_slowly(struct load_client *c);
/* drop.c: reads a stream and drops the bytes at the lowest cost: the kernel wakes the player once a
 * few hundred ms of data are there (SO_RCVLOWAT) and copies nothing (MSG_TRUNC). Runs until the
 * session is over or fails. Calls alive(c) from time to time if it is not NULL. Yields. */
err_t load_drop(struct load_client *c, err_t (*alive)(struct load_client *c))
    __attribute__((warn_unused_result));

#endif
