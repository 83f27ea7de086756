/* SPDX-License-Identifier: MIT */
/* fragment.h - startup packets that came in pieces ([RTMFP] 2.3.1, 3.4).
 *
 * Few are at work at a time, each is small, few of them are of one address, and none for long: who
 * sends pieces that never become a packet costs 1 MB for all of them together.
 */
#ifndef PROTO_RTMFP_FRAGMENT_H
#define PROTO_RTMFP_FRAGMENT_H

#include "proto/rtmfp/chunks.h"

enum {
    RTMFP_WHOLE_MAX = 4096,      /* bytes of a packet */
    RTMFP_WHOLES = 256,          /* packets at a time; of one address: */
    RTMFP_WHOLES_OF_ONE = 4,
    RTMFP_PIECES_MAX = 32,       /* of a packet */
};

struct rtmfp_fragments;
struct rtmfp_fragments *rtmfp_fragments_new(void);
void rtmfp_fragments_free(struct rtmfp_fragments *f); /* NULL is fine */

/* A piece came in a startup packet. True: that was the last one; `whole` is the plain packet, until
 * the next call, and pieces in it do not count. */
bool rtmfp_fragments_add(struct rtmfp_fragments *f, const struct udp_addr *from,
                         const struct rtmfp_piece *piece, co_usec now, struct rtmfp_bytes *whole);
size_t rtmfp_fragments_count(const struct rtmfp_fragments *f);

#endif
