/* SPDX-License-Identifier: MIT */
/* wire.h - a source's log in one format: bytes in blocks, rendered once for all players.
 *
 * live/ knows no format: a wire is the log plus a render function of an upper layer. It is created
 * with its first consumer and freed with the last. A packet never crosses from one block into the
 * next, so a cursor is a block and an offset. A block is immutable except for appended bytes, and
 * has no pointers inside its bytes.
 */
#ifndef LIVE_WIRE_H
#define LIVE_WIRE_H

#include "base/wr.h"
#include "live/source.h"

enum { LIVE_PARAMS = 3 };

/* A format is one of two kinds. A stateless one returns the size of a packet and writes it (size,
 * render). A stateful one, whose output depends on earlier packets (counters, parameter sets), has
 * its own state and appends to a buffer (open, close, make). A stateful format puts the decoder
 * configuration in front of each key frame, or sends it to each joining player (join). */
struct live_format {
    const char *name; /* "rtmp", "flv" */
    /* Returns the number of bytes that render() will write for the packet; 0 skips it. `dts` is the
     * packet's, or the time of the join for the configuration of a joining player. */
    size_t (*size)(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts);
    /* Writes exactly that many bytes. */
    void (*render)(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts,
                   uint8_t *out);

    /* The source outlives the state. */
    void *(*open)(const uint32_t param[LIVE_PARAMS], const struct live_source *src);
    void (*close)(void *state);
    /* Appends the packet's bytes, or none to skip it. Receives configuration, too. */
    void (*make)(void *state, const struct av_packet *pkt, struct wr *out);
    /* Appends the bytes that a joining player gets before the shared bytes. NULL: none. */
    void (*join)(void *state, struct wr *out);
    /* The output of make() for a key frame belongs to the packets before it, and the frame itself
     * comes with the next packet: players join behind that output. */
    bool behind;
};

#endif
