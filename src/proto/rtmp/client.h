/* SPDX-License-Identifier: MIT */
/* client.h - the client side of RTMP, as sequential calls: connect, then publish or play.
 *
 *     rtmp_conn_init(&c, io, setup);
 *     err = rtmp_client_connect(&c, &url, NULL);
 *     if (!err) err = rtmp_client_publish(&c, &url, &stream_id);
 *     messages with that stream_id ...
 *
 * Each call waits as long as the pipe's timeouts allow, and yields. Late, missing (to FCPublish) or
 * useless responses are ignored. A rejection by the server is ERR_RTMP_REJECTED with its code and
 * description. A response without a request is ERR_RTMP_NO_REQUEST.
 */
#ifndef PROTO_RTMP_CLIENT_H
#define PROTO_RTMP_CLIENT_H

#include "base/err.h"
#include "proto/rtmp/amf0.h"
#include "proto/rtmp/conn.h"
#include "proto/rtmp/url.h"

struct rtmp_client_options {
    const char *flash_ver, *page_url, *swf_url; /* may be NULL */
    const struct amf_value *extra;              /* second object in connect, or NULL */
    bool plain; /* do not announce enhanced RTMP, for servers that fail on it */
};

/* Performs the handshake and connect. options may be NULL. */
err_t rtmp_client_connect(struct rtmp_conn *c, const struct rtmp_url *url,
                          const struct rtmp_client_options *options)
    __attribute__((warn_unused_result));

/* Creates a stream and publishes url->stream with its param. Sets our chunk size to 60000. */
err_t rtmp_client_publish(struct rtmp_conn *c, const struct rtmp_url *url, uint32_t *stream_id)
    __attribute__((warn_unused_result));
/* Ends publishing in order; the connection can be closed right afterwards. */
err_t rtmp_client_unpublish(struct rtmp_conn *c, const struct rtmp_url *url, uint32_t stream_id)
    __attribute__((warn_unused_result));

enum { RTMP_PLAY_ANY = -2000 }; /* live or recorded; in ms, as all clients send it */

/* Creates a stream and plays url->stream with its param: a recording from `start` (ms), or any
 * stream (RTMP_PLAY_ANY). Read the messages with rtmp_conn_read(). */
err_t rtmp_client_play(struct rtmp_conn *c, const struct rtmp_url *url, double start,
                       uint32_t *stream_id)
    __attribute__((warn_unused_result));

#endif
