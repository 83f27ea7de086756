/* SPDX-License-Identifier: MIT */
/* key.c - the key of a caller's payloads: "Key Material". The slow part runs on a helper thread. */
#include "base/must.h"
#include "co/thread.h"
#include "serve/srt/admit.h"
#include "session/guard.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
    struct srt_shared *shared;
    struct srt_km km;
    char passphrase[SRT_PASSPHRASE_MAX + 1];
    struct srt_secret secret;
    bool ok;
};

/* Any thread. */
static void job_end(void *arg)
{
    struct job *j = arg;

    atomic_fetch_sub(&j->shared->key_jobs, 1);
    datagram_shared_unref(&j->shared->base);
    OPENSSL_cleanse(j, sizeof(*j));
    free(j);
}

static void unwrap(void *arg)
{
    struct job *j = arg;

    j->ok = srt_km_unwrap(&j->secret, &j->km, j->passphrase);
}

/* Returns "" if there is none. */
static const char *passphrase_of(const struct session *s)
{
    const char *own = s->vhost->srt.passphrase;

    return *own ? own : s->conf->srt_server.passphrase;
}

static err_t run(struct srt_peer *p, struct job *j)
{
    struct srt_service *s = p->service;
    err_t err;

    s->stat.key_jobs++;
    err = co_thread_run(CO_POOL_KEY, unwrap, j, job_end,
                        p->base.session.conf->srt_server.connect_timeout);
    if (err)
        return err;
    if (j->ok) {
        p->request->secret = must(malloc(sizeof(j->secret)));
        *p->request->secret = j->secret;
    } else {
        session_guard_wrong(p->base.session.env, GUARD_SRT, p->base.ip, NULL, 0);
        err = srt_refusal(p, SRT_REFUSED_PASSPHRASE, "wrong passphrase");
    }
    job_end(j);
    return err;
}

static err_t begin(struct srt_peer *p, const struct srt_km *km, const char *passphrase)
{
    struct srt_service *s = p->service;
    struct job *j;

    if (atomic_fetch_add(&s->shared->key_jobs, 1) >= SRT_KEY_JOBS) {
        atomic_fetch_sub(&s->shared->key_jobs, 1);
        s->stat.key_refused++;
        return srt_refusal(p, SRT_REFUSED_RESOURCES, "%d keys are being derived already",
                           SRT_KEY_JOBS);
    }
    j = must(calloc(1, sizeof(*j)));
    j->shared = s->shared;
    (void)datagram_shared_ref(&j->shared->base);
    j->km = *km;
    (void)snprintf(j->passphrase, sizeof(j->passphrase), "%s", passphrase);
    return run(p, j);
}

err_t srt_key_take(struct srt_peer *p)
{
    const struct srt_handshake *h = &p->request->handshake;
    const char *passphrase = passphrase_of(&p->base.session);
    struct srt_km km;

    if (!h->has_km && !*passphrase)
        return NULL;
    if (!h->has_km)
        return srt_refusal(p, SRT_REFUSED_UNSECURE,
                           "it has no passphrase: use the one of srt_server or of its vhost");
    if (!*passphrase)
        return srt_refusal(p, SRT_REFUSED_UNSECURE,
                           "it has a passphrase, but none is configured here: remove it, or set "
                           "the same one in srt_server");
    /* the size was already checked if the handshake has one */
    if (!srt_km_read(&km, h->km, h->km_size))
        return srt_refusal(p, SRT_REFUSED_MALFORMED, "its key message is malformed");
    if (session_guard_locked(p->base.session.env, GUARD_SRT, p->base.ip) > 0)
        return srt_refusal(p, SRT_REFUSED_PASSPHRASE,
                           "its address used too many wrong passphrases: try later");
    return begin(p, &km, passphrase);
}
