/* SPDX-License-Identifier: MIT */
/* sinks.h - what begins and ends with every published stream: forwards, HLS, recordings, programs;
 * and what publishes by itself: ingests, pulls.
 */
#ifndef APP_SINKS_H
#define APP_SINKS_H

#include "session/env.h"

struct sinks; /* owned by the server */
struct sink;
struct sink_ops;
struct http_mux;

struct sinks *sinks_new(struct session_env *env);
/* Start what runs without a stream: ingests, once there is somebody to publish to. */
void sinks_start(struct sinks *s);
/* End what does not end by itself: ingests at a graceful end; all programs before the
 * connections they have with us. */
void sinks_stop_ingest(struct sinks *s);
void sinks_interrupt(struct sinks *s);
/* Those that publish without a connection to us publish no more. Yields. */
void sinks_end_publishers(struct sinks *s);
/* Mount what they have to show over HTTP. */
void sinks_mount(struct sinks *s, struct http_mux *mux);
/* A stream is published, and no longer. The names are copied. Neither yields. */
void sinks_begin(struct sinks *s, const struct conf_vhost *vhost,
                 const struct session_stream *stream, struct live_source *src);
void sinks_end(struct sinks *s, struct live_source *src);
/* Somebody is there to play a stream that nobody publishes: pull it, if that is configured. True:
 * it is. */
bool sinks_wanted(struct sinks *s, const struct session_stream *stream);
/* The configuration changed: begin and end what it says now. Does not yield. */
void sinks_reload(struct sinks *s);
/* The one of that row, for those who show it. */
const struct sink *sinks_find(const struct sinks *s, const struct sink_ops *row);
/* Ends all of them, writes what waits to be written. Yields. */
void sinks_free(struct sinks *s);

#endif
