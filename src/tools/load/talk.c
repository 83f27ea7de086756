/* SPDX-License-Identifier: MIT */
/* talk.c - a load client's connection, and what it says over it to an RTMP server. */
#include "tools/load/talk.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/must.h"
#include "co/net/io_tcp.h"
#include "co/net/io_tls.h"

enum { SEND_MAX = 256 };

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

/* True: it was taken. */
static bool on_message(void *arg, struct rtmp_msg *msg)
{
    struct load_talk *t = arg;
    const struct load_tag tag = { msg->type, msg->time, msg->size, msg->payload,
                                  msg->size < LOAD_MARKER_HEAD ? msg->size : LOAD_MARKER_HEAD };
    struct rtmp_event event;

    if (msg->type == RTMP_USER_CONTROL) {
        err_t err = rtmp_event_parse(&event, msg);

        t->over |= !err && event.id == RTMP_STREAM_EOF;
        err_free(&err);
    }
    if (msg->type != RTMP_AUDIO && msg->type != RTMP_VIDEO)
        return false;
    if (t->media && msg->size > 0)
        t->media(t->arg, &tag);
    rtmp_conn_release(&t->conn, msg);
    return true;
}

/* A talk that goes to and fro makes the kernel hold back acknowledgements for up to 40 ms, by
 * chance on some connections and not on others, and a server that waits for them (Nagle) then
 * sends less often. Players mostly listen: acknowledge what was read. Each send undoes it. */
void load_talk_acknowledge(const struct load_talk *t)
{
    int on = 1;

    (void)setsockopt(io_tcp_fd(t->io), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

err_t load_talk_open(struct load_talk *t, const struct load_url *url, const char *ip,
                     const char *bind_ip, co_usec timeout)
{
    static struct rtmp_in_setup setup;
    static const struct rtmp_client_options options = {
        .flash_ver = "FMLE/3.0 (compatible; load)", .plain = true };
    err_t err = load_connect(&t->io, ip, url, bind_ip, timeout);
    char *text;

    if (err)
        return err;
    setup = rtmp_in_heap;
    setup.at_once = setup.head = LOAD_MARKER_HEAD;
    rtmp_conn_init(&t->conn, t->io, &setup);
    rtmp_in_direct(&t->conn.in, on_message, t);
    text = must_print("%s/%s", url->tc_url, url->stream);
    err = rtmp_url_parse(&t->url, text);
    free(text);
    if (!err)
        err = rtmp_client_connect(&t->conn, &t->url, &options);
    if (err)
        load_talk_close(t);
    return err;
}

void load_talk_close(struct load_talk *t)
{
    if (t->conn.io)
        rtmp_conn_fini(&t->conn);
    t->conn.io = NULL;
    rtmp_url_free(&t->url);
    io_close(t->io);
    t->io = NULL;
}

static void take_all(struct load_talk *t)
{
    struct rtmp_msg msg;

    while (rtmp_conn_pop(&t->conn, &msg))
        if (!on_message(t, &msg))
            rtmp_conn_release(&t->conn, &msg);
}

err_t load_talk_read(struct load_talk *t)
{
    err_t err = rtmp_conn_fill(&t->conn);

    take_all(t);
    if (err || !rtmp_conn_has_replies(&t->conn))
        return err;
    err = rtmp_conn_flush(&t->conn);
    load_talk_acknowledge(t);
    return err;
}

err_t load_talk_alive(struct load_talk *t, uint64_t bytes)
{
    struct wr w;
    err_t err;

    wr_init(&w, SEND_MAX);
    rtmp_conn_put_event(&t->conn, &w, RTMP_PING_RESPONSE, 0, 0);
    rtmp_conn_put_u32(&t->conn, &w, RTMP_ACK, (uint32_t)bytes);
    err = rtmp_conn_send_all(&t->conn, &w);
    load_talk_acknowledge(t);
    return err;
}

err_t load_talk_play(struct load_talk *t, double from)
{
    err_t err = rtmp_client_play(&t->conn, &t->url, from < 0 ? RTMP_PLAY_ANY : from * 1000,
                                 &t->stream_id);

    load_talk_acknowledge(t);
    take_all(t);
    return err;
}

err_t load_talk_publish(struct load_talk *t, uint32_t chunk_size)
{
    struct wr w;
    err_t err = rtmp_client_publish(&t->conn, &t->url, &t->stream_id);

    if (err || chunk_size == t->conn.out_chunk_size)
        return err;
    wr_init(&w, SEND_MAX);
    rtmp_conn_put_chunk_size(&t->conn, &w, chunk_size);
    return rtmp_conn_send_all(&t->conn, &w);
}
