/* SPDX-License-Identifier: MIT */
/* demux_audio.c - extracts audio frames from payloads of PES packets. A frame may span packets. The
 * first frame that starts in a packet has the packet's time; the others follow it. */
#include "av/packet.h"
#include "format/ts/demux_impl.h"

#include <string.h>

void ts_audio_compact(struct ts_es *es)
{
    if (es->pos == 0)
        return;
    es->buf.len -= es->pos;
    memmove(es->buf.buf, es->buf.buf + es->pos, es->buf.len);
    es->pos = 0;
}

/* Sets the time of a frame. Also for an unsupported frame, because it has a duration too. Its rate
 * may be unknown yet. */
static void take_time(struct ts_es *es, const struct ts_audio_frame *s)
{
    if (es->pos >= es->from)
        es->at = es->pes_at;
    if (es->has_time && es->pos >= es->from) {
        es->has_time = false;
        es->base = es->pes_pts;
        es->samples = 0;
    } else if (s->rate != es->rate && s->rate > 0 && es->rate > 0) {
        es->base += (int64_t)(es->samples * AV_CLOCK / es->rate);
        es->samples = 0;
    }
    if (s->rate > 0)
        es->rate = s->rate;
    if (es->rate > 0)
        es->dts = es->pts = es->base + (int64_t)(es->samples * AV_CLOCK / es->rate);
    es->samples += s->samples;
}

static void take(struct ts_es *es, const struct ts_audio_frame *s)
{
    take_time(es, s);
    if (s->config_size > 0)
        ts_es_configure(es, s->config, s->config_size);
    ts_pieces(es->demux, 1)[0] = (struct ts_piece){ .data = s->data, .size = (uint32_t)s->size };
    (void)ts_es_out(es, false, 1);
}

/* True if the frame follows another one with the same configuration. */
static bool is_known(const struct ts_es *es, const struct ts_audio_frame *s)
{
    return es->synced &&
           (s->config_size == 0 || (es->has_config && es->config.len == s->config_size &&
                                    memcmp(es->config.buf, s->config, s->config_size) == 0));
}

/* Other bytes may look like a header, so it is confirmed by the next header or the end of the
 * packet. *more: these have not arrived yet. */
static bool is_sure(const struct ts_es *es, const struct ts_audio_frame *s, bool *more)
{
    const struct ts_audio *a = es->reader->audio;
    size_t next = es->pos + s->total, left = es->buf.len - next;

    *more = false;
    if (is_known(es, s) || !a->is_header)
        return true;
    if (left == 0)
        return !es->torn;
    if (left < a->header) {
        *more = !es->last;
        return !es->torn;
    }
    return a->is_header(es->buf.buf + next);
}

static enum ts_found find(struct ts_es *es, struct ts_audio_frame *s)
{
    const struct ts_audio *a = es->reader->audio;
    const uint8_t *p = es->buf.buf + es->pos;
    size_t left = es->buf.len - es->pos;
    struct ts_latm latm = es->latm;
    enum ts_found found;
    bool more = false;

    *s = (struct ts_audio_frame){ 0 };
    if (left < a->header)
        return TS_MORE;
    if (a->is_header && !a->is_header(p))
        return TS_NONE;
    found = a->find(es, p, left, s);
    if ((found == TS_FOUND || found == TS_SKIP) && !is_sure(es, s, &more))
        found = TS_NONE;
    if (more)
        found = TS_MORE;
    if (found == TS_NONE || found == TS_MORE)
        es->latm = latm; /* it did not belong to a frame */
    return found;
}

/* Keeps the start of a frame whose rest comes with the next packet, if ever. The frame has the
 * current packet's time. */
static void end_buffer(struct ts_es *es)
{
    bool aligned = es->reader->audio->aligned;

    if (es->last || aligned) {
        es->demux->stat.broken += es->pos < es->buf.len;
        es->pos = es->buf.len;
    } else if (es->pos < es->buf.len) {
        take_time(es, &(struct ts_audio_frame){ 0 });
    }
    if (es->last)
        es->synced = false;
    es->busy = es->last = es->torn = false;
}

/* Skips bytes without a frame. */
static void skip(struct ts_es *es, size_t n)
{
    es->demux->stat.broken += es->synced || n > 1;
    es->synced = n > 1;
    es->pos += n;
}

void ts_audio_step(struct ts_es *es)
{
    while (es->pos < es->buf.len && !es->ready) {
        struct ts_audio_frame s;

        switch (find(es, &s)) {
        case TS_FOUND:
            es->synced = true;
            take(es, &s);
            es->pos += s.total;
            break;
        case TS_SKIP:
            take_time(es, &s);
            skip(es, s.total);
            break;
        case TS_NONE:
            skip(es, 1);
            break;
        case TS_MORE:
            end_buffer(es);
            return;
        }
    }
    if (!es->ready || es->pos == es->buf.len)
        end_buffer(es);
}
