/* SPDX-License-Identifier: MIT */
/* messages.c - shared by all phases of a client: deadline, size limits of messages, URL, and
 * batches of messages to the client. */
#include "serve/rtmp/session.h"

/* Memory allocated when a message begins: enough for most commands, or for most frames. */
enum { COMMAND_AT_ONCE = 1024, FRAME_AT_ONCE = 64 * 1024, REPLY_MAX = 64 * 1024 };

void rtmp_session_set_limits(struct rtmp_session *s, bool publishes)
{
    const struct conf_limits *limits = &s->base.conf->limits;
    int64_t others = limits->max_partial_others;

    if (others < limits->max_command_size) /* a command must fit */
        others = limits->max_command_size;
    s->setup.max_inflight = (size_t)(publishes ? limits->max_partial_size : others);
    s->setup.at_once = publishes ? FRAME_AT_ONCE : COMMAND_AT_ONCE;
    s->conn.message_time = limits->message_timeout;
    s->conn.small_reads = !publishes;
}

void rtmp_session_suspend_deadlines(struct rtmp_session *s)
{
    co_deadline_cancel(&s->deadline);
    rtmp_conn_pause(&s->conn);
}

void rtmp_session_resume_deadlines(struct rtmp_session *s)
{
    rtmp_conn_resume(&s->conn);
}

err_t rtmp_session_resolve(struct rtmp_session *s, const char *stream)
{
    struct rtmp_url url;
    err_t err = rtmp_url_resolve(&url, s->base.names.tc_url, stream);

    if (err)
        return err;
    rtmp_url_free(&s->url);
    s->url = url;
    s->base.names.param = url.param;
    return NULL;
}

/* ---- messages */

void rtmp_batch_begin(struct rtmp_batch *b, struct rtmp_session *s)
{
    b->s = s;
    wr_init(&b->out, REPLY_MAX);
    wr_init(&b->body, REPLY_MAX);
}

void rtmp_batch_put(struct rtmp_batch *b, uint8_t type, uint32_t stream_id)
{
    rtmp_conn_put(&b->s->conn, &b->out, type, stream_id, &b->body);
    wr_free(&b->body);
}

void rtmp_batch_put_status(struct rtmp_batch *b, enum rtmp_status status, const char *text)
{
    rtmp_reply_status(&b->body, status, text, b->s->base.names.name);
    rtmp_batch_put(b, RTMP_COMMAND, b->s->stream_id);
}

err_t rtmp_batch_send(struct rtmp_batch *b)
{
    return rtmp_conn_send_all(&b->s->conn, &b->out);
}

err_t rtmp_session_reply(struct rtmp_session *s, enum rtmp_status status, const char *text)
{
    struct rtmp_batch b;

    rtmp_batch_begin(&b, s);
    rtmp_batch_put_status(&b, status, text);
    return rtmp_batch_send(&b);
}

err_t rtmp_session_answer(struct rtmp_session *s, const struct rtmp_command *c)
{
    struct rtmp_batch b;

    if (c->transaction <= 0)
        return NULL; /* no answer expected */
    rtmp_batch_begin(&b, s);
    switch (c->id) {
    case RTMP_CMD_CREATE_STREAM:
        rtmp_reply_number(&b.body, c->transaction, RTMP_STREAM_ID);
        break;
    case RTMP_CMD_GET_STREAM_LENGTH:
        rtmp_reply_number(&b.body, c->transaction, 0); /* 0 for a live stream */
        break;
    case RTMP_CMD_RESULT:
    case RTMP_CMD_ERROR:
    case RTMP_CMD_ON_STATUS:
        return NULL;
    default: /* releaseStream, FCPublish, _checkbw and unknown commands: the client waits for a
              * result */
        rtmp_reply_result(&b.body, c->transaction);
    }
    rtmp_batch_put(&b, RTMP_COMMAND, 0);
    return rtmp_batch_send(&b);
}
