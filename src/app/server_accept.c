/* SPDX-License-Identifier: MIT */
/* server_accept.c - checks the limits for a new connection and passes it to its protocol. */
#include "app/server_parts.h"

#include "app/protocols.h"
#include "app/connection_reserve.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/address_slot.h"

#include <unistd.h>

static void refuse(struct server *s)
{
    unsigned n = reject_counters_add(&s->env.reject_counters, REJECT_CONNECTIONS, co_now());

    if (n > 0 && (int)workers_connections(&s->env) < s->env.conf->max_connections)
        log_warn("refused %u connections: few of %ld descriptors are left, raise ulimit -n", n,
                 s->files);
    else if (n > 0)
        log_warn("refused %u connections: max_connections is %d, raise it in the config", n,
                 s->env.conf->max_connections);
}

/* Existing connections continue with the memory that is left. */
static void refuse_for_memory(struct server *s)
{
    unsigned n = reject_counters_add(&s->env.reject_counters, REJECT_MEMORY, co_now());

    if (n > 0)
        log_warn("refused %u connections: the system is out of memory", n);
}

static enum connection_reserve room_for(struct server *s, const struct listeners_guest *guest)
{
    const struct server_use use = {
        .taken = (int)workers_connections(&s->env), .fd = guest->fd, .files = s->files,
        .api = services_reserve(guest->services),
        .local = !guest->proxied && connection_reserve_is_local(guest->peer),
    };
    enum connection_reserve room = connection_reserve_find(s->env.conf, &use);

    if (room == CONNECTION_RESERVE_NONE) {
        refuse(s);
    } else if (!mem_left()) {
        refuse_for_memory(s);
        room = CONNECTION_RESERVE_NONE;
    }
    return room;
}

/* A trusted proxy's client is counted later, when its address is known. */
static bool is_balancer(const struct server *s, const struct listeners_guest *guest)
{
    return guest->proxied && conf_networks_have(&s->env.conf->trusted_proxies, guest->peer);
}

void server_accept(void *server, const struct listeners_guest *guest)
{
    struct server *s = server;
    struct address_slot place = { 0 };
    enum connection_reserve room = room_for(s, guest);
    struct protocol_accepted to = { .fd = guest->fd, .proxied = guest->proxied,
                                 .reserved = room == CONNECTION_RESERVE_RESERVED };
    enum protocol_id who;
    err_t err;

    if (room == CONNECTION_RESERVE_NONE ||
        (!is_balancer(s, guest) && !address_slot_take(&s->env, &place, guest->peer))) {
        (void)close(guest->fd);
        return;
    }
    who = services_guest(guest->services, &s->tls, &to);
    err = protocols[who]->accept(&s->env, &to, &place);
    if (err)
        log_end("accept", &err);
    address_slot_leave(&place);
}
