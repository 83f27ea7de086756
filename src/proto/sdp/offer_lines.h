/* SPDX-License-Identifier: MIT */
/* offer_lines.h - attributes of an offer: between offer.c and offer_lines.c. */
#ifndef PROTO_SDP_OFFER_LINES_H
#define PROTO_SDP_OFFER_LINES_H

#include "proto/sdp/offer.h"

struct sdp_offer_reader {
    struct sdp_offer *o;
    struct sdp_section session;  /* what holds for sections without their own */
    struct sdp_section *section; /* NULL: in front of the first one */
    bool own_fingerprint;        /* of that section, or of the session */
    unsigned ssrc_lines;
    unsigned all_feedback;  /* "a=rtcp-fb:*" of the section */
    uint8_t places[128];    /* of its payload types, and 1 more; 0: it has none such */
    char *bundle;                /* mids of the first a=group:BUNDLE, or NULL */
};

/* "name:value", a string that is cut in place. */
err_t sdp_offer_attribute(struct sdp_offer_reader *r, char *line)
    __attribute__((warn_unused_result));

#endif
