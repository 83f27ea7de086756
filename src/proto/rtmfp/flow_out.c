/* SPDX-License-Identifier: MIT */
/* flow_out.c - a flow to the peer: waiting messages, splitting, retransmission (RFC 7016, 3.6.2).
 */
#include "proto/rtmfp/flow_out.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* GIVEN_UP: in flight, but never retransmitted. */
enum rtmfp_fragment_state { RTMFP_DONE, RTMFP_FLYING, RTMFP_GIVEN_UP, RTMFP_LOST };

static struct rtmfp_fragment *rtmfp_flow_fragment(const struct rtmfp_flow_out *f,
                                                         uint64_t seq)
{
    return &f->fragments[seq & (f->fragments_room - 1)];
}

/* Bytes counted as in flight. An empty fragment counts too, because it can be lost. */
static uint32_t rtmfp_flow_weight(const struct rtmfp_fragment *g)
{
    return g->size + 1U;
}

static struct rtmfp_waiting *rtmfp_flow_waiting(const struct rtmfp_flow_out *f, uint32_t i)
{
    return &f->waiting[(f->waiting_first + i) & (f->waiting_room - 1)];
}

static void rtmfp_flow_give_up(struct rtmfp_flow_out *f, uint64_t seq);
static void rtmfp_flow_forward(struct rtmfp_flow_out *f);

enum { ROOM_FIRST = 64 << 10, RING_LEAST = 8 };

void rtmfp_flow_out_init(struct rtmfp_flow_out *f, uint64_t id, enum rtmfp_order order)
{
    *f = (struct rtmfp_flow_out){
        .id = id, .order = (uint8_t)order, .next_seq = 1, .base = 1, .room = ROOM_FIRST,
    };
}

static void drop_first_waiting(struct rtmfp_flow_out *f)
{
    struct rtmfp_waiting *w = rtmfp_flow_waiting(f, 0);

    f->waiting_bytes -= w->message->size - f->cut;
    f->cut = 0;
    rtmfp_message_unref(w->message);
    w->message = NULL;
    f->waiting_first = (f->waiting_first + 1) & (f->waiting_room - 1);
    f->waiting_n--;
}

void rtmfp_flow_out_fini(struct rtmfp_flow_out *f)
{
    while (f->waiting_n > 0)
        drop_first_waiting(f);
    for (uint64_t seq = f->base; seq < f->next_seq; seq++)
        rtmfp_message_unref(rtmfp_flow_fragment(f, seq)->message);
    free(f->waiting);
    free(f->fragments);
    f->waiting = NULL;
    f->fragments = NULL;
    f->base = f->next_seq;
}

/* ---- waiting messages */

static bool grow_waiting(struct rtmfp_flow_out *f)
{
    uint32_t room = f->waiting_room ? f->waiting_room * 2 : RING_LEAST;
    struct rtmfp_waiting *v;

    if (f->waiting_n < f->waiting_room)
        return true;
    if (room > RTMFP_WAITING_MAX)
        return false;
    v = mem_try(room * sizeof(*v));
    if (!v)
        return false;
    for (uint32_t i = 0; i < f->waiting_n; i++)
        v[i] = *rtmfp_flow_waiting(f, i);
    free(f->waiting);
    f->waiting = v;
    f->waiting_first = 0;
    f->waiting_room = room;
    return true;
}

bool rtmfp_flow_out_write(struct rtmfp_flow_out *f, struct rtmfp_message *m, bool keep)
{
    if (f->closing || f->rejected || !grow_waiting(f))
        return false;
    *rtmfp_flow_waiting(f, f->waiting_n) =
        (struct rtmfp_waiting){ .message = rtmfp_message_ref(m), .keep = keep };
    f->waiting_n++;
    f->waiting_bytes += m->size;
    return true;
}

void rtmfp_flow_out_close(struct rtmfp_flow_out *f)
{
    f->closing = true;
}

/* ---- abandoning */

static bool is_late(const struct rtmfp_message *m, bool keep, co_usec created_before)
{
    return m && !keep && m->created_at < created_before;
}

/* Abandons messages in flight; returns their number. *last: the message of the last fragment. */
static unsigned abandon_fragments(struct rtmfp_flow_out *f, co_usec created_before,
                                  const struct rtmfp_message **last)
{
    unsigned n = 0;

    for (uint64_t seq = f->base; seq < f->next_seq; seq++) {
        struct rtmfp_fragment *g = rtmfp_flow_fragment(f, seq);

        if (!is_late(g->message, g->keep, created_before))
            continue;
        n += g->message != *last;
        *last = g->message;
        rtmfp_flow_give_up(f, seq);
    }
    return n;
}

/* Removes late messages from the waiting list and keeps the order of the others. The message `cut`,
 * which is partly sent, was already counted. */
static unsigned abandon_waiting(struct rtmfp_flow_out *f, co_usec created_before,
                                const struct rtmfp_message *cut)
{
    uint32_t kept = 0, n = f->waiting_n;
    unsigned given_up = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct rtmfp_waiting w = *rtmfp_flow_waiting(f, i);

        if (!is_late(w.message, w.keep, created_before)) {
            *rtmfp_flow_waiting(f, kept++) = w;
            continue;
        }
        given_up += i > 0 || w.message != cut;
        f->waiting_bytes -= w.message->size - (i == 0 ? f->cut : 0);
        if (i == 0)
            f->cut = 0;
        rtmfp_message_unref(w.message);
    }
    f->waiting_n = kept;
    return given_up;
}

unsigned rtmfp_flow_out_abandon(struct rtmfp_flow_out *f, co_usec created_before)
{
    const struct rtmfp_message *last = NULL;
    unsigned n = abandon_fragments(f, created_before, &last);

    n += abandon_waiting(f, created_before, last);
    rtmfp_flow_forward(f);
    f->abandoned += n;
    if (f->sums)
        f->sums->abandoned += n;
    return n;
}

void rtmfp_flow_out_reject(struct rtmfp_flow_out *f)
{
    f->rejected = true;
    while (f->waiting_n > 0)
        drop_first_waiting(f);
    for (uint64_t seq = f->base; seq < f->next_seq; seq++)
        rtmfp_flow_give_up(f, seq);
    rtmfp_flow_forward(f);
    f->closing = true;
}

/* ---- splitting */

static bool grow_fragments(struct rtmfp_flow_out *f)
{
    uint32_t room = f->fragments_room ? f->fragments_room * 2 : RING_LEAST;
    struct rtmfp_fragment *v;

    if (f->next_seq - f->base < f->fragments_room)
        return true;
    if (room > RTMFP_FRAGMENTS_MAX)
        return false;
    v = mem_try(room * sizeof(*v));
    if (!v)
        return false;
    for (uint64_t seq = f->base; seq < f->next_seq; seq++)
        v[seq & (room - 1)] = *rtmfp_flow_fragment(f, seq);
    free(f->fragments);
    f->fragments = v;
    f->fragments_room = room;
    return true;
}

static bool must_send_final(const struct rtmfp_flow_out *f)
{
    return f->closing && f->waiting_n == 0 && !f->final_sent;
}

bool rtmfp_flow_out_ready(const struct rtmfp_flow_out *f)
{
    if (f->lost > 0 || must_send_final(f))
        return true;
    return f->waiting_n > 0 && f->in_flight < f->room &&
           f->next_seq - f->base < RTMFP_FRAGMENTS_MAX;
}

static void fill_cut(const struct rtmfp_flow_out *f, uint64_t seq, struct rtmfp_cut *out)
{
    const struct rtmfp_fragment *g = rtmfp_flow_fragment(f, seq);

    *out = (struct rtmfp_cut){
        .seq = seq, .data = g->message ? g->message->bytes + g->offset : NULL, .size = g->size,
        .position = g->position, .abandoned = !g->message,
        .final = f->final_sent && seq == f->next_seq - 1,
    };
}

static void send_fragment(struct rtmfp_flow_out *f, struct rtmfp_fragment *g, uint32_t number)
{
    g->state = RTMFP_FLYING;
    g->number = number;
    g->misses = 0;
    f->in_flight += rtmfp_flow_weight(g);
}

uint64_t rtmfp_flow_out_next_seq(const struct rtmfp_flow_out *f)
{
    uint64_t seq = f->lost_from > f->base ? f->lost_from : f->base;

    if (f->lost == 0)
        return f->next_seq;
    while (seq < f->next_seq && rtmfp_flow_fragment(f, seq)->state != RTMFP_LOST)
        seq++;
    return seq;
}

static bool next_lost(struct rtmfp_flow_out *f, size_t room, uint64_t after, uint32_t number,
                      struct rtmfp_cut *out)
{
    uint64_t seq = rtmfp_flow_out_next_seq(f);
    struct rtmfp_fragment *g = rtmfp_flow_fragment(f, seq);

    assert(g->state == RTMFP_LOST); /* it is counted in `lost`, so it exists */
    if (g->size > room || (after && seq != after + 1))
        return false;
    send_fragment(f, g, number);
    f->lost--;
    f->lost_from = seq + 1;
    f->retransmitted++;
    if (f->sums)
        f->sums->retransmitted++;
    fill_cut(f, seq, out);
    return true;
}

/* Creates the empty fragment that ends a flow whose last message was already sent (3.6.2.4). */
static void cut_final(struct rtmfp_flow_out *f, struct rtmfp_fragment *g)
{
    *g = (struct rtmfp_fragment){ .position = RTMFP_WHOLE };
    f->final_sent = true;
}

static void cut_message(struct rtmfp_flow_out *f, size_t size, struct rtmfp_fragment *g)
{
    const struct rtmfp_waiting *w = rtmfp_flow_waiting(f, 0);
    bool begins = f->cut == 0, ends = f->cut + size == w->message->size;

    *g = (struct rtmfp_fragment){
        .message = rtmfp_message_ref(w->message), .offset = f->cut, .size = (uint16_t)size,
        .keep = w->keep,
        .position = begins ? ends ? RTMFP_WHOLE : RTMFP_BEGIN : ends ? RTMFP_END : RTMFP_MIDDLE,
    };
    f->cut += (uint32_t)size;
    f->waiting_bytes -= size;
    if (ends)
        drop_first_waiting(f);
}

/* Returns how much of the first waiting message fits into this room; SIZE_MAX: nothing. */
static size_t fitting(struct rtmfp_flow_out *f, size_t room)
{
    size_t left = rtmfp_flow_waiting(f, 0)->message->size - f->cut;

    if (left <= room)
        return left;
    return room >= RTMFP_FRAGMENT_LEAST ? room : SIZE_MAX;
}

bool rtmfp_flow_out_next(struct rtmfp_flow_out *f, size_t room, uint64_t after, uint32_t number,
                         struct rtmfp_cut *out)
{
    struct rtmfp_fragment *g;
    size_t size = 0;

    if (room > UINT16_MAX)
        room = UINT16_MAX;
    if (f->lost > 0)
        return next_lost(f, room, after, number, out);
    if (!rtmfp_flow_out_ready(f) || (after && f->next_seq != after + 1))
        return false;
    if (f->waiting_n > 0)
        size = fitting(f, room);
    if (size == SIZE_MAX || !grow_fragments(f))
        return false;
    g = rtmfp_flow_fragment(f, f->next_seq++);
    if (f->waiting_n > 0)
        cut_message(f, size, g);
    else
        cut_final(f, g);
    if (must_send_final(f))
        f->final_sent = true;
    send_fragment(f, g, number);
    fill_cut(f, f->next_seq - 1, out);
    return true;
}

/* ---- fragments in flight: acknowledged, lost, given up (RFC 7016, sections 3.6.2.2, 3.6.2.5,
 * 3.6.2.6) */

enum { MISSES = 3 }; /* acks for later transmissions after which a fragment is lost */

/* Removes a fragment from the counters of its state. */
static void uncount(struct rtmfp_flow_out *f, struct rtmfp_fragment *g)
{
    if (g->state == RTMFP_FLYING || g->state == RTMFP_GIVEN_UP)
        f->in_flight -= rtmfp_flow_weight(g);
    else if (g->state == RTMFP_LOST)
        f->lost--;
}

static void done(struct rtmfp_flow_out *f, struct rtmfp_fragment *g)
{
    uncount(f, g);
    rtmfp_message_unref(g->message);
    g->message = NULL;
    g->state = RTMFP_DONE;
}

static bool carries_end(const struct rtmfp_flow_out *f, uint64_t seq)
{
    return f->final_sent && seq == f->next_seq - 1;
}

/* Gives up a fragment. If it carries the end of the flow, it remains, without bytes. */
static void rtmfp_flow_give_up(struct rtmfp_flow_out *f, uint64_t seq)
{
    struct rtmfp_fragment *g = rtmfp_flow_fragment(f, seq);

    if (g->state == RTMFP_DONE || g->state == RTMFP_GIVEN_UP)
        return;
    if (carries_end(f, seq)) {
        if (g->state == RTMFP_FLYING)
            f->in_flight -= g->size; /* it remains in flight, without bytes */
        g->size = 0;
        g->position = RTMFP_WHOLE;
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

/* Frees the memory of an idle flow. Media flows are idle only briefly and keep theirs. */
static void free_idle(struct rtmfp_flow_out *f)
{
    if (f->order != RTMFP_COMMANDS || f->base != f->next_seq || f->waiting_n > 0)
        return;
    free(f->fragments);
    free(f->waiting);
    f->fragments = NULL;
    f->waiting = NULL;
    f->fragments_room = f->waiting_room = f->waiting_first = 0;
}

/* Advances `base` and `forward` as far as possible. */
static void rtmfp_flow_forward(struct rtmfp_flow_out *f)
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
    free_idle(f);
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

/* Marks a fragment as lost: done if it was given up, otherwise to be retransmitted. */
static void lose(struct rtmfp_flow_out *f, uint64_t seq)
{
    struct rtmfp_fragment *g = rtmfp_flow_fragment(f, seq);

    if (g->state == RTMFP_GIVEN_UP) {
        done(f, g);
        return;
    }
    uncount(f, g);
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

uint32_t rtmfp_flow_out_retransmit(struct rtmfp_flow_out *f, uint32_t number)
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
