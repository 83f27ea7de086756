/* SPDX-License-Identifier: MIT */
/* history.h - samples of the last hour, of the server and of its streams, one every 10 s, so that
 * the console can draw its graphs as soon as it opens. Memory is fixed: 360 samples of the server
 * and of at most HISTORY_STREAMS streams.
 */
#ifndef APP_HISTORY_H
#define APP_HISTORY_H

#include "app/api/api.h"

enum { HISTORY_SAMPLES = 360, HISTORY_STREAMS = 100, HISTORY_MS = 10000 };
#define HISTORY_NONE UINT32_MAX /* no sample at that time */

enum history_total {
    HISTORY_RECV, HISTORY_SEND, /* kbit/s, over the last 10 s */
    HISTORY_CLIENTS, HISTORY_PUBLISHERS, HISTORY_PLAYERS, HISTORY_LIVE, /* streams */
    HISTORY_CPU,                /* thousandths of a core */
    HISTORY_MEMORY,             /* kB */
    HISTORY_TOTALS,
};
enum history_of_stream {
    HISTORY_STREAM_RECV, HISTORY_STREAM_SEND, /* kbit/s, over the last 30 s */
    HISTORY_STREAM_CLIENTS,
    HISTORY_STREAM_VALUES,
};

struct history; /* owned by the server; the first worker has the only one */

struct history *history_new(void);
/* Sets where the values come from; call it before history_run(). `of` is borrowed. */
void history_begin(struct history *h, const struct api_parts *of);
void history_free(struct history *h); /* after its coroutine has ended; NULL is fine */
err_t history_run(void *history);     /* co_fn; runs until stopped */

/* Returns the number of samples, gaps included; *at is the time of the newest, ms since 1970. */
unsigned history_count(const struct history *h, int64_t *at);
/* Returns the name of a stream of the last hour, in no order; NULL after the last. Does not
 * yield. */
const char *history_stream_name(const struct history *h, size_t i); /* "vhost/app/stream" */
/* Returns one value of a sample; ago 0 is the newest. `what` is an enum history_total for the
 * server (stream -1), else an enum history_of_stream. HISTORY_NONE: the server was too busy to
 * take this sample. */
uint32_t history_value(const struct history *h, int stream, int what, unsigned ago);

#endif
