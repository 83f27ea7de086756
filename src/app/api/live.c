/* SPDX-License-Identifier: MIT */
/* live.c - what the API tells of vhosts, streams and clients, and how a client is kicked. */
#include "app/api/api.h"
#include "base/log.h"
#include "base/text.h"
#include "live/sender.h"
#include "session/clients.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_DEFAULT = 10, NAME_MAX_SIZE = 4096 };

/* ?start=N&count=M */
struct page {
    size_t start, end, at;
};

static struct page page_of(const struct api_call *c)
{
    long start = api_number(c, "start", 0), count = api_number(c, "count", COUNT_DEFAULT);

    start = start < 0 ? 0 : start;
    count = count < 1 ? 1 : count > INT_MAX ? INT_MAX : count;
    return (struct page){ .start = (size_t)start, .end = (size_t)start + (size_t)count };
}

static void put_total(struct api_call *c, size_t total)
{
    jput_uint(&c->j, "total", total);
}

/* ---- vhosts */

static const struct clients_vhost *vhost_known(const struct api_call *c, const char *name)
{
    const struct clients_vhost *v = clients_vhosts(c->of->env->clients);

    while (v && strcmp(v->name, name) != 0)
        v = v->next;
    return v;
}

static void put_vhost(struct api_call *c, const char *key, const struct conf_vhost *v)
{
    static const struct clients_vhost nothing;
    const struct clients_vhost *known = vhost_known(c, v->name);
    char id[CLIENTS_NAME_ID_SIZE];

    if (!known)
        known = &nothing;
    clients_name_id(c->of->env->clients, v->name, id);
    jput_open(&c->j, key, '{');
    jput_text(&c->j, "id", id);
    jput_text(&c->j, "name", v->name);
    jput_bool(&c->j, "enabled", v->enabled);
    jput_uint(&c->j, "clients", known->clients);
    jput_uint(&c->j, "streams", known->streams);
    jput_uint(&c->j, "send_bytes", known->out);
    jput_uint(&c->j, "recv_bytes", known->in);
    api_kbps(&c->j, known->in_kbps.s30_kbps, known->out_kbps.s30_kbps);
    jput_open(&c->j, "hls", '{');
    jput_bool(&c->j, "enabled", v->hls.enabled);
    if (v->hls.enabled)
        jput_real(&c->j, "fragment", (double)v->hls.fragment / 1e6, 3);
    jput_close(&c->j, '}');
    jput_close(&c->j, '}');
}

static err_t vhosts(struct api_call *c)
{
    const struct conf *conf = c->x->conf; /* referenced: it stays over a yield */
    char id[CLIENTS_NAME_ID_SIZE];
    err_t err = NULL;

    if (!*c->rest) {
        jput_open(&c->j, "vhosts", '[');
        for (size_t i = 0; i < conf->vhost.n && !err; i++) {
            put_vhost(c, NULL, &conf->vhost.v[i]);
            err = api_yield_if_due(c);
        }
        jput_close(&c->j, ']');
        return err;
    }
    for (size_t i = 0; i < conf->vhost.n; i++) {
        clients_name_id(c->of->env->clients, conf->vhost.v[i].name, id);
        if (strcmp(id, c->rest) == 0) {
            put_vhost(c, "vhost", &conf->vhost.v[i]);
            return NULL;
        }
    }
    return api_error(c, API_NO_VHOST);
}

/* ---- streams */

static const struct av_packet *config_of(const struct live_source *src, enum av_kind kind)
{
    const struct av_packet *all[24];
    size_t n = live_source_configs(src, all, sizeof(all) / sizeof(all[0]));

    for (size_t i = 0; i < n; i++) {
        if (all[i]->kind == kind && !all[i]->extra && all[i]->track == 0)
            return all[i];
    }
    return NULL;
}

/* What the configuration tells; nothing that cannot be read. */
static struct av_info info_of(const struct live_source *src, enum av_kind kind)
{
    const struct av_packet *pkt = config_of(src, kind);
    struct av_info info = { .width = 0 };
    err_t err = NULL;

    if (pkt)
        err = av_info_parse(&info, pkt->codec, av_packet_payload(pkt),
                            av_packet_payload_size(pkt));
    if (err)
        info = (struct av_info){ .width = 0 };
    err_free(&err);
    return info;
}

static void put_codecs(struct jput *j, const struct live_source *src,
                       const struct live_source_stat *stat)
{
    struct av_info video = info_of(src, AV_VIDEO), audio = info_of(src, AV_AUDIO);

    if (stat->video == AV_CODEC_NONE) {
        jput_null(j, "video");
    } else {
        jput_open(j, "video", '{');
        jput_text(j, "codec", av_codec_name(stat->video));
        jput_text(j, "profile", video.profile);
        jput_text(j, "level", video.level);
        jput_uint(j, "width", video.width);
        jput_uint(j, "height", video.height);
        jput_close(j, '}');
    }
    if (stat->audio == AV_CODEC_NONE) {
        jput_null(j, "audio");
    } else {
        jput_open(j, "audio", '{');
        jput_text(j, "codec", av_codec_name(stat->audio));
        jput_uint(j, "sample_rate", audio.sample_rate);
        jput_uint(j, "channel", audio.channels);
        jput_text(j, "profile", audio.profile);
        jput_close(j, '}');
    }
}

static void put_publish(struct jput *j, const struct clients_stream *s)
{
    char id[CLIENTS_ID_SIZE];

    jput_open(j, "publish", '{');
    jput_bool(j, "active", s->publisher != NULL);
    if (s->publisher) {
        client_id(s->publisher, id);
        jput_text(j, "cid", id);
    }
    jput_close(j, '}');
}

static void put_stream(struct api_call *c, const char *key, struct live_source *src)
{
    struct clients *r = c->of->env->clients;
    const struct clients_stream *s = clients_stream(r, src);
    struct live_source_stat stat;
    char id[CLIENTS_NAME_ID_SIZE], vhost[CLIENTS_NAME_ID_SIZE], url[NAME_MAX_SIZE];
    struct jput *j = &c->j;

    live_source_stat(src, &stat);
    clients_name_id(r, live_source_name(src), id);
    clients_name_id(r, s->vhost->name, vhost);
    jput_open(j, key, '{');
    jput_text(j, "id", id);
    jput_text(j, "name", s->name);
    jput_text(j, "vhost", vhost);
    jput_text(j, "app", s->app);
    api_put_secret(c, "tcUrl", s->tc_url);
    jput_text(j, "url", clients_url(s->vhost->name, s->app, s->name, url, sizeof(url)));
    jput_int(j, "live_ms", co_wall_ms()); /* the time now: so all who read it expect */
    jput_int(j, "age_ms", us_to_ms(co_clock() - s->began_at));
    jput_uint(j, "clients", s->clients);
    jput_uint(j, "forwards", s->forwards);
    jput_uint(j, "frames", stat.video_packets);
    jput_uint(j, "audio_frames", stat.audio_packets);
    jput_uint(j, "video_frames", stat.video_packets);
    jput_uint(j, "send_bytes", stat.out_bytes);
    jput_uint(j, "recv_bytes", stat.in_bytes);
    api_kbps(j, s->in_kbps.s30_kbps, s->out_kbps.s30_kbps);
    put_publish(j, s);
    put_codecs(j, src, &stat);
    jput_int(j, "key_interval_ms", stat.key_interval / AV_MS(1));
    jput_uint(j, "dropped_packets", stat.dropped);
    jput_uint(j, "queue_packets", stat.log_packets);
    jput_uint(j, "queue_bytes", stat.log_bytes);
    jput_uint(j, "wire_bytes", stat.wire_bytes);
    jput_close(j, '}');
}

/* A source that nobody entered yet, or whose last forward goes, is none to show. */
static bool is_shown(struct api_call *c, struct live_source *src)
{
    return clients_stream(c->of->env->clients, src)->clients > 0;
}

static err_t list_streams(struct api_call *c, struct live_source **all, size_t n)
{
    struct page page = page_of(c);
    size_t total = 0;
    err_t err = NULL;

    jput_open(&c->j, "streams", '[');
    for (size_t i = 0; i < n && !err; i++) {
        if (!is_shown(c, all[i]))
            continue;
        if (total >= page.start && total < page.end)
            put_stream(c, NULL, all[i]);
        total++;
        err = api_yield_if_due(c);
    }
    jput_close(&c->j, ']');
    put_total(c, total);
    return err;
}

static err_t show_stream(struct api_call *c, struct live_source **all, size_t n)
{
    char id[CLIENTS_NAME_ID_SIZE];
    err_t err = NULL;

    for (size_t i = 0; i < n && !err; i++) {
        clients_name_id(c->of->env->clients, live_source_name(all[i]), id);
        if (strcmp(id, c->rest) == 0 && is_shown(c, all[i])) {
            put_stream(c, "stream", all[i]);
            return NULL;
        }
        err = api_yield_if_due(c);
    }
    return err ? err : api_error(c, API_NO_STREAM);
}

static err_t streams(struct api_call *c)
{
    size_t n;
    struct live_source **all = live_registry_all(c->of->env->streams, &n);
    err_t err = *c->rest ? show_stream(c, all, n) : list_streams(c, all, n);

    while (n > 0)
        (void)live_source_unref(all[--n]);
    free(all);
    return err;
}

/* ---- clients */

/* Why a player stalls, if it does. */
static void put_sender(struct jput *j, const struct live_sender *sender)
{
    struct live_sender_stat stat;

    live_sender_stat(sender, &stat);
    jput_text(j, "state", live_sender_state_name(stat.state));
    jput_int(j, "state_ms", us_to_ms(stat.since));
    jput_int(j, "lag_ms", us_to_ms(stat.lag));
    jput_uint(j, "dropped_packets", stat.dropped);
    jput_int(j, "window_full_ms", us_to_ms(stat.window_full));
}

static void put_client(struct api_call *c, const char *key, struct client *client)
{
    struct clients *r = c->of->env->clients;
    const struct clients_stream *s = client->stream;
    char id[CLIENTS_NAME_ID_SIZE], url[NAME_MAX_SIZE];
    struct clients_info info;
    struct jput *j = &c->j;

    client->kind->describe(client, &info);
    jput_open(j, key, '{');
    client_id(client, id);
    jput_text(j, "id", id);
    clients_name_id(r, s->vhost->name, id);
    jput_text(j, "vhost", id);
    clients_name_id(r, live_source_name(s->src), id);
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
    if (info.sender)
        put_sender(j, info.sender);
    jput_close(j, '}');
}

struct listing {
    struct api_call *c;
    struct page page;
    const struct live_source *only; /* clients of this stream; NULL: all */
};

static void list_client(struct client *client, void *arg)
{
    struct listing *l = arg;

    if (client->type == CLIENTS_FORWARD) /* nobody who came to us: see /forwards */
        return;
    if (l->only && client->stream->src != l->only)
        return;
    if (l->page.at >= l->page.start && l->page.at < l->page.end)
        put_client(l->c, NULL, client);
    l->page.at++;
}

/* The stream of that id, with a reference; NULL: there is none. */
static err_t find_stream(struct api_call *c, const char *id, struct live_source **out)
{
    size_t n;
    struct live_source **all = live_registry_all(c->of->env->streams, &n);
    char one[CLIENTS_NAME_ID_SIZE];
    err_t err = NULL;

    *out = NULL;
    for (size_t i = 0; i < n && !*out && !err; i++) {
        clients_name_id(c->of->env->clients, live_source_name(all[i]), one);
        if (strcmp(one, id) == 0)
            *out = live_source_ref(all[i]);
        err = api_yield_if_due(c);
    }
    while (n > 0)
        (void)live_source_unref(all[--n]);
    free(all);
    return err;
}

static err_t list_clients(struct api_call *c)
{
    const struct clients *r = c->of->env->clients;
    struct listing l = { .c = c, .page = page_of(c) };
    struct live_source *only = NULL;
    char id[CLIENTS_NAME_ID_SIZE];
    bool of_one = api_param(c, "stream", id, sizeof(id)), more = true;
    uint64_t at = 0;
    err_t err = of_one ? find_stream(c, id, &only) : NULL;

    l.only = only;
    jput_open(&c->j, "clients", '[');
    while (!err && more && l.page.at < l.page.end && (!of_one || only)) {
        more = clients_walk(r, &at, list_client, &l);
        err = api_yield_if_due(c);
    }
    jput_close(&c->j, ']');
    if (of_one)
        put_total(c, only ? clients_listed(clients_stream(c->of->env->clients, only)) : 0);
    else
        put_total(c, clients_count_all(r));
    (void)live_source_unref(only);
    return err;
}

static err_t clients(struct api_call *c)
{
    struct client *client;

    if (!*c->rest && c->verb != HTTP_VERB_DELETE)
        return list_clients(c);
    client = clients_find(c->of->env->clients, c->rest);
    if (!client)
        return api_error(c, API_NO_CLIENT);
    if (c->verb == HTTP_VERB_DELETE) {
        log_always(LOG_TRACE, "API: kick client %s, %s", c->rest, clients_type_name(client->type));
        client->kind->kick(client);
        return NULL;
    }
    put_client(c, "client", client);
    return NULL;
}

const struct api_row api_rows_live[] = {
    { "vhosts/", "manage all vhosts or specified vhost", API_READ, vhosts, NULL },
    { "streams/", "manage all streams or specified stream", API_READ, streams, NULL },
    { "clients/", "manage all clients or specified client, default query top 10 clients",
      API_READ | 1u << HTTP_VERB_DELETE, clients, NULL },
};
const size_t api_rows_live_n = sizeof(api_rows_live) / sizeof(api_rows_live[0]);
