/* SPDX-License-Identifier: MIT */
/* send_impl.h - what send.c and send_heard.c share. */
#ifndef PROTO_SRT_SEND_IMPL_H
#define PROTO_SRT_SEND_IMPL_H

#include "proto/srt/send.h"

bool srt_sender_find(struct srt_sender *s, uint64_t packet, struct srt_log_entry *e);
/* These are never sent any more, which the peer is told. */
void srt_sender_give_up(struct srt_sender *s, uint64_t from, uint64_t end);
void srt_sender_return(struct srt_sender *s, co_usec now);

/* How long a peer may acknowledge nothing, or be behind. */
static inline co_usec srt_sender_patience(const struct srt_sender *s)
{
    return 4 * s->set.latency > CO_SECONDS(1) ? 4 * s->set.latency : CO_SECONDS(1);
}

/* The oldest packet that may be missing over there and that we have. */
static inline uint64_t srt_sender_unacked(const struct srt_sender *s)
{
    return s->acked > s->floor ? s->acked : s->floor;
}

#endif
