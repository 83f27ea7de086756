/* SPDX-License-Identifier: MIT */
/* reply.h - bodies of the command and data messages that a server sends, appended to w. */
#ifndef PROTO_RTMP_REPLY_H
#define PROTO_RTMP_REPLY_H

#include "base/wr.h"
#include "proto/rtmp/amf0.h"

/* Rows of a table in reply.c: level, code and description. */
enum rtmp_status {
    RTMP_CONNECT_SUCCESS, RTMP_CONNECT_REJECTED, RTMP_CONNECT_CLOSED, RTMP_CONNECT_INVALID_APP,
    RTMP_PUBLISH_START, RTMP_PUBLISH_BAD_NAME, RTMP_PUBLISH_DENIED, RTMP_PUBLISH_IDLE,
    RTMP_UNPUBLISH_SUCCESS,
    RTMP_PLAY_RESET, RTMP_PLAY_START, RTMP_PLAY_STOP, RTMP_PLAY_NOT_FOUND, RTMP_PLAY_FAILED,
    RTMP_PLAY_PUBLISH_NOTIFY, RTMP_PLAY_UNPUBLISH_NOTIFY,
    RTMP_PAUSE_NOTIFY, RTMP_UNPAUSE_NOTIFY, RTMP_SEEK_NOTIFY,
    RTMP_SEEK_FAILED,
};

/* Data about this server for the client. Edges of a cluster log it, to trace clients by grep. */
struct rtmp_reply_server {
    const char *signature, *version;
    double pid;
    const char *id;          /* id of the client's session */
};
/* Appends the response to connect. `server` may be NULL. `enhanced` announces that we forward all
 * FourCCs, multitrack and ModEx [E-RTMP]; for clients that announced them too. */
void rtmp_reply_connect(struct wr *w, double transaction, double object_encoding, bool enhanced,
                        const struct rtmp_reply_server *server);
/* _error with this status. description NULL: that of the table. */
void rtmp_reply_error(struct wr *w, double transaction, enum rtmp_status status,
                      const char *description);
/* _result null undefined: in response to releaseStream, FCPublish, FCUnpublish, _checkbw. */
void rtmp_reply_result(struct wr *w, double transaction);
/* _result null NUMBER: in response to createStream (its id) and getStreamLength (seconds). */
void rtmp_reply_number(struct wr *w, double transaction, double number);

/* onStatus. description and details (name of the stream) may be NULL. */
void rtmp_reply_status(struct wr *w, enum rtmp_status status, const char *description,
                       const char *details);
/* onFCPublish and onFCUnpublish; FMLE waits for them. */
void rtmp_reply_fc(struct wr *w, enum rtmp_status status);
void rtmp_reply_bw_done(struct wr *w);

/* Data message onPlayStatus NetStream.Play.Complete: the whole file was sent. */
void rtmp_reply_complete(struct wr *w, double seconds, double bytes);

/* Data message |RtmpSampleAccess. Never send onStatus NetStream.Data.Start: FFmpeg takes it for
 * media and opens a stream "Data: none" before video and audio. */
void rtmp_reply_sample_access(struct wr *w, bool audio, bool video);

/* ---- bodies of the commands that a client sends, appended to w */

struct rtmp_request_connect {
    const char *app, *tc_url;
    const char *page_url, *swf_url, *flash_ver; /* may be NULL */
    bool enhanced;                 /* announce FourCCs, multitrack and ModEx [E-RTMP] */
    const struct amf_value *extra; /* object after the command object, or NULL */
};

void rtmp_request_connect(struct wr *w, double transaction, const struct rtmp_request_connect *r);
/* releaseStream, FCPublish, FCUnpublish, createStream (name NULL). */
void rtmp_request_call(struct wr *w, const char *command, double transaction, const char *name);
void rtmp_request_publish(struct wr *w, double transaction, const char *name, const char *type);
void rtmp_request_play(struct wr *w, double transaction, const char *name, double start);
void rtmp_request_delete_stream(struct wr *w, double transaction, uint32_t stream_id);

#endif
