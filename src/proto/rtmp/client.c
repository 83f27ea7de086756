/* SPDX-License-Identifier: MIT */
/* client.c - the client side of RTMP [RTMP 7.2]. */
#include "proto/rtmp/client.h"

#include "base/must.h"
#include "proto/rtmp/command.h"
#include "proto/rtmp/handshake.h"
#include "proto/rtmp/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLASH_VERSION "FMLE/3.0 (compatible; SRS)"

enum {
    COMMAND_LIMIT = 2 * RTMP_URL_MAX + 8192,
    CHUNK_SIZE = 60000,
    WINDOW = 2500000,
    BUFFER_MS = 3000,
};

/* The response that wait_for() waits for. */
enum waiting { FOR_RESULT, FOR_PUBLISH, FOR_PLAY };

static double next_transaction(struct rtmp_conn *c)
{
    return ++c->transaction;
}

static void put(struct rtmp_conn *c, struct wr *out, uint32_t stream_id, struct wr *body)
{
    rtmp_conn_put(c, out, RTMP_COMMAND, stream_id, body);
    wr_free(body);
}

static void put_call(struct rtmp_conn *c, struct wr *out, const char *command, const char *name)
{
    struct wr body;

    wr_init(&body, COMMAND_LIMIT);
    rtmp_request_call(&body, command, next_transaction(c), name);
    put(c, out, 0, &body);
}

static err_t rejected(const struct rtmp_command *cmd)
{
    const struct amf_value *info = cmd->count > 0 ? &cmd->args[cmd->count - 1] : NULL;

    return err_new(ERR_RTMP_REJECTED, "%s %s", amf_get_string(info, "code", cmd->name),
                   amf_get_string(info, "description", ""));
}

/* Checks whether this is the expected response; stores the number in it, if any, in *number. */
static err_t check_result(struct rtmp_conn *c, const struct rtmp_command *cmd, bool *done,
                          double *number)
{
    if (cmd->transaction < 1 || cmd->transaction > c->transaction)
        return err_new(ERR_RTMP_NO_REQUEST, "%s to %.0f of %.0f", cmd->name, cmd->transaction,
                       c->transaction);
    if (cmd->transaction < c->transaction) /* response to releaseStream and the like: ignored */
        return NULL;
    if (cmd->id == RTMP_CMD_ERROR)
        return rejected(cmd);
    *done = true;
    *number = rtmp_command_number(cmd, 1, 0);
    return NULL;
}

static err_t check_status(const struct rtmp_command *cmd, enum waiting what, bool *done)
{
    const struct amf_value *info = cmd->count > 1 ? &cmd->args[1] : NULL;
    const char *code = amf_get_string(info, "code", "");

    if (strcmp(amf_get_string(info, "level", ""), "error") == 0)
        return rejected(cmd);
    if (what == FOR_PUBLISH)
        *done = strcmp(code, "NetStream.Publish.Start") == 0;
    else if (what == FOR_PLAY)
        *done = strcmp(code, "NetStream.Play.Start") == 0;
    return NULL;
}

static err_t on_command(struct rtmp_conn *c, const struct rtmp_msg *msg, enum waiting what,
                        bool *done, double *number)
{
    struct rtmp_command cmd;
    err_t err = rtmp_command_parse(&cmd, msg);

    if (err)
        return err;
    if (cmd.id == RTMP_CMD_RESULT || cmd.id == RTMP_CMD_ERROR) {
        bool answered = false;

        err = check_result(c, &cmd, &answered, number);
        *done = answered && what == FOR_RESULT;
    } else if (cmd.id == RTMP_CMD_ON_STATUS) {
        err = check_status(&cmd, what, done);
    }
    rtmp_command_free(&cmd);
    return err;
}

static bool is_media(const struct rtmp_msg *msg)
{
    return msg->type == RTMP_AUDIO || msg->type == RTMP_VIDEO || msg->type == RTMP_DATA;
}

/* Reads until the response arrives. number may be NULL. */
static err_t wait_for(struct rtmp_conn *c, enum waiting what, double *number)
{
    bool done = false;
    double unused;
    err_t err = NULL;

    while (!err && !done) {
        struct rtmp_msg msg;

        err = rtmp_conn_read(c, &msg);
        if (err)
            return err;
        if (msg.type == RTMP_COMMAND || msg.type == RTMP_COMMAND_AMF3) {
            err = on_command(c, &msg, what, &done, number ? number : &unused);
        } else if (what == FOR_PLAY && is_media(&msg)) {
            rtmp_conn_unread(c, &msg); /* the server sends media without a Play.Start */
            return NULL;
        }
        rtmp_conn_release(c, &msg);
    }
    return err;
}

/* Strings whose length a peer's URL decides are on the heap, because coroutines have small
 * stacks. */
static char *text_of(size_t size)
{
    char *s = must(malloc(size));

    return s;
}

/* Returns the name that requests the stream: its name and parameters. */
static char *full_name(const struct rtmp_url *url)
{
    size_t size = strlen(url->stream) + strlen(url->param) + 1;
    char *s = text_of(size);

    (void)snprintf(s, size, "%s%s", url->stream, url->param);
    return s;
}

static err_t send_connect(struct rtmp_conn *c, const struct rtmp_url *url,
                          const struct rtmp_client_options *options)
{
    size_t size = strlen(url->schema) + strlen(url->host) + strlen(url->app) +
                  strlen(url->vhost) + 64;
    char *tc_url = text_of(size);
    struct rtmp_request_connect r = {
        .app = url->app,
        .tc_url = rtmp_url_tc(url, tc_url, size),
        .page_url = options->page_url,
        .swf_url = options->swf_url,
        .flash_ver = options->flash_ver ? options->flash_ver : FLASH_VERSION,
        .enhanced = !options->plain,
        .extra = options->extra,
    };
    struct wr out, body;

    wr_init(&out, 2 * COMMAND_LIMIT);
    wr_init(&body, COMMAND_LIMIT);
    rtmp_request_connect(&body, next_transaction(c), &r);
    put(c, &out, 0, &body);
    free(tc_url);
    return rtmp_conn_send_all(c, &out);
}

err_t rtmp_client_connect(struct rtmp_conn *c, const struct rtmp_url *url,
                          const struct rtmp_client_options *options)
{
    static const struct rtmp_client_options none;
    err_t err = rtmp_handshake_client(c->io);

    if (err)
        return err;
    c->in.bytes = c->io->bytes_in;
    err = send_connect(c, url, options ? options : &none);
    if (!err)
        err = wait_for(c, FOR_RESULT, NULL);
    return err ? err_wrap(err, "connect to app %.60s", url->app) : NULL;
}

static err_t create_stream(struct rtmp_conn *c, struct wr *out, uint32_t *stream_id)
{
    double number = 0;
    err_t err;

    put_call(c, out, "createStream", NULL);
    err = rtmp_conn_send_all(c, out);
    if (!err)
        err = wait_for(c, FOR_RESULT, &number);
    if (err)
        return err_wrap(err, "createStream");
    if (!(number >= 0 && number <= UINT32_MAX))
        return err_new(ERR_MALFORMED, "stream id %g", number);
    *stream_id = (uint32_t)number;
    return NULL;
}

static err_t publish(struct rtmp_conn *c, const char *name, uint32_t *stream_id)
{
    struct wr out, body;
    err_t err;

    wr_init(&out, 4 * COMMAND_LIMIT);
    rtmp_conn_put_u32(c, &out, RTMP_WINDOW_ACK_SIZE, WINDOW);
    rtmp_conn_put_chunk_size(c, &out, CHUNK_SIZE);
    put_call(c, &out, "releaseStream", name);
    put_call(c, &out, "FCPublish", name);
    err = create_stream(c, &out, stream_id);
    if (err)
        return err;
    wr_init(&out, COMMAND_LIMIT);
    wr_init(&body, COMMAND_LIMIT);
    rtmp_request_publish(&body, next_transaction(c), name, "live");
    put(c, &out, *stream_id, &body);
    err = rtmp_conn_send_all(c, &out);
    return err ? err : wait_for(c, FOR_PUBLISH, NULL);
}

err_t rtmp_client_publish(struct rtmp_conn *c, const struct rtmp_url *url, uint32_t *stream_id)
{
    char *name = full_name(url);
    err_t err = publish(c, name, stream_id);

    free(name);
    return err ? err_wrap(err, "publish") : NULL; /* without the name, which is often a secret
                                                   * key */
}

err_t rtmp_client_unpublish(struct rtmp_conn *c, const struct rtmp_url *url, uint32_t stream_id)
{
    char *name = full_name(url);
    struct wr out, body;

    wr_init(&out, 4 * COMMAND_LIMIT);
    put_call(c, &out, "FCUnpublish", name);
    free(name);
    wr_init(&body, COMMAND_LIMIT);
    rtmp_request_delete_stream(&body, next_transaction(c), stream_id);
    put(c, &out, 0, &body);
    return rtmp_conn_send_all(c, &out);
}

static err_t play(struct rtmp_conn *c, const char *name, double start, uint32_t *stream_id)
{
    struct wr out, body;
    err_t err;

    wr_init(&out, COMMAND_LIMIT);
    rtmp_conn_put_u32(c, &out, RTMP_WINDOW_ACK_SIZE, WINDOW);
    err = create_stream(c, &out, stream_id);
    if (err)
        return err;
    wr_init(&out, COMMAND_LIMIT);
    wr_init(&body, COMMAND_LIMIT);
    rtmp_request_play(&body, next_transaction(c), name, start);
    put(c, &out, *stream_id, &body);
    rtmp_conn_put_event(c, &out, RTMP_SET_BUFFER_LENGTH, *stream_id, BUFFER_MS);
    err = rtmp_conn_send_all(c, &out);
    return err ? err : wait_for(c, FOR_PLAY, NULL);
}

err_t rtmp_client_play(struct rtmp_conn *c, const struct rtmp_url *url, double start,
                       uint32_t *stream_id)
{
    char *name = full_name(url);
    err_t err = play(c, name, start, stream_id);

    free(name);
    return err ? err_wrap(err, "play %.60s", url->stream) : NULL;
}
