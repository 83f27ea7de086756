/* SPDX-License-Identifier: MIT */
/* pes.h - TS packets of tables and PES. Private to format/ts. */
#ifndef FORMAT_TS_PES_H
#define FORMAT_TS_PES_H

#include "format/ts/mux.h"

/* Writes one PES packet with `size` bytes of payload in pieces: begin, then put until all bytes
 * are written. */
struct ts_pes {
    struct ts_track *track;
    struct wr *out;
    size_t left;         /* bytes still to write, header included */
    uint8_t *packet;     /* unfinished packet, in the buffer of `out`; NULL: none */
    unsigned at;         /* write offset in packet; 0: no packet is open */
    bool first, key;
    int64_t pcr;         /* < 0: none */
};

void ts_pes_begin(struct ts_pes *p, struct ts_track *t, struct wr *out, size_t size, int64_t pts,
                  int64_t dts, int64_t pcr, bool key);
void ts_pes_put(struct ts_pes *p, const void *data, size_t size);

/* Writes a packet that carries only a clock reference. */
void ts_pcr_packet(const struct ts_track *t, int64_t pcr, struct wr *out);

/* Rebuilds PAT and PMT. */
void ts_tables_build(struct ts_mux *m);

uint32_t ts_crc32(const uint8_t *data, size_t size); /* [TS] annex A */

#endif
