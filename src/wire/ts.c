/* SPDX-License-Identifier: MIT */
/* ts.c - a live stream as MPEG-TS. */
#include "wire/ts.h"

#include "base/must.h"
#include "format/ts/mux.h"

#include <stdlib.h>

#define AUDIO_SPAN AV_MS(40) /* so late may sound be for sharing a packet with what comes */

struct ts_wire_state {
    struct ts_mux mux;
    bool has_track[2];
    uint16_t track[2]; /* of video and audio: the first that is seen */
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

static bool is_ours(struct ts_wire_state *s, const struct frame *f)
{
    int k = f->kind == AV_VIDEO ? 0 : 1;

    if (!s->has_track[k])
        s->track[k] = f->track;
    s->has_track[k] = true;
    return f->track == s->track[k] && ts_mux_takes(f->codec);
}

static void make(void *state, const struct av_packet *pkt, struct wr *out)
{
    struct ts_wire_state *s = state;
    struct frame_reader r;
    struct frame f;
    err_t err;

    frame_begin(&r, pkt);
    while (frame_next(&r, &f)) {
        if (!is_ours(s, &f))
            continue;
        err = ts_mux_frame(&s->mux, &f, out);
        err_free(&err); /* a broken frame is left out */
    }
}

const struct live_format ts_wire = { .name = "ts", .open = open_state, .close = close_state,
                                     .make = make };
