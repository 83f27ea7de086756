/* SPDX-License-Identifier: MIT */
/* forward.c - which streams are sent on, and to whom. */
#include "sink/forward.h"

#include "base/log.h"
#include "sink/forward_one.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A stream that is published now, and its forwards. */
struct forwarded {
    struct forwarded *next;
    struct live_source *src; /* borrowed: it lives while it is published */
    struct forward_names names;
    struct forward *list;
};

struct forwards {
    struct serve *serve;
    struct forwarded *streams;
    struct co_group group;
};

struct forwards *forwards_new(struct serve *serve)
{
    struct forwards *f = calloc(1, sizeof(*f));

    if (!f)
        abort();
    f->serve = serve;
    co_group_init(&f->group);
    return f;
}

static char *copy(const char *text)
{
    char *made = strdup(text);

    if (!made)
        abort();
    return made;
}

/* Sent to itself, a stream would come back in a circle: the publisher came by this address. */
static bool is_circle(const struct forwarded *s, const struct conf_endpoint *e)
{
    char here[300];
    const char *at;
    size_t n;

    (void)snprintf(here, sizeof(here), "://%s:%d/", e->host, e->port);
    at = strstr(s->names.tc_url, "://");
    n = strlen(here);
    return at && strncmp(at, here, n) == 0;
}

static bool is_to(const struct forward *one, const struct conf_endpoint *e)
{
    return strcmp(one->host, e->host) == 0 && one->port == e->port && one->tls == e->tls;
}

static bool has(const struct forwarded *s, const struct conf_endpoint *e)
{
    const struct forward *one = s->list;

    while (one && !is_to(one, e))
        one = one->next;
    return one != NULL;
}

static bool wants(const struct conf_vhost *v, const struct forward *one)
{
    if (!v || !v->enabled || !v->forward.enabled)
        return false;
    for (size_t i = 0; i < v->forward.destination.n; i++) {
        if (is_to(one, &v->forward.destination.v[i]))
            return true;
    }
    return false;
}

static void begin_all(struct forwards *f, struct forwarded *s, const struct conf_vhost *v)
{
    for (size_t i = 0; v && v->forward.enabled && i < v->forward.destination.n; i++) {
        const struct conf_endpoint *e = &v->forward.destination.v[i];
        struct forward *one;
        err_t err;

        if (has(s, e))
            continue;
        if (is_circle(s, e)) {
            log_warn("no forward of %s to %s: it came from there", live_source_name(s->src),
                     e->text);
            continue;
        }
        one = forward_new(f->serve, e, &s->names, s->src);
        err = co_go(&f->group, "forward", forward_main, one);
        if (err) {
            forward_free(one);
            log_end("forward", &err);
            continue;
        }
        one->next = s->list;
        s->list = one;
    }
}

void forwards_begin(struct forwards *f, const struct conf_vhost *vhost,
                    const struct serve_stream *stream, struct live_source *src)
{
    struct forwarded *s = calloc(1, sizeof(*s));

    if (!s)
        abort();
    s->names = (struct forward_names){ copy(stream->vhost), copy(stream->app), copy(stream->name),
                                       copy(stream->param), copy(stream->tc_url) };
    s->src = src;
    s->next = f->streams;
    f->streams = s;
    begin_all(f, s, vhost);
}

void forwards_end(struct forwards *f, const struct live_source *src)
{
    struct forwarded **at = &f->streams;
    struct forwarded *s;

    while (*at && (*at)->src != src)
        at = &(*at)->next;
    s = *at;
    if (!s)
        return;
    *at = s->next;
    while (s->list) {
        struct forward *one = s->list;

        s->list = one->next;
        forward_end(one);
    }
    free(s->names.vhost);
    free(s->names.app);
    free(s->names.stream);
    free(s->names.param);
    free(s->names.tc_url);
    free(s);
}

void forwards_reload(struct forwards *f)
{
    for (struct forwarded *s = f->streams; s; s = s->next) {
        const struct conf_vhost *v = conf_vhost_find(f->serve->conf, s->names.vhost);

        for (struct forward **at = &s->list; *at;) {
            struct forward *one = *at;

            if (wants(v, one)) {
                at = &one->next;
                continue;
            }
            *at = one->next;
            forward_end(one);
        }
        begin_all(f, s, v);
    }
}

void forwards_each(const struct forwards *f,
                   void (*each)(void *arg, const struct forward_info *one), void *arg)
{
    for (const struct forwarded *s = f->streams; s; s = s->next) {
        for (const struct forward *one = s->list; one; one = one->next) {
            bool publishing = one->io && one->began_at;

            each(arg, &(struct forward_info){
                .stream = live_source_name(s->src), .url = one->url, .publishing = publishing,
                .began_at = one->began_at, .bytes = publishing ? one->io->bytes_out : 0,
                .dropped = publishing ? one->sender.consumer.dropped : 0,
                .failures = one->failures, .error = one->error });
        }
    }
}

unsigned forwards_count(const struct forwards *f)
{
    return (unsigned)f->group.count;
}

void forwards_free(struct forwards *f)
{
    err_t err;

    while (f->streams)
        forwards_end(f, f->streams->src);
    err = co_group_stop(&f->group);
    err_free(&err); /* each was logged where it ended */
    free(f);
}
