/* SPDX-License-Identifier: MIT */
/* fuzz_rtp.c - any bytes as RTP and RTCP packets, in any order, at any time. */
#include "base/rd.h"
#include "fuzz.h"
#include "proto/rtp/align.h"
#include "proto/rtp/receiver.h"

#include <assert.h>

static void read_reports(struct rtp_receiver *rx, struct rtp_align *a, const uint8_t *data,
                         size_t size, co_usec now)
{
    struct rtcp_reader r;
    struct rtcp_packet p;
    struct rtcp_block b;
    uint32_t ssrc;
    size_t n = 0;

    rtcp_begin(&r, data, size);
    while (rtcp_next(&r, &p)) {
        const char *name = rtcp_cname(&p, &n);

        assert(!name || ((const uint8_t *)name >= data && name + n <= (const char *)data + size));
        while (rtcp_next_source(&p, &ssrc))
            ;
        if (p.type == RTCP_SR) {
            rtp_receiver_sr(rx, p.ssrc, &p.sr, now);
            rtp_align_sr(a, p.ssrc & 1, &p.sr, rx->time, now);
        }
        while (rtcp_next_block(&p, &b))
            ;
    }
}

/* Each packet: two bytes of length and time, then its content. The first byte is the window. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    struct rtp_receiver_opts opts = { .type = 96, .clock = 90000, .wait = CO_MS(20) };
    struct rtp_align a = { .track = { { .clock = 90000 }, { .clock = 8000 } } };
    struct rtp_receiver rx;
    struct rtp_received got;
    struct rtcp_block b;
    co_usec now = 0;

    opts.window = rd_u8(&r);
    rtp_receiver_init(&rx, &opts);
    while (rd_left(&r) >= 2) {
        uint8_t n = rd_u8(&r), wait = rd_u8(&r);
        size_t most = n < rd_left(&r) ? n : rd_left(&r);
        const uint8_t *p = rd_take(&r, most);

        now += CO_MS(wait) / 16;
        if (rtp_receiver_put(&rx, p, most, now) == RTP_IS_RTCP)
            read_reports(&rx, &a, p, most, now);
        while (rtp_receiver_next(&rx, now, &got)) {
            assert(got.size > 0 && got.size < 256);
            (void)rtp_align_time(&a, got.payload[0] & 1, got.time, got.restart, now);
        }
        assert(rtp_receiver_deadline(&rx) == CO_FOREVER || rtp_receiver_deadline(&rx) > now);
        (void)rtp_receiver_report(&rx, now, &b);
    }
    rtp_receiver_fini(&rx);
    return 0;
}
