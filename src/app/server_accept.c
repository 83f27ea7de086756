/* SPDX-License-Identifier: MIT */
/* server_accept.c - a connection came: is there room, and whose is it? */
#include "app/server_parts.h"

#include "app/protocols.h"
#include "app/server_room.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/place.h"

#include <unistd.h>

static void refuse(struct server *s)
{
    unsigned n = refusals_add(&s->env.refusals, REFUSAL_CONNECTIONS, co_now());

    if (n > 0 && (int)workers_connections(&s->env) < s->env.conf->max_connections)
        log_warn("refused %u connections: of %ld descriptors few are left, raise ulimit -n", n,
                 s->files);
    else if (n > 0)
        log_warn("refused %u connections: max_connections is %d, raise it in the config", n,
                 s->env.conf->max_connections);
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
    const struct server_use use = {
        .taken = (int)workers_connections(&s->env), .fd = guest->fd, .files = s->files,
        .api = services_reserve(guest->services),
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
    struct protocol_guest to = { .fd = guest->fd, .proxied = guest->proxied,
                                 .reserved = room == SERVER_ROOM_RESERVED };
    enum protocol_id who;
    err_t err;

    if (room == SERVER_ROOM_NONE ||
        (!is_balancer(s, guest) && !session_place_take(&s->env, &place, guest->peer))) {
        (void)close(guest->fd);
        return;
    }
    who = services_guest(guest->services, &s->tls, &to);
    err = protocols[who]->accept(&s->env, &to, &place);
    if (err)
        log_end("accept", &err);
    session_place_leave(&place);
}
