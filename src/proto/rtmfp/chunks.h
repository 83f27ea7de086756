/* SPDX-License-Identifier: MIT */
/* chunks.h - parses and writes the chunks of packets ([RTMFP] 2.3).
 *
 * Parsers take the body and return false if it is invalid; then only this chunk is dropped. Results
 * point into the packet. Writers append a whole chunk, or return false and append nothing if it
 * does not fit.
 */
#ifndef PROTO_RTMFP_CHUNKS_H
#define PROTO_RTMFP_CHUNKS_H

#include "co/net/udp.h"
#include "proto/rtmfp/vlu.h"

/* ---- addresses ([RTMFP] 2.1.5) */

/* Older clients take an address of unknown origin as "the peer is gone". */
enum rtmfp_origin {
    RTMFP_UNKNOWN, RTMFP_LOCAL, /* address of one of the peer's own interfaces */
    RTMFP_OBSERVED,             /* address as seen by the sender of the chunk */
    RTMFP_RELAY,                /* address of a relay or an introducer */
};

struct rtmfp_address {
    enum rtmfp_origin origin;
    struct udp_addr at; /* a mapped IPv4 address counts as IPv4 */
};

/* Sets r->bad if the address is truncated. */
void rtmfp_address_read(struct rd *r, struct rtmfp_address *out);
void rtmfp_address_write(struct wr *w, const struct rtmfp_address *a);

/* ---- plain packets ([RTMFP] 2.2.4): flags, timestamps, and a sequence of chunks */

enum {
    RTMFP_PLAIN_MAX = 1192, /* largest plain packet we send: larger ones were observed to be lost */
    RTMFP_HEAD_MAX = 5,     /* flags and both timestamps */
    RTMFP_CHUNK_HEAD = 3,   /* type and length */
};

enum rtmfp_mode { RTMFP_INITIATOR = 1, RTMFP_RESPONDER = 2, RTMFP_STARTUP = 3 };

enum { /* packet flags */
    RTMFP_TIME_CRITICAL = 0x80,
    RTMFP_TIME_CRITICAL_REVERSE = 0x40, /* we receive such packets from another peer */
};

enum rtmfp_type {
    RTMFP_PADDING = 0x00, RTMFP_PADDING_FF = 0xff,
    RTMFP_IHELLO = 0x30, RTMFP_RHELLO = 0x70, RTMFP_REDIRECT = 0x71,
    RTMFP_IIKEYING = 0x38, RTMFP_RIKEYING = 0x78, RTMFP_COOKIE_CHANGE = 0x79,
    RTMFP_FORWARDED_IHELLO = 0x0f, RTMFP_PING = 0x01, RTMFP_PING_REPLY = 0x41,
    RTMFP_USER_DATA = 0x10, RTMFP_NEXT_USER_DATA = 0x11,
    RTMFP_ACK_BITMAP = 0x50, RTMFP_ACK_RANGES = 0x51,
    RTMFP_BUFFER_PROBE = 0x18, RTMFP_FLOW_EXCEPTION = 0x5e,
    RTMFP_CLOSE = 0x0c, RTMFP_CLOSE_ACK = 0x4c, RTMFP_FRAGMENT = 0x7f,
};

struct rtmfp_head {
    enum rtmfp_mode mode;
    uint8_t flags;      /* the two flags above, and unknown bits unchanged */
    bool has_time, has_echo;
    uint16_t time, echo; /* in units of 4 ms */
};

struct rtmfp_chunk {
    uint8_t type;       /* enum rtmfp_type, or any other value */
    struct rtmfp_bytes body;
};

struct rtmfp_packet {
    struct rtmfp_head head;
    struct rd chunks;   /* chunks that are not read yet */
};

/* Returns false if the packet is truncated or has mode 0. */
bool rtmfp_packet_read(struct rtmfp_packet *out, struct rtmfp_bytes plain);
/* Returns the next chunk of any type, or false at the end or at an incomplete chunk, which is
 * padding. */
bool rtmfp_chunk_any(struct rtmfp_packet *p, struct rtmfp_chunk *out);
/* Returns the next chunk whose type is known and valid in this packet's mode. */
bool rtmfp_chunk_next(struct rtmfp_packet *p, struct rtmfp_chunk *out);

/* ---- writing: a chunk that does not fit is removed completely, so the packet can still be sent,
 * and w->bad is set only within a chunk */

void rtmfp_packet_begin(struct wr *w, const struct rtmfp_head *head);
/* Starts a chunk; returns its position for rtmfp_chunk_end(). */
size_t rtmfp_chunk_begin(struct wr *w, enum rtmfp_type type);
/* Ends a chunk. Returns false if it did not fit and was removed. */
bool rtmfp_chunk_end(struct wr *w, size_t begin);

/* Returns the room for the body of one more chunk. */
static inline size_t rtmfp_chunk_room(const struct wr *w)
{
    size_t left = w->limit - w->len;

    return left > RTMFP_CHUNK_HEAD ? left - RTMFP_CHUNK_HEAD : 0;
}

enum {
    RTMFP_EPD_MAX = 1024, RTMFP_TAG_MAX = 64, RTMFP_CERTIFICATE_MAX = 2048,
    RTMFP_COMPONENT_MAX = 1024, /* keying component */
    RTMFP_COOKIE_MAX = 256,     /* limit for peers' cookies; ours has 64 bytes */
    RTMFP_PING_MAX = 1024,
};

/* ---- startup (2.3.2 to 2.3.8) */

struct rtmfp_ihello {
    struct rtmfp_bytes epd, tag;
};
bool rtmfp_ihello_read(struct rtmfp_ihello *c, struct rtmfp_bytes body);
bool rtmfp_ihello_write(struct wr *w, const struct rtmfp_ihello *c);

struct rtmfp_forwarded {
    struct rtmfp_bytes epd;
    struct rtmfp_address reply_to;
    struct rtmfp_bytes tag;
};
bool rtmfp_forwarded_read(struct rtmfp_forwarded *c, struct rtmfp_bytes body);
bool rtmfp_forwarded_write(struct wr *w, const struct rtmfp_forwarded *c);

struct rtmfp_rhello {
    struct rtmfp_bytes tag, cookie, certificate;
};
bool rtmfp_rhello_read(struct rtmfp_rhello *c, struct rtmfp_bytes body);
bool rtmfp_rhello_write(struct wr *w, const struct rtmfp_rhello *c);

/* Addresses, to be read one by one with rtmfp_address_read(); none means "the address this came
 * from". */
struct rtmfp_redirect {
    struct rtmfp_bytes tag, addresses;
};
bool rtmfp_redirect_read(struct rtmfp_redirect *c, struct rtmfp_bytes body);
bool rtmfp_redirect_write(struct wr *w, struct rtmfp_bytes tag, const struct rtmfp_address *list,
                          size_t n);

struct rtmfp_iikeying {
    uint32_t id;                /* session id that the initiator chose to receive on */
    struct rtmfp_bytes cookie, certificate, component, signature;
};
bool rtmfp_iikeying_read(struct rtmfp_iikeying *c, struct rtmfp_bytes body);
bool rtmfp_iikeying_write(struct wr *w, const struct rtmfp_iikeying *c);

struct rtmfp_rikeying {
    uint32_t id;
    struct rtmfp_bytes component, signature;
};
bool rtmfp_rikeying_read(struct rtmfp_rikeying *c, struct rtmfp_bytes body);
bool rtmfp_rikeying_write(struct wr *w, const struct rtmfp_rikeying *c);

struct rtmfp_cookie_change {
    struct rtmfp_bytes old, fresh;
};
bool rtmfp_cookie_change_read(struct rtmfp_cookie_change *c, struct rtmfp_bytes body);
bool rtmfp_cookie_change_write(struct wr *w, const struct rtmfp_cookie_change *c);

/* 2.3.1: a piece of a packet that was too large. */
struct rtmfp_piece {
    bool more;
    uint64_t packet, index;
    struct rtmfp_bytes data;
};
bool rtmfp_piece_read(struct rtmfp_piece *c, struct rtmfp_bytes body);
bool rtmfp_piece_write(struct wr *w, const struct rtmfp_piece *c);

/* ---- sessions */

/* Writes Ping and its reply (2.3.9, 2.3.10), whose body is `body`; bodies over RTMFP_PING_MAX get
 * no reply. Also Session Close and its ack (2.3.17, 2.3.18), whose body is empty and ignored. */
bool rtmfp_plain_write(struct wr *w, enum rtmfp_type type, struct rtmfp_bytes body);

/* Position of a fragment in its message. */
enum rtmfp_position { RTMFP_WHOLE, RTMFP_BEGIN, RTMFP_END, RTMFP_MIDDLE };

/* User Data, Next User Data (2.3.11, 2.3.12). */
struct rtmfp_user_data {
    bool next;                  /* written as Next User Data */
    bool has_options, abandoned, final;
    enum rtmfp_position position;
    uint64_t flow, seq;
    uint64_t offset;            /* the sender has given up everything up to seq - offset */
    struct rtmfp_bytes options; /* without the marker */
    struct rtmfp_bytes data;
};
static inline uint64_t rtmfp_user_data_fsn(const struct rtmfp_user_data *c)
{
    return c->seq - c->offset;
}
bool rtmfp_user_data_read(struct rtmfp_user_data *c, struct rtmfp_bytes body);
/* `inout` is the data of the previous chunk, and becomes the data of this one. */
bool rtmfp_user_data_read_next(struct rtmfp_user_data *inout, struct rtmfp_bytes body);
/* Writes either of them, depending on c->next. */
bool rtmfp_user_data_write(struct wr *w, const struct rtmfp_user_data *c);
/* Same without c->data: the caller then writes c->data.n bytes itself (wr_reserve() and w->len),
 * for which there is room. */
bool rtmfp_user_data_write_head(struct wr *w, const struct rtmfp_user_data *c);
/* Bytes of the chunk without its data. */
size_t rtmfp_user_data_head_size(const struct rtmfp_user_data *c);

/* Acks, as ranges and as a bitmap (2.3.13, 2.3.14). */
struct rtmfp_ack {
    bool bitmap;
    uint64_t flow;
    uint64_t window;            /* free space of the receiver, in blocks of 1024 bytes */
    uint64_t cumulative;        /* everything up to it was received or given up */
    struct rtmfp_bytes rest;    /* numbers received above that, for rtmfp_ack_begin() */
};
bool rtmfp_ack_read(struct rtmfp_ack *c, struct rtmfp_bytes body, bool bitmap);
/* Writes either of them, with `rest` unchanged. */
bool rtmfp_ack_write(struct wr *w, const struct rtmfp_ack *c);

struct rtmfp_range {
    uint64_t first, last;       /* inclusive */
};
struct rtmfp_ack_reader {
    struct rd r;
    bool bitmap, wrong; /* wrong: contains numbers beyond 64 bits; rtmfp_ack_read() refuses this */
    uint64_t at;                /* next number to examine; for ranges the end of the last one */
    unsigned bit;               /* bit in the byte at r.p */
};
void rtmfp_ack_begin(struct rtmfp_ack_reader *r, const struct rtmfp_ack *c);
/* Returns the ranges received above the cumulative ack, in order and never adjacent. So a list of
 * any size needs no memory. Returns false at the end. */
bool rtmfp_ack_next(struct rtmfp_ack_reader *r, struct rtmfp_range *out);
/* Writes an ack with as many of these ranges as fit. They must be above `cumulative`, in order, and
 * not adjacent. */
bool rtmfp_ack_write_ranges(struct wr *w, const struct rtmfp_ack *c,
                            const struct rtmfp_range *ranges, size_t n);

/* 2.3.15 */
bool rtmfp_probe_read(uint64_t *flow, struct rtmfp_bytes body);
bool rtmfp_probe_write(struct wr *w, uint64_t flow);

/* 2.3.16 */
struct rtmfp_exception {
    uint64_t flow, code;
};
bool rtmfp_exception_read(struct rtmfp_exception *c, struct rtmfp_bytes body);
bool rtmfp_exception_write(struct wr *w, const struct rtmfp_exception *c);

#endif
