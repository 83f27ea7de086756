/* SPDX-License-Identifier: MIT */
/* clients.c - clients in the API, and kicking them. */
#include "app/api/api.h"
#include "app/api/collect.h"
#include "app/api/order.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_SIZE = 4096 };

/* Writes the play state and the reasons of a stall. */
static void put_play(struct jput *j, const struct live_sender_stat *stat)
{
    jput_text(j, "state", live_sender_state_name(stat->state));
    jput_int(j, "state_ms", us_to_ms(stat->since));
    jput_int(j, "lag_ms", us_to_ms(stat->lag));
    jput_uint(j, "dropped_packets", stat->dropped);
    jput_int(j, "window_full_ms", us_to_ms(stat->window_full));
}

/* Writes the transport and loss of an RTSP client. */
static void put_rtp(struct jput *j, const struct client *client)
{
    jput_text(j, "transport", clients_transport_name(client->way));
    jput_uint(j, "lost_packets", client->lost);
    jput_real(j, "jitter_ms", client->jitter / 1e3, 3);
}

/* Writes the position in the file that it plays. */
static void put_file(struct jput *j, const struct live_sender *sender)
{
    struct live_feed_info info;

    if (!live_sender_feed_info(sender, &info))
        return;
    jput_open(j, "vod", '{');
    jput_text(j, "file", info.name);
    jput_real(j, "position", (double)info.position / 1e6, 3);
    jput_real(j, "duration", (double)info.duration / 1e6, 3);
    jput_real(j, "scale", info.scale / 1e3, 3);
    jput_close(j, '}');
}

/* Writes the details of its protocol. */
static void put_detail(struct jput *j, const struct clients_info *info)
{
    uint64_t room[CLIENTS_DETAIL / sizeof(uint64_t)];
    const struct clients_detail *d = info->detail;

    if (!d || !d->read(info->session, room))
        return;
    jput_open(j, d->name, '{');
    jput_fields(j, d->fields, d->n, room);
    jput_close(j, '}');
}

/* Runs on the client's worker. */
static void put_client(struct api_call *c, const char *key, struct client *client)
{
    const struct clients_stream *s = client->stream;
    char id[CLIENTS_NAME_ID_SIZE], url[NAME_MAX_SIZE];
    struct live_sender_stat stat;
    struct clients_info info;
    struct jput *j = &c->j;

    client->kind->describe(client, &info);
    jput_open(j, key, '{');
    client_id(client, id);
    jput_text(j, "id", id);
    clients_name_id(s->all, s->vhost->name, id);
    jput_text(j, "vhost", id);
    clients_name_id(s->all, live_source_name(s->src), id);
    jput_text(j, "stream", id);
    jput_text(j, "ip", info.ip);
    api_put_secret(c, "pageUrl", info.page_url);
    api_put_secret(c, "swfUrl", info.swf_url);
    api_put_secret(c, "tcUrl", info.tc_url);
    jput_text(j, "url", clients_url(s->vhost->name, text_or_empty(s->app), text_or_empty(s->name),
                                    url, sizeof(url)));
    jput_text(j, "name", s->name);
    jput_text(j, "type", clients_type_name(client->type));
    jput_bool(j, "publish", clients_type_publishes(client->type));
    jput_real(j, "alive", (double)(co_clock() - info.began_at) / 1e6, 3);
    jput_uint(j, "send_bytes", info.out);
    jput_uint(j, "recv_bytes", info.in);
    api_kbps(j, info.in_kbps, info.out_kbps);
    if (client->way)
        put_rtp(j, client);
    if (info.session && session_play_stat(info.session, &stat))
        put_play(j, &stat);
    if (info.sender)
        put_file(j, info.sender);
    put_detail(j, &info);
    jput_close(j, '}');
}

/* ---- the list: all workers pick the clients of the page, then each writes its own */

enum { BY_KIND, BY_ALIVE, BY_IN, BY_OUT, BY_LAG, BY_DROPPED, BY_STALL, BY_ALL };
static const char *const orders[BY_ALL] = {
    [BY_KIND] = "type", [BY_ALIVE] = "alive", [BY_IN] = "in", [BY_OUT] = "out", [BY_LAG] = "lag",
    [BY_DROPPED] = "dropped", [BY_STALL] = "stall",
};

#define STALLS_AFTER CO_SECONDS(3) /* the same as in the log */

struct listing {
    struct api_call *c;
    struct api_page page;
    bool plain;                    /* all clients, in the order of the workers */
    char *only;                    /* only clients of this stream; NULL: all */
    const struct live_source *src; /* that stream on the picking worker */
    unsigned worker;               /* the picking worker */
    struct order o;
    size_t found, stalled, at;
};

/* Finds the name of the stream with that id, malloc'ed; NULL if there is none. */
static err_t find_stream(struct api_call *c, const char *id, char **name)
{
    const struct collect_row *row = NULL;
    char one[CLIENTS_NAME_ID_SIZE];
    struct collect g;
    err_t err = NULL;

    collect_streams(&g, c->of->env, false, CO_FOREVER);
    while (!*name && !err && (row = collect_next(&g, row))) {
        clients_name_id(c->of->env->clients, row->name, one);
        if (strcmp(one, id) == 0)
            *name = must_dup(row->name);
        err = api_yield_if_due(c);
    }
    collect_free(&g);
    return err;
}

/* Returns how long the player has received nothing although packets are available; 0 if it does not
 * stall or if there is no publisher. */
static co_usec stall_of(const struct client *client, const struct live_sender_stat *stat)
{
    const struct clients_stream *s = client->stream;
    bool published = s->publisher || s->replicas || s->file;
    bool stalls = stat->state == LIVE_WINDOW_FULL || (stat->state == LIVE_WAIT_KEY && published);

    return stalls ? stat->since : 0;
}

/* Sorts stalled players first, the longest stall first with sort=-stall; then the others, the
 * oldest first. */
static int64_t stall_key(const struct client *client, const struct clients_info *info,
                         const struct live_sender_stat *stat)
{
    co_usec stall = stall_of(client, stat);

    return stall >= STALLS_AFTER ? stall : -info->began_at;
}

static int64_t key_of(const struct client *client, const struct clients_info *info,
                      const struct live_sender_stat *stat, int by)
{
    switch (by) {
    case BY_KIND: return client->type;
    case BY_ALIVE: return co_clock() - info->began_at;
    case BY_IN: return info->in_kbps;
    case BY_OUT: return info->out_kbps;
    case BY_LAG: return stat->lag;
    case BY_DROPPED: return (int64_t)stat->dropped;
    case BY_STALL: return stall_key(client, info, stat);
    default: return 0;
    }
}

static bool is_found(const struct listing *l, const struct client *client,
                     const struct clients_info *info)
{
    char id[CLIENTS_ID_SIZE];

    client_id(client, id);
    return order_finds(&l->o, (const char *[]){ info->ip, id, clients_type_name(client->type),
                                                text_or_empty(client->stream->name) }, 4);
}

static void pick_client(struct client *client, void *arg)
{
    struct listing *l = arg;
    struct order_row row = { .key = (int64_t)l->found, .id = client->link.hash,
                             .worker = l->worker };
    struct live_sender_stat stat = { .state = LIVE_PAUSED };
    struct clients_info info;

    if (client->type == CLIENTS_FORWARD || (l->only && client->stream->src != l->src))
        return; /* forwards are not clients: see /forwards */
    if (!l->plain) {
        client->kind->describe(client, &info);
        if (!is_found(l, client, &info))
            return;
        if (info.session)
            (void)session_play_stat(info.session, &stat);
        l->stalled += stall_of(client, &stat) >= STALLS_AFTER;
        row.key = key_of(client, &info, &stat, l->o.by);
        row.group = l->only && !clients_type_publishes(client->type);
    }
    if (!l->plain || (l->found >= l->page.start && l->found < l->page.end))
        order_add(&l->o, &row);
    l->found++;
}

/* If the number of clients is known, the walk can end with the page. */
static void pick(struct session_env *env, void *arg)
{
    struct listing *l = arg;
    struct live_source *src = l->only ? live_registry_find(env->streams, l->only) : NULL;
    const struct clients_stream *s = src ? clients_stream(env->clients, src) : NULL;
    size_t all = l->found + (s ? s->clients + s->waiting : clients_count_all(env->clients));
    uint64_t at = 0;
    bool more = !l->plain || (all > l->page.start && l->found < l->page.end);

    if (l->only && !src)
        return;
    l->src = src ? live_source_ref(src) : NULL;
    l->worker = env->worker;
    while (more) {
        more = clients_walk(env->clients, &at, pick_client, l) &&
               (!l->plain || l->found < l->page.end);
        co_yield_if_due();
    }
    if (l->plain)
        l->found = all;
    (void)live_source_unref(src);
}

/* Writes the next clients on this worker until the buffer is full. */
static void put_some(struct session_env *env, void *arg)
{
    struct listing *l = arg;

    for (; l->at < l->o.n && l->o.v[l->at].worker == env->worker && !api_is_full(l->c); l->at++) {
        char id[CLIENTS_ID_SIZE];
        struct client *client;

        client_id(&(struct client){ .link.hash = l->o.v[l->at].id }, id);
        client = clients_find(env->clients, id);
        if (client) /* it may have just left */
            put_client(l->c, NULL, client);
        co_yield_if_due();
    }
}

static err_t put_list(struct listing *l)
{
    struct api_call *c = l->c;
    err_t err = NULL;

    order_end(&l->o);
    jput_open(&c->j, "clients", '[');
    while (l->at < l->o.n && !err) {
        workers_call(c->of->env, l->o.v[l->at].worker, put_some, l);
        err = api_yield_if_due(c);
    }
    jput_close(&c->j, ']');
    jput_uint(&c->j, "total", l->found);
    if (!l->plain)
        jput_uint(&c->j, "stalled", l->stalled);
    return err;
}

static err_t list_clients(struct api_call *c)
{
    struct listing l = { .c = c, .page = api_page_of(c) };
    char id[CLIENTS_NAME_ID_SIZE];
    bool of_one = api_param(c, "stream", id, sizeof(id));
    err_t err = of_one ? find_stream(c, id, &l.only) : NULL;

    order_begin(&l.o, c, orders, BY_ALL, l.page.end);
    l.plain = l.o.by < 0 && !l.o.find[0];
    l.at = l.plain ? 0 : l.page.start;
    if (!err && (l.only || !of_one))
        workers_each(c->of->env, pick, &l);
    if (!err)
        err = put_list(&l);
    order_free(&l.o);
    free(l.only);
    return err;
}

/* ---- one client: its worker responds */

struct asked {
    struct api_call *c;
    bool found;
};

static void show(struct session_env *env, void *arg)
{
    struct asked *a = arg;
    struct client *client = clients_find(env->clients, a->c->rest);

    if (client)
        put_client(a->c, "client", client);
    a->found = client;
}

static void kick(struct session_env *env, void *arg)
{
    struct asked *a = arg;
    struct client *client = clients_find(env->clients, a->c->rest);

    a->found = client;
    if (!client)
        return;
    log_always(LOG_TRACE, "API: kick client %s, %s", a->c->rest, clients_type_name(client->type));
    client->kind->kick(client);
}

static err_t clients(struct api_call *c)
{
    struct asked a = { .c = c };

    if (!*c->rest && c->verb != HTTP_VERB_DELETE)
        return list_clients(c);
    for (unsigned w = 0; w < workers_count(c->of->env) && !a.found; w++)
        workers_call(c->of->env, w, c->verb == HTTP_VERB_DELETE ? kick : show, &a);
    return a.found ? NULL : api_error(c, API_NO_CLIENT);
}

const struct api_row api_rows_clients[] = {
    { "clients/", "manage all clients or specified client, default query top 10 clients",
      API_READ | 1u << HTTP_VERB_DELETE, clients, NULL },
    { .path = NULL },
};
