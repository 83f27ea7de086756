/* SPDX-License-Identifier: MIT */
/* rtp_player.c - a player of an RTP wire, and the packets that it receives. */
#include "rtp_player.h"

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_FULL, .gop_cache_max_frames = 100000,
    .queue_length = CO_SECONDS(30), .max_bytes = 64 << 20,
};

struct live_source *source_new(void)
{
    return live_begin(&settings);
}

void ear_open(struct ear *e, struct live_source *src, uint32_t tracks, uint32_t mtu)
{
    const uint32_t param[LIVE_PARAMS] = { [RTP_WIRE_TRACKS] = tracks, [RTP_WIRE_MTU] = mtu,
                                          [RTP_WIRE_SEED] = SEED };

    *e = (struct ear){ .n = 0 };
    wr_init(&e->bytes, 64 << 20);
    e->v = calloc(ITEMS_MAX, sizeof(e->v[0]));
    assert_non_null(e->v);
    live_consumer_open(&e->c, src, &rtp_wire, param);
}

static void read_report(struct item *it, const uint8_t *data, size_t size)
{
    struct rtcp_reader r;
    struct rtcp_packet p;

    rtcp_begin(&r, data, size);
    assert_true(rtcp_next(&r, &p));
    assert_true(p.type == RTCP_SR || p.type == RTCP_RR);
    it->bye = p.type == RTCP_RR;
    it->sr = p.sr;
    it->ssrc = p.ssrc;
    assert_true(rtcp_next(&r, &p));
    assert_int_equal(p.type, RTCP_SDES);
    assert_int_equal(p.ssrc, it->ssrc);
    it->cname = rtcp_cname(&p, &it->cname_size);
    assert_non_null(it->cname);
    if (it->bye) {
        assert_true(rtcp_next(&r, &p));
        assert_true(p.type == RTCP_BYE && p.ssrc == it->ssrc);
    }
    assert_false(rtcp_next(&r, &p));
}

void ear_take(struct ear *e)
{
    struct rd r;

    for (;;) {
        struct iovec iov[16];
        int n = live_consumer_ranges(&e->c, iov, 16, false);
        size_t sent = 0;

        if (n == 0 && live_consumer_pending(&e->c) == 0)
            break;
        for (int i = 0; i < n; i++) {
            wr_bytes(&e->bytes, iov[i].iov_base, iov[i].iov_len);
            sent += iov[i].iov_len;
        }
        if (n > 0)
            live_consumer_advance(&e->c, sent);
    }
    r = rd_init(e->bytes.buf, e->bytes.len);
    for (e->n = 0; rd_left(&r) > 0; e->n++) {
        struct item *it = &e->v[e->n];
        const uint8_t *head = rd_take(&r, RTP_INTERLEAVED), *data;
        uint8_t channel;
        uint16_t size;

        assert_true(e->n < ITEMS_MAX && head);
        assert_true(rtp_interleaved_parse(head, &channel, &size));
        data = rd_take(&r, size);
        assert_true(data && channel < 4);
        *it = (struct item){ .track = channel / 2, .report = channel % 2 };
        if (it->report)
            read_report(it, data, size);
        else
            assert_true(rtp_parse(&it->rtp, data, size));
    }
}

void ear_close(struct ear *e)
{
    live_consumer_close(&e->c);
    wr_free(&e->bytes);
    free(e->v);
}

const struct item *nth_packet(const struct ear *e, unsigned track, unsigned n)
{
    for (unsigned i = 0; i < e->n; i++) {
        if (e->v[i].track == track && !e->v[i].report && n-- == 0)
            return &e->v[i];
    }
    return NULL;
}

unsigned packets_of(const struct ear *e, unsigned track)
{
    unsigned n = 0;

    while (nth_packet(e, track, n))
        n++;
    return n;
}

unsigned byes_of(const struct ear *e)
{
    unsigned n = 0;

    for (unsigned i = 0; i < e->n; i++)
        n += e->v[i].bye;
    return n;
}

void ear_check(const struct ear *e)
{
    uint32_t packets[RTP_WIRE_N] = { 0 }, bytes[RTP_WIRE_N] = { 0 };
    uint16_t seq[RTP_WIRE_N] = { 0 };
    bool told[RTP_WIRE_N] = { false };
    uint64_t ntp = 0;

    for (unsigned i = 0; i < e->n; i++) {
        const struct item *it = &e->v[i];
        unsigned t = it->track;

        if (it->report) {
            assert_int_equal(it->ssrc, rtp_wire_ssrc(SEED, t));
            if (it->bye)
                continue;
            assert_true(it->sr.ntp >= ntp);
            assert_int_equal(it->sr.packets, packets[t]);
            assert_int_equal(it->sr.bytes, bytes[t]);
            assert_int_equal(it->cname_size, e->v[0].cname_size);
            assert_memory_equal(it->cname, e->v[0].cname, it->cname_size);
            ntp = it->sr.ntp;
            told[t] = true;
            continue;
        }
        assert_true(told[t]);
        assert_int_equal(it->rtp.ssrc, rtp_wire_ssrc(SEED, t));
        if (packets[t] > 0)
            assert_int_equal(it->rtp.seq, (uint16_t)(seq[t] + 1));
        seq[t] = it->rtp.seq;
        packets[t]++;
        bytes[t] += (uint32_t)it->rtp.payload_size;
    }
}
