/* SPDX-License-Identifier: MIT */
/* service.c - the SRT service of one worker: start, reload, shutdown. */
#include "base/container_of.h"
#include "base/must.h"
#include "co/thread.h"
#include "serve/srt/impl.h"

#include <stdlib.h>

/* libsrt reserves bit 30 for groups, and treats ids as signed numbers. */
enum { ID_BITS = 30 };

enum { KEY_THREADS = 2 };

_Static_assert(offsetof(struct srt_service, base) == 0, "env->service has either");

static struct srt_service *service_of(struct datagram_service *s)
{
    return container_of(s, struct srt_service, base);
}

/* ---- the part shared by all workers */

static struct datagram_shared *shared_new(unsigned workers)
{
    struct srt_shared *s = must(calloc(1, sizeof(*s)));

    siphash_new_key(s->cookie_key);
    co_threads_want(CO_POOL_KEY, (int)workers > KEY_THREADS ? (int)workers : KEY_THREADS);
    return &s->base;
}

/* ---- start and shutdown */

static struct datagram_service *make(struct session_env *env, struct datagram_shared *shared)
{
    struct srt_service *s = must(calloc(1, sizeof(*s)));

    s->shared = container_of(shared, struct srt_shared, base);
    datagram_slots_init(&s->slots, env->worker, shared->workers, ID_BITS);
    srt_callers_init(&s->callers);
    return &s->base;
}

static bool in_use(const struct datagram_endpoint *e)
{
    for (const struct datagram_client *c = e->service->clients; c; c = c->next) {
        if (&container_of(c, const struct srt_peer, base)->endpoint->base == e)
            return true;
    }
    return false;
}

static void free_service(struct datagram_service *base)
{
    struct srt_service *s = service_of(base);

    datagram_slots_fini(&s->slots);
    srt_callers_fini(&s->callers);
    free(s);
}

const struct datagram_protocol srt_protocol = {
    .id = PROTOCOL_SRT, .name = "SRT", .reader = "srt", .ender = "srt-end",
    .choice = srt_dispatch_program, .share = shared_new, .make = make,
    .in_use = in_use, .free = free_service, .endpoint = srt_endpoint_new,
    .opts = srt_endpoint_opts, .closing = srt_endpoint_closing, .input = srt_endpoint_input,
    .end_batch = srt_endpoint_end_batch,
};
