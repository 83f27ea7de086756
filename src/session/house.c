/* SPDX-License-Identifier: MIT */
/* house.c - a source that a worker has. */
#include "session/house.h"

#include "session/clients.h"
#include "session/homes.h"
#include "session/replicas.h"

void session_house(struct session_env *env, struct live_source *src)
{
    struct clients_stream *s = clients_stream(env->clients, src);

    if (s->home)
        return;
    s->workers = env->workers;
    s->home = homes_hold(env->workers, live_source_name(src), env->worker);
    if (home_worker(s->home) == env->worker)
        return;
    clients_stream_is_replica(s, &env->workers->v[env->worker].gauges.replicas);
    replicas_open(env, src, home_worker(s->home));
}
