/* SPDX-License-Identifier: MIT */
/* sockets.c - the sockets of all workers, and what these have in common. */
#include "base/must.h"
#include "co/net/udp.h"
#include "serve/rtc/impl.h"
#include "session/peers.h"

#include <stdlib.h>
#include <unistd.h>

enum { PEERS_EXPECTED = 1024 };

static struct rtc_shared *shared_new(unsigned workers)
{
    struct rtc_shared *s = must(calloc(1, sizeof(*s)));

    atomic_init(&s->refs, 1);
    s->workers = workers;
    s->names = rtc_names_new();
    s->pending = peers_new(PEERS_EXPECTED);
    if (workers > 1)
        peers_share(s->pending);
    return s;
}

void rtc_shared_unref(struct rtc_shared *s)
{
    if (atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    rtc_names_free(s->names);
    peers_free(s->pending);
    free(s);
}

/* The kernel chooses among the sockets of an endpoint by addresses alone: who gets what is
 * another's passes it on (pass.c). */
static err_t open_one(int *fds, unsigned workers, const struct conf_endpoint *e)
{
    bool chosen;
    err_t err = udp_bind_group(fds, workers, e->host, e->port, NULL, &chosen);

    return err ? err_wrap(err, "rtc_server: listen %s", e->text) : NULL;
}

err_t rtc_sockets_open(struct rtc_sockets **out, const struct conf *conf, unsigned workers)
{
    const struct conf_endpoints *listen = &conf->rtc_server.listen;
    struct rtc_sockets *s = must(calloc(1, sizeof(*s)));
    err_t err = NULL;

    *out = NULL;
    s->shared = shared_new(workers);
    s->n = conf->rtc_server.enabled ? listen->n : 0;
    s->workers = workers;
    s->fds = must(calloc(s->n * workers + 1, sizeof(*s->fds)));
    for (size_t i = 0; i < s->n * workers; i++)
        s->fds[i] = -1;
    for (size_t i = 0; i < s->n && !err; i++)
        err = open_one(s->fds + i * workers, workers, &listen->v[i]);
    if (err)
        rtc_sockets_close(s);
    else
        *out = s;
    return err;
}

void rtc_sockets_close(struct rtc_sockets *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n * s->workers; i++) {
        if (s->fds[i] >= 0)
            (void)close(s->fds[i]);
    }
    rtc_shared_unref(s->shared);
    free(s->fds);
    free(s);
}
