/* SPDX-License-Identifier: MIT */
/* streamid.h - parses stream ids in all forms that clients use: the server's documentation and "SRT
 * Access Control".
 */
#ifndef PROTO_SRT_STREAMID_H
#define PROTO_SRT_STREAMID_H

#include "proto/srt/handshake.h"

struct srt_streamid {
    bool publish;
    char vhost[256];   /* "": none */
    char app[256], stream[256];
    char param[2 * SRT_STREAMID_MAX]; /* "?k=v&k=v", or "" */
    char user[128];    /* u=, for log lines and rejections; or "" */
};
struct srt_streamid_defaults {
    const char *app, *streamid;
    bool publish;
};
/* Parses a stream id. If `text` is NULL or "", uses that of the defaults. SRT_REFUSED_BAD_REQUEST,
 * _MEDIA_TYPE, _BAD_MODE. */
enum srt_refusal srt_streamid_parse(struct srt_streamid *out, const char *text, size_t size,
                                    const struct srt_streamid_defaults *defaults);
/* Writes the stream id for the log: the stream's name readable, the rest (keys, tokens) as ***.
 * `room` > 0. */
void srt_streamid_redact(const char *text, char *out, size_t room);

#endif
