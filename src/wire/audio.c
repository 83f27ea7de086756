/* SPDX-License-Identifier: MIT */
/* audio.c - only the audio of a live stream. */
#include "wire/audio.h"

#include "av/aac.h"
#include "base/must.h"
#include "format/frame.h"

#include <stdlib.h>
#include <string.h>

struct audio_wire_state {
    bool configured;
    struct aac_config aac;
    bool has_track;
    uint16_t track; /* number of the first audio track */
};

static void *open_state(const uint32_t param[LIVE_PARAMS], const struct live_source *src)
{
    struct audio_wire_state *s = must(calloc(1, sizeof(*s)));

    (void)param;
    (void)src;
    return s;
}

/* Returns the next frame of the codec on our track. */
static bool next(struct audio_wire_state *s, struct frame_reader *r, enum av_codec codec,
                 struct frame *f)
{
    while (frame_next(r, f)) {
        if (f->kind != AV_AUDIO || f->codec != codec)
            continue;
        if (!s->has_track)
            s->track = f->track;
        s->has_track = true;
        if (f->track == s->track)
            return true;
    }
    return false;
}

static void put_adts(struct audio_wire_state *s, const struct frame *f, struct wr *out)
{
    uint8_t head[AAC_ADTS_HEADER];
    err_t err;

    if (f->config) {
        err = aac_asc_parse(&s->aac, f->data, f->size);
        s->configured = !err;
        err_free(&err);
        return;
    }
    if (!s->configured)
        return;
    err = aac_adts_build(head, &s->aac, f->size);
    if (!err) {
        wr_bytes(out, head, sizeof(head));
        wr_bytes(out, f->data, f->size);
    }
    err_free(&err); /* a frame that does not fit into ADTS is left out */
}

static void make_aac(void *state, const struct av_packet *pkt, struct wr *out)
{
    struct frame_reader r;
    struct frame f;

    frame_begin(&r, pkt);
    while (next(state, &r, AV_AAC, &f))
        put_adts(state, &f, out);
}

static void make_mp3(void *state, const struct av_packet *pkt, struct wr *out)
{
    struct frame_reader r;
    struct frame f;

    frame_begin(&r, pkt);
    while (next(state, &r, AV_MP3, &f)) {
        if (!f.config && f.size > 1) /* a single byte is not a frame */
            wr_bytes(out, f.data, f.size);
    }
}

/* ID3v2.3: a tag must have at least one frame, so the title: Live. */
void audio_wire_id3(uint8_t out[AUDIO_WIRE_ID3])
{
    static const uint8_t tag[AUDIO_WIRE_ID3] = {
        'I', 'D', '3', 3, 0, 0, 0, 0, 0, 15, 'T', 'I', 'T', '2', 0, 0, 0, 5, 0, 0, 0, 'L', 'i',
        'v', 'e',
    };

    memcpy(out, tag, sizeof(tag));
}

const struct live_format aac_wire = { .name = "aac", .open = open_state, .close = free,
                                      .make = make_aac };
const struct live_format mp3_wire = { .name = "mp3", .open = open_state, .close = free,
                                      .make = make_mp3 };
