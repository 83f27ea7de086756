/* SPDX-License-Identifier: MIT */
/* service.c - the RTMFP service of one worker: begin, reload, end. */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "co/thread.h"
#include "proto/rtmfp/rtmp.h"
#include "serve/rtmfp/directory.h"
#include "serve/rtmfp/keys_queue.h"
#include "serve/rtmfp/rate.h"
#include "serve/rtmfp/group_ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { ID_BITS = 32 };

_Static_assert(offsetof(struct rtmfp_service, base) == 0, "env->service has either");

static struct rtmfp_service *service_of(struct datagram_service *s)
{
    return container_of(s, struct rtmfp_service, base);
}

/* ---- state shared by all workers */

enum { PRESENCES = 1000000 }; /* the maximum of max_sessions */

static struct datagram_shared *shared_new(unsigned workers)
{
    struct rtmfp_shared *s = must(calloc(1, sizeof(*s)));

    (void)workers;
    siphash_new_key(s->master);
    siphash_new_key(s->master + SIPHASH_KEY);
    s->startups = rtmfp_rate_new();
    s->introductions = rtmfp_rate_new();
    s->directory = rtmfp_directory_new(PRESENCES);
    s->netgroups = rtmfp_netgroups_new(PRESENCES);
    return &s->base;
}

static void shared_free(struct datagram_shared *shared)
{
    struct rtmfp_shared *s = container_of(shared, struct rtmfp_shared, base);

    rtmfp_rate_free(s->startups);
    rtmfp_rate_free(s->introductions);
    rtmfp_directory_free(s->directory);
    rtmfp_netgroups_free(s->netgroups);
    rtmfp_identity_fini(&s->identity);
}

/* Runs for the first worker's service, before the others exist. */
static void identify(struct rtmfp_shared *s, const struct conf_rtmfp_server *conf)
{
    bool groups[RTMFP_GROUPS] = { false };

    for (size_t i = 0; i < conf->groups.n; i++) {
        enum rtmfp_group g = rtmfp_group_of(strtoul(conf->groups.v[i], NULL, 10));

        if (g != RTMFP_GROUPS)
            groups[g] = true;
    }
    rtmfp_identity_init(&s->identity, true, groups);
}

/* ---- begin and end */

static void reload(struct datagram_service *base)
{
    struct rtmfp_service *s = service_of(base);
    const struct conf_rtmfp_server *conf = &base->env->conf->rtmfp_server;

    /* The enums have the same order. */
    s->responder.policies = (struct rtmfp_policies){ (enum rtmfp_policy)conf->hmac,
                                                     (enum rtmfp_policy)conf->sequence };
    s->responder.redirects = conf->redirect.n > 0 &&
                            conf->redirect_peers != CONF_REDIRECT_PEERS_ONLY;
    s->set->message_max =
        (size_t)base->env->conf->limits.max_message_size + RTMFP_MESSAGE_HEAD;
    s->set->ping = conf->ping;
    s->set->timeout = conf->timeout;
    if (conf->enabled && !s->base.refuses) /* it may have been off */
        s->ends = false;
}

static struct datagram_service *make(struct session_env *env, struct datagram_shared *shared)
{
    const struct conf_rtmfp_server *conf = &env->conf->rtmfp_server;
    struct rtmfp_service *s = must(calloc(1, sizeof(*s)));
    int workers = (int)shared->workers;

    s->shared = container_of(shared, struct rtmfp_shared, base);
    if (s->shared->identity.size == 0)
        identify(s->shared, conf);
    co_threads_want(CO_POOL_KEY, conf->threads > workers ? conf->threads : workers);
    datagram_slots_init(&s->slots, env->worker, shared->workers, ID_BITS);
    s->peer_ops = &rtmfp_connection_peer_ops;
    s->cipher = must(rtmfp_cipher_new());
    s->table = rtmfp_table_new();
    s->keys = rtmfp_keys_new(s, (unsigned)conf->threads);
    s->set = must(calloc(1, sizeof(*s->set)));
    *s->set = (struct rtmfp_session_set){ .ops = &rtmfp_connection_ops, .mode = RTMFP_RESPONDER,
                                          .sums = &s->sums };
    siphash_new_key(s->set->key);
    s->responder.me = &s->shared->identity;
    s->responder.ops = &rtmfp_startup_ops;
    s->responder.arg = s;
    if (!rtmfp_responder_init(&s->responder, s->shared->master))
        must(NULL);
    return &s->base;
}

static void begun(struct datagram_service *base)
{
    err_t err = rtmfp_keys_begin(service_of(base)->keys);

    reload(base);
    if (err)
        log_end("RTMFP has no coroutines for keys", &err);
}

/* Does not wait for peers to acknowledge the end. */
static void end_all(struct datagram_service *base, const char *why)
{
    struct rtmfp_service *s = service_of(base);
    struct rtmfp_peer *p;
    uint32_t at = 0;

    s->ends = true;
    while ((p = datagram_slots_next(&s->slots, &at)))
        rtmfp_peer_close(p, err_new(ERR_STOPPED, "%s", why));
}

static bool in_use(const struct datagram_endpoint *base)
{
    const struct rtmfp_endpoint *e = container_of(base, const struct rtmfp_endpoint, base);
    const struct rtmfp_peer *p;
    uint32_t at = 0;

    while ((p = datagram_slots_next(&e->service->slots, &at))) {
        if (p->endpoint == e)
            return true;
    }
    return false;
}

static void free_service(struct datagram_service *base)
{
    struct rtmfp_service *s = service_of(base);

    co_post_cancel(&s->turn);
    rtmfp_keys_free(s->keys);
    rtmfp_table_free(s->table);
    rtmfp_responder_fini(&s->responder);
    rtmfp_cipher_free(s->cipher);
    datagram_slots_fini(&s->slots);
    free(s->set);
    free(s);
}

const struct datagram_protocol rtmfp_protocol = {
    .id = PROTOCOL_RTMFP, .name = "RTMFP", .reader = "rtmfp", .ender = "rtmfp-end",
    .choice = rtmfp_dispatch_program, .share = shared_new,
    .unshare = shared_free, .make = make, .begun = begun, .reload = reload,
    .end_all = end_all, .in_use = in_use, .free = free_service, .endpoint = rtmfp_endpoint_new,
    .opts = rtmfp_endpoint_opts, .closing = rtmfp_endpoint_closing, .input = rtmfp_endpoint_input,
    .end_batch = rtmfp_endpoint_end_batch,
};
