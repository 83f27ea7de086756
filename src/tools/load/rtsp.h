/* SPDX-License-Identifier: MIT */
/* rtsp.h - RTSP client of the load tools: requests and responses, with login and redirects. */
#ifndef TOOLS_LOAD_RTSP_H
#define TOOLS_LOAD_RTSP_H

#include "co/net/udp.h"
#include "proto/rtsp/call.h"
#include "proto/rtsp/transport.h"
#include "tools/load/run.h"

/* Transport of a track. */
struct load_pair {
    uint8_t channel;       /* interleaved channel */
    struct udp *udp[2];    /* RTP and RTCP sockets; NULL: interleaved in the connection */
    struct udp_addr to[2]; /* the server's addresses; port 0: not in its response */
};

struct load_rtsp {
    struct load_client *c;     /* its talk.io is the connection */
    struct rtsp_call_setup setup;
    struct rtsp_call call;
    char *base;                /* base URL of the tracks; NULL: not known */
    co_usec alive_due;         /* time of the next keep-alive; 0: not known */
};

/* Callback `open` of a tool: connects, with TLS if the URL requires it. */
err_t load_rtsp_open(struct load_client *c, const struct load_url *url, const char *bind_ip,
                     co_usec timeout) __attribute__((warn_unused_result));
/* Initializes *t for a connected client; load_rtsp_fini() closes the session. After an error there
 * is nothing to clean up. */
err_t load_rtsp_init(struct load_rtsp *t, struct load_client *c, const struct load_url *url)
    __attribute__((warn_unused_result));
void  load_rtsp_fini(struct load_rtsp *t);

/* Same as rtsp_call_request(), but also counts rejected requests. */
err_t load_rtsp_ask(struct load_rtsp *t, const struct rtsp_request *ask,
                    const struct rtsp_message **answer) __attribute__((warn_unused_result));
/* Sets up a track, interleaved or (with --udp) over its own pair of sockets. */
err_t load_rtsp_setup(struct load_rtsp *t, const char *control, unsigned track, bool record,
                      struct load_pair *pair) __attribute__((warn_unused_result));
void  load_pair_close(struct load_pair *pair); /* all zero is fine */
/* Ends the request phase: from here on the connection carries media. */
void  load_rtsp_begin(struct load_rtsp *t);

/* Sends a keep-alive if one is due. */
err_t load_rtsp_alive(struct load_rtsp *t) __attribute__((warn_unused_result));
/* Sends TEARDOWN. Does not wait for the response. */
void  load_rtsp_teardown(struct load_rtsp *t);

/* rtsp_tunnel.c: RTSP over HTTP. *io is the GET connection, `up` the POST connection; *io becomes a
 * pipe over both. */
err_t load_tunnel_open(struct io **io, struct io *up, const char *host)
    __attribute__((warn_unused_result));

#endif
