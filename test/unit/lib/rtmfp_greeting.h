/* SPDX-License-Identifier: MIT */
/* rtmfp_greeting.h - an initiator that opens a session with the responder of rtmfp_ends.h. */
#ifndef RTMFP_GREETING_H
#define RTMFP_GREETING_H

#include "rtmfp_ends.h"

extern const struct rtmfp_policies policy_off, policy_offer, policy_require;
extern struct ends the_ends;
extern struct rtmfp_identity initiator_identity;
extern struct rtmfp_initiator the_initiator;
extern struct udp_addr initiator_at, responder_at;
extern const bool all_groups[RTMFP_GROUPS];

int greeting_start(void **state);
void greeting_begin(const struct rtmfp_policies *responder, const struct rtmfp_policies *initiator);
void greeting_finish(void);

/* The initiator with its existing key, or a new one. */
void greeting_new(enum rtmfp_group group, co_usec now);

/* One packet of the initiator to the responder, and the answer back; false: there was none. */
bool greeting_turn(co_usec now);
void assert_keyed(struct ends_session *s);

/* ---- repeats */

/* The IIKeying of the initiator, sent once. */
size_t initiator_asked(uint8_t *datagram, co_usec now);
enum rtmfp_responded responder_input(const uint8_t *datagram, size_t n, co_usec now);

#define TEST_OF(f) cmocka_unit_test_setup_teardown(f, greeting_start, nothing_left)

#endif
