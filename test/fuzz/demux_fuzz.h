/* SPDX-License-Identifier: MIT */
/* demux_fuzz.h - files in memory for the targets that play files, and invariants of groups. */
#ifndef DEMUX_FUZZ_H
#define DEMUX_FUZZ_H

#include "av/packet.h"
#include "format/demux/demux.h"
#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct file {
    struct demux_input in; /* first */
    const uint8_t *data;
};

static inline enum demux_status read_file(const struct demux_input *in, int64_t at, void *buf,
                                          size_t size)
{
    const struct file *f = (const struct file *)in;
    size_t left = at < in->size ? (size_t)(in->size - at) : 0;

    assert(at >= 0);
    if (size > left)
        return DEMUX_BROKEN;
    memcpy(buf, f->data + at, size);
    return DEMUX_OK;
}

static inline void make_packet(const struct demux_index *x, const struct file *f,
                        const struct demux_sample *s)
{
    struct av_packet *pkt = av_packet_new(s->size);

    memcpy(pkt->data, f->data + s->at, s->size);
    if (demux_packet(x, s, pkt))
        assert(pkt->payload <= pkt->size && pkt->dts == s->dts);
    (void)av_packet_unref(pkt);
}

/* `last`: decoding times of before. */
static inline void check_group(const struct demux_index *x, const struct file *f,
                               const struct demux_group *g, int64_t last[DEMUX_TRACKS])
{
    assert(g->next > g->place && g->n <= DEMUX_GROUP_MAX);
    for (unsigned i = 0; i < g->n; i++) {
        const struct demux_sample *s = &g->v[i];

        assert(s->size > 0 && s->at >= 0 && s->at + (int64_t)s->size <= f->in.size);
        assert(s->dts >= last[s->track] && (i == 0 || s->dts >= g->v[i - 1].dts));
        last[s->track] = s->dts;
        make_packet(x, f, s);
    }
    if (g->starts && g->n > 0)
        assert(demux_seek(x, INT64_MAX) >= g->place);
}

/* Opens it, and plays as much as possible. */
static inline void play_file(const uint8_t *data, size_t size,
                             void (*play)(const struct demux_index *x, const struct file *f))
{
    static const struct demux_limits limits = { .index_max = 1 << 20 };
    const struct file f = { { (int64_t)size, read_file }, data };
    struct demux_index *x;
    const char *why;

    if (demux_open(&x, &f.in, &limits, &why) != DEMUX_OK)
        return;
    assert(demux_info(x)->zero >= 0 && demux_info(x)->duration >= 0);
    play(x, &f);
    demux_close(x);
}

#endif
