/* SPDX-License-Identifier: MIT */
/* sockets.c - opens the sockets of all workers, one per worker and endpoint. */
#include "base/log.h"
#include "base/must.h"
#include "conf/binds.h"
#include "conf/protocol.h"
#include "serve/datagram/datagram.h"

#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ADDRESS_EXPECTED = 1024 };

struct datagram_shared *datagram_shared_ref(struct datagram_shared *shared)
{
    atomic_fetch_add(&shared->refs, 1);
    return shared;
}

void datagram_shared_unref(struct datagram_shared *shared)
{
    if (atomic_fetch_sub(&shared->refs, 1) > 1)
        return;
    if (shared->protocol->unshare)
        shared->protocol->unshare(shared);
    address_limits_free(shared->peers);
    free(shared);
}

void datagram_place_unref(struct datagram_place *place)
{
    if (place && atomic_fetch_sub(&place->refs, 1) == 1)
        free(place);
}

static struct datagram_place *place_new(unsigned workers)
{
    struct datagram_place *place = must(calloc(1, sizeof(*place)));

    atomic_init(&place->refs, 1);
    place->workers = workers;
    return place;
}

/* ---- opening */

static err_t open_group(const struct datagram_sockets *s, struct datagram_planned *v)
{
    struct sock_filter code[DATAGRAM_CHOICE_STEPS];
    struct sock_fprog program = { .filter = code };
    const struct datagram_protocol *p = s->protocol;
    bool chosen;
    err_t err;

    if (p->choice)
        program.len = (unsigned short)p->choice(code, s->workers);
    err = udp_bind_group(v->fds, v->rounds * s->workers, v->host, v->port,
                         p->choice ? &program : NULL, &chosen);
    if (!err && p->choice && s->workers > 1 && !chosen)
        log_warn("%s: the kernel rejects the program that assigns datagrams to workers; workers "
                 "pass them on, which costs more",
                 p->name);
    return err;
}

/* Returns the number of sockets of the endpoint on the first worker; all others have the same. */
static unsigned readers_of(const struct datagram_endpoint *e)
{
    unsigned n = 0;

    for (const struct datagram_reader *r = e ? e->readers : NULL; r; r = r->next)
        n++;
    return n;
}

static unsigned rounds_wanted(const struct datagram_protocol *p, const struct conf *conf,
                              unsigned workers)
{
    unsigned n = p->sockets ? p->sockets(conf) : 1;

    return n > workers ? (n + workers - 1) / workers : 1;
}

static void plan_one(struct datagram_planned *v, const struct datagram_endpoint *e,
                     const struct conf_bind *wanted, unsigned rounds, unsigned workers)
{
    unsigned have = readers_of(e);

    v->text = must_dup(wanted->text);
    v->host = must_dup(wanted->host);
    v->port = wanted->port;
    v->rounds = rounds > have ? rounds - have : 0;
    v->place = e ? e->place : place_new(workers);
    if (e) {
        v->number = e->number;
        atomic_fetch_add(&v->place->refs, 1);
    }
    v->fds = must(calloc(v->rounds * workers + 1, sizeof(*v->fds)));
    for (unsigned i = 0; i < v->rounds * workers; i++)
        v->fds[i] = -1;
}

/* Finds the existing endpoint, unless it is closed already. */
static struct datagram_endpoint *find(const struct datagram_service *have,
                                      const struct conf_bind *wanted, bool *again)
{
    struct datagram_endpoint *e =
        have ? datagram_endpoint_at(have, wanted->host, wanted->port) : NULL;
    int closing = DATAGRAM_CLOSING;

    *again = e && atomic_compare_exchange_strong(&e->place->life, &closing, DATAGRAM_OPEN);
    return e && atomic_load(&e->place->life) == DATAGRAM_OPEN ? e : NULL;
}

/* Arguments for building a plan. */
struct opening {
    struct datagram_sockets *s;
    const struct datagram_service *have;
    unsigned rounds;
};

static err_t open_one(const struct opening *o, struct datagram_planned *v,
                      const struct conf_bind *wanted)
{
    struct datagram_sockets *s = o->s;
    const struct datagram_endpoint *e = find(o->have, wanted, &v->again);
    err_t err = NULL;

    plan_one(v, e, wanted, o->rounds, s->workers);
    s->n++;
    if (!e)
        v->number = s->shared->numbers++;
    if (!e)
        err = open_group(s, v);
    else if (v->rounds > 0)
        err = udp_bind_more(v->fds, v->rounds * s->workers, v->host, e->socket->at.port);
    return err ? err_wrap(err, "%s_server: listen %s",
                          conf_protocol(s->protocol->id)->name, v->text) : NULL;
}

static struct datagram_planned *planned(const struct datagram_sockets *s,
                                        const struct conf_bind *wanted)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->v[i].port == wanted->port && strcmp(s->v[i].host, wanted->host) == 0)
            return &s->v[i];
    }
    return NULL;
}

static err_t want(const struct opening *o, const struct conf_bind *wanted, unsigned families)
{
    struct datagram_planned *v = planned(o->s, wanted);
    err_t err = NULL;

    if (!v) {
        v = &o->s->v[o->s->n];
        err = open_one(o, v, wanted);
    }
    v->families |= families;
    return err;
}

static bool is_there(const struct opening *o, const char *host, int port)
{
    const struct datagram_endpoint *e = o->have ? datagram_endpoint_at(o->have, host, port) : NULL;

    return e && atomic_load(&e->place->life) != DATAGRAM_CLOSED;
}

static unsigned families_of(const struct conf_bind *b)
{
    if (strcmp(b->host, "0.0.0.0") == 0)
        return DATAGRAM_V4;
    return strcmp(b->host, "::") == 0 ? DATAGRAM_V6 : DATAGRAM_V4 | DATAGRAM_V6;
}

static err_t want_halves(const struct opening *o, int port)
{
    struct conf_bind halves[CONF_BINDS_EACH];
    err_t err;

    conf_bind_halves(port, halves);
    err = want(o, &halves[0], DATAGRAM_V4);
    return err ? err : want(o, &halves[1], DATAGRAM_V6);
}

/* Keeps the sockets of an open port, one for both families or one for each: clients are tied to
 * their endpoint, so a reload replaces no socket. A socket for both families that is now configured
 * for one refuses new clients of the other. */
static err_t want_as_open(const struct opening *o, const struct conf_bind *wanted)
{
    unsigned families = families_of(wanted);
    bool half = families != (DATAGRAM_V4 | DATAGRAM_V6), any = half || !*wanted->host;
    struct conf_bind both = *wanted;

    both.host = "";
    if (any && is_there(o, "", wanted->port))
        return want(o, &both, families);
    if (any && !half && (is_there(o, "0.0.0.0", wanted->port) || is_there(o, "::", wanted->port)))
        return want_halves(o, wanted->port);
    return want(o, wanted, families);
}

static err_t open_all(const struct opening *o, const struct conf_endpoints *listen)
{
    struct conf_bind binds[CONF_BINDS_EACH];
    err_t err = NULL;

    for (size_t i = 0; i < listen->n && !err; i++) {
        size_t n = conf_binds(&listen->v[i], conf_binds_at(listen, listen->v[i].port), binds);

        for (size_t k = 0; k < n && !err; k++)
            err = want_as_open(o, &binds[k]);
    }
    return err;
}

const struct conf_endpoints *datagram_listen(const struct datagram_protocol *p,
                                             const struct conf *conf)
{
    const struct conf_served *s = conf_protocol(p->id)->served;

    return conf_served_is_on(s, conf) ? conf_served_listen(s, conf) : NULL;
}

err_t datagram_sockets_open(struct datagram_sockets **out, const struct datagram_protocol *p,
                            const struct datagram_service *have, const struct conf *conf,
                            unsigned workers)
{
    const struct conf_endpoints *listen = datagram_listen(p, conf);
    struct datagram_sockets *s = must(calloc(1, sizeof(*s)));
    const struct opening o = { s, have, rounds_wanted(p, conf, workers) };
    err_t err = NULL;

    *out = NULL;
    s->protocol = p;
    if (have) {
        s->shared = datagram_shared_ref(have->shared);
    } else {
        s->shared = p->share(workers);
        s->shared->protocol = p;
        atomic_init(&s->shared->refs, 1);
        s->shared->workers = workers;
        s->shared->peers = address_limits_new(ADDRESS_EXPECTED);
        if (workers > 1)
            address_limits_share(s->shared->peers);
    }
    s->on = listen != NULL;
    s->workers = workers;
    s->v = must(calloc((listen ? listen->n : 0) * CONF_BINDS_EACH + 1, sizeof(*s->v)));
    if (listen)
        err = open_all(&o, listen);
    if (err)
        datagram_sockets_close(s);
    else
        *out = s;
    return err;
}

static void close_one(struct datagram_planned *v, unsigned workers)
{
    for (unsigned i = 0; i < v->rounds * workers; i++) {
        if (v->fds[i] >= 0)
            (void)close(v->fds[i]);
    }
    datagram_place_unref(v->place);
    free(v->text);
    free(v->host);
    free(v->fds);
}

void datagram_sockets_close(struct datagram_sockets *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        if (s->v[i].again && !s->applied)
            atomic_store(&s->v[i].place->life, DATAGRAM_CLOSING);
        close_one(&s->v[i], s->workers);
    }
    datagram_shared_unref(s->shared);
    free(s->v);
    free(s);
}
