/* SPDX-License-Identifier: MIT */
/* fuzz_rtcp.c - any bytes as RTCP: all readers; output of feedback is limited by its
 * input. And packets that arrive or not, reported and requested: written data is read back unchanged. */
#include "base/rd.h"
#include "fuzz.h"
#include "proto/rtp/header.h"
#include "proto/rtp/nack.h"
#include "proto/rtp/twcc.h"
#include "rtcp_reader.h"

#include <assert.h>

enum { STEPS = 2000 };

static void read_feedback(struct rtcp_feedback *f)
{
    struct rtcp_twcc t;
    uint32_t ssrc;
    uint16_t seq, more;
    uint8_t number;
    uint64_t bps;
    int64_t at;
    bool came;
    unsigned n = 0;

    (void)rtcp_remb(f, &bps);
    if (rtcp_twcc_begin(&t, f)) {
        while (rtcp_twcc_next(&t, &seq, &came, &at))
            n++;
        assert(n <= t.count);
    }
    while (rtcp_next_nack(f, &seq, &more))
        ;
    while (rtcp_next_fir(f, &ssrc, &number))
        ;
}

static void read_all(const uint8_t *data, size_t size)
{
    struct rtcp_reader r;
    struct rtcp_packet p;
    struct rtcp_feedback f;
    struct rtcp_block b;
    uint32_t ssrc, last, delay;
    uint64_t ntp;
    size_t n = 0;

    rtcp_begin(&r, data, size);
    while (rtcp_next(&r, &p)) {
        const char *name = rtcp_cname(&p, &n);

        assert(!name || ((const uint8_t *)name >= data && name + n <= (const char *)data + size));
        (void)rtcp_rrtr(&p, &ntp);
        if (rtcp_dlrr(&p, 0, &last, &delay))
            assert(rtcp_round_trip(1700000000000000, last, delay) >= 0);
        if (rtcp_feedback(&p, &f))
            read_feedback(&f);
        while (rtcp_next_source(&p, &ssrc))
            ;
        while (rtcp_next_block(&p, &b))
            ;
    }
}

/* All reports are about received packets, and no time is truncated. */
static void read_back(const struct wr *w, const uint8_t came[65536])
{
    struct rtcp_reader r;
    struct rtcp_packet p;
    struct rtcp_feedback f;
    struct rtcp_twcc t;
    uint16_t seq;
    int64_t at;
    bool here;
    unsigned n = 0;

    assert(!w->bad && w->len % 4 == 0);
    rtcp_begin(&r, w->buf, w->len);
    assert(rtcp_next(&r, &p) && rtcp_feedback(&p, &f) && rtcp_twcc_begin(&t, &f));
    while (rtcp_twcc_next(&t, &seq, &here, &at)) {
        assert(!here || came[seq]);
        n++;
    }
    assert(n == t.count && !rtcp_next(&r, &p) && !r.r.bad);
}

/* Three bytes of each: the error of its number, and the time since the previous one. */
static void receive(struct rd *r)
{
    static uint8_t came[65536];
    struct rtp_twcc t = { 0 };
    struct rtp_nack n = { 0 };
    struct wr w;
    co_usec now = CO_SECONDS(1);
    int64_t seq = 0;
    uint16_t seqs[64];

    memset(came, 0, sizeof(came));
    wr_init(&w, RTP_TWCC_SIZE);
    for (int i = 0; i < STEPS && rd_left(r) >= 3; i++) {
        int16_t step = (int16_t)rd_u16(r);
        uint8_t wait = rd_u8(r);

        seq += step / 64;
        now += (co_usec)wait * wait * wait;
        came[(uint16_t)seq] = 1;
        (void)rtp_nack_put(&n, seq, now);
        if (rtp_twcc_put(&t, (uint16_t)seq, now) || wait == 3) {
            while (rtp_twcc_write(&t, &w, 1, 2, now)) {
                read_back(&w, came);
                w.len = 0;
            }
        }
        assert(n.n <= RTP_NACK_HOLES && rtp_nack_request(&n, now, CO_MS(wait), seqs, 64) <= 64);
    }
    wr_free(&w);
    rtp_twcc_fini(&t);
    rtp_nack_fini(&n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);

    if (rd_u8(&r) & 1)
        receive(&r);
    else
        read_all(r.p, rd_left(&r));
    return 0;
}
