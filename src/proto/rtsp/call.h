/* SPDX-License-Identifier: MIT */
/* call.h - RTSP client connection to a server: connects, sends requests, waits for responses.
 *
 * It connects with the first request, authenticates when the server requires it, and follows
 * redirects until a track has been set up. While it waits for a response, it handles frames and the
 * server's own requests. ERR_RTSP_LOGIN means that the password is wrong, ERR_RTSP_REFUSED that the
 * server refused the request; client.status has the status.
 */
#ifndef PROTO_RTSP_CALL_H
#define PROTO_RTSP_CALL_H

#include "co/net/io_tls.h"
#include "proto/rtsp/client.h"
#include "proto/rtsp/reader.h"

struct rtsp_call_setup { /* borrowed until the end of the call */
    const char *agent;
    struct io_tls_trust trust;
    co_usec connect, answer; /* timeouts of connecting and of a response */
};

struct rtsp_call {
    const struct rtsp_call_setup *setup;
    struct rtsp_client client;
    struct rtsp_reader reader;
    struct io *io; /* NULL: not connected */
    /* Called for frames that arrive during the wait for a response; NULL drops them. Must not
     * yield. */
    void (*on_frame)(void *arg, uint8_t channel, const uint8_t *data, size_t size);
    void *arg;
};

/* A request. */
struct rtsp_request {
    enum rtsp_method method;
    const char *url; /* NULL: URL of the client's location; only such requests follow 301 and 302 */
    const struct rtsp_extra *more;
    size_t n;
    const void *body;
    size_t size;
};

/* ERR_RTSP for an invalid URL. Then there is nothing to free. */
err_t rtsp_call_init(struct rtsp_call *c, const char *url, const struct rtsp_call_setup *setup)
    __attribute__((warn_unused_result));
/* Closes the connection. */
void rtsp_call_fini(struct rtsp_call *c);

/* Sends a request and repeats it as needed (authentication, redirects). *answer, which may be NULL,
 * stays valid until the reader reads again. Yields. */
err_t rtsp_call_request(struct rtsp_call *c, const struct rtsp_request *request,
                    const struct rtsp_message **answer) __attribute__((warn_unused_result));
/* Sends a request without waiting for the response. Yields. */
err_t rtsp_call_send(struct rtsp_call *c, const struct rtsp_request *request)
    __attribute__((warn_unused_result));
/* Sends a keepalive, if the server accepts any. Yields. */
err_t rtsp_call_keepalive(struct rtsp_call *c, const char *url) __attribute__((warn_unused_result));
/* Handles a message that arrives while no request is pending. Yields if it needs a response. */
err_t rtsp_call_received(struct rtsp_call *c, const struct rtsp_message *m)
    __attribute__((warn_unused_result));

#endif
