/* SPDX-License-Identifier: MIT */
/* unpack_video.c - finds the start and end of video frames, and handles lost packets.
 *
 * All packets of a frame have the same timestamp, and the last one has a marker. But some cameras
 * omit the marker, and others set it on each unit. So the first marker is not trusted until the
 * next timestamp confirms it, which delays a single frame.
 */
#include "format/rtp/unpack_impl.h"

enum { ROOM_KEPT = 1 << 20 };

static void open_frame(struct rtp_unpacker *u, const struct rtp_payload *p)
{
    bool rest = u->closed && p->ticks == u->closed_ticks && u->marks == RTP_MARKS_TRUE &&
                !u->fmt->video->new_picture(u, p);

    if (u->frame.cap > ROOM_KEPT && u->frame.len < u->frame.cap / 8) { /* a frame was large */
        wr_free(&u->frame);
        wr_init(&u->frame, RTP_FRAME_MAX);
    }
    wr_clear(&u->frame);
    u->open = true;
    u->broken = rest;
    if (rest) /* the frame that was passed on was incomplete */
        u->marks = RTP_MARKS_FALSE;
    u->picture = u->key = u->marked = u->piece = u->ended = u->has_sps = false;
    u->intra = true;
    u->units = 0;
    u->ticks = p->ticks;
}

static void close_frame(struct rtp_unpacker *u)
{
    bool whole = !u->broken && !u->piece;

    u->open = false;
    u->closed = u->picture;
    u->closed_ticks = u->ticks;
    if (!u->picture && whole)
        return; /* only units that precede a frame */
    if (!whole || !u->fmt->video->close(u) || u->frame.bad) {
        u->stats.broken++;
        u->need_key |= !u->keep_broken;
        return;
    }
    if ((u->need_key && !u->key) || !u->has_config) {
        u->stats.waiting++;
        u->need_key = true;
        return;
    }
    u->need_key = false;
    u->ready = true;
    u->out = (struct rtp_frame){ .key = u->key, .ticks = u->ticks, .data = u->frame.buf,
                                 .size = u->frame.len };
}

/* Packets are missing: the open frame cannot become complete, and the next packets may be the rest
 * of a frame whose start was lost. */
static void hole(struct rtp_unpacker *u, const struct rtp_payload *p)
{
    u->stats.broken += u->open;
    u->open = u->closed = false;
    u->need_key |= !u->keep_broken;
    u->skip = true;
    u->skip_ticks = p->ticks;
    u->skip_marked = false;
}

static bool resumes(struct rtp_unpacker *u, const struct rtp_payload *p)
{
    if (p->ticks != u->skip_ticks || u->skip_marked || u->fmt->video->first(u, p)) {
        u->skip = false;
        return true;
    }
    u->skip_marked = p->marker && u->marks != RTP_MARKS_FALSE;
    return false;
}

/* True if the packet ends the open frame. */
static bool ends(struct rtp_unpacker *u, const struct rtp_payload *p)
{
    if (p->ticks != u->ticks) {
        if (u->marked && u->marks == RTP_MARKS_UNKNOWN)
            u->marks = RTP_MARKS_TRUE;
        return true;
    }
    if (!u->picture)
        return false;
    if (u->marked && u->marks == RTP_MARKS_UNKNOWN) {
        if (u->fmt->video->new_picture(u, p))
            return true;
        u->marks = RTP_MARKS_FALSE;
    }
    return u->fmt->video->splits(u, p);
}

/* True if the end of the frame arrived before the loss. */
static bool is_whole(const struct rtp_unpacker *u)
{
    return u->open && u->marked && u->marks != RTP_MARKS_FALSE;
}

void rtp_video_unpack(struct rtp_unpacker *u)
{
    struct rtp_payload *p = &u->in;

    if (p->lost > 0 || p->restart) {
        if (is_whole(u))
            close_frame(u);
        if (u->ready)
            return; /* the packet is processed again */
        hole(u, p);
        p->lost = 0;
        p->restart = false;
    }
    if (u->skip && !resumes(u, p)) {
        u->has_in = false;
        return;
    }
    if (u->open && ends(u, p)) {
        close_frame(u);
        if (u->ready)
            return;
    }
    if (!u->open)
        open_frame(u, p);
    u->fmt->video->take(u, p);
    u->has_in = false;
    u->marked = p->marker;
    if (p->marker && u->marks == RTP_MARKS_TRUE)
        close_frame(u);
}
