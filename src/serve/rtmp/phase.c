/* SPDX-License-Identifier: MIT */
/* phase.c - what all phases of a client share: its deadline, the size of its messages, its url. */
#include "serve/rtmp/session.h"

/* Memory taken for a message when it begins: enough for most commands, and for most frames. */
enum { COMMAND_AT_ONCE = 1024, FRAME_AT_ONCE = 64 * 1024 };

void rtmp_session_may_send(struct rtmp_session *s, bool publishes)
{
    const struct conf_limits *limits = &s->base.conf->limits;
    int64_t others = limits->max_partial_others;

    if (others < limits->max_command_size) /* one of them must fit */
        others = limits->max_command_size;
    s->setup.max_inflight = (size_t)(publishes ? limits->max_partial_size : others);
    s->setup.at_once = publishes ? FRAME_AT_ONCE : COMMAND_AT_ONCE;
    s->conn.message_time = limits->message_timeout;
    s->conn.small_reads = !publishes;
}

void rtmp_session_hold(struct rtmp_session *s)
{
    co_deadline_cancel(&s->deadline);
    rtmp_conn_hold(&s->conn);
}

void rtmp_session_go_on(struct rtmp_session *s)
{
    rtmp_conn_go_on(&s->conn);
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
