/* SPDX-License-Identifier: MIT */
/* clients_stream.c - streams and vhosts with clients, their ids and bit rates. */
#include "session/clients_impl.h"

#include "base/container_of.h"
#include "base/must.h"
#include "base/text.h"
#include "live/sender.h"
#include "session/env.h"
#include "session/stream_owners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- vhosts */

static struct clients_vhost *vhost_of(struct clients *r, const char *source)
{
    size_t n = strcspn(source, "/");
    struct clients_vhost *v = r->vhosts;

    while (v && (strncmp(v->name, source, n) != 0 || v->name[n]))
        v = v->next;
    if (v)
        return v;
    v = must(calloc(1, sizeof(*v)));
    v->name = must(strndup(source, n));
    kbps_init(&v->in_kbps, 0, co_now());
    kbps_init(&v->out_kbps, 0, co_now());
    v->next = r->vhosts;
    r->vhosts = v;
    return v;
}

void clients_free_vhosts(struct clients *r)
{
    while (r->vhosts) {
        struct clients_vhost *v = r->vhosts;

        r->vhosts = v->next;
        free(v->name);
        free(v);
    }
}

const struct clients_vhost *clients_vhost_find(const struct clients *r, const char *name)
{
    const struct clients_vhost *v = r->vhosts;

    while (v && strcmp(v->name, name) != 0)
        v = v->next;
    return v;
}

/* ---- streams */

/* Adds the source's bytes since the last call to the vhost. */
static void count(struct clients_stream *s, const struct live_source_stat *stat)
{
    s->vhost->in += s->replicas ? 0 : stat->in_bytes - s->in;
    s->vhost->out += clients_stream_out(s, stat) - s->out;
    s->in = stat->in_bytes;
    s->out = clients_stream_out(s, stat);
}

static void stream_free(struct live_user_data *note)
{
    struct clients_stream *s = container_of(note, struct clients_stream, note);
    struct live_source_stat stat;

    live_source_stat(s->src, &stat);
    count(s, &stat);
    s->vhost->streams -= !s->file;
    if (s->replicas) {
        s->vhost->replicas--;
        atomic_fetch_sub_explicit(s->replicas, 1, memory_order_relaxed);
    }
    if (s->owner)
        stream_owners_release(s->workers, s->owner);
    (void)stream_key_unref(s->key);
    free(s->tc_url);
    free(s);
}

struct clients_stream *clients_stream(struct clients *r, struct live_source *src)
{
    struct clients_stream *s = (struct clients_stream *)(void *)live_source_user_data(src);

    if (s)
        return s;
    s = must(calloc(1, sizeof(*s)));
    s->note.free = stream_free;
    s->all = r;
    s->vhost = vhost_of(r, live_source_name(src));
    s->vhost->streams++;
    s->src = src;
    s->began_at = co_now();
    kbps_init(&s->in_kbps, 0, co_now());
    kbps_init(&s->out_kbps, 0, co_now());
    live_source_set_user_data(src, &s->note);
    return s;
}

unsigned clients_stream_total(const struct clients_stream *s)
{
    return s->owner ? stream_owner_clients(s->owner) : s->clients;
}

void clients_stream_is_replica(struct clients_stream *s, atomic_uint *count)
{
    s->replicas = count;
    s->vhost->replicas++;
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

static void set_names(struct clients_stream *s, const struct session_stream *names)
{
    (void)stream_key_unref(s->key);
    free(s->tc_url);
    s->key = session_stream_key(names);
    s->app = s->key->app;
    s->name = s->key->name;
    s->tc_url = must_dup(names->tc_url);
}

/* ---- files */

uint64_t clients_stream_out(const struct clients_stream *s, const struct live_source_stat *stat)
{
    return stat->out_bytes + s->file_out;
}

void clients_stream_sent(struct client *c, uint64_t bytes)
{
    c->stream->file_out += bytes;
    if (!c->stream->knows)
        c->stream->knows = c;
}

bool clients_stream_file(const struct clients_stream *s, struct live_feed_info *out)
{
    struct clients_info info;

    if (!s->knows)
        return false;
    s->knows->kind->describe(s->knows, &info);
    return info.sender && live_sender_feed_info(info.sender, out);
}

/* Marks the stream as a file instead of a live stream without a publisher. */
static void is_file(struct clients_stream *s)
{
    s->vhost->streams -= !s->file;
    s->file = true;
}

int clients_stream_kbps(const struct clients_stream *s)
{
    if (s->file)
        return s->file_kbps;
    return s->in_kbps.s30_kbps > 0 ? s->in_kbps.s30_kbps : 0;
}

static int64_t players(const struct clients_stream *s)
{
    return (int64_t)s->clients - (s->publisher != NULL);
}

static void count_client(struct clients_stream *s, int by)
{
    s->clients += (unsigned)by;
    s->vhost->clients += (unsigned)by;
    if (s->owner)
        stream_owner_count(s->owner, by);
}

void clients_stream_wait(struct client *c, const struct session_stream *names)
{
    c->stream->waiting++;
    if (clients_type_is_file(c->type))
        is_file(c->stream);
    if (!c->stream->tc_url && c->type != CLIENTS_FORWARD)
        set_names(c->stream, names);
}

void clients_stream_enter(struct client *c, const struct session_stream *names)
{
    struct clients_stream *s = c->stream;
    bool publishes = clients_type_publishes(c->type);

    s->waiting--;
    if (c->type == CLIENTS_FORWARD) {
        s->forwards++;
        return;
    }
    count_client(s, 1);
    if (s->file && !publishes && !s->knows)
        s->knows = c;
    if (publishes) {
        set_names(s, names);
        s->publisher = c;
    } else {
        s->vhost->wanted_kbps += clients_stream_kbps(s);
    }
}

void clients_stream_leave(struct client *c)
{
    struct clients_stream *s = c->stream;

    if (!c->admitted) {
        s->waiting--;
        return;
    }
    if (c->type == CLIENTS_FORWARD) {
        s->forwards--;
        return;
    }
    count_client(s, -1);
    if (s->knows == c)
        s->knows = NULL;
    if (s->publisher == c)
        s->publisher = NULL;
    else if (!clients_type_publishes(c->type))
        s->vhost->wanted_kbps -= clients_stream_kbps(s);
}

/* ---- names */

void clients_name_id(const struct clients *r, const char *name, char out[CLIENTS_NAME_ID_SIZE])
{
    static const char set36[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint64_t h = text_hash_more(TEXT_HASH_BEGIN, r->server_id, strlen(r->server_id) + 1);

    h = text_hash_more(h, name, strlen(name));
    h ^= h >> 32;
    memcpy(out, "vid-", 4);
    for (int i = 4; i < CLIENTS_NAME_ID_SIZE - 1; i++, h /= 36)
        out[i] = set36[h % 36];
    out[CLIENTS_NAME_ID_SIZE - 1] = '\0';
}

const char *clients_url(const char *vhost, const char *app, const char *stream, char *buf,
                        size_t size)
{
    bool named = strcmp(vhost, "__defaultVhost__") != 0;

    (void)snprintf(buf, size, "%s/%s/%s", named ? vhost : "", app, stream);
    return buf;
}

/* ---- bit rates */

static void sample_stream(struct clients_stream *s)
{
    struct live_source_stat stat;
    struct live_feed_info file;

    live_source_stat(s->src, &stat);
    count(s, &stat);
    if (clients_stream_file(s, &file))
        s->file_kbps = (int)file.kbps;
    kbps_sample(&s->in_kbps, s->in, co_now());
    kbps_sample(&s->out_kbps, s->out, co_now());
    s->vhost->wanted_sum += players(s) * clients_stream_kbps(s);
    s->vhost->publishing_sum += s->publisher != NULL;
}

void clients_vhost_expect(struct clients *r, const char *name)
{
    for (struct clients_vhost *v = r->vhosts; v; v = v->next)
        v->fresh += strcmp(v->name, name) == 0;
}

void clients_sample(struct clients *r)
{
    size_t n;
    struct live_source **all = live_registry_all(r->streams, &n);

    for (size_t i = 0; i < n; i++) {
        sample_stream(clients_stream(r, all[i]));
        (void)live_source_unref(all[i]);
        co_yield_if_due();
    }
    free(all);
    for (struct clients_vhost *v = r->vhosts; v; v = v->next) {
        v->wanted_kbps = v->wanted_sum;
        v->wanted_sum = 0;
        v->publishing = v->publishing_sum;
        v->publishing_sum = v->fresh = 0;
        kbps_sample(&v->in_kbps, v->in, co_now());
        kbps_sample(&v->out_kbps, v->out, co_now());
    }
}
