/* SPDX-License-Identifier: MIT */
/* connection.c - dispatches the RTMP messages of control flows and of stream flows. */
#include "serve/rtmfp/connection.h"

#include "base/container_of.h"
#include "base/log.h"
#include "proto/rtmp/command.h"
#include "serve/rtmfp/table.h"

#include <string.h>

/* The `user` pointer of an incoming flow tells which module reads it: for RTMP flows it holds the
 * stream number and a bit that is never set in an address; netgroup.c stores addresses or NULL. */
enum { OURS = 1, NUMBER_AT = 1 };

/* Gets the stream number of an RTMP flow; returns false for a flow of a group. */
static bool number_of(const struct rtmfp_flow_in *f, uint32_t *number)
{
    uintptr_t word = (uintptr_t)f->user;

    *number = (uint32_t)(word >> NUMBER_AT);
    return word & OURS;
}

static struct rtmfp_peer *peer_of(struct rtmfp_session *s)
{
    return container_of(s, struct rtmfp_peer, session);
}

/* ---- commands of streams */

static void pause_stream(struct rtmfp_netstream *n, bool on)
{
    if (!rtmfp_netstream_plays(n) || n->play.paused == on)
        return;
    n->play.paused = on;
    rtmfp_netstream_status(n, on ? RTMP_PAUSE_NOTIFY : RTMP_UNPAUSE_NOTIFY, NULL);
    rtmfp_play_apply(n);
}

static void receive(struct rtmfp_netstream *n, bool *omits, bool wants)
{
    *omits = !wants;
    if (rtmfp_netstream_plays(n))
        rtmfp_play_apply(n);
}

/* Handles a command to a stream that publishes or plays. */
static void command_to(struct rtmfp_netstream *n, const struct rtmp_command *c)
{
    switch (c->id) {
    case RTMP_CMD_PUBLISH: /* a second publish or play on the stream */
        if (rtmfp_netstream_publishes(n))
            rtmfp_netstream_status(n, RTMP_PUBLISH_START, NULL);
        break;
    case RTMP_CMD_PAUSE:
        pause_stream(n, rtmp_command_boolean(c, 1, true));
        break;
    case RTMP_CMD_RECEIVE_AUDIO:
        receive(n, &n->play.no_audio, rtmp_command_boolean(c, 1, true));
        break;
    case RTMP_CMD_RECEIVE_VIDEO:
        receive(n, &n->play.no_video, rtmp_command_boolean(c, 1, true));
        break;
    case RTMP_CMD_CLOSE_STREAM:
    case RTMP_CMD_DELETE_STREAM:
        rtmfp_netstream_close(n, false);
        break;
    case RTMP_CMD_FC_UNPUBLISH:
        rtmfp_netstream_close(n, true);
        break;
    default:
        break;
    }
}

static void stream_command(struct rtmfp_connection *c, struct rtmfp_flow_in *f, uint32_t number,
                           const struct rtmp_command *cmd)
{
    struct rtmfp_netstream *n = rtmfp_netstream_find(c, number);
    struct rtmp_play play;

    if (n) {
        command_to(n, cmd);
    } else if (cmd->id == RTMP_CMD_PUBLISH) {
        rtmfp_netstream_begin(c, f, number, rtmp_command_string(cmd, 1, ""), true);
    } else if (cmd->id == RTMP_CMD_PLAY) {
        rtmp_play_parse(&play, cmd);
        rtmfp_netstream_begin(c, f, number, play.name, false);
    }
}

/* ---- commands of the connection */

static void delete_stream(const struct rtmfp_connection *c, const struct rtmp_command *cmd)
{
    double number = rtmp_command_number(cmd, 1, 0);
    struct rtmfp_netstream *n =
        number >= 1 && number <= UINT32_MAX ? rtmfp_netstream_find(c, (uint32_t)number) : NULL;

    if (n)
        rtmfp_netstream_close(n, false);
}

static void peer_info(struct rtmfp_peer *p, const struct rtmp_command *cmd)
{
    struct rtmfp_address list[RTMP_COMMAND_ARGS];
    size_t n = 0;

    for (int i = 1; i < cmd->count; i++)
        n += rtmfp_address_of_text(&list[n], rtmp_command_string(cmd, i, ""));
    rtmfp_presence_set(p, list, n);
}

/* Answers commands that expect a result. */
static void answer(struct rtmfp_connection *c, const struct rtmp_command *cmd)
{
    struct wr body;

    if (cmd->transaction <= 0 || cmd->id == RTMP_CMD_RESULT || cmd->id == RTMP_CMD_ERROR ||
        cmd->id == RTMP_CMD_ON_STATUS)
        return;
    wr_init(&body, RTMFP_REPLY_MAX);
    if (cmd->id == RTMP_CMD_CREATE_STREAM)
        rtmp_reply_number(&body, cmd->transaction, ++c->created);
    else if (cmd->id == RTMP_CMD_GET_STREAM_LENGTH)
        rtmp_reply_number(&body, cmd->transaction, 0); /* a live stream has no length */
    else
        rtmp_reply_result(&body, cmd->transaction);
    rtmfp_write_body(c->peer, c->out, RTMP_COMMAND, &body);
}

static void control_command(struct rtmfp_connection *c, const struct rtmp_command *cmd)
{
    if (cmd->id == RTMP_CMD_CONNECT)
        rtmfp_peer_close(c->peer, err_new(ERR_RTMP_CONNECT, "connect comes twice"));
    else if (cmd->id == RTMP_CMD_CREATE_STREAM && c->created == UINT32_MAX)
        rtmfp_peer_hostile(c->peer, "too many streams");
    else if (cmd->id == RTMP_CMD_DELETE_STREAM)
        delete_stream(c, cmd);
    else if (cmd->id == RTMP_CMD_SET_PEER_INFO)
        peer_info(c->peer, cmd);
    else
        answer(c, cmd);
}

/* Logs commands before connect once: a peer can send dozens per packet. */
static void log_early(struct rtmfp_peer *p, const struct rtmp_command *cmd)
{
    if (!p->early)
        log_info("RTMFP client %s: %.32s was sent before connect was answered", p->cid, cmd->name);
    p->early = true;
}

static void dispatch(struct rtmfp_peer *p, struct rtmfp_flow_in *f, uint32_t number,
                     const struct rtmp_command *cmd)
{
    struct rtmfp_connection *c = p->connection;

    if (!c && number == 0 && cmd->id == RTMP_CMD_CONNECT)
        rtmfp_connect(p, f, cmd);
    else if (!c || !c->open)
        log_early(p, cmd);
    else if (number == 0)
        control_command(c, cmd);
    else
        stream_command(c, f, number, cmd);
}

/* Returns false if the message is no command; the flow is then rejected. */
static bool on_command(struct rtmfp_peer *p, struct rtmfp_flow_in *f, uint32_t number,
                       const struct rtmfp_rtmp_message *message)
{
    const struct conf_limits *limits = &p->service->base.env->conf->limits;
    struct rtmp_msg msg = { .type = message->type, .size = (uint32_t)message->body.n };
    struct rtmp_command cmd = { 0 };
    err_t err = NULL;

    if ((int64_t)message->body.n > limits->max_command_size)
        return false;
    msg.payload = (uint8_t *)(uintptr_t)message->body.p; /* only read */
    err = rtmp_command_parse(&cmd, &msg);
    if (err) {
        log_end("a command over RTMFP", &err);
        return false;
    }
    dispatch(p, f, number, &cmd);
    rtmp_command_free(&cmd);
    return true;
}

/* ---- messages */

static bool is_of_publisher(uint8_t type)
{
    return type == RTMP_AUDIO || type == RTMP_VIDEO || type == RTMP_DATA ||
           type == RTMP_DATA_AMF3 || type == RTMP_USER_CONTROL;
}

/* Returns true if a flow of the stream waits for missing data. *more: messages abandoned since the
 * last call. */
static bool check_flows(struct rtmfp_netstream *n, uint64_t *more)
{
    bool behind = false;
    uint64_t lost = n->lost;
    uint32_t number;

    for (const struct rtmfp_flow_in *f = n->peer->session.ins; f; f = f->next) {
        if (!number_of(f, &number) || number != n->number)
            continue;
        behind |= f->first || f->in_part;
        lost += f->lost;
    }
    *more = lost - n->lost_reported;
    n->lost_reported = lost;
    return behind;
}

static void on_published(struct rtmfp_netstream *n, const struct rtmfp_rtmp_message *message)
{
    uint64_t lost;
    bool behind = check_flows(n, &lost);

    if (n->publish)
        rtmfp_publish_push(n->publish, message, behind, lost);
    else if (n->remote)
        rtmfp_publish_remote_push(n->remote, message, behind, lost);
}

static bool on_rtmp_message(struct rtmfp_peer *p, struct rtmfp_flow_in *f, uint32_t number,
                    const struct rtmfp_rtmp_message *message)
{
    struct rtmfp_netstream *n = NULL;

    if (message->type == RTMP_COMMAND || message->type == RTMP_COMMAND_AMF3)
        return on_command(p, f, number, message);
    if (p->connection && number > 0)
        n = rtmfp_netstream_find(p->connection, number);
    if (n && rtmfp_netstream_publishes(n) && is_of_publisher(message->type))
        on_published(n, message);
    return true; /* the others apply to RTMP over TCP only */
}

static bool on_message(struct rtmfp_session *s, struct rtmfp_flow_in *f, const uint8_t *data,
                       size_t size)
{
    struct rtmfp_peer *p = peer_of(s);
    struct rtmfp_rtmp_message message;
    uint32_t number;

    if (p->closing)
        return true;
    if (!number_of(f, &number))
        return rtmfp_netgroup_message(p, f, data, size);
    if (!rtmfp_rtmp_message_parse(&message, rtmfp_bytes(data, size)))
        return true;
    return on_rtmp_message(p, f, number, &message);
}

/* ---- flows */

static size_t command_most(const struct rtmfp_peer *p)
{
    return (size_t)p->service->base.env->conf->limits.max_command_size + RTMFP_MESSAGE_HEAD;
}

static bool open_group(struct rtmfp_peer *p, struct rtmfp_flow_in *f)
{
    const struct rtmfp_connection *c = p->connection;

    f->most = command_most(p);
    return c && c->open && rtmfp_netgroup_opened(p, f);
}

static bool on_opened(struct rtmfp_session *s, struct rtmfp_flow_in *f,
                      struct rtmfp_bytes metadata, struct rtmfp_flow_out *answers)
{
    struct rtmfp_peer *p = peer_of(s);
    const struct rtmfp_connection *c = p->connection;
    struct rtmfp_flow_metadata meta = rtmfp_flow_metadata_parse(metadata);

    (void)answers; /* any flow of ours is accepted */
    if (p->closing)
        return false;
    if (meta.kind == RTMFP_FLOW_GROUP)
        return open_group(p, f);
    if (meta.kind != RTMFP_FLOW_RTMP)
        return false;
    if (meta.stream > 0 && (!c || !c->open || meta.stream > c->created))
        return false;
    f->direct = meta.direct;
    if (meta.stream == 0) /* stream 0 carries only commands */
        f->most = command_most(p);
    f->user = (void *)((uintptr_t)meta.stream << NUMBER_AT | OURS);
    return true;
}

static void on_closed(struct rtmfp_session *s, struct rtmfp_flow_in *f)
{
    struct rtmfp_peer *p = peer_of(s);
    struct rtmfp_connection *c = p->connection;
    uint32_t number;

    if (!number_of(f, &number)) {
        rtmfp_netgroup_closed(p, f);
        return;
    }
    if (!c)
        return;
    for (struct rtmfp_netstream *n = c->streams; n; n = n->next) {
        if (n->number == number)
            n->lost += f->lost;
        if (n->from == f)
            n->from = NULL;
    }
    if (c->in != f)
        return;
    c->in = NULL;
    if (s->state == RTMFP_OPEN) /* else the session ended for its own reason */
        rtmfp_peer_close(p, err_new(ERR_IO_CLOSED, "the client closed its control flow"));
}

static void stream_flow_done(struct rtmfp_netstream *n, const struct rtmfp_flow_out *f,
                             bool rejected)
{
    bool its = n->control == f || n->audio == f || n->video == f;

    if (n->control == f)
        n->control = NULL;
    if (n->audio == f)
        n->audio = NULL;
    if (n->video == f)
        n->video = NULL;
    if (its && rejected && rtmfp_netstream_plays(n))
        datagram_client_close(&n->base, err_new(ERR_IO_CLOSED, "the client rejects a flow of it"));
}

static void on_done(struct rtmfp_session *s, struct rtmfp_flow_out *f, bool rejected)
{
    struct rtmfp_peer *p = peer_of(s);
    struct rtmfp_connection *c = p->connection;

    rtmfp_netgroup_done(p, f);
    if (!c)
        return;
    for (struct rtmfp_netstream *n = c->streams; n; n = n->next)
        stream_flow_done(n, f, rejected);
    if (c->out != f)
        return;
    c->out = NULL;
    if (s->state == RTMFP_OPEN)
        rtmfp_peer_close(p, err_new(ERR_IO_CLOSED, "the client rejects our control flow"));
}

static void on_moved(struct rtmfp_session *s, const struct udp_addr *was)
{
    struct rtmfp_peer *p = peer_of(s);
    char to[UDP_TEXT], from[UDP_TEXT];

    if (p->closing)
        return;
    rtmfp_table_remove(p->service->table, p, was);
    rtmfp_table_add(p->service->table, p);
    rtmfp_presence_moved(p);
    log_trace("RTMFP client moved from %s to %s", udp_addr_text(was, from, sizeof(from)),
              udp_addr_text(&p->session.peer, to, sizeof(to)));
}

const struct rtmfp_session_ops rtmfp_connection_ops = {
    .opened = on_opened, .message = on_message, .closed = on_closed, .done = on_done,
    .moved = on_moved,
};

/* ---- the end */

static void stop_streams(const struct rtmfp_connection *c, err_t why)
{
    for (struct rtmfp_netstream *n = c->streams; n; n = n->next) {
        if (n->base.session.co && n->base.state != DATAGRAM_ENDING)
            datagram_client_close(&n->base, err_copy(why));
    }
}

static struct rtmfp_netstream *player_of(const struct rtmfp_connection *c)
{
    struct rtmfp_netstream *n = c->streams;

    while (n && (n->base.session.co || n->base.state == DATAGRAM_ENDING))
        n = n->next;
    return n;
}

static bool end(struct rtmfp_peer *p, err_t why)
{
    struct rtmfp_connection *c = p->connection;
    struct rtmfp_netstream *n;

    if (!c)
        return true;
    stop_streams(c, why);
    while ((n = player_of(c)))
        rtmfp_netstream_end(n, err_copy(why));
    if (c->authorizer)
        co_stop(c->authorizer, err_copy(why));
    if (c->streams || c->authorizer)
        return false;
    if (p->session.state == RTMFP_OPEN) /* queued messages first: closing drops unsent ones */
        rtmfp_peer_flush(p, co_clock());
    p->connection = NULL;
    if (c->open)
        p->service->stat.connected--;
    rtmfp_connection_free(c);
    return true;
}

static void closing(struct rtmfp_peer *p)
{
    rtmfp_presence_end(p);
    rtmfp_netgroup_end(p);
}

const struct rtmfp_peer_ops rtmfp_connection_peer_ops = {
    .closing = closing, .end = end, .flushed = rtmfp_netgroup_flushed,
};
