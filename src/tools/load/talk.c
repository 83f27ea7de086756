/* SPDX-License-Identifier: MIT */
/* talk.c - what a load client says to an RTMP server. */
#include "tools/load/talk.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "co/net/io_tcp.h"
#include "co/net/io_tls.h"
#include "proto/rtmp/chunk_out.h"
#include "proto/rtmp/control.h"
#include "proto/rtmp/handshake.h"
#include "proto/rtmp/request.h"

enum {
    EVENT_SIZE = 6, EVENT_NONE = 0xffff,
    SEND_MAX = 4096, WINDOW = 2500000, BUFFER = 256 * 1024,
};

/* One for all clients: what is read is looked at before anything yields. */
static uint8_t buffer[BUFFER];

static void on_other(void *arg, const struct load_skim_msg *msg)
{
    struct load_talk *t = arg;

    uint32_t event = EVENT_NONE;

    if (msg->type == RTMP_USER_CONTROL && msg->head_size >= EVENT_SIZE)
        event = load_be(msg->head, 2);
    if (event == RTMP_PING_REQUEST) {
        t->ping = load_be(msg->head + 2, 4);
        t->have_ping = true;
    } else if (event == RTMP_STREAM_EOF) {
        t->over = true;
    } else if ((msg->type == RTMP_COMMAND || msg->type == RTMP_COMMAND_AMF3) && t->skim.whole) {
        load_answer_hear(&t->answer, msg->type, msg->head, msg->head_size);
    }
}

static void on_media(void *arg, const struct load_skim_msg *msg)
{
    struct load_talk *t = arg;

    if (t->media)
        t->media(t->arg, msg);
}

static void put(struct wr *w, uint8_t type, uint32_t stream_id, const struct wr *body)
{
    struct rtmp_msg msg = { .type = type, .csid = rtmp_out_csid(type), .stream_id = stream_id,
                            .size = (uint32_t)body->len, .payload = body->buf };

    rtmp_out_put(w, &msg, RTMP_CHUNK_SIZE);
}

static void put_number(struct wr *w, uint8_t type, uint64_t value, size_t size)
{
    struct wr body;

    wr_init(&body, SEND_MAX);
    wr_be(&body, value, size);
    put(w, type, 0, &body);
    wr_free(&body);
}

/* A talk that goes to and fro makes the kernel hold back acknowledgements for up to 40 ms, by
 * chance on some connections and not on others, and a server that waits for them (Nagle) then
 * sends less often. Players mostly listen: acknowledge what was read. Each send undoes it. */
void load_talk_acknowledge(const struct load_talk *t)
{
    int on = 1;

    (void)setsockopt(io_tcp_fd(t->io), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

static err_t send_all(struct load_talk *t, struct wr *w, const char *what)
{
    err_t err = wr_err(w, what);

    if (!err)
        err = io_write(t->io, w->buf, w->len);
    wr_free(w);
    load_talk_acknowledge(t);
    return err ? err_wrap(err, "send %s", what) : NULL;
}

/* What the server asked for while its bytes were looked at. */
static err_t answer(struct load_talk *t)
{
    uint32_t sequence;
    struct wr w;

    wr_init(&w, SEND_MAX);
    if (t->have_ping)
        put_number(&w, RTMP_USER_CONTROL, (uint64_t)RTMP_PING_RESPONSE << 32 | t->ping, 6);
    t->have_ping = false;
    if (load_skim_take_ack(&t->skim, &sequence))
        put_number(&w, RTMP_ACK, sequence, 4);
    if (w.len == 0) {
        wr_free(&w);
        return NULL;
    }
    return send_all(t, &w, "ping or acknowledgement");
}

err_t load_talk_alive(struct load_talk *t)
{
    struct wr w;

    wr_init(&w, SEND_MAX);
    put_number(&w, RTMP_USER_CONTROL, (uint64_t)RTMP_PING_RESPONSE << 32, 6);
    put_number(&w, RTMP_ACK, (uint32_t)t->skim.bytes, 4);
    return send_all(t, &w, "a sign of life");
}

err_t load_talk_read(struct load_talk *t)
{
    static const struct load_skim_handler handler = { on_media, on_other };
    size_t n;
    err_t err;

    err = io_read(t->io, buffer, sizeof(buffer), &n);
    if (!err)
        err = load_skim_feed(&t->skim, buffer, n, &handler, t);
    if (err)
        return err;
    return answer(t);
}

/* Read until the reply to transaction `id` (0: an onStatus) is there. */
static err_t wait_reply(struct load_talk *t, int id, const char *what)
{
    err_t err = NULL;

    t->answer.waits_for = id;
    t->answer.answered = t->answer.refused = false;
    while (!err && !t->answer.answered)
        err = load_talk_read(t);
    if (err)
        return err_wrap(err, "waiting for the answer to %s", what);
    if (t->answer.refused)
        return err_new(ERR_RTMP_REJECTED, "%s: %s", what, t->answer.code);
    return NULL;
}

static err_t send_command(struct load_talk *t, uint32_t stream_id, struct wr *body,
                          const char *what)
{
    struct wr w;

    wr_init(&w, SEND_MAX);
    put(&w, RTMP_COMMAND, stream_id, body);
    wr_free(body);
    return send_all(t, &w, what);
}

static err_t connect_app(struct load_talk *t, const struct load_url *url)
{
    const struct rtmp_request_connect r = { .app = url->app, .tc_url = url->tc_url,
                                            .flash_ver = "FMLE/3.0 (compatible; load)" };
    struct wr w, body;

    wr_init(&w, SEND_MAX);
    wr_init(&body, SEND_MAX);
    put_number(&w, RTMP_WINDOW_ACK_SIZE, WINDOW, 4);
    rtmp_request_connect(&body, LOAD_CONNECT_ID, &r);
    put(&w, RTMP_COMMAND, 0, &body);
    wr_free(&body);
    return send_all(t, &w, "connect");
}

static err_t create_stream(struct load_talk *t)
{
    struct wr body;

    wr_init(&body, SEND_MAX);
    rtmp_request_call(&body, "createStream", LOAD_CREATE_ID, NULL);
    return send_command(t, 0, &body, "createStream");
}

err_t load_connect(struct io **io, const char *ip, const struct load_url *url, const char *bind_ip,
                   co_usec timeout)
{
    const struct io_tls_trust trust = { .any = true };
    err_t err;

    *io = NULL;
    err = io_tcp_connect(io, ip, url->port, bind_ip, timeout);
    if (err)
        return err;
    (*io)->read_timeout = (*io)->write_timeout = timeout;
    io_tcp_nodelay(*io, true);
    if (url->tls)
        err = io_tls_connect(io, url->host, &trust, timeout);
    if (!err)
        return NULL;
    io_close(*io);
    *io = NULL;
    return err;
}

err_t load_talk_open(struct load_talk *t, const struct load_url *url, const char *ip,
                     const char *bind_ip, co_usec timeout)
{
    err_t err;

    load_skim_init(&t->skim);
    t->have_ping = t->over = false;
    t->from = -1;
    t->answer.number = 0;
    err = load_connect(&t->io, ip, url, bind_ip, timeout);
    if (err)
        return err;
    load_skim_whole(&t->skim, true);
    err = rtmp_handshake_client(t->io);
    if (!err)
        err = connect_app(t, url);
    if (!err)
        err = wait_reply(t, LOAD_CONNECT_ID, "connect");
    if (!err)
        err = create_stream(t);
    if (!err)
        err = wait_reply(t, LOAD_CREATE_ID, "createStream");
    if (err)
        load_talk_close(t);
    return err;
}

void load_talk_close(struct load_talk *t)
{
    load_skim_whole(&t->skim, false);
    io_close(t->io);
    t->io = NULL;
}

err_t load_talk_play(struct load_talk *t, const struct load_url *url)
{
    struct wr body;
    err_t err;

    wr_init(&body, SEND_MAX);
    /* [RTMP 7.2.2.1] live or recorded; of a recording ms, as players say it */
    rtmp_request_play(&body, 0, url->stream, t->from < 0 ? -2000 : t->from * 1000);
    err = send_command(t, (uint32_t)t->answer.number, &body, "play");
    if (!err)
        err = wait_reply(t, 0, "play");
    load_skim_whole(&t->skim, false);
    return err;
}

err_t load_talk_publish(struct load_talk *t, const struct load_url *url, uint32_t chunk_size)
{
    static const char *const calls[] = { "releaseStream", "FCPublish" };
    struct wr w, body;
    err_t err;

    wr_init(&w, SEND_MAX);
    wr_init(&body, SEND_MAX);
    for (int i = 0; i < 2; i++, body.len = 0) {
        rtmp_request_call(&body, calls[i], 2 + i, url->stream);
        put(&w, RTMP_COMMAND, 0, &body);
    }
    rtmp_request_publish(&body, 5, url->stream, "live");
    put(&w, RTMP_COMMAND, (uint32_t)t->answer.number, &body);
    wr_free(&body);
    put_number(&w, RTMP_SET_CHUNK_SIZE, chunk_size, 4);
    err = send_all(t, &w, "publish");
    if (!err)
        err = wait_reply(t, 0, "publish");
    load_skim_whole(&t->skim, false);
    return err;
}
