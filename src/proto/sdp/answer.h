/* SPDX-License-Identifier: MIT */
/* answer.h - lines that answers and fragments have: between answer.c and fragment.c. */
#ifndef PROTO_SDP_ANSWER_H
#define PROTO_SDP_ANSWER_H

#include "proto/sdp/agree.h"

void sdp_put_candidates(struct wr *w, const struct sdp_answer *ours);

#endif
