/* SPDX-License-Identifier: MIT */
/* client.h - the client's side of a conversation, straight down: connect, then publish or play.
 *
 *     rtmp_conn_init(&c, io, setup);
 *     err = rtmp_client_connect(&c, &url, NULL);
 *     if (!err) err = rtmp_client_publish(&c, &url, &stream_id);
 *     messages with that stream_id ...
 *
 * Everything waits as long as the pipe's timeouts allow, and yields. Answers that are late, missing
 * (to FCPublish) or of no use are passed over. A server that says no is ERR_RTMP_REJECTED with its
 * code and description; an answer to what was never asked is ERR_RTMP_NO_REQUEST.
 */
#ifndef PROTO_RTMP_CLIENT_H
#define PROTO_RTMP_CLIENT_H

#include "base/err.h"
#include "proto/rtmp/amf0.h"
#include "proto/rtmp/conn.h"
#include "proto/rtmp/url.h"

struct rtmp_client_options {
    const char *flash_ver, *page_url, *swf_url; /* may be NULL */
    const struct amf_value *extra;              /* an object more in connect, or NULL */
    bool plain; /* say nothing of enhanced RTMP, for servers that trip over it */
};

/* Handshake and connect. options may be NULL. */
err_t rtmp_client_connect(struct rtmp_conn *c, const struct rtmp_url *url,
                          const struct rtmp_client_options *options)
    __attribute__((warn_unused_result));

/* Ask for a stream and publish url->stream with its param. Our chunk size becomes 60000. */
err_t rtmp_client_publish(struct rtmp_conn *c, const struct rtmp_url *url, uint32_t *stream_id)
    __attribute__((warn_unused_result));
/* The orderly end of publishing; the connection can be closed at once. */
err_t rtmp_client_unpublish(struct rtmp_conn *c, const struct rtmp_url *url, uint32_t stream_id)
    __attribute__((warn_unused_result));

enum { RTMP_PLAY_ANY = -2000 }; /* live or recorded, in ms as all clients say it */

/* Ask for a stream and play url->stream with its param, a recording from `start` (ms) or all of it
 * (RTMP_PLAY_ANY). Messages follow by rtmp_conn_read(). */
err_t rtmp_client_play(struct rtmp_conn *c, const struct rtmp_url *url, double start,
                       uint32_t *stream_id)
    __attribute__((warn_unused_result));

#endif
