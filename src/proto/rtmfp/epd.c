/* SPDX-License-Identifier: MIT */
/* epd.c - endpoint discriminators, [PROFILE] 4.4. */
#include "proto/rtmfp/epd.h"

enum { HOSTNAME = 0x00, ANCILLARY = 0x0a, FINGERPRINT = 0x0f };

bool rtmfp_epd_read(struct rtmfp_epd *e, struct rtmfp_bytes data)
{
    struct rtmfp_options list = rtmfp_options_of(data);
    struct rtmfp_option o;

    *e = (struct rtmfp_epd){ .has_hostname = false };
    while (data.n <= RTMFP_EPD_MAX && rtmfp_option_next(&list, &o)) {
        if (o.marker)
            continue;
        if (o.type == HOSTNAME) {
            e->has_hostname = true;
            e->hostname = o.value;
        } else if (o.type == ANCILLARY) {
            e->has_ancillary = true;
            e->ancillary = o.value;
        } else if (o.type == FINGERPRINT) {
            e->has_fingerprint = true;
            e->fingerprint = o.value;
        }
    }
    return data.n <= RTMFP_EPD_MAX && !rtmfp_options_bad(&list);
}

bool rtmfp_epd_selects(const struct rtmfp_epd *e, const struct rtmfp_certificate *c,
                       const uint8_t id[RTMFP_PEER_ID])
{
    if (e->has_fingerprint)
        return rtmfp_bytes_same(e->fingerprint, rtmfp_bytes(id, RTMFP_PEER_ID));
    if (e->has_hostname && !(c->has_hostname && rtmfp_bytes_same(e->hostname, c->hostname)))
        return false;
    if (e->has_ancillary && !c->accepts_ancillary)
        return false;
    return e->has_hostname || e->has_ancillary;
}

const uint8_t *rtmfp_epd_peer(const struct rtmfp_epd *e)
{
    return e->has_fingerprint && e->fingerprint.n == RTMFP_PEER_ID ? e->fingerprint.p : NULL;
}

void rtmfp_epd_write_id(struct wr *w, const uint8_t id[RTMFP_PEER_ID])
{
    rtmfp_option_write(w, FINGERPRINT, rtmfp_bytes(id, RTMFP_PEER_ID));
}

void rtmfp_epd_write_uri(struct wr *w, struct rtmfp_bytes uri)
{
    rtmfp_option_write(w, ANCILLARY, uri);
}
