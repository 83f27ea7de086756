/* SPDX-License-Identifier: MIT */
/* srt_sender.h - an SRT sender with its log, and its output: for tests. */
#ifndef SRT_SENDER_H
#define SRT_SENDER_H

#include "proto/srt/send.h"
#include "unit.h"

#define FIRST 0x7ffffff0u /* sequences wrap soon */
#define ZERO CO_SECONDS(50)

struct sent {
    struct srt_log log;
    struct srt_sender sender;
    struct srt_burst burst;
    uint8_t bytes[4 << 20];
    size_t n_bytes;
    struct srt_packet got[2000];
    unsigned n, bursts;
};
extern struct sent sent;

void sender_put_size(size_t size, bool key, co_usec due);
void sender_put(unsigned n, co_usec due);
void sender_begin(uint64_t from, unsigned window);
unsigned sender_flush(co_usec now);
uint32_t sender_seq(int64_t packet);
bool sender_ack(int64_t packet, co_usec now);
bool sender_nak(int64_t first, int64_t last, co_usec now);
int sender_setup(void **state);
int sender_teardown(void **state);

#define SEND_TEST(f) cmocka_unit_test_setup_teardown(f, sender_setup, sender_teardown)

#endif
