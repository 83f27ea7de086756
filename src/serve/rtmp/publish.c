/* SPDX-License-Identifier: MIT */
/* publish.c - receives the stream of a publisher. */
#include "base/log.h"
#include "co/net/round.h"
#include "intake/rtmp.h"
#include "serve/rtmp/session.h"
#include "session/publisher.h"

/* The most that the kernel collects for a merged read; the timer usually ends the wait long
 * before. */
enum { MERGED_READ = 1 << 20, MESSAGES_PER_SLICE = 16 };

struct publishing {
    struct session_publisher publisher;
    struct rtmp_session *s;
    struct rtmp_intake media;
    bool over; /* the client ended the stream: back to waiting for commands */
};

static bool is_media(uint8_t type)
{
    return type == RTMP_AUDIO || type == RTMP_VIDEO || type == RTMP_DATA ||
           type == RTMP_DATA_AMF3;
}

/* Answers the end of a stream. FMLE sends FCUnpublish and expects three answers; other clients only
 * delete the stream. */
static err_t unpublished(struct publishing *p, const struct rtmp_command *c)
{
    struct rtmp_batch b;

    p->over = true;
    if (c->id != RTMP_CMD_FC_UNPUBLISH)
        return rtmp_session_answer(p->s, c);
    rtmp_batch_begin(&b, p->s);
    rtmp_reply_fc(&b.body, RTMP_UNPUBLISH_SUCCESS);
    rtmp_batch_put(&b, RTMP_COMMAND, p->s->stream_id);
    rtmp_reply_result(&b.body, c->transaction);
    rtmp_batch_put(&b, RTMP_COMMAND, 0);
    rtmp_batch_put_status(&b, RTMP_UNPUBLISH_SUCCESS, NULL);
    return rtmp_batch_send(&b);
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
    case RTMP_CMD_PUBLISH: /* publishes the same stream again: OBS and others repeat the command
                            * when unsure */
        err = rtmp_session_reply(p->s, RTMP_PUBLISH_START, NULL);
        break;
    default:
        err = rtmp_session_answer(p->s, &c);
    }
    rtmp_command_free(&c);
    return err;
}

/* The publisher declares its timestamps absolute: players get them unchanged. */
static void apply_atc(struct publishing *p)
{
    struct live_settings set = session_live_settings(p->s->base.conf, p->s->base.vhost);

    p->media.atc_auto = p->media.atc = false; /* set once */
    set.jitter = LIVE_JITTER_OFF;
    live_source_settings(p->media.src, &set);
}

static void take_media(struct publishing *p, struct rtmp_msg *msg)
{
    session_publisher_media(&p->publisher);
    rtmp_intake_push(&p->media, msg);
    if (p->media.atc)
        apply_atc(p);
}

/* Called when the last byte of a message is read: media become packets without queueing. After a
 * run of many small messages it returns false so that other coroutines can run: yielding in the
 * middle of a read is not possible. */
static bool on_media(void *arg, struct rtmp_msg *msg)
{
    struct publishing *p = arg;

    if (!is_media(msg->type) ||
        (p->publisher.messages % MESSAGES_PER_SLICE == MESSAGES_PER_SLICE - 1 && co_slice_over()))
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
        session_publisher_spoke(&p->publisher);
    rtmp_conn_release(&p->s->conn, msg);
    return err;
}

static void apply_read(struct publishing *p)
{
    io_tcp_read_low(p->s->base.io, p->s->base.vhost->publish.mr ? MERGED_READ : 1);
}

/* Merged read: the kernel does not wake us before the time is up, then everything is read at
 * once. */
static err_t merged_wait(struct publishing *p)
{
    struct rtmp_session *s = p->s;
    err_t err = NULL;

    if (io_wait(s->base.io, false, s->base.vhost->publish.mr_latency) == CO_STOPPED)
        err = co_check();
    return err ? err : rtmp_conn_drain(&s->conn);
}

/* Handles the messages of one read, or of one merged read (some hundred milliseconds). */
static err_t turn(struct publishing *p)
{
    struct rtmp_session *s = p->s;
    struct rtmp_msg msg;
    bool changed = false;
    err_t err = NULL;

    while (!err && !p->over && rtmp_conn_pop(&s->conn, &msg)) {
        err = on_message(p, &msg);
        co_yield_if_due();
    }
    if (!err && rtmp_conn_has_replies(&s->conn))
        err = rtmp_conn_flush(&s->conn);
    if (err || p->over)
        return err;
    err = s->base.vhost->publish.mr ? merged_wait(p) : rtmp_conn_fill(&s->conn);
    if (!err)
        err = session_publisher_turn(&p->publisher, &changed);
    if (changed)
        apply_read(p);
    return err;
}

static err_t reply_started(struct rtmp_session *s)
{
    struct rtmp_batch b;

    rtmp_batch_begin(&b, s);
    if (s->fc_publish) {
        rtmp_reply_fc(&b.body, RTMP_PUBLISH_START);
        rtmp_batch_put(&b, RTMP_COMMAND, s->stream_id);
    }
    rtmp_batch_put_status(&b, RTMP_PUBLISH_START, NULL);
    return rtmp_batch_send(&b);
}

/* Prefetches the memory that each turn uses in the session: from the end of its base on. */
static void prefetch(struct rtmp_session *s)
{
    size_t from = offsetof(struct rtmp_session, base.env);

    co_prefetch(0, (char *)s + from, offsetof(struct rtmp_session, conn.in.head) - from);
    live_source_prefetch(s->base.src, 1);
}

static void receive(struct publishing *p, bool on)
{
    struct rtmp_session *s = p->s;

    rtmp_session_set_limits(s, on);
    rtmp_in_direct(&s->conn.in, on ? on_media : NULL, on ? p : NULL);
    s->conn.in.memory = on ? live_source_packets(s->base.src) : NULL;
    if (on) {
        apply_read(p);
        prefetch(s);
    } else {
        co_prefetch(0, NULL, 0);
        co_prefetch(1, NULL, 0);
        io_tcp_read_low(s->base.io, 1);
    }
}

static err_t publish(struct publishing *p)
{
    struct rtmp_session *s = p->s;
    struct co_round round = { 0 };
    err_t err = reply_started(s);

    p->media = (struct rtmp_intake){ .src = s->base.src, .signature = s->base.env->signature,
                                    .skip_sps = !s->base.vhost->publish.parse_sps,
                                    .atc_auto = s->base.vhost->play.atc_auto };
    co_stack_trim();
    receive(p, true);
    while (!err && !p->over) {
        err = turn(p);
        if (!err)
            err = co_round_io(&round, s->base.io);
    }
    receive(p, false);
    if (p->media.bad)
        log_warn("ignored %u broken messages of %s", p->media.bad,
                 live_source_name(s->base.src));
    return err;
}

/* Sends an error status to the client. Returns `why`, which ends the session. */
static err_t reject(struct rtmp_session *s, const char *text, err_t why)
{
    enum err_code code = err_code(why);
    bool taken = code == ERR_STREAM_BUSY || code == ERR_REPLACED || s->base.on_demand;
    err_t reply_err = rtmp_session_reply(s, taken ? RTMP_PUBLISH_BAD_NAME : RTMP_PUBLISH_DENIED,
                                         text);

    err_free(&reply_err);
    return why;
}

err_t rtmp_session_publish(struct rtmp_session *s)
{
    struct publishing p = { .s = s };
    err_t err;

    if (s->base.on_demand)
        return reject(s, "The name belongs to a file on demand.",
                      err_new(ERR_DENIED, "%s/%s is the name of a file on demand", s->url.app,
                              s->url.stream));
    rtmp_session_suspend_deadlines(s); /* from here on the publisher's own timeouts apply */
    err = session_publisher_begin(&p.publisher, &s->base, rtmp_session_publisher(s));
    rtmp_session_resume_deadlines(s);
    if (err) {
        err = reject(s, NULL, err);
    } else {
        err = publish(&p);
        session_publisher_end(&p.publisher, err);
    }
    s->fc_publish = s->fc_late = false;
    return err ? err_wrap(err, "publish %s/%s", s->url.app, s->url.stream) : NULL;
}
