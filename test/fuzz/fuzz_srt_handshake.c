/* SPDX-License-Identifier: MIT */
/* fuzz_srt_handshake.c - any bytes as an SRT handshake: at a listener, and at a
 * caller that waits for its answer. A valid one is answered, and written again. */
#include "fuzz.h"
#include "proto/srt/call.h"

#include <assert.h>
#include <string.h>

static const uint8_t key[SRT_COOKIE_KEY] = { 1, 2, 3 };

/* We can read our output, and it is equivalent. */
static void write_again(const struct srt_handshake *h)
{
    uint8_t out[SRT_HANDSHAKE_MAX];
    struct srt_handshake again;
    struct srt_packet p;
    size_t n = srt_handshake_write(h, 1, 2, false, out);

    assert(n <= sizeof(out) && srt_packet_read(&p, out, n));
    assert(srt_handshake_read(&again, &p) == SRT_WELCOME);
    assert(again.streamid_size == h->streamid_size && again.km_size == h->km_size);
    assert(memcmp(again.streamid, h->streamid, h->streamid_size) == 0);
    assert(again.flags == h->flags && again.has_km == h->has_km);
}

static void listen_to(const struct srt_packet *p, size_t size)
{
    const struct srt_terms terms = { 1500, 8192, CO_MS(120), 0 };
    const struct udp_addr from = { .port = 5000 };
    uint8_t out[SRT_HANDSHAKE_MAX];
    struct srt_handshake h;
    struct srt_agreed a;
    enum srt_refusal why;

    assert(srt_respond_induction(p, key, &from, 1, 16, 0, out) <= size);
    why = srt_handshake_read(&h, p);
    assert(h.streamid_size <= SRT_STREAMID_MAX && memchr(h.congestion, 0, sizeof(h.congestion)));
    assert(srt_respond_refusal(&h, SRT_REFUSED_MALFORMED, 0, out) == 64);
    if (why != SRT_WELCOME || h.kind != SRT_CONCLUSION)
        return;
    write_again(&h);
    srt_agree(&a, &h, &terms, 1);
    assert(a.payload >= 188 && a.payload <= SRT_PAYLOAD_MAX && a.window > 0 && a.window <= 8192);
    assert(srt_respond_conclusion(&h, &a, h.km, h.km_size, 0, out) <= sizeof(out));
}

static void call(const struct srt_packet *p, struct srt_call *c)
{
    uint8_t out[SRT_HANDSHAKE_MAX];

    srt_call_input(c, p, 1000);
    (void)srt_call_output(c, out, 2000);
    if (c->state == SRT_CALL_DONE)
        assert(c->agreed.payload >= 188 && c->agreed.window > 0);
    if (c->state == SRT_CALL_REFUSED)
        (void)srt_refusal_text(c->refused);
}

/* The first byte selects the receiver. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct srt_secret secret = { .which = SRT_EVEN, .key_size = 16 };
    struct srt_call_opts o = { .streamid = "x", .id = 1, .first_seq = 5, .mss = 1500,
                               .window = 8192, .timeout = CO_SECONDS(3) };
    struct srt_call c;
    struct srt_packet p;

    if (size == 0)
        return 0;
    if (!srt_packet_read(&p, data + 1, size - 1) || !p.control || p.type != SRT_HANDSHAKE)
        return 0;
    listen_to(&p, size - 1);
    o.secret = data[0] & 1 ? &secret : NULL;
    o.id = p.to;
    srt_call_begin(&c, &o, 0);
    c.state = data[0] & 2 ? SRT_CALL_CONCLUSION : SRT_CALL_INDUCTION;
    call(&p, &c);
    return 0;
}
