/* SPDX-License-Identifier: MIT */
/* live.c - vhosts and streams in the API. */
#include "app/api/api.h"
#include "app/api/collect.h"
#include "app/api/order.h"
#include "base/must.h"
#include "base/text.h"
#include "live/feed.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_SIZE = 4096 };

#define DEFAULT_VHOST "__defaultVhost__"

static void put_total(struct api_call *c, size_t total)
{
    jput_uint(&c->j, "total", total);
}

/* ---- vhosts */

enum { VHOSTS = 32 }; /* vhosts per query to the workers */

struct vhost_sum {
    unsigned clients, streams;
    uint64_t in, out;
    int in_kbps, out_kbps;
};

struct vhosts_asked {
    const struct conf_vhost *v;
    size_t n;
    struct vhost_sum sums[VHOSTS];
};

static void add_vhosts(struct session_env *env, void *arg)
{
    struct vhosts_asked *asked = arg;

    for (size_t i = 0; i < asked->n; i++) {
        const struct clients_vhost *v = clients_vhost_find(env->clients, asked->v[i].name);
        struct vhost_sum *sum = &asked->sums[i];

        if (!v)
            continue;
        sum->clients += v->clients;
        sum->streams += v->streams - v->replicas; /* a stream on several workers counts once */
        sum->in += v->in;
        sum->out += v->out;
        sum->in_kbps += v->in_kbps.s30_kbps;
        sum->out_kbps += v->out_kbps.s30_kbps;
    }
}

static void put_vhost(struct api_call *c, const char *key, const struct conf_vhost *v,
                      const struct vhost_sum *sum)
{
    char id[CLIENTS_NAME_ID_SIZE];

    clients_name_id(c->of->env->clients, v->name, id);
    jput_open(&c->j, key, '{');
    jput_text(&c->j, "id", id);
    jput_text(&c->j, "name", v->name);
    jput_bool(&c->j, "enabled", v->enabled);
    jput_uint(&c->j, "clients", sum->clients);
    jput_uint(&c->j, "streams", sum->streams);
    jput_uint(&c->j, "send_bytes", sum->out);
    jput_uint(&c->j, "recv_bytes", sum->in);
    api_kbps(&c->j, sum->in_kbps, sum->out_kbps);
    jput_open(&c->j, "hls", '{');
    jput_bool(&c->j, "enabled", v->hls.enabled);
    if (v->hls.enabled)
        jput_real(&c->j, "fragment", (double)v->hls.fragment / 1e6, 3);
    jput_close(&c->j, '}');
    jput_close(&c->j, '}');
}

/* Writes n consecutive vhosts of the configuration. */
static err_t put_vhosts(struct api_call *c, const char *key, const struct conf_vhost *v, size_t n)
{
    err_t err = NULL;

    for (size_t at = 0; at < n && !err; at += VHOSTS) {
        struct vhosts_asked asked = { .v = v + at, .n = n - at < VHOSTS ? n - at : VHOSTS };

        workers_each(c->of->env, add_vhosts, &asked);
        for (size_t i = 0; i < asked.n && !err; i++) {
            put_vhost(c, key, &asked.v[i], &asked.sums[i]);
            err = api_yield_if_due(c);
        }
    }
    return err;
}

static err_t vhosts(struct api_call *c)
{
    const struct conf *conf = c->x->conf; /* has a reference, so it stays valid over a yield */
    char id[CLIENTS_NAME_ID_SIZE];
    err_t err;

    if (!*c->rest) {
        jput_open(&c->j, "vhosts", '[');
        err = put_vhosts(c, NULL, conf->vhost.v, conf->vhost.n);
        jput_close(&c->j, ']');
        return err;
    }
    for (size_t i = 0; i < conf->vhost.n; i++) {
        clients_name_id(c->of->env->clients, conf->vhost.v[i].name, id);
        if (strcmp(id, c->rest) == 0)
            return put_vhosts(c, "vhost", &conf->vhost.v[i], 1);
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

/* Parses a codec configuration; returns zeros if it is invalid. */
static struct av_info parsed(enum av_codec codec, const uint8_t *config, size_t size)
{
    struct av_info info = { .width = 0 };
    err_t err = NULL;

    if (size > 0)
        err = av_info_parse(&info, codec, config, size);
    if (err)
        info = (struct av_info){ .width = 0 };
    err_free(&err);
    return info;
}

static struct av_info info_of(const struct live_source *src, enum av_kind kind)
{
    const struct av_packet *pkt = config_of(src, kind);

    return pkt ? parsed(pkt->codec, av_packet_payload(pkt), av_packet_payload_size(pkt))
               : (struct av_info){ .width = 0 };
}

static void put_video(struct jput *j, enum av_codec codec, const struct av_info *info)
{
    if (codec == AV_CODEC_NONE) {
        jput_null(j, "video");
        return;
    }
    jput_open(j, "video", '{');
    jput_text(j, "codec", av_codec_name(codec));
    jput_text(j, "profile", info->profile);
    jput_text(j, "level", info->level);
    jput_uint(j, "width", info->width);
    jput_uint(j, "height", info->height);
    jput_close(j, '}');
}

static void put_audio(struct jput *j, enum av_codec codec, const struct av_info *info)
{
    if (codec == AV_CODEC_NONE) {
        jput_null(j, "audio");
        return;
    }
    jput_open(j, "audio", '{');
    jput_text(j, "codec", av_codec_name(codec));
    jput_uint(j, "sample_rate", info->sample_rate);
    jput_uint(j, "channel", info->channels);
    jput_text(j, "profile", info->profile);
    jput_close(j, '}');
}

static void put_codecs(struct jput *j, const struct live_source *src,
                       const struct live_source_stat *stat)
{
    struct av_info video = info_of(src, AV_VIDEO), audio = info_of(src, AV_AUDIO);

    put_video(j, stat->video, &video);
    put_audio(j, stat->audio, &audio);
}

/* Writes the tracks and other facts of a file. */
static void put_file(struct jput *j, const struct clients_stream *s)
{
    struct live_feed_info info;
    struct av_info of[LIVE_FEED_TRACKS];

    if (!clients_stream_file(s, &info)) /* its last player has just left */
        info = (struct live_feed_info){ .name = s->name };
    for (int i = 0; i < LIVE_FEED_TRACKS; i++) {
        const struct live_feed_track *t = &info.tracks[i];

        of[i] = parsed(t->codec, t->config, t->config_size);
    }
    put_video(j, info.tracks[LIVE_FEED_VIDEO].codec, &of[LIVE_FEED_VIDEO]);
    put_audio(j, info.tracks[LIVE_FEED_AUDIO].codec, &of[LIVE_FEED_AUDIO]);
    jput_open(j, "vod", '{');
    jput_text(j, "file", info.name);
    jput_real(j, "duration", (double)info.duration / 1e6, 3);
    jput_uint(j, "kbps", info.kbps);
    jput_close(j, '}');
}

static void put_publish(struct jput *j, const struct clients_stream *s)
{
    char id[CLIENTS_ID_SIZE];

    jput_open(j, "publish", '{');
    jput_bool(j, "active", s->publisher != NULL);
    if (s->publisher) {
        client_id(s->publisher, id);
        jput_text(j, "cid", id);
        jput_text(j, "type", clients_type_name(s->publisher->type));
    }
    jput_close(j, '}');
}

/* Writes a stream on its owner worker's thread, with the sums of the other workers. */
static void put_stream(struct api_call *c, const char *key, const struct clients_stream *s,
                       const struct collect_more *more)
{
    char id[CLIENTS_NAME_ID_SIZE], vhost[CLIENTS_NAME_ID_SIZE], url[NAME_MAX_SIZE];
    struct live_source_stat stat;
    struct jput *j = &c->j;

    live_source_stat(s->src, &stat);
    clients_name_id(s->all, live_source_name(s->src), id);
    clients_name_id(s->all, s->vhost->name, vhost);
    jput_open(j, key, '{');
    jput_text(j, "id", id);
    jput_text(j, "name", s->name);
    jput_text(j, "vhost", vhost);
    jput_text(j, "app", s->app);
    api_put_secret(c, "tcUrl", s->tc_url);
    jput_text(j, "url", clients_url(s->vhost->name, s->app, s->name, url, sizeof(url)));
    jput_int(j, "live_ms", co_wall_ms()); /* the current time, as in SRS */
    jput_int(j, "age_ms", us_to_ms(co_clock() - s->began_at));
    jput_uint(j, "clients", s->clients + more->clients);
    jput_uint(j, "forwards", s->forwards + more->forwards);
    jput_uint(j, "frames", stat.video_packets);
    jput_uint(j, "audio_frames", stat.audio_packets);
    jput_uint(j, "video_frames", stat.video_packets);
    jput_uint(j, "send_bytes", clients_stream_out(s, &stat) + more->out_bytes);
    jput_uint(j, "recv_bytes", stat.in_bytes);
    api_kbps(j, s->in_kbps.s30_kbps, s->out_kbps.s30_kbps + more->out_kbps);
    put_publish(j, s);
    if (s->file)
        put_file(j, s);
    else
        put_codecs(j, s->src, &stat);
    if (workers_count(c->of->env) > 1)
        jput_uint(j, "replicas", more->replicas);
    jput_int(j, "key_interval_ms", stat.key_interval / AV_MS(1));
    jput_uint(j, "dropped_packets", stat.dropped + more->dropped);
    jput_uint(j, "queue_packets", stat.log_packets);
    jput_uint(j, "queue_bytes", stat.log_bytes);
    jput_uint(j, "wire_bytes", stat.wire_bytes);
    jput_close(j, '}');
}

/* A range of the rows, worker by worker. */
struct visit {
    struct api_call *c;
    const char *key;
    struct collect_row **rows;
    size_t n, put;
};

/* Writes the next rows of this worker until the buffer is full. */
static void put_some(struct session_env *env, void *arg)
{
    struct visit *v = arg;

    while (v->n > 0 && v->rows[0]->worker == env->worker && !api_is_full(v->c)) {
        struct live_source *src = live_registry_find(env->streams, v->rows[0]->name);
        const struct clients_stream *s = src ? clients_stream(env->clients, src) : NULL;

        if (s && s->key && s->clients + v->rows[0]->more.clients > 0) { /* it may have ended */
            put_stream(v->c, v->key, s, &v->rows[0]->more);
            v->put++;
        }
        v->rows++;
        v->n--;
        co_yield_if_due();
    }
}

static err_t put_rows(struct visit *v)
{
    err_t err = NULL;

    while (v->n > 0 && !err) {
        workers_call(v->c->of->env, v->rows[0]->worker, put_some, v);
        err = api_yield_if_due(v->c);
    }
    return err;
}

/* Values of ?sort=. */
enum { BY_NAME, BY_CLIENTS, BY_IN, BY_OUT, BY_ALL };
static const char *const orders[BY_ALL] = {
    [BY_NAME] = "name", [BY_CLIENTS] = "clients", [BY_IN] = "in", [BY_OUT] = "out",
};

static int64_t key_of(const struct collect_row *row, int by)
{
    switch (by) {
    case BY_CLIENTS: return row->clients + row->more.clients;
    case BY_IN: return row->in_kbps;
    case BY_OUT: return (int64_t)row->out_kbps + row->more.out_kbps;
    default: return 0;
    }
}

static bool is_wanted(const struct order *o, const struct collect_row *row)
{
    bool plain = row->vhost_n == strlen(DEFAULT_VHOST) &&
                 strncmp(row->name, DEFAULT_VHOST, row->vhost_n) == 0;
    const char *name = row->name + (plain ? row->vhost_n + 1 : 0);

    return order_finds(o, &name, 1);
}

/* Selects and sorts the rows by the query. Files stay last. */
static void arrange(struct collect *g, struct order *o)
{
    struct collect_row **rows;
    size_t found = 0;

    o->by_text = o->by == BY_NAME;
    for (size_t i = 0; i < g->n; i++) {
        const struct collect_row *row = g->shown[i];

        co_yield_if_due();
        if (!is_wanted(o, row))
            continue;
        found++;
        order_add(o, &(struct order_row){ .key = key_of(row, o->by), .id = i, .group = row->file,
                                          .text = o->by < 0 ? NULL : row->name });
    }
    order_end(o);
    rows = must(calloc(o->n + 1, sizeof(rows[0])));
    for (size_t i = 0; i < o->n; i++)
        rows[i] = g->shown[o->v[i].id];
    free(g->shown);
    g->shown = rows;
    g->n = found; /* rows after the page are only counted */
}

static err_t list_streams(struct api_call *c, struct collect *g)
{
    struct api_page page = api_page_of(c);
    struct visit v = { .c = c };
    struct order o;
    size_t end;
    err_t err;

    order_begin(&o, c, orders, BY_ALL, page.end);
    if (o.by >= 0 || o.find[0])
        arrange(g, &o);
    order_free(&o);
    end = page.end < g->n ? page.end : g->n;
    v.rows = g->shown + (page.start < end ? page.start : end);
    v.n = page.start < end ? end - page.start : 0;
    jput_open(&c->j, "streams", '[');
    err = put_rows(&v);
    jput_close(&c->j, ']');
    put_total(c, g->n);
    return err;
}

static err_t show_stream(struct api_call *c, const struct collect *g)
{
    char id[CLIENTS_NAME_ID_SIZE];
    err_t err = NULL;

    for (size_t i = 0; i < g->n && !err; i++) {
        clients_name_id(c->of->env->clients, g->shown[i]->name, id);
        if (strcmp(id, c->rest) == 0) {
            struct visit v = { .c = c, .key = "stream", .rows = &g->shown[i], .n = 1 };

            err = put_rows(&v);
            if (err || v.put > 0)
                return err;
        }
        err = api_yield_if_due(c);
    }
    return err ? err : api_error(c, API_NO_STREAM);
}

static err_t streams(struct api_call *c)
{
    struct collect g;
    err_t err;

    collect_streams(&g, c->of->env, false, CO_FOREVER);
    err = *c->rest ? show_stream(c, &g) : list_streams(c, &g);
    collect_free(&g);
    return err;
}

const struct api_row api_rows_live[] = {
    { "vhosts/", "manage all vhosts or specified vhost", API_READ, vhosts, NULL },
    { "streams/", "manage all streams or specified stream", API_READ, streams, NULL },
    { .path = NULL },
};
