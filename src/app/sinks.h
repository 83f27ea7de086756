/* SPDX-License-Identifier: MIT */
/* sinks.h - starts and ends everything that reads each published stream (forwards, HLS, recordings,
 * programs), and everything that publishes on its own (ingests, pulls).
 */
#ifndef APP_SINKS_H
#define APP_SINKS_H

#include "session/env.h"

struct sinks; /* owned by the server */
struct sink;
struct sink_ops;
struct http_mux;

struct sinks *sinks_new(struct session_env *env);
/* Starts what runs without a stream: ingests and pulls. Call it when the listeners are open. */
void sinks_start(struct sinks *s);
/* sinks_stop_ingest() ends ingests for a graceful quit; sinks_interrupt() ends all programs before
 * their connections to this server end. */
void sinks_stop_ingest(struct sinks *s);
void sinks_interrupt(struct sinks *s);
/* Ends pulls and ingests that publish without a connection. Yields. */
void sinks_end_publishers(struct sinks *s);
/* Mounts HLS and DASH at the HTTP server. */
void sinks_mount(struct sinks *s, struct http_mux *mux);
/* Call these when a stream is published and when it ends. The names are copied. Neither yields. */
void sinks_begin(struct sinks *s, const struct conf_vhost *vhost,
                 const struct session_stream *stream, struct live_source *src);
void sinks_end(struct sinks *s, struct live_source *src);
/* A player requests a stream that has no publisher: starts its on-demand pull, if one is
 * configured, and returns true. */
bool sinks_wanted(struct sinks *s, const struct session_stream *stream);
/* Starts and ends sinks for a new configuration. Does not yield. */
void sinks_reload(struct sinks *s);
/* Returns the sink of that row, for the API. */
const struct sink *sinks_find(const struct sinks *s, const struct sink_ops *row);
/* Ends all sinks and writes pending data to the disks. Yields. */
void sinks_free(struct sinks *s);

#endif
