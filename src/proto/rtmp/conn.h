/* SPDX-License-Identifier: MIT */
/* conn.h - one RTMP connection over a pipe, of a server or a client, after its handshake.
 *
 * It reads messages and automatically sends the responses that the protocol requires:
 * acknowledgements and pongs. It keeps the peer's chunk sizes and windows. Its owner handles
 * commands, data and media.
 * Bytes are read into memory that all connections of the thread share, because the reader consumes
 * them all before anything else runs. So an idle connection has no buffer.
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
    bool pong;       /* a ping with value `ping` awaits its response */
    bool held_back;  /* `held` was put back by rtmp_conn_unread() */
    uint64_t msgs_in;
    struct rtmp_in in;
    uint32_t out_chunk_size;
    uint32_t ping;
    struct co *co;         /* coroutine of the connection; NULL over memory */
    struct co_timer timer; /* timeout of incomplete messages */
    co_usec message_time;  /* how long one message may take; 0: no limit */
    bool small_reads;      /* the peer has little to send: read in small steps */
    struct rtmp_msg held;
    double transaction; /* number of the last command we sent, as a client */
};

/* `setup` must outlive the connection. */
void rtmp_conn_init(struct rtmp_conn *c, struct io *io, const struct rtmp_in_setup *setup);
void rtmp_conn_fini(struct rtmp_conn *c);

/* Returns the next message that is not internal to the protocol. The caller owns the payload and
 * frees it with rtmp_conn_release(). Sends pending responses. Yields, up to the pipe's read
 * timeout. */
err_t rtmp_conn_read(struct rtmp_conn *c, struct rtmp_msg *out)
    __attribute__((warn_unused_result));

/* For a side that sends all the time and reads occasionally. poll takes in the available bytes
 * without waiting, unless a message waits to be popped, so a peer cannot pile up messages. pop
 * returns the next such message, or false if there is none. Neither yields nor sends. flush sends
 * pending responses; call it only when no other message is half sent. Yields. */
err_t rtmp_conn_poll(struct rtmp_conn *c) __attribute__((warn_unused_result));
/* Like poll, but always calls read, up to 1 MB: for merged reads, which the kernel does not
 * announce. Yields if there was more. */
err_t rtmp_conn_drain(struct rtmp_conn *c) __attribute__((warn_unused_result));
bool  rtmp_conn_pop(struct rtmp_conn *c, struct rtmp_msg *out);
bool  rtmp_conn_has_replies(struct rtmp_conn *c);
err_t rtmp_conn_flush(struct rtmp_conn *c) __attribute__((warn_unused_result));

/* Puts one message back; it is the next one to be read. Takes over the payload. */
void  rtmp_conn_unread(struct rtmp_conn *c, const struct rtmp_msg *msg);

/* Waits for bytes and takes them in. Messages are then popped, or taken by the function of
 * rtmp_in_direct(). Sends nothing. Yields, up to the pipe's read timeout. */
err_t rtmp_conn_fill(struct rtmp_conn *c) __attribute__((warn_unused_result));

void rtmp_conn_release(struct rtmp_conn *c, struct rtmp_msg *msg); /* payload may be NULL */

/* A message that is incomplete message_time after its first byte, or an eviction from the setup's
 * pool, stops the coroutine with an error. Time in which the owner does not read does not count:
 * call hold before and go_on after it. */
void  rtmp_conn_pause(struct rtmp_conn *c);
void  rtmp_conn_resume(struct rtmp_conn *c);

/* Move the connection to another thread: leave() on the old one, between messages and with no
 * response pending; then arrive() on the new one, in the coroutine that runs the connection
 * there. */
void  rtmp_conn_detach(struct rtmp_conn *c);
void  rtmp_conn_attach(struct rtmp_conn *c);

/* Acknowledges every `window` bytes even if the peer did not request it, for peers that stall
 * otherwise. A window set by the peer takes precedence. 0: no. */
void rtmp_conn_force_window(struct rtmp_conn *c, uint32_t window);

/* Send several small messages in one write: put them into one buffer, then send it.
 *     wr_init(&out, limit); rtmp_conn_put...; rtmp_conn_put...; err = rtmp_conn_send_all(c, &out)
 * stream_id is 0 for messages about the connection. */
void  rtmp_conn_put(struct rtmp_conn *c, struct wr *out, uint8_t type, uint32_t stream_id,
                    const struct wr *body);
void  rtmp_conn_put_u32(struct rtmp_conn *c, struct wr *out, uint8_t type, uint32_t value);
void  rtmp_conn_put_bandwidth(struct rtmp_conn *c, struct wr *out, uint32_t window,
                              enum rtmp_limit limit);
void  rtmp_conn_put_event(struct rtmp_conn *c, struct wr *out, uint16_t id, uint32_t value,
                          uint32_t more);
/* Set Chunk Size: applies to all messages put or sent afterwards. */
void  rtmp_conn_put_chunk_size(struct rtmp_conn *c, struct wr *out, uint32_t size);
/* Writes and frees the buffer; also returns errors that occurred while it was filled. Yields. */
err_t rtmp_conn_send_all(struct rtmp_conn *c, struct wr *out) __attribute__((warn_unused_result));

#endif
