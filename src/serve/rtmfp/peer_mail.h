/* SPDX-License-Identifier: MIT */
/* peer_mail.h - a message to a session of any worker, about other peers.
 *
 * To one of this worker at once, to another's by its mailbox: so many at most at a time, more are
 * lost, as datagrams are. Nothing here yields.
 */
#ifndef SERVE_RTMFP_PEER_MAIL_H
#define SERVE_RTMFP_PEER_MAIL_H

#include "serve/rtmfp/peer.h"

struct rtmfp_message_to {
    void (*fn)(struct rtmfp_peer *p, const struct rtmfp_message_to *m); /* at its worker */
    uint32_t session;
    uint64_t flow;                  /* of a member of a group: its own, that joined */
    uint8_t peer_id[RTMFP_PEER_ID]; /* its own: by now the number may be another's */
    struct rtmfp_bytes body;        /* copied */
};

void rtmfp_peer_mail(struct rtmfp_service *s, unsigned worker, const struct rtmfp_message_to *m);

#endif
