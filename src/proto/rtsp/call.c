/* SPDX-License-Identifier: MIT */
/* call.c - RTSP client connection to a server. */
#include "proto/rtsp/call.h"

#include "co/co.h"
#include "co/net/dns.h"

#include <string.h>

enum { MESSAGE_MAX = 128 * 1024 };

/* Limits for a camera's messages. The time between two items is unlimited here, because the callers
 * have timeouts. */
static const struct rtsp_limits limits = {
    .max_line = 4096, .max_head = 32 * 1024, .max_fields = 128, .max_body = 64 * 1024,
    .idle_time = CO_FOREVER, .message_time = CO_SECONDS(3),
};

err_t rtsp_call_init(struct rtsp_call *c, const char *url, const struct rtsp_call_setup *setup)
{
    err_t err;

    *c = (struct rtsp_call){ .setup = setup };
    err = rtsp_client_init(&c->client, url);
    if (err)
        return err;
    c->client.agent = setup->agent;
    return NULL;
}

static void hang_up(struct rtsp_call *c)
{
    if (!c->io)
        return;
    rtsp_reader_fini(&c->reader);
    io_close(c->io);
    c->io = NULL;
}

void rtsp_call_fini(struct rtsp_call *c)
{
    hang_up(c);
    rtsp_client_fini(&c->client);
}

static err_t connect_to(struct rtsp_call *c)
{
    const struct rtsp_location *p = &c->client.location;
    struct io *io;
    err_t err = co_dns_connect(&io, p->host, p->port, NULL, c->setup->connect);

    if (err)
        return err;
    io->read_timeout = CO_FOREVER;
    io->write_timeout = c->setup->answer;
    if (p->tls)
        err = io_tls_connect(&io, p->host, &c->setup->trust, c->setup->connect);
    if (err) {
        io_close(io);
        return err;
    }
    io_tcp_nodelay(io, true);
    c->io = io;
    rtsp_reader_init(&c->reader, io, &limits);
    c->reader.forgiving = true;
    return NULL;
}

/* ---- sending */

err_t rtsp_call_send(struct rtsp_call *c, const struct rtsp_request *a)
{
    struct wr w;
    err_t err;

    wr_init(&w, MESSAGE_MAX);
    rtsp_client_put(&c->client, &w, a->method, a->url, a->more, a->n, a->body, a->size);
    err = wr_err(&w, "request");
    if (!err)
        err = io_write(c->io, w.buf, w.len);
    wr_free(&w);
    return err;
}

err_t rtsp_call_keepalive(struct rtsp_call *c, const char *url)
{
    struct wr w;
    err_t err = NULL;

    wr_init(&w, MESSAGE_MAX);
    if (rtsp_client_put_keepalive(&c->client, &w, url)) {
        err = wr_err(&w, "keepalive");
        if (!err)
            err = io_write(c->io, w.buf, w.len);
    }
    wr_free(&w);
    return err;
}

/* ---- receiving */

/* Responds to a server's request, which checks whether the client is alive. */
static err_t answer(struct rtsp_call *c, const struct rtsp_message *m)
{
    bool fine = m->method == RTSP_OPTIONS || m->method == RTSP_GET_PARAMETER ||
                m->method == RTSP_SET_PARAMETER || m->method == RTSP_ANNOUNCE;
    struct wr w;
    err_t err;

    wr_init(&w, MESSAGE_MAX);
    rtsp_put_status(&w, m->wrong ? m->wrong : fine ? 200 : 501, m->cseq);
    rtsp_put_body(&w, NULL, 0);
    err = wr_err(&w, "response");
    if (!err)
        err = io_write(c->io, w.buf, w.len);
    wr_free(&w);
    return err;
}

err_t rtsp_call_received(struct rtsp_call *c, const struct rtsp_message *m)
{
    if (m->is_request)
        return answer(c, m);
    (void)rtsp_client_response(&c->client, m);
    return NULL;
}

static err_t wait_for(struct rtsp_call *c, enum rtsp_result *result, struct rtsp_message **m)
{
    struct rtsp_item item;
    err_t err = NULL;

    *result = RTSP_RESULT_OTHER;
    while (!err && *result == RTSP_RESULT_OTHER) {
        err = rtsp_reader_next(&c->reader, &item);
        if (err)
            break;
        if (item.kind == RTSP_ITEM_FRAME) {
            if (c->on_frame)
                c->on_frame(c->arg, item.channel, item.data, item.size);
        } else if (item.message->is_request) {
            err = answer(c, item.message);
        } else {
            *m = item.message;
            *result = rtsp_client_response(&c->client, item.message);
        }
        co_yield_if_due();
    }
    return err;
}

static err_t refused(const struct rtsp_call *c, enum rtsp_result result,
                     const struct rtsp_request *request, const struct rtsp_message *m)
{
    const char *what = rtsp_method_name(request->method);

    if (result == RTSP_RESULT_LOGIN)
        return err_new(ERR_RTSP_LOGIN, "%s: %s", what,
                       *c->client.login.user ? "user or password is wrong"
                                             : "the server requires a user and a password");
    return err_new(ERR_RTSP_REFUSED, "%s: %d %.64s", what, m->status, m->reason);
}

/* Sends the request once to the current server. *retry: it must be sent again, possibly
 * elsewhere. */
static err_t request_once(struct rtsp_call *c, const struct rtsp_request *request,
                          struct rtsp_message **m, bool *retry)
{
    enum rtsp_result result;
    err_t err = c->io ? NULL : connect_to(c);

    *retry = false;
    if (!err)
        err = rtsp_call_send(c, request);
    if (!err)
        err = wait_for(c, &result, m);
    if (err || result == RTSP_RESULT_DONE)
        return err;
    if (result == RTSP_RESULT_MOVED && !request->url)
        hang_up(c);
    else if (result != RTSP_RESULT_AGAIN)
        return refused(c, result, request, *m);
    *retry = true;
    return NULL;
}

/* The client bounds the number of retries, because it counts challenges and redirects. */
err_t rtsp_call_request(struct rtsp_call *c, const struct rtsp_request *request,
                    const struct rtsp_message **response)
{
    struct co_deadline deadline = { 0 };
    struct rtsp_message *m = NULL;
    bool retry = true;
    err_t err = NULL;

    while (!err && retry) {
        co_deadline_set(&deadline, (c->io ? 0 : c->setup->connect) + c->setup->answer,
                        ERR_IO_TIMEOUT, "no response");
        err = request_once(c, request, &m, &retry);
        co_deadline_cancel(&deadline);
    }
    if (response)
        *response = m;
    return err ? err_wrap(err, "%s %s", rtsp_method_name(request->method), c->client.location.url)
               : NULL;
}
