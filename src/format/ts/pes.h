/* SPDX-License-Identifier: MIT */
/* pes.h - TS packets: tables and PES; for the files of format/ts* alone. */
#ifndef FORMAT_TS_PES_H
#define FORMAT_TS_PES_H

#include "format/ts/mux.h"

/* Write one PES packet of `size` bytes after its header in pieces: begin, put..., and when all
 * are put it is complete. */
struct ts_pes {
    struct ts_track *track;
    struct wr *out;
    size_t left;         /* bytes that are still to be put, header included */
    uint8_t *packet;     /* that grows, in the room of `out`; NULL: there is none */
    unsigned at;         /* in packet; 0: none is begun */
    bool first, key;
    int64_t pcr;         /* < 0: none */
};

void ts_pes_begin(struct ts_pes *p, struct ts_track *t, struct wr *out, size_t size, int64_t pts,
                  int64_t dts, int64_t pcr, bool key);
void ts_pes_put(struct ts_pes *p, const void *data, size_t size);

/* A packet that has a clock reference and nothing else. */
void ts_pcr_packet(const struct ts_track *t, int64_t pcr, struct wr *out);

/* Make PAT and PMT anew. */
void ts_tables_build(struct ts_mux *m);

uint32_t ts_crc32(const uint8_t *data, size_t size); /* [TS] annex A */

#endif
