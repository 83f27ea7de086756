/* SPDX-License-Identifier: MIT */
/* certificate.h - certificates ([PROFILE] 4.3): which keys their owner has, and who he is.
 *
 * They are signed by nobody. Who has one is known by its fingerprint, the peer id: the SHA-256 of
 * what is in front of its first marker.
 */
#ifndef PROTO_RTMFP_CERTIFICATE_H
#define PROTO_RTMFP_CERTIFICATE_H

#include "proto/rtmfp/chunks.h"
#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/group.h"
#include "proto/rtmfp/vlu.h"

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

/* ---- endpoint discriminators ([PROFILE] 4.4): whom an initiator wants to speak to */

enum { RTMFP_EPD_OF_ID = 2 + RTMFP_PEER_ID };

struct rtmfp_epd {
    bool has_hostname, has_ancillary, has_fingerprint;
    struct rtmfp_bytes hostname, ancillary, fingerprint;
};
bool rtmfp_epd_read(struct rtmfp_epd *e, struct rtmfp_bytes data); /* false: it is wrong */

/* Does it mean who has this certificate, and this id by it? */
bool rtmfp_epd_selects(const struct rtmfp_epd *e, const struct rtmfp_certificate *c,
                       const uint8_t id[RTMFP_PEER_ID]);
/* The peer that it means by its id; NULL: it means none so. */
const uint8_t *rtmfp_epd_peer(const struct rtmfp_epd *e);

/* The canonical one. */
void rtmfp_epd_write_id(struct wr *w, const uint8_t id[RTMFP_PEER_ID]);
/* As clients say it to a server. */
void rtmfp_epd_write_uri(struct wr *w, struct rtmfp_bytes uri);

/* ---- one end's own certificate, the peer id by it, and the keys behind it */

enum { RTMFP_SHORTER = 2, RTMFP_SHORTER_MAX = 48 };

/* Must stay where it is. Any number of threads may read it. */
struct rtmfp_identity {
    uint8_t certificate[512];
    size_t size;
    struct rtmfp_certificate parsed; /* points into the above */
    uint8_t id[RTMFP_PEER_ID];
    /* Shorter certificates for the same keys, in decreasing size; size 0: there is none. A hello
     * whose address is not proven gets no answer of more than three times its size. */
    struct rtmfp_shorter {
        uint8_t certificate[RTMFP_SHORTER_MAX];
        size_t size;
        uint8_t id[RTMFP_PEER_ID];
    } shorter[RTMFP_SHORTER];
    bool groups[RTMFP_GROUPS];       /* in which it has keys, or makes them */
    bool is_static;                  /* one key for all sessions: this one */
    struct rtmfp_pair pair;
};
/* With a key for each session, in those groups. */
void rtmfp_identity_init(struct rtmfp_identity *me, bool server, const bool groups[RTMFP_GROUPS]);
/* With this key for all of them. */
void rtmfp_identity_init_static(struct rtmfp_identity *me, bool server,
                                const struct rtmfp_pair *pair);
void rtmfp_identity_fini(struct rtmfp_identity *me);

static inline struct rtmfp_bytes rtmfp_identity_certificate(const struct rtmfp_identity *me)
{
    return rtmfp_bytes(me->certificate, me->size);
}

#endif
