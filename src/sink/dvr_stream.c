/* SPDX-License-Identifier: MIT */
/* dvr_stream.c - the life of a stream's recording. */
#include "base/log.h"
#include "base/must.h"
#include "sink/dvr_stream.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_LIMIT = 96 << 20, HEADER_LIMIT = 1 << 20 };

struct dvr_stream *dvr_stream_new(struct dvrs *d, const struct serve_stream *names,
                                  struct conf *conf, const struct conf_dvr *set)
{
    struct dvr_stream *s = calloc(1, sizeof(*s));

    if (!s)
        abort();
    ref_init(&s->ref);
    s->dvrs = d;
    s->vhost = must_dup(names->vhost);
    s->app = must_dup(names->app);
    s->stream = must_dup(names->name);
    s->conf = conf_ref(conf);
    s->set = set;
    wr_init(&s->block, BLOCK_LIMIT);
    wr_init(&s->header, HEADER_LIMIT);
    mp4_frag_init(&s->mp4, DVR_FRAGMENT_MAX);
    disk_lane_init(&s->lane, d->disk);
    disk_room_open(&s->room, d->disk, set->path);
    s->quota = set->quota;
    return s;
}

struct dvr_stream *dvr_stream_ref(struct dvr_stream *s)
{
    ref_get(&s->ref);
    return s;
}

void dvr_stream_unref(struct dvr_stream *s)
{
    if (!ref_put(&s->ref))
        return;
    live_reader_close(&s->reader);
    mp4_frag_fini(&s->mp4);
    disk_room_close(&s->room);
    wr_free(&s->block);
    wr_free(&s->header);
    (void)conf_unref(s->conf);
    sink_teller_fini(&s->teller);
    free(s->vhost);
    free(s->app);
    free(s->stream);
    free(s);
}

void dvr_stream_begin(struct dvr_stream *s, const struct serve_stream *names,
                      struct live_source *src)
{
    err_t err;

    sink_teller_set(&s->teller, s->dvrs->serve, names, src);
    s->src = src;
    s->live = true;
    s->dvrs->live++;
    dvr_time_begin(s);
    live_reader_open(&s->reader, src);
    err = co_go(&s->dvrs->group, "dvr", dvr_run, dvr_stream_ref(s));
    if (!err)
        return;
    dvr_stream_unref(s);
    log_end("the recording does not begin", &err);
}

void dvr_stream_end(struct dvr_stream *s)
{
    dvr_drain(s, true);
    dvr_close(s);
    if (s->bad > 1)
        log_warn("recording of %s/%s: %u frames were left out", s->app, s->stream, s->bad);
    live_reader_close(&s->reader);
    s->live = false;
    s->dvrs->live--;
}
