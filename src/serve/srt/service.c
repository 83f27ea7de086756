/* SPDX-License-Identifier: MIT */
/* service.c - SRT of one worker: begun, reloaded, ended. */
#include "base/container_of.h"
#include "base/must.h"
#include "co/thread.h"
#include "serve/srt/choice.h"
#include "serve/srt/impl.h"

#include <stdlib.h>

/* libsrt keeps bit 30 for groups, and takes ids for signed numbers. */
enum { ID_BITS = 30 };

enum { KEY_THREADS = 2, PEERS_EXPECTED = 1024 };

_Static_assert(offsetof(struct srt_service, base) == 0, "env->service has either");

static struct srt_service *service_of(struct datagram_service *s)
{
    return container_of(s, struct srt_service, base);
}

/* ---- what all workers share */

static struct datagram_shared *shared_new(unsigned workers)
{
    struct srt_shared *s = must(calloc(1, sizeof(*s)));

    siphash_new_key(s->cookie_key);
    s->peers = peers_new(PEERS_EXPECTED);
    if (workers > 1)
        peers_share(s->peers);
    co_threads_want(CO_POOL_KEY, (int)workers > KEY_THREADS ? (int)workers : KEY_THREADS);
    return &s->base;
}

static void shared_free(struct datagram_shared *shared)
{
    struct srt_shared *s = container_of(shared, struct srt_shared, base);

    peers_free(s->peers);
    free(s);
}

struct srt_shared *srt_shared_ref(struct srt_shared *s)
{
    (void)datagram_shared_ref(&s->base);
    return s;
}

void srt_shared_unref(struct srt_shared *s)
{
    datagram_shared_unref(&s->base, &srt_protocol);
}

/* ---- begun, ended */

static struct datagram_service *make(struct session_env *env, struct datagram_shared *shared)
{
    struct srt_service *s = must(calloc(1, sizeof(*s)));

    s->shared = container_of(shared, struct srt_shared, base);
    datagram_slots_init(&s->slots, env->worker, shared->workers, ID_BITS);
    srt_callers_init(&s->callers);
    return &s->base;
}

static void end_all(struct datagram_service *s, const char *why)
{
    struct srt_peer *p;
    uint32_t at = 0;

    while ((p = datagram_slots_next(&service_of(s)->slots, &at)))
        srt_peer_leave(p, err_new(ERR_STOPPED, "%s", why));
}

static bool in_use(const struct datagram_endpoint *base)
{
    const struct srt_endpoint *e = container_of(base, const struct srt_endpoint, base);
    const struct srt_peer *p;
    uint32_t at = 0;

    while ((p = datagram_slots_next(&e->service->slots, &at))) {
        if (p->endpoint == e)
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
    .choice = srt_choice_program, .share = shared_new, .unshare = shared_free,
    .make = make, .end_all = end_all, .in_use = in_use, .free = free_service,
    .endpoint = srt_endpoint_new, .opts = srt_endpoint_opts, .closing = srt_endpoint_closing,
    .input = srt_endpoint_input, .end_batch = srt_endpoint_end_batch, .see_out = srt_see_out,
};
