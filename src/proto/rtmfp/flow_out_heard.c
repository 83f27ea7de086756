/* SPDX-License-Identifier: MIT */
/* flow_out_heard.c - what becomes of fragments under way: acknowledged, lost, given up (RFC 7016,
 * sections 3.6.2.2, 3.6.2.5, 3.6.2.6). */
#include "proto/rtmfp/flow_out_impl.h"

#include <stdlib.h>

enum { MISSES = 3 }; /* acks of later transmissions by which one is lost */

/* Its bytes are not in flight any more. */
static void landed(struct rtmfp_flow_out *f, struct rtmfp_fragment *g)
{
    if (g->state == RTMFP_FLYING || g->state == RTMFP_GIVEN_UP)
        f->in_flight -= rtmfp_flow_weight(g);
    else if (g->state == RTMFP_LOST)
        f->lost--;
}

static void done(struct rtmfp_flow_out *f, struct rtmfp_fragment *g)
{
    landed(f, g);
    rtmfp_message_unref(g->message);
    g->message = NULL;
    g->state = RTMFP_DONE;
}

static bool carries_end(const struct rtmfp_flow_out *f, uint64_t seq)
{
    return f->final_sent && seq == f->next_seq - 1;
}

void rtmfp_flow_give_up(struct rtmfp_flow_out *f, uint64_t seq)
{
    struct rtmfp_fragment *g = rtmfp_flow_fragment(f, seq);

    if (g->state == RTMFP_DONE || g->state == RTMFP_GIVEN_UP)
        return;
    if (carries_end(f, seq)) {
        if (g->state == RTMFP_FLYING)
            f->in_flight -= g->size; /* it stays, without bytes */
        g->size = 0;
        g->place = RTMFP_WHOLE;
        rtmfp_message_unref(g->message);
        g->message = NULL;
    } else if (g->state == RTMFP_LOST) {
        done(f, g);
    } else {
        rtmfp_message_unref(g->message);
        g->message = NULL;
        g->state = RTMFP_GIVEN_UP;
    }
}

/* What is idle has no memory. Flows of media are so for a moment only, and keep theirs. */
static void rest(struct rtmfp_flow_out *f)
{
    if (f->order != RTMFP_COMMANDS || f->base != f->next_seq || f->waiting_n > 0)
        return;
    free(f->under_way);
    free(f->waiting);
    f->under_way = NULL;
    f->waiting = NULL;
    f->under_way_room = f->waiting_room = f->waiting_first = 0;
}

void rtmfp_flow_forward(struct rtmfp_flow_out *f)
{
    while (f->base < f->next_seq && rtmfp_flow_fragment(f, f->base)->state == RTMFP_DONE)
        f->base++;
    if (f->forward < f->base - 1)
        f->forward = f->base - 1;
    while (f->forward + 1 < f->next_seq) {
        uint8_t state = rtmfp_flow_fragment(f, f->forward + 1)->state;

        if (state != RTMFP_DONE && state != RTMFP_GIVEN_UP)
            break;
        f->forward++;
    }
    rest(f);
}

void rtmfp_flow_out_acked(struct rtmfp_flow_out *f, uint64_t first, uint64_t last,
                          struct rtmfp_freed *freed)
{
    uint32_t before = f->in_flight;

    if (first < f->base)
        first = f->base;
    if (last >= f->next_seq)
        last = f->next_seq - 1;
    for (uint64_t seq = first; seq <= last; seq++) {
        struct rtmfp_fragment *g = rtmfp_flow_fragment(f, seq);

        if (g->state == RTMFP_DONE)
            continue;
        if (!freed->any || (int32_t)(g->number - freed->latest) > 0)
            freed->latest = g->number;
        freed->any = true;
        done(f, g);
    }
    freed->bytes += before - f->in_flight;
    if (freed->any)
        f->known = true;
}

/* Lost for good, or to be sent again. */
static void lose(struct rtmfp_flow_out *f, uint64_t seq)
{
    struct rtmfp_fragment *g = rtmfp_flow_fragment(f, seq);

    if (g->state == RTMFP_GIVEN_UP) {
        done(f, g);
        return;
    }
    landed(f, g);
    g->state = RTMFP_LOST;
    if (f->lost++ == 0 || seq < f->lost_from)
        f->lost_from = seq;
    f->missed++;
    if (f->sums)
        f->sums->lost++;
}

static bool flies(const struct rtmfp_fragment *g)
{
    return g->state == RTMFP_FLYING || g->state == RTMFP_GIVEN_UP;
}

uint32_t rtmfp_flow_out_judge(struct rtmfp_flow_out *f, uint32_t latest, bool *gaps)
{
    uint32_t before = f->in_flight;

    for (uint64_t seq = f->base; seq < f->next_seq; seq++) {
        struct rtmfp_fragment *g = rtmfp_flow_fragment(f, seq);

        if (!flies(g) || (int32_t)(g->number - latest) >= 0)
            continue;
        *gaps = true;
        if (++g->misses >= MISSES)
            lose(f, seq);
    }
    rtmfp_flow_forward(f);
    return before - f->in_flight;
}

void rtmfp_flow_out_timeout(struct rtmfp_flow_out *f)
{
    for (uint64_t seq = f->base; seq < f->next_seq; seq++) {
        if (flies(rtmfp_flow_fragment(f, seq)))
            lose(f, seq);
    }
    rtmfp_flow_forward(f);
}

bool rtmfp_flow_out_oldest_flying(const struct rtmfp_flow_out *f, uint32_t *number)
{
    bool any = false;

    for (uint64_t seq = f->base; seq < f->next_seq; seq++) {
        const struct rtmfp_fragment *g = rtmfp_flow_fragment(f, seq);

        if (g->state != RTMFP_FLYING || (any && (int32_t)(g->number - *number) >= 0))
            continue;
        *number = g->number;
        any = true;
    }
    return any;
}

uint32_t rtmfp_flow_out_again(struct rtmfp_flow_out *f, uint32_t number)
{
    uint32_t before = f->in_flight;

    for (uint64_t seq = f->base; seq < f->next_seq; seq++) {
        const struct rtmfp_fragment *g = rtmfp_flow_fragment(f, seq);

        if (g->state == RTMFP_FLYING && g->number == number)
            lose(f, seq);
    }
    return before - f->in_flight;
}

bool rtmfp_flow_out_complete(const struct rtmfp_flow_out *f)
{
    return f->final_sent && f->base == f->next_seq;
}
