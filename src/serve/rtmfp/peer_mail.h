/* SPDX-License-Identifier: MIT */
/* peer_mail.h - sends a message about other peers to a session of any worker.
 *
 * A session of this worker gets the message at once, a session of another worker through that
 * worker's mailbox. The number of messages in transit is limited; messages over the limit are
 * dropped, like datagrams. Nothing here yields.
 */
#ifndef SERVE_RTMFP_PEER_MAIL_H
#define SERVE_RTMFP_PEER_MAIL_H

#include "serve/rtmfp/peer.h"

struct rtmfp_message_to {
    void (*fn)(struct rtmfp_peer *p, const struct rtmfp_message_to *m); /* called at its worker */
    uint32_t session;
    uint64_t flow;                  /* for a group member: its flow that joined */
    uint8_t peer_id[RTMFP_PEER_ID]; /* to check that the number was not reused */
    struct rtmfp_bytes body;        /* copied */
};

void rtmfp_peer_mail(struct rtmfp_service *s, unsigned worker, const struct rtmfp_message_to *m);

#endif
