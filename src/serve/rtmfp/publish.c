/* SPDX-License-Identifier: MIT */
/* publish.c - a publisher: its messages become the same packets as those of RTMP, byte for byte.
 *
 * The reader of the socket, or of the mailbox, delivers them; the coroutine of the publisher checks
 * it once a second. Messages of its two media flows are merged in order of time (merge.h).
 */
#include "serve/rtmfp/connection.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "format/flv/flv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK CO_SECONDS(1)
#define IN_STEP CO_SECONDS(2) /* limit of waiting for flows that are missing */

/* ---- flow synchronization */

static bool waits(const struct rtmfp_publish *pub, co_usec now)
{
    return pub->sync_left > 0 && now < pub->sync_until;
}

static void sync_flows(struct rtmfp_publish *pub, uint32_t id, uint32_t count, co_usec now)
{
    if (!waits(pub, now) || pub->sync != id) {
        pub->sync = id;
        pub->sync_left = count;
        pub->sync_until = now + IN_STEP;
    }
    if (pub->sync_left > 0)
        pub->sync_left--;
    if (pub->over && pub->sync_left == 0)
        co_unpark(pub->publisher.s->co);
}

/* SetBufferLength applies only to players of files */
static void on_event(struct rtmfp_publish *pub, struct rtmfp_bytes body)
{
    struct rtmfp_event e;

    if (rtmfp_event_read(&e, body) && e.id == RTMFP_FLOW_SYNC)
        sync_flows(pub, e.value, e.more, co_now());
}

/* ---- media */

/* The publisher declares absolute times: players get them unchanged. */
static void apply_atc(struct rtmfp_publish *pub)
{
    const struct session *s = pub->publisher.s;
    struct rtmp_intake *media = &pub->media;
    struct live_settings set = session_live_settings(s->conf, s->vhost);

    media->atc_auto = media->atc = false; /* applied once */
    set.jitter = LIVE_JITTER_OFF;
    live_source_settings(media->src, &set);
}

static void on_due(struct co_timer *t);

/* Pushes all messages that are due. */
static void push(struct rtmfp_publish *pub, bool all, co_usec now)
{
    struct rtmp_msg msg;
    co_usec due;

    while (rtmfp_merge_next(&pub->merge, &msg, all, now)) {
        rtmp_intake_push(&pub->media, &msg);
        if (pub->media.atc)
            apply_atc(pub);
    }
    due = rtmfp_merge_due(&pub->merge);
    if (due == CO_FOREVER)
        co_timer_cancel(&pub->timer);
    else
        co_timer_set(&pub->timer, due, on_due);
}

static void drop(struct rtmfp_publish *pub)
{
    struct rtmp_msg msg;

    co_timer_cancel(&pub->timer);
    while (rtmfp_merge_next(&pub->merge, &msg, true, 0))
        rtmp_intake_release(msg.payload);
}

static void on_due(struct co_timer *t)
{
    struct rtmfp_publish *pub = container_of(t, struct rtmfp_publish, timer);

    if (pub->publisher.place.replaced)
        drop(pub);
    else
        push(pub, false, co_clock());
}

/* Returns whether its time is not on the timeline of the stream. */
static bool is_aside(const struct rtmp_msg *msg)
{
    struct flv_body b;
    err_t err = msg->type == RTMP_AUDIO ? flv_audio_parse(&b, msg->payload, msg->size)
                                        : flv_video_parse(&b, msg->payload, msg->size);

    if (!err)
        return b.config || b.extra;
    err_free(&err);
    return true;
}

static void take_in(struct rtmfp_publish *pub, struct rtmp_msg *msg)
{
    co_usec now = co_clock();

    if (msg->type != RTMP_AUDIO && msg->type != RTMP_VIDEO) {
        rtmp_intake_push(&pub->media, msg);
        return;
    }
    rtmfp_merge_put(&pub->merge,
                    msg->type == RTMP_AUDIO ? RTMFP_MERGE_AUDIO : RTMFP_MERGE_VIDEO, msg,
                    is_aside(msg), now);
    push(pub, false, now);
}

static void on_media(struct rtmfp_publish *pub, const struct rtmfp_rtmp_message *message)
{
    struct session *s = pub->publisher.s;
    const struct conf_limits *limits = &s->conf->limits;
    bool media = message->type == RTMP_AUDIO || message->type == RTMP_VIDEO;
    size_t size = message->body.n;
    struct rtmp_msg msg = { .type = message->type, .time = message->time, .size = (uint32_t)size };

    s->in += size;
    pub->publisher.place.active_at = co_now(); /* the coroutine checks it once a second */
    if (size == 0 || (int64_t)size > (media ? limits->max_message_size : limits->max_metadata_size))
        return;
    msg.payload = rtmp_intake_alloc(live_source_packets(s->src), size);
    if (!msg.payload) { /* a gap, the same as a loss */
        pub->media.bad++;
        return;
    }
    memcpy(msg.payload, message->body.p, size);
    session_publisher_media(&pub->publisher);
    take_in(pub, &msg);
}

void rtmfp_publish_push(struct rtmfp_publish *pub, const struct rtmfp_rtmp_message *message,
                        bool behind, uint64_t lost)
{
    struct co_cid own;

    pub->lost += lost;
    if ((pub->over && !waits(pub, co_now())) || pub->publisher.place.replaced)
        return;
    own = co_swap_cid(pub->publisher.s->id);
    pub->merge.behind = behind;
    if (message->type == RTMP_USER_CONTROL)
        on_event(pub, message->body);
    else
        on_media(pub, message);
    co_set_cid(own.text);
}

void rtmfp_publish_close(struct rtmfp_publish *pub)
{
    pub->over = true;
    co_unpark(pub->publisher.s->co);
}

/* ---- coroutine */

static void log_sample(struct session_publisher *publisher, co_usec now)
{
    const struct session *s = publisher->s;
    struct rtmfp_client_stat stat = { 0 };

    if (s->detail)
        (void)s->detail->read(s, &stat);
    log_always(LOG_TRACE, "%s time=%lld, messages=%llu, missing=%llu, rtt=%lld ms, okbps=" KBPS_FMT
               ", ikbps=" KBPS_FMT, sampled_name(SAMPLED_RTMFP_PUBLISH),
               us_to_ms(now - s->began_at), (unsigned long long)publisher->messages,
               (unsigned long long)stat.missing, us_to_ms(stat.rtt), KBPS_ARGS(&s->out_kbps),
               KBPS_ARGS(&s->in_kbps));
}

err_t rtmfp_publish_begin(struct rtmfp_publish *pub, struct session *s)
{
    err_t err = session_publisher_begin(&pub->publisher, s, CLIENTS_RTMFP_PUBLISH);

    if (err)
        return err_wrap(err, "publish %s/%s", s->names.app, s->names.name);
    pub->media = (struct rtmp_intake){ .src = s->src, .signature = s->env->signature,
                                      .skip_sps = !s->vhost->publish.parse_sps,
                                      .atc_auto = s->vhost->play.atc_auto };
    pub->publisher.sampled = SAMPLED_RTMFP_PUBLISH;
    pub->publisher.log_sample = log_sample;
    co_stack_trim();
    return NULL;
}

err_t rtmfp_publish_wait(struct rtmfp_publish *pub)
{
    const struct session_stream *names = &pub->publisher.s->names;
    err_t err = co_check();

    while (!err && (!pub->over || waits(pub, co_now()))) {
        bool changed;

        (void)!co_park(co_to_second(LOOK * 2, co_now()));
        err = session_publisher_turn(&pub->publisher, &changed);
        if (!err && changed && !pub->publisher.s->vhost->rtmfp.enabled)
            err = err_new(ERR_VHOST_DISABLED, "the configuration changed: rtmfp of %s is off",
                          pub->publisher.s->vhost->name);
    }
    return err ? err_wrap(err, "publish %s/%s", names->app, names->name) : NULL;
}

void rtmfp_publish_end(struct rtmfp_publish *pub, err_t why)
{
    const struct session *s = pub->publisher.s;

    if (!pub->publisher.place.replaced) /* else another publisher has the stream */
        push(pub, true, co_clock());
    drop(pub);
    log_trace("RTMFP publisher of %s sent %llu messages, %llu bytes, lost=%llu, broken=%u",
              live_source_name(s->src), (unsigned long long)pub->publisher.messages,
              (unsigned long long)s->in, (unsigned long long)pub->lost, pub->media.bad);
    session_publisher_end(&pub->publisher, why);
}

err_t rtmfp_publish_run(struct rtmfp_netstream *n)
{
    struct rtmfp_publish *pub = must(calloc(1, sizeof(*pub)));
    err_t err = rtmfp_publish_begin(pub, &n->base.session);

    if (!err) {
        n->publish = pub;
        rtmfp_netstream_published(n);
        err = rtmfp_publish_wait(pub);
        n->publish = NULL;
        rtmfp_netstream_unpublished(n);
        rtmfp_publish_end(pub, err);
    }
    free(pub);
    return err;
}
