/* SPDX-License-Identifier: MIT */
/* conn.h - one RTMP connection over a pipe, server's or client's, after its handshake.
 *
 * It reads messages and answers by itself what the protocol wants answered: acknowledgements and
 * pings. What the peer said about chunk sizes and windows is kept here. Commands, data and
 * media are its owner's.
 *
 * Bytes are read into memory that all connections of the thread share: the reader takes them all
 * before anything else runs. So an idle connection has no buffer.
 */
#ifndef PROTO_RTMP_CONN_H
#define PROTO_RTMP_CONN_H

#include "base/err.h"
#include "co/net/io.h"
#include "proto/rtmp/chunk_in.h"
#include "proto/rtmp/chunk_out.h"
#include "proto/rtmp/command.h"

struct rtmp_conn { /* do not move */
    struct io *io;   /* borrowed */
    bool pong;       /* a ping of `ping` waits for its answer */
    bool held_back;  /* by rtmp_conn_unread() */
    uint64_t msgs_in;
    struct rtmp_in in;
    uint32_t out_chunk_size;
    uint32_t ping;
    struct co *co;         /* whose connection it is; NULL over memory */
    struct co_timer timer; /* of messages that do not end */
    co_usec message_time;  /* how long one may take; 0: for ever */
    bool small_reads;      /* the peer has little to say: what is read at once is, too */
    struct rtmp_msg held;
    double transaction; /* of the last command we sent, as a client */
};

/* The setup must outlive the connection. */
void rtmp_conn_init(struct rtmp_conn *c, struct io *io, const struct rtmp_in_setup *setup);
void rtmp_conn_fini(struct rtmp_conn *c);

/* The next message of types that are not the protocol's own; payload: the caller's, to give back
 * by rtmp_conn_release(). Yields, as long as the pipe's read timeout allows; sends what is owed. */
err_t rtmp_conn_read(struct rtmp_conn *c, struct rtmp_msg *out)
    __attribute__((warn_unused_result));

/* For a side that sends all the time and reads now and then. poll: take in what is there, without
 * waiting, unless something waits to be popped: a peer must not pile up what nobody takes.
 * pop: the next message that came so, false when there is none. Neither yields nor sends. flush:
 * send the answers that are owed, when bytes of no other message are half sent. Yields. */
err_t rtmp_conn_poll(struct rtmp_conn *c) __attribute__((warn_unused_result));
/* drain: like poll, but asks the system whether something is there, and takes 1 MB of it: for
 * merged reads, which the kernel does not announce. Yields when there was more. */
err_t rtmp_conn_drain(struct rtmp_conn *c) __attribute__((warn_unused_result));
bool  rtmp_conn_pop(struct rtmp_conn *c, struct rtmp_msg *out);
bool  rtmp_conn_owes(struct rtmp_conn *c);
err_t rtmp_conn_flush(struct rtmp_conn *c) __attribute__((warn_unused_result));

/* Give one message back, to be read again: it is the next one. Takes the payload over. */
void  rtmp_conn_unread(struct rtmp_conn *c, const struct rtmp_msg *msg);

/* Wait until something comes and take it in; messages are popped, or taken as rtmp_in_direct()
 * says. Yields, as long as the pipe's read timeout allows; sends nothing. */
err_t rtmp_conn_fill(struct rtmp_conn *c) __attribute__((warn_unused_result));

void rtmp_conn_release(struct rtmp_conn *c, struct rtmp_msg *msg); /* payload may be NULL */

/* A message that is not complete message_time after its first byte, or too much memory for such
 * ones in the setup's pool, stops the coroutine by the error that says so. Time that the owner does
 * not read is not the peer's: hold, then go_on. */
void  rtmp_conn_hold(struct rtmp_conn *c);
void  rtmp_conn_go_on(struct rtmp_conn *c);

/* To another thread: leave() on this one, between messages and with nothing owed, then arrive() on
 * the other, by the coroutine that works for it there. */
void  rtmp_conn_leave(struct rtmp_conn *c);
void  rtmp_conn_arrive(struct rtmp_conn *c);

/* Acknowledge each so many bytes to a peer that did not ask for it, for those that stall without;
 * a window that the peer sets wins. 0: no. */
void rtmp_conn_force_window(struct rtmp_conn *c, uint32_t window);

/* Several small messages in one write: put them into one buffer, then send that.
 *     wr_init(&out, limit); rtmp_conn_put...; rtmp_conn_put...; err = rtmp_conn_send_all(c, &out)
 * stream_id is 0 for what concerns the connection. */
void  rtmp_conn_put(struct rtmp_conn *c, struct wr *out, uint8_t type, uint32_t stream_id,
                    const struct wr *body);
void  rtmp_conn_put_u32(struct rtmp_conn *c, struct wr *out, uint8_t type, uint32_t value);
void  rtmp_conn_put_bandwidth(struct rtmp_conn *c, struct wr *out, uint32_t window,
                              enum rtmp_limit limit);
void  rtmp_conn_put_event(struct rtmp_conn *c, struct wr *out, uint16_t id, uint32_t value,
                          uint32_t more);
/* Set Chunk Size: what is put or sent afterwards is cut so. */
void  rtmp_conn_put_chunk_size(struct rtmp_conn *c, struct wr *out, uint32_t size);
/* Writes and frees; also says what went wrong while putting. Yields. */
err_t rtmp_conn_send_all(struct rtmp_conn *c, struct wr *out) __attribute__((warn_unused_result));

#endif
