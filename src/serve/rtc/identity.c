/* SPDX-License-Identifier: MIT */
/* identity.c - our certificates. An RSA key takes a tenth of a second to create, so a helper thread
 * does it; clients that need it meanwhile wait. */
#include "co/thread.h"
#include "serve/rtc/impl.h"

#include "base/must.h"

#include <stdlib.h>

#define TIMEOUT CO_SECONDS(10)
#define LOOK CO_MS(5)

struct job {
    struct dtls_identity_opts opts;
    struct dtls_identity *made; /* NULL: see `why` */
    char why[DTLS_IDENTITY_WHY];
};

/* Runs on a helper thread. */
static void run(void *job)
{
    struct job *j = job;

    j->made = dtls_identity_make(&j->opts, j->why);
}

static void drop(void *job)
{
    struct job *j = job;

    dtls_identity_unref(j->made);
    free(j);
}

static err_t make(struct rtc_service *s, bool dtls1_0)
{
    struct job *j = must(calloc(1, sizeof(*j)));
    err_t err;

    j->opts = (struct dtls_identity_opts){ .rsa = s->rsa, .dtls1_0 = dtls1_0 };
    s->makes[dtls1_0] = true;
    err = co_thread_run(CO_POOL_KEY, run, j, drop, TIMEOUT);
    s->makes[dtls1_0] = false;
    if (err)
        return err_wrap(err, "to make a certificate");
    if (!j->made) {
        err = err_new(ERR_RTC_DTLS, "creating the server's certificate: %s", j->why);
    } else if (j->opts.rsa == s->rsa) { /* else a reload changed the key type meanwhile */
        dtls_identity_unref(s->identity[dtls1_0]);
        s->identity[dtls1_0] = j->made;
        j->made = NULL;
    }
    drop(j);
    return err;
}

static bool is_old(const struct dtls_identity *id)
{
    return co_wall_ms() / 1000 >= dtls_identity_ends(id);
}

err_t rtc_service_identity(struct rtc_service *s, bool dtls1_0, struct dtls_identity **out)
{
    struct dtls_identity **id = &s->identity[dtls1_0];
    err_t err = NULL;

    while (!err && (!*id || (is_old(*id) && !s->makes[dtls1_0])))
        err = s->makes[dtls1_0] ? co_sleep(LOOK) : make(s, dtls1_0);
    if (!err)
        *out = dtls_identity_ref(*id);
    return err;
}

void rtc_identities_forget(struct rtc_service *s)
{
    for (int i = 0; i < 2; i++) {
        dtls_identity_unref(s->identity[i]);
        s->identity[i] = NULL;
    }
    s->rsa = !s->base.env->conf->rtc_server.ecdsa;
}
