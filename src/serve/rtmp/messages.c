/* SPDX-License-Identifier: MIT */
/* messages.c - messages to a client, sent together. */
#include "serve/rtmp/session.h"

enum { REPLY_MAX = 64 * 1024 };

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
        return NULL; /* no answer is wanted */
    rtmp_batch_begin(&b, s);
    switch (c->id) {
    case RTMP_CMD_CREATE_STREAM:
        rtmp_reply_number(&b.body, c->transaction, RTMP_STREAM_ID);
        break;
    case RTMP_CMD_GET_STREAM_LENGTH:
        rtmp_reply_number(&b.body, c->transaction, 0); /* live has none */
        break;
    case RTMP_CMD_RESULT:
    case RTMP_CMD_ERROR:
    case RTMP_CMD_ON_STATUS:
        return NULL;
    default: /* releaseStream, FCPublish, _checkbw, what nobody knows: a client waits for it */
        rtmp_reply_result(&b.body, c->transaction);
    }
    rtmp_batch_put(&b, RTMP_COMMAND, 0);
    return rtmp_batch_send(&b);
}
