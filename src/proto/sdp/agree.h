/* SPDX-License-Identifier: MIT */
/* agree.h - negotiation with a WebRTC client: accepts parts of its offer, and writes our answer.
 *
 * Sections keep the order and the mids of the offer (JSEP). At most one video and one audio section
 * are accepted; the others are rejected with port 0. The result contains everything that a session
 * needs, so the offer can be freed.
 */
#ifndef PROTO_SDP_AGREE_H
#define PROTO_SDP_AGREE_H

#include "av/codec.h"
#include "base/wr.h"
#include "proto/dtls/dtls.h"
#include "proto/sdp/offer.h"
#include "proto/stun/ice.h"

enum { SDP_FMTP_MAX = 256, SDP_TRACKS = 2, SDP_CANDIDATES_MAX = 10, SDP_CNAME = 9 };

/* Properties of the stream, or of the request. */
struct sdp_spec {
    bool publish;                   /* the client sends; otherwise it receives */
    /* Indexed by enum av_kind: video, audio. AV_CODEC_NONE: unknown or no preference, so our own
     * order applies. */
    enum av_codec codec[SDP_TRACKS];
    bool none[SDP_TRACKS]; /* the stream has no such track: the section is answered with inactive */
    uint8_t profile[3]; /* profile_idc, constraints and level of H.264; zeros: unknown */
    unsigned channels;              /* channels of the audio to play; 2: answer with stereo */
    bool nack, twcc;                /* enabled for the vhost */
    bool no_rtx;                    /* retransmit packets unchanged, never as RTX */
    bool dtls_active;               /* our role if the offer leaves the choice to us */
    bool playout_delay;             /* negotiate this extension */
};

struct sdp_track {
    bool on;                        /* media flow; otherwise an accepted section is inactive */
    enum av_codec codec;
    uint8_t type, rtx_type;         /* payload types; rtx_type 0: no RTX */
    uint32_t clock;
    unsigned channels;
    unsigned feedback;              /* SDP_FB_* that both sides support */
    unsigned mode;                  /* packetization-mode of H.264 */
    bool stereo;
    uint8_t ext[SDP_EXTS];          /* 0: not negotiated */
    char mid[SDP_MID_MAX + 1];
    char fmtp[SDP_FMTP_MAX];
    /* For a publisher: as offered, or 0 if the offer has none. For a player: ours, to be set before
     * the answer is written. */
    uint32_t ssrc, rtx_ssrc;
    unsigned n_rids;                /* simulcast layers, all of which are accepted */
    char rids[SDP_RIDS_MAX][SDP_MID_MAX + 1];
};

struct sdp_answer_section { /* a section of the answer */
    enum sdp_kind kind;
    char media[16];
    char mid[SDP_MID_MAX + 1];
    char proto[24];
    bool taken, bundled;
    uint8_t track;                  /* if taken: enum av_kind */
    uint8_t type; /* if not taken: any payload type of the section, as the grammar requires one */
};

struct sdp_agreed {
    bool publish;
    unsigned n;
    struct sdp_answer_section sections[SDP_SECTIONS_MAX];
    struct sdp_track tracks[SDP_TRACKS]; /* AV_VIDEO, AV_AUDIO */
    char peer_ufrag[ICE_UFRAG_MAX + 1], peer_pwd[ICE_PWD_MAX + 1];
    struct dtls_fingerprint fingerprint; /* expected of the peer's certificate */
    bool active;                    /* our DTLS role */
    bool mixed;                     /* the offer had a=extmap-allow-mixed */
};

/* ERR_RTC_SDP: the offer lacks something or is invalid. ERR_RTC_NEGOTIATE: no common codec; the
 * text names the codecs of both sides. */
err_t sdp_agree(struct sdp_agreed *out, const struct sdp_offer *o, const struct sdp_spec *spec)
    __attribute__((warn_unused_result));

struct sdp_candidate {
    char ip[48];                    /* or a host name */
    uint16_t port;
    bool tcp;
};

struct sdp_answer {
    const char *signature;          /* o=: the server's name */
    const char *version;
    uint64_t id;
    const char *app, *stream;       /* msid-semantic */
    const char *ufrag, *pwd, *fingerprint; /* our credentials */
    const char *cname;              /* CNAME of the media we send, equal in all tracks */
    const struct sdp_candidate *candidates; /* the most likely one first */
    unsigned n_candidates;
};
/* Writes the answer in CRLF lines, for JSON and WHIP alike. w->bad: over its limit. */
void sdp_answer_write(struct wr *w, const struct sdp_agreed *a, const struct sdp_answer *ours);
/* Writes an offer for the load tool: sendonly or recvonly, for `tracks`. */
void sdp_offer_write(struct wr *w, const struct sdp_agreed *a, const struct sdp_answer *ours);

/* Content of a PATCH, RFC 8840: its ufrag and pwd, "" if missing. The parser returns false if it is
 * invalid. */
struct sdp_fragment {
    char ufrag[ICE_UFRAG_MAX + 1], pwd[ICE_PWD_MAX + 1];
    unsigned candidates;
};
bool sdp_fragment_parse(struct sdp_fragment *f, const char *text, size_t size);
/* Writes the response to an ICE restart; `ours` has new credentials. */
void sdp_fragment_write(struct wr *w, const struct sdp_agreed *a, const struct sdp_answer *ours);

#endif
