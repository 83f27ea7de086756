/* SPDX-License-Identifier: MIT */
/* tables.c - the tables PAT and PMT, [TS] 2.4.4. */
#include "base/be.h"
#include "format/ts/codecs.h"
#include "format/ts/pes.h"

#include <string.h>

enum { PAT = 0, PMT = 2, PROGRAM = 1, TRANSPORT = 1 };

uint32_t ts_crc32(const uint8_t *data, size_t size)
{
    uint32_t crc = 0xffffffff;

    for (size_t i = 0; i < size; i++) {
        crc ^= (uint32_t)data[i] << 24;
        for (int k = 0; k < 8; k++)
            crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7 : 0);
    }
    return crc;
}

/* Writes a section in one packet; `body` is the part between the section's header and its CRC. */
static void section(uint8_t *packet, uint16_t pid, uint8_t table, uint16_t id, uint8_t version,
                    const uint8_t *body, size_t n)
{
    uint8_t *s = packet + 5;
    uint32_t crc;

    memset(packet, 0xff, TS_PACKET);
    packet[0] = 0x47;
    packet[1] = (uint8_t)(0x40 | pid >> 8);
    packet[2] = (uint8_t)pid;
    packet[3] = 0x10;
    packet[4] = 0; /* pointer_field */
    s[0] = table;
    (void)be_put16(s + 1, (uint32_t)(0xb000 | (5 + n + 4)));
    (void)be_put16(s + 3, id);
    s[5] = (uint8_t)(0xc1 | version << 1); /* current_next_indicator */
    s[6] = s[7] = 0;                       /* section 0 of 0 */
    memcpy(s + 8, body, n);
    crc = ts_crc32(s, 8 + n);
    (void)be_put32(s + 8 + n, crc);
}

static size_t elementary(uint8_t *out, const struct ts_mux *m, const struct ts_track *t)
{
    const struct ts_codec *c = ts_codec(t->codec);
    uint8_t info[TS_DESCRIPTORS_MAX];
    size_t n;

    if (!c)
        return 0;
    n = c->descriptors ? c->descriptors(m, info) : 0;
    out[0] = t->type;
    (void)be_put16(out + 1, 0xe000 | t->pid);
    (void)be_put16(out + 3, (uint32_t)(0xf000 | n));
    memcpy(out + 5, info, n);
    return 5 + n;
}

void ts_tables_build(struct ts_mux *m)
{
    uint8_t pat[4], pmt[64];
    size_t n;

    (void)be_put16(be_put16(pat, PROGRAM), 0xe000 | TS_PID_PMT);
    (void)be_put16(pmt, 0xe000 | (m->video.codec ? m->video.pid : m->audio.pid)); /* PCR_PID */
    (void)be_put16(pmt + 2, 0xf000); /* no descriptors of the program */
    n = 4 + elementary(pmt + 4, m, &m->video);
    n += elementary(pmt + n, m, &m->audio);
    section(m->tables, 0, PAT, TRANSPORT, 0, pat, sizeof(pat));
    section(m->tables + TS_PACKET, TS_PID_PMT, PMT, PROGRAM, m->version & 0x1f, pmt, n);
    m->version++;
    m->tables_due = true;
}
