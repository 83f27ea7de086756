/* SPDX-License-Identifier: MIT */
/* rtp.c - the RTP state of a player: sequence numbers, start of play and BYE. */
#include "vod/feed_impl.h"
#include "vod/wires.h"
#include "wire/rtp_sender.h"

enum { SEQ_MASK = 0x7fff }; /* far from the wrap, as [RFC 3711] 3.3.1 recommends */

/* ---- tracks */

void vod_rtp_tracks(const struct vod_file *f, struct rtp_wire_track out[RTP_WIRE_N])
{
    const struct demux_info *info = vod_file_info(f);
    struct rtp_map map;

    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        const struct demux_track *t = &info->tracks[i];

        out[i] = (struct rtp_wire_track){ .codec = AV_CODEC_NONE };
        if (rtp_map_of(&map, t->codec, t->config, t->config_size))
            out[i] = (struct rtp_wire_track){ t->codec, t->config, t->config_size };
    }
}

static bool has_track(const struct vod_feed *f, unsigned track)
{
    return f->use.tracks & f->use.param[RTP_WIRE_TRACKS] & 1u << track;
}

void vod_rtp_clocks(const struct vod_feed *f, uint32_t clocks[DEMUX_TRACKS])
{
    struct rtp_wire_track tracks[RTP_WIRE_N];
    struct rtp_map map;

    vod_rtp_tracks(f->file, tracks);
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        const struct rtp_wire_track *t = &tracks[i];

        clocks[i] = has_track(f, i) && t->codec && rtp_map_of(&map, t->codec, t->config, t->size)
                        ? map.clock : 0;
    }
}

/* ---- numbers */

/* Equal for all players that start at this position, so they share the parts from here on. */
void vod_rtp_numbers(const struct vod_feed *f, struct vod_numbers *out)
{
    uint32_t place = (uint32_t)(f->at.place ^ f->at.place >> 32);

    *out = (struct vod_numbers){ .reported = f->begin_dts };
    for (unsigned i = 0; i < RTP_WIRE_N; i++)
        out->tracks[i].seq =
            (uint16_t)(rtp_wire_base(f->use.param[RTP_WIRE_SEED] ^ place, i) & SEQ_MASK);
}

bool vod_rtp_patch(const struct vod_feed *f, const struct vod_part *part,
                   const struct vod_numbers *numbers, struct vod_renumber *out)
{
    bool moved = f->shift != 0 || f->scale != VOD_SCALE_1;

    *out = (struct vod_renumber){ .near = part->dts, .shift = f->shift, .wall = f->use.wall,
                               .scale = f->scale };
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        struct vod_renumber_track *t = &out->tracks[i];

        t->channel = rtp_wire_channel(f->use.param[RTP_WIRE_TRACKS], i);
        t->base = rtp_wire_base(f->use.param[RTP_WIRE_SEED], i);
        t->clock = f->clocks[i];
        t->seq = (uint16_t)(numbers->tracks[i].seq - part->begin.tracks[i].seq);
        t->packets = numbers->tracks[i].packets - part->begin.tracks[i].packets;
        t->bytes = numbers->tracks[i].bytes - part->begin.tracks[i].bytes;
        moved |= t->seq != 0 || t->packets != 0 || t->bytes != 0;
    }
    return moved;
}

/* ---- start and end of play */

/* Takes the numbers of a part that is already rendered, unless the player has numbers. */
static void settle(struct vod_feed *f)
{
    const struct vod_part *part = NULL;
    enum vod_got got;

    if (!f->fresh || !f->playing)
        return;
    got = vod_part_get(f->file, &f->use, &f->at, &f->numbers, &f->wait, &part);
    f->waits = got == VOD_WAIT;
    if (got == VOD_FAILED)
        vod_feed_fail(f);
    if (got == VOD_READY) {
        vod_feed_adopt(f, part);
        vod_part_put(f->file, part, false);
    }
    f->fresh = false;
}

void vod_rtp_start(struct vod_feed *f, struct rtp_wire_start out[RTP_WIRE_N])
{
    int64_t at = vod_feed_position(f) + vod_file_info(f->file)->zero;

    settle(f);
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        uint32_t clock = f->clocks[i];

        out[i] = (struct rtp_wire_start){ .has_seq = clock > 0, .has_time = clock > 0 };
        if (clock == 0)
            continue;
        out[i].seq = f->now.tracks[i].seq;
        out[i].time = rtp_wire_base(f->use.param[RTP_WIRE_SEED], i) +
                      (uint32_t)(uint64_t)vod_renumber_ticks(rtp_ticks(at, clock), clock,
                                                             f->shift, f->scale);
    }
}

void vod_rtp_bye(const struct vod_feed *f, struct wr *out)
{
    char cname[RTP_WIRE_CNAME];

    rtp_wire_cname(f->use.param[RTP_WIRE_SEED], cname);
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        struct rtp_wire_sender t;

        if (f->clocks[i] == 0)
            continue;
        rtp_wire_sender_init(&t, f->use.param, i);
        rtp_wire_sender_bye(&t, cname, out);
    }
}
