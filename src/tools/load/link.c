/* SPDX-License-Identifier: MIT */
/* link.c - datagrams of clients, and a bad network between them and the server, by a seed. */
#include "tools/load/link.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, ROUNDS = 16, SLOT_BITS = 16, ID_BITS = 30 };

#define OVERTAKEN CO_MS(15) /* so late is at most who lets others overtake */

/* xorshift64*: the same in every run of one seed. */
static double draw(struct load_link *l)
{
    l->random ^= l->random >> 12;
    l->random ^= l->random << 25;
    l->random ^= l->random >> 27;
    return (double)(l->random * UINT64_C(2685821657736338717) >> 11) / (double)(UINT64_C(1) << 53);
}

void load_link_init(struct load_link *l, const struct load_opts *o, co_usec now)
{
    *l = (struct load_link){
        .loss = o->loss / 100, .twice = o->twice / 100, .reorder = o->reorder / 100,
        .run = (unsigned)o->loss_run, .delay = (co_usec)(o->one_way * 1000),
        .random = (uint64_t)o->seed * 2 + 1,
    };
    l->loss_from = now + (co_usec)(o->loss_at * 1e6);
    l->loss_to = o->loss_for > 0 ? l->loss_from + (co_usec)(o->loss_for * 1e6) : INT64_MAX;
    if (o->cut > 0) {
        l->cut_from = now + (co_usec)(o->cut_at * 1e6);
        l->cut_to = l->cut_from + (co_usec)(o->cut * 1e6);
    }
}

bool load_link_is_on(const struct load_link *l)
{
    return l->loss > 0 || l->twice > 0 || l->reorder > 0 || l->delay > 0 || l->cut_to > 0;
}

void load_link_fini(struct load_link *l)
{
    for (int i = 0; i < 2; i++) {
        while (l->way[i].first) {
            struct load_link_item *item = l->way[i].first;

            l->way[i].first = item->next;
            free(item);
        }
    }
}

/* Runs of `run` each, so often that of all so many are lost. */
static bool is_lost(struct load_link *l, struct load_link_way_state *w, co_usec now)
{
    if (now >= l->cut_from && now < l->cut_to)
        return true;
    if (now < l->loss_from || now >= l->loss_to)
        return false;
    if (w->losing == 0 && draw(l) < l->loss / ((double)l->run - l->loss * (l->run - 1)))
        w->losing = l->run;
    if (w->losing == 0)
        return false;
    w->losing--;
    return true;
}

/* Most belong to the end; a few come before those that are late. */
static void insert(struct load_link_way_state *w, struct load_link_item *item)
{
    struct load_link_item **at = &w->first;

    if (w->first && w->last->due <= item->due)
        at = &w->last->next;
    while (*at && (*at)->due <= item->due)
        at = &(*at)->next;
    item->next = *at;
    *at = item;
    if (!item->next)
        w->last = item;
}

static void put_one(struct load_link *l, struct load_link_way_state *w,
                    const struct udp_path *path, const struct iovec *iov, int count, co_usec due)
{
    size_t size = 0;
    struct load_link_item *item;

    for (int i = 0; i < count; i++)
        size += iov[i].iov_len;
    item = must(malloc(sizeof(*item) + size));
    item->path = *path;
    item->due = due;
    if (l->reorder > 0 && draw(l) < l->reorder)
        item->due += (co_usec)(draw(l) * (double)OVERTAKEN);
    item->size = 0;
    for (int i = 0; i < count; i++) {
        memcpy(item->data + item->size, iov[i].iov_base, iov[i].iov_len);
        item->size += iov[i].iov_len;
    }
    insert(w, item);
}

void load_link_put(struct load_link *l, enum load_link_way way, const struct udp_path *path,
                   const struct iovec *iov, int count, co_usec now)
{
    struct load_link_way_state *w = &l->way[way];

    w->came++;
    if (is_lost(l, w, now)) {
        w->lost++;
        return;
    }
    put_one(l, w, path, iov, count, now + l->delay);
    if (l->twice > 0 && draw(l) < l->twice)
        put_one(l, w, path, iov, count, now + l->delay);
}

struct load_link_item *load_link_take(struct load_link *l, enum load_link_way way, co_usec now)
{
    struct load_link_way_state *w = &l->way[way];
    struct load_link_item *item = w->first;

    if (!item || item->due > now)
        return NULL;
    w->first = item->next;
    return item;
}

/* ------------------------------------------------------------ a socket */

/* Datagrams of one socket gathered for one system call; one for all: nothing yields meanwhile. */
static struct {
    struct udp *udp;
    size_t n;
    struct udp_out out[BATCH];
    struct iovec iov[BATCH];
    struct udp_path path[BATCH];
    uint8_t bytes[BATCH][LOAD_DATAGRAM];
} batch;

err_t load_socket_open(struct load_socket *s, const char *ip, int buffers,
                       const struct load_opts *o)
{
    const struct udp_opts opts = { .rcvbuf = buffers, .sndbuf = buffers };

    load_link_init(&s->link, o, co_clock());
    s->bad = load_link_is_on(&s->link);
    return udp_open(&s->udp, ip, 0, &opts);
}

void load_socket_close(struct load_socket *s)
{
    load_socket_flush();
    load_link_fini(&s->link);
    udp_close(s->udp);
    s->udp = NULL;
}

void load_socket_flush(void)
{
    if (batch.n > 0)
        (void)udp_send(batch.udp, batch.out, batch.n); /* what does not fit is lost */
    batch.n = 0;
}

uint8_t *load_socket_room(const struct load_socket *s)
{
    if (batch.udp != s->udp || batch.n == BATCH)
        load_socket_flush();
    batch.udp = s->udp;
    return batch.bytes[batch.n];
}

static void add(const struct load_socket *s, const struct udp_path *path, const void *data,
                size_t size)
{
    uint8_t *room = load_socket_room(s);
    size_t n = batch.n++;

    if (data != room)
        memcpy(room, data, size);
    batch.path[n] = *path;
    batch.iov[n] = (struct iovec){ room, size };
    batch.out[n] = (struct udp_out){ &batch.iov[n], 1, 0, &batch.path[n], UDP_NOT_ECT };
}

void load_socket_say(struct load_socket *s, const struct udp_path *path, const void *data,
                     size_t size, co_usec now)
{
    struct iovec iov = { (void *)(uintptr_t)data, size };

    if (s->bad)
        load_link_put(&s->link, LOAD_LINK_OUT, path, &iov, 1, now);
    else
        add(s, path, data, size);
}

static void cross_link(struct load_socket *s, co_usec now)
{
    struct load_link_item *item;

    while ((item = load_link_take(&s->link, LOAD_LINK_IN, now))) {
        s->heard(s->arg, item->data, item->size, &item->path, now);
        free(item);
    }
    while ((item = load_link_take(&s->link, LOAD_LINK_OUT, now))) {
        add(s, &item->path, item->data, item->size);
        free(item);
    }
}

err_t load_socket_read(struct load_socket *s)
{
    const struct udp_in *v;
    size_t n = 1;
    err_t err = NULL;

    for (int i = 0; !err && n > 0 && i < ROUNDS; i++) {
        co_usec now;

        err = udp_recv_now(s->udp, &v, &n);
        now = co_clock();
        for (size_t k = 0; !err && k < n; k++) {
            struct iovec iov = { (void *)(uintptr_t)v[k].data, v[k].size };

            if (s->bad)
                load_link_put(&s->link, LOAD_LINK_IN, &v[k].path, &iov, 1, now);
            else
                s->heard(s->arg, v[k].data, v[k].size, &v[k].path, now);
        }
    }
    if (s->bad)
        cross_link(s, co_clock());
    return err;
}

err_t load_socket_run(void *socket)
{
    struct load_socket *s = socket;
    co_usec turn_at = co_clock();
    err_t err = NULL;

    while (!err) {
        co_usec now = co_clock();

        if (now < turn_at && udp_wait(s->udp, turn_at - now) == CO_STOPPED)
            return co_stop_why();
        err = load_socket_read(s);
        now = co_clock();
        if (s->turn)
            s->turn(now, now >= turn_at);
        if (now >= turn_at)
            turn_at = now + s->every;
        load_socket_flush();
        if (!err)
            err = co_check();
        co_yield_if_due();
    }
    return err;
}

uint32_t load_slots_take(struct load_slots *s, void *p)
{
    for (unsigned i = 0; i < LOAD_SLOTS; i++) {
        unsigned at = (s->next + i) % LOAD_SLOTS;

        if (s->at[at] || at == 0)
            continue;
        s->at[at] = p;
        s->next = at + 1;
        if (at >= s->top)
            s->top = at + 1;
        return ((uint32_t)rand() << SLOT_BITS & ((1u << ID_BITS) - 1)) | at;
    }
    return 0;
}

err_t load_wait(struct co **waiter, co_usec time)
{
    enum co_wake why;

    *waiter = co_self();
    why = co_park(time);
    *waiter = NULL;
    return why == CO_STOPPED ? co_stop_why() : NULL;
}
