/* SPDX-License-Identifier: MIT */
/* fuzz_demux_mp4.c - any bytes as an MP4 file that somebody plays from anywhere. */
#include "av/packet.h"
#include "format/demux/demux.h"
#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* All samples of a moof are gone through for each group that begins in it. */
enum { JUMPS = 8, STEPS = 1 << 20 };

struct file {
    struct demux_input in; /* first */
    const uint8_t *data;
};

static ssize_t read_file(const struct demux_input *in, int64_t at, void *buf, size_t size)
{
    const struct file *f = (const struct file *)in;
    size_t left = at < in->size ? (size_t)(in->size - at) : 0;

    assert(at >= 0);
    if (size > left)
        size = left;
    memcpy(buf, f->data + at, size);
    return (ssize_t)size;
}

static void make_packet(const struct demux_index *x, const struct file *f,
                        const struct demux_sample *s)
{
    struct av_packet *pkt = av_packet_new(s->size);

    memcpy(pkt->data, f->data + s->at, s->size);
    if (demux_packet(x, s, pkt))
        assert(pkt->payload <= pkt->size && pkt->dts == s->dts);
    (void)av_packet_unref(pkt);
}

/* Somebody jumps about in it. */
static void jump(const struct demux_index *x, const struct file *f)
{
    int64_t length = demux_info(x)->duration + demux_info(x)->zero;
    demux_place last = 0;
    struct demux_group *g;
    const char *why;

    for (int64_t i = 0; i <= JUMPS; i++) {
        demux_place at = demux_seek(x, length / JUMPS * i);

        assert(at >= last);
        last = at;
        if (demux_group(&g, x, &f->in, at, &why) == DEMUX_OK)
            assert(g->starts);
        free(g);
        if (demux_group(&g, x, &f->in, at + (uint64_t)i, &why) == DEMUX_OK)
            assert(g->next > g->place);
        free(g);
    }
}

static void play(const struct demux_index *x, const struct file *f)
{
    const struct demux_info *info = demux_info(x);
    demux_place at = demux_seek(x, INT64_MIN);
    struct demux_group *g;
    const char *why;

    assert(info->zero >= 0 && info->duration >= 0);
    for (int64_t left = STEPS; left > 0 && demux_group(&g, x, &f->in, at, &why) == DEMUX_OK;) {
        bool over = g->last;
        int64_t last[DEMUX_TRACKS] = { 0 }; /* lists of fragments lie about what is between them */

        assert(g->place == at && g->next > at && g->n <= DEMUX_GROUP_MAX);
        for (unsigned i = 0; i < g->n; i++) {
            const struct demux_sample *s = &g->v[i];

            assert(s->size > 0 && s->at >= 0 && s->at + (int64_t)s->size <= f->in.size);
            assert(s->dts >= last[s->track] && (i == 0 || s->dts >= g->v[i - 1].dts));
            last[s->track] = s->dts;
            make_packet(x, f, s);
        }
        if (g->starts && g->n > 0)
            assert(demux_seek(x, INT64_MAX) >= at);
        at = g->next;
        left -= f->in.size;
        free(g);
        if (over)
            break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct demux_limits limits = { .index_max = 1 << 20 };
    const struct file f = { { (int64_t)size, read_file }, data };
    struct demux_index *x;
    const char *why;

    if (demux_open(&x, &f.in, &limits, &why) == DEMUX_OK) {
        play(x, &f);
        jump(x, &f);
        demux_close(x);
    }
    return 0;
}
