/* SPDX-License-Identifier: MIT */
/* clients.c - connected clients by id, and totals. */
#include "base/container_of.h"
#include "base/must.h"
#include "session/clients_impl.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *text;
    unsigned flags;
} types[CLIENTS_TYPES] = {
#define XX(ID, name, text, flags) [CLIENTS_##ID] = { name, text, flags },
    PROTOCOL_CLIENT_LIST(XX)
#undef XX
};

const char *clients_type_name(enum clients_type type)
{
    return types[type].name;
}

const char *clients_type_text(enum clients_type type)
{
    return types[type].text;
}

bool clients_type_publishes(enum clients_type type)
{
    return types[type].flags & CLIENTS_PUBLISHES;
}

bool clients_type_is_file(enum clients_type type)
{
    return types[type].flags & CLIENTS_FILE;
}

const char *clients_transport_name(enum clients_transport way)
{
    static const char *const names[CLIENTS_TRANSPORTS] = {
        [CLIENTS_TRANSPORT_NONE] = "",         [CLIENTS_TRANSPORT_TCP] = "tcp",
        [CLIENTS_TRANSPORT_UDP] = "udp",       [CLIENTS_TRANSPORT_MULTICAST] = "multicast",
        [CLIENTS_TRANSPORT_TUNNEL] = "tunnel",
    };

    return names[way];
}

struct clients *clients_new(struct live_registry *streams, const char *server_id)
{
    struct clients *r = must(calloc(1, sizeof(*r)));

    r->streams = streams;
    r->server_id = must(strdup(server_id));
    return r;
}

void clients_free(struct clients *r)
{
    if (!r)
        return;
    assert(r->clients.n == 0);
    clients_free_vhosts(r);
    table_free(&r->clients);
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

struct client *clients_find(const struct clients *r, const char *id)
{
    uint64_t packed = pack(id);
    struct table_link *l =
        strlen(id) == sizeof(packed) ? table_find(&r->clients, packed, NULL) : NULL;

    return l ? container_of(l, struct client, link) : NULL;
}

void client_id(const struct client *c, char out[CLIENTS_ID_SIZE])
{
    for (size_t i = 0; i < sizeof(c->link.hash); i++)
        out[i] = (char)(c->link.hash >> 8 * i & 0xff);
    out[sizeof(c->link.hash)] = '\0';
}

/* Increments a number with its bits reversed. If the table doubles between two calls, the halves of
 * a bucket are neighbours in this order, so no bucket is visited twice. */
static uint64_t next_bucket(uint64_t at, uint64_t mask)
{
    uint64_t bit = (mask + 1) >> 1;

    while (bit && (at & bit)) {
        at &= ~bit;
        bit >>= 1;
    }
    return at | bit;
}

bool clients_walk(const struct clients *r, uint64_t *at,
                  void (*each)(struct client *c, void *arg), void *arg)
{
    uint64_t mask = r->clients.mask;

    for (struct table_link *l = r->clients.v ? r->clients.v[*at & mask] : NULL; l; l = l->next)
        each(container_of(l, struct client, link), arg);
    *at = next_bucket(*at & mask, mask);
    return *at != 0;
}

/* ---- enter and leave */

void clients_wait(struct clients *r, struct client *c, const struct clients_kind *kind,
                  enum clients_type type, const char *id, const struct session_stream *names,
                  struct live_source *src)
{
    if (!r)
        return;
    *c = (struct client){ .kind = kind, .stream = clients_stream(r, src), .type = (uint8_t)type };
    table_put(&r->clients, &c->link, pack(id ? id : co_cid()));
    clients_stream_wait(c, names);
}

void clients_admit(struct client *c, const struct session_stream *names)
{
    struct clients_total *t;

    if (!c->stream)
        return;
    t = &c->stream->all->totals[c->type];
    t->now++;
    t->clients++;
    c->admitted = true;
    clients_stream_enter(c, names);
}

void clients_count(struct client *c, uint64_t in, uint64_t out)
{
    struct clients_total *t;

    if (!c->stream || !c->admitted)
        return;
    t = &c->stream->all->totals[c->type];
    t->in += in - c->in;
    t->out += out - c->out;
    if (clients_type_is_file(c->type))
        clients_stream_sent(c, out - c->out);
    c->in = in;
    c->out = out;
}

/* The loss reported by a player may decrease when packets arrive late; the total does not. */
void clients_rtp(struct client *c, const struct clients_rtp *rtp)
{
    uint32_t jitter = rtp->jitter < 0 ? 0 : rtp->jitter > UINT32_MAX ? UINT32_MAX
                                                                     : (uint32_t)rtp->jitter;
    struct clients_total *t;

    if (!c->stream || !c->admitted)
        return;
    t = &c->stream->all->totals[c->type];
    if (c->way)
        t->ways[c->way]--;
    if (rtp->way)
        t->ways[rtp->way]++;
    t->lost += rtp->lost > c->lost ? rtp->lost - c->lost : 0;
    t->jitter += (uint64_t)jitter - c->jitter;
    t->jitters += (uint64_t)(jitter > 0) - (c->jitter > 0);
    c->way = (uint8_t)rtp->way;
    c->lost = rtp->lost;
    c->jitter = jitter;
}

static bool is_fault(err_t why)
{
    return why && err_class(why) != ERR_CLASS_PEER && err_class(why) != ERR_CLASS_STOP;
}

void clients_leave(struct client *c, uint64_t in, uint64_t out, err_t why)
{
    struct clients *r;

    if (!c->stream)
        return;
    clients_count(c, in, out);
    clients_rtp(c, &(struct clients_rtp){ .way = CLIENTS_TRANSPORT_NONE });
    r = c->stream->all;
    (void)table_remove(&r->clients, &c->link);
    if (c->admitted) {
        r->totals[c->type].now--;
        r->totals[c->type].errors += is_fault(why);
    }
    clients_stream_leave(c);
    *c = (struct client){ 0 };
}

unsigned clients_count_all(const struct clients *r)
{
    return (unsigned)(r->clients.n - r->totals[CLIENTS_FORWARD].now);
}

const struct clients_total *clients_total(const struct clients *r, enum clients_type type)
{
    return &r->totals[type];
}
