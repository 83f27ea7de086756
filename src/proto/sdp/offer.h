/* SPDX-License-Identifier: MIT */
/* offer.h - the session description of a WebRTC client, read: [JSEP] RFC 8829, [BUNDLE] RFC 8843,
 * [SDP] RFC 8866. Offers and answers have the same grammar, so the load tool reads answers by it.
 *
 * Attributes of the session hold for media that have none of their own (ice-ufrag, ice-pwd,
 * fingerprint, setup, direction, extmap). Unknown attributes are skipped.
 */
#ifndef PROTO_SDP_OFFER_H
#define PROTO_SDP_OFFER_H

#include "base/err.h"
#include "proto/sdp/sdp.h"

enum {
    SDP_OFFER_MAX = 64 * 1024, SDP_LINE_MAX = 4096, SDP_LINES_MAX = 4096, SDP_SECTIONS_MAX = 16,
    SDP_TYPES_MAX = 64, SDP_SSRCS_MAX = 32, SDP_RIDS_MAX = 8, SDP_MID_MAX = 32,
};

/* Header extensions that we know, by their uri. */
enum sdp_ext {
    SDP_EXT_MID, SDP_EXT_RID, SDP_EXT_RRID, SDP_EXT_SEND_TIME, SDP_EXT_TWCC, SDP_EXT_PLAYOUT_DELAY,
    SDP_EXT_AUDIO_LEVEL, SDP_EXT_ORIENTATION, SDP_EXT_DEPENDENCY, SDP_EXTS
};
const char *sdp_ext_uri(enum sdp_ext e);

enum sdp_setup { SDP_SETUP_NONE, SDP_ACTIVE, SDP_PASSIVE, SDP_ACTPASS, SDP_HOLDCONN };

enum {
    SDP_FB_NACK = 1, SDP_FB_PLI = 2, SDP_FB_FIR = 4, SDP_FB_TWCC = 8, SDP_FB_REMB = 16,
    SDP_FB_RRTR = 32, /* it tells its clock, to know the round trip: RFC 3611, 4.4 */
};

struct sdp_type { /* a payload type */
    uint8_t type;
    const char *name;    /* of the encoding, as written; "" */
    uint32_t clock;
    unsigned channels;   /* 0: not said */
    const char *fmtp;    /* "" */
    unsigned feedback;   /* SDP_FB_* */
    int apt;             /* of rtx: the type that it repeats; else -1 */
};

struct sdp_section {
    enum sdp_kind kind;
    const char *media;   /* "video", "text" .. */
    const char *mid;     /* "": none */
    unsigned port;       /* 0: rejected, unless it is bundle-only */
    const char *proto;
    bool bundled, bundle_only, rtcp_mux;
    enum sdp_direction direction;
    enum sdp_setup setup;
    const char *ufrag, *pwd;           /* "" */
    const char *fingerprint;           /* "sha-256 AB:..": the strongest that is known; "" */
    const char *msid;                  /* "stream track"; "" */
    unsigned n_types;
    struct sdp_type *types;
    uint8_t ext[SDP_EXTS];             /* id, 0: not offered */
    unsigned n_ssrcs;
    uint32_t *ssrcs;
    uint32_t rtx[2];                   /* of the first ssrc-group:FID; 0 */
    unsigned n_rids;                   /* that a=simulcast:send names, the preferred one first */
    const char *rids[SDP_RIDS_MAX];
};

struct sdp_offer { /* strings and tables live until sdp_offer_free() */
    unsigned n;
    struct sdp_section sections[SDP_SECTIONS_MAX];
    bool lite;
    bool mixed;                        /* a=extmap-allow-mixed, of all or of a section */
    unsigned candidates;               /* how many there were; they are not kept, but for: */
    const char *first_udp;             /* "1.2.3.4 8000", or "" */
    const char *first_tcp;
    void *memory;
};

/* ERR_MALFORMED: no description, or with characters below the space, that no line has;
 * ERR_TOO_LARGE, ERR_TOO_MANY: over a bound above. Nothing is to be freed then. The struct is large
 * (a few KB); so take it from the heap. */
err_t sdp_offer_parse(struct sdp_offer *o, const char *text, size_t size)
    __attribute__((warn_unused_result));
void sdp_offer_free(struct sdp_offer *o); /* all zero is fine */

#endif
