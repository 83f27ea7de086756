/* SPDX-License-Identifier: MIT */
/* udp_peer.c - one session's side of a pair of ports: tracks and keepalive. */
#include "base/container_of.h"
#include "base/must.h"
#include "serve/rtsp/udp_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define REPORTS_WAIT CO_SECONDS(30) /* reports come every 5 s, [RFC 3550] 6.2 */

/* ---- table of addresses */

void rtsp_udp_table_init(struct rtsp_udp_table *t)
{
    *t = (struct rtsp_udp_table){ 0 };
    siphash_new_key(t->secret);
}

void rtsp_udp_table_fini(struct rtsp_udp_table *t)
{
    assert(t->count == 0);
    table_free(&t->by_port);
    table_free(&t->by_ip);
}

/* Hash of the address without its port. */
static uint64_t hash_of_ip(const struct rtsp_udp_table *t, const struct udp_addr *a)
{
    return siphash(t->secret, a->ip, sizeof(a->ip));
}

static bool same_ip(const struct udp_addr *a, const struct udp_addr *b)
{
    return memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

static void put_key(struct rtsp_udp_table *t, struct rtsp_udp_key *k)
{
    table_put(&t->by_port, &k->link, udp_addr_hash(&k->at, t->secret));
}

struct rtsp_udp_port *rtsp_udp_table_find(const struct rtsp_udp_table *t,
                                          const struct udp_addr *from)
{
    uint64_t hash = udp_addr_hash(from, t->secret);
    struct table_link *l = NULL;

    while ((l = table_find(&t->by_port, hash, l))) {
        const struct rtsp_udp_key *k = container_of(l, struct rtsp_udp_key, link);

        if (udp_addr_same(&k->at, from))
            return k->port;
    }
    return NULL;
}

bool rtsp_udp_table_add(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
{
    if (rtsp_udp_table_find(t, &p->path.peer))
        return false;
    p->announced = (struct rtsp_udp_key){ .at = p->path.peer, .port = p };
    p->observed.port = NULL;
    p->table = t;
    t->count++;
    put_key(t, &p->announced);
    if (p->unconfirmed)
        table_put(&t->by_ip, &p->wait, hash_of_ip(t, &p->path.peer));
    return true;
}

void rtsp_udp_table_remove(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
{
    (void)table_remove(&t->by_port, &p->announced.link);
    if (p->observed.port)
        (void)table_remove(&t->by_port, &p->observed.link);
    rtsp_udp_table_confirm(p);
    t->count--;
}

void rtsp_udp_table_confirm(struct rtsp_udp_port *p)
{
    if (p->unconfirmed && p->table)
        (void)table_remove(&p->table->by_ip, &p->wait);
    p->unconfirmed = false;
}

struct rtsp_udp_port *rtsp_udp_table_move(struct rtsp_udp_table *t, const struct udp_addr *from)
{
    struct rtsp_udp_port *only = NULL;
    struct table_link *l = NULL;
    uint64_t hash = hash_of_ip(t, from);

    while ((l = table_find(&t->by_ip, hash, l))) {
        struct rtsp_udp_port *p = container_of(l, struct rtsp_udp_port, wait);

        if (!same_ip(&p->path.peer, from))
            continue;
        if (only)
            return NULL;
        only = p;
    }
    if (!only)
        return NULL;
    only->path.peer.port = from->port;
    only->observed = (struct rtsp_udp_key){ .at = only->path.peer, .port = only };
    put_key(t, &only->observed);
    rtsp_udp_table_confirm(only);
    return only;
}

void rtsp_udp_table_restore(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
{
    if (!p->observed.port)
        return;
    (void)table_remove(&t->by_port, &p->observed.link);
    p->observed.port = NULL;
    p->path.peer.port = p->announced.at.port;
}

/* ---- a peer */

err_t rtsp_udp_peer_new(struct rtsp_udp_peer **out, struct rtsp_udp *u, const char *ip,
                        const char *local, rtsp_udp_input *input, void *arg)
{
    struct udp_path path = { 0 };
    struct rtsp_udp_peer *p;
    err_t err = udp_addr_parse(&path.peer, ip, 0);

    if (!err && *local)
        err = udp_addr_parse(&path.local, local, 0);
    if (!err && (udp_addr_is_any(&path.peer) || u->closing))
        err = err_new(ERR_DENIED, "no datagrams to \"%s\"", ip);
    if (err)
        return err;
    p = must(calloc(1, sizeof(*p)));
    *p = (struct rtsp_udp_peer){ .udp = u, .path = path, .input = input, .arg = arg };
    rtsp_udp_pipe_init(&p->pipe);
    rtsp_udp_join(u);
    *out = p;
    return NULL;
}

static void track_free(struct rtsp_udp_track *t)
{
    for (unsigned i = 0; i < RTSP_UDP_SIDES; i++)
        rtsp_udp_table_remove(&t->peer->udp->side[i].table, &t->ports[i]);
    free(t);
}

void rtsp_udp_peer_free(struct rtsp_udp_peer *p)
{
    if (!p)
        return;
    co_timer_cancel(&p->timer);
    while (p->tracks) {
        struct rtsp_udp_track *t = p->tracks;

        p->tracks = t->next;
        track_free(t);
    }
    rtsp_udp_part(p->udp);
    free(p);
}

struct rtsp_udp_track *rtsp_udp_track(const struct rtsp_udp_peer *p, unsigned number)
{
    struct rtsp_udp_track *t = p->tracks;

    while (t && t->number != number)
        t = t->next;
    return t;
}

struct rtsp_udp_track *rtsp_udp_track_of(struct rtsp_udp_port *port, unsigned side)
{
    return container_of(port - side, struct rtsp_udp_track, ports[0]);
}

void rtsp_udp_remove(struct rtsp_udp_peer *p, unsigned track)
{
    struct rtsp_udp_track **at = &p->tracks, *t;

    while (*at && (*at)->number != track)
        at = &(*at)->next;
    t = *at;
    if (!t)
        return;
    *at = t->next;
    track_free(t);
}

/* Removes tracks with these ports whose peer has lost its connection: usually it is the same
 * client, which has reconnected. */
static void take_over(struct rtsp_udp_track *t)
{
    for (unsigned i = 0; i < RTSP_UDP_SIDES; i++) {
        struct rtsp_udp_port *p = rtsp_udp_table_find(&t->peer->udp->side[i].table,
                                                      &t->ports[i].path.peer);
        struct rtsp_udp_track *old = p ? rtsp_udp_track_of(p, i) : NULL;

        if (!old || !old->peer->pipe.detached)
            continue;
        if (old->peer->last_seen)
            co_stop(old->peer->co, err_new(ERR_REPLACED, "another session set up its ports"));
        rtsp_udp_remove(old->peer, old->number);
    }
}

static bool add_ports(struct rtsp_udp_track *t)
{
    struct rtsp_udp_side *side = t->peer->udp->side;

    if (!rtsp_udp_table_add(&side[RTSP_UDP_RTP].table, &t->ports[RTSP_UDP_RTP]))
        return false;
    if (rtsp_udp_table_add(&side[RTSP_UDP_RTCP].table, &t->ports[RTSP_UDP_RTCP]))
        return true;
    rtsp_udp_table_remove(&side[RTSP_UDP_RTP].table, &t->ports[RTSP_UDP_RTP]);
    return false;
}

err_t rtsp_udp_add(struct rtsp_udp_peer *p, unsigned track, struct rtsp_pair ports)
{
    const int numbers[RTSP_UDP_SIDES] = { ports.rtp, ports.rtcp };
    struct rtsp_udp_track *t = must(calloc(1, sizeof(*t)));

    rtsp_udp_remove(p, track);
    *t = (struct rtsp_udp_track){ .peer = p, .number = track };
    for (unsigned i = 0; i < RTSP_UDP_SIDES; i++) {
        t->ports[i] = (struct rtsp_udp_port){ .path = p->path, .unconfirmed = true };
        t->ports[i].path.peer.port = (uint16_t)numbers[i];
    }
    take_over(t);
    if (!add_ports(t)) {
        free(t);
        return err_new(ERR_TOO_MANY, "port %d or %d belongs to another session", ports.rtp,
                       ports.rtcp);
    }
    t->next = p->tracks;
    p->tracks = t;
    return NULL;
}

struct rtsp_pair rtsp_udp_peer_ports(const struct rtsp_udp_peer *p)
{
    return rtsp_udp_ports(p->udp);
}

void rtsp_udp_send(struct rtsp_udp_peer *p, unsigned track, bool rtcp, const void *data,
                   size_t size)
{
    struct rtsp_udp_track *t = rtsp_udp_track(p, track);
    unsigned side = rtcp ? RTSP_UDP_RTCP : RTSP_UDP_RTP;
    struct iovec iov = { (void *)(uintptr_t)data, size };

    if (t)
        (void)udp_send(p->udp->side[side].socket,
                       &(struct udp_out){ &iov, 1, 0, &t->ports[side].path, UDP_NOT_ECT }, 1);
}

/* ---- keepalive */

static void on_due(struct co_timer *timer)
{
    struct rtsp_udp_peer *p = container_of(timer, struct rtsp_udp_peer, timer);
    co_usec due = *p->last_seen + p->timeout;

    if (due > co_now())
        co_timer_set(timer, due, on_due);
    else
        co_stop(p->co, err_new(ERR_IO_TIMEOUT, "no sign of life for %lld ms",
                               us_to_ms(p->timeout)));
}

void rtsp_udp_watch(struct rtsp_udp_peer *p, co_usec *last_seen, co_usec timeout)
{
    p->last_seen = last_seen;
    p->timeout = timeout;
    p->co = co_self();
    co_timer_set(&p->timer, *last_seen + timeout, on_due);
}

void rtsp_udp_unwatch(struct rtsp_udp_peer *p)
{
    co_timer_cancel(&p->timer);
    p->last_seen = NULL;
}

bool rtsp_udp_detach(struct rtsp_udp_peer *p)
{
    if (!p->reported)
        return false;
    p->pipe.detached = true;
    if (p->last_seen && p->timeout > REPORTS_WAIT) {
        p->timeout = REPORTS_WAIT;
        co_timer_set(&p->timer, *p->last_seen + p->timeout, on_due);
    }
    return true;
}
