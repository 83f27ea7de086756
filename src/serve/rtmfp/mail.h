/* SPDX-License-Identifier: MIT */
/* mail.h - a word to a session of any worker: what it is to be told of other peers.
 *
 * To one of this worker at once, to another's by its mailbox: so many at most at a time, more are
 * lost, as datagrams are. Nothing here yields.
 */
#ifndef SERVE_RTMFP_MAIL_H
#define SERVE_RTMFP_MAIL_H

#include "serve/rtmfp/peer.h"

enum rtmfp_word {
    RTMFP_WORD_FORWARD, /* the body of a Forwarded IHello for it */
    RTMFP_WORD_CLAIMED, /* another session has its id: is it there? */
    RTMFP_WORD_MEMBER,  /* the id of one that joined its group, for its flow of that */
};

struct rtmfp_letter {
    enum rtmfp_word word;
    uint32_t session;
    uint64_t flow;                  /* RTMFP_WORD_MEMBER: its own, that joined */
    uint8_t peer_id[RTMFP_PEER_ID]; /* its own: by now the number may be another's */
    struct rtmfp_bytes body;        /* copied */
};

void rtmfp_mail(struct rtmfp_service *s, unsigned worker, const struct rtmfp_letter *l);

/* introduce.c: another session claims the id of this one. */
void rtmfp_presence_claimed(struct rtmfp_peer *p);
/* netgroup.c: that one joined the group of this flow. */
void rtmfp_netgroup_told(struct rtmfp_peer *p, uint64_t flow, const uint8_t *peer_id);

#endif
