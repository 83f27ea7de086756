/* SPDX-License-Identifier: MIT */
/* rtcp_write.c - RTCP that we say, [RFC 3550] 6.4 to 6.6. */
#include "proto/rtp/rtcp.h"

#include <string.h>

enum { VERSION = 2, CNAME = 1, BLOCKS_MAX = 31, TEXT_MAX = 255 };

/* [RFC 3550] section 4: from 1900 to 1970. */
#define EPOCH UINT64_C(2208988800)

static void head(struct wr *w, unsigned count, enum rtcp_type type, size_t words)
{
    wr_u8(w, (uint8_t)(VERSION << 6 | count));
    wr_u8(w, (uint8_t)type);
    wr_u16(w, (uint16_t)words);
}

void rtcp_put_sr(struct wr *w, uint32_t ssrc, const struct rtcp_sr *sr)
{
    head(w, 0, RTCP_SR, 6);
    wr_u32(w, ssrc);
    wr_be(w, sr->ntp, 8);
    wr_u32(w, sr->time);
    wr_u32(w, sr->packets);
    wr_u32(w, sr->bytes);
}

static uint32_t lost24(int32_t lost)
{
    if (lost > 0x7fffff)
        lost = 0x7fffff;
    if (lost < -0x800000)
        lost = -0x800000;
    return (uint32_t)lost & 0xffffff;
}

void rtcp_put_rr(struct wr *w, uint32_t ssrc, const struct rtcp_block *b, unsigned n)
{
    if (n > BLOCKS_MAX)
        n = BLOCKS_MAX;
    head(w, n, RTCP_RR, 1 + n * (size_t)6);
    wr_u32(w, ssrc);
    for (unsigned i = 0; i < n; i++) {
        wr_u32(w, b[i].ssrc);
        wr_u8(w, b[i].fraction);
        wr_u24(w, lost24(b[i].lost));
        wr_u32(w, b[i].highest);
        wr_u32(w, b[i].jitter);
        wr_u32(w, b[i].last_sr);
        wr_u32(w, b[i].delay);
    }
}

/* 6.5: the items end with a 0 at least, and with the word. */
void rtcp_put_cname(struct wr *w, uint32_t ssrc, const char *cname)
{
    size_t n = strnlen(cname, TEXT_MAX), words = (4 + 2 + n) / 4 + 1;

    head(w, 1, RTCP_SDES, words);
    wr_u32(w, ssrc);
    wr_u8(w, CNAME);
    wr_u8(w, (uint8_t)n);
    wr_bytes(w, cname, n);
    wr_be(w, 0, words * 4 - (4 + 2 + n));
}

void rtcp_put_bye(struct wr *w, uint32_t ssrc)
{
    head(w, 1, RTCP_BYE, 1);
    wr_u32(w, ssrc);
}

uint64_t rtcp_ntp(int64_t unix_us)
{
    uint64_t us = (uint64_t)unix_us, seconds = us / 1000000 + EPOCH;

    return seconds << 32 | ((us % 1000000) << 32) / 1000000;
}

int64_t rtcp_unix_us(uint64_t ntp)
{
    uint64_t seconds = ntp >> 32, us = ((ntp & 0xffffffff) * 1000000 + (1u << 31)) >> 32;

    return ((int64_t)seconds - (int64_t)EPOCH) * 1000000 + (int64_t)us;
}
