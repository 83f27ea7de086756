/* SPDX-License-Identifier: MIT */
/* reader.h - reads messages and interleaved frames from a pipe, one after the other (RFC 2326
 * section 10.12).
 *
 * The first byte tells a frame ('$') from a message (a letter); there may be empty lines between
 * them. There are two ways to read. rtsp_reader_next() waits, for callers that do nothing else. A
 * player's coroutine sends and must not wait: it calls rtsp_reader_fill() for the available bytes,
 * then rtsp_reader_take() until no complete item is left. Everything that a peer can make large has
 * a limit, and everything that it starts has a timeout.
 */
#ifndef PROTO_RTSP_READER_H
#define PROTO_RTSP_READER_H

#include "co/net/io.h"
#include "proto/rtsp/message.h"

struct rtsp_limits {
    size_t max_line;      /* bytes of the first line; beyond it: 414 */
    size_t max_head;      /* bytes of the first line and all fields; beyond it: 400 */
    unsigned max_fields;  /* beyond it: 400 */
    size_t max_body;      /* beyond it: 413 */
    co_usec idle_time;    /* until an item starts, in rtsp_reader_next() */
    co_usec message_time; /* from there to its end; then 408 */
};

enum rtsp_item_kind {
    RTSP_ITEM_NONE, /* no complete item is available */
    RTSP_ITEM_FRAME, RTSP_ITEM_MESSAGE,
};

/* Valid until the reader reads again; a message only until the next item. */
struct rtsp_item {
    enum rtsp_item_kind kind;
    uint8_t channel; /* channel of a frame; data and size are its content, without the four bytes of
                      * its head; may be empty */
    const uint8_t *data;
    size_t size;
    struct rtsp_message *message;
};

struct rtsp_reader {
    struct io *io;
    const struct rtsp_limits *limits;
    /* Set by the owner of the reader, at any time. */
    bool frames;         /* frames are allowed; otherwise a frame is ERR_RTSP */
    bool forgiving;      /* for clients of cameras: skip and count bytes that are not an item, drop
                          * invalid lines, and accept a body shorter than announced */
    uint8_t channels[32]; /* one bit per known channel: where a frame may start again after bytes
                           * that are not an item */
    /* Results, to be read. */
    int status;          /* status to respond with before the error ends the connection; 0: none */
    int64_t cseq;        /* CSeq of the request concerned; -1: unknown */
    uint64_t skipped;    /* bytes so far that were not an item */

    uint8_t *buf;
    size_t begin, end, cap;
    size_t need;         /* bytes of the item at `begin`; 0: not known yet */
    size_t scanned;      /* bytes of it that were searched for the end of the head */
    size_t lost;         /* bytes since the last item that are not an item */
    size_t blank;        /* bytes of empty lines */
    co_usec until;       /* deadline of the item that has started; 0: none has */
    bool in_body, given, full;
    struct rtsp_message msg;
};

void rtsp_reader_init(struct rtsp_reader *r, struct io *io, const struct rtsp_limits *limits);
void rtsp_reader_fini(struct rtsp_reader *r);

/* Returns the next complete item from the bytes read. ERR_RTSP, ERR_TOO_LARGE, ERR_TOO_MANY,
 * ERR_NO_MEMORY and ERR_IO_TIMEOUT are final; respond with r->status if it is not 0. Never
 * yields. */
err_t rtsp_reader_take(struct rtsp_reader *r, struct rtsp_item *out)
    __attribute__((warn_unused_result));
/* Reads more bytes, after take() returned no item. With `wait` it waits up to io->read_timeout and
 * yields; otherwise it takes the available bytes, if any. *n is the number of bytes. */
err_t rtsp_reader_fill(struct rtsp_reader *r, bool wait, size_t *n)
    __attribute__((warn_unused_result));
/* Does both: returns the next item. ERR_IO_TIMEOUT with status 0 means that no item started in
 * time; the call may be repeated. Yields. */
err_t rtsp_reader_next(struct rtsp_reader *r, struct rtsp_item *out)
    __attribute__((warn_unused_result));

/* For receivers of media. Like fill(), but passes complete frames on at once, from memory that all
 * readers of the thread share. So nothing is copied, and a peer that sends whole frames needs no
 * buffer. Messages, incomplete frames, and everything after them are left to take(). `frame` must
 * not yield. */
typedef void rtsp_frame_fn(void *arg, uint8_t channel, const uint8_t *data, size_t size);
enum { RTSP_READ_MOST = 64 * 1024 }; /* bytes; after a read of this size more may be available */
err_t rtsp_reader_frames(struct rtsp_reader *r, bool wait, rtsp_frame_fn *frame, void *arg,
                         size_t *n) __attribute__((warn_unused_result));

/* Adds a channel on which frames are expected. */
void rtsp_reader_add_channel(struct rtsp_reader *r, uint8_t channel);
/* Ends reading messages, when the connection becomes a tunnel. Returns the bytes after the last
 * message. */
void rtsp_reader_detach(struct rtsp_reader *r, const uint8_t **rest, size_t *size);
/* Frees the buffer if it is empty; the last item becomes invalid. For connections that rarely
 * receive. */
void rtsp_reader_trim(struct rtsp_reader *r);

#endif
