/* SPDX-License-Identifier: MIT */
/* flow_out_impl.h - fragments that are under way, for flow_out*.c alone. */
#ifndef PROTO_RTMFP_FLOW_OUT_IMPL_H
#define PROTO_RTMFP_FLOW_OUT_IMPL_H

#include "proto/rtmfp/flow_out.h"

/* GIVEN_UP: it is in flight, and whatever becomes of it, it is not sent again. */
enum rtmfp_fragment_state { RTMFP_DONE, RTMFP_FLYING, RTMFP_GIVEN_UP, RTMFP_LOST };

static inline struct rtmfp_fragment *rtmfp_flow_fragment(const struct rtmfp_flow_out *f,
                                                         uint64_t seq)
{
    return &f->under_way[seq & (f->under_way_room - 1)];
}

/* What is in flight of it. An empty one is something, too: it may be lost. */
static inline uint32_t rtmfp_flow_weight(const struct rtmfp_fragment *g)
{
    return g->size + 1U;
}

static inline struct rtmfp_waiting *rtmfp_flow_waiting(const struct rtmfp_flow_out *f, uint32_t i)
{
    return &f->waiting[(f->waiting_first + i) & (f->waiting_room - 1)];
}

/* It is not sent again; one that carries the end of the flow is, without bytes. */
void rtmfp_flow_give_up(struct rtmfp_flow_out *f, uint64_t seq);
/* Take `base` and `forward` as far as they go. */
void rtmfp_flow_forward(struct rtmfp_flow_out *f);

#endif
