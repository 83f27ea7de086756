/* SPDX-License-Identifier: MIT */
/* srt_link.c - a bad network between the socket and the clients, by a seed. */
#include "tools/load/srt_link.h"

#include "base/must.h"

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
