/* SPDX-License-Identifier: MIT */
/* roster.c - who is on: clients by id, and totals. */
#include "serve/roster_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS_MIN = 64 };

static const struct {
    const char *name;
    bool publishes;
} types[ROSTER_TYPES] = {
    [ROSTER_RTMP_PLAY] = { "rtmp-play", false },
    [ROSTER_FLV_PLAY] = { "flv-play", false },
    [ROSTER_HLS_PLAY] = { "hls-play", false },
    [ROSTER_DASH_PLAY] = { "dash-play", false },
    [ROSTER_FLASH_PUBLISH] = { "flash-publish", true },
    [ROSTER_FMLE_PUBLISH] = { "fmle-publish", true },
    [ROSTER_HAIVISION_PUBLISH] = { "haivision-publish", true },
    [ROSTER_FORWARD] = { "forward", false },
};

const char *roster_type_name(enum roster_type type)
{
    return types[type].name;
}

bool roster_type_publishes(enum roster_type type)
{
    return types[type].publishes;
}

void *roster_must(void *p)
{
    if (!p)
        abort();
    return p;
}

struct roster *roster_new(struct live_registry *streams, const char *server_id)
{
    struct roster *r = roster_must(calloc(1, sizeof(*r)));

    r->streams = streams;
    r->server_id = roster_must(strdup(server_id));
    r->n_buckets = BUCKETS_MIN;
    r->buckets = roster_must(calloc(r->n_buckets, sizeof(r->buckets[0])));
    return r;
}

void roster_free(struct roster *r)
{
    if (!r)
        return;
    assert(r->count == 0);
    roster_free_vhosts(r);
    free(r->buckets);
    free(r->server_id);
    free(r);
}

/* ---- clients by id */

static uint64_t pack(const char *id)
{
    uint64_t v = 0;

    for (size_t i = 0; i < sizeof(v) && id[i]; i++)
        v |= (uint64_t)(unsigned char)id[i] << 8 * i;
    return v;
}

static size_t bucket_of(const struct roster *r, uint64_t id)
{
    return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (r->n_buckets - 1);
}

static void link_in(struct roster *r, struct roster_client *c)
{
    struct roster_client **head = &r->buckets[bucket_of(r, c->id)];

    c->next = *head;
    *head = c;
}

static void grow(struct roster *r)
{
    struct roster_client **old = r->buckets;
    size_t n = r->n_buckets;

    r->n_buckets *= 2;
    r->buckets = roster_must(calloc(r->n_buckets, sizeof(r->buckets[0])));
    for (size_t i = 0; i < n; i++) {
        while (old[i]) {
            struct roster_client *c = old[i];

            old[i] = c->next;
            link_in(r, c);
        }
    }
    free(old);
}

static void unlink_from(struct roster *r, struct roster_client *c)
{
    struct roster_client **at = &r->buckets[bucket_of(r, c->id)];

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

struct roster_client *roster_find(const struct roster *r, const char *id)
{
    uint64_t packed = pack(id);
    struct roster_client *c;

    if (strlen(id) != sizeof(packed))
        return NULL;
    c = r->buckets[bucket_of(r, packed)];
    while (c && c->id != packed)
        c = c->next;
    return c;
}

void roster_client_id(const struct roster_client *c, char out[ROSTER_ID_SIZE])
{
    for (size_t i = 0; i < sizeof(c->id); i++)
        out[i] = (char)(c->id >> 8 * i & 0xff);
    out[sizeof(c->id)] = '\0';
}

/* The next number when the bits are counted from the highest down: so a table that doubles between
 * two calls has no bucket that is shown twice, for the two halves of one are neighbours. */
static uint64_t next_place(uint64_t at, uint64_t mask)
{
    uint64_t bit = (mask + 1) >> 1;

    while (bit && (at & bit)) {
        at &= ~bit;
        bit >>= 1;
    }
    return at | bit;
}

bool roster_walk(const struct roster *r, uint64_t *at,
                 void (*each)(struct roster_client *c, void *arg), void *arg)
{
    uint64_t mask = r->n_buckets - 1;

    for (struct roster_client *c = r->buckets[*at & mask]; c; c = c->next)
        each(c, arg);
    *at = next_place(*at & mask, mask);
    return *at != 0;
}

/* ---- in and out */

void roster_wait(struct roster *r, struct roster_client *c, const struct roster_kind *kind,
                 enum roster_type type, const char *id, const struct serve_stream *names,
                 struct live_source *src)
{
    if (!r)
        return;
    if (r->count >= r->n_buckets)
        grow(r);
    *c = (struct roster_client){ .id = pack(id ? id : co_cid()), .kind = kind,
                                 .stream = roster_stream(r, src), .type = (uint8_t)type };
    link_in(r, c);
    r->count++;
    roster_stream_wait(c, names);
}

void roster_admit(struct roster_client *c, const struct serve_stream *names)
{
    struct roster_total *t;

    if (!c->stream)
        return;
    t = &c->stream->roster->totals[c->type];
    t->now++;
    t->clients++;
    c->admitted = true;
    roster_stream_enter(c, names);
}

void roster_enter(struct roster *r, struct roster_client *c, const struct roster_kind *kind,
                  enum roster_type type, const char *id, const struct serve_stream *names,
                  struct live_source *src)
{
    roster_wait(r, c, kind, type, id, names, src);
    roster_admit(c, names);
}

void roster_count(struct roster_client *c, uint64_t in, uint64_t out)
{
    struct roster_total *t;

    if (!c->stream || !c->admitted)
        return;
    t = &c->stream->roster->totals[c->type];
    t->in += in - c->in;
    t->out += out - c->out;
    c->in = in;
    c->out = out;
}

static bool is_fault(err_t why)
{
    return why && err_class(why) != ERR_CLASS_PEER && err_class(why) != ERR_CLASS_STOP;
}

void roster_leave(struct roster_client *c, uint64_t in, uint64_t out, err_t why)
{
    struct roster *r;

    if (!c->stream)
        return;
    roster_count(c, in, out);
    r = c->stream->roster;
    unlink_from(r, c);
    r->count--;
    if (c->admitted) {
        r->totals[c->type].now--;
        r->totals[c->type].errors += is_fault(why);
    }
    roster_stream_leave(c);
    *c = (struct roster_client){ 0 };
}

unsigned roster_count_clients(const struct roster *r)
{
    return (unsigned)r->count - r->totals[ROSTER_FORWARD].now;
}

const struct roster_total *roster_total(const struct roster *r, enum roster_type type)
{
    return &r->totals[type];
}
