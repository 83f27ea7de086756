/* SPDX-License-Identifier: MIT */
/* reading.h - reads a stream for wires that make their own packets (RTC, SRT, RTMFP), from
 * publisher to publisher, with the configurations in force first. Nothing here yields. */
#ifndef WIRE_READING_H
#define WIRE_READING_H

#include "live/policy.h"
#include "live/reader.h"

struct wire_reading;

struct wire_reading_ops {
    void (*begin)(struct wire_reading *r); /* packets of another publisher follow */
    void (*end)(struct wire_reading *r);   /* no more packets follow; NULL: nothing to do */
    /* A configuration in force at the next packet; called at the start and after a gap. */
    void (*config)(struct wire_reading *r, const struct av_packet *pkt, co_usec now);
};

struct wire_reading { /* part of the wire: container_of() */
    const struct wire_reading_ops *ops;
    struct live_source *src;   /* with a reference */
    struct live_reader reader; /* its src is NULL while the wire does not read */
    uint64_t dropped;          /* the reader's `dropped` when configurations were last read */
    struct live_consumer wakeup;
    void (*on_packets)(struct wire_reading *r);
    size_t *counter, counted;  /* counter of memory, and the wire's bytes in it */
};

/* Takes a reference to src. counter: where the wire's memory is counted; NULL: not counted. */
void wire_reading_init(struct wire_reading *r, const struct wire_reading_ops *ops,
                       struct live_source *src, size_t *counter);
void wire_reading_fini(struct wire_reading *r);
/* Starts reading at the newest key frame, or stops. */
void wire_reading_set(struct wire_reading *r, bool on);
static inline bool wire_reading_on(const struct wire_reading *r)
{
    return r->reader.src != NULL;
}
/* Returns the next packet, borrowed until the next call or yield; NULL if there is none now. */
const struct av_packet *wire_reading_next(struct wire_reading *r, co_usec now);
/* Calls on_packets(r) once when there is something to read; wire_reading_unpark() cancels it. */
void wire_reading_park(struct wire_reading *r, void (*on_packets)(struct wire_reading *r));
void wire_reading_unpark(struct wire_reading *r);
/* Finds where a player joins a wire with that span: live_policy_join() with the settings of the
 * stream. */
bool wire_reading_join(const struct wire_reading *r, const struct live_span *span, uint64_t *at);
/* Returns the arrival of the packet, never later than now. */
co_usec wire_reading_came(const struct wire_reading *r, const struct av_packet *pkt, co_usec now);
/* Reports the current memory of the wire. */
void wire_reading_count(struct wire_reading *r, size_t bytes);

#endif
