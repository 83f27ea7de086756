/* SPDX-License-Identifier: MIT */
/* watch.c - checks certificates and disks periodically. */
#include "app/watch/impl.h"

#include "base/log.h"
#include "base/must.h"

#include <stdlib.h>

#define EVERY CO_SECONDS(10)

struct watch *watch_new(struct session_env *env, const struct services_tls *tls)
{
    struct watch *u = must(calloc(1, sizeof(*u)));

    u->env = env;
    u->tls = tls;
    return u;
}

void watch_free(struct watch *u)
{
    if (u)
        watch_drop_disks(u);
    free(u);
}

void watch_wake(struct watch *u)
{
    if (u && u->waiter)
        co_unpark(u->waiter);
}

err_t watch_run(void *watch)
{
    struct watch *u = watch;
    err_t err = NULL;

    while (!err) {
        enum co_wake woken;

        watch_check_certs(u);
        err = watch_check_disks(u);
        if (err)
            break;
        u->waiter = co_self();
        woken = co_park(co_to_second(EVERY, co_now()));
        u->waiter = NULL;
        err = woken == CO_STOPPED ? co_check() : NULL;
    }
    return err;
}
