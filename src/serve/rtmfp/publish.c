/* SPDX-License-Identifier: MIT */
/* publish.c - one that publishes: its messages become packets as those of RTMP do, byte for byte.
 *
 * They are taken in by the reader of the socket; its coroutine looks after it once a second.
 */
#include "serve/rtmfp/connection.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "proto/rtmp/control.h"

#include <stdlib.h>
#include <string.h>

#define LOOK CO_SECONDS(1)
#define IN_STEP CO_SECONDS(2) /* flows that are to be, and are not */

/* ---- its flows in step */

static bool waits(const struct rtmfp_publish *pub, co_usec now)
{
    return pub->sync_left > 0 && now < pub->sync_until;
}

void rtmfp_publish_sync(struct rtmfp_publish *pub, uint32_t id, uint32_t count, co_usec now)
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

/* ---- media */

/* The publisher says that its times are absolute: players get them as they are. */
static void apply_atc(struct rtmfp_netstream *n)
{
    struct rtmp_media *media = &n->publish->media;
    struct live_settings set = session_live_settings(n->base.conf, n->base.vhost);

    media->atc_auto = media->atc = false; /* once is enough */
    set.jitter = LIVE_JITTER_OFF;
    live_source_settings(media->src, &set);
}

void rtmfp_publish_take(struct rtmfp_netstream *n, uint8_t type, uint32_t time,
                        const uint8_t *data, size_t size)
{
    const struct conf_limits *limits = &n->base.conf->limits;
    bool media = type == RTMP_AUDIO || type == RTMP_VIDEO;
    struct rtmfp_publish *pub = n->publish;
    struct rtmp_msg msg = { .type = type, .time = time, .size = (uint32_t)size };

    if (!pub || (pub->over && !waits(pub, co_now())) || pub->publisher.place.replaced)
        return;
    n->base.in += size;
    pub->publisher.place.active_at = co_now(); /* its coroutine looks once a second */
    if (size == 0 || (int64_t)size > (media ? limits->max_message_size : limits->max_metadata_size))
        return;
    msg.payload = rtmp_media_alloc(live_source_packets(n->base.src), size);
    if (!msg.payload) { /* a gap, as if it had been lost */
        pub->media.bad++;
        return;
    }
    memcpy(msg.payload, data, size);
    session_publisher_media(&pub->publisher);
    rtmp_media_push(&pub->media, &msg);
    if (pub->media.atc)
        apply_atc(n);
}

/* ---- its coroutine */

static void log_sample(struct session_publisher *publisher, co_usec now)
{
    const struct session *s = publisher->s;
    const char *name = sampled_name(SAMPLED_RTMFP_PUBLISH);

    log_always(LOG_TRACE, "%s time=%lld, messages=%llu, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT,
               name, (long long)(now - s->began_at), (unsigned long long)publisher->messages,
               KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps));
}

static err_t look_after(struct rtmfp_publish *pub)
{
    err_t err = co_check();

    while (!err && (!pub->over || waits(pub, co_now()))) {
        bool changed;

        (void)!co_park(co_to_second(LOOK * 2, co_now()));
        err = session_publisher_turn(&pub->publisher, &changed);
    }
    return err;
}

static void say_begun(struct rtmfp_netstream *n)
{
    const struct rtmfp_event e = { .id = RTMP_STREAM_BEGIN, .value = n->number };
    uint8_t body[RTMFP_EVENT_MAX];

    rtmfp_netstream_say(n, RTMP_USER_CONTROL, 0, body, rtmfp_event_write(&e, body));
    rtmfp_netstream_status(n, RTMP_PUBLISH_START, NULL);
}

static void say_ended(struct rtmfp_netstream *n, bool fc)
{
    struct wr body;

    if (fc) { /* who says FCUnpublish waits for this */
        wr_init(&body, RTMFP_REPLY_MAX);
        rtmp_reply_fc(&body, RTMP_UNPUBLISH_SUCCESS);
        rtmfp_say_words(n->peer, n->words, RTMP_COMMAND, &body);
    }
    rtmfp_netstream_status(n, RTMP_UNPUBLISH_SUCCESS, NULL);
}

static void begin(struct rtmfp_netstream *n, struct rtmfp_publish *pub)
{
    const struct session *s = &n->base;

    pub->media = (struct rtmp_media){ .src = s->src, .signature = s->env->signature,
                                      .skip_sps = !s->vhost->publish.parse_sps,
                                      .atc_auto = s->vhost->play.atc_auto };
    pub->publisher.sampled = SAMPLED_RTMFP_PUBLISH;
    pub->publisher.log_sample = log_sample;
    n->publish = pub;
    n->doing = RTMFP_PUBLISHES;
    rtmfp_peer_media(n->peer, true);
    say_begun(n);
    co_stack_trim();
}

static void end(struct rtmfp_netstream *n, struct rtmfp_publish *pub, err_t why)
{
    n->doing = RTMFP_ENDS;
    n->publish = NULL;
    rtmfp_peer_media(n->peer, false);
    say_ended(n, pub->fc);
    log_trace("RTMFP publisher of %s sent %llu messages, %llu bytes, lost=%llu, broken=%u",
              live_source_name(n->base.src), (unsigned long long)pub->publisher.messages,
              (unsigned long long)n->base.in, (unsigned long long)pub->lost, pub->media.bad);
    session_publisher_end(&pub->publisher, why);
}

err_t rtmfp_publish_run(struct rtmfp_netstream *n)
{
    struct rtmfp_publish *pub = must(calloc(1, sizeof(*pub)));
    err_t err = session_publisher_begin(&pub->publisher, &n->base, CLIENTS_RTMFP_PUBLISH);

    if (!err) {
        begin(n, pub);
        err = look_after(pub);
        end(n, pub, err);
    }
    free(pub);
    return err ? err_wrap(err, "publish %s/%s", n->base.names.app, n->base.names.name) : NULL;
}
