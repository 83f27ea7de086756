/* SPDX-License-Identifier: MIT */
/* metrics_streams.c - metrics of each stream for Prometheus.
 *
 * The lines of a metric must be consecutive, so it collects the values of all streams first, then
 * writes metric by metric and yields in between. It does not wait for a stalled worker, but omits
 * its streams this time.
 */
#include "app/api/metrics_impl.h"

#include "app/api/collect.h"
#include "base/must.h"

#include <stdlib.h>
#include <string.h>

#define PATIENCE CO_MS(500) /* for each worker */

enum value {
    PUBLISHING, CLIENTS, FORWARDS, RECEIVED, SENT, RECEIVE_RATE, SEND_RATE, VIDEO, AUDIO, DROPPED,
    QUEUE_PACKETS, QUEUE_BYTES, WIRE_BYTES, KEY_INTERVAL, VALUES,
};

static const struct {
    const char *name, *type, *help;
} families[VALUES] = {
    [PUBLISHING] = { "srs_stream_publishing", "gauge", "1 while the stream has a publisher." },
    [CLIENTS] = { "srs_stream_clients", "gauge", "Players and publisher of the stream." },
    [FORWARDS] = { "srs_stream_forwards", "gauge", "Servers that the stream is forwarded to." },
    [RECEIVED] = { "srs_stream_receive_bytes_total", "counter", "Bytes of media received." },
    [SENT] = { "srs_stream_send_bytes_total", "counter", "Bytes of media sent to players." },
    [RECEIVE_RATE] = { "srs_stream_receive_bytes_per_second", "gauge", "Mean of 30 s." },
    [SEND_RATE] = { "srs_stream_send_bytes_per_second", "gauge", "Mean of 30 s." },
    [VIDEO] = { "srs_stream_video_frames_total", "counter", "Video packets received." },
    [AUDIO] = { "srs_stream_audio_frames_total", "counter", "Audio packets received." },
    [DROPPED] = { "srs_stream_dropped_packets_total", "counter",
                  "Packets dropped for slow players, counted for each player." },
    [QUEUE_PACKETS] = { "srs_stream_queue_packets", "gauge", "Packets kept for players." },
    [QUEUE_BYTES] = { "srs_stream_queue_bytes", "gauge", "Bytes of media kept for players." },
    [WIRE_BYTES] = { "srs_stream_wire_bytes", "gauge",
                     "Bytes rendered for the formats of its players." },
    [KEY_INTERVAL] = { "srs_stream_key_frame_interval_seconds", "gauge",
                       "Time between the last two key frames; 0: unknown." },
};

struct stream {
    char *labels;
    double v[VALUES];
};

struct streams {
    struct stream *v;
    size_t n;
    size_t all;    /* including those over the limit */
};

/* Splits a name at slashes; its parts may contain slashes, too. */
static char *labels_of(const struct collect_row *row)
{
    const char *app = row->name + row->vhost_n + 1, *name = app + row->app_n + 1;
    char *vhost = must(strndup(row->name, row->vhost_n)), *folder = must(strndup(app, row->app_n));
    char *out = prom_labels("vhost", vhost, "app", folder, "stream", name, NULL);

    free(vhost);
    free(folder);
    return out;
}

static struct stream stream_of(const struct collect_row *row)
{
    const struct live_source_stat *stat = row->stat;
    const struct collect_more *more = &row->more;

    return (struct stream){ .labels = labels_of(row), .v = {
        [PUBLISHING] = stat->publishing, [CLIENTS] = row->clients + more->clients,
        [FORWARDS] = row->forwards + more->forwards, [RECEIVED] = (double)stat->in_bytes,
        [SENT] = (double)(stat->out_bytes + more->out_bytes),
        [RECEIVE_RATE] = row->in_kbps * 125.0,
        [SEND_RATE] = (row->out_kbps + more->out_kbps) * 125.0,
        [VIDEO] = (double)stat->video_packets, [AUDIO] = (double)stat->audio_packets,
        [DROPPED] = (double)(stat->dropped + more->dropped),
        [QUEUE_PACKETS] = (double)stat->log_packets, [QUEUE_BYTES] = (double)stat->log_bytes,
        [WIRE_BYTES] = (double)stat->wire_bytes,
        [KEY_INTERVAL] = (double)stat->key_interval / AV_CLOCK,
    } };
}

static void take_all(struct streams *all, const struct api_parts *of)
{
    size_t most = (size_t)of->env->conf->exporter.streams;
    struct collect g;

    collect_streams(&g, of->env, true, PATIENCE);
    all->all = g.live;
    all->v = must(calloc((g.live < most ? g.live : most) + 1, sizeof(all->v[0])));
    for (; all->n < g.live && all->n < most; all->n++) {
        all->v[all->n] = stream_of(g.shown[all->n]);
        co_yield_if_due();
    }
    collect_free(&g);
}

void metrics_put_streams(struct wr *w, const struct api_parts *of)
{
    struct streams all = { 0 };

    take_all(&all, of);
    prom_one(w, "srs_streams", "gauge", "Live streams with a publisher or players.",
             (double)all.all);
    prom_one(w, "srs_streams_left_out", "gauge",
             "Streams without their own metrics: over exporter.streams.",
             (double)(all.all - all.n));
    for (int k = 0; k < VALUES; k++) {
        prom_family(w, families[k].name, families[k].type, families[k].help);
        for (size_t i = 0; i < all.n; i++) {
            prom_value(w, families[k].name, all.v[i].labels, all.v[i].v[k]);
            co_yield_if_due();
        }
    }
    for (size_t i = 0; i < all.n; i++)
        free(all.v[i].labels);
    free(all.v);
}
