/* SPDX-License-Identifier: MIT */
/* hooks.c - callbacks to backends: authorization and notification. */
#include "session/hooks.h"

#include "base/ip.h"
#include "base/must.h"
#include "base/text.h"
#include "conf/expand.h"
#include "session/hooks_impl.h"
#include "session/address_slot.h"
#include "session/workers.h"

#include <stdlib.h>
#include <string.h>

enum { BODY_MAX = 256 * 1024, NOTIFY_SECONDS = 10 };

struct hooks *hooks_new(struct session_env *env)
{
    struct hooks *h = must(calloc(1, sizeof(*h)));

    h->env = env;
    co_group_init(&h->group);
    return h;
}

const struct hooks_stat *hooks_stat(const struct hooks *h, enum hooks_action action)
{
    return &h->stat[action];
}

/* Returns the number of the next callback of the process, on any worker. */
static uint64_t next_number(struct hooks *h)
{
    struct workers *w = h->env->workers;

    return w ? atomic_fetch_add_explicit(&w->hooks, 1, memory_order_relaxed) + 1 : ++h->number;
}

static const struct conf_list *urls_of(const struct conf_vhost *vhost, enum hooks_action action)
{
    static const struct conf_list none;
    const struct conf_http_hooks *c = &vhost->http_hooks;
    const struct conf_list *const lists[] = {
        [HOOKS_CONNECT] = &c->on_connect, [HOOKS_CLOSE] = &c->on_close,
        [HOOKS_PUBLISH] = &c->on_publish, [HOOKS_UNPUBLISH] = &c->on_unpublish,
        [HOOKS_PLAY] = &c->on_play, [HOOKS_STOP] = &c->on_stop, [HOOKS_DVR] = &c->on_dvr,
        [HOOKS_HLS] = &c->on_hls, [HOOKS_FORWARD] = &none,
        [HOOKS_HLS_NOTIFY] = &c->on_hls_notify,
    };

    return c->enabled ? lists[action] : &none;
}

static err_t body_of(struct wr *w, struct session_env *env, enum hooks_action action,
                     const struct hooks_event *event)
{
    wr_init(w, BODY_MAX);
    hooks_body(w, env, action, event);
    return wr_err(w, "callback");
}

/* Waits until earlier notifications of this client are sent, so that callbacks keep their order. A
 * backend that accepts none delays it no longer than one that does not respond. */
static err_t wait_sent(struct hooks_line *line, co_usec timeout)
{
    co_usec until = co_clock() + timeout;
    err_t err = NULL;

    while (line && line->pending > 0 && !err && co_clock() < until) {
        enum co_wake wake;

        line->waiter = co_self();
        wake = co_park(until - co_clock());
        line->waiter = NULL;
        if (wake == CO_STOPPED)
            err = co_check();
    }
    return err;
}

err_t hooks_line_rest(struct hooks_line **line, const struct conf_vhost *vhost)
{
    err_t err = wait_sent(*line, vhost->http_hooks.timeout);

    hooks_line_end(line);
    return err;
}

/* ---- the limit of simultaneous requests */

static struct admission_queue *gate_of(struct hooks *h, const char *ip)
{
    uint8_t customer[IP_SIZE];
    char text[IP_TEXT];

    ip_customer(ip, customer);
    return &h->asks_of[text_hash(ip_text(customer, text)) % HOOKS_GATES];
}

/* Takes a slot of its address, then a global one, so that a hanging backend blocks a limited number
 * of requests, and one address cannot use all of them. */
static err_t enter(struct session_env *env, const char *ip, co_usec timeout)
{
    const struct conf_limits *l = &env->conf->limits;
    struct admission_queue *own = gate_of(env->hooks, ip);
    bool shared = address_slot_is_free(env, ip); /* many clients may share the address */
    int most = shared ? l->hooks_asks : l->hooks_asks_ip;
    err_t err = admission_queue_enter(own, workers_share(env, most), timeout);

    if (err)
        return err;
    err = admission_queue_enter(&env->hooks->asks, workers_share(env, l->hooks_asks), timeout);
    if (err)
        admission_queue_leave(own);
    return err;
}

static void leave(struct session_env *env, const char *ip)
{
    admission_queue_leave(&env->hooks->asks);
    admission_queue_leave(gate_of(env->hooks, ip));
}

/* ---- authorization */

err_t hooks_authorize(struct session_env *env, struct hooks_line **line,
                      const struct conf_vhost *vhost, enum hooks_action action,
                      const struct hooks_event *event)
{
    const struct conf_list *urls = urls_of(vhost, action);
    const struct conf_http_hooks *set = &vhost->http_hooks;
    struct wr body;
    bool entered;
    err_t err;

    if (!env->hooks || urls->n == 0)
        return NULL;
    err = body_of(&body, env, action, event);
    if (!err)
        err = wait_sent(*line, set->timeout);
    if (!err)
        err = enter(env, event->names->ip, set->timeout);
    entered = !err;
    for (size_t i = 0; !err && i < urls->n; i++) {
        const struct hooks_call call = {
            .action = action, .url = urls->v[i], .body = body.buf, .size = body.len,
            .number = next_number(env->hooks), .attempt = 1, .set = set, .timeout = set->timeout,
            .max_reply = HOOKS_REPLY_MAX,
        };

        err = hooks_call(env->hooks, &call, NULL);
    }
    if (entered)
        leave(env, event->names->ip);
    wr_free(&body);
    return err;
}

static char *copy(const void *p, size_t size)
{
    char *made = must(malloc(size + 1));

    memcpy(made, p, size);
    made[size] = '\0';
    return made;
}

void hooks_notify(struct session_env *env, struct hooks_line **line, struct conf *conf,
                  const struct conf_vhost *vhost, enum hooks_action action,
                  const struct hooks_event *event)
{
    const struct conf_list *urls = urls_of(vhost, action);
    struct wr body;
    err_t err;

    if (!env->hooks || urls->n == 0)
        return;
    err = body_of(&body, env, action, event);
    for (size_t i = 0; !err && i < urls->n; i++) {
        const struct hooks_call call = {
            .action = action, .size = body.len, .number = next_number(env->hooks),
            .client_id = event->client_id, .set = &vhost->http_hooks,
            .timeout = vhost->http_hooks.timeout, .max_reply = HOOKS_REPLY_MAX,
        };

        hooks_queue(env->hooks, hooks_line_of(line), conf, &call,
                    copy(urls->v[i], strlen(urls->v[i])), copy(body.buf, body.len));
    }
    err_free(&err); /* only with impossibly long names */
    wr_free(&body);
}

void hooks_notify_hls(struct session_env *env, struct conf *conf, const struct conf_vhost *vhost,
                      const struct hooks_event *event)
{
    const struct session_stream *names = event->names;
    const struct conf_variable v[] = {
        { "server_id", env->server_id }, { "service_id", env->service_id },
        { "app", names->app }, { "stream", names->name }, { "param", names->param },
        { "ts_url", event->url },
    };
    const struct conf_expand with = { .v = v, .n = sizeof(v) / sizeof(v[0]), .msec = -1 };
    const struct conf_list *urls = urls_of(vhost, HOOKS_HLS_NOTIFY);
    struct hooks_line *line = NULL; /* these have no order */
    struct hooks_call call = { .action = HOOKS_HLS_NOTIFY, .set = &vhost->http_hooks,
                               .client_id = event->client_id,
                               .timeout = CO_SECONDS(NOTIFY_SECONDS),
                               .max_reply = (size_t)vhost->hls.nb_notify };
    char url[4096];
    err_t err;

    if (!env->hooks || urls->n == 0)
        return;
    call.number = next_number(env->hooks);
    err = conf_expand(urls->v[call.number % urls->n], &with, url, sizeof(url));
    if (!err)
        hooks_queue(env->hooks, hooks_line_of(&line), conf, &call, copy(url, strlen(url)), NULL);
    hooks_line_end(&line);
    err_free(&err);
}

err_t hooks_query_forward(struct session_env *env, const struct conf_vhost *vhost,
                        const struct hooks_event *event, char ***urls, size_t *n)
{
    const struct conf_http_hooks *set = &vhost->http_hooks;
    struct http_reply reply = { 0 };
    struct hooks_call call;
    struct wr body;
    err_t err;

    *urls = NULL;
    *n = 0;
    err = body_of(&body, env, HOOKS_FORWARD, event);
    if (!err) {
        call = (struct hooks_call){
            .action = HOOKS_FORWARD, .url = vhost->forward.backend, .body = body.buf,
            .size = body.len, .number = next_number(env->hooks), .attempt = 1, .set = set,
            .timeout = set->timeout, .max_reply = HOOKS_REPLY_MAX,
        };
        err = hooks_call(env->hooks, &call, &reply);
    }
    if (!err)
        hooks_forward_urls(reply.body, reply.size, urls, n);
    http_reply_free(&reply);
    wr_free(&body);
    return err;
}
