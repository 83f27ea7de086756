/* SPDX-License-Identifier: MIT */
/* fuzz_srt_player.c - any datagrams from an SRT player, at any time: it is sent packets of the
 * log, and at most a burst for each of its packets. */
#include "srt_fuzz.h"

static struct srt_burst burst;

static void check_burst(const struct srt_conn *c)
{
    size_t bytes = 0;

    assert(burst.packets > 0 && burst.packets <= SRT_BURST && burst.pieces <= 2 * SRT_BURST);
    for (int i = 0; i < burst.pieces; i++)
        bytes += burst.iov[i].iov_len;
    assert(bytes == burst.bytes && burst.segment * burst.packets >= bytes);
    assert(c->sender.acked <= c->sender.high && c->sender.next <= c->sender.high);
    assert(c->sender.n_retransmits <= SRT_RETRANSMITS);
}

static void drain(struct srt_conn *c, co_usec now)
{
    unsigned n = 0;

    srt_fuzz_control(c, now);
    while (srt_conn_burst(c, &burst, now)) {
        assert(++n < 8192);
        check_burst(c);
    }
    srt_fuzz_control(c, now);
    assert(srt_conn_deadline(c) == CO_FOREVER || srt_conn_deadline(c) > now);
}

static void feed(struct srt_log *log, unsigned n, co_usec now)
{
    static const uint8_t packet[1316];

    while (n--)
        assert(srt_log_put(log, packet, n % 3 ? 1316 : 188, log->head % 20 == 0, now));
    srt_log_trim(log, now - CO_SECONDS(2), UINT64_MAX, 1 << 20);
}

/* The first byte selects options; each datagram: flags and the time it takes, then itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd in = rd_init(data, size);
    const co_usec began = CO_SECONDS(100000);
    co_usec now = began;
    struct srt_conn_opts o = srt_fuzz_opts(rd_u8(&in), now);
    uint8_t room[2048];
    struct srt_packet p;
    struct srt_conn c;
    struct srt_log log;

    srt_log_init(&log);
    o.log = &log;
    assert(srt_conn_send_begin(&c, &o));
    while (rd_left(&in) > 1) {
        uint8_t how = rd_u8(&in);
        co_usec wait = how & 15;

        now += wait * wait * wait * 500;
        feed(&log, how >> 4, now);
        drain(&c, now);
        if (srt_fuzz_packet(&p, &in, srt_seq_add(SRT_FUZZ_FIRST, (int64_t)c.sender.acked),
                            now - began, room))
            srt_conn_input(&c, &p, now);
        drain(&c, now);
    }
    drain(&c, now + CO_SECONDS(5));
    srt_conn_close(&c);
    srt_fuzz_control(&c, now + CO_SECONDS(5));
    srt_conn_fini(&c);
    srt_log_fini(&log);
    return 0;
}
