/* SPDX-License-Identifier: MIT */
/* fuzz_rtmfp_session.c - any chunks in plain packets of a peer with an open session: it has flows
 * both ways, and messages in flight that it may acknowledge, lose and contradict. */
#include "base/rd.h"
#include "fuzz.h"
#include "proto/rtmfp/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { HELD_MOST = 4 << 20, PACKETS_MOST = 400 };

static unsigned flows_in, messages;

static bool on_opened(struct rtmfp_session *s, struct rtmfp_flow_in *f,
                      struct rtmfp_bytes metadata, struct rtmfp_flow_out *answers)
{
    (void)answers;
    flows_in += metadata.n > 0;
    f->direct = metadata.n > 2 && (metadata.p[2] & 1);
    if (metadata.n > 3 && metadata.p[3] == 9) /* a flow that we answer */
        (void)rtmfp_flow_open(s, rtmfp_bytes("TC\x04\x01", 4), f, RTMFP_COMMANDS);
    return metadata.n > 0;
}

static bool on_message(struct rtmfp_session *s, struct rtmfp_flow_in *f, const uint8_t *data,
                       size_t size)
{
    uint8_t sum = 0;

    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + data[i]);
    messages++;
    f->suspended = sum == 77;
    if (sum == 99)
        rtmfp_session_close(s, CO_SECONDS(100));
    return sum != 55;
}

static void on_closed(struct rtmfp_session *s, struct rtmfp_flow_in *f)
{
    (void)s;
    (void)f;
    assert(flows_in-- > 0);
}

static const struct rtmfp_session_ops ops = {
    .opened = on_opened, .message = on_message, .closed = on_closed,
};

static void feed(struct rtmfp_session *s, struct rtmfp_flow_out *f, unsigned n, co_usec now)
{
    for (unsigned i = 0; i < n && s->state == RTMFP_OPEN && f->waiting_n < 100; i++) {
        struct rtmfp_message *m = rtmfp_message_new(1 + i * 700, now);

        memset(m->bytes, (int)i, m->size);
        (void)!rtmfp_flow_out_write(f, m, i % 3 == 0);
        rtmfp_message_unref(m);
    }
}

static void check(const struct rtmfp_session *s)
{
    uint32_t in_flight = 0;

    assert(s->store.held <= HELD_MOST && s->n_ins <= RTMFP_FLOWS_MAX && s->n_outs <= RTMFP_FLOWS_MAX);
    for (const struct rtmfp_flow_out *f = s->outs; f; f = f->next) {
        in_flight += f->in_flight;
        assert(f->base <= f->next_seq && f->forward < f->next_seq && f->forward + 1 >= f->base);
        assert(f->lost <= f->next_seq - f->base);
    }
    assert(in_flight == s->congestion.in_flight);
}

static void drain(struct rtmfp_session *s, co_usec now)
{
    uint8_t bytes[RTMFP_PLAIN_MAX];
    struct udp_addr to;
    unsigned n = 0;

    for (;;) {
        struct wr w = rtmfp_wr(bytes, sizeof(bytes));

        check(s);
        if (!rtmfp_session_output(s, &w, &to, now))
            break;
        assert(w.len > 0 && !w.bad && ++n < 64);
    }
    assert(rtmfp_session_deadline(s) == CO_FOREVER || rtmfp_session_deadline(s) > now);
}

/* Chunks of a type, a length and that number of bytes. */
static size_t packet_of(struct rd *in, uint8_t *out, size_t room, uint8_t how)
{
    struct rtmfp_head head = { .mode = RTMFP_INITIATOR, .has_time = how & 1, .time = how,
                               .has_echo = how & 2, .echo = (uint16_t)(how * 3) };
    struct wr w = rtmfp_wr(out, room);

    rtmfp_packet_begin(&w, &head);
    for (unsigned n = 1 + (rd_u8(in) & 7); n > 0; n--) {
        uint8_t type = rd_u8(in), size = rd_u8(in);
        size_t left = size < rd_left(in) ? size : rd_left(in);
        size_t at = rtmfp_chunk_begin(&w, (enum rtmfp_type)type);

        wr_bytes(&w, rd_take(in, left), left);
        (void)rtmfp_chunk_end(&w, at);
    }
    return w.len;
}

/* The first byte selects the kind of peer; each packet: the time it takes and flags, then its
 * chunks. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd in = rd_init(data, size);
    uint8_t how = rd_u8(&in);
    const struct rtmfp_session_set set = {
        .ops = &ops, .mode = RTMFP_RESPONDER, .ping = CO_SECONDS(20), .timeout = CO_SECONDS(60),
        .message_max = 64 << 10, .key = { 1 },
    };
    struct udp_addr peer = { .port = 1 }, other = { .port = 2 };
    co_usec now = CO_SECONDS(1000);
    struct rtmfp_session s;
    uint8_t plain[4096];

    flows_in = 0;
    rtmfp_session_init(&s, &set, &peer, now);
    s.older = how & 1;
    s.hmac = how & 2;
    for (unsigned i = 0; i < 3; i++)
        (void)rtmfp_flow_open(&s, rtmfp_bytes("TC\x04\x00", 4), NULL, (enum rtmfp_order)i);
    for (unsigned n = 0; n < PACKETS_MOST && rd_left(&in) > 1; n++) {
        uint8_t step = rd_u8(&in);
        co_usec wait = step & 15;

        now += wait * wait * wait * 1000;
        for (struct rtmfp_flow_out *f = s.outs; f; f = f->next) {
            feed(&s, f, step >> 4, now);
            if (step & 8)
                rtmfp_flow_out_abandon(f, now - CO_SECONDS(1));
        }
        drain(&s, now);
        rtmfp_session_input(&s, rtmfp_bytes(plain, packet_of(&in, plain, sizeof(plain), step)),
                            step == 0x55 ? &other : &peer, now);
        drain(&s, now);
    }
    rtmfp_session_close(&s, now);
    drain(&s, now);
    rtmfp_session_fini(&s);
    assert(flows_in == 0 && s.store.held == 0 && s.congestion.in_flight == 0);
    return 0;
}
