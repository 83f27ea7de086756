/* SPDX-License-Identifier: MIT */
/* pass.h - passes datagrams that belong to another worker, by copying them into its mailbox.
 *
 * The kernel delivers most datagrams to the right worker. The others are passed on. The number in
 * flight to a worker is limited; further ones are dropped and counted, as with a full socket.
 */
#ifndef SERVE_DATAGRAM_PASS_H
#define SERVE_DATAGRAM_PASS_H

#include "serve/datagram/datagram.h"

enum { DATAGRAM_MAILS = 256 };

/* Passes a datagram to the same endpoint on another worker; drops it if more than `most` are in
 * flight. None of these yields. */
void datagram_pass(struct datagram_endpoint *e, unsigned worker, const struct udp_in *in,
                   unsigned most);
/* Sends a message about an address, which protocol->told() receives; never dropped while the worker
 * can be reached. */
void datagram_send_message(struct datagram_service *s, unsigned worker, unsigned endpoint,
                   const struct udp_addr *peer, unsigned word);

#endif
