/* SPDX-License-Identifier: MIT */
/* ts.c - a live stream as MPEG-TS. */
#include "wire/ts.h"

#include "base/must.h"
#include "format/ts/mux.h"

#include <stdlib.h>

#define AUDIO_SPAN AV_MS(40) /* maximum delay of audio to share a packet with later frames */

struct ts_wire_state {
    struct ts_mux mux;
    struct frame_tracks tracks;
};

static void *open_state(const uint32_t param[LIVE_PARAMS], const struct live_source *src)
{
    struct ts_wire_state *s = must(calloc(1, sizeof(*s)));

    (void)param;
    (void)src;
    ts_mux_init(&s->mux);
    s->mux.audio_span = AUDIO_SPAN;
    return s;
}

static void close_state(void *state)
{
    struct ts_wire_state *s = state;

    ts_mux_fini(&s->mux);
    free(s);
}

static void make(void *state, const struct av_packet *pkt, struct wr *out)
{
    struct ts_wire_state *s = state;

    ts_mux_packet(&s->mux, &s->tracks, pkt, out);
}

const struct live_format ts_wire = { .name = "ts", .open = open_state, .close = close_state,
                                     .make = make };
