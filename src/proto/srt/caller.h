/* SPDX-License-Identifier: MIT */
/* caller.h - a listener of SRT that we call, and the connection to it: for forwards and ingest.
 * It has a socket of its own, which the coroutine of who calls drives.
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

/* What a call and its connection use. Times are in microseconds. */
struct srt_caller_opts {
    unsigned mss;               /* bytes of an IP packet at most */
    size_t receive_buffer;      /* bytes */
    uint64_t max_bandwidth;     /* bytes a second */
    co_usec recv_latency, peer_latency; /* unless the url says another */
    co_usec connect_timeout, idle_timeout;
    bool tsbpd, drop_late;      /* as of srt_conn_opts */
};

struct srt_caller {
    struct srt_conn conn;      /* from send() or receive() on */
    struct srt_agreed agreed;  /* from call() on */
    struct srt_url url;
    char peer[UDP_TEXT];
    /* caller.c's own */
    struct srt_caller_opts opts;
    struct srt_call call;
    struct srt_secret *secret;
    struct udp *udp;
    struct udp_path path;
    bool begun;
};

/* ERR_SRT_CONNECT: it is no url, or the listener says
 * no; ERR_SRT_TIMEOUT, ERR_DNS and so on. Yields. */
err_t srt_caller_call(struct srt_caller *c, const char *url, const struct srt_caller_opts *opts)
    __attribute__((warn_unused_result));
/* The connection begins. ERR_NO_MEMORY. */
err_t srt_caller_send(struct srt_caller *c, const struct srt_log *log, uint64_t from, bool lead)
    __attribute__((warn_unused_result));
err_t srt_caller_receive(struct srt_caller *c) __attribute__((warn_unused_result));
/* What is to be sent of media now: bytes of datagrams. */
uint64_t srt_caller_burst(struct srt_caller *c, struct srt_burst *b);
/* Wait until something comes, the connection has something to do, or that time, and do it. An
 * error: it is over. Yields. */
err_t srt_caller_turn(struct srt_caller *c, co_usec until) __attribute__((warn_unused_result));
/* Says goodbye if there is somebody to say it to. Zeroed is fine. */
void srt_caller_close(struct srt_caller *c);

#endif
