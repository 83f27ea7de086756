/* SPDX-License-Identifier: MIT */
/* fuzz_srt_publisher.c - any datagrams from an SRT publisher, at any time: output is in
 * order, memory is limited, and nothing is repeated endlessly. */
#include "srt_fuzz.h"

static uint64_t drain(struct srt_conn *c, co_usec now)
{
    struct srt_receiver_stat stat;
    struct srt_message m;
    unsigned n = 0;

    srt_fuzz_control(c, now);
    while (srt_conn_next(c, &m, now)) {
        assert(m.size <= SRT_PAYLOAD_MAX && ++n <= 8192);
        assert(m.size == 0 || m.data[0] + m.data[m.size - 1] >= 0);
    }
    srt_fuzz_control(c, now);
    assert(srt_conn_deadline(c) == CO_FOREVER || srt_conn_deadline(c) > now);
    srt_receiver_stat(c->receiver, &stat);
    assert(stat.held <= c->agreed.window && stat.held <= stat.received);
    return stat.received;
}

/* The first byte selects options; each datagram: the time it takes, then itself (srt_fuzz.h). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd in = rd_init(data, size);
    const co_usec began = CO_SECONDS(100000);
    co_usec now = began;
    struct srt_conn_opts o = srt_fuzz_opts(rd_u8(&in), now);
    uint64_t came = 0;
    uint8_t room[2048];
    struct srt_packet p;
    struct srt_conn c;

    assert(srt_conn_receive_begin(&c, &o));
    while (rd_left(&in) > 1) {
        co_usec wait = rd_u8(&in);

        now += wait * wait * 50;
        if (srt_fuzz_packet(&p, &in, srt_seq_add(SRT_FUZZ_FIRST, (int64_t)came), now - began, room))
            srt_conn_input(&c, &p, now);
        came = drain(&c, now);
    }
    drain(&c, now + CO_SECONDS(5));
    srt_conn_close(&c);
    srt_fuzz_control(&c, now + CO_SECONDS(5));
    srt_conn_fini(&c);
    return 0;
}
