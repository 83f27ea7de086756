/* SPDX-License-Identifier: MIT */
/* call.c - a conversation with a server that we call. */
#include "proto/rtsp/call.h"

#include "co/co.h"
#include "co/net/dns.h"

#include <string.h>

enum { SAID_MAX = 128 * 1024 };

/* What a camera may say at most; it may take its time between two items, for who waits is bounded
 * elsewhere. */
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
    const struct rtsp_location *p = &c->client.place;
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

/* ---- said */

err_t rtsp_call_say(struct rtsp_call *c, const struct rtsp_ask *a)
{
    struct wr w;
    err_t err;

    wr_init(&w, SAID_MAX);
    rtsp_client_put(&c->client, &w, a->method, a->url, a->more, a->n, a->body, a->size);
    err = wr_err(&w, "a request");
    if (!err)
        err = io_write(c->io, w.buf, w.len);
    wr_free(&w);
    return err;
}

err_t rtsp_call_alive(struct rtsp_call *c, const char *url)
{
    struct wr w;
    err_t err = NULL;

    wr_init(&w, SAID_MAX);
    if (rtsp_client_put_alive(&c->client, &w, url)) {
        err = wr_err(&w, "a sign of life");
        if (!err)
            err = io_write(c->io, w.buf, w.len);
    }
    wr_free(&w);
    return err;
}

/* ---- heard */

/* What a server asks of us: it wants to know whether we are there. */
static err_t answer(struct rtsp_call *c, const struct rtsp_message *m)
{
    bool fine = m->method == RTSP_OPTIONS || m->method == RTSP_GET_PARAMETER ||
                m->method == RTSP_SET_PARAMETER || m->method == RTSP_ANNOUNCE;
    struct wr w;
    err_t err;

    wr_init(&w, SAID_MAX);
    rtsp_put_status(&w, m->wrong ? m->wrong : fine ? 200 : 501, m->cseq);
    rtsp_put_body(&w, NULL, 0);
    err = wr_err(&w, "an answer");
    if (!err)
        err = io_write(c->io, w.buf, w.len);
    wr_free(&w);
    return err;
}

err_t rtsp_call_heard(struct rtsp_call *c, const struct rtsp_message *m)
{
    if (m->is_request)
        return answer(c, m);
    (void)rtsp_client_hear(&c->client, m);
    return NULL;
}

static err_t wait_for(struct rtsp_call *c, enum rtsp_heard *heard, struct rtsp_message **m)
{
    struct rtsp_item item;
    err_t err = NULL;

    *heard = RTSP_HEARD_OTHER;
    while (!err && *heard == RTSP_HEARD_OTHER) {
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
            *heard = rtsp_client_hear(&c->client, item.message);
        }
        co_yield_if_due();
    }
    return err;
}

static err_t no(const struct rtsp_call *c, enum rtsp_heard heard, const struct rtsp_ask *ask,
                const struct rtsp_message *m)
{
    const char *what = rtsp_method_name(ask->method);

    if (heard == RTSP_HEARD_LOGIN)
        return err_new(ERR_RTSP_LOGIN, "%s: %s", what,
                       *c->client.login.user ? "user or password are wrong"
                                             : "it wants a user and a password");
    return err_new(ERR_RTSP_REFUSED, "%s: %d %.64s", what, m->status, m->reason);
}

/* Once, at this server. *again: say it once more, maybe elsewhere. */
static err_t ask_once(struct rtsp_call *c, const struct rtsp_ask *ask, struct rtsp_message **m,
                      bool *again)
{
    enum rtsp_heard heard;
    err_t err = c->io ? NULL : connect_to(c);

    *again = false;
    if (!err)
        err = rtsp_call_say(c, ask);
    if (!err)
        err = wait_for(c, &heard, m);
    if (err || heard == RTSP_HEARD_DONE)
        return err;
    if (heard == RTSP_HEARD_MOVED && !ask->url)
        hang_up(c);
    else if (heard != RTSP_HEARD_AGAIN)
        return no(c, heard, ask, *m);
    *again = true;
    return NULL;
}

/* How often it is said again is bounded by the client: challenges and redirects are counted. */
err_t rtsp_call_request(struct rtsp_call *c, const struct rtsp_ask *ask,
                    const struct rtsp_message **answered)
{
    struct co_deadline deadline = { 0 };
    struct rtsp_message *m = NULL;
    bool again = true;
    err_t err = NULL;

    while (!err && again) {
        co_deadline_set(&deadline, (c->io ? 0 : c->setup->connect) + c->setup->answer,
                        ERR_IO_TIMEOUT, "no answer");
        err = ask_once(c, ask, &m, &again);
        co_deadline_cancel(&deadline);
    }
    if (answered)
        *answered = m;
    return err ? err_wrap(err, "%s %s", rtsp_method_name(ask->method), c->client.place.url) : NULL;
}
