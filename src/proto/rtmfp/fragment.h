/* SPDX-License-Identifier: MIT */
/* fragment.h - reassembles startup packets that arrive in pieces ([RTMFP] 2.3.1, 3.4).
 *
 * The number of packets, their size, their number per address and their lifetime are limited, so
 * peers that send pieces of packets that never become complete cost at most 1 MB in total.
 */
#ifndef PROTO_RTMFP_FRAGMENT_H
#define PROTO_RTMFP_FRAGMENT_H

#include "proto/rtmfp/chunks.h"

enum {
    RTMFP_WHOLE_MAX = 4096,      /* largest packet, in bytes */
    RTMFP_WHOLES = 256,          /* packets at a time; per address: */
    RTMFP_WHOLES_OF_ONE = 4,
    RTMFP_PIECES_MAX = 32,       /* pieces of one packet */
};

struct rtmfp_fragments;
struct rtmfp_fragments *rtmfp_fragments_new(void);
void rtmfp_fragments_free(struct rtmfp_fragments *f); /* NULL is allowed */

/* Adds a piece from a startup packet. Returns true if it was the last one; `whole` then is the
 * plain packet, until the next call. Pieces inside it are ignored. */
bool rtmfp_fragments_add(struct rtmfp_fragments *f, const struct udp_addr *from,
                         const struct rtmfp_piece *piece, co_usec now, struct rtmfp_bytes *whole);
size_t rtmfp_fragments_count(const struct rtmfp_fragments *f);

#endif
