/* SPDX-License-Identifier: MIT */
/* publish.c - take in a stream that a client publishes. */
#include "base/container_of.h"
#include "base/log.h"
#include "co/net/round.h"
#include "serve/rtmp/claim.h"
#include "serve/rtmp/media.h"
#include "serve/rtmp/session.h"
#include "session/bandwidth.h"
#include "session/term.h"
#include "session/tokens.h"

#include <stdlib.h>

/* The most that a merged read lets the kernel collect; its timer ends the wait long before. */
enum { MERGED_READ = 1 << 20, SAMPLE_MESSAGES = 64, A_FEW = 16 };

#define HOLD CO_MS(200)            /* of the time that a publisher is not read */
#define HELD_AGAIN CO_SECONDS(30)

struct publishing {
    struct co_timer timer; /* looks whether the publisher is silent; first, see watch() */
    struct rtmp_session *s;
    struct live_source *src;
    struct rtmp_media media;
    uint64_t heard;     /* bytes of the connection so far */
    uint64_t messages, sampled_at; /* of media and data */
    co_usec message_at; /* when the last message ended; bytes of one may come all the time */
    bool over;          /* the client ended it: back to saying what it wants */
    bool idle;          /* nobody watched for too long */
    struct live_publisher publisher;
    const char *late;   /* it was silent: what did not come */
    struct serve_term term;
    int64_t ends;       /* its token; 0: never */
    struct serve_meter meter; /* for publish_kbps */
    co_usec told_at;    /* that it sends more */
};

/* When the next look is due: messages only note their time, and once in a while somebody looks
 * whether it is long ago. */
static co_usec silence_allowed(const struct publishing *p)
{
    const struct conf_publish *set = &p->s->vhost->publish;

    return p->messages ? set->normal_timeout : set->firstpkt_timeout;
}

static bool nobody_watches(const struct publishing *p, co_usec now)
{
    co_usec limit = p->s->vhost->publish.kickoff_for_idle;
    co_usec since = live_source_idle_since(p->src);

    return limit > 0 && since > 0 && now - since >= limit;
}

static void watch(struct co_timer *t)
{
    struct publishing *p = container_of(t, struct publishing, timer);
    co_usec now = co_now(), next = p->message_at + silence_allowed(p);

    if (nobody_watches(p, now)) {
        p->idle = true;
        co_stop(p->s->co, NULL);
    } else if (now >= next) {
        p->late = p->messages ? "message" : "first message";
        co_stop(p->s->co, NULL);
    } else {
        if (p->s->vhost->publish.kickoff_for_idle > 0 && next > now + CO_SECONDS(1))
            next = now + CO_SECONDS(1);
        co_timer_set(t, next, watch);
    }
}

static bool is_media(uint8_t type)
{
    return type == RTMP_AUDIO || type == RTMP_VIDEO || type == RTMP_DATA ||
           type == RTMP_DATA_AMF3;
}

/* FMLE says FCUnpublish and wants to be told three times; others just delete the stream. */
static err_t unpublished(struct publishing *p, const struct rtmp_command *c)
{
    struct wr out, body;

    p->over = true;
    if (c->id != RTMP_CMD_FC_UNPUBLISH)
        return rtmp_session_answer(p->s, c);
    wr_init(&out, RTMP_REPLY_MAX);
    wr_init(&body, RTMP_REPLY_MAX);
    rtmp_reply_fc(&body, RTMP_UNPUBLISH_SUCCESS);
    rtmp_conn_put(&p->s->conn, &out, RTMP_COMMAND, p->s->stream_id, &body);
    wr_free(&body);
    rtmp_reply_result(&body, c->transaction);
    rtmp_conn_put(&p->s->conn, &out, RTMP_COMMAND, 0, &body);
    wr_free(&body);
    rtmp_session_put_status(p->s, &out, RTMP_UNPUBLISH_SUCCESS, NULL);
    return rtmp_conn_send_all(&p->s->conn, &out);
}

static err_t on_command(struct publishing *p, const struct rtmp_msg *msg)
{
    struct rtmp_command c = { 0 };
    err_t err = rtmp_command_parse(&c, msg);

    if (err)
        return err;
    switch (c.id) {
    case RTMP_CMD_FC_UNPUBLISH:
    case RTMP_CMD_DELETE_STREAM:
    case RTMP_CMD_CLOSE_STREAM:
        err = unpublished(p, &c);
        break;
    case RTMP_CMD_PUBLISH: /* of the same stream again: OBS and others repeat it when unsure */
        err = rtmp_session_reply(p->s, RTMP_PUBLISH_START, NULL);
        break;
    default:
        err = rtmp_session_answer(p->s, &c);
    }
    rtmp_command_free(&c);
    return err;
}

/* The publisher says that its times are absolute: players get them as they are. */
static void apply_atc(struct publishing *p)
{
    struct live_settings set = session_live_settings(p->s->conf, p->s->vhost);

    p->media.atc_auto = p->media.atc = false; /* once is enough */
    set.jitter = LIVE_JITTER_OFF;
    live_source_settings(p->src, &set);
}

static void take_media(struct publishing *p, struct rtmp_msg *msg)
{
    p->message_at = co_now();
    if (p->messages++ == 0)
        watch(&p->timer); /* from now on it is the shorter time that counts */
    rtmp_media_push(&p->media, msg);
    if (p->media.atc)
        apply_atc(p);
}

/* Media do not queue: they become packets as soon as their last byte is read. Unless so many small
 * ones came at once that others have to run: that is not possible in the middle of a read. */
static bool on_media(void *arg, struct rtmp_msg *msg)
{
    struct publishing *p = arg;

    if (!is_media(msg->type) || (p->messages % A_FEW == A_FEW - 1 && co_slice_over()))
        return false;
    take_media(p, msg);
    return true;
}

static err_t on_message(struct publishing *p, struct rtmp_msg *msg)
{
    err_t err = NULL;

    if (msg->type == RTMP_COMMAND || msg->type == RTMP_COMMAND_AMF3)
        err = on_command(p, msg);
    else if (is_media(msg->type))
        take_media(p, msg);
    else
        p->message_at = co_now();
    rtmp_conn_release(&p->s->conn, msg);
    return err;
}

static void sample(struct publishing *p)
{
    struct rtmp_session *s = p->s;
    co_usec now = p->message_at;

    if (p->messages - p->sampled_at < SAMPLE_MESSAGES)
        return;
    if (p->sampled_at == 0)
        co_stack_trim(); /* the first messages went deep: log lines, decoder configurations */
    p->sampled_at = p->messages;
    rtmp_session_count(s, now);
    if (!sampled_due(&s->env->sampled, SAMPLED_PUBLISH, now, s->conf->sampled_print))
        return;
    log_always(LOG_TRACE,
               "%s time=%lld, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT ", mr=%d/%d, p1stpt=%d, pnt=%d",
               sampled_name(SAMPLED_PUBLISH), (long long)(now - s->began_at),
               KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps), s->vhost->publish.mr,
               (int)(s->vhost->publish.mr_latency / 1000),
               (int)(s->vhost->publish.firstpkt_timeout / 1000),
               (int)(s->vhost->publish.normal_timeout / 1000));
}

static void apply_read(struct publishing *p)
{
    io_tcp_read_low(p->s->io, p->s->vhost->publish.mr ? MERGED_READ : 1);
}

static err_t obey(struct publishing *p)
{
    bool changed;
    err_t err = rtmp_session_apply(p->s, &changed);

    if (err || !changed)
        return err;
    apply_read(p);
    return NULL;
}

/* Merged read: the kernel wakes nobody before the time is up, then all is read at once. */
static err_t merged_wait(struct publishing *p)
{
    struct rtmp_session *s = p->s;
    err_t err = NULL;

    if (io_wait(s->io, false, s->vhost->publish.mr_latency) == CO_STOPPED)
        err = co_check();
    return err ? err : rtmp_conn_drain(&s->conn);
}

/* A big message on a thin line is no silence, though it ends late. */
static void hear(struct publishing *p)
{
    if (p->s->io->bytes_in == p->heard)
        return;
    p->heard = p->s->io->bytes_in;
    p->publisher.active_at = co_now();
}

static void tell_held(struct publishing *p, co_usec now)
{
    if (p->told_at && now - p->told_at < HELD_AGAIN)
        return;
    p->told_at = now;
    log_warn("publisher of %s sends more than publish_kbps %d of bandwidth: it is read no faster, "
             "its encoder sees a slow network", live_source_name(p->src),
             p->s->vhost->bandwidth.publish_kbps);
}

/* It sent too much: nothing is read for a while. That is no silence of its own. */
static err_t hold(struct publishing *p)
{
    co_usec wait = session_meter_wait(&p->meter, p->s->io->bytes_in,
                                    p->s->vhost->bandwidth.publish_kbps, co_now());
    err_t err = NULL;

    if (wait > 0)
        tell_held(p, co_now());
    while (!err && wait > 0) {
        err = co_sleep(wait < HOLD ? wait : HOLD);
        wait -= HOLD;
        p->publisher.active_at = p->message_at = co_now();
    }
    return err;
}

/* What comes with one read, or with merged reads in some hundred milliseconds. */
static err_t turn(struct publishing *p)
{
    struct rtmp_session *s = p->s;
    struct rtmp_msg msg;
    err_t err = obey(p);

    while (!err && !p->over && rtmp_conn_pop(&s->conn, &msg)) {
        err = on_message(p, &msg);
        co_yield_if_due();
    }
    if (!err && rtmp_conn_owes(&s->conn))
        err = rtmp_conn_flush(&s->conn);
    if (err || p->over)
        return err;
    err = s->vhost->publish.mr ? merged_wait(p) : rtmp_conn_fill(&s->conn);
    hear(p);
    if (!err)
        sample(p);
    if (!err && s->vhost->bandwidth.publish_kbps > 0)
        err = hold(p);
    return err ? err : co_check();
}

/* A backend is asked only about who would be let in, and the place is kept meanwhile. */
static err_t claim(struct publishing *p, const struct session_stream *names,
                   const struct live_takeover *rule)
{
    struct rtmp_session *s = p->s;
    err_t err;

    rtmp_claim_proof(s, &p->publisher);
    err = rtmp_claim_wait(p->src, &p->publisher, rule);
    if (err)
        return err;
    p->publisher.active_at = co_now();
    err = live_source_claim(p->src, &p->publisher, rule);
    if (err)
        return err;
    rtmp_session_wait(s, rtmp_session_publisher(s), p->src);
    err = rtmp_session_ask(s, HOOKS_PUBLISH, names);
    if (err) {
        live_source_unclaim(p->src, &p->publisher);
        rtmp_session_leave(s, err);
    }
    if (err && p->publisher.replaced) {
        err_free(&err);
        err = err_new(ERR_REPLACED, "%s, before it began", live_source_name(p->src));
    }
    return err;
}

/* What reads the stream may be seconds behind: not all of that at once, where nothing yields. */
static void catch_up(const struct publishing *p)
{
    const struct session_env *env = p->s->env;

    if (env->on_leaving)
        env->on_leaving(env->arg, p->src);
}

static err_t begin(struct publishing *p)
{
    struct rtmp_session *s = p->s;
    struct session_stream names = rtmp_session_names(s);
    struct live_takeover rule;
    bool replaces;
    err_t err;

    rtmp_claim_rule(&s->vhost->publish, &rule);
    p->publisher = (struct live_publisher){ .co = s->co, .ip = s->ip };
    err = claim(p, &names, &rule);
    if (err)
        return err;
    if (live_source_publishing(p->src))
        catch_up(p);
    p->publisher.active_at = p->message_at = co_now();
    replaces = live_source_publishing(p->src);
    err = live_source_begin(p->src, &p->publisher, &rule);
    if (err) { /* the one it was to replace came back to life meanwhile */
        live_source_unclaim(p->src, &p->publisher);
        rtmp_session_leave(s, err);
        rtmp_session_notify(s, HOOKS_UNPUBLISH);
        return err;
    }
    s->env->publishers++;
    rtmp_session_enter(s);
    if (replaces) {
        log_trace("takes over %s", live_source_name(p->src));
        s->env->on_unpublish(s->env->arg, p->src);
    }
    s->env->on_publish(s->env->arg, s->vhost, &names, p->src);
    return NULL;
}

static void end(struct publishing *p, err_t why)
{
    struct session_env *env = p->s->env;

    if (!p->publisher.replaced)
        catch_up(p);
    env->publishers--;
    if (!p->publisher.replaced)
        env->on_unpublish(env->arg, p->src);
    live_source_end(p->src, &p->publisher);
    rtmp_session_notify(p->s, HOOKS_UNPUBLISH);
    rtmp_session_leave(p->s, why);
    io_tcp_read_low(p->s->io, 1);
    if (p->media.bad)
        log_warn("%u broken messages of %s were left out", p->media.bad,
                 live_source_name(p->src));
}

static err_t log_started(struct rtmp_session *s)
{
    struct wr out, body;

    wr_init(&out, RTMP_REPLY_MAX);
    wr_init(&body, RTMP_REPLY_MAX);
    if (s->fc_publish) {
        rtmp_reply_fc(&body, RTMP_PUBLISH_START);
        rtmp_conn_put(&s->conn, &out, RTMP_COMMAND, s->stream_id, &body);
        wr_free(&body);
    }
    rtmp_session_put_status(s, &out, RTMP_PUBLISH_START, NULL);
    return rtmp_conn_send_all(&s->conn, &out);
}

static err_t published(struct publishing *p)
{
    struct co_round round = { 0 };
    err_t err = log_started(p->s);

    co_stack_trim();
    apply_read(p);
    watch(&p->timer);
    session_term_begin(&p->term, p->ends);
    rtmp_session_may_send(p->s, true);
    rtmp_in_direct(&p->s->conn.in, on_media, p);
    co_near(0, p->s, offsetof(struct rtmp_session, conn.in.head));
    live_source_near(p->src, 1);
    while (!err && !p->over) {
        err = turn(p);
        if (!err)
            err = co_round_io(&round, p->s->io);
    }
    co_near(0, NULL, 0);
    co_near(1, NULL, 0);
    rtmp_in_direct(&p->s->conn.in, NULL, NULL);
    rtmp_session_may_send(p->s, false);
    co_timer_cancel(&p->timer);
    session_term_end(&p->term, &err);
    if (p->publisher.replaced) {
        err_free(&err);
        err = err_new(ERR_REPLACED, "%s", live_source_name(p->src));
    } else if (err_code(err) == ERR_STOPPED && p->idle) {
        err_free(&err);
        err = err_new(ERR_IDLE, "kickoff_for_idle of %s", live_source_name(p->src));
    } else if (err_code(err) == ERR_STOPPED && p->late) {
        err_free(&err);
        err = err_new(ERR_IO_TIMEOUT, "no %s for %lld ms", p->late,
                      (long long)silence_allowed(p) / 1000);
    }
    return err;
}

/* The client is told why not; `err` is what ends the session. */
static err_t refuse(struct rtmp_session *s, enum rtmp_status status, err_t err)
{
    err_t untold = rtmp_session_reply(s, status, NULL);

    err_free(&untold);
    return err;
}

static enum rtmp_status refusal_of(err_t why)
{
    return err_code(why) == ERR_STREAM_BUSY || err_code(why) == ERR_REPLACED
               ? RTMP_PUBLISH_BAD_NAME : RTMP_PUBLISH_DENIED;
}

static err_t publish(struct publishing *p)
{
    struct rtmp_session *s = p->s;
    struct live_settings set = session_live_settings(s->conf, s->vhost);
    char *name = rtmp_session_stream_name(s);
    err_t err = NULL;

    p->src = live_registry_get(s->env->streams, name, &set);
    free(name);
    live_source_settings(p->src, &set);
    p->media = (struct rtmp_media){ .src = p->src, .signature = s->env->signature,
                                     .skip_sps = !s->vhost->publish.parse_sps,
                                     .atc_auto = s->vhost->play.atc_auto };
    if (!live_source_publishing(p->src))
        err = session_room_in(s->env, s->vhost);
    if (!err)
        err = begin(p);
    if (err) {
        err = refuse(s, refusal_of(err), err);
    } else {
        err = published(p);
        end(p, err);
    }
    (void)live_source_unref(p->src);
    return err;
}

err_t rtmp_session_publish(struct rtmp_session *s)
{
    struct publishing p = { .s = s };
    struct session_stream names = rtmp_session_names(s);
    err_t err = rtmp_session_allowed(s, CONF_PUBLISH);

    if (!err)
        err = tokens_check(s->env, s->vhost, CONF_PUBLISH, &names, NULL, &p.ends);
    rtmp_session_deadline(s, 0, NULL); /* from here on the silence of the publisher is watched */
    err = err ? refuse(s, RTMP_PUBLISH_DENIED, err) : publish(&p);
    s->fc_publish = s->fc_late = false;
    return err ? err_wrap(err, "publish %s/%s", s->url.app, s->url.stream) : NULL;
}
