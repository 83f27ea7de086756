/* SPDX-License-Identifier: MIT */
/* fuzz_rtmfp_packet.c - any bytes as a plain RTMFP packet: each chunk is read, and
 * written again; and any bytes as a datagram. */
#include "rtmfp_again.h"
#include "fuzz.h"
#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/fragment.h"

#include <assert.h>
#include <stdlib.h>

/* Numbers of variable length may have zeros in front, which are not written. */
static void look_at(const struct rtmfp_chunk *c, struct rtmfp_user_data *last)
{
    size_t room = c->body.n + RTMFP_CHUNK_HEAD;
    uint8_t *out = malloc(2 * room);
    struct wr w = rtmfp_wr(out, room), v = rtmfp_wr(out + room, room);
    struct rtmfp_user_data before = *last;

    if (chunk_again(&w, c, last)) {
        struct rtmfp_chunk again = { c->type, { out + RTMFP_CHUNK_HEAD, w.len - RTMFP_CHUNK_HEAD } };

        assert(w.len <= room && !w.bad && out[0] == c->type);
        assert(chunk_again(&v, &again, &before) && v.len == w.len);
        assert(memcmp(v.buf, out, w.len) == 0);
        last->options = last->data = rtmfp_bytes(NULL, 0);
    } else {
        assert(w.len == 0 || c->type == RTMFP_REDIRECT);
        last->seq = 0;
    }
    free(out);
}

/* Ranges are in order and separate, and a round trip is identical. */
static void look_at_ack(const struct rtmfp_chunk *c)
{
    struct rtmfp_ack ack, back;
    struct rtmfp_ack_reader r, again;
    struct rtmfp_range range, same, ranges[64];
    uint8_t out[2048];
    struct wr w = rtmfp_wr(out, sizeof(out));
    uint64_t above;
    size_t n = 0;

    if ((c->type != RTMFP_ACK_RANGES && c->type != RTMFP_ACK_BITMAP) ||
        !rtmfp_ack_read(&ack, c->body, c->type == RTMFP_ACK_BITMAP))
        return;
    above = ack.cumulative;
    rtmfp_ack_begin(&r, &ack);
    for (; rtmfp_ack_next(&r, &range); above = range.last) {
        assert(range.first - above > 1 && range.first > above && range.last >= range.first);
        if (n < 64)
            ranges[n++] = range;
    }
    assert(rtmfp_ack_write_ranges(&w, &ack, ranges, n));
    assert(rtmfp_ack_read(&back, rtmfp_bytes(out + RTMFP_CHUNK_HEAD, w.len - RTMFP_CHUNK_HEAD),
                          false));
    rtmfp_ack_begin(&again, &back);
    for (size_t i = 0; i < n; i++)
        assert(rtmfp_ack_next(&again, &same) && same.first == ranges[i].first &&
               same.last == ranges[i].last);
}

static void look_at_piece(const struct rtmfp_chunk *c)
{
    static struct rtmfp_fragments *fragments;
    static co_usec now;
    struct udp_addr from = { .port = (uint16_t)(c->body.n % 7) };
    struct rtmfp_bytes whole;
    struct rtmfp_piece piece;

    if (!fragments)
        fragments = rtmfp_fragments_new();
    now += CO_MS(300);
    if (c->type == RTMFP_FRAGMENT && rtmfp_piece_read(&piece, c->body) &&
        rtmfp_fragments_add(fragments, &from, &piece, now, &whole))
        assert(whole.n <= RTMFP_WHOLE_MAX);
    assert(rtmfp_fragments_count(fragments) <= RTMFP_WHOLES);
}

static void look_at_datagram(const uint8_t *data, size_t size)
{
    static struct rtmfp_cipher *cipher;
    struct rtmfp_opener in = { .key = { .hmac = size % 3 ? 0 : 8, .numbered = size & 1 } };
    uint8_t out[RTMFP_DATAGRAM_MAX];
    struct rtmfp_bytes plain;
    uint32_t id;

    if (!cipher)
        cipher = rtmfp_cipher_new();
    (void)rtmfp_session_id(data, size, &id);
    (void)rtmfp_open(cipher, &in, data, size, out, &plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rtmfp_user_data last = { .seq = 0 };
    struct rtmfp_packet p;
    struct rtmfp_chunk c;

    look_at_datagram(data, size);
    if (size > 4096 || !rtmfp_packet_read(&p, rtmfp_bytes(data, size)))
        return 0;
    while (rtmfp_chunk_next(&p, &c)) {
        look_at(&c, &last);
        look_at_ack(&c);
        look_at_piece(&c);
    }
    return 0;
}
