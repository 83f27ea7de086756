/* SPDX-License-Identifier: MIT */
/* sockets.c - the sockets of all workers, one for each of them and each endpoint. */
#include "base/log.h"
#include "base/must.h"
#include "serve/datagram/datagram.h"

#include <linux/filter.h>
#include <stdlib.h>
#include <unistd.h>

struct datagram_shared *datagram_shared_ref(struct datagram_shared *shared)
{
    atomic_fetch_add(&shared->refs, 1);
    return shared;
}

void datagram_shared_unref(struct datagram_shared *shared, const struct datagram_protocol *p)
{
    if (atomic_fetch_sub(&shared->refs, 1) == 1)
        p->unshare(shared);
}

static err_t open_one(struct datagram_sockets *s, size_t i, const struct conf_endpoint *e)
{
    struct sock_filter code[DATAGRAM_CHOICE_STEPS];
    struct sock_fprog program = { .filter = code };
    const struct datagram_protocol *p = s->protocol;
    bool chosen;
    err_t err;

    if (p->choice)
        program.len = (unsigned short)p->choice(code, s->workers);
    err = udp_bind_group(s->fds + i * s->workers, s->workers, e->host, e->port,
                         p->choice ? &program : NULL, &chosen);
    if (err)
        return err_wrap(err, "%s: listen %s", p->directive, e->text);
    if (p->choice && s->workers > 1 && !chosen)
        log_warn("%s: the system takes no program that gives each worker its own datagrams; "
                 "workers pass them on, which costs more", p->name);
    return NULL;
}

err_t datagram_sockets_open(struct datagram_sockets **out, const struct datagram_protocol *p,
                            const struct conf *conf, unsigned workers)
{
    const struct conf_endpoints *listen = p->listen(conf);
    struct datagram_sockets *s = must(calloc(1, sizeof(*s)));
    err_t err = NULL;

    *out = NULL;
    s->protocol = p;
    s->shared = p->share(workers);
    atomic_init(&s->shared->refs, 1);
    s->shared->workers = workers;
    s->n = listen ? listen->n : 0;
    s->workers = workers;
    s->fds = must(calloc(s->n * workers + 1, sizeof(*s->fds)));
    for (size_t i = 0; i < s->n * workers; i++)
        s->fds[i] = -1;
    for (size_t i = 0; i < s->n && !err; i++)
        err = open_one(s, i, &listen->v[i]);
    if (err)
        datagram_sockets_close(s);
    else
        *out = s;
    return err;
}

void datagram_sockets_close(struct datagram_sockets *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n * s->workers; i++) {
        if (s->fds[i] >= 0)
            (void)close(s->fds[i]);
    }
    datagram_shared_unref(s->shared, s->protocol);
    free(s->fds);
    free(s);
}
