/* SPDX-License-Identifier: MIT */
/* demux_pes.c - joins the payloads of TS packets to PES packets, [TS] 2.4.3.6.
 *
 * A PES packet of video often has no length, and waiting for the next one costs the time of a
 * frame. But its last TS packet has stuffing, and nearly all multiplexers use stuffing only there:
 * once that is confirmed, stuffing ends the packet.
 */
#include "format/ts/demux_impl.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_MIN = 9, ROOM_KEPT = 4 << 10, SURE = 2, PIECES = 16 /* enough for most frames */,
       AUDIO_MAX = 256 << 10 /* largest PES packet of audio, bytes */ };

#define WRAP ((int64_t)1 << 33)

void ts_learn(struct ts_learned *l, bool is)
{
    if (!is)
        l->is = TS_FALSE;
    else if (l->is == TS_UNKNOWN && ++l->seen >= SURE)
        l->is = TS_TRUE;
}

static size_t limit_of(const struct ts_demux *d, const struct ts_reader *r)
{
    return r && r->audio && d->opts.pes_max > AUDIO_MAX ? AUDIO_MAX : d->opts.pes_max;
}

static void init(struct ts_es *es, struct ts_demux *d, const struct ts_reader *r)
{
    *es = (struct ts_es){ .demux = d, .pid = TS_PID_NONE, .reader = r, .count.last = -1,
                          .lost = true };
    wr_init(&es->buf, limit_of(d, r));
    wr_init(&es->config, NAL_CONFIG_MAX);
    wr_init(&es->scratch, AUDIO_MAX);
}

void ts_es_init(struct ts_es *es, struct ts_demux *d)
{
    init(es, d, NULL);
}

void ts_es_fini(struct ts_es *es)
{
    wr_free(&es->buf);
    wr_free(&es->config);
    wr_free(&es->scratch);
    free(es->units);
    nal_sets_fini(&es->sets);
}

/* For 3 and more channels, RFC 7845 5.1.1.2: number of streams, of coupled streams, and the mapping
 * of channels. */
static void configure_opus(struct ts_es *es)
{
    static const uint8_t many[][10] = {
        { 2, 1, 0, 2, 1 }, { 2, 2, 0, 1, 2, 3 }, { 3, 2, 0, 4, 1, 2, 3 },
        { 4, 2, 0, 4, 1, 2, 3, 5 }, { 4, 3, 0, 4, 1, 2, 3, 5, 6 },
        { 5, 3, 0, 6, 1, 2, 3, 4, 5, 7 },
    };
    uint8_t head[OPUS_HEAD + 2 + 8];
    size_t n = OPUS_HEAD;

    opus_head_build(head, es->channels);
    if (es->channels > 2) {
        head[OPUS_HEAD - 1] = 1;
        memcpy(head + n, many[es->channels - 3], 2u + es->channels);
        n += 2u + es->channels;
    }
    ts_es_configure(es, head, n);
}

void ts_es_set(struct ts_es *es, const struct ts_stream *s)
{
    struct ts_demux *d = es->demux;

    if (s ? s->reader == es->reader && s->pid == es->pid && s->channels == es->channels
          : !es->reader)
        return;
    ts_es_fini(es);
    init(es, d, s ? s->reader : NULL);
    if (!s)
        return;
    es->pid = s->pid;
    es->type = s->type;
    es->channels = s->channels;
    if (s->reader->codec == AV_OPUS)
        configure_opus(es);
}

/* ---- times */

static int64_t read_time(const uint8_t *p)
{
    return (int64_t)(p[0] >> 1 & 7) << 30 | (int64_t)p[1] << 22 | (int64_t)(p[2] >> 1) << 15 |
           (int64_t)p[3] << 7 | p[4] >> 1;
}

/* Returns the time with these low 33 bits that is nearest to another time. */
static int64_t near(int64_t time, int64_t to)
{
    int64_t off = (time - to) & (WRAP - 1);

    return to + (off >= WRAP / 2 ? off - WRAP : off);
}

static void read_times(struct ts_es *es)
{
    struct ts_demux *d = es->demux;
    uint8_t which = es->head[7] >> 6, size = es->head[8];

    es->has_time = which >= 2 && size >= 5;
    if (!es->has_time)
        return;
    es->pes_pts = read_time(es->head + 9);
    es->pes_dts = which == 3 && size >= 10 ? read_time(es->head + 14) : es->pes_pts;
    if (d->has_clock)
        es->pes_dts = near(es->pes_dts, d->clock);
    es->pes_pts = near(es->pes_pts, es->pes_dts);
    d->has_clock = true;
    d->clock = es->pes_dts;
}

/* ---- PES packets */

static void compact(struct ts_es *es)
{
    if (es->reader->video)
        ts_video_compact(es);
    else
        ts_audio_compact(es);
}

/* Frames arrive in bursts, and key frames are ten times as large as others. So hundreds of streams
 * do not keep large buffers that each needs only briefly. */
void ts_es_tidy(struct ts_es *es)
{
    if (es->open || es->buf.cap <= ROOM_KEPT)
        return;
    compact(es);
    if (es->buf.len == 0)
        wr_free(&es->buf);
}

static void begin(struct ts_es *es, const struct ts_packet *k)
{
    compact(es);
    es->open = true;
    es->early = es->ends_stuffed = false;
    es->has_time = false;
    es->head_len = 0;
    if (es->buf.cap == 0 && es->reader->video && es->buf.limit > ROOM_KEPT)
        (void)wr_reserve(&es->buf, ROOM_KEPT); /* avoids growing in small steps */
    es->from = es->buf.len;
    es->pes_at = k->at;
    es->pes_begins = true;
}

/* The PES packet is complete. */
static void end(struct ts_es *es)
{
    es->open = false;
    es->busy = es->buf.len > 0;
}

void ts_es_break(struct ts_es *es)
{
    if (!es->reader)
        return;
    if (es->reader->video) {
        es->demux->stat.broken += es->open || es->in_frame;
        ts_video_drop(es);
        es->open = false;
        return;
    }
    es->torn = es->last = es->open;
    if (!es->open && es->buf.len > es->pos)
        es->torn = es->last = true;
    es->open = false;
    es->busy = es->last;
    es->synced &= es->busy;
}

static void refuse(struct ts_es *es)
{
    es->demux->stat.broken++;
    es->open = false;
    es->buf.len = es->from;
    es->buf.bad = ERR_OK;
    ts_es_break(es);
}

/* Stream ids whose packets have a header, [TS] table 2-22: audio, video, private, extended. */
static bool has_head(uint8_t id)
{
    return (id >= 0xc0 && id <= 0xef) || id == 0xbd || id == 0xfd;
}

/* Parses the complete header of `size` bytes. False: it is invalid. */
static bool read_head(struct ts_es *es, size_t size)
{
    const uint8_t *h = es->head;
    size_t length = (size_t)h[4] << 8 | h[5];

    if (h[6] & 0x30) { /* PES_scrambling_control */
        es->demux->stat.scrambled++;
        ts_tell(es->demux, TS_NOTE_SCRAMBLED, &(struct ts_told){
            .pid = es->pid, .type = es->type, .name = av_codec_name(es->reader->codec) });
        return false;
    }
    es->has_length = length > 0;
    if (es->has_length && length < size - 6)
        return false;
    es->left = es->has_length ? length - (size - 6) : SIZE_MAX;
    read_times(es);
    return true;
}

/* Takes bytes of the header; returns their number. Clears es->open if the header is invalid. */
static size_t take_head(struct ts_es *es, const uint8_t *p, size_t n)
{
    size_t taken = 0;

    while (taken < n) {
        size_t want = es->head_len < HEAD_MIN ? HEAD_MIN : HEAD_MIN + (size_t)es->head[8];
        size_t k = want - es->head_len < n - taken ? want - es->head_len : n - taken;

        memcpy(es->head + es->head_len, p + taken, k);
        es->head_len += k;
        taken += k;
        if (es->head_len < HEAD_MIN)
            return taken;
        if (memcmp(es->head, "\0\0\1", 3) != 0 || !has_head(es->head[3]) ||
            (es->head[6] & 0xc0) != 0x80) {
            es->open = false;
            return taken;
        }
        if (es->head_len == HEAD_MIN + (size_t)es->head[8]) {
            es->open = read_head(es, es->head_len);
            return taken;
        }
    }
    return taken;
}

static bool is_headed(const struct ts_es *es)
{
    return es->head_len >= HEAD_MIN && es->head_len == HEAD_MIN + (size_t)es->head[8];
}

static void collect(struct ts_es *es, const uint8_t *p, size_t n)
{
    if (!is_headed(es)) {
        size_t k = take_head(es, p, n);

        if (!es->open) {
            refuse(es);
            return;
        }
        if (!is_headed(es))
            return;
        p += k;
        n -= k;
    }
    if (n > es->left)
        n = es->left;
    wr_bytes(&es->buf, p, n);
    if (es->buf.bad) {
        refuse(es);
        return;
    }
    if (es->has_length)
        es->left -= n;
    if (es->left == 0)
        end(es);
}

/* Learns from this packet whether stuffing ended the previous one. */
static void learn_stuffing(struct ts_es *es, const struct ts_packet *k)
{
    if (es->open && !es->has_length && es->ends_stuffed)
        ts_learn(&es->stuffing, k->start);
    if (es->early && !k->start)
        ts_learn(&es->stuffing, false);
    es->early = false;
}

/* Ends the open PES packet. */
static void close_open(struct ts_es *es)
{
    if (!is_headed(es) || (es->has_length && es->left > 0))
        ts_es_break(es);
    else
        end(es);
}

bool ts_es_packet(struct ts_es *es, const struct ts_packet *k)
{
    enum ts_follows follows = ts_follows(&es->count, k);

    if (follows == TS_REPEATED) {
        es->count.repeated = true;
        es->demux->stat.repeated++;
        return true;
    }
    if (follows == TS_JUMPED) {
        ts_es_break(es);
        es->early = false;
    } else {
        learn_stuffing(es, k);
        if (k->start && es->open)
            close_open(es);
    }
    if (es->busy)
        return false;
    es->demux->stat.jumps += follows == TS_JUMPED;
    ts_follow(&es->count, k);
    if (k->start)
        begin(es, k);
    if (!es->open)
        return true;
    collect(es, k->data, k->size);
    es->ends_stuffed = k->stuffed;
    if (es->open && !es->has_length && k->stuffed && is_headed(es) &&
        es->stuffing.is == TS_TRUE) {
        end(es);
        es->early = true;
    }
    return true;
}

void ts_es_flush(struct ts_es *es)
{
    if (!es->reader)
        return;
    if (es->open && (!is_headed(es) || es->has_length || !es->ends_stuffed)) {
        ts_es_break(es);
        return;
    }
    es->open = false;
    es->last = es->busy = true;
}

/* ---- frames */

void ts_es_configure(struct ts_es *es, const void *config, size_t size)
{
    err_t err;

    if (es->has_config && es->config.len == size && memcmp(es->config.buf, config, size) == 0)
        return;
    wr_clear(&es->config);
    wr_bytes(&es->config, config, size);
    es->has_config = es->config_due = !es->config.bad;
    err = av_info_parse(&es->info, es->reader->codec, config, size);
    err_free(&err);
}

struct ts_piece *ts_pieces(struct ts_demux *d, unsigned n)
{
    unsigned room = d->pieces_room ? d->pieces_room : PIECES;

    if (n > d->pieces_room) {
        while (room < n)
            room *= 2;
        free(d->pieces);
        d->pieces = must(malloc(room * sizeof(*d->pieces)));
        d->pieces_room = room;
    }
    return d->pieces;
}

bool ts_es_out(struct ts_es *es, bool key, unsigned n)
{
    struct ts_demux *d = es->demux;
    enum av_codec codec = es->reader->codec;
    size_t size = 0;

    if (!es->has_config && !av_codec_row(codec)->frame_config) {
        d->stat.waiting++;
        return false;
    }
    for (unsigned i = 0; i < n; i++)
        size += d->pieces[i].head_size + d->pieces[i].size;
    if (size == 0)
        return false;
    d->out = (struct ts_frame){ .kind = av_codec_row(codec)->kind, .codec = codec, .key = key,
                                .dts = es->dts, .pts = es->pts, .at = es->at, .size = size,
                                .pieces = d->pieces, .n_pieces = n };
    es->ready = true;
    return true;
}
