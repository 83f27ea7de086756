/* SPDX-License-Identifier: MIT */
/* upkeep.c - look at certificates and disks now and then. */
#include "app/upkeep/impl.h"

#include "base/log.h"
#include "base/must.h"

#include <stdlib.h>

#define EVERY CO_SECONDS(10)

struct upkeep *upkeep_new(struct session_env *env, const struct services_tls *tls)
{
    struct upkeep *u = must(calloc(1, sizeof(*u)));

    u->env = env;
    u->tls = tls;
    return u;
}

void upkeep_free(struct upkeep *u)
{
    if (u)
        upkeep_drop_disks(u);
    free(u);
}

void upkeep_wake(struct upkeep *u)
{
    if (u && u->waiter)
        co_unpark(u->waiter);
}

err_t upkeep_run(void *upkeep)
{
    struct upkeep *u = upkeep;
    err_t err = NULL;

    while (!err) {
        enum co_wake woken;

        upkeep_check_certs(u);
        err = upkeep_check_disks(u);
        if (err)
            break;
        u->waiter = co_self();
        woken = co_park(co_to_second(EVERY, co_now()));
        u->waiter = NULL;
        err = woken == CO_STOPPED ? co_check() : NULL;
    }
    return err;
}
