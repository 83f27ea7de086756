/* SPDX-License-Identifier: MIT */
/* agree.h - what we agree on with a WebRTC client, out of its offer; and our answer.
 *
 * Sections stay in the order of the offer, with their mids (JSEP). At most one of video and one of
 * sound is taken; what cannot be is rejected with port 0. What is agreed on is all that a session
 * needs of descriptions: the offer may be freed.
 */
#ifndef PROTO_SDP_AGREE_H
#define PROTO_SDP_AGREE_H

#include "av/codec.h"
#include "base/wr.h"
#include "proto/dtls/dtls.h"
#include "proto/sdp/offer.h"
#include "proto/stun/ice.h"

enum { SDP_FMTP_MAX = 256, SDP_TRACKS = 2, SDP_CANDIDATES_MAX = 10, SDP_CNAME = 9 };

/* What the stream has now, or what is asked for. */
struct sdp_spec {
    bool publish;                   /* the client sends; else it receives */
    /* By enum av_kind: video, sound. AV_CODEC_NONE: not known, or nothing is asked for: our own
     * order. */
    enum av_codec codec[SDP_TRACKS];
    bool none[SDP_TRACKS];          /* the stream has no such track: answered inactive */
    uint8_t profile[3];             /* of H.264: profile_idc, constraints, level; zeros: unknown */
    unsigned channels;              /* of sound that is played; 2: stereo is answered */
    bool nack, twcc;                /* of the vhost */
    bool no_rtx;                    /* lost packets are sent again as they were, never as RTX */
    bool dtls_active;               /* our role where the offer leaves it to us */
    bool playout_delay;             /* that extension is of use */
};

struct sdp_track {
    bool on;                        /* media flow; else, if its place is taken, it is inactive */
    enum av_codec codec;
    uint8_t type, rtx_type;         /* payload types; rtx_type 0: no RTX */
    uint32_t clock;
    unsigned channels;
    unsigned feedback;              /* SDP_FB_*, those of both */
    unsigned mode;                  /* of H.264: packetization-mode */
    bool stereo;
    uint8_t ext[SDP_EXTS];          /* 0: not agreed on */
    char mid[SDP_MID_MAX + 1];
    char fmtp[SDP_FMTP_MAX];
    /* Of a publisher as offered, 0 if it says nothing; of a player ours, to be filled in before the
     * answer is written. */
    uint32_t ssrc, rtx_ssrc;
    unsigned n_rids;                /* of simulcast: all of them, which are taken in */
    char rids[SDP_RIDS_MAX][SDP_MID_MAX + 1];
};

struct sdp_answer_section { /* of a section of the answer */
    enum sdp_kind kind;
    char media[16];
    char mid[SDP_MID_MAX + 1];
    char proto[24];
    bool taken, bundled;
    uint8_t track;                  /* if taken: enum av_kind */
    uint8_t type;                   /* if not: some payload type of it, as the grammar wants one */
};

struct sdp_agreed {
    bool publish;
    unsigned n;
    struct sdp_answer_section places[SDP_SECTIONS_MAX];
    struct sdp_track tracks[SDP_TRACKS]; /* AV_VIDEO, AV_AUDIO */
    char peer_ufrag[ICE_UFRAG_MAX + 1], peer_pwd[ICE_PWD_MAX + 1];
    struct dtls_fingerprint fingerprint; /* of the peer */
    bool active;                    /* our role in DTLS */
    bool mixed;                     /* a=extmap-allow-mixed was offered */
};

/* ERR_RTC_SDP: it lacks what is needed, or says what cannot be; ERR_RTC_NEGOTIATE: no codec in
 * common; the text names what both have. */
err_t sdp_agree(struct sdp_agreed *out, const struct sdp_offer *o, const struct sdp_spec *spec)
    __attribute__((warn_unused_result));

struct sdp_candidate {
    char ip[48];                    /* or a name */
    uint16_t port;
    bool tcp;
};

struct sdp_answer {
    const char *signature;          /* o=: our name */
    const char *version;
    uint64_t id;
    const char *app, *stream;       /* msid-semantic */
    const char *ufrag, *pwd, *fingerprint; /* ours */
    const char *cname;              /* of what we send: the same in all tracks */
    const struct sdp_candidate *candidates; /* the likeliest first */
    unsigned n_candidates;
};
/* CRLF lines, the same for JSON and WHIP. w->bad: over its limit. */
void sdp_answer_write(struct wr *w, const struct sdp_agreed *a, const struct sdp_answer *ours);
/* An offer of ours for the load tool: sendonly or recvonly, of what `tracks` says. */
void sdp_offer_write(struct wr *w, const struct sdp_agreed *a, const struct sdp_answer *ours);

/* A fragment of a PATCH, RFC 8840: the ufrag and pwd in it, "" where there is none. False: it is
 * none. */
struct sdp_fragment {
    char ufrag[ICE_UFRAG_MAX + 1], pwd[ICE_PWD_MAX + 1];
    unsigned candidates;
};
bool sdp_fragment_parse(struct sdp_fragment *f, const char *text, size_t size);
/* What answers one that began ICE again: `ours` has new names. */
void sdp_fragment_write(struct wr *w, const struct sdp_agreed *a, const struct sdp_answer *ours);

#endif
