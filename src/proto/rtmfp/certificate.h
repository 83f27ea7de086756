/* SPDX-License-Identifier: MIT */
/* certificate.h - certificates ([PROFILE] 4.3): which keys their owner has, and who he is.
 *
 * They are signed by nobody. Who has one is known by its fingerprint, the peer id: the SHA-256 of
 * what is in front of its first marker.
 */
#ifndef PROTO_RTMFP_CERTIFICATE_H
#define PROTO_RTMFP_CERTIFICATE_H

#include "proto/rtmfp/chunks.h"
#include "proto/rtmfp/group.h"
#include "proto/rtmfp/hmac.h"
#include "proto/rtmfp/option.h"

enum { RTMFP_PEER_ID = RTMFP_HASH, RTMFP_EXTRA = 64 /* random bytes in a whole certificate */ };

struct rtmfp_certificate {
    struct rtmfp_bytes canonical;   /* without what is behind its first marker */
    bool has_hostname;
    struct rtmfp_bytes hostname;
    bool accepts_ancillary;         /* it is a server */
    bool is_ephemeral, is_static;   /* kinds of keys; never both */
    bool ephemeral[RTMFP_GROUPS];   /* in these groups, of those that we have */
    struct rtmfp_bytes key[RTMFP_GROUPS]; /* static ones; n 0: there is none */
};

/* False: it is wrong. What it gives points into `data`. */
bool rtmfp_certificate_read(struct rtmfp_certificate *c, struct rtmfp_bytes data);
void rtmfp_certificate_id(const struct rtmfp_certificate *c, uint8_t id[RTMFP_PEER_ID]);

/* For peers that make a key for each session, in the groups that are set. The random bytes `extra`
 * make the certificate unique; none: it is the same for all with these groups. */
void rtmfp_certificate_write(struct wr *w, bool server, struct rtmfp_bytes extra,
                             const bool groups[RTMFP_GROUPS]);
/* Of who has one key for all, as Flash has. */
void rtmfp_certificate_write_static(struct wr *w, bool server, enum rtmfp_group group,
                                    struct rtmfp_bytes key);

#endif
