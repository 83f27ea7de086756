/* SPDX-License-Identifier: MIT */
/* udp.c - opens, reads and closes pairs of ports. */
#include "serve/rtsp/udp.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "proto/rtp/header.h"
#include "proto/rtp/rtcp.h"
#include "serve/rtsp/udp_impl.h"

#include <stdlib.h>

enum {
    BUFFER = 8 << 20, /* socket buffers for all sessions */
    PRIVATE_BUFFER = 2 << 20,
    PRIVATE_LOW = 20000, PRIVATE_HIGH = 32767, /* below the range of ephemeral ports */
};

/* ---- receiving */

/* Media arrive at the right ports: confirms all ports of the peer. */
static void confirm_all(struct rtsp_udp_peer *p)
{
    for (struct rtsp_udp_track *t = p->tracks; t; t = t->next) {
        rtsp_udp_table_confirm(&t->ports[RTSP_UDP_RTP]);
        rtsp_udp_table_confirm(&t->ports[RTSP_UDP_RTCP]);
    }
}

/* Returns true if the report has blocks about received media. */
static bool is_report(const uint8_t *data)
{
    enum { COUNT = 0x1f };

    return (data[1] == RTCP_RR || data[1] == RTCP_SR) && (data[0] & COUNT) > 0;
}

static struct rtsp_udp_port *port_of(struct rtsp_udp_side *s, const struct udp_addr *from)
{
    struct rtsp_udp_port *p = rtsp_udp_table_find(&s->table, from);

    if (p) {
        rtsp_udp_table_confirm(p);
        if (from->port == p->announced.at.port)
            rtsp_udp_table_restore(&s->table, p);
        return p;
    }
    p = rtsp_udp_table_move(&s->table, from);
    s->udp->stat.moved += p != NULL;
    return p;
}

static void dispatch(struct rtsp_udp_side *s, const struct udp_in *in)
{
    bool rtcp = s == &s->udp->side[RTSP_UDP_RTCP];
    struct rtsp_udp_port *port = port_of(s, &in->path.peer);
    struct rtsp_udp_track *t;

    if (!port) {
        s->udp->stat.unknown++;
        return;
    }
    if (in->size < RTP_HEADER - 4 || in->data[0] >> 6 != 2) {
        s->udp->stat.holes++;
        return;
    }
    t = rtsp_udp_track_of(port, rtcp ? RTSP_UDP_RTCP : RTSP_UDP_RTP);
    if (rtp_is_rtcp(in->data, in->size)) {
        t->peer->reported |= rtcp;
        if (t->peer->last_seen)
            *t->peer->last_seen = in->at;
        if (is_report(in->data))
            confirm_all(t->peer);
    }
    if (t->peer->input)
        t->peer->input(t->peer->arg, t->number, rtcp, in->data, in->size, in->at);
}

static void unref(struct rtsp_udp *u)
{
    if (--u->users > 0)
        return;
    for (unsigned i = 0; i < RTSP_UDP_SIDES; i++) {
        udp_close(u->side[i].socket);
        rtsp_udp_table_fini(&u->side[i].table);
    }
    if (u->env->service[PROTOCOL_RTSP] == u)
        u->env->service[PROTOCOL_RTSP] = NULL;
    free(u);
}

static err_t read_some(struct rtsp_udp_side *s)
{
    const struct udp_in *v = NULL;
    size_t n = 0;
    err_t err = udp_recv_now(s->socket, &v, &n);

    for (size_t i = 0; !err && i < n; i++)
        dispatch(s, &v[i]);
    if (!err && n == 0)
        (void)udp_wait(s->socket, CO_FOREVER); /* the result is checked below */
    if (s->waiters && !s->socket->full)
        rtsp_udp_room(s);
    co_yield_if_due();
    return err ? err : co_check();
}

static err_t read_main(void *side)
{
    struct rtsp_udp_side *s = side;
    err_t err = NULL;

    co_urgent(true);
    while (!err)
        err = read_some(s);
    if (err_class(err) == ERR_CLASS_STOP)
        err_free(&err);
    else
        log_end("the reader of RTSP datagrams ended", &err);
    s->reader = NULL;
    s->udp->closing = true;
    unref(s->udp);
    return NULL;
}

/* ---- opening and closing */

static const char *const reader_names[] = { "rtp", "rtcp" };

static err_t start(struct rtsp_udp *u)
{
    err_t err = NULL;

    for (unsigned i = 0; !err && i < RTSP_UDP_SIDES; i++) {
        struct rtsp_udp_side *s = &u->side[i];

        err = co_go(u->env->helpers, reader_names[i], read_main, s);
        if (!err) {
            s->reader = co_newest(u->env->helpers);
            u->users++;
        }
    }
    return err;
}

static err_t open_sockets(struct rtsp_udp *u, struct udp *sockets[2])
{
    const struct udp_opts opts = { .rcvbuf = BUFFER, .sndbuf = BUFFER, .plain = u->plain,
        .multicast_ttl = u->env->conf->rtsp_server.multicast.ttl };
    const struct udp_opts own = { .rcvbuf = PRIVATE_BUFFER, .sndbuf = PRIVATE_BUFFER };

    if (u->port < 0)
        return udp_open_pair(sockets, "", PRIVATE_LOW, PRIVATE_HIGH, &own);
    return udp_open_pair(sockets, "", u->port, u->port + 1, &opts);
}

static err_t udp_new(struct rtsp_udp **out, struct session_env *env, int port, bool plain)
{
    struct udp *sockets[RTSP_UDP_SIDES];
    struct rtsp_udp *u;
    err_t err;

    if (!env->helpers)
        return err_new(ERR_SOCKET_BIND, "no coroutines to read the ports");
    u = must(calloc(1, sizeof(*u)));
    *u = (struct rtsp_udp){ .env = env, .port = port, .plain = plain, .users = 1 };
    err = open_sockets(u, sockets);
    if (err) {
        free(u);
        return err;
    }
    for (unsigned i = 0; i < RTSP_UDP_SIDES; i++) {
        u->side[i].udp = u;
        u->side[i].socket = sockets[i];
        rtsp_udp_table_init(&u->side[i].table);
    }
    err = start(u);
    if (err)
        rtsp_udp_close(u);
    else
        *out = u;
    unref(u);
    return err;
}

static void stop_readers(struct rtsp_udp *u)
{
    for (unsigned i = 0; i < RTSP_UDP_SIDES; i++) {
        if (u->side[i].reader)
            co_stop(u->side[i].reader, NULL);
    }
}

void rtsp_udp_close(struct rtsp_udp *u)
{
    if (!u)
        return;
    u->closing = true;
    if (u->env->service[PROTOCOL_RTSP] == u)
        u->env->service[PROTOCOL_RTSP] = NULL;
    if (u->peers == 0)
        stop_readers(u);
}

err_t rtsp_udp_of(struct rtsp_udp **out, struct session_env *env)
{
    const struct conf_rtsp_server *conf = &env->conf->rtsp_server;
    int port = conf->udp_port + 2 * (int)env->worker;
    struct rtsp_udp *u = env->service[PROTOCOL_RTSP];
    err_t err;

    if (u && (u->port != port || u->plain == conf->udp_gso || u->closing)) {
        rtsp_udp_close(u); /* closes with its last peer */
        u = NULL;
    }
    if (!u) {
        err = udp_new(&u, env, port, !conf->udp_gso);
        if (err)
            return err_wrap(err, "RTSP ports");
        env->service[PROTOCOL_RTSP] = u;
        log_trace("RTSP over UDP uses ports %d-%d", port, port + 1);
    }
    *out = u;
    return NULL;
}

err_t rtsp_udp_private(struct rtsp_udp **out, struct session_env *env)
{
    return udp_new(out, env, -1, false);
}

struct rtsp_pair rtsp_udp_ports(const struct rtsp_udp *u)
{
    return (struct rtsp_pair){ u->side[RTSP_UDP_RTP].socket->at.port,
                               u->side[RTSP_UDP_RTCP].socket->at.port };
}

void rtsp_udp_stat(const struct rtsp_udp *u, struct rtsp_udp_stat *out)
{
    *out = u->stat;
    for (unsigned i = 0; i < RTSP_UDP_SIDES; i++) {
        out->ports += u->side[i].table.count;
        out->side[i] = u->side[i].socket->stat;
    }
}

/* ---- peers */

void rtsp_udp_join(struct rtsp_udp *u)
{
    u->peers++;
    u->users++;
}

/* Logs counters that show problems: a full buffer, changed ports, datagrams from unknown
 * addresses. */
static void log_stat(const struct rtsp_udp *u)
{
    struct rtsp_udp_stat s;
    const struct udp_stat *rtp = &s.side[RTSP_UDP_RTP];

    rtsp_udp_stat(u, &s);
    log_trace("RTSP over UDP is idle, ports %d-%d; sent %llu packets in %llu calls, %llu failed; "
              "received %llu, %llu lost to a full buffer, %llu from unknown addresses, "
              "%llu ports moved",
              rtsp_udp_ports(u).rtp, rtsp_udp_ports(u).rtcp, (unsigned long long)rtp->out,
              (unsigned long long)rtp->out_calls, (unsigned long long)(rtp->errors + rtp->drops),
              (unsigned long long)rtp->in, (unsigned long long)rtp->overflow,
              (unsigned long long)s.unknown, (unsigned long long)s.moved);
}

void rtsp_udp_part(struct rtsp_udp *u)
{
    u->peers--;
    if (u->peers == 0 && u->port >= 0)
        log_stat(u);
    if (u->peers == 0 && u->closing)
        stop_readers(u);
    unref(u);
}
