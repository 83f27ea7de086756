/* SPDX-License-Identifier: MIT */
/* sdp.h - session descriptions as RTSP has them: [SDP] RFC 8866, [RTSP] RFC 2326 appendix C.
 *
 * What comes is from cameras and old programs, so everything that is not needed may be missing or
 * wrong: lines in any order, any end of line, any bytes. What names no media is skipped. What is
 * written is what the strictest of known players takes.
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

/* A payload type, and what a=rtpmap and a=fmtp say of it. */
struct sdp_format {
    uint8_t type;
    const char *name;  /* of the encoding; "": there is no a=rtpmap, as static types need none */
    uint32_t clock;    /* 0: not said */
    unsigned channels; /* 0: not said */
    const char *fmtp;  /* "" */
};

struct sdp_media {
    enum sdp_kind kind;
    unsigned port;
    const char *proto;   /* "RTP/AVP" */
    const char *control; /* url of the track, whole or a part of one; "": not said */
    const char *address; /* of c=, without what is behind a slash; "" */
    unsigned kbits;      /* b=AS; 0: not said */
    enum sdp_direction direction;
    unsigned n;          /* formats, the first is the one that is sent */
    struct sdp_format formats[SDP_FORMATS_MAX];
};

/* Strings live in one piece of memory until sdp_free(); none is NULL. */
struct sdp {
    const char *name;    /* s= */
    const char *control; /* of all; "": not said */
    const char *range;   /* "npt=0-12.5"; "" */
    unsigned n, left_out; /* media; such whose m= cannot be read */
    struct sdp_media media[SDP_MEDIA_MAX];
    char *memory;
};

/* ERR_MALFORMED: it is no description at all; ERR_TOO_LARGE, ERR_TOO_MANY media, ERR_NO_MEMORY.
 * Nothing is to free then. A description may have no media. The struct is large: a few KB. */
err_t sdp_parse(struct sdp *s, const char *text, size_t size) __attribute__((warn_unused_result));
void sdp_free(struct sdp *s); /* all zero is fine */

/* ---- what we say: a session, then its media one after the other, video first */

struct sdp_session_out {
    uint64_t id, version; /* the same id and a larger version: it has changed */
    const char *address;  /* whose it is; NULL: 127.0.0.1. IPv6 is known by its colons */
    const char *name;     /* of the stream */
    int64_t duration;     /* milliseconds; less than 0: live */
};

struct sdp_media_out {
    enum sdp_kind kind;
    uint8_t type;        /* payload type */
    const char *name;    /* of the encoding; NULL: no a=rtpmap */
    uint32_t clock;
    unsigned channels;   /* 0: nothing is said of them */
    const char *fmtp;    /* fmtp_size bytes */
    size_t fmtp_size;    /* 0: there is none */
    const char *control; /* "trackID=0" */
    unsigned kbits;      /* 0: nothing is said */
    const char *direction; /* "recvonly"; NULL: nothing is said */
};

void sdp_put_session(struct wr *w, const struct sdp_session_out *s);
void sdp_put_media(struct wr *w, const struct sdp_media_out *m);

#endif
