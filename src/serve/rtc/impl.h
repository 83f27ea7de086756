/* SPDX-License-Identifier: MIT */
/* impl.h - the WebRTC service of a worker, for the files of serve/rtc alone. */
#ifndef SERVE_RTC_IMPL_H
#define SERVE_RTC_IMPL_H

#include "serve/rtc/ask.h"
#include "serve/rtc/stream.h"
#include "session/workers.h"

enum { RTC_PENDING_OF_ADDRESS = 64, RTC_MAILS = 256 };

/* ---- candidates.c: where clients find us, the likeliest first */
/* Yields where a name is to be resolved (2 s at most, kept for 60 s). Returns how many. */
unsigned rtc_candidates(struct rtc_service *s, const struct rtc_ask *ask,
                        struct sdp_candidate out[SDP_CANDIDATES_MAX]);

/* ---- admit.c: on the thread of the worker where its stream is served */
void rtc_admit(struct rtc_service *s, struct rtc_ask *ask);

/* ---- input.c: a datagram, or a frame of a connection of TCP */
void rtc_input(struct rtc_endpoint *e, const struct udp_in *in, co_usec now);

#endif
