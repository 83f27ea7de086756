/* SPDX-License-Identifier: MIT */
/* relay.c - the packets of a publisher as they came, for who plays its stream by SRT. */
#include "serve/srt/relay.h"

#include "intake/ts.h"

void srt_relay_begin(struct srt_relay *r, struct srt_peer *p)
{
    const struct session *s = &p->base;

    /* of who is for SRT alone, nothing else is there to be played */
    if (!s->conf->srt_server.relay && s->vhost->srt.srt_to_rtmp)
        return;
    r->stream = srt_stream_get(p->service, s->src);
    r->wire = srt_stream_wire(r->stream);
    p->stream = r->stream;
    srt_wire_relay_begin(r->wire);
}

/* Who took over, and relays already. */
static bool has_successor(const struct srt_peer *p)
{
    const struct srt_peer *other;
    uint32_t at = 0;

    while ((other = datagram_slots_next(&p->service->slots, &at))) {
        if (other != p && other->stream == p->stream && srt_publish_relays(other))
            return true;
    }
    return false;
}

void srt_relay_end(struct srt_relay *r, struct srt_peer *p)
{
    if (!r->wire)
        return;
    if (!has_successor(p))
        srt_wire_relay_end(r->wire);
    r->wire = NULL;
    p->stream = NULL;
    srt_stream_put(r->stream);
}

void srt_relay_put(struct srt_relay *r, const struct ts_intake *intake, const uint8_t *data,
                   size_t size, co_usec now)
{
    uint8_t tables[TS_TABLES_MAX];
    uint64_t key;

    srt_wire_relay_put(r->wire, data, size, now);
    r->bytes += size;
    if (!ts_intake_key(intake, &key) || (r->has_key && key == r->key))
        return;
    r->key = key;
    r->has_key = true;
    srt_wire_relay_key(r->wire, r->bytes - key, tables, ts_intake_tables(intake, tables));
}
