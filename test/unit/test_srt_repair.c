/* SPDX-License-Identifier: MIT */
/* test_srt_repair.c - a sender and a receiver over a network that loses a fifth in both
 * directions. */
#include "unit.h"

#include "proto/srt/recv.h"
#include "proto/srt/send.h"

#include <string.h>

enum { FLIGHT = 1 << 15, CONTROLS = 1 << 12, STEP = 1000 };
#define DELAY CO_MS(20)

struct flying {
    co_usec at;
    uint16_t size;
    uint8_t data[64]; /* payloads are short here */
};

struct way {
    struct flying *v;
    unsigned cap, head, tail;
    uint64_t sent, lost;
};

static uint64_t seed;

static bool lose(unsigned percent)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 11) % 100 < percent;
}

static void fly(struct way *w, const uint8_t *data, size_t size, co_usec now)
{
    struct flying *f = &w->v[w->head % w->cap];

    w->sent++;
    if (lose(20)) {
        w->lost++;
        return;
    }
    assert_true(w->head - w->tail < w->cap);
    assert_true(size <= sizeof(f->data));
    f->at = now + DELAY;
    f->size = (uint16_t)size;
    memcpy(f->data, data, size);
    w->head++;
}

static struct flying there_v[FLIGHT], back_v[CONTROLS];

/* NAKs of many ranges are longer than what fits in flight. */
static struct { uint8_t data[SRT_PACKET_MAX]; } long_v[CONTROLS];

static struct way there = { there_v, FLIGHT, 0, 0, 0, 0 }, back = { back_v, CONTROLS, 0, 0, 0, 0 };

static void fly_back(const uint8_t *data, size_t size, co_usec now)
{
    struct flying *f = &back.v[back.head % back.cap];

    if (lose(20))
        return;
    f->at = now + DELAY;
    f->size = (uint16_t)size;
    memcpy(long_v[back.head % back.cap].data, data, size);
    back.head++;
}

static void to_sender(struct srt_sender *s, const uint8_t *data, size_t size, co_usec now)
{
    struct srt_packet p, a = { .control = true, .type = SRT_ACKACK };
    struct srt_ack ack;
    uint8_t out[SRT_HEADER];

    assert_true(srt_packet_read(&p, data, size));
    if (p.type == SRT_ACK && srt_ack_read(&ack, p.body, p.size)) {
        assert_true(srt_sender_ack(s, &ack, now));
        if (srt_sender_wants_ackack(s, p.info, now)) {
            a.info = p.info;
            a.time = (uint32_t)now;
            srt_packet_write(&a, out);
            fly(&there, out, sizeof(out), now);
        }
    } else if (p.type == SRT_NAK) {
        assert_true(srt_sender_nak(s, p.body, p.size, now));
    }
}

static void to_receiver(struct srt_receiver *r, const uint8_t *data, size_t size, co_usec now)
{
    struct srt_packet p;
    struct srt_range d;

    assert_true(srt_packet_read(&p, data, size));
    if (!p.control)
        assert_true(srt_receiver_put(r, &p, now));
    else if (p.type == SRT_ACKACK)
        srt_receiver_ackack(r, p.info, p.time, now);
    else if (p.type == SRT_DROP && srt_drop_read(&d, p.body, p.size))
        srt_receiver_drop(r, &d, now);
}

/* `most`: retransmissions per 100 lost packets: with a fifth of them lost as well 125 are needed. */
static void run(unsigned rate, co_usec latency, unsigned most)
{
    struct srt_log log;
    struct srt_sender s;
    static struct srt_burst burst;
    struct srt_receiver_opts ro = { .first_seq = 5, .peer_id = 1, .window = 8192, .base = DELAY,
                                    .latency = latency, .tsbpd = true, .drop_late = true };
    struct srt_receiver *r = srt_receiver_new(&ro);
    struct srt_receiver_stat rs;
    struct srt_message m;
    uint8_t out[SRT_PACKET_MAX], data[20] = { 0 };
    uint64_t delivered = 0, put = 0, first_lost = 0;
    co_usec now, turn = 0;

    srt_log_init(&log);
    seed = 88172645463325252u;
    there.head = there.tail = back.head = back.tail = 0;
    there.sent = there.lost = 0;
    srt_sender_init(&s, &(struct srt_sender_opts){ .log = &log, .peer_id = 2, .first_seq = 5,
        .latency = latency, .maxbw = 125000000, .window = 8192 });
    for (now = 0; now < CO_SECONDS(20); now += STEP) {
        bool news = false;
        size_t n;

        for (; put < (uint64_t)now * rate / 1000000 && now < CO_SECONDS(17); put++)
            (void)srt_log_put(&log, data, sizeof(data), false, now);
        srt_log_trim(&log, now - CO_SECONDS(3), UINT64_MAX, SIZE_MAX);
        for (; back.tail < back.head && back.v[back.tail % back.cap].at <= now; back.tail++) {
            to_sender(&s, long_v[back.tail % CONTROLS].data, back.v[back.tail % CONTROLS].size,
                      now);
            news = true;
        }
        if (now >= turn || news) {
            if (now >= turn)
                turn = now + CO_MS(20);
            while (srt_sender_output(&s, &burst, now)) {
                for (unsigned i = 0; i < burst.packets; i++) {
                    uint8_t one[64];
                    uint64_t lost = there.lost;
                    size_t size = burst.iov[2 * i].iov_len + burst.iov[2 * i + 1].iov_len;

                    memcpy(one, burst.iov[2 * i].iov_base, SRT_HEADER);
                    memcpy(one + SRT_HEADER, burst.iov[2 * i + 1].iov_base, size - SRT_HEADER);
                    fly(&there, one, size, now);
                    first_lost += !(one[0] & 0x80) && !(one[4] & 4) && there.lost > lost;
                }
            }
        }
        for (; there.tail < there.head && there.v[there.tail % there.cap].at <= now; there.tail++)
            to_receiver(r, there.v[there.tail % there.cap].data,
                        there.v[there.tail % there.cap].size, now);
        while (srt_receiver_next(r, &m, now))
            delivered++;
        while ((n = srt_receiver_output(r, out, now)) > 0)
            fly_back(out, n, now);
    }
    srt_receiver_stat(r, &rs);
    /* the receiver does not know that the last ones are missing */
    assert_in_range(put - delivered, 0, 2);
    assert_int_equal(rs.dropped + rs.belated + s.stat.dropped + s.stat.skips, 0);
    assert_true(s.stat.retransmitted * 100 <= first_lost * most);
    assert_in_range(s.stat.lost, first_lost - 2, first_lost * most / 100);
    srt_receiver_free(r);
    srt_log_fini(&log);
}

static void a_fifth_lost_is_served(void **state)
{
    (void)state;
    run(86, CO_MS(1000), 130);  /* 900 kbit/s */
    run(860, CO_MS(1000), 130);
    run(4750, CO_MS(1000), 180); /* 50 Mbit/s: more are in flight than are tracked */
    run(86, CO_MS(400), 130);
    run(860, CO_MS(400), 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_fifth_lost_is_served),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
