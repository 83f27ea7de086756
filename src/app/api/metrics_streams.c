/* SPDX-License-Identifier: MIT */
/* metrics_streams.c - figures of each stream for Prometheus.
 *
 * A family's lines stand together, so what all streams have to say is taken first, then written
 * family by family; others run in between.
 */
#include "app/api/metrics_impl.h"

#include "base/must.h"
#include "session/clients.h"

#include <stdlib.h>
#include <string.h>

enum { LABELS_MAX = 16 * 1024 };

/* So long the thread is kept at most; the goal is 5 ms. */

enum value {
    PUBLISHING, CLIENTS, FORWARDS, RECEIVED, SENT, RECEIVE_RATE, SEND_RATE, VIDEO, AUDIO, DROPPED,
    QUEUE_PACKETS, QUEUE_BYTES, WIRE_BYTES, KEY_INTERVAL, VALUES,
};

static const struct {
    const char *name, *type, *help;
} families[VALUES] = {
    [PUBLISHING] = { "srs_stream_publishing", "gauge", "1 while the stream has a publisher." },
    [CLIENTS] = { "srs_stream_clients", "gauge", "Its players, and its publisher." },
    [FORWARDS] = { "srs_stream_forwards", "gauge", "Servers that it is sent on to." },
    [RECEIVED] = { "srs_stream_receive_bytes_total", "counter", "Bytes of media received." },
    [SENT] = { "srs_stream_send_bytes_total", "counter", "Bytes of media sent to players." },
    [RECEIVE_RATE] = { "srs_stream_receive_bytes_per_second", "gauge", "Over the last 30 s." },
    [SEND_RATE] = { "srs_stream_send_bytes_per_second", "gauge", "Over the last 30 s." },
    [VIDEO] = { "srs_stream_video_frames_total", "counter", "Video packets received." },
    [AUDIO] = { "srs_stream_audio_frames_total", "counter", "Audio packets received." },
    [DROPPED] = { "srs_stream_dropped_packets_total", "counter",
                  "Packets left out for players that were too slow, for each of them." },
    [QUEUE_PACKETS] = { "srs_stream_queue_packets", "gauge", "Packets kept for players." },
    [QUEUE_BYTES] = { "srs_stream_queue_bytes", "gauge", "Bytes of media kept for players." },
    [WIRE_BYTES] = { "srs_stream_wire_bytes", "gauge", "Bytes of its formats, made once for all." },
    [KEY_INTERVAL] = { "srs_stream_key_frame_interval_seconds", "gauge",
                       "Between the last two key frames; 0: not known." },
};

struct stream {
    char *labels;
    double v[VALUES];
};

struct streams {
    struct stream *v;
    size_t n, cap;
    size_t all;    /* with those over the limit */
};

static char *labels_of(const struct clients_stream *s)
{
    struct wr w;
    char *out;

    wr_init(&w, LABELS_MAX);
    prom_label(&w, "vhost", s->vhost->name);
    prom_label(&w, "app", s->app);
    prom_label(&w, "stream", s->name);
    out = must_dup(prom_labels_end(&w));
    wr_free(&w);
    return out;
}

static void take(struct streams *all, const struct clients_stream *s)
{
    struct stream *one = &all->v[all->n++];
    struct live_source_stat stat;

    live_source_stat(s->src, &stat);
    *one = (struct stream){ .labels = labels_of(s), .v = {
        [PUBLISHING] = stat.publishing, [CLIENTS] = s->clients, [FORWARDS] = s->forwards,
        [RECEIVED] = (double)stat.in_bytes, [SENT] = (double)stat.out_bytes,
        [RECEIVE_RATE] = s->in_kbps.s30_kbps * 125.0, [SEND_RATE] = s->out_kbps.s30_kbps * 125.0,
        [VIDEO] = (double)stat.video_packets, [AUDIO] = (double)stat.audio_packets,
        [DROPPED] = (double)stat.dropped, [QUEUE_PACKETS] = (double)stat.log_packets,
        [QUEUE_BYTES] = (double)stat.log_bytes, [WIRE_BYTES] = (double)stat.wire_bytes,
        [KEY_INTERVAL] = (double)stat.key_interval / AV_CLOCK,
    } };
}

/* Sources are held by a reference, so others may come and go meanwhile. */
static void take_all(struct streams *all, const struct api_parts *of)
{
    size_t n;
    struct live_source **src = live_registry_all(of->env->streams, &n);

    all->cap = (size_t)of->env->conf->exporter.streams;
    if (n < all->cap)
        all->cap = n;
    all->v = must(calloc(all->cap + 1, sizeof(all->v[0])));
    for (size_t i = 0; i < n; i++) {
        const struct clients_stream *s = clients_stream(of->env->clients, src[i]);

        if (s->clients > 0) {
            all->all++;
            if (all->n < all->cap)
                take(all, s);
        }
        (void)live_source_unref(src[i]);
        co_yield_if_due();
    }
    free(src);
}

void metrics_put_streams(struct wr *w, const struct api_parts *of)
{
    struct streams all = { 0 };

    take_all(&all, of);
    prom_family(w, "srs_streams", "gauge", "Streams with a publisher or players.");
    prom_value(w, "srs_streams", "", (double)all.all);
    prom_family(w, "srs_streams_left_out", "gauge",
                "Streams without figures of their own: over exporter.streams.");
    prom_value(w, "srs_streams_left_out", "", (double)(all.all - all.n));
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
