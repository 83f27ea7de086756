/* SPDX-License-Identifier: MIT */
/* hls_spare.h - buffers of segments that were written, for those to come.
 *
 * A segment's bytes are in memory for as long as it grows and is written, then they are free. To
 * malloc that is a large block, whose pages go back to the system and come again cleared: with many
 * streams that costs more than to make the segments. Buffers that were not needed for a while go.
 */
#ifndef SINK_HLS_SPARE_H
#define SINK_HLS_SPARE_H

#include "base/ref.h"
#include "base/wr.h"
#include "co/co.h"

enum { HLS_SPARES = 128, HLS_SPARE_LEAST = 64 << 10, HLS_SPARE_BYTES = 32 << 20 };
#define HLS_SPARE_TIME CO_SECONDS(10)

struct hls_spare {
    uint8_t *buf;
    size_t cap;
};

struct hls_spares { /* shared by those whose buffers come back */
    struct ref ref;
    struct hls_spare v[HLS_SPARES];
    unsigned n, least; /* least: that were there since the last sweep */
    size_t bytes;      /* of all: HLS_SPARE_BYTES at most */
    struct co_timer sweep;
};

struct hls_spares *hls_spares_new(void);
struct hls_spares *hls_spares_ref(struct hls_spares *p);
struct hls_spares *hls_spares_unref(struct hls_spares *p); /* always NULL; NULL is fine */

/* Room for `size` bytes in an empty writer, from a spare buffer if there is one that fits. */
void hls_spare_take(struct hls_spares *p, struct wr *w, size_t size);
/* Takes over the buffer: keeps or frees it. */
void hls_spare_give(struct hls_spares *p, uint8_t *buf, size_t cap);

#endif
