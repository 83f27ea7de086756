/* SPDX-License-Identifier: MIT */
/* sdp.h - session descriptions in RTSP: [SDP] RFC 8866, [RTSP] RFC 2326 appendix C.
 *
 * The parser handles cameras and old programs, so everything that is not needed may be missing or
 * invalid: lines in any order, any line ends, any bytes. Lines that describe no media are ignored.
 * The writer produces what the strictest of the known players accepts.
 */
#ifndef PROTO_SDP_SDP_H
#define PROTO_SDP_SDP_H

#include "base/err.h"
#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

enum { SDP_SIZE_MAX = 64 * 1024, SDP_MEDIA_MAX = 16, SDP_FORMATS_MAX = 8, SDP_CHANNELS_MAX = 255 };

enum sdp_kind { SDP_VIDEO, SDP_AUDIO, SDP_APPLICATION, SDP_OTHER };
enum sdp_direction { SDP_SENDRECV, SDP_SENDONLY, SDP_RECVONLY, SDP_INACTIVE };

/* A payload type, with its a=rtpmap and a=fmtp. */
struct sdp_format {
    uint8_t type;
    const char *name;  /* name of the encoding; "": no a=rtpmap, which static types do not need */
    uint32_t clock;    /* 0: not given */
    unsigned channels; /* 0: not given */
    const char *fmtp;  /* "" */
};

struct sdp_media {
    enum sdp_kind kind;
    unsigned port;
    const char *proto;   /* "RTP/AVP" */
    const char *control; /* URL of the track, or a part of it; "": not given */
    const char *address; /* from c=, without the part after a slash; "" */
    unsigned kbits;      /* b=AS; 0: not given */
    enum sdp_direction direction;
    unsigned n;          /* number of formats; the first one is the one that is sent */
    struct sdp_format formats[SDP_FORMATS_MAX];
};

/* All strings are in `memory` until sdp_free(); none is NULL. */
struct sdp {
    const char *name;    /* s= */
    const char *control; /* session level; "": not given */
    const char *range;   /* "npt=0-12.5"; "" */
    unsigned n, left_out; /* number of media; number of media whose m= line is invalid */
    struct sdp_media media[SDP_MEDIA_MAX];
    char *memory;
};

/* ERR_MALFORMED: not a description; ERR_TOO_LARGE, ERR_TOO_MANY media, ERR_NO_MEMORY. On error
 * there is nothing to free. A description may have no media. The struct has several KB. */
err_t sdp_parse(struct sdp *s, const char *text, size_t size) __attribute__((warn_unused_result));
void sdp_free(struct sdp *s); /* works on a zeroed struct */

/* ---- writing: a session, then its media one by one, video first */

struct sdp_session_out {
    uint64_t id, version; /* a larger version with the same id means that it changed */
    const char *address;  /* address of the originator; NULL: 127.0.0.1. A colon means IPv6 */
    const char *name;     /* name of the stream */
    int64_t duration;     /* milliseconds; negative: live */
};

struct sdp_media_out {
    enum sdp_kind kind;
    uint8_t type;        /* payload type */
    const char *name;    /* name of the encoding; NULL: no a=rtpmap */
    uint32_t clock;
    unsigned channels;   /* 0: not written */
    const char *fmtp;    /* fmtp_size bytes */
    size_t fmtp_size;    /* 0: no fmtp */
    const char *control; /* "trackID=0" */
    unsigned kbits;      /* 0: not written */
    const char *direction; /* "recvonly"; NULL: not written */
};

void sdp_put_session(struct wr *w, const struct sdp_session_out *s);
void sdp_put_media(struct wr *w, const struct sdp_media_out *m);

#endif
