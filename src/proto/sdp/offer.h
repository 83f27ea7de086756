/* SPDX-License-Identifier: MIT */
/* offer.h - parses the session description of a WebRTC client: [JSEP] RFC 8829, [BUNDLE] RFC 8843,
 * [SDP] RFC 8866.
 *
 * Offers and answers have the same grammar, so the load tool parses answers with it. Session
 * attributes apply to sections without their own (ice-ufrag, ice-pwd, fingerprint, setup,
 * direction, extmap). Unknown attributes are ignored.
 */
#ifndef PROTO_SDP_OFFER_H
#define PROTO_SDP_OFFER_H

#include "base/err.h"
#include "proto/sdp/sdp.h"

enum {
    SDP_OFFER_MAX = 64 * 1024, SDP_LINE_MAX = 4096, SDP_LINES_MAX = 4096, SDP_SECTIONS_MAX = 16,
    SDP_TYPES_MAX = 64, SDP_SSRCS_MAX = 32, SDP_RIDS_MAX = 8, SDP_MID_MAX = 32,
};

/* Known header extensions, by their URI. */
enum sdp_ext {
    SDP_EXT_MID, SDP_EXT_RID, SDP_EXT_RRID, SDP_EXT_SEND_TIME, SDP_EXT_TWCC, SDP_EXT_PLAYOUT_DELAY,
    SDP_EXT_AUDIO_LEVEL, SDP_EXT_ORIENTATION, SDP_EXT_DEPENDENCY, SDP_EXTS
};
const char *sdp_ext_uri(enum sdp_ext e);

enum sdp_setup { SDP_SETUP_NONE, SDP_ACTIVE, SDP_PASSIVE, SDP_ACTPASS, SDP_HOLDCONN };

enum {
    SDP_FB_NACK = 1, SDP_FB_PLI = 2, SDP_FB_FIR = 4, SDP_FB_TWCC = 8, SDP_FB_REMB = 16,
    SDP_FB_RRTR = 32, /* RFC 3611, 4.4: announces its clock, to measure the round trip time */
};

struct sdp_type { /* a payload type */
    uint8_t type;
    const char *name;    /* name of the encoding as written, or "" */
    uint32_t clock;
    unsigned channels;   /* 0: not given */
    const char *fmtp;    /* "" */
    unsigned feedback;   /* SDP_FB_* */
    int apt;             /* for RTX: the type that it retransmits; otherwise -1 */
};

struct sdp_section {
    enum sdp_kind kind;
    const char *media;   /* "video", "text" and so on */
    const char *mid;     /* "": none */
    unsigned port;       /* 0: rejected, unless it is bundle-only */
    const char *proto;
    bool bundled, bundle_only, rtcp_mux;
    enum sdp_direction direction;
    enum sdp_setup setup;
    const char *ufrag, *pwd;           /* "" */
    const char *fingerprint;           /* "sha-256 AB:..": the strongest known one, or "" */
    const char *msid;                  /* "stream track"; "" */
    unsigned n_types;
    struct sdp_type *types;
    uint8_t ext[SDP_EXTS];             /* extension id; 0: not offered */
    unsigned n_ssrcs;
    uint32_t *ssrcs;
    uint32_t rtx[2];                   /* first ssrc-group:FID, or zeros */
    unsigned n_rids; /* number of layers in a=simulcast:send, in order of preference */
    const char *rids[SDP_RIDS_MAX];
};

struct sdp_offer { /* strings and tables live until sdp_offer_free() */
    unsigned n;
    struct sdp_section sections[SDP_SECTIONS_MAX];
    bool lite;
    bool mixed;                        /* a=extmap-allow-mixed, in the session or in a section */
    unsigned candidates;               /* number of candidates; only the first ones are kept: */
    const char *first_udp;             /* "1.2.3.4 8000", or "" */
    const char *first_tcp;
    void *memory;
};

/* ERR_MALFORMED: not a description, or with control characters; ERR_TOO_LARGE, ERR_TOO_MANY: over a
 * limit above. On error there is nothing to free. Allocate the struct on the heap: it has several
 * KB. */
err_t sdp_offer_parse(struct sdp_offer *o, const char *text, size_t size)
    __attribute__((warn_unused_result));
void sdp_offer_free(struct sdp_offer *o); /* works on a zeroed struct */

#endif
