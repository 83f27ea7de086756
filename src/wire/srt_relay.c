/* SPDX-License-Identifier: MIT */
/* srt_relay.c - relays the packets of an SRT publisher to SRT players, unchanged. */
#include "wire/srt_impl.h"

#include <string.h>

enum { SYNC = 0x47, HAS_FIELD = 0x20, JUMPS = 0x80, HAS_CLOCK = 0x10 };

#define MARK_TIME CO_SECONDS(1) /* how long to mark PIDs: a clock is sent every 100 ms */

/* [TS] 2.4.3.5: sets the discontinuity indicator on the first packet of a PID that can carry it,
 * and on the first one with a clock. */
static void mark(struct srt_wire_marked *t, uint8_t *p)
{
    uint16_t pid = (uint16_t)((p[1] & 0x1f) << 8 | p[2]);
    bool clock = p[5] & HAS_CLOCK;
    unsigned i = 0;

    while (i < t->n && t->v[i].pid != pid)
        i++;
    if (i == SRT_WIRE_PIDS || (i < t->n && (!clock || t->v[i].clock)))
        return;
    if (i == t->n)
        t->v[t->n++].pid = pid;
    t->v[i].clock = clock;
    p[5] |= JUMPS;
}

static void mark_all(struct srt_wire_marked *t, uint8_t *data, size_t size)
{
    for (size_t at = 0; at + TS_PACKET <= size; at += TS_PACKET) {
        uint8_t *p = data + at;

        if (p[0] != SYNC)
            return; /* not aligned to TS packets: sets no indicators */
        if ((p[3] & HAS_FIELD) && p[4] > 0)
            mark(t, p);
    }
}

void srt_wire_relay_put(struct srt_wire *w, const uint8_t *data, size_t size, co_usec now)
{
    uint8_t copy[SRT_PAYLOAD_MAX];

    if (!w->relays || size == 0 || size > sizeof(copy))
        return;
    if (w->marked.on) {
        memcpy(copy, data, size);
        mark_all(&w->marked, copy, size);
        data = copy;
        w->marked.until = w->marked.until ? w->marked.until : now + MARK_TIME;
        w->marked.on = now < w->marked.until;
    }
    srt_wire_put(w, data, size, false, now);
    if (!w->wanted)
        srt_wire_trim(w, now);
}

/* Finds the packet with the byte that is `back` bytes before the end, but not before `from`.
 * Returns false if there is none. */
static bool find(const struct srt_log *l, uint64_t from, uint64_t back, uint64_t *number)
{
    struct srt_log_entry e = { 0 };
    uint64_t bytes = 0;

    for (*number = l->head; bytes < back && *number > from; bytes += e.size)
        (void)srt_log_get(l, --*number, &e);
    return bytes >= back && back > 0;
}

void srt_wire_relay_key(struct srt_wire *w, uint64_t back, const uint8_t *tables, size_t size)
{
    struct srt_log *l = &w->log;
    uint64_t key;

    if (!w->relays || !find(l, w->begin > l->first ? w->begin : l->first, back, &key))
        return;
    srt_log_key(l, key);
    srt_log_lead(l, tables, size);
}
