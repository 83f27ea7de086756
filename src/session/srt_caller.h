/* SPDX-License-Identifier: MIT */
/* srt_caller.h - a listener of SRT that we call, and the connection to it: for forwards and ingest.
 * It has a socket of its own, which the coroutine of who calls drives.
 *
 *     err = srt_caller_call(&c, url, conf);             refused: ERR_SRT_CONNECT, with the reason
 *     if (!err) err = srt_caller_receive(&c);           or srt_caller_send(&c, &opts)
 *     while (!err) {
 *         while (srt_conn_next(&c.conn, ...)) ...       or srt_caller_burst(&c, ...)
 *         err = srt_caller_turn(&c, until);
 *     }
 *     srt_caller_close(&c);                             always
 */
#ifndef SESSION_SRT_CALLER_H
#define SESSION_SRT_CALLER_H

#include "co/net/udp.h"
#include "conf/conf.h"
#include "proto/srt/call.h"
#include "proto/srt/conn.h"

struct srt_caller {
    struct srt_conn conn;      /* from send() or receive() on */
    struct srt_agreed agreed;  /* from call() on */
    struct srt_url url;
    char peer[UDP_TEXT];
    /* srt_caller.c's own */
    const struct conf_srt_server *set;
    struct srt_call call;
    struct srt_secret *secret;
    struct udp *udp;
    struct udp_path path;
    bool begun;
};

/* `conf` is borrowed until send() or receive(). ERR_SRT_CONNECT: it is no url, or the listener says
 * no; ERR_SRT_TIMEOUT, ERR_DNS and so on. Yields. */
err_t srt_caller_call(struct srt_caller *c, const char *url, const struct conf *conf)
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
