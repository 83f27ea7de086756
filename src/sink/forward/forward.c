/* SPDX-License-Identifier: MIT */
/* forward.c - starts and ends the forwards of published streams. */
#include "sink/forward/forward.h"

#include "base/log.h"
#include "base/must.h"
#include "base/pace.h"
#include "base/text.h"
#include "session/hooks.h"
#include "sink/forward/session.h"
#include "sink/list.h"

#include <stdlib.h>
#include <string.h>

/* Pauses before a backend that did not respond is called again. */
#define FIRST_PAUSE CO_SECONDS(1)
#define LONGEST_PAUSE CO_SECONDS(30)

/* The sink's data about a published stream. */
struct forwarded {
    const struct sink_stream *stream;
    struct forward *list;
    char *backend;           /* URL of the backend that chooses the destinations; or NULL */
    struct asking *asking;   /* the pending request, or NULL */
    bool answered;           /* the backend returned URLs, which replace the configured ones */
};

/* A request to a backend, repeated until it responds; owned by its coroutine. */
struct asking {
    struct sink *all;
    struct forwarded *of;    /* NULL: the response is no longer needed */
    struct co *co;
};

static bool is_to(const struct forward *one, const struct conf_endpoint *e)
{
    return strcmp(one->host, e->host) == 0 && one->port == e->port && one->tls == e->tls &&
           strcmp(text_or_empty(one->of), text_or_empty(e->url)) == 0;
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

static void begin_one(struct sink *f, struct forwarded *s, struct forward *one)
{
    err_t err;

    if (forward_is_circle(one->url, &s->stream->names)) {
        log_warn("no forward of %s to %s: the stream comes from there",
                 live_source_name(s->stream->src), one->shown);
        forward_free(one);
        return;
    }
    err = co_go(&f->group, "forward", forward_main, one);
    if (err) {
        forward_free(one);
        log_end("forward", &err);
        return;
    }
    one->next = s->list;
    s->list = one;
}

static void begin_all(struct sink *f, struct forwarded *s, const struct conf_vhost *v)
{
    for (size_t i = 0; v && v->forward.enabled && i < v->forward.destination.n; i++) {
        const struct conf_endpoint *e = &v->forward.destination.v[i];

        if (!has(s, e))
            begin_one(f, s, forward_new(f->env, e, &s->stream->names, s->stream->src));
    }
}

/* Ends forwards that are no longer configured. */
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

/* ---- destinations from a backend */

static void begin_urls(struct sink *f, struct forwarded *s, char **urls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct forward *one;
        err_t err = forward_new_url(&one, f->env, urls[i], &s->stream->names, s->stream->src);

        if (err)
            err = err_wrap(err, "URL %zu of the response", i + 1);
        if (err)
            log_end("forward.backend", &err);
        else
            begin_one(f, s, one);
    }
}

/* Without URLs in the response, the configured destinations are used. */
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

/* Sets *again if the backend did not respond. */
static err_t ask_once(struct asking *a, bool *again)
{
    struct session_env *env = a->all->env;
    struct conf *conf = conf_ref(env->conf);
    struct session_stream names = a->of->stream->names;
    const struct conf_vhost *v = conf_vhost_find(conf, names.vhost);
    char **urls = NULL;
    size_t count = 0;
    err_t err = NULL;

    names.page_url = "";
    *again = false;
    if (v && v->forward.enabled && *v->forward.backend) {
        err = hooks_query_forward(env, v, &(struct hooks_event){ .names = &names }, &urls, &count);
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
    struct backoff pauses = backoff_init(FIRST_PAUSE, LONGEST_PAUSE);
    bool again = true;
    err_t err = NULL;

    a->co = co_self();
    while (a->of && again && !(err = co_check())) {
        err = ask_once(a, &again);
        if (!a->of || !err)
            break;
        log_end("forward.backend is asked again", &err);
        err = co_sleep(pauses.pause);
        err_free(&err);
        backoff_grow(&pauses);
    }
    err_free(&err);
    if (a->of)
        a->of->asking = NULL;
    free(a);
    return NULL;
}

static void ask(struct sink *f, struct forwarded *s)
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

/* Starts the configured forwards, or calls the configured backend. */
static void begin_stream(struct sink *f, struct forwarded *s, const struct conf_vhost *v)
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

static void begin(struct sink *sink, struct sink_stream *stream, const struct conf_vhost *vhost)
{
    void **at = sink_of(sink, stream);
    struct forwarded *s = *at;

    if (!s) {
        *at = s = must(calloc(1, sizeof(*s)));
        s->stream = stream;
    }
    begin_stream(sink, s, vhost);
}

static void end(struct sink *sink, struct sink_stream *stream)
{
    void **at = sink_of(sink, stream);
    struct forwarded *s = *at;

    if (!s)
        return;
    *at = NULL;
    ask_no_more(s);
    while (s->list) {
        struct forward *one = s->list;

        s->list = one->next;
        forward_end(one);
    }
    free(s);
}

static void show(const struct live_source *src, const struct forward *one,
                 void (*each)(void *arg, const struct forward_info *one), void *arg)
{
    const struct session *s = &one->session;
    bool publishing = (s->io || one->publishing) && s->began_at;

    each(arg, &(struct forward_info){
        .stream = live_source_name(src), .url = one->shown, .publishing = publishing,
        .began_at = s->began_at, .bytes = !publishing ? 0 : s->io ? s->io->bytes_out : s->out,
        .dropped = s->io && publishing ? one->player.sender.consumer.dropped : one->dropped,
        .failures = one->failures, .error = one->error });
}

void forwards_each(const struct sink *sink,
                   void (*each)(void *arg, const struct forward_info *one), void *arg)
{
    struct sink_stream *stream = NULL;

    while ((stream = sink_list_next(sink->list, stream))) {
        const struct forwarded *s = *sink_of(sink, stream);

        for (const struct forward *one = s ? s->list : NULL; one; one = one->next)
            show(stream->src, one, each, arg);
    }
}

const struct sink_ops forward_sink = { .name = "forward", .begin = begin, .end = end };
