/* SPDX-License-Identifier: MIT */
/* demux_file.c - files in memory for a demuxer, and a walk over its output. */
#include "demux_file.h"

static enum demux_status file_input(const struct demux_input *in, int64_t at, void *buf,
                                    size_t size)
{
    struct file *f = container_of((struct demux_input *)(uintptr_t)in, struct file, in);
    size_t left = at < in->size ? (size_t)(in->size - at) : 0;

    assert_true(at >= 0);
    if (++f->reads == f->fail_at)
        return f->fail;
    if (size > left)
        return DEMUX_BROKEN;
    memcpy(buf, f->data + at, size);
    f->bytes += size;
    return DEMUX_OK;
}

void file_init(struct file *f, const uint8_t *data, size_t size)
{
    *f = (struct file){ .in = { .size = (int64_t)size, .read = file_input }, .data = data };
}

struct demux_index *file_open(struct file *f)
{
    const struct demux_limits limits = { .index_max = 1 << 20 };
    struct demux_index *x = NULL;
    const char *why = "";

    if (demux_open(&x, &f->in, &limits, &why) != DEMUX_OK)
        fail_msg("%s", why);
    return x;
}

static void walk_group(struct walk_all *w, const struct demux_group *g, int64_t size)
{
    assert_true(g->n <= DEMUX_GROUP_MAX);
    assert_true(g->next > g->place);
    for (unsigned i = 0; i < g->n; i++) {
        const struct demux_sample *s = &g->v[i];

        assert_true(s->size > 0 && s->at >= 0 && s->at + (int64_t)s->size <= size);
        assert_true(s->track < DEMUX_TRACKS);
        assert_true(s->dts >= 0 && s->dts >= w->last[s->track]);
        assert_true(i == 0 || g->v[i - 1].dts <= s->dts);
        w->last[s->track] = s->dts;
        if (w->samples < COUNT(w->v))
            w->v[w->samples] = *s;
        w->samples++;
        w->of[s->track]++;
        w->configs += s->config;
    }
    w->groups++;
}

void walk_all(struct walk_all *w, const struct demux_index *x, struct file *f)
{
    demux_position at = demux_seek(x, INT64_MIN);
    bool last = false;
    const char *why = "";

    *w = (struct walk_all){ .groups = 0 };
    while (w->ended == DEMUX_OK && !last) {
        struct demux_group *g = NULL;

        w->ended = demux_group(&g, x, &f->in, at, &why);
        if (w->ended != DEMUX_OK) {
            assert_null(g);
            break;
        }
        assert_true(g->place == at);
        walk_group(w, g, f->in.size);
        last = g->last;
        at = g->next;
        free(g);
    }
}
