/* SPDX-License-Identifier: MIT */
/* history.h - the last hour of the server and of its streams, a sample every 10 s: so that a page
 * that is opened has its graphs at once. Memory is fixed: 360 samples of the whole, and of at most
 * HISTORY_STREAMS streams.
 */
#ifndef APP_HISTORY_H
#define APP_HISTORY_H

#include "app/api/api.h"

enum { HISTORY_SAMPLES = 360, HISTORY_STREAMS = 100, HISTORY_MS = 10000 };
#define HISTORY_NONE UINT32_MAX /* there is no sample of that time */

enum history_total {
    HISTORY_RECV, HISTORY_SEND, /* kbit/s, of those 10 s */
    HISTORY_CLIENTS, HISTORY_PUBLISHERS, HISTORY_PLAYERS, HISTORY_LIVE, /* streams */
    HISTORY_CPU,                /* thousandths of a core */
    HISTORY_MEMORY,             /* kB */
    HISTORY_TOTALS,
};
enum history_of_stream {
    HISTORY_STREAM_RECV, HISTORY_STREAM_SEND, /* kbit/s, of the last 30 s */
    HISTORY_STREAM_CLIENTS,
    HISTORY_STREAM_VALUES,
};

struct history; /* owned by the server; of the first worker alone */

struct history *history_new(void);
/* Whose it is, before it runs; borrowed. */
void history_begin(struct history *h, const struct api_parts *of);
void history_free(struct history *h); /* when its coroutine has ended; NULL is fine */
err_t history_run(void *history);     /* co_fn; until it is stopped */

/* How many samples there are, gaps included, and when the newest was taken: ms since 1970. */
unsigned history_count(const struct history *h, int64_t *at);
/* Streams that were there in that hour, in no order: NULL behind the last. Does not yield. */
const char *history_stream_name(const struct history *h, size_t i); /* "vhost/app/stream" */
/* What was then; ago 0 is the newest sample. Of the server (stream -1) an enum history_total, else
 * an enum history_of_stream. HISTORY_NONE: none was taken, as the server was too busy. */
uint32_t history_value(const struct history *h, int stream, int what, unsigned ago);

#endif
