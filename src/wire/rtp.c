/* SPDX-License-Identifier: MIT */
/* rtp.c - a live stream as interleaved RTP. */
#include "wire/rtp.h"

#include "base/must.h"
#include "base/random_id.h"
#include "format/rtp/pack.h"
#include "proto/rtp/sender.h"

#include <stdlib.h>

struct track {
    struct rtp_sink sink;
    struct rtp_packer packer;
    struct rtp_sender sender;
    enum av_codec codec;
    uint8_t channel, type;
    bool open, known;         /* it has a packer; and its clock is known */
};

struct rtp_wire_state {
    struct frame_tracks chosen;
    struct track tracks[2];
    uint32_t which, mtu;
};

static void on_packet(struct rtp_sink *sink, uint8_t *head, size_t size, bool marker,
                      int64_t ticks)
{
    struct track *t = (struct track *)sink;

    rtp_interleaved_build(head, t->channel, (uint16_t)(size + RTP_HEADER));
    rtp_sender_head(&t->sender, head + RTP_INTERLEAVED, marker, ticks, size);
}

static void *open_state(const uint32_t param[LIVE_PARAMS])
{
    struct rtp_wire_state *s = must(calloc(1, sizeof(*s)));

    s->which = param[RTP_WIRE_TRACKS];
    s->mtu = param[RTP_WIRE_MTU];
    for (unsigned i = 0; i < 2; i++) {
        struct track *t = &s->tracks[i];
        char random[RTP_SENDER_RANDOM + 1];

        random_id(random, RTP_SENDER_RANDOM);
        t->channel = (uint8_t)(i * 2);
        t->type = i == 0 ? RTP_WIRE_TYPE_VIDEO : RTP_WIRE_TYPE_AUDIO;
        rtp_sender_init(&t->sender, t->type, AV_CLOCK, (const uint8_t *)random);
        t->sink = (struct rtp_sink){ .head = RTP_INTERLEAVED + RTP_HEADER, .packet = on_packet };
    }
    return s;
}

static void close_state(void *state)
{
    struct rtp_wire_state *s = state;

    for (unsigned i = 0; i < 2; i++) {
        if (s->tracks[i].open)
            rtp_packer_fini(&s->tracks[i].packer);
    }
    free(s);
}

/* Its packer, of the codec that it has now. */
static bool open_track(struct rtp_wire_state *s, struct track *t, const struct frame *f)
{
    const struct rtp_packer_opts opts = { .codec = f->codec, .mtu = s->mtu, .sets = true };
    struct rtp_map map;

    if (t->open && t->codec != f->codec)
        rtp_packer_fini(&t->packer);
    if (!t->open || t->codec != f->codec)
        t->open = rtp_packer_init(&t->packer, &opts);
    t->codec = f->codec;
    if (t->open && rtp_map_of(&map, f->codec, f->data, f->size) && map.fixed)
        t->sender.type = map.type;
    return t->open;
}

static void make(void *state, const struct av_packet *pkt, struct wr *out)
{
    struct rtp_wire_state *s = state;
    struct frame_reader r;
    struct frame f;

    frame_choose(&s->chosen, pkt);
    frame_begin(&r, pkt);
    while (frame_next(&r, &f)) {
        unsigned i = f.kind == AV_VIDEO ? 0 : 1;
        struct track *t = &s->tracks[i];
        err_t err;

        if (!frame_is_of(&s->chosen, &f) || !(s->which & 1u << i) || !open_track(s, t, &f))
            continue;
        t->sink.out = out;
        err = rtp_pack(&t->packer, &f, &t->sink);
        err_free(&err); /* a broken frame is left out */
        t->sender.clock = t->packer.clock;
    }
}

const struct live_format rtp_wire = { .name = "rtp", .open = open_state, .close = close_state,
                                      .make = make };
