/* SPDX-License-Identifier: MIT */
/* certificate.h - certificates ([PROFILE] 4.3): the keys and the identity of their owner.
 *
 * Certificates are not signed. The owner is identified by the fingerprint, called peer id: the
 * SHA-256 of the part before the first marker.
 */
#ifndef PROTO_RTMFP_CERTIFICATE_H
#define PROTO_RTMFP_CERTIFICATE_H

#include "proto/rtmfp/chunks.h"
#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/group.h"
#include "proto/rtmfp/vlu.h"

enum { RTMFP_PEER_ID = RTMFP_HASH, RTMFP_EXTRA = 64 /* random bytes in a full certificate */ };

struct rtmfp_certificate {
    struct rtmfp_bytes canonical;   /* without the part from the first marker on */
    bool has_hostname;
    struct rtmfp_bytes hostname;
    bool accepts_ancillary;         /* a server */
    bool is_ephemeral, is_static;   /* kind of its keys; never both */
    bool ephemeral[RTMFP_GROUPS];   /* supports ephemeral keys in these groups, of those that we
                                     * know */
    struct rtmfp_bytes key[RTMFP_GROUPS]; /* static keys; n 0: none */
};

/* Parses a certificate. Returns false if it is invalid. The result points into `data`. */
bool rtmfp_certificate_read(struct rtmfp_certificate *c, struct rtmfp_bytes data);
void rtmfp_certificate_id(const struct rtmfp_certificate *c, uint8_t id[RTMFP_PEER_ID]);

/* Writes the certificate of a peer that creates a key per session, in the groups that are set. The
 * random bytes `extra` make it unique; without them all certificates with these groups are
 * equal. */
void rtmfp_certificate_write(struct wr *w, bool server, struct rtmfp_bytes extra,
                             const bool groups[RTMFP_GROUPS]);
/* Writes the certificate of a peer with one static key for all sessions, like Flash. */
void rtmfp_certificate_write_static(struct wr *w, bool server, enum rtmfp_group group,
                                    struct rtmfp_bytes key);

/* ---- endpoint discriminators ([PROFILE] 4.4): the peer that an initiator wants to reach */

enum { RTMFP_EPD_OF_ID = 2 + RTMFP_PEER_ID };

struct rtmfp_epd {
    bool has_hostname, has_ancillary, has_fingerprint;
    struct rtmfp_bytes hostname, ancillary, fingerprint;
};
bool rtmfp_epd_read(struct rtmfp_epd *e, struct rtmfp_bytes data); /* false if it is invalid */

/* Returns whether it selects the owner of this certificate, whose peer id is `id`. */
bool rtmfp_epd_selects(const struct rtmfp_epd *e, const struct rtmfp_certificate *c,
                       const uint8_t id[RTMFP_PEER_ID]);
/* Returns the peer id in it, or NULL if it has none. */
const uint8_t *rtmfp_epd_peer(const struct rtmfp_epd *e);

/* Writes the canonical discriminator of a peer id. */
void rtmfp_epd_write_id(struct wr *w, const uint8_t id[RTMFP_PEER_ID]);
/* Writes the discriminator that clients send to a server. */
void rtmfp_epd_write_uri(struct wr *w, struct rtmfp_bytes uri);

/* ---- our certificate, its peer id, and our keys */

enum { RTMFP_SHORTER = 2, RTMFP_SHORTER_MAX = 48 };

/* Must not be moved. Any number of threads may read it. */
struct rtmfp_identity {
    uint8_t certificate[512];
    size_t size;
    struct rtmfp_certificate parsed; /* points into `certificate` */
    uint8_t id[RTMFP_PEER_ID];
    /* Shorter certificates for the same keys, in decreasing size; size 0: none. A hello from an
     * unproven address gets a response of at most three times its size. */
    struct rtmfp_shorter {
        uint8_t certificate[RTMFP_SHORTER_MAX];
        size_t size;
        uint8_t id[RTMFP_PEER_ID];
    } shorter[RTMFP_SHORTER];
    bool groups[RTMFP_GROUPS];       /* groups in which it has or creates keys */
    bool is_static;                  /* uses `pair` for all sessions */
    struct rtmfp_pair pair;
};
/* Initializes an identity with a key per session, in these groups. */
void rtmfp_identity_init(struct rtmfp_identity *me, bool server, const bool groups[RTMFP_GROUPS]);
/* Initializes an identity with this key for all sessions. */
void rtmfp_identity_init_static(struct rtmfp_identity *me, bool server,
                                const struct rtmfp_pair *pair);
void rtmfp_identity_fini(struct rtmfp_identity *me);

static inline struct rtmfp_bytes rtmfp_identity_certificate(const struct rtmfp_identity *me)
{
    return rtmfp_bytes(me->certificate, me->size);
}

#endif
