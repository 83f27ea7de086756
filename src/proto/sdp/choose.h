/* SPDX-License-Identifier: MIT */
/* choose.h - the codec of a section: between agree.c and choose.c. */
#ifndef PROTO_SDP_CHOOSE_H
#define PROTO_SDP_CHOOSE_H

#include "proto/sdp/agree.h"

/* Fills in what is of the payload type. ERR_RTC_NEGOTIATE: none fits, with what both have. */
err_t sdp_choose(struct sdp_track *t, const struct sdp_section *s, const struct sdp_wish *w)
    __attribute__((warn_unused_result));

#endif
