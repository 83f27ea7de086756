/* SPDX-License-Identifier: MIT */
/* epd.h - endpoint discriminators ([PROFILE] 4.4): whom an initiator wants to speak to. */
#ifndef PROTO_RTMFP_EPD_H
#define PROTO_RTMFP_EPD_H

#include "proto/rtmfp/certificate.h"

enum { RTMFP_EPD_OF_ID = 2 + RTMFP_PEER_ID };

struct rtmfp_epd {
    bool has_hostname, has_ancillary, has_fingerprint;
    struct rtmfp_bytes hostname, ancillary, fingerprint;
};
bool rtmfp_epd_read(struct rtmfp_epd *e, struct rtmfp_bytes data); /* false: it is wrong */

/* Does it mean who has this certificate, and this id by it? */
bool rtmfp_epd_selects(const struct rtmfp_epd *e, const struct rtmfp_certificate *c,
                       const uint8_t id[RTMFP_PEER_ID]);
/* The peer that it means by its id; NULL: it means none so. */
const uint8_t *rtmfp_epd_peer(const struct rtmfp_epd *e);

/* The canonical one. */
void rtmfp_epd_write_id(struct wr *w, const uint8_t id[RTMFP_PEER_ID]);
/* As clients say it to a server. */
void rtmfp_epd_write_uri(struct wr *w, struct rtmfp_bytes uri);

#endif
