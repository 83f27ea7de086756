/* SPDX-License-Identifier: MIT */
/* reading.h - how a wire that makes packets of its own (RTC, SRT, RTMFP) reads a stream: from
 * publisher to publisher, with the configurations in force first. Nothing here yields. */
#ifndef WIRE_READING_H
#define WIRE_READING_H

#include "live/policy.h"
#include "live/reader.h"

struct wire_reading;

struct wire_reading_ops {
    void (*begin)(struct wire_reading *r); /* packets of another publisher follow */
    void (*end)(struct wire_reading *r);   /* no more packets follow; NULL: nothing to do */
    /* A configuration in force where the next packet is: at the begin, and after a gap. */
    void (*config)(struct wire_reading *r, const struct av_packet *pkt, co_usec now);
};

struct wire_reading { /* part of the wire: container_of() */
    const struct wire_reading_ops *ops;
    struct live_source *src;   /* with a reference */
    struct live_reader reader; /* its src is NULL while the wire does not read */
    uint64_t dropped;          /* of the reader, when configurations were read last */
    struct live_consumer bell;
    void (*on_packets)(struct wire_reading *r);
    size_t *counter, counted;  /* bytes of the wire, counted elsewhere */
};

/* Takes a reference of src. counter: where the wire's memory is counted; NULL: nowhere. */
void wire_reading_init(struct wire_reading *r, const struct wire_reading_ops *ops,
                       struct live_source *src, size_t *counter);
void wire_reading_fini(struct wire_reading *r);
/* Reads from the newest key frame on, or no longer. */
void wire_reading_set(struct wire_reading *r, bool on);
static inline bool wire_reading_on(const struct wire_reading *r)
{
    return r->reader.src != NULL;
}
/* The next packet, borrowed until the next call or yield; NULL: there is none now. */
const struct av_packet *wire_reading_next(struct wire_reading *r, co_usec now);
/* Calls on_packets(r) once when there is something to read; wire_reading_unpark() cancels it. */
void wire_reading_park(struct wire_reading *r, void (*on_packets)(struct wire_reading *r));
void wire_reading_unpark(struct wire_reading *r);
/* Where a player joins a wire with that span: live_policy_join(), by the settings of the stream. */
bool wire_reading_join(const struct wire_reading *r, const struct live_span *span, uint64_t *at);
/* When that packet came: never later than now. */
co_usec wire_reading_came(const struct wire_reading *r, const struct av_packet *pkt, co_usec now);
/* The wire takes so many bytes of memory now. */
void wire_reading_count(struct wire_reading *r, size_t bytes);

#endif
