/* SPDX-License-Identifier: MIT */
/* sinks.c - the table of sinks, which start and end with every published stream. */
#include "app/sinks.h"

#include "base/must.h"
#include "pull/ingest/ingests.h"
#include "pull/rtsp/pulls.h"
#include "serve/hls/http.h"
#include "serve/hls/session.h"
#include "sink/dvr/dvr.h"
#include "sink/forward/forward.h"
#include "sink/hls/hls.h"
#include "sink/list.h"
#include "sink/program/children.h"
#include "sink/store/disk.h"

#include <stdlib.h>

/* Time to write pending files at the end of the program. Together with the time for callbacks, it
 * is shorter than the limit after which the process quits anyway. */
#define PATIENCE CO_SECONDS(6)

/* Segments and recordings have separate disk workers. Recordings are often on a network disk: if
 * it hangs, segments still have threads, and vice versa. */
static const char *const segment_ends[] = { ".ts", ".m4s", ".m3u8", ".mpd", ".key", NULL };
static const char *const record_ends[] = { ".flv", ".mp4", ".tmp", NULL };
enum { STREAM_MOST = 96 << 20, ALL_MOST = 1 << 30 }; /* pending bytes, of a stream and of all */

/* Add a new sink here. */
static const struct sink_ops *const rows[] = {
    &forward_sink,
    &hls_sink,
    &dvr_sink,
    &program_sink,
    &rtsp_pulls_sink,
    &ingests_sink,
};

/* Pending bytes of all workers. */
static atomic_size_t segments_wait, records_wait;

struct sinks {
    struct sink_list *list;
    struct disk *segments, *records;
    struct hls *hls;
};

struct sinks *sinks_new(struct session_env *env)
{
    struct sinks *s = must(calloc(1, sizeof(*s)));
    const struct live_memory *memory = live_registry_memory(env->streams);

    s->segments = disk_new(&(struct disk_limits){ .lane_bytes = STREAM_MOST,
                                                  .all_bytes = ALL_MOST,
                                                  .all = &segments_wait,
                                                  .threads = 3,
                                                  .what = "HLS",
                                                  .ends = segment_ends,
                                                  .memory = memory });
    s->records = disk_new(&(struct disk_limits){ .lane_bytes = STREAM_MOST,
                                                 .all_bytes = ALL_MOST,
                                                 .all = &records_wait,
                                                 .threads = 2,
                                                 .apart = true,
                                                 .what = "recordings",
                                                 .ends = record_ends,
                                                 .memory = memory });
    s->list = sink_list_new(rows, sizeof(rows) / sizeof(rows[0]), &(struct sink_setup){
        .env = env, .segments = s->segments, .records = s->records });
    s->hls = hls_of(sink_list_find(s->list, &hls_sink));
    hls_sessions_begin(s->hls);
    return s;
}

void sinks_mount(struct sinks *s, struct http_mux *mux)
{
    hls_http_mount(s->hls, mux);
}

void sinks_start(struct sinks *s)
{
    sink_list_start(s->list);
}

void sinks_stop_ingest(struct sinks *s)
{
    sink_list_drain(s->list);
}

void sinks_interrupt(struct sinks *s)
{
    sink_list_interrupt(s->list);
}

void sinks_begin(struct sinks *s, const struct conf_vhost *vhost,
                 const struct session_stream *stream, struct live_source *src)
{
    sink_list_begin(s->list, vhost, stream, src);
}

void sinks_end(struct sinks *s, struct live_source *src)
{
    sink_list_end(s->list, src);
}

void sinks_end_publishers(struct sinks *s)
{
    sink_stop(sink_list_find(s->list, &rtsp_pulls_sink));
    sink_stop(sink_list_find(s->list, &ingests_sink));
}

bool sinks_wanted(struct sinks *s, const struct session_stream *stream)
{
    return rtsp_pulls_request(sink_list_find(s->list, &rtsp_pulls_sink), stream);
}

void sinks_reload(struct sinks *s)
{
    sink_list_reload(s->list);
}

const struct sink *sinks_find(const struct sinks *s, const struct sink_ops *row)
{
    return sink_list_find(s->list, row);
}

void sinks_free(struct sinks *s)
{
    co_usec until = co_clock() + PATIENCE;

    sink_list_stop(s->list);
    disk_free(s->segments, until - co_clock());
    disk_free(s->records, until - co_clock());
    hls_sessions_free(s->hls);
    sink_list_free(s->list);
    free(s);
}
