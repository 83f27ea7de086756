/* SPDX-License-Identifier: MIT */
/* srt_sender.c - an SRT sender with its log, and its output: for tests. */
#include "srt_sender.h"

#include <string.h>

struct sent sent;

void sender_put_size(size_t size, bool key, co_usec due)
{
    uint8_t data[SRT_PAYLOAD_MAX];

    memset(data, (int)(sent.log.head & 0xff), sizeof(data));
    assert_true(srt_log_put(&sent.log, data, size, key, due));
}

void sender_put(unsigned n, co_usec due)
{
    while (n--)
        sender_put_size(1316, false, due);
}

void sender_begin(uint64_t from, unsigned window)
{
    const struct srt_sender_opts opts = {
        .log = &sent.log, .from = from, .peer_id = 77, .first_seq = FIRST, .zero = ZERO,
        .latency = CO_MS(120), .maxbw = 1000000000, .window = window,
    };

    srt_sender_init(&sent.sender, &opts);
}

/* How the kernel would split a burst. */
static void cut(void)
{
    size_t size = 0, at;
    uint8_t *all = sent.bytes + sent.n_bytes;
    unsigned n = 0;
    int i;

    for (i = 0; i < sent.burst.pieces; i++) {
        memcpy(all + size, sent.burst.iov[i].iov_base, sent.burst.iov[i].iov_len);
        size += sent.burst.iov[i].iov_len;
    }
    assert_int_equal(size, sent.burst.bytes);
    sent.n_bytes += size;
    assert_true(sent.n_bytes + SRT_BURST * SRT_PACKET_MAX <= sizeof(sent.bytes));
    for (at = 0; at < size; at += sent.burst.segment, n++) {
        size_t one = size - at < sent.burst.segment ? size - at : sent.burst.segment;

        assert_true(srt_packet_read(&sent.got[sent.n], all + at, one));
        assert_int_equal(sent.got[sent.n].to, 77);
        assert_true(sent.n + 1 < COUNT(sent.got));
        sent.n++;
    }
    assert_int_equal(n, sent.burst.packets);
    sent.bursts++;
}

unsigned sender_flush(co_usec now)
{
    sent.n = sent.bursts = 0;
    sent.n_bytes = 0;
    while (srt_sender_output(&sent.sender, &sent.burst, now))
        cut();
    return sent.n;
}

uint32_t sender_seq(int64_t packet)
{
    return srt_seq_add(FIRST, packet);
}

bool sender_ack(int64_t packet, co_usec now)
{
    return srt_sender_ack(&sent.sender, &(struct srt_ack){ .words = 4, .next = sender_seq(packet), .rtt = 40000,
                                                 .variance = 5000, .room = 8192 }, now);
}

bool sender_nak(int64_t first, int64_t last, co_usec now)
{
    uint8_t body[8];
    size_t size = srt_nak_put(&(struct srt_range){ sender_seq(first), sender_seq(last) }, body, sizeof(body));

    return srt_sender_nak(&sent.sender, body, size, now);
}

int sender_setup(void **state)
{
    (void)state;
    srt_log_init(&sent.log);
    return 0;
}

int sender_teardown(void **state)
{
    srt_log_fini(&sent.log);
    return nothing_left(state);
}
