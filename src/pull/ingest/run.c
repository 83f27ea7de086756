/* SPDX-License-Identifier: MIT */
/* run.c - one ingest without a program: retries, and publishing of a file in a loop. */
#include "pull/ingest/run.h"

#include "base/log.h"
#include "base/must.h"
#include "base/pace.h"
#include "session/move.h"
#include "sink/program/ffmpeg.h"
#include "vod/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_PAUSE CO_SECONDS(3)
#define MAX_PAUSE CO_SECONDS(30)
#define STABLE_TIME CO_SECONDS(60)
/* A frame that is due within SOON is sent at once. After a delay of LATE the schedule shifts; it
 * does not catch up. */
#define SOON CO_MS(4)
#define LATE CO_SECONDS(5)

enum { ROUND_MIN = AV_MS(100) }; /* minimum duration of a round */

static void set_state(struct ingest_run *r, enum job_state state)
{
    r->state = state;
    r->since = co_clock();
}

struct ingest_run *ingest_run_new(struct pulls *all, struct ingest_source *source,
                                  struct stream_owner *owner)
{
    struct ingest_run *r = must(calloc(1, sizeof(*r)));
    char here[300];

    pull_init(&r->pull, all, stream_key_ref(source->to), owner);
    ffmpeg_here(all->sink.env->conf, here, sizeof(here));
    r->tc_url = must_print("rtmp://%s/%s", here, source->to->app); /* the same URL as that of an
                                                                  * ffmpeg ingest */
    r->pull.session.names.tc_url = r->tc_url;
    r->pull.session.names.ip = "127.0.0.1";
    r->source = *source;
    *source = (struct ingest_source){ 0 };
    set_state(r, JOB_STARTING);
    return r;
}

void ingest_run_free(struct ingest_run *r)
{
    pull_fini(&r->pull);
    ingest_source_free(&r->source);
    free(r->tc_url);
    free(r);
}

/* ---- rounds */

/* Waits until the packet is due. */
static err_t wait_for(struct ingest_run *r, int64_t dts)
{
    co_usec due = r->began + dts * 100 / 9, now = co_now();
    err_t err = NULL;

    if (now - due > LATE)
        r->began += now - due;
    if (due - now > SOON)
        err = co_sleep(due - now);
    else
        co_yield_if_due();
    return err;
}

/* Returns true if this codec configuration is in force already: each round repeats it. */
static bool is_known(const struct ingest_run *r, const struct av_packet *pkt)
{
    const struct av_packet *in_force[LIVE_CONFIGS];
    size_t n = live_source_configs(r->pull.session.src, in_force, LIVE_CONFIGS);
    bool known = false;

    for (size_t i = 0; !known && i < n; i++)
        known = in_force[i]->kind == pkt->kind && in_force[i]->codec == pkt->codec &&
                in_force[i]->size == pkt->size &&
                memcmp(in_force[i]->data, pkt->data, pkt->size) == 0;
    return known;
}

static err_t push(struct ingest_run *r, struct av_packet *pkt)
{
    int64_t dts = r->shift + pkt->dts;
    bool changed;
    err_t err = wait_for(r, dts);

    if (err || (pkt->config && is_known(r, pkt)))
        return err;
    if (dts > r->end)
        r->end = dts;
    r->pull.session.in += pkt->size;
    session_publisher_media(&r->pull.publisher);
    condition_be(&r->pull.condition, CONDITION_RUNNING);
    live_source_push(r->pull.session.src, pkt, dts);
    return session_publisher_turn(&r->pull.publisher, &changed);
}

/* Publishes the file once. The next round starts one frame duration after the last frame, using the
 * distance of the last two frames. */
static err_t play(struct ingest_run *r, struct vod_reader *reader)
{
    int64_t last[AV_KINDS] = { 0 }, step[AV_KINDS] = { 0 }, end = r->shift + ROUND_MIN;
    struct av_packet *pkt = NULL;
    err_t err;

    while (!(err = vod_reader_next(reader, &pkt)) && pkt) {
        unsigned k = pkt->kind;

        if (!pkt->config && pkt->dts > last[k])
            step[k] = pkt->dts - last[k];
        if (!pkt->config)
            last[k] = pkt->dts;
        if (end < r->shift + last[k] + step[k])
            end = r->shift + last[k] + step[k];
        err = push(r, pkt);
        (void)av_packet_unref(pkt);
        if (err)
            break;
    }
    r->shift = end;
    return err;
}

static err_t open_file(struct ingest_run *r, struct vod_reader **reader)
{
    struct vod_file *file;
    err_t err = vod_file_open_path(&file, r->pull.session.env->vod, r->source.path);

    *reader = NULL;
    if (err)
        return err;
    *reader = vod_reader_new(file);
    (void)vod_file_unref(file);
    return NULL;
}

static err_t play_rounds(struct ingest_run *r, struct vod_reader *reader)
{
    err_t err = NULL;

    r->began = co_now();
    r->shift = 0;
    while (!err) {
        err = play(r, reader);
        vod_reader_free(reader);
        reader = NULL;
        if (!err)
            err = open_file(r, &reader);
    }
    vod_reader_free(reader);
    return err;
}

err_t ingest_run_join(struct ingest_run *r, enum clients_type type)
{
    struct session *s = &r->pull.session;
    err_t err;

    session_begin(s);
    s->in = s->out = 0;
    err = pull_enter_owner(&r->pull);
    if (!err)
        err = session_publisher_join(&r->pull.publisher, s, type);
    if (err) {
        session_leave_owner(s);
        return err;
    }
    set_state(r, JOB_RUNS);
    log_trace("ingest %s: publishes %s as %s", r->source.name, r->source.public_path,
              r->source.to->path);
    return NULL;
}

static err_t publish_file(struct ingest_run *r)
{
    struct session *s = &r->pull.session;
    struct vod_reader *reader;
    err_t err = open_file(r, &reader);

    if (err)
        return err;
    err = ingest_run_join(r, CLIENTS_FMLE_PUBLISH);
    if (err) {
        vod_reader_free(reader);
        return err;
    }
    err = play_rounds(r, reader);
    session_publisher_end(&r->pull.publisher, err);
    session_log_did(s, err);
    return err;
}

static err_t publish(struct ingest_run *r)
{
    struct session *s = &r->pull.session;
    err_t err = session_find_stream(s, s->names.vhost, s->names.app, s->names.name);

    r->starts++;
    if (err)
        return err;
    return r->source.srt ? ingest_srt_publish(r) : publish_file(r);
}

/* ---- retries */

static void log_failed(struct ingest_run *r, err_t *err, co_usec pause)
{
    char what[400];

    (void)err_text(*err, r->end_reason, sizeof(r->end_reason));
    condition_failed(&r->pull.condition, *err);
    (void)snprintf(what, sizeof(what), "ingest %.80s of %.80s: %.120s, again in %lld s",
                   r->source.name, r->source.vhost, r->source.public_path, us_to_s(pause));
    log_end(what, err);
}

err_t ingest_run_main(void *run)
{
    struct ingest_run *r = run;
    struct backoff again = backoff_init(MIN_PAUSE, MAX_PAUSE);

    r->pull.session.co = co_self();
    co_new_cid();
    while (co_stop_forget() && r->is_configured(r)) { /* kicked, or its configuration changed */
        co_usec began = co_clock();
        err_t err = publish(r);

        if (err_code(err) == ERR_STOPPED && !r->is_configured(r)) {
            err_free(&err);
            break;
        }
        (void)co_stop_forget();
        if (co_clock() - began >= STABLE_TIME)
            backoff_reset(&again);
        log_failed(r, &err, again.pause);
        set_state(r, JOB_WAITS);
        r->until = co_clock() + again.pause;
        err = co_sleep(again.pause);
        err_free(&err);
        backoff_grow(&again);
    }
    log_trace("ingest %s: ended", r->source.name);
    pull_unlink(&r->pull);
    r->ended(r->pull.all);
    ingest_run_free(r);
    return NULL;
}
