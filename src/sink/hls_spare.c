/* SPDX-License-Identifier: MIT */
/* hls_spare.c - buffers of segments that were written, for those to come. */
#include "sink/hls_spare.h"

#include "base/must.h"

#include <stddef.h>
#include <stdlib.h>

enum { MUCH_LARGER = 4 }; /* times: that is for others */

struct hls_spares *hls_spares_new(void)
{
    struct hls_spares *p = must(calloc(1, sizeof(*p)));

    ref_init(&p->ref);
    return p;
}

struct hls_spares *hls_spares_ref(struct hls_spares *p)
{
    ref_get(&p->ref);
    return p;
}

static struct hls_spare remove_at(struct hls_spares *p, unsigned i)
{
    struct hls_spare x = p->v[i];

    p->bytes -= x.cap;
    p->v[i] = p->v[--p->n];
    return x;
}

struct hls_spares *hls_spares_unref(struct hls_spares *p)
{
    if (!p || !ref_put(&p->ref))
        return NULL;
    co_timer_cancel(&p->sweep);
    while (p->n > 0)
        free(remove_at(p, 0).buf);
    free(p);
    return NULL;
}

/* As many as nobody needed since the last time. */
static void sweep(struct co_timer *t)
{
    struct hls_spares *p =
        (struct hls_spares *)(void *)((char *)t - offsetof(struct hls_spares, sweep));

    for (unsigned i = p->least; i > 0; i--)
        free(remove_at(p, 0).buf);
    p->least = p->n;
    if (p->n > 0)
        co_timer_set(t, co_now() + HLS_SPARE_TIME, sweep);
}

void hls_spare_take(struct hls_spares *p, struct wr *w, size_t size)
{
    unsigned best = p->n;

    for (unsigned i = 0; i < p->n; i++) {
        size_t cap = p->v[i].cap;

        if (cap >= size && cap / MUCH_LARGER <= size && (best == p->n || cap < p->v[best].cap))
            best = i;
    }
    if (best == p->n) {
        (void)wr_reserve(w, size);
        return;
    }
    struct hls_spare x = remove_at(p, best);

    if (p->n < p->least)
        p->least = p->n;
    free(w->buf);
    w->buf = x.buf;
    w->cap = x.cap;
}

void hls_spare_give(struct hls_spares *p, uint8_t *buf, size_t cap)
{
    if (p->n == HLS_SPARES || cap < HLS_SPARE_LEAST || p->bytes + cap > HLS_SPARE_BYTES) {
        free(buf);
        return;
    }
    if (p->n == 0) {
        p->least = 0;
        co_timer_set(&p->sweep, co_now() + HLS_SPARE_TIME, sweep);
    }
    p->v[p->n++] = (struct hls_spare){ buf, cap };
    p->bytes += cap;
}
