/* SPDX-License-Identifier: MIT */
/* request.c - handles commands until the client requests to publish or to play. */
#include "base/log.h"
#include "co/net/round.h"
#include "serve/rtmp/session.h"

enum clients_type rtmp_session_publisher(const struct rtmp_session *s)
{
    return s->fc_late ? CLIENTS_HAIVISION_PUBLISH
           : s->fc_publish ? CLIENTS_FMLE_PUBLISH : CLIENTS_FLASH_PUBLISH;
}

static err_t on_request(struct rtmp_session *s, const char *name, uint32_t stream_id)
{
    err_t err = rtmp_file_resolve(s, name);

    s->stream_id = stream_id ? stream_id : RTMP_STREAM_ID;
    if (!err && !s->url.stream[0])
        err = err_new(ERR_RTMP_CONNECT, "the stream has no name");
    return err;
}

static err_t on_command(struct rtmp_session *s, const struct rtmp_command *c, uint32_t stream_id,
                        bool *requested, enum rtmp_role *role)
{
    struct rtmp_play play;

    switch (c->id) {
    case RTMP_CMD_CONNECT:
        return err_new(ERR_RTMP_CONNECT, "a second connect");
    case RTMP_CMD_PUBLISH:
        *requested = true;
        *role = RTMP_ROLE_PUBLISH;
        return on_request(s, rtmp_command_string(c, 1, ""), stream_id);
    case RTMP_CMD_PLAY:
        *requested = true;
        *role = RTMP_ROLE_PLAY;
        rtmp_play_parse(&play, c);
        s->start = play.start;
        s->duration = play.duration;
        return on_request(s, play.name, stream_id);
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
        return NULL; /* for a stream that has ended */
    default:
        return rtmp_session_answer(s, c);
    }
}

static err_t read_request(struct rtmp_session *s, bool *requested, enum rtmp_role *role)
{
    struct rtmp_command c = { 0 };
    struct rtmp_msg msg;
    err_t err = rtmp_conn_read(&s->conn, &msg);

    if (err)
        return err;
    if (msg.type == RTMP_COMMAND || msg.type == RTMP_COMMAND_AMF3) {
        err = rtmp_command_parse(&c, &msg);
        if (!err)
            err = on_command(s, &c, msg.stream_id, requested, role);
        rtmp_command_free(&c);
    }
    rtmp_conn_release(&s->conn, &msg); /* everything else is media of a stream that has ended */
    return err;
}

err_t rtmp_session_request(struct rtmp_session *s, enum rtmp_role *role)
{
    struct co_round round = { 0 };
    bool requested = false;
    err_t err = NULL;

    s->has_stream = false;
    while (!err && !requested) {
        err = read_request(s, &requested, role);
        if (!err)
            err = co_round(&round, s->conn.msgs_in);
    }
    if (!err) /* the stream name may select another vhost than connect did */
        err = session_find_stream(&s->base, s->url.vhost, s->url.app, s->url.stream);
    if (!err)
        err = rtmp_file_find(s, *role);
    if (err)
        return err_wrap(err, "waiting for publish or play");
    log_trace("client identified, type=%s, vhost=%s, app=%s, stream=%s, param=%s",
              *role == RTMP_ROLE_PLAY ? "Play" : clients_type_name(rtmp_session_publisher(s)),
              s->base.names.vhost, s->base.names.app, s->base.names.name,
              log_param(s->url.param));
    return NULL;
}
