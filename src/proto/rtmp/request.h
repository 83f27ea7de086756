/* SPDX-License-Identifier: MIT */
/* request.h - what a client says: bodies of commands, appended to w. */
#ifndef RTMP_REQUEST_H
#define RTMP_REQUEST_H

#include "base/wr.h"
#include "proto/rtmp/amf0.h"

struct rtmp_request_connect {
    const char *app, *tc_url;
    const char *page_url, *swf_url, *flash_ver; /* may be NULL */
    bool enhanced;                 /* say that we know FourCCs, multitrack and ModEx [E-RTMP] */
    const struct amf_value *extra; /* an object behind the command object, or NULL */
};

void rtmp_request_connect(struct wr *w, double transaction, const struct rtmp_request_connect *r);
/* releaseStream, FCPublish, FCUnpublish, createStream (name NULL). */
void rtmp_request_call(struct wr *w, const char *command, double transaction, const char *name);
void rtmp_request_publish(struct wr *w, double transaction, const char *name, const char *type);
void rtmp_request_play(struct wr *w, double transaction, const char *name, double start);
void rtmp_request_delete_stream(struct wr *w, double transaction, uint32_t stream_id);

#endif
