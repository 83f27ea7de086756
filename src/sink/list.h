/* SPDX-License-Identifier: MIT */
/* list.h - the published streams of a worker, and its sinks. */
#ifndef SINK_LIST_H
#define SINK_LIST_H

#include "sink/sink.h"

/* Creates a sink for each row. The table must outlive the list. */
struct sink_list *sink_list_new(const struct sink_ops *const *rows, size_t n,
                                const struct sink_setup *setup);
struct sink *sink_list_find(const struct sink_list *l, const struct sink_ops *row); /* or NULL */
void sink_list_start(struct sink_list *l);
/* Call these when a stream is published and when it ends. The names are copied. Neither yields. */
void sink_list_begin(struct sink_list *l, const struct conf_vhost *vhost,
                     const struct session_stream *names, struct live_source *src);
void sink_list_end(struct sink_list *l, const struct live_source *src);
/* Applies a new configuration. Does not yield. */
void sink_list_reload(struct sink_list *l);
void sink_list_drain(struct sink_list *l);
void sink_list_interrupt(struct sink_list *l);
/* sink_list_stop() ends all streams and waits for all sinks (yields); sink_list_free() frees
 * them. */
void sink_list_stop(struct sink_list *l);
void sink_list_free(struct sink_list *l);

/* Iterates over the streams; start with NULL. */
struct sink_stream *sink_list_next(const struct sink_list *l, const struct sink_stream *stream);

#endif
