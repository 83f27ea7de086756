/* SPDX-License-Identifier: MIT */
/* pass.h - a datagram that came to one worker and is another's: copied into its mailbox.
 *
 * The kernel gives most to whom they belong. What it gave to another is passed on, so many at most
 * at a time to a worker: more are lost and counted, as where a socket is full.
 */
#ifndef SERVE_DATAGRAM_PASS_H
#define SERVE_DATAGRAM_PASS_H

#include "serve/datagram/datagram.h"

enum { DATAGRAM_MAILS = 256 };

/* To the endpoint of that number there; dropped if more than `most` are under way. None of these
 * yields. */
void datagram_pass(struct datagram_endpoint *e, unsigned worker, const struct udp_in *in,
                   unsigned most);
/* A word about that address, which protocol->told() gets; never dropped while it can be reached. */
void datagram_send_message(struct datagram_service *s, unsigned worker, unsigned endpoint,
                   const struct udp_addr *peer, unsigned word);

#endif
