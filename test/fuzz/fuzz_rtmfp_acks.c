/* SPDX-License-Identifier: MIT */
/* fuzz_rtmfp_acks.c - acknowledgements of any kind from a player whose send queues are full: ranges
 * close to those in flight, in any order, and far from them. In any case everything
 * that was not abandoned is still sent when it acknowledges properly; that takes long, so the
 * queues are short. */
#include "base/rd.h"
#include "fuzz.h"
#include "proto/rtmfp/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FLOWS = 3, STEPS_MOST = 100, PACKETS_MOST = 64, DRAIN_MOST = 20000, SIZE = 900 };

static const struct rtmfp_session_ops ops; /* the peer opens no flows */
static const struct rtmfp_session_set set = {
    .ops = &ops, .mode = RTMFP_RESPONDER, .ping = CO_SECONDS(1000000),
    .timeout = CO_SECONDS(10000000), .message_max = 64 << 10, .key = { 1 },
};
static const struct udp_addr peer = { .port = 1 };
static co_usec now;

static void fill(struct rtmfp_session *s, unsigned most)
{
    struct rtmfp_message *m = rtmfp_message_new(SIZE, now);
    unsigned n;

    memset(m->bytes, 7, m->size);
    for (struct rtmfp_flow_out *f = s->outs; f; f = f->next) {
        for (n = 0; n < most && rtmfp_flow_out_write(f, m, f->order != RTMFP_VIDEO); n++)
            ;
        assert(f->waiting_n <= RTMFP_WAITING_MAX);
    }
    rtmfp_message_unref(m);
}

static void check(const struct rtmfp_session *s)
{
    uint32_t in_flight = 0;

    for (const struct rtmfp_flow_out *f = s->outs; f; f = f->next) {
        in_flight += f->in_flight;
        assert(f->base <= f->next_seq && f->forward < f->next_seq && f->forward + 1 >= f->base);
        assert(f->lost <= f->next_seq - f->base);
        assert(f->next_seq - f->base <= RTMFP_FRAGMENTS_MAX);
    }
    assert(in_flight == s->congestion.in_flight && in_flight <= RTMFP_CWND_MAX + SIZE);
}

static unsigned send_all(struct rtmfp_session *s)
{
    uint8_t bytes[RTMFP_PLAIN_MAX];
    struct udp_addr to;
    unsigned n = 0;

    for (;;) {
        struct wr w = rtmfp_wr(bytes, sizeof(bytes));

        if (!rtmfp_session_output(s, &w, &to, now))
            return n;
        assert(w.len > 0 && !w.bad && ++n < PACKETS_MOST);
    }
}

static struct wr packet(uint8_t *out, size_t room)
{
    const struct rtmfp_head head = { .mode = RTMFP_INITIATOR };
    struct wr w = rtmfp_wr(out, room);

    rtmfp_packet_begin(&w, &head);
    return w;
}

static void hear(struct rtmfp_session *s, const struct wr *w)
{
    rtmfp_session_input(s, rtmfp_bytes(w->buf, w->len), &peer, now);
    check(s);
    (void)send_all(s);
    check(s);
}

/* ---- content of the input */

/* A number near the oldest in flight, near the next one, or any. */
static uint64_t number(struct rd *in, const struct rtmfp_flow_out *f)
{
    uint8_t how = rd_u8(in);

    switch (how >> 6) {
    case 0: return f->base + (how & 63) - 8;
    case 1: return f->next_seq + (how & 63) - 48;
    case 2: return how & 63;
    default: return (uint64_t)rd_u32(in) << (how & 63);
    }
}

static const struct rtmfp_flow_out *flow(const struct rtmfp_session *s, uint8_t id)
{
    const struct rtmfp_flow_out *f = s->outs;

    while (f && f->id != 1u + id % FLOWS)
        f = f->next;
    return f;
}

static void ranges(const struct rtmfp_session *s, struct rd *in, struct wr *w)
{
    const struct rtmfp_flow_out *f = flow(s, rd_u8(in));
    size_t at = rtmfp_chunk_begin(w, RTMFP_ACK_RANGES);
    unsigned n = rd_u8(in) & 7;

    if (!f)
        return;
    rtmfp_vlu_write(w, f->id);
    rtmfp_vlu_write(w, rd_u8(in) * (n == 7 ? UINT64_C(1) << 55 : 1));
    rtmfp_vlu_write(w, number(in, f));
    while (n-- > 0) {
        rtmfp_vlu_write(w, rd_u8(in) & 31);
        rtmfp_vlu_write(w, n == 6 ? number(in, f) : rd_u8(in) & 31);
    }
    (void)rtmfp_chunk_end(w, at);
}

static void bitmap(const struct rtmfp_session *s, struct rd *in, struct wr *w)
{
    const struct rtmfp_flow_out *f = flow(s, rd_u8(in));
    size_t at = rtmfp_chunk_begin(w, RTMFP_ACK_BITMAP);

    if (!f)
        return;
    rtmfp_vlu_write(w, f->id);
    rtmfp_vlu_write(w, rd_u8(in));
    rtmfp_vlu_write(w, number(in, f));
    for (unsigned n = rd_u8(in) & 15; n > 0; n--)
        wr_u8(w, rd_u8(in));
    (void)rtmfp_chunk_end(w, at);
}

static void bare(struct rd *in, struct wr *w, uint8_t type)
{
    size_t at = rtmfp_chunk_begin(w, (enum rtmfp_type)type), n = rd_u8(in);

    n = n < rd_left(in) ? n : rd_left(in);
    wr_bytes(w, rd_take(in, n), n);
    (void)rtmfp_chunk_end(w, at);
}

static void step(struct rtmfp_session *s, struct rd *in)
{
    uint8_t plain[2048], how = rd_u8(in);
    struct wr w = packet(plain, sizeof(plain));

    switch (how & 7) {
    case 0:
    case 1:
        for (unsigned n = 0; n <= (how >> 3 & 3); n++)
            ranges(s, in, &w);
        break;
    case 2: bitmap(s, in, &w); break;
    case 3: bare(in, &w, how & 8 ? RTMFP_ACK_BITMAP : RTMFP_ACK_RANGES); break;
    case 4: now += CO_MS(10) << (how >> 4); break;
    case 5:
        for (struct rtmfp_flow_out *f = s->outs; f; f = f->next)
            rtmfp_flow_out_abandon(f, now - (how >> 3) * CO_MS(100));
        break;
    case 6: fill(s, how >> 3); break;
    default: now += CO_MS(how >> 3); break;
    }
    hear(s, &w);
}

/* ---- a well-behaved player */

static void ack_all(struct rtmfp_session *s)
{
    uint8_t plain[RTMFP_PLAIN_MAX];
    struct wr w = packet(plain, sizeof(plain));

    for (const struct rtmfp_flow_out *f = s->outs; f; f = f->next) {
        const struct rtmfp_ack ack = { .flow = f->id, .window = 4096,
                                       .cumulative = f->next_seq - 1 };

        assert(rtmfp_ack_write_ranges(&w, &ack, NULL, 0));
    }
    hear(s, &w);
}

static bool is_idle(const struct rtmfp_session *s)
{
    for (const struct rtmfp_flow_out *f = s->outs; f; f = f->next)
        if (f->waiting_n > 0 || f->base != f->next_seq)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd in = rd_init(data, size);
    uint8_t how = rd_u8(&in);
    struct rtmfp_session s;
    unsigned n;

    now = CO_SECONDS(1000);
    rtmfp_session_init(&s, &set, &peer, now);
    s.older = how & 1;
    for (unsigned i = 0; i < FLOWS; i++)
        (void)rtmfp_flow_open(&s, rtmfp_bytes("TC\x04\x00", 4), NULL, (enum rtmfp_order)i);
    fill(&s, how & 2 ? UINT32_MAX : 30);
    if (how & 4)
        s.congestion.cwnd = RTMFP_CWND_MAX;
    (void)send_all(&s);
    for (n = 0; n < STEPS_MOST && rd_left(&in) > 0; n++)
        step(&s, &in);
    for (n = 0; !is_idle(&s) && (how & 10) == 8 && s.state == RTMFP_OPEN; n++) {
        assert(n < DRAIN_MOST);
        now += CO_MS(20);
        ack_all(&s);
    }
    rtmfp_session_close(&s, now);
    rtmfp_session_fini(&s);
    return 0;
}
