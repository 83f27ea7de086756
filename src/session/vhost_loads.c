/* SPDX-License-Identifier: MIT */
/* vhost_loads.c - the traffic of each worker per vhost. */
#include "session/vhost_loads.h"

#include "base/must.h"
#include "session/workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct one { /* never removed */
    struct one *next;
    char *name;
    struct vhost_load of[WORKERS_MAX];
};

struct vhost_loads {
    pthread_mutex_t lock;
    struct one *first;
};

struct vhost_loads *vhost_loads_new(void)
{
    struct vhost_loads *l = must(calloc(1, sizeof(*l)));

    (void)pthread_mutex_init(&l->lock, NULL);
    return l;
}

void vhost_loads_free(struct vhost_loads *l)
{
    while (l->first) {
        struct one *v = l->first;

        l->first = v->next;
        free(v->name);
        free(v);
    }
    (void)pthread_mutex_destroy(&l->lock);
    free(l);
}

static struct one *find(struct vhost_loads *l, const char *vhost)
{
    struct one *v = l->first;

    while (v && strcmp(v->name, vhost) != 0)
        v = v->next;
    if (v)
        return v;
    v = must(calloc(1, sizeof(*v)));
    v->name = must_dup(vhost);
    v->next = l->first;
    l->first = v;
    return v;
}

struct vhost_load vhost_loads_publish(struct vhost_loads *l, const char *vhost, unsigned worker,
                                   const struct vhost_load *own)
{
    struct vhost_load all = { 0 };
    struct one *v;

    (void)pthread_mutex_lock(&l->lock);
    v = find(l, vhost);
    v->of[worker] = *own;
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        all.in_kbps += v->of[i].in_kbps;
        all.out_kbps += v->of[i].out_kbps;
        all.wanted_kbps += v->of[i].wanted_kbps;
        all.publishing += v->of[i].publishing;
        all.fresh += v->of[i].fresh;
    }
    (void)pthread_mutex_unlock(&l->lock);
    return all;
}
