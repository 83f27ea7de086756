/* SPDX-License-Identifier: MIT */
/* stream_owners.c - the directory of owner workers of streams. */
#include "session/stream_owners.h"

#include "base/container_of.h"
#include "base/must.h"
#include "base/table.h"
#include "base/text.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* Assumed minimum cost of players and publishers, microseconds per second. It counts immediately,
 * so that a burst of clients does not outrun the measured load. */
enum { PLAYER_COST = 30, PUBLISHER_COST = 300 };

/* In thousandths of a core: an owner worker below IDLE_BELOW serves all players of its streams;
 * another worker gets a new stream if its load is lower by CLEARLY. */
enum { IDLE_BELOW = 250, CLEARLY = 100 };

struct stream_owner {
    struct table_link link;
    unsigned worker;
    unsigned guests;   /* clients and sources that hold it */
    unsigned players;
    unsigned published;
    unsigned gathers;
    atomic_uint clients; /* used without the lock */
    char path[];
};

struct stream_owners {
    pthread_mutex_t lock;
    struct table all;
    unsigned turn;    /* worker to compare next */
};

struct stream_owners *stream_owners_new(void)
{
    struct stream_owners *h = must(calloc(1, sizeof(*h)));

    (void)pthread_mutex_init(&h->lock, NULL);
    return h;
}

void stream_owners_free(struct stream_owners *h)
{
    assert(h->all.n == 0);
    (void)pthread_mutex_destroy(&h->lock);
    table_free(&h->all);
    free(h);
}

/* ---- the table, under the lock */

static struct stream_owner *find(const struct stream_owners *h, const char *path)
{
    uint32_t hash = text_hash(path);
    struct table_link *l = NULL;

    while ((l = table_find(&h->all, hash, l))) {
        struct stream_owner *one = container_of(l, struct stream_owner, link);

        if (strcmp(one->path, path) == 0)
            return one;
    }
    return NULL;
}

static struct stream_owner *make(struct stream_owners *h, const char *path, unsigned worker)
{
    size_t size = strlen(path) + 1;
    struct stream_owner *one = must(malloc(sizeof(*one) + size));

    *one = (struct stream_owner){ .worker = worker };
    memcpy(one->path, path, size);
    table_put(&h->all, &one->link, text_hash(path));
    return one;
}

static struct stream_owner *next_of(const struct stream_owners *h, struct stream_owner *one)
{
    struct table_link *l = table_next(&h->all, one ? &one->link : NULL);

    return l ? container_of(l, struct stream_owner, link) : NULL;
}

static void put(struct stream_owners *h, struct stream_owner *one)
{
    if (--one->guests > 0)
        return;
    (void)table_remove(&h->all, &one->link);
    free(one);
}

/* ---- choosing a worker */

/* Returns the load of a worker in thousandths of a core: the measured load, or the assumed cost of
 * its clients if that is higher. */
static unsigned load_of(const struct worker *w)
{
    const struct worker_gauges *g = &w->gauges;
    unsigned players = atomic_load_explicit(&g->players, memory_order_relaxed);
    unsigned publishers = atomic_load_explicit(&g->publishers, memory_order_relaxed);
    unsigned used = atomic_load_explicit(&g->load, memory_order_relaxed);
    unsigned known = (players * PLAYER_COST + publishers * PUBLISHER_COST) / 1000;

    return used > known ? used : known;
}

/* Chooses the owner worker of a new stream. It compares with one other worker, each in turn,
 * because the least loaded of all would get every new stream until its load is measured. */
static unsigned choose_owner(const struct workers *w, unsigned here)
{
    unsigned other = (here + 1 + w->stream_owners->turn++ % (w->n - 1)) % w->n;

    return load_of(&w->v[other]) + CLEARLY < load_of(&w->v[here]) ? other : here;
}

static bool goes_home(const struct workers *w, const struct stream_owner *one,
                      const struct stream_owners_client *guest)
{
    return guest->publishes || one->worker == guest->here || one->players < guest->spread ||
           (guest->gathered && one->gathers > 0) ||
           (guest->spread > 0 && load_of(&w->v[one->worker]) < IDLE_BELOW);
}

/* ---- enter and leave */

struct stream_owner *stream_owners_enter(struct workers *w,
                                         const struct stream_owners_client *guest, unsigned *to)
{
    struct stream_owners *h = w->stream_owners;
    struct stream_owner *one;

    (void)pthread_mutex_lock(&h->lock);
    one = find(h, guest->path);
    if (!one)
        one = make(h, guest->path, choose_owner(w, guest->here));
    *to = goes_home(w, one, guest) ? one->worker : guest->here;
    one->guests++;
    one->players += !guest->publishes;
    (void)pthread_mutex_unlock(&h->lock);
    return one;
}

struct stream_owner *stream_owners_hold(struct workers *w, const char *path, unsigned here)
{
    struct stream_owners *h = w->stream_owners;
    struct stream_owner *one;

    (void)pthread_mutex_lock(&h->lock);
    one = find(h, path);
    if (!one)
        one = make(h, path, here);
    one->guests++;
    (void)pthread_mutex_unlock(&h->lock);
    return one;
}

void stream_owners_leave(struct workers *w, struct stream_owner *owner, bool plays)
{
    (void)pthread_mutex_lock(&w->stream_owners->lock);
    owner->players -= plays;
    put(w->stream_owners, owner);
    (void)pthread_mutex_unlock(&w->stream_owners->lock);
}

void stream_owners_release(struct workers *w, struct stream_owner *owner)
{
    stream_owners_leave(w, owner, false);
}

unsigned stream_owner_worker(const struct stream_owner *owner)
{
    return owner->worker;
}

void stream_owner_gathers(struct workers *w, struct stream_owner *owner, bool on)
{
    (void)pthread_mutex_lock(&w->stream_owners->lock);
    if (on)
        owner->gathers++;
    else
        owner->gathers--;
    (void)pthread_mutex_unlock(&w->stream_owners->lock);
}

bool stream_owner_is_plain(struct workers *w, const struct stream_owner *owner)
{
    bool plain;

    (void)pthread_mutex_lock(&w->stream_owners->lock);
    plain = owner->published > 0 && owner->gathers == 0;
    (void)pthread_mutex_unlock(&w->stream_owners->lock);
    return plain;
}

void stream_owner_count(struct stream_owner *owner, int by)
{
    (void)atomic_fetch_add_explicit(&owner->clients, (unsigned)by, memory_order_relaxed);
}

unsigned stream_owner_clients(const struct stream_owner *owner)
{
    return atomic_load_explicit(&owner->clients, memory_order_relaxed);
}

void stream_owner_published(struct workers *w, struct stream_owner *owner, bool published)
{
    (void)pthread_mutex_lock(&w->stream_owners->lock);
    if (published)
        owner->published++;
    else
        owner->published--;
    (void)pthread_mutex_unlock(&w->stream_owners->lock);
}

bool stream_owners_is_published(struct workers *w, const char *path)
{
    const struct stream_owner *one;
    bool is;

    (void)pthread_mutex_lock(&w->stream_owners->lock);
    one = find(w->stream_owners, path);
    is = one && one->published > 0;
    (void)pthread_mutex_unlock(&w->stream_owners->lock);
    return is;
}

static bool is_called(const struct stream_owner *one, const char *vhost, const char *name,
                      size_t name_size)
{
    const char *last = strrchr(one->path, '/');
    size_t n = strlen(vhost);

    return one->published && strncmp(one->path, vhost, n) == 0 && one->path[n] == '/' &&
           last > one->path + n && strlen(last + 1) == name_size &&
           memcmp(last + 1, name, name_size) == 0;
}

bool stream_owners_find_published(struct workers *w, const char *vhost, const char *name,
                                  size_t name_size, char *path, size_t size)
{
    struct stream_owners *h = w->stream_owners;
    bool found = false;

    (void)pthread_mutex_lock(&h->lock);
    for (struct stream_owner *one = next_of(h, NULL); one && !found; one = next_of(h, one)) {
        size_t n = strlen(one->path) + 1;

        if (n > size || !is_called(one, vhost, name, name_size))
            continue;
        memcpy(path, one->path, n);
        found = true;
    }
    (void)pthread_mutex_unlock(&h->lock);
    return found;
}

void stream_owners_each_published(struct workers *w, unsigned most,
                          void (*each)(void *arg, const char *path), void *arg)
{
    struct stream_owners *h = w->stream_owners;

    (void)pthread_mutex_lock(&h->lock);
    for (struct stream_owner *one = next_of(h, NULL); one && most > 0;
         one = next_of(h, one), most--) {
        if (one->published)
            each(arg, one->path);
    }
    (void)pthread_mutex_unlock(&h->lock);
}
