/* SPDX-License-Identifier: MIT */
/* request.c - commands until the client asks to publish or to play. */
#include "base/log.h"
#include "co/net/round.h"
#include "serve/rtmp/session.h"

enum clients_type rtmp_session_publisher(const struct rtmp_session *s)
{
    return s->fc_late ? CLIENTS_HAIVISION_PUBLISH
           : s->fc_publish ? CLIENTS_FMLE_PUBLISH : CLIENTS_FLASH_PUBLISH;
}

static err_t on_wanted(struct rtmp_session *s, const char *name, uint32_t stream_id)
{
    err_t err = rtmp_file_resolve(s, name);

    s->stream_id = stream_id ? stream_id : RTMP_STREAM_ID;
    if (!err && !s->url.stream[0])
        err = err_new(ERR_RTMP_CONNECT, "the stream has no name");
    return err;
}

static err_t on_command(struct rtmp_session *s, const struct rtmp_command *c, uint32_t stream_id,
                        bool *wanted, enum rtmp_role *want)
{
    struct rtmp_play play;

    switch (c->id) {
    case RTMP_CMD_CONNECT:
        return err_new(ERR_RTMP_CONNECT, "connect comes twice");
    case RTMP_CMD_PUBLISH:
        *wanted = true;
        *want = RTMP_ROLE_PUBLISH;
        return on_wanted(s, rtmp_command_string(c, 1, ""), stream_id);
    case RTMP_CMD_PLAY:
        *wanted = true;
        *want = RTMP_ROLE_PLAY;
        rtmp_play_parse(&play, c);
        s->start = play.start;
        s->duration = play.duration;
        return on_wanted(s, play.name, stream_id);
    case RTMP_CMD_CREATE_STREAM:
        s->has_stream = true;
        return rtmp_session_answer(s, c);
    case RTMP_CMD_GET_STREAM_LENGTH:
        return rtmp_file_length(s, c);
    case RTMP_CMD_FC_PUBLISH:
        s->fc_publish = true;
        s->fc_late = s->has_stream;
        return rtmp_session_answer(s, c);
    case RTMP_CMD_CLOSE_STREAM:
    case RTMP_CMD_DELETE_STREAM:
    case RTMP_CMD_PAUSE:
        return NULL; /* of a stream that is over */
    default:
        return rtmp_session_answer(s, c);
    }
}

static err_t read_request(struct rtmp_session *s, bool *wanted, enum rtmp_role *want)
{
    struct rtmp_command c = { 0 };
    struct rtmp_msg msg;
    err_t err = rtmp_conn_read(&s->conn, &msg);

    if (err)
        return err;
    if (msg.type == RTMP_COMMAND || msg.type == RTMP_COMMAND_AMF3) {
        err = rtmp_command_parse(&c, &msg);
        if (!err)
            err = on_command(s, &c, msg.stream_id, wanted, want);
        rtmp_command_free(&c);
    }
    rtmp_conn_release(&s->conn, &msg); /* others: media of a stream that is over */
    return err;
}

err_t rtmp_session_request(struct rtmp_session *s, enum rtmp_role *want)
{
    struct co_round round = { 0 };
    bool wanted = false;
    err_t err = NULL;

    s->has_stream = false;
    while (!err && !wanted) {
        err = read_request(s, &wanted, want);
        if (!err)
            err = co_round(&round, s->conn.msgs_in);
    }
    if (!err) /* its name may have another vhost than connect */
        err = session_find_stream(&s->base, s->url.vhost, s->url.app, s->url.stream);
    if (!err)
        err = rtmp_file_find(s, *want);
    if (err)
        return err_wrap(err, "waiting for publish or play");
    log_trace("client identified, type=%s, vhost=%s, app=%s, stream=%s, param=%s",
              *want == RTMP_ROLE_PLAY ? "Play" : clients_type_name(rtmp_session_publisher(s)),
              s->base.names.vhost, s->base.names.app, s->base.names.name,
              log_param(s->url.param));
    return NULL;
}
