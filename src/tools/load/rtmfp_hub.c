/* SPDX-License-Identifier: MIT */
/* rtmfp_hub.c - all clients of sb_rtmfp_load over one socket, and a second one for who moves. */
#include "tools/load/rtmfp_hub.h"

#include "base/must.h"
#include "tools/load/run.h"
#include "tools/load/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 64 << 20, LOOPBACKS = 1 << 22 };
#define TURN CO_MS(4) /* between two looks at who is due */

struct load_rtmfp_client {
    struct load_client *c;
    struct load_rtmfp_peer peer;
    struct udp_path path;
    unsigned way;
    struct co *waiter;
    struct load_rtmfp_client *other;  /* its session to the client that it was introduced to; */
    struct load_rtmfp_client *guests; /* of others to it, */
    struct load_rtmfp_client *next;   /* that are listed by this */
    struct load_rtmfp_client *here;   /* the next one whose address has the same place */
};

static struct hub {
    struct load_run *run;
    struct load_media media;
    struct load_rtmfp_world world;
    struct co_group group;
    struct load_socket ways[2];
    bool marked;
    struct load_slots clients;
    struct load_rtmfp_client *at[LOAD_SLOTS]; /* by their addresses, of pairs */
    co_usec due[LOAD_SLOTS];                  /* side by side: all are looked at */
    unsigned address;
    struct load_pid at_begin, at_mark;
    co_usec mark_at, look_at;
} hub;

/* ------------------------------------------------------------ out */

/* Whatever it has to say by now. */
static void turn(struct load_rtmfp_client *p, co_usec now)
{
    struct load_socket *w = &hub.ways[p->way];
    enum load_rtmfp_state was = p->peer.state;
    size_t n;

    for (;;) {
        uint8_t *room = load_socket_room(w);

        n = load_rtmfp_output(&p->peer, room, &p->path.peer, now);
        if (n == 0)
            break;
        if (p->peer.talk.feed)
            p->c->bytes += n;
        p->c->run->stat.bytes_out += n;
        load_socket_say(w, &p->path, room, n, now);
    }
    hub.due[p->peer.id % LOAD_SLOTS] = load_rtmfp_deadline(&p->peer);
    if (p->peer.state != was)
        load_wake(p->waiter);
}

static void turn_due(co_usec now)
{
    for (unsigned i = 0; i < hub.clients.top; i++)
        if (hub.clients.at[i] && hub.due[i] <= now)
            turn(hub.clients.at[i], now);
}

/* ------------------------------------------------------------ in */

static bool take_slot(struct load_rtmfp_client *p, uint32_t *id)
{
    *id = load_slots_take(&hub.clients, p);
    hub.due[*id % LOAD_SLOTS] = 0;
    return *id != 0;
}

static unsigned place_of(const struct udp_addr *local)
{
    return (unsigned)(local->ip[14] << 8 | local->ip[15]) % LOAD_SLOTS;
}

/* Somebody wants to open a session to the client of that address. */
static void hear_stranger(struct load_socket *way, const uint8_t *data, size_t size,
                          const struct udp_path *path, co_usec now)
{
    struct load_rtmfp_client *p = hub.at[place_of(&path->local)], *guest;
    uint32_t id = 0;

    while (p && memcmp(p->path.local.ip, path->local.ip, sizeof(path->local.ip)) != 0)
        p = p->here;
    if (!p || !p->peer.me)
        return;
    guest = must(calloc(1, sizeof(*guest)));
    if (!take_slot(guest, &id) || !load_rtmfp_accept(&guest->peer, &hub.world, id, &p->peer, data,
                                                     size, &path->peer, now)) {
        hub.clients.at[id % LOAD_SLOTS] = NULL;
        free(guest);
    } else {
        guest->c = p->c;
        guest->path = *path;
        guest->next = p->guests;
        p->guests = guest;
    }
    if (hub.world.answer.size > 0)
        load_socket_say(way, path, hub.world.answer.datagram, hub.world.answer.size, now);
}

static void hear(void *way, const uint8_t *data, size_t size, const struct udp_path *path,
                 co_usec now)
{
    const struct udp_addr *from = &path->peer;
    struct load_rtmfp_client *p;
    enum load_rtmfp_state was;
    uint32_t id;

    if (!rtmfp_session_id(data, size, &id))
        return;
    if (id == 0) {
        id = load_rtmfp_whose(&hub.world, data, size);
        if (id == 0 && hub.world.pairs)
            hear_stranger(way, data, size, path, now);
    }
    p = hub.clients.at[id % LOAD_SLOTS];
    if (id == 0 || !p || p->peer.id != id)
        return;
    was = p->peer.state;
    p->c->run->stat.bytes_in += size;
    if (!p->peer.talk.feed) {
        p->c->bytes += size;
        p->c->read_at = now;
    }
    load_rtmfp_input(&p->peer, data, size, from, now);
    turn(p, now);
    if (p->peer.state != was)
        load_wake(p->waiter);
}

/* ------------------------------------------------------------ the server's process */

static void look_at_server(co_usec now)
{
    struct load_rtmfp_stat *s = &hub.run->stat.rtmfp;
    struct load_pid at;
    unsigned n = 0;

    if (!hub.run->opts.pid || !load_pid_look(&at, hub.run->opts.pid))
        return;
    if (!hub.marked && hub.run->mark) {
        hub.marked = true;
        hub.at_mark = at;
        hub.mark_at = now;
    }
    for (unsigned i = 0; i < hub.clients.top; i++) {
        const struct load_rtmfp_client *p = hub.clients.at[i];

        n += p && !p->peer.opening;
    }
    if (!hub.marked && s->opened > 0)
        s->cpu_open = (at.cpu - hub.at_begin.cpu) * 1e6 / (double)s->opened;
    if (hub.marked && now > hub.mark_at)
        s->cpu_steady = (at.cpu - hub.at_mark.cpu) * 1e8 / (double)(now - hub.mark_at);
    if (n > 0)
        s->kb_session = (at.kb - hub.at_begin.kb) / n;
}

/* ------------------------------------------------------------ all of it */

static void turn_hub(co_usec now, bool due)
{
    struct load_rtmfp_stat *s = &hub.run->stat.rtmfp;

    if (!due)
        return;
    turn_due(now);
    s->overflow = 0;
    for (int i = 0; i < 2; i++)
        if (hub.ways[i].udp)
            s->overflow += hub.ways[i].udp->stat.overflow + hub.ways[i].udp->stat.drops;
    if (now < hub.look_at)
        return;
    look_at_server(now);
    hub.look_at = now + CO_SECONDS(1);
}

err_t load_rtmfp_hub_init(struct load_run *run_of)
{
    const struct load_opts *o = &run_of->opts;
    const char *any = strchr(run_of->ip, ':') ? "" : "0.0.0.0";
    err_t err = NULL;

    hub.run = run_of;
    if (o->input)
        err = load_media_load(&hub.media, o->input, false);
    if (err)
        return err;
    if (o->input)
        run_of->media_kbps = load_media_kbps(&hub.media);
    if (!load_rtmfp_world_init(&hub.world, o, o->input ? &hub.media : NULL, &run_of->stat))
        return err_new(ERR_NO_MEMORY, "keys");
    if (o->pid && !load_pid_look(&hub.at_begin, o->pid))
        return err_new(ERR_CONF, "--pid: there is no process %d", o->pid);
    run_of->stat.rtmfp.server = o->pid != 0;
    if (o->clients > 1 && !o->bind && strncmp(run_of->ip, "127.", 4) != 0)
        return err_new(ERR_CONF, "each client needs an address of its own: --bind first-last");
    co_group_init(&hub.group);
    for (int i = 0; !err && i < (o->move > 0 ? 2 : 1); i++) {
        struct load_socket *w = &hub.ways[i];

        *w = (struct load_socket){ .heard = hear, .arg = w, .turn = i ? NULL : turn_hub,
                                   .every = TURN };
        err = load_socket_open(w, any, BUFFERS, o);
        if (!err && !o->flood) /* first hellos, and nothing else */
            err = co_go(&hub.group, "socket", load_socket_run, w);
    }
    return err;
}

void load_rtmfp_hub_fini(void)
{
    err_t err = co_group_stop(&hub.group);

    err_free(&err); /* each client has its own */
    for (int i = 0; i < 2; i++)
        load_socket_close(&hub.ways[i]);
    load_rtmfp_world_fini(&hub.world);
    load_media_free(&hub.media);
}

/* ------------------------------------------------------------ for the clients */

/* One that vanished still has its session at the server: the next one has another address. */
static err_t set_path(struct load_rtmfp_client *p, const struct load_url *url, const char *bind_ip)
{
    const char *server = p->c->run->ip;
    char local[64] = "";
    err_t err = udp_addr_parse(&p->path.peer, server, url->port);

    if (*bind_ip) {
        snprintf(local, sizeof(local), "%s", bind_ip);
    } else if (strncmp(server, "127.", 4) == 0) {
        unsigned n = ++hub.address % LOOPBACKS;

        snprintf(local, sizeof(local), "127.%u.%u.%u", 64 + (n >> 16), n >> 8 & 255, n & 255);
    }
    if (!err && *local)
        err = udp_addr_parse(&p->path.local, local, 0);
    return err;
}

static err_t begin(struct load_rtmfp_client *p, const struct load_url *url, const char *bind_ip)
{
    uint32_t id = 0;
    err_t err = set_path(p, url, bind_ip);

    if (!err && !take_slot(p, &id))
        err = err_new(ERR_TOO_MANY, "over %d clients", LOAD_SLOTS - 1);
    if (!err && !load_rtmfp_begin(&p->peer, &hub.world, id, url->app, url->tc_url, &p->path.peer,
                                  co_clock()))
        err = err_new(ERR_CONF, "%s is too long, or has no /app/stream", url->tc_url);
    if (id && err)
        p->peer.id = id;
    if (hub.run->opts.play)
        p->peer.talk.player = p->c;
    if (!err && hub.world.pairs) {
        p->here = hub.at[place_of(&p->path.local)];
        hub.at[place_of(&p->path.local)] = p;
    }
    return err;
}

static err_t how_it_ended(struct load_rtmfp_client *p)
{
    struct load_rtmfp_stat *s = &p->c->run->stat.rtmfp;

    if (p->peer.session.end == RTMFP_ENDED_SILENT ||
        p->peer.session.end == RTMFP_ENDED_UNANSWERED) {
        s->timeouts++;
        return err_new(ERR_RTMFP_TIMEOUT, "nothing came");
    }
    s->disconnects++;
    if (p->peer.session.end == RTMFP_ENDED_THERE)
        return err_new(ERR_IO_CLOSED, "the server closed it");
    return err_new(ERR_RTMFP, "it spoke of what cannot be");
}

static err_t reject_reason(const char *code)
{
    return err_new(ERR_RTMFP, "refused: %s", *code ? code : "a flow");
}

/* NULL, too, while it is not decided and there is time. */
static err_t answer(struct load_rtmfp_client *p, co_usec until)
{
    switch (p->peer.state) {
    case LOAD_RTMFP_OPENING:
    case LOAD_RTMFP_CONNECTING:
        return co_clock() < until ? NULL
               : p->peer.opening  ? err_new(ERR_RTMFP_TIMEOUT, "no keys")
                                  : err_new(ERR_IO_TIMEOUT, "no answer to connect");
    case LOAD_RTMFP_READY:      return NULL;
    case LOAD_RTMFP_REFUSED:    return reject_reason(p->peer.talk.answer.code);
    case LOAD_RTMFP_UNANSWERED: return err_new(ERR_RTMFP_TIMEOUT, "no keys");
    default:                    return how_it_ended(p);
    }
}

err_t load_rtmfp_join(struct load_rtmfp_client **out, struct load_client *c,
                      const struct load_url *url, const char *bind_ip)
{
    struct load_rtmfp_client *p = must(calloc(1, sizeof(*p)));
    co_usec until = co_clock() + (co_usec)(c->run->opts.timeout * 1e6);
    err_t err;

    p->c = c;
    *out = NULL;
    err = begin(p, url, bind_ip);
    if (!err)
        turn(p, co_clock());
    while (!err && p->peer.state < LOAD_RTMFP_READY) {
        co_usec left = until - co_clock();

        err = load_wait(&p->waiter, left > 0 ? left : 0);
        if (!err)
            err = answer(p, until);
    }
    if (!err)
        err = answer(p, until);
    if (err)
        load_rtmfp_leave(p, false);
    else
        *out = p;
    return err;
}

err_t load_rtmfp_stay(struct load_rtmfp_client *p, co_usec time)
{
    err_t err = NULL;

    if (p->peer.state == LOAD_RTMFP_READY)
        err = load_wait(&p->waiter, time);
    if (!err && p->peer.state != LOAD_RTMFP_READY)
        err = how_it_ended(p);
    return err;
}

err_t load_rtmfp_move(struct load_rtmfp_client *p)
{
    if (!hub.ways[1].udp)
        return err_new(ERR_SYSTEM, "a second socket");
    p->way = 1 - p->way;
    p->c->run->stat.rtmfp.moves++;
    p->peer.ping_at = 0; /* a packet from there tells the server */
    hub.due[p->peer.id % LOAD_SLOTS] = 0;
    return NULL;
}

/* A first hello, and where it goes to. */
static err_t make_hello(struct load_rtmfp_client *p, struct load_client *c,
                        const struct load_url *url, uint8_t *out, size_t *size)
{
    err_t err;

    p->c = c;
    err = begin(p, url, "");
    if (!err)
        *size = load_rtmfp_output(&p->peer, out, &p->path.peer, co_clock());
    return err;
}

err_t load_rtmfp_flood(struct load_client *c, const struct load_url *url)
{
    struct load_rtmfp_client *p = must(calloc(1, sizeof(*p)));
    uint8_t hello[RTMFP_SEALED_MAX];
    size_t size = 0;
    uint64_t sent = 0;
    co_usec from = co_clock();
    err_t err = make_hello(p, c, url, hello, &size);

    while (!err && !load_is_over(c)) {
        co_usec passed = co_clock() - from;
        uint64_t due = (uint64_t)passed * (uint64_t)c->run->opts.flood / 1000000;

        for (; sent < due; sent++) {
            p->path.local.ip[13] = (uint8_t)(128 + sent / 64009 % 100);
            p->path.local.ip[14] = (uint8_t)(1 + sent / 253 % 253);
            p->path.local.ip[15] = (uint8_t)(1 + sent % 253);
            load_socket_say(&hub.ways[0], &p->path, hello, size, co_now());
            c->run->stat.messages++;
        }
        load_socket_flush();
        err = co_sleep(TURN);
    }
    load_rtmfp_leave(p, true);
    return err;
}

static void free_client(struct load_rtmfp_client *p)
{
    unsigned at = p->peer.id % LOAD_SLOTS;
    struct load_rtmfp_client **here = &hub.at[place_of(&p->path.local)];

    while (*here && *here != p)
        here = &(*here)->here;
    if (*here)
        *here = p->here;
    load_rtmfp_end(&p->peer);
    if (at > 0 && hub.clients.at[at] == p)
        hub.clients.at[at] = NULL;
    free(p);
}

/* What the other side hears no more of is no loss to it: both are of this tool. */
static void leave_others(struct load_rtmfp_client *p)
{
    struct load_rtmfp_client *guest;

    if (p->other)
        free_client(p->other);
    while ((guest = p->guests)) {
        p->guests = guest->next;
        free_client(guest);
    }
}

void load_rtmfp_leave(struct load_rtmfp_client *p, bool silent)
{
    if (silent && p->peer.state == LOAD_RTMFP_READY) {
        p->c->run->stat.rtmfp.silent++;
    } else if (!p->peer.opening && p->peer.id) {
        load_rtmfp_close(&p->peer, co_clock());
        if (p->peer.session.set)
            turn(p, co_clock());
        load_socket_flush(); /* nobody else may come to it: the tool may be about to end */
    }
    leave_others(p);
    free_client(p);
}

/* The client before it, once that can be introduced; NULL: it is not there. */
static struct load_rtmfp_client *one_before(const struct load_rtmfp_client *p)
{
    struct load_rtmfp_client *q = p->c->run->clients[p->c->index - 1].mine;

    return q && q->peer.state == LOAD_RTMFP_READY ? q : NULL;
}

static err_t begin_pair(struct load_rtmfp_client *p, const struct load_rtmfp_client *to,
                        co_usec until)
{
    struct load_rtmfp_client *q = must(calloc(1, sizeof(*q)));
    uint32_t id = 0;
    err_t err = NULL;

    q->c = p->c;
    q->path = p->path;
    p->other = q;
    p->c->run->stat.rtmfp.pairs++;
    if (!take_slot(q, &id) || !load_rtmfp_begin_peer(&q->peer, &hub.world, id, &p->peer,
                                                     to->peer.me->id, &p->path.peer, co_clock()))
        return err_new(ERR_TOO_MANY, "over %d clients", LOAD_SLOTS - 1);
    turn(q, co_clock());
    while (!err && q->peer.state < LOAD_RTMFP_READY) {
        co_usec left = until - co_clock();

        err = load_wait(&q->waiter, left > 0 ? left : 0);
        if (!err && q->peer.state < LOAD_RTMFP_READY && co_clock() >= until)
            err = err_new(ERR_RTMFP_TIMEOUT, "nobody came of an introduction");
    }
    return err;
}

err_t load_rtmfp_pair(struct load_rtmfp_client *p)
{
    co_usec until = co_clock() + (co_usec)(p->c->run->opts.timeout * 1e6);
    const struct load_rtmfp_client *to = NULL;
    err_t err = NULL;

    if (!p->peer.me || p->c->index % 2 == 0)
        return NULL;
    while (!err && !(to = one_before(p)) && co_clock() < until)
        err = load_rtmfp_stay(p, CO_MS(20));
    if (!err && !to)
        err = err_new(ERR_RTMFP_TIMEOUT, "who it is to be introduced to is not there");
    return err ? err : begin_pair(p, to, until);
}
