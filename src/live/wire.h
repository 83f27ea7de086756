/* SPDX-License-Identifier: MIT */
/* wire.h - what a format makes of a source's log: bytes in blocks, made once, shared by all.
 *
 * live/ knows no format: a wire is the log plus a render function handed in from above. It is
 * made when its first consumer comes and goes with the last. A packet never crosses from one
 * block into the next, so a cursor is a block and an offset; a block is immutable but for what
 * is appended behind what was there, and free of pointers inside its bytes.
 */
#ifndef LIVE_WIRE_H
#define LIVE_WIRE_H

#include "base/wr.h"
#include "live/source.h"

enum { LIVE_PARAMS = 3 };

/* A format either says how many bytes a packet takes and writes them (size, render), or, if what
 * it writes depends on what came before (counters, parameter sets), remembers in a state of its
 * own and appends to a buffer (open, close, make). Those of the second kind put what a decoder
 * needs in front of each key frame, or give it to each player that joins (join). */
struct live_format {
    const char *name; /* "rtmp", "flv" */
    /* The bytes that render() will write for the packet; 0 leaves it out. `dts` is the packet's,
     * or the join's for configuration that is sent to a player that joins. */
    size_t (*size)(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts);
    /* Write exactly that many bytes. */
    void (*render)(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts,
                   uint8_t *out);

    /* The source outlives the state. */
    void *(*open)(const uint32_t param[LIVE_PARAMS], const struct live_source *src);
    void (*close)(void *state);
    /* Appends the packet's bytes, none to leave it out. Configuration comes here too. */
    void (*make)(void *state, const struct av_packet *pkt, struct wr *out);
    /* Appends what a player that joins is sent before the shared bytes. NULL: nothing. */
    void (*join)(void *state, struct wr *out);
    /* What make() gives for a key frame belongs to the packets before it, and the frame itself
     * comes with the next one: players join behind those bytes. */
    bool behind;
};

#endif
