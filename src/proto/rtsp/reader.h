/* SPDX-License-Identifier: MIT */
/* reader.h - messages and frames from a pipe, one after the other, as they come: RFC 2326 section
 * 10.12.
 *
 * By its first byte an item is a frame ('$') or a message (a letter); empty lines are between them.
 * Two ways to read: rtsp_reader_next() waits, for who does nothing else. A player's coroutine sends
 * and must not wait: rtsp_reader_fill() with what is there, then rtsp_reader_take() until there is
 * nothing whole any more. All that a peer can make large has a limit, what it begins has a time.
 */
#ifndef PROTO_RTSP_READER_H
#define PROTO_RTSP_READER_H

#include "co/net/io.h"
#include "proto/rtsp/message.h"

struct rtsp_limits {
    size_t max_line;      /* bytes of the first line: 414 */
    size_t max_head;      /* bytes of it and all fields: 400 */
    unsigned max_fields;  /* 400 */
    size_t max_body;      /* 413 */
    co_usec idle_time;    /* until an item begins, in rtsp_reader_next() */
    co_usec message_time; /* from there to its end: 408 */
};

enum rtsp_item_kind {
    RTSP_ITEM_NONE, /* nothing whole has come */
    RTSP_ITEM_FRAME, RTSP_ITEM_MESSAGE,
};

/* Valid until the reader reads again; a message until the next item, too. */
struct rtsp_item {
    enum rtsp_item_kind kind;
    uint8_t channel; /* of a frame, and its bytes without the four in front; there may be none */
    const uint8_t *data;
    size_t size;
    struct rtsp_message *message;
};

struct rtsp_reader {
    struct io *io;
    const struct rtsp_limits *limits;
    /* Set by who has the reader, at any time. */
    bool frames;         /* they may come; else one is ERR_RTSP */
    bool forgiving;      /* at a client of cameras: what is no item is skipped and counted, bad
                          * lines are dropped, a body that does not come is as long as it is */
    uint8_t channels[32]; /* a bit for each one that is known: where a frame may begin again after
                           * something that was none */
    /* To be looked at. */
    int status;          /* what to answer before the error ends the connection; 0: nothing */
    int64_t cseq;        /* and to which request; -1: not known */
    uint64_t skipped;    /* bytes that were no items, so far */

    uint8_t *buf;
    size_t begin, end, cap;
    size_t need;         /* bytes of the item at `begin`; 0: not known yet */
    size_t scanned;      /* of it, looking for the end of the head */
    size_t lost;         /* bytes of no item since the last one */
    size_t blank;        /* of empty lines */
    co_usec until;       /* when the item that has begun must be there; 0: none has */
    bool in_body, given, full;
    struct rtsp_message msg;
};

void rtsp_reader_init(struct rtsp_reader *r, struct io *io, const struct rtsp_limits *limits);
void rtsp_reader_fini(struct rtsp_reader *r);

/* The next item that is whole, out of what was read. ERR_RTSP, ERR_TOO_LARGE, ERR_TOO_MANY,
 * ERR_NO_MEMORY, ERR_IO_TIMEOUT: there is no next one; answer r->status if it is not 0. Never
 * yields. */
err_t rtsp_reader_take(struct rtsp_reader *r, struct rtsp_item *out)
    __attribute__((warn_unused_result));
/* Read some more, when take() gave nothing. `wait`: as long as io->read_timeout says, and yields;
 * else what is there, if anything. *n says how many bytes came. */
err_t rtsp_reader_fill(struct rtsp_reader *r, bool wait, size_t *n)
    __attribute__((warn_unused_result));
/* Both: the next item. ERR_IO_TIMEOUT with status 0: nothing began in time, and it may be called
 * again. Yields. */
err_t rtsp_reader_next(struct rtsp_reader *r, struct rtsp_item *out)
    __attribute__((warn_unused_result));

/* For who receives media. As fill(), but frames that are whole are handed on at once, from memory
 * that all readers of the thread share: nothing is copied, and who has sent whole frames has no
 * buffer. What is no frame, or not whole, is for take(), and what is behind it. `frame` must not
 * yield. */
typedef void rtsp_frame_fn(void *arg, uint8_t channel, const uint8_t *data, size_t size);
enum { RTSP_READ_MOST = 64 * 1024 }; /* bytes: when so many came there may be more */
err_t rtsp_reader_frames(struct rtsp_reader *r, bool wait, rtsp_frame_fn *frame, void *arg,
                         size_t *n) __attribute__((warn_unused_result));

/* A channel that frames are known to come on. */
void rtsp_reader_know(struct rtsp_reader *r, uint8_t channel);
/* The connection is no longer one of messages (a tunnel): what came behind the last one. */
void rtsp_reader_leave(struct rtsp_reader *r, const uint8_t **rest, size_t *size);
/* Give memory back if nothing waits in it; the last item is gone. For one that reads seldom. */
void rtsp_reader_rest(struct rtsp_reader *r);

#endif
