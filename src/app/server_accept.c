/* SPDX-License-Identifier: MIT */
/* server_accept.c - a connection came: is there room, and whose is it? */
#include "app/server_parts.h"

#include "app/server_room.h"
#include "base/log.h"
#include "base/mem.h"
#include "serve/rtmp/rtmp.h"
#include "serve/rtsp/rtsp.h"
#include "session/place.h"

#include <unistd.h>

static void refuse(struct server *s)
{
    unsigned n = refusals_add(&s->env.refusals, REFUSAL_CONNECTIONS, co_now());

    if (n > 0 && (int)server_connections(s) < s->env.conf->max_connections)
        log_warn("refused %u connections: of %ld descriptors few are left, raise ulimit -n", n,
                 s->files);
    else if (n > 0)
        log_warn("refused %u connections: max_connections is %d, raise it in the config", n,
                 s->env.conf->max_connections);
}

/* `place` goes over to the session, or stays the caller's when there is none. */
static err_t start_rtmp(struct server *s, const struct listeners_guest *guest,
                        struct io_tls_server *tls, struct peers_place *place)
{
    struct rtmp_session *session;
    err_t err = rtmp_session_new(&session, &s->env, guest->fd, guest->proxied, tls);

    if (err) {
        (void)close(guest->fd);
        return err;
    }
    *rtmp_session_place(session) = *place;
    *place = (struct peers_place){ 0 };
    err = co_go(&s->connections, tls ? "rtmps" : "rtmp", rtmp_session_main, session);
    if (err)
        rtmp_session_free(session);
    return err;
}

static err_t start_rtsp(struct server *s, const struct listeners_guest *guest,
                        struct io_tls_server *tls, struct peers_place *place)
{
    struct rtsp_conn *conn;
    err_t err = rtsp_conn_new(&conn, &s->env, guest->fd, guest->proxied, tls);

    if (err) {
        (void)close(guest->fd);
        return err;
    }
    *rtsp_conn_place(conn) = *place;
    *place = (struct peers_place){ 0 };
    err = co_go(&s->connections, tls ? "rtsps" : "rtsp", rtsp_conn_main, conn);
    if (err)
        rtsp_conn_free(conn);
    return err;
}

/* An endpoint may serve several: files and streams, the API, figures. */
static enum http_ports http_ports(unsigned services)
{
    unsigned ports = 0;

    if (services & (1u << SERVICE_HTTP | 1u << SERVICE_HTTPS))
        ports |= HTTP_PORT_SERVER;
    if (services & (1u << SERVICE_API | 1u << SERVICE_APIS))
        ports |= HTTP_PORT_API;
    if (services & 1u << SERVICE_EXPORTER)
        ports |= HTTP_PORT_EXPORTER;
    return (enum http_ports)ports;
}

static struct io_tls_server *http_tls(struct server *s, unsigned services)
{
    if (services & 1u << SERVICE_HTTPS)
        return s->tls.v[SERVICE_HTTPS];
    return services & 1u << SERVICE_APIS ? s->tls.v[SERVICE_APIS] : NULL;
}

err_t server_start_http(struct server *s, const struct listeners_guest *guest,
                        struct peers_place *place, bool reserved)
{
    struct io_tls_server *tls = http_tls(s, guest->services);
    struct http_session *session;
    err_t err = http_session_new(&session, &s->http, guest->fd, http_ports(guest->services),
                                 guest->proxied, tls);

    if (err) {
        (void)close(guest->fd);
        return err;
    }
    *http_session_place(session) = *place;
    *place = (struct peers_place){ 0 };
    if (reserved)
        http_session_reserve(session);
    err = co_go(&s->connections, tls ? "https" : "http", http_session_main, session);
    if (err)
        http_session_free(session);
    return err;
}

/* Those that are here go on with what is left. */
static void refuse_for_memory(struct server *s)
{
    unsigned n = refusals_add(&s->env.refusals, REFUSAL_MEMORY, co_now());

    if (n > 0)
        log_warn("refused %u connections: the system has no more memory for us", n);
}

static enum server_room room_for(struct server *s, const struct listeners_guest *guest)
{
    unsigned services = guest->services;
    const struct server_use use = {
        .taken = (int)server_connections(s), .fd = guest->fd, .files = s->files,
        .api = services & (1u << SERVICE_API | 1u << SERVICE_APIS | 1u << SERVICE_EXPORTER) &&
               !(services & (1u << SERVICE_RTMP | 1u << SERVICE_RTMPS)),
        .local = !guest->proxied && server_room_is_local(guest->peer),
    };
    enum server_room room = server_room_find(s->env.conf, &use);

    if (room == SERVER_ROOM_NONE) {
        refuse(s);
    } else if (!mem_left()) {
        refuse_for_memory(s);
        room = SERVER_ROOM_NONE;
    }
    return room;
}

/* Whom a proxy of ours brings is counted once it is known who that is. */
static bool is_balancer(const struct server *s, const struct listeners_guest *guest)
{
    return guest->proxied && conf_networks_have(&s->env.conf->trusted_proxies, guest->peer);
}

void server_accept(void *server, const struct listeners_guest *guest)
{
    struct server *s = server;
    struct peers_place place = { 0 };
    enum server_room room = room_for(s, guest);
    err_t err;

    if (room == SERVER_ROOM_NONE ||
        (!is_balancer(s, guest) && !session_place_take(&s->env, &place, guest->peer))) {
        (void)close(guest->fd);
        return;
    }
    if (guest->services & 1u << SERVICE_RTMP)
        err = start_rtmp(s, guest, NULL, &place);
    else if (guest->services & 1u << SERVICE_RTMPS)
        err = start_rtmp(s, guest, s->tls.v[SERVICE_RTMPS], &place);
    else if (guest->services & 1u << SERVICE_RTSP)
        err = start_rtsp(s, guest, NULL, &place);
    else if (guest->services & 1u << SERVICE_RTSPS)
        err = start_rtsp(s, guest, s->tls.v[SERVICE_RTSPS], &place);
    else if (guest->services & 1u << SERVICE_RTC)
        err = server_start_rtc(s, guest, &place, room == SERVER_ROOM_RESERVED);
    else
        err = server_start_http(s, guest, &place, room == SERVER_ROOM_RESERVED);
    if (err)
        log_end("accept", &err);
    session_place_leave(&place);
}
