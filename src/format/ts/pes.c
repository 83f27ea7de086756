/* SPDX-License-Identifier: MIT */
/* pes.c - divides PES packets into TS packets, [TS] 2.4.3. */
#include "format/ts/pes.h"

#include <string.h>

enum { SYNC = 0x47, ADAPTATION = 0x20, PAYLOAD = 0x10, PES_MAX = 0xffff, PACKET_ROOM = 184 };

static void put_pcr(uint8_t out[6], int64_t pcr)
{
    uint64_t base = (uint64_t)pcr & 0x1ffffffff;

    out[0] = (uint8_t)(base >> 25);
    out[1] = (uint8_t)(base >> 17);
    out[2] = (uint8_t)(base >> 9);
    out[3] = (uint8_t)(base >> 1);
    out[4] = (uint8_t)(base << 7 | 0x7e); /* 6 reserved bits, the extension is 0 */
    out[5] = 0;
}

static void put_time(uint8_t out[5], uint8_t mark, int64_t time)
{
    uint64_t t = (uint64_t)time & 0x1ffffffff;

    out[0] = (uint8_t)(mark << 4 | (t >> 30 & 7) << 1 | 1);
    out[1] = (uint8_t)(t >> 22);
    out[2] = (uint8_t)((t >> 15 & 0x7f) << 1 | 1);
    out[3] = (uint8_t)(t >> 7);
    out[4] = (uint8_t)((t & 0x7f) << 1 | 1);
}

static void packet_head(uint8_t *p, const struct ts_track *t, bool start, uint8_t control)
{
    p[0] = SYNC;
    p[1] = (uint8_t)((start ? 0x40 : 0) | t->pid >> 8);
    p[2] = (uint8_t)t->pid;
    p[3] = (uint8_t)(control | (t->cc & 0x0f));
}

/* [TS] 2.4.3.5: discontinuity, random access, PCR. */
static uint8_t flags_of(const struct ts_track *t, bool key, bool clock)
{
    return (uint8_t)((clock && t->new_clock ? 0x80 : 0) | (key ? 0x40 : 0) | (clock ? 0x10 : 0));
}

/* Starts a packet: header, and adaptation field with the clock, the random access flag and the
 * stuffing after the last bytes of the PES packet. [TS] 2.4.3.4 */
static bool next_packet(struct ts_pes *p)
{
    unsigned field = 0; /* bytes of the adaptation field after its length byte */
    bool has_field = false;

    p->packet = wr_reserve(p->out, TS_PACKET);
    if (!p->packet)
        return false;
    if (p->first && (p->pcr >= 0 || p->key)) {
        has_field = true;
        field = p->pcr >= 0 ? 7 : 1;
    }
    if (p->left < TS_PACKET - 4u - (has_field ? 1 + field : 0)) {
        has_field = true;
        field = (unsigned)(TS_PACKET - 5 - p->left);
    }
    packet_head(p->packet, p->track, p->first,
                (uint8_t)(has_field ? ADAPTATION | PAYLOAD : PAYLOAD));
    p->track->cc = (p->track->cc + 1) & 0x0f;
    p->at = 4;
    if (has_field) {
        memset(p->packet + 4, 0xff, 1 + field);
        p->packet[4] = (uint8_t)field;
        if (field > 0)
            p->packet[5] = p->first ? flags_of(p->track, p->key, p->pcr >= 0) : 0;
        if (p->first && p->pcr >= 0)
            put_pcr(p->packet + 6, p->pcr);
        p->at += 1 + field;
    }
    p->first = false;
    return true;
}

void ts_pes_put(struct ts_pes *p, const void *data, size_t size)
{
    const uint8_t *from = data;

    while (size > 0) {
        size_t n;

        if (p->at == 0 && !next_packet(p))
            return;
        n = TS_PACKET - p->at < size ? TS_PACKET - p->at : size;
        memcpy(p->packet + p->at, from, n);
        from += n;
        size -= n;
        p->at += (unsigned)n;
        p->left -= n;
        if (p->at == TS_PACKET) {
            p->out->len += TS_PACKET;
            p->at = 0;
        }
    }
}

void ts_pes_begin(struct ts_pes *p, struct ts_track *t, struct wr *out, size_t size, int64_t pts,
                  int64_t dts, int64_t pcr, bool key)
{
    uint8_t head[19] = { 0, 0, 1, t->id };
    bool both = pts != dts;
    unsigned n = both ? 10 : 5;
    size_t total = size + 3 + n;

    p->track = t;
    p->out = out;
    p->at = 0;
    p->first = true;
    p->key = key;
    p->pcr = pcr;
    p->left = size + 9 + n;
    if (!out->more) /* the buffer would be moved repeatedly */
        (void)wr_reserve(out, (p->left / PACKET_ROOM + 2) * TS_PACKET);
    if (total > PES_MAX)
        total = 0; /* [TS] 2.4.3.7: only video may omit the length, and only video is so large */
    head[4] = (uint8_t)(total >> 8);
    head[5] = (uint8_t)total;
    head[6] = 0x84; /* data_alignment_indicator */
    head[7] = both ? 0xc0 : 0x80;
    head[8] = (uint8_t)n;
    put_time(head + 9, both ? 3 : 2, pts);
    if (both)
        put_time(head + 14, 1, dts);
    ts_pes_put(p, head, 9 + n);
}

void ts_pcr_packet(const struct ts_track *t, int64_t pcr, struct wr *out)
{
    uint8_t p[TS_PACKET];
    struct ts_track last = *t;

    last.cc--; /* [TS] 2.4.3.3: the counter stays without a payload */
    memset(p, 0xff, sizeof(p));
    packet_head(p, &last, false, ADAPTATION);
    p[4] = TS_PACKET - 5;
    p[5] = flags_of(t, false, true);
    put_pcr(p + 6, pcr);
    wr_bytes(out, p, sizeof(p));
}
