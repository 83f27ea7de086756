/* SPDX-License-Identifier: MIT */
/* tcp.c - a TCP connection that carries datagrams, each after its length (RFC 4571): ICE-TCP, RFC
 * 6544. The first one must be an ICE check, which names the session: the connection moves to its
 * worker. After that it works as over UDP. */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "base/rd.h"
#include "co/net/io_tcp.h"
#include "serve/rtc/impl.h"
#include "session/move.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_MAX = 1500, HEAD = 2, OUT_MAX = 512 * 1024, OUT_FULL = 64 * 1024 };

#define FIRST_TIME CO_SECONDS(5)
#define UNUSED_MAX CO_SECONDS(2)   /* limit without a session: not begun, or ended */
#define SEND_AGAIN CO_MS(10)  /* how often a reader checks whether it can send */
#define STUCK CO_SECONDS(10)  /* closes the connection if nothing was sent for this long */

struct rtc_tcp {
    struct rtc_endpoint endpoint;
    struct io *io;
    struct udp_path path;
    struct session_env *env;
    unsigned worker;             /* named by its first check */
    bool begun;
    co_usec since, went;         /* when it began; when part of `out` was last sent */
    co_usec owned;               /* when a session last used it */
    uint8_t *out;                /* bytes that did not fit its window, out_size of them */
    size_t out_size, out_room, have;
    uint8_t in[HEAD + FRAME_MAX];
};

/* ---- out */

static bool keep(struct rtc_tcp *t, const void *data, size_t size)
{
    if (size == 0 || t->out_size + size > OUT_MAX)
        return size == 0;
    if (t->out_size + size > t->out_room) {
        t->out_room = (t->out_size + size) * 2;
        t->out = must(realloc(t->out, t->out_room));
    }
    if (t->out_size == 0)
        t->went = co_clock();
    memcpy(t->out + t->out_size, data, size);
    t->out_size += size;
    return true;
}

/* A full buffer drops whole frames, never parts. */
void rtc_tcp_send(struct rtc_tcp *t, const void *data, size_t size)
{
    const uint8_t head[HEAD] = { (uint8_t)(size >> 8), (uint8_t)size };
    const struct iovec iov[] = { { (void *)(uintptr_t)head, HEAD },
                                 { (void *)(uintptr_t)data, size } };
    size_t went = 0, of_head;
    err_t err = NULL;

    if (size > FRAME_MAX || t->out_size + HEAD + size > OUT_MAX) {
        t->endpoint.service->tcp_drops++;
        return;
    }
    if (t->out_size == 0)
        err = io_send_some(t->io, iov, 2, &went);
    if (err) { /* the reader gets the error, too */
        err_free(&err);
        return;
    }
    of_head = went < HEAD ? went : HEAD;
    (void)keep(t, head + of_head, HEAD - of_head);
    (void)keep(t, (const uint8_t *)data + (went - of_head), size - (went - of_head));
}

bool rtc_tcp_is_full(const struct rtc_tcp *t)
{
    return t->out_size >= OUT_FULL;
}

static err_t send_rest(struct rtc_tcp *t)
{
    const struct iovec iov = { t->out, t->out_size };
    size_t went = 0;
    err_t err;

    if (t->out_size == 0)
        return NULL;
    err = io_send_some(t->io, &iov, 1, &went);
    if (err)
        return err;
    if (went > 0)
        t->went = co_clock();
    else if (co_clock() - t->went > STUCK)
        return err_new(ERR_IO_TIMEOUT, "it takes nothing for %lld ms", us_to_ms(STUCK));
    t->out_size -= went;
    memmove(t->out, t->out + went, t->out_size);
    if (t->out_size == 0) {
        free(t->out);
        t->out = NULL;
        t->out_room = 0;
    }
    return NULL;
}

/* ---- in */

static err_t on_first(struct rtc_tcp *t, const uint8_t *data, size_t size)
{
    struct stun_message m;
    const char *colon;

    if (!stun_parse(&m, data, size) || m.class != STUN_REQUEST ||
        m.username_size == 0)
        return err_new(ERR_MALFORMED, "no check of ICE in the first frame, %zu bytes", size);
    t->begun = true;
    t->owned = co_clock();
    colon = memchr(m.username, ':', m.username_size);
    t->worker = rtc_worker_of(t->endpoint.service, m.username,
                              colon ? (size_t)(colon - m.username) : m.username_size);
    if (t->worker == UINT_MAX)
        t->worker = t->env->worker;
    return NULL;
}

static err_t take_frames(struct rtc_tcp *t)
{
    const struct datagram_protocol *protocol = t->endpoint.service->base.protocol;
    size_t at = 0;
    err_t err = NULL;

    while (!err && t->have - at >= HEAD) {
        size_t size = (size_t)t->in[at] << 8 | t->in[at + 1];
        struct udp_in in = { t->in + at + HEAD, size, t->path, co_clock(), UDP_NOT_ECT };

        if (size > FRAME_MAX)
            return err_new(ERR_TOO_LARGE, "a frame of %zu bytes", size);
        if (t->have - at < HEAD + size)
            break;
        if (!t->begun)
            err = on_first(t, in.data, size);
        if (!err && t->worker != t->env->worker)
            break; /* data to read is handled before errors */
        if (!err)
            protocol->input(&t->endpoint.base, &in, t->env->worker, in.at);
        at += HEAD + size;
    }
    t->have -= at;
    memmove(t->in, t->in + at, t->have);
    return err;
}

/* Returns how long it may stay open in its state. An unauthenticated check does not count. */
static err_t time_left(struct rtc_tcp *t, co_usec *left)
{
    co_usec now = co_clock();

    if (t->begun && rtc_table_find(&t->endpoint.service->table, &t->endpoint, &t->path.peer))
        t->owned = now;
    *left = (t->begun ? t->owned + UNUSED_MAX : t->since + FIRST_TIME) - now;
    if (*left > 0)
        return NULL;
    return err_new(ERR_IO_TIMEOUT, t->begun ? "no session has it for %lld ms"
                                            : "no check of ICE for %lld ms",
                   us_to_ms(t->begun ? UNUSED_MAX : FIRST_TIME));
}

static err_t wait_more(struct rtc_tcp *t, co_usec wait)
{
    if (t->out_size > 0)
        (void)io_wait(t->io, true, SEND_AGAIN);
    else
        (void)io_wait(t->io, false, wait);
    return co_check();
}

static err_t turn(struct rtc_tcp *t)
{
    co_usec left = 0;
    size_t n = 0;
    err_t err = send_rest(t);

    if (!err)
        err = time_left(t, &left);
    if (!err)
        err = io_read_now(t->io, t->in + t->have, sizeof(t->in) - t->have, &n);
    t->have += n;
    if (!err && n > 0)
        err = take_frames(t);
    else if (!err)
        err = wait_more(t, left);
    co_yield_if_due();
    return err;
}

/* ---- life */

static void free_conn(struct rtc_tcp *t)
{
    workers_disconnected(t->env);
    io_close(t->io);
    free(t->out);
    free(t);
}

/* Detaches it from all sessions. */
static void part(struct rtc_tcp *t)
{
    struct rtc_service *s = t->endpoint.service;
    struct rtc_route *r;

    if (!s || !t->endpoint.proven) /* unauthenticated connections cost no walk over all sessions */
        return;
    r = rtc_table_find(&s->table, &t->endpoint, &t->path.peer);
    if (r && r->peer)
        rtc_table_drop(&s->table, r);
    for (struct datagram_client *c = s->base.clients; c; c = c->next)
        ice_forget(&container_of(c, struct rtc_peer, base)->ice, &t->endpoint);
}

static err_t arrive(void *conn, struct session_env *env)
{
    struct rtc_tcp *t = conn;

    t->env = env;
    t->endpoint.service = rtc_service_of(env);
    return rtc_service_of(env) ? io_attach(t->io)
                               : err_new(ERR_STOPPED, "there is no WebRTC any more");
}

static void drop(void *conn)
{
    free_conn(conn);
}

static err_t serve(struct rtc_tcp *t)
{
    err_t err = take_frames(t);

    while (!err && t->worker == t->env->worker)
        err = turn(t);
    return err;
}

static void end(struct rtc_tcp *t, err_t err)
{
    part(t);
    log_end("connection of WebRTC over TCP finished", &err);
    free_conn(t);
}

/* co_fn; runs after the move to this worker. */
static err_t go_on_main(void *conn)
{
    struct rtc_tcp *t = conn;

    co_log_as(LOG_UNTRUSTED);
    t->worker = t->env->worker;
    t->owned = co_clock();
    end(t, serve(t));
    return NULL;
}

static void set_path(struct rtc_tcp *t)
{
    char ip[IO_ADDR_SIZE];
    int port;
    err_t err;

    io_tcp_peer(t->io, ip, &port);
    err = udp_addr_parse(&t->path.peer, ip, port);
    err_free(&err);
    io_tcp_local(t->io, ip, &port);
    err = udp_addr_parse(&t->path.local, ip, port);
    err_free(&err);
}

void rtc_service_tcp(struct rtc_service *s, struct io *io, const void *first, size_t size)
{
    static const struct session_mover how = {
        .name = "rtc-tcp", .arrive = arrive, .main = go_on_main, .drop = drop,
    };
    struct rtc_tcp *t = must(calloc(1, sizeof(*t)));
    err_t err;

    *t = (struct rtc_tcp){ .io = io, .env = s->base.env, .worker = s->base.env->worker,
                           .since = co_clock(), .endpoint = { .service = s, .tcp = t } };
    workers_connected(s->base.env);
    set_path(t);
    t->have = size < sizeof(t->in) ? size : sizeof(t->in);
    if (t->have > 0)
        memcpy(t->in, first, t->have);
    err = serve(t);
    if (err || t->worker == s->base.env->worker) {
        end(t, err);
        return;
    }
    io_detach(t->io);
    session_move(s->base.env, t->worker, &how, t);
}
