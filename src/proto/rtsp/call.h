/* SPDX-License-Identifier: MIT */
/* call.h - a conversation with a server that we call: connect, ask, wait for the answer.
 *
 * It connects with the first request, logs in as it is asked to, and goes where a server sends it,
 * as long as nothing has been set up. What comes between a request and its answer, frames and what
 * the server itself asks, is seen to meanwhile. Of its errors ERR_RTSP_LOGIN is that the password
 * is wrong, ERR_RTSP_REFUSED that the server said no: client.status has its number.
 */
#ifndef PROTO_RTSP_CALL_H
#define PROTO_RTSP_CALL_H

#include "co/net/io_tls.h"
#include "proto/rtsp/client.h"
#include "proto/rtsp/reader.h"

struct rtsp_call_setup { /* borrowed until the end of the call */
    const char *agent;
    struct io_tls_trust trust;
    co_usec connect, answer; /* how long each of these may take */
};

struct rtsp_call {
    const struct rtsp_call_setup *setup;
    struct rtsp_client client;
    struct rtsp_reader reader;
    struct io *io; /* NULL: not connected */
    /* Frames that come while it waits for an answer; NULL: they are dropped. May not yield. */
    void (*on_frame)(void *arg, uint8_t channel, const uint8_t *data, size_t size);
    void *arg;
};

/* One request. */
struct rtsp_ask {
    enum rtsp_method method;
    const char *url; /* NULL: that of the client's place; only those follow 301 and 302 */
    const struct rtsp_more *more;
    size_t n;
    const void *body;
    size_t size;
};

/* ERR_RTSP: that is no url. Then there is nothing to end. */
err_t rtsp_call_init(struct rtsp_call *c, const char *url, const struct rtsp_call_setup *setup)
    __attribute__((warn_unused_result));
/* Hangs up. */
void rtsp_call_fini(struct rtsp_call *c);

/* Ask until it is done: *answer (may be NULL) is valid until the reader reads again. Yields. */
err_t rtsp_call_request(struct rtsp_call *c, const struct rtsp_ask *ask,
                    const struct rtsp_message **answer) __attribute__((warn_unused_result));
/* Say it, and wait for no answer. Yields. */
err_t rtsp_call_say(struct rtsp_call *c, const struct rtsp_ask *ask)
    __attribute__((warn_unused_result));
/* A sign of life, if the server likes any. Yields. */
err_t rtsp_call_alive(struct rtsp_call *c, const char *url) __attribute__((warn_unused_result));
/* A message that came while nothing is asked. Yields if it is to be answered. */
err_t rtsp_call_heard(struct rtsp_call *c, const struct rtsp_message *m)
    __attribute__((warn_unused_result));

#endif
