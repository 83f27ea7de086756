/* SPDX-License-Identifier: MIT */
/* demux_video.c - extracts video frames from payloads of PES packets: finds units and frames.
 *
 * Usually a PES packet has one frame. Once that is confirmed, a frame is passed on at the end of
 * its packet; until then, or if it is not so, at the start of the next frame.
 */
#include "av/packet.h"
#include "base/must.h"
#include "format/ts/demux_impl.h"

#include <string.h>

enum { CODE = 3, LOOK_MAX = 4 };

#define EACH AV_MS(40)          /* duration of a frame if it is unknown */
#define EACH_MAX AV_MS(10000)

/* ---- the buffer */

void ts_video_drop(struct ts_es *es)
{
    es->in_frame = es->picture = es->has_unit = es->busy = false;
    es->buf.len = es->scan = 0;
    es->from = 0;
    es->n_units = 0;
    es->lost = true;
}

void ts_video_compact(struct ts_es *es)
{
    size_t off = es->in_frame ? es->frame_at : es->scan;

    if (off == 0)
        return;
    es->buf.len -= off;
    memmove(es->buf.buf, es->buf.buf + off, es->buf.len);
    es->scan -= off;
    es->frame_at -= es->in_frame ? off : 0;
    es->unit_at -= es->has_unit ? off : 0;
    for (unsigned i = 0; i < es->n_units; i++)
        es->units[i].at -= (uint32_t)off;
}

void ts_video_keep(struct ts_es *es, size_t at, size_t size)
{
    if (es->n_units == TS_UNITS_MAX) {
        es->broken = true;
        return;
    }
    es->units = must_room(es->units, es->n_units, &es->room, sizeof(*es->units));
    es->units[es->n_units++] = (struct ts_unit){ (uint32_t)at, (uint32_t)size };
}

/* ---- frames */

static int64_t duration(const struct ts_es *es)
{
    if (es->each > 0)
        return es->each;
    return es->info.fps > 0 ? (int64_t)(AV_CLOCK / es->info.fps) : EACH;
}

/* The first frame of a PES packet has the packet's time; the others follow it. */
static void take_time(struct ts_es *es)
{
    int64_t each;

    if (!es->has_time) {
        es->since++;
        es->dts += duration(es);
        es->pts = es->dts;
        return;
    }
    es->has_time = false;
    each = (es->pes_dts - es->timed_dts) / (es->since + 1);
    if (es->timed && each > 0 && each <= EACH_MAX)
        es->each = each;
    es->timed = true;
    es->since = 0;
    es->timed_dts = es->dts = es->pes_dts;
    es->pts = es->pes_pts;
}

static void open_frame(struct ts_es *es, size_t code)
{
    es->in_frame = true;
    es->lost = es->picture = es->key = es->broken = false;
    es->has_sps = es->recovery = es->looked = es->shown = false;
    es->intra = true;
    es->n_units = 0;
    es->frame_at = code;
    es->at = es->pes_at;
    take_time(es);
}

/* Ends the frame; true if it is passed on. */
static bool close_frame(struct ts_es *es)
{
    const struct ts_video *v = es->reader->video;
    struct ts_demux *d = es->demux;
    struct ts_piece *pieces;

    es->in_frame = false;
    if (es->broken || es->n_units == 0) {
        d->stat.broken++;
        return false;
    }
    pieces = ts_pieces(d, es->n_units);
    for (unsigned i = 0; i < es->n_units; i++)
        pieces[i] = v->piece(es->buf.buf + es->units[i].at, es->units[i].size);
    return ts_es_out(es, v->key(es), es->n_units);
}

/* ---- units */

static void end_unit(struct ts_es *es, size_t end)
{
    const struct ts_video *v = es->reader->video;

    if (!es->has_unit)
        return;
    es->has_unit = false;
    while (v->trim && end > es->unit_at && es->buf.buf[end - 1] == 0)
        end--;
    v->end(es, es->unit_at, end - es->unit_at);
}

/* Both fields of a frame may be in one PES packet. A unit with its own time starts a frame. */
static bool may_be_field(const struct ts_es *es)
{
    return es->info.interlaced && (!es->has_time || es->pes_dts == es->dts);
}

static bool begins_frame(const struct ts_es *es, unsigned what)
{
    if (!es->in_frame)
        return what & (TS_UNIT_BEGINS | TS_UNIT_FIRST);
    return es->picture && (what & TS_UNIT_BEGINS || (what & TS_UNIT_FIRST && !may_be_field(es)));
}

/* True if the open frame may be complete. */
static bool may_end(const struct ts_es *es)
{
    const struct ts_video *v = es->reader->video;

    return es->in_frame && es->picture && (!v->ends || v->ends(es));
}

/* The first unit of a PES packet shows whether the previous packet had a whole frame. */
static void learn_whole(struct ts_es *es, size_t code, unsigned what)
{
    bool at_begin = true, begins = begins_frame(es, what);

    if (!es->pes_begins)
        return;
    es->pes_begins = false;
    for (size_t i = es->from; i < code; i++)
        at_begin &= es->buf.buf[i] == 0;
    if (es->lost)
        return;
    if (may_end(es))
        ts_learn(&es->whole, begins && at_begin);
    else if (!es->in_frame && !begins && what & TS_UNIT_PICTURE)
        ts_learn(&es->whole, false);
}

static void begin_unit(struct ts_es *es, size_t code, unsigned what)
{
    es->scan = code + CODE;
    if (!es->in_frame && begins_frame(es, what))
        open_frame(es, code);
    if (!es->in_frame) { /* the rest of a lost frame */
        es->demux->stat.broken += what & TS_UNIT_PICTURE && !es->lost;
        es->lost |= (what & TS_UNIT_PICTURE) != 0;
        return;
    }
    if (what & TS_UNIT_PICTURE && !es->picture && es->reader->video->picture)
        es->reader->video->picture(es);
    es->picture |= (what & TS_UNIT_PICTURE) != 0;
    es->has_unit = true;
    es->unit_at = es->scan;
}

/* True if no more bytes of the frame can follow. */
static bool at_end(const struct ts_es *es)
{
    return es->last || es->whole.is == TS_TRUE;
}

/* Identifies the unit after a start code; false: its first bytes have not arrived yet. */
static bool look(const struct ts_es *es, size_t code, unsigned *what)
{
    const struct ts_video *v = es->reader->video;
    const uint8_t *unit = es->buf.buf + code + CODE;
    size_t have = es->buf.len - code - CODE;
    uint8_t copy[LOOK_MAX] = { 0 };

    if (have >= v->look) {
        *what = v->what(es, unit);
        return true;
    }
    memcpy(copy, unit, have);
    *what = have > 0 ? v->what(es, copy) : 0;
    return at_end(es);
}

/* Finds the next start code from es->scan on; no byte is scanned twice. */
static bool find_code(struct ts_es *es, size_t *code)
{
    const uint8_t *base = es->buf.buf, *end = base + es->buf.len, *p;

    if (es->buf.len < es->scan + CODE)
        return false;
    for (p = base + es->scan + 2; (p = memchr(p, 1, (size_t)(end - p))); p++) {
        if (p[-1] == 0 && p[-2] == 0) {
            *code = (size_t)(p - base) - 2;
            return true;
        }
    }
    es->scan = es->buf.len - 2;
    return false;
}

/* Called when all bytes in the buffer were scanned. */
static void end_buffer(struct ts_es *es)
{
    es->busy = false;
    if (at_end(es)) {
        end_unit(es, es->buf.len);
        if (may_end(es))
            (void)close_frame(es);
        es->in_frame &= !es->last;
        es->scan = es->buf.len;
    }
    es->last = false;
}

void ts_video_step(struct ts_es *es)
{
    unsigned what;
    size_t code;

    while (find_code(es, &code)) {
        if (!look(es, code, &what)) {
            es->scan = code;
            break;
        }
        end_unit(es, code);
        learn_whole(es, code, what);
        if (es->in_frame && begins_frame(es, what)) {
            es->scan = code;
            if (close_frame(es))
                return;
        }
        begin_unit(es, code, what);
    }
    end_buffer(es);
}
