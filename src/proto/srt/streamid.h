/* SPDX-License-Identifier: MIT */
/* streamid.h - what a stream id asks for, in all the forms that clients write: reference section 3
 * of our documentation, and "SRT Access Control". */
#ifndef PROTO_SRT_STREAMID_H
#define PROTO_SRT_STREAMID_H

#include "proto/srt/handshake.h"

struct srt_streamid {
    bool publish;
    char vhost[256];   /* "": none was named */
    char app[256], stream[256];
    char param[2 * SRT_STREAMID_MAX]; /* "?k=v&k=v", or "" */
    char user[128];    /* u=, for the log and refusals; or "" */
};
struct srt_streamid_defaults {
    const char *app, *streamid;
    bool publish;
};
/* `text` is NULL or "": that of the defaults. SRT_REFUSED_BAD_REQUEST, _MEDIA_TYPE, _BAD_MODE. */
enum srt_refusal srt_streamid_parse(struct srt_streamid *out, const char *text, size_t size,
                                    const struct srt_streamid_defaults *defaults);
/* As the log may have it: what a stream is called, the rest (keys, tokens) as ***. `room` > 0. */
void srt_streamid_shown(const char *text, char *out, size_t room);

#endif
