/* SPDX-License-Identifier: MIT */
/* vod_fake.h - a file on demand that is made up, and a store of its parts: what a feed plays, for
 * its tests. In place of the functions of vod/vod.h, so a test that has this is linked without
 * the store.
 *
 * Ten groups of a second: 25 pictures with B-frames, sound of 48 kHz. A picture is shown two
 * frames after it is decoded or later; that is what `zero` says.
 */
#ifndef VOD_FAKE_H
#define VOD_FAKE_H

#include "rtp_media.h"
#include "vod/wires.h"

enum {
    FAKE_GROUPS = 10, FAKE_FRAMES = 25, FAKE_FRAME = 3600, FAKE_SOUND = 1920, FAKE_SECOND = 90000,
    FAKE_ZERO = 7200, FAKE_SAMPLES = 128, FAKE_PARTS = 512, FAKE_PART_MARKS = 128,
};

struct fake_sample {
    int64_t dts;
    int32_t cts;
    bool audio, key;
    uint32_t size;
};

struct fake_part {
    struct vod_part part; /* first */
    struct vod_wire_use use;
    struct vod_at at;
    struct vod_mark marks[FAKE_PART_MARKS];
    struct wr bytes;
    int refs;
    bool gone; /* of the cache */
    bool done; /* somebody comes for it no more */
};

struct vod_file {
    int refs, players;
    struct demux_info info;
    struct fake_part *parts[FAKE_PARTS];
    unsigned n;
    unsigned made, shared, held; /* parts that were made, found, are in use */
    bool waits, fails;           /* what the store says of parts that are not there */
    struct vod_wait *wait;
};

static struct vod_file fake;
static uint8_t fake_bytes[MEDIA_FRAME_MAX];
extern _Thread_local unsigned long long st_switched_at;

/* ---- what is in it */

static inline bool fake_sample_before(const struct fake_sample *a, const struct fake_sample *b)
{
    return a->dts < b->dts || (a->dts == b->dts && !a->audio && b->audio);
}

static inline unsigned fake_group(uint64_t place, struct fake_sample v[FAKE_SAMPLES])
{
    int64_t begin = (int64_t)place * FAKE_SECOND, end = begin + FAKE_SECOND, at;
    unsigned n = 0;

    for (unsigned i = 0; i < FAKE_FRAMES; i++)
        v[n++] = (struct fake_sample){ .dts = begin + i * FAKE_FRAME, .key = i == 0,
            .cts = i == 0 ? 2 * FAKE_FRAME : i % 2 ? 3 * FAKE_FRAME : FAKE_FRAME,
            .size = i == 0 ? 40000 : i % 2 ? 9000 : 3000 };
    at = (begin - FAKE_ZERO + FAKE_SOUND - 1) / FAKE_SOUND * FAKE_SOUND + FAKE_ZERO;
    for (at = place == 0 ? FAKE_ZERO : at; at < end; at += FAKE_SOUND)
        v[n++] = (struct fake_sample){ .dts = at, .audio = true, .size = 200 };
    for (unsigned i = 1; i < n; i++) {
        for (unsigned k = i; k > 0 && fake_sample_before(&v[k], &v[k - 1]); k--) {
            struct fake_sample s = v[k];

            v[k] = v[k - 1];
            v[k - 1] = s;
        }
    }
    return n;
}

static inline struct av_packet *fake_packet(const struct fake_sample *s)
{
    struct frame f = media_make(s->audio ? AV_AAC : AV_H264, s->key ? 0 : 1, s->size, fake_bytes);
    struct av_packet *pkt = av_packet_new(f.size);

    memcpy(pkt->data, f.data, f.size);
    /* bytes that tell it from others: its time */
    for (unsigned i = 0; i < 8; i++)
        pkt->data[f.size - 1 - i] = (uint8_t)(0x10 + (s->dts / 120 >> 4 * i & 15));
    pkt->kind = (uint8_t)f.kind;
    pkt->codec = (uint8_t)f.codec;
    pkt->key = s->key;
    pkt->dts = s->dts;
    pkt->cts = s->cts;
    return pkt;
}

static inline bool fake_is_given(const struct vod_wire_use *use, const struct fake_sample *s)
{
    if (use->keys_only)
        return s->key;
    return use->tracks >> (s->audio ? DEMUX_AUDIO : DEMUX_VIDEO) & 1;
}

static inline void fake_fill(struct fake_part *p, const struct vod_numbers *from)
{
    struct fake_sample v[FAKE_SAMPLES];
    unsigned n = fake_group(p->at.place, v), at = 0;
    size_t bytes = 0;
    uint32_t part = 0;
    int64_t end = 0;
    void *state = p->use.wire->open(&p->use, &fake.info, p->at.part == 0, from);

    wr_init(&p->bytes, 8 << 20);
    p->part.begin = *from;
    p->part.starts = p->at.part == 0;
    for (; at < n && part <= p->at.part; at++) {
        if (!fake_is_given(&p->use, &v[at]))
            continue;
        if (part == p->at.part) {
            struct av_packet *pkt = fake_packet(&v[at]);

            if (p->part.n == 0)
                p->part.dts = pkt->dts;
            p->use.wire->make(state, pkt, &p->bytes);
            p->marks[p->part.n++] =
                (struct vod_mark){ pkt->dts, pkt->cts, (uint32_t)p->bytes.len };
            av_packet_unref(pkt);
        }
        end = bytes == 0 ? v[at].dts + av_from_us(VOD_TURN_MOST) : end;
        bytes += v[at].size;
        if (bytes >= VOD_PART || (at + 1 < n && v[at + 1].dts >= end)) {
            part++;
            bytes = 0;
        }
    }
    p->part.next_dts = at < n ? v[at].dts : (int64_t)(p->at.place + 1) * FAKE_SECOND;
    p->use.wire->close(state, &p->part.end);
    p->part.last = part <= p->at.part && p->at.place == FAKE_GROUPS - 1;
    p->part.next = part > p->at.part ? (struct vod_at){ p->at.place, p->at.part + 1 }
                                     : (struct vod_at){ p->at.place + 1, 0 };
    if (p->part.n == 0)
        p->part.dts = (int64_t)(p->at.place + 1) * FAKE_SECOND - 1;
    p->part.data = p->bytes.buf;
    p->part.size = p->bytes.len;
    p->part.marks = p->marks;
}

/* ---- the store */

static inline void fake_drop(unsigned i)
{
    struct fake_part *p = fake.parts[i];

    fake.parts[i] = fake.parts[--fake.n];
    p->gone = true;
    if (p->refs > 0)
        return;
    wr_free(&p->bytes);
    free(p);
}

static inline void fake_evict(void)
{
    while (fake.n > 0)
        fake_drop(0);
}

static inline void fake_begin(void)
{
    fake = (struct vod_file){ .info = { .format = "made up", .zero = FAKE_ZERO, .kbps = 1500,
        .duration = FAKE_GROUPS * FAKE_SECOND,
        .tracks = { { .codec = AV_H264, .config = (const uint8_t *)CONFIG_H264,
                      .config_size = sizeof(CONFIG_H264) - 1 },
                    { .codec = AV_AAC, .config = (const uint8_t *)CONFIG_AAC,
                      .config_size = sizeof(CONFIG_AAC) - 1 } } } };
    st_switched_at = 1000000000;
}

static inline void fake_end(void)
{
    assert_int_equal(fake.held, 0);
    assert_int_equal(fake.refs, 0);
    assert_int_equal(fake.players, 0);
    assert_null(fake.wait);
    fake_evict();
    st_switched_at = 0;
}

/* What somebody waited for is there. */
static inline void fake_arrives(void)
{
    struct vod_wait *w = fake.wait;

    fake.wait = NULL;
    fake.waits = false;
    if (w)
        w->on_part(w);
}

enum vod_got vod_part_get(struct vod_file *f, const struct vod_wire_use *use,
                          const struct vod_at *at, const struct vod_numbers *from,
                          struct vod_wait *w, const struct vod_part **out)
{
    struct fake_part *p;

    assert_true(at->place < FAKE_GROUPS);
    for (unsigned i = 0; i < f->n; i++) {
        p = f->parts[i];
        if (memcmp(&p->use, use, sizeof(*use)) || p->at.place != at->place ||
            p->at.part != at->part)
            continue;
        f->shared++;
        p->refs++;
        f->held++;
        *out = &p->part;
        return VOD_READY;
    }
    assert_null(f->wait);
    if (f->waits)
        f->wait = w;
    if (f->waits || f->fails)
        return f->waits ? VOD_WAIT : VOD_FAILED;
    assert_true(f->n < FAKE_PARTS);
    p = calloc(1, sizeof(*p));
    assert_non_null(p);
    p->use = *use;
    p->at = *at;
    p->refs = 1;
    f->held++;
    f->made++;
    fake_fill(p, from);
    f->parts[f->n++] = p;
    *out = &p->part;
    return VOD_READY;
}

void vod_part_put(struct vod_file *f, const struct vod_part *part, bool done)
{
    struct fake_part *p = container_of(part, struct fake_part, part);

    assert_true(p->refs > 0);
    p->done |= done;
    f->held--;
    if (--p->refs == 0 && p->gone) {
        wr_free(&p->bytes);
        free(p);
    }
}

void vod_wait_end(struct vod_wait *w)
{
    if (fake.wait == w)
        fake.wait = NULL;
}

void vod_file_begin_play(struct vod_file *f)
{
    f->players++;
}

void vod_file_end_play(struct vod_file *f)
{
    f->players--;
}

co_usec vod_turn(unsigned kbps)
{
    assert_int_equal(kbps, 1500);
    return VOD_TURN_MOST;
}

struct vod_file *vod_file_ref(struct vod_file *f)
{
    f->refs++;
    return f;
}

struct vod_file *vod_file_unref(struct vod_file *f)
{
    f->refs--;
    return NULL;
}

const struct demux_info *vod_file_info(const struct vod_file *f)
{
    return &f->info;
}

const struct demux_index *vod_file_index(const struct vod_file *f)
{
    (void)f;
    return NULL;
}

int64_t vod_file_opened(const struct vod_file *f)
{
    (void)f;
    return INT64_C(1700000000123456);
}

const char *vod_file_name(const struct vod_file *f)
{
    (void)f;
    return "made up";
}

demux_place demux_seek(const struct demux_index *index, int64_t time)
{
    int64_t place = (time - 2 * FAKE_FRAME) / FAKE_SECOND;

    (void)index;
    return place < 0 ? 0 : place >= FAKE_GROUPS ? FAKE_GROUPS - 1 : (demux_place)place;
}

int64_t demux_place_time(const struct demux_index *index, demux_place place, int64_t *pts)
{
    (void)index;
    *pts = (int64_t)place * FAKE_SECOND + 2 * FAKE_FRAME;
    return (int64_t)place * FAKE_SECOND;
}

#endif
