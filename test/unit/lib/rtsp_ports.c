/* SPDX-License-Identifier: MIT */
/* rtsp_ports.c - the media ports of a worker, and a wire of RTP packets: for tests of RTSP over
 * UDP. */
#include "rtsp_ports.h"

struct rtsp_ports_state wire_of_test;

void wire_begin(void)
{
    wire_of_test.size = wire_of_test.packets = 0;
}

void wire_put(uint8_t channel, size_t size)
{
    uint8_t *p = wire_of_test.bytes + wire_of_test.size;

    assert_true(wire_of_test.packets < PACKETS_MAX && wire_of_test.size + size + RTP_INTERLEAVED <= WIRE_MAX);
    wire_of_test.at[wire_of_test.packets] = wire_of_test.size;
    rtp_interleaved_build(p, channel, (uint16_t)size);
    for (size_t i = 0; i < size; i++)
        p[RTP_INTERLEAVED + i] = (uint8_t)(wire_of_test.packets * 31 + i);
    if (size > 0)
        p[RTP_INTERLEAVED] = 0x80;
    wire_of_test.packets++;
    wire_of_test.size += RTP_INTERLEAVED + size;
}

size_t packet_size(size_t i)
{
    return (i + 1 < wire_of_test.packets ? wire_of_test.at[i + 1] : wire_of_test.size) - wire_of_test.at[i] - RTP_INTERLEAVED;
}
