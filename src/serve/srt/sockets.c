/* SPDX-License-Identifier: MIT */
/* sockets.c - the sockets of all workers, and what these have in common. */
#include "base/log.h"
#include "base/must.h"
#include "co/net/udp.h"
#include "co/thread.h"
#include "serve/srt/choice.h"
#include "serve/srt/impl.h"

#include <stdlib.h>
#include <unistd.h>

enum { KEY_THREADS = 2, PEERS_EXPECTED = 1024 };

static err_t shared_new(struct srt_shared **out, unsigned workers)
{
    struct srt_shared *s = must(calloc(1, sizeof(*s)));

    atomic_init(&s->refs, 1);
    siphash_new_key(s->cookie_key);
    s->peers = peers_new(PEERS_EXPECTED);
    if (workers > 1)
        peers_share(s->peers);
    co_threads_limit(CO_POOL_KEY, (int)workers > KEY_THREADS ? (int)workers : KEY_THREADS);
    *out = s;
    return NULL;
}

void srt_shared_unref(struct srt_shared *s)
{
    if (atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    peers_free(s->peers);
    free(s);
}

static err_t open_one(int *fds, unsigned workers, const struct conf_endpoint *e)
{
    struct sock_filter code[SRT_CHOICE_STEPS];
    const struct sock_fprog program = { SRT_CHOICE_STEPS, code };
    bool chosen;
    err_t err;

    srt_choice_program(code, workers);
    err = udp_bind_group(fds, workers, e->host, e->port, &program, &chosen);
    if (err)
        return err_wrap(err, "srt_server: listen %s", e->text);
    if (workers > 1 && !chosen)
        log_warn("SRT: the system takes no program that gives each worker its own datagrams; "
                 "workers pass them on, which costs more");
    return NULL;
}

err_t srt_sockets_open(struct srt_sockets **out, const struct conf *conf, unsigned workers)
{
    const struct conf_endpoints *listen = &conf->srt_server.listen;
    struct srt_sockets *s = must(calloc(1, sizeof(*s)));
    err_t err = shared_new(&s->shared, workers);

    *out = NULL;
    if (err) {
        free(s);
        return err;
    }
    s->n = conf->srt_server.enabled ? listen->n : 0;
    s->workers = workers;
    s->fds = must(calloc(s->n * workers + 1, sizeof(*s->fds)));
    for (size_t i = 0; i < s->n * workers; i++)
        s->fds[i] = -1;
    for (size_t i = 0; i < s->n && !err; i++)
        err = open_one(s->fds + i * workers, workers, &listen->v[i]);
    if (err)
        srt_sockets_close(s);
    else
        *out = s;
    return err;
}

void srt_sockets_close(struct srt_sockets *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n * s->workers; i++) {
        if (s->fds[i] >= 0)
            (void)close(s->fds[i]);
    }
    srt_shared_unref(s->shared);
    free(s->fds);
    free(s);
}
