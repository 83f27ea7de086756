/* SPDX-License-Identifier: MIT */
/* list.h - the published streams of a server, and the sinks that are told of them. */
#ifndef SINK_LIST_H
#define SINK_LIST_H

#include "sink/sink.h"

/* Makes a sink of each row. The table must outlive the list. */
struct sink_list *sink_list_new(const struct sink_ops *const *rows, size_t n,
                                const struct sink_setup *setup);
struct sink *sink_list_find(const struct sink_list *l, const struct sink_ops *row); /* or NULL */
void sink_list_start(struct sink_list *l);
/* A stream is published, and no longer. The names are copied. Neither yields. */
void sink_list_begin(struct sink_list *l, const struct conf_vhost *vhost,
                     const struct session_stream *names, struct live_source *src);
void sink_list_end(struct sink_list *l, const struct live_source *src);
/* The server has another configuration. Does not yield. */
void sink_list_reload(struct sink_list *l);
void sink_list_drain(struct sink_list *l);
void sink_list_interrupt(struct sink_list *l);
/* Ends all streams and waits for all sinks; they are freed by the other. Yields. */
void sink_list_stop(struct sink_list *l);
void sink_list_free(struct sink_list *l);

/* Walk the streams: NULL is before the first. */
struct sink_stream *sink_list_next(const struct sink_list *l, const struct sink_stream *stream);

#endif
