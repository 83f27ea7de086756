/* SPDX-License-Identifier: MIT */
/* rtmfp_again.h - chunks read and written again: the same bytes must come out. */
#ifndef RTMFP_AGAIN_H
#define RTMFP_AGAIN_H

#include "proto/rtmfp/chunks.h"

/* False: invalid. `last`: the User Data before it, seq 0: none. */
bool chunk_again(struct wr *w, const struct rtmfp_chunk *c, struct rtmfp_user_data *last);

#endif
