/* SPDX-License-Identifier: MIT */
/* address.c - addresses in chunks, [RTMFP] 2.1.5. */
#include "proto/rtmfp/address.h"

#include "base/ip.h"

enum { V6 = 0x80, ORIGIN = 0x03 };

void rtmfp_address_read(struct rd *r, struct rtmfp_address *out)
{
    uint8_t flags = rd_u8(r);
    const uint8_t *ip = rd_take(r, flags & V6 ? 16 : 4);

    *out = (struct rtmfp_address){ .origin = (enum rtmfp_origin)(flags & ORIGIN) };
    if (ip && flags & V6)
        memcpy(out->at.ip, ip, sizeof(out->at.ip));
    else if (ip)
        ip_from_v4(ip, out->at.ip);
    out->at.port = rd_u16(r);
}

void rtmfp_address_write(struct wr *w, const struct rtmfp_address *a)
{
    bool v4 = ip_is_v4(a->at.ip);

    wr_u8(w, (uint8_t)((v4 ? 0 : V6) | a->origin));
    wr_bytes(w, v4 ? a->at.ip + 12 : a->at.ip, v4 ? 4 : 16);
    wr_u16(w, a->at.port);
}
