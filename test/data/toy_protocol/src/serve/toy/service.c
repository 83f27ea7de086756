/* SPDX-License-Identifier: MIT */
/* service.c - the toy protocol on one worker: datagrams and counters. */
#include "base/container_of.h"
#include "base/must.h"
#include "serve/datagram/out.h"
#include "serve/toy/toy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(struct toy_service, base) == 0, "env->service has either");

struct endpoint {
    struct datagram_endpoint base;
    struct datagram_out out;
};

size_t toy_echo(const struct session_env *env, const void *data, size_t size, char out[TOY_LINE])
{
    int n = snprintf(out, TOY_LINE, "%s %.*s", env->conf->toy_server.word, (int)size,
                     (const char *)data);

    if (toy_service_of(env))
        toy_service_of(env)->echoes++;
    return n < TOY_LINE ? (size_t)n : TOY_LINE - 1;
}

/* ---- datagrams */

static struct datagram_shared *share(unsigned workers)
{
    (void)workers;
    return must(calloc(1, sizeof(struct datagram_shared)));
}

static struct datagram_service *make(struct session_env *env, struct datagram_shared *shared)
{
    struct toy_service *s = must(calloc(1, sizeof(*s)));

    (void)env;
    (void)shared;
    return &s->base;
}

static void free_service(struct datagram_service *s)
{
    free(s);
}

static void end_all(struct datagram_service *s, const char *why)
{
    (void)s;
    (void)why; /* there is no state per sender */
}

static bool in_use(const struct datagram_endpoint *e)
{
    (void)e;
    return false;
}

static struct datagram_endpoint *new_endpoint(struct datagram_service *s)
{
    struct endpoint *e = must(calloc(1, sizeof(*e)));

    (void)s;
    e->out.endpoint = &e->base;
    return &e->base;
}

static struct udp_opts opts(const struct conf *conf)
{
    (void)conf;
    return (struct udp_opts){ 0 };
}

static void closing(struct datagram_endpoint *base)
{
    datagram_out_end(&container_of(base, struct endpoint, base)->out);
}

static void input(struct datagram_endpoint *base, const struct udp_in *in, unsigned via, co_usec now)
{
    struct endpoint *e = container_of(base, struct endpoint, base);
    char line[TOY_LINE];
    size_t size = toy_echo(base->service->env, in->data, in->size, line);

    (void)via;
    (void)now;
    memcpy(datagram_out_room(&e->out, size), line, size);
    datagram_out_put(&e->out, size, &in->path);
}

static void end_batch(struct datagram_endpoint *base)
{
    datagram_out_flush(&container_of(base, struct endpoint, base)->out);
}

const struct datagram_protocol toy_datagrams = {
    .id = PROTOCOL_TOY, .name = "Toy", .reader = "toy", .ender = "toy-end", .share = share,
    .make = make, .free = free_service, .end_all = end_all, .in_use = in_use,
    .endpoint = new_endpoint, .opts = opts, .closing = closing, .input = input,
    .end_batch = end_batch,
};

/* ---- counters */

static const struct counter_row rows[] = {
    { "srs_toy_echoes_total", "Lines and datagrams that were answered.", .at = 0 },
};

static bool read_counters(const struct session_env *env, void *out)
{
    const struct toy_service *s = toy_service_of(env);

    if (s)
        memcpy(out, &s->echoes, sizeof(s->echoes));
    return s;
}

const struct counter_table toy_counters = {
    .rows = rows, .n_rows = 1, .size = sizeof(uint64_t), .read = read_counters,
};
