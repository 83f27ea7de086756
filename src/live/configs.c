/* SPDX-License-Identifier: MIT */
/* configs.c - the decoder configurations and metadata in force. */
#include "live/impl.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

/* Returns the index of the packet's kind and track, c->n if it is new. If the table is full, a new
 * track replaces the last entry. */
static unsigned index_of(const struct live_configs *c, const struct av_packet *pkt)
{
    unsigned i = 0;

    while (i < c->n && (c->v[i]->kind != pkt->kind || c->v[i]->track != pkt->track ||
                        c->v[i]->origin != pkt->origin || c->v[i]->extra != pkt->extra))
        i++;
    return i < LIVE_CONFIGS ? i : LIVE_CONFIGS - 1;
}

const struct av_packet *live_configs_before(const struct live_configs *c,
                                            const struct av_packet *pkt)
{
    unsigned i = pkt->config ? index_of(c, pkt) : c->n;

    return i < c->n ? c->v[i] : NULL;
}

/* Replaces the configuration of the packet's kind and track. Returns false, without replacing it,
 * if `keep_same` and the packet has the same bytes. */
bool live_configs_set(struct live_configs *c, const struct av_packet *pkt, bool keep_same)
{
    unsigned i = index_of(c, pkt);

    if (i < c->n && keep_same && c->v[i]->size == pkt->size && c->v[i]->track == pkt->track &&
        c->v[i]->kind == pkt->kind && c->v[i]->extra == pkt->extra &&
        memcmp(c->v[i]->data, pkt->data, pkt->size) == 0)
        return false;
    if (i < c->n)
        (void)av_packet_unref(c->v[i]);
    else
        c->n++;
    c->v[i] = av_packet_ref(pkt);
    return true;
}

void live_configs_clear(struct live_configs *c)
{
    for (unsigned i = 0; i < c->n; i++)
        (void)av_packet_unref(c->v[i]);
    c->n = 0;
}

struct live_configs *live_configs_snapshot(const struct live_configs *from)
{
    struct live_configs *c = must(malloc(sizeof(*c)));

    ref_init(&c->ref);
    for (unsigned i = 0; i < from->n; i++)
        c->v[i] = av_packet_ref(from->v[i]);
    c->n = from->n;
    return c;
}

struct live_configs *live_configs_ref(struct live_configs *c)
{
    ref_get(&c->ref);
    return c;
}

struct live_configs *live_configs_unref(struct live_configs *c)
{
    if (c && ref_put(&c->ref)) {
        live_configs_clear(c);
        free(c);
    }
    return NULL;
}
