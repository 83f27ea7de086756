/* SPDX-License-Identifier: MIT */
/* rtsp.h - what a load client says to an RTSP server: a request and its answer, with login and
 * redirects. */
#ifndef TOOLS_LOAD_RTSP_H
#define TOOLS_LOAD_RTSP_H

#include "co/net/udp.h"
#include "proto/rtsp/call.h"
#include "proto/rtsp/transport.h"
#include "tools/load/run.h"

/* Where a track goes. */
struct load_pair {
    uint8_t channel;       /* of the connection */
    struct udp *udp[2];    /* media, reports; NULL: over the connection */
    struct udp_addr to[2]; /* port 0: it was not answered */
};

struct load_rtsp {
    struct load_client *c;     /* its talk.io is the connection */
    struct rtsp_call_setup setup;
    struct rtsp_call call;
    char *base;                /* what tracks are relative to; NULL: not known */
    co_usec alive_due;         /* when a sign of life is due; 0: it is not known */
};

/* The `open` of a tool: connect, with TLS if the url says so. */
err_t load_rtsp_open(struct load_client *c, const struct load_url *url, const char *bind_ip,
                     co_usec timeout) __attribute__((warn_unused_result));
/* Of a client that is connected; load_rtsp_fini() hangs up. On an error nothing is to end. */
err_t load_rtsp_init(struct load_rtsp *t, struct load_client *c, const struct load_url *url)
    __attribute__((warn_unused_result));
void  load_rtsp_fini(struct load_rtsp *t);

/* As rtsp_call_request(); what is refused is counted. */
err_t load_rtsp_ask(struct load_rtsp *t, const struct rtsp_request *ask,
                    const struct rtsp_message **answer) __attribute__((warn_unused_result));
/* Set a track up, over the connection or a pair of sockets of its own, as --udp says. */
err_t load_rtsp_setup(struct load_rtsp *t, const char *control, unsigned track, bool record,
                      struct load_pair *pair) __attribute__((warn_unused_result));
void  load_pair_close(struct load_pair *pair); /* all zero is fine */
/* No more answers are waited for: media follow, and nothing else but messages. */
void  load_rtsp_begin(struct load_rtsp *t);

/* A sign of life, if it is time for one. */
err_t load_rtsp_alive(struct load_rtsp *t) __attribute__((warn_unused_result));
/* The session is over; nobody waits for the answer. */
void  load_rtsp_teardown(struct load_rtsp *t);

/* rtsp_tunnel.c: RTSP inside of HTTP. *io has the way down, and becomes a pipe over both. */
err_t load_tunnel_open(struct io **io, struct io *up, const char *host)
    __attribute__((warn_unused_result));

#endif
