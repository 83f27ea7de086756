/* SPDX-License-Identifier: MIT */
/* forward.c - which streams are sent on, and to whom. */
#include "sink/forward/forward.h"

#include "base/log.h"
#include "base/must.h"
#include "session/hooks.h"
#include "sink/forward/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pauses before a backend that did not answer is asked again. */
#define FIRST_PAUSE CO_SECONDS(1)
#define LONGEST_PAUSE CO_SECONDS(30)

/* A stream that is published now, and its forwards. */
struct forwarded {
    struct forwarded *next;
    struct live_source *src; /* borrowed: it lives while it is published */
    struct forward_names names;
    struct forward *list;
    char *backend;           /* who is asked where to; NULL: nobody */
    struct asking *asking;   /* and did not answer yet */
    bool answered;           /* with urls: the configured destinations do not count */
};

/* A backend is asked, until it answers; its coroutine owns it. */
struct asking {
    struct forwards *all;
    struct forwarded *of;    /* NULL: nobody wants to know any more */
    struct co *co;
};

struct forwards {
    struct session_env *env;
    struct forwarded *streams;
    struct co_group group;
};

struct forwards *forwards_new(struct session_env *env)
{
    struct forwards *f = must(calloc(1, sizeof(*f)));

    f->env = env;
    co_group_init(&f->group);
    return f;
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

static bool wants(const struct conf_vhost *v, const struct forwarded *s,
                  const struct forward *one)
{
    if (!v || !v->enabled || !v->forward.enabled)
        return false;
    if (one->asked || s->answered)
        return one->asked && s->backend && strcmp(s->backend, v->forward.backend) == 0;
    for (size_t i = 0; i < v->forward.destination.n; i++) {
        if (is_to(one, &v->forward.destination.v[i]))
            return true;
    }
    return false;
}

static void begin_one(struct forwards *f, struct forwarded *s, struct forward *one)
{
    err_t err = co_go(&f->group, "forward", forward_main, one);

    if (err) {
        forward_free(one);
        log_end("forward", &err);
        return;
    }
    one->next = s->list;
    s->list = one;
}

static void begin_all(struct forwards *f, struct forwarded *s, const struct conf_vhost *v)
{
    for (size_t i = 0; v && v->forward.enabled && i < v->forward.destination.n; i++) {
        const struct conf_endpoint *e = &v->forward.destination.v[i];

        if (has(s, e))
            continue;
        if (is_circle(s, e)) {
            log_warn("no forward of %s to %s: it came from there", live_source_name(s->src),
                     e->text);
            continue;
        }
        begin_one(f, s, forward_new(f->env, e, &s->names, s->src));
    }
}

/* End those that are no longer wanted. */
static void end_unwanted(struct forwarded *s, const struct conf_vhost *v)
{
    for (struct forward **at = &s->list; *at;) {
        struct forward *one = *at;

        if (wants(v, s, one)) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        forward_end(one);
    }
}

/* ---- a backend that says where to */

/* The stream under its own name, to where it came from: it would come back in a circle. */
static bool is_circle_url(const struct forwarded *s, const char *url)
{
    size_t n = strlen(s->names.tc_url);

    return strncmp(url, s->names.tc_url, n) == 0 && url[n] == '/' &&
           strcmp(url + n + 1, s->names.stream) == 0;
}

static void begin_urls(struct forwards *f, struct forwarded *s, char **urls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct forward *one = NULL;
        err_t err = NULL;

        if (is_circle_url(s, urls[i]))
            log_warn("no forward of %s to %s: it came from there", live_source_name(s->src),
                     urls[i]);
        else
            err = forward_new_url(&one, f->env, urls[i], &s->names, s->src);
        if (err)
            log_end("forward.backend", &err);
        else if (one)
            begin_one(f, s, one);
    }
}

/* No urls: the configured destinations are meant. */
static void on_answer(struct asking *a, const struct conf_vhost *v, char **urls, size_t n)
{
    struct forwarded *s = a->of;

    s->answered = n > 0;
    end_unwanted(s, v);
    if (n > 0)
        begin_urls(a->all, s, urls, n);
    else
        begin_all(a->all, s, v);
}

/* *again: the backend did not answer. */
static err_t ask_once(struct asking *a, bool *again)
{
    struct session_env *env = a->all->env;
    struct conf *conf = conf_ref(env->conf);
    const struct forward_names *n = &a->of->names;
    const struct conf_vhost *v = conf_vhost_find(conf, n->vhost);
    const struct session_stream names = { .vhost = n->vhost, .app = n->app, .name = n->stream,
                                        .param = n->param, .tc_url = n->tc_url, .page_url = "",
                                        .ip = n->ip };
    char **urls = NULL;
    size_t count = 0;
    err_t err = NULL;

    *again = false;
    if (v && v->forward.enabled && *v->forward.backend) {
        err = hooks_ask_forward(env, v, &(struct hooks_event){ .names = &names }, &urls, &count);
        *again = err != NULL;
        if (!err && a->of)
            on_answer(a, v, urls, count);
    }
    while (count > 0)
        free(urls[--count]);
    free(urls);
    (void)conf_unref(conf);
    return err;
}

static err_t ask_main(void *asking)
{
    struct asking *a = asking;
    co_usec pause = FIRST_PAUSE;
    bool again = true;
    err_t err = NULL;

    a->co = co_self();
    while (a->of && again && !(err = co_check())) {
        err = ask_once(a, &again);
        if (!a->of || !err)
            break;
        log_end("forward.backend is asked again", &err);
        err = co_sleep(pause);
        err_free(&err);
        pause = pause * 2 < LONGEST_PAUSE ? pause * 2 : LONGEST_PAUSE;
    }
    err_free(&err);
    if (a->of)
        a->of->asking = NULL;
    free(a);
    return NULL;
}

static void ask(struct forwards *f, struct forwarded *s)
{
    struct asking *a = must(calloc(1, sizeof(*a)));
    err_t err;

    *a = (struct asking){ .all = f, .of = s };
    err = co_go(&f->group, "forward backend", ask_main, a);
    if (err) {
        free(a);
        log_end("forward.backend", &err);
        return;
    }
    s->asking = a;
}

static void ask_no_more(struct forwarded *s)
{
    if (s->asking) {
        s->asking->of = NULL;
        if (s->asking->co)
            co_stop(s->asking->co, NULL);
    }
    s->asking = NULL;
    s->answered = false;
    free(s->backend);
    s->backend = NULL;
}

/* Go where the configuration says, or ask whom it says. */
static void begin_stream(struct forwards *f, struct forwarded *s, const struct conf_vhost *v)
{
    const char *backend = v && v->forward.enabled && f->env->hooks ? v->forward.backend : "";

    if (s->backend && strcmp(s->backend, backend) != 0)
        ask_no_more(s);
    end_unwanted(s, v);
    if (*backend && !s->backend) {
        s->backend = must_dup(backend);
        ask(f, s);
    } else if (!s->asking && !s->answered) {
        begin_all(f, s, v);
    }
}

void forwards_begin(struct forwards *f, const struct conf_vhost *vhost,
                    const struct session_stream *stream, struct live_source *src)
{
    struct forwarded *s = must(calloc(1, sizeof(*s)));

    s->names = (struct forward_names){ must_dup(stream->vhost), must_dup(stream->app),
                                       must_dup(stream->name), must_dup(stream->param),
                                       must_dup(stream->tc_url),
                                       must_dup(stream->ip ? stream->ip : "") };
    s->src = src;
    s->next = f->streams;
    f->streams = s;
    begin_stream(f, s, vhost);
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
    ask_no_more(s);
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
    free(s->names.ip);
    free(s);
}

void forwards_reload(struct forwards *f)
{
    for (struct forwarded *s = f->streams; s; s = s->next) {
        begin_stream(f, s, conf_vhost_find(f->env->conf, s->names.vhost));
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
