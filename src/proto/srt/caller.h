/* SPDX-License-Identifier: MIT */
/* caller.h - an SRT connection to a listener, for forwards and ingest. It has its own socket, which
 * the caller's coroutine drives.
 *
 *     err = srt_caller_call(&c, url, &opts);            refused: ERR_SRT_CONNECT, with the reason
 *     if (!err) err = srt_caller_receive(&c);           or srt_caller_send(&c, &opts)
 *     while (!err) {
 *         while (srt_conn_next(&c.conn, ...)) ...       or srt_caller_burst(&c, ...)
 *         err = srt_caller_turn(&c, until);
 *     }
 *     srt_caller_close(&c);                             always
 */
#ifndef PROTO_SRT_CALLER_H
#define PROTO_SRT_CALLER_H

#include "co/net/udp.h"
#include "proto/srt/call.h"
#include "proto/srt/conn.h"

/* Parameters of a call and its connection. Times are in microseconds. */
struct srt_caller_opts {
    unsigned mss;               /* largest IP packet, in bytes */
    size_t receive_buffer;      /* bytes */
    uint64_t max_bandwidth;     /* bytes per second */
    co_usec recv_latency, peer_latency; /* defaults, which the URL can override */
    co_usec connect_timeout, idle_timeout;
    bool tsbpd, drop_late;      /* as in srt_conn_opts */
};

struct srt_caller {
    struct srt_conn conn;      /* valid after send() or receive() */
    struct srt_agreed agreed;  /* valid after call() */
    struct srt_url url;
    char peer[UDP_TEXT];
    /* private to caller.c */
    struct srt_caller_opts opts;
    struct srt_call call;
    struct srt_secret *secret;
    struct udp *udp;
    struct udp_path path;
    bool begun;
};

/* Calls the listener. ERR_SRT_CONNECT for an invalid URL or a rejection; ERR_SRT_TIMEOUT, ERR_DNS
 * and so on. Yields. */
err_t srt_caller_call(struct srt_caller *c, const char *url, const struct srt_caller_opts *opts)
    __attribute__((warn_unused_result));
/* Start the connection. ERR_NO_MEMORY. */
err_t srt_caller_send(struct srt_caller *c, const struct srt_log *log, uint64_t from, bool lead)
    __attribute__((warn_unused_result));
err_t srt_caller_receive(struct srt_caller *c) __attribute__((warn_unused_result));
/* Sends the media that is due; returns the bytes of datagrams. */
uint64_t srt_caller_burst(struct srt_caller *c, struct srt_burst *b);
/* Waits until a datagram arrives, the connection has something to do, or `until`, and then does it.
 * An error means that the connection has ended. Yields. */
err_t srt_caller_turn(struct srt_caller *c, co_usec until) __attribute__((warn_unused_result));
/* Sends a shutdown if the connection is open, and frees everything. Works on a zeroed struct. */
void srt_caller_close(struct srt_caller *c);

#endif
