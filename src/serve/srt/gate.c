/* SPDX-License-Identifier: MIT */
/* gate.c - so many callers of one address are asked about at a time. */
#include "serve/srt/gate.h"

struct srt_gate_guest {
    struct srt_gate_guest *next;
    struct co *co;
    bool in;
};

static void unlink_guest(struct srt_gate_place *p, struct srt_gate_guest *guest)
{
    struct srt_gate_guest **at = &p->first;

    while (*at != guest)
        at = &(*at)->next;
    *at = guest->next;
    if (!*at)
        p->end = at;
}

err_t srt_gate_enter(struct srt_gate *g, unsigned place)
{
    struct srt_gate_place *p = &g->v[place];
    struct srt_gate_guest me = { .co = co_self() };

    if (p->n < SRT_GATE_MOST) {
        p->n++;
        return NULL;
    }
    *(p->first ? p->end : &p->first) = &me;
    p->end = &me.next;
    while (!me.in) {
        if (co_park(CO_FOREVER) != CO_STOPPED || me.in)
            continue;
        unlink_guest(p, &me);
        return err_wrap(co_stop_why(), "waiting for other callers of its address");
    }
    return NULL;
}

/* Whose turn it is next has the place of who leaves. */
void srt_gate_leave(struct srt_gate *g, unsigned place)
{
    struct srt_gate_place *p = &g->v[place];
    struct srt_gate_guest *next = p->first;

    if (!next) {
        p->n--;
        return;
    }
    p->first = next->next;
    next->in = true;
    co_unpark(next->co);
}
