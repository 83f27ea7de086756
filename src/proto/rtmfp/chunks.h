/* SPDX-License-Identifier: MIT */
/* chunks.h - what is in each chunk ([RTMFP] 2.3): one reader and one writer.
 *
 * Readers take the body and say false if it is wrong: then that chunk alone is dropped. What they
 * give points into the packet. Writers add a whole chunk, or nothing and say false: no room.
 */
#ifndef PROTO_RTMFP_CHUNKS_H
#define PROTO_RTMFP_CHUNKS_H

#include "co/net/udp.h"
#include "proto/rtmfp/vlu.h"

/* ---- addresses ([RTMFP] 2.1.5) */

/* Older clients take an address of unknown origin for "the peer is gone". */
enum rtmfp_origin {
    RTMFP_UNKNOWN, RTMFP_LOCAL, /* of one of its own interfaces */
    RTMFP_OBSERVED,             /* by who sends it */
    RTMFP_RELAY,                /* of a relay or an introducer */
};

struct rtmfp_address {
    enum rtmfp_origin origin;
    struct udp_addr at; /* an IPv6 address that is a mapped IPv4 one is the latter */
};

/* r->bad: it is cut. */
void rtmfp_address_read(struct rd *r, struct rtmfp_address *out);
void rtmfp_address_write(struct wr *w, const struct rtmfp_address *a);

/* ---- plain packets ([RTMFP] 2.2.4): flags, timestamps, and chunks one after the other */

enum {
    RTMFP_PLAIN_MAX = 1192, /* of what we send: larger ones were seen to be lost */
    RTMFP_HEAD_MAX = 5,     /* flags and both timestamps */
    RTMFP_CHUNK_HEAD = 3,   /* type and length */
};

enum rtmfp_mode { RTMFP_INITIATOR = 1, RTMFP_RESPONDER = 2, RTMFP_STARTUP = 3 };

enum { /* flags of a packet */
    RTMFP_TIME_CRITICAL = 0x80,
    RTMFP_TIME_CRITICAL_REVERSE = 0x40, /* we hear such packets of somebody else */
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
    uint8_t flags;      /* the first two of the above, and bits that mean nothing as they came */
    bool has_time, has_echo;
    uint16_t time, echo; /* of 4 ms */
};

struct rtmfp_chunk {
    uint8_t type;       /* enum rtmfp_type, or none of them */
    struct rtmfp_bytes body;
};

struct rtmfp_packet {
    struct rtmfp_head head;
    struct rd chunks;   /* those that are not read yet */
};

/* False: it is cut, or of mode 0. */
bool rtmfp_packet_read(struct rtmfp_packet *out, struct rtmfp_bytes plain);
/* The next one, of whatever type. False: no more, or less than a chunk, which is padding. */
bool rtmfp_chunk_any(struct rtmfp_packet *p, struct rtmfp_chunk *out);
/* The next one that counts: its type is known, and for packets of this mode. */
bool rtmfp_chunk_next(struct rtmfp_packet *p, struct rtmfp_chunk *out);

/* ---- writing: what does not fit as a whole leaves nothing behind, and the packet can still be
 * sent. So w->bad stays 0 but within a chunk. */

void rtmfp_packet_begin(struct wr *w, const struct rtmfp_head *head);
/* Where the chunk begins, for rtmfp_chunk_end(). */
size_t rtmfp_chunk_begin(struct wr *w, enum rtmfp_type type);
/* False: it did not fit, and is gone. */
bool rtmfp_chunk_end(struct wr *w, size_t begin);

/* Room for the body of one more chunk. */
static inline size_t rtmfp_chunk_room(const struct wr *w)
{
    size_t left = w->limit - w->len;

    return left > RTMFP_CHUNK_HEAD ? left - RTMFP_CHUNK_HEAD : 0;
}

enum {
    RTMFP_EPD_MAX = 1024, RTMFP_TAG_MAX = 64, RTMFP_CERTIFICATE_MAX = 2048,
    RTMFP_COMPONENT_MAX = 1024, /* keying component */
    RTMFP_COOKIE_MAX = 256,     /* of others: ours has 64 bytes */
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

/* Addresses one after the other, for rtmfp_address_read(); none: "where this came from". */
struct rtmfp_redirect {
    struct rtmfp_bytes tag, addresses;
};
bool rtmfp_redirect_read(struct rtmfp_redirect *c, struct rtmfp_bytes body);
bool rtmfp_redirect_write(struct wr *w, struct rtmfp_bytes tag, const struct rtmfp_address *list,
                          size_t n);

struct rtmfp_iikeying {
    uint32_t id;                /* by which the initiator wants to be addressed */
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

/* Ping and its reply (2.3.9, 2.3.10): the body is the bytes; over RTMFP_PING_MAX they are not
 * answered. Session Close and its ack (2.3.17, 2.3.18): the body is nothing, whatever is there. */
bool rtmfp_plain_write(struct wr *w, enum rtmfp_type type, struct rtmfp_bytes body);

enum rtmfp_place { RTMFP_WHOLE, RTMFP_BEGIN, RTMFP_END, RTMFP_MIDDLE }; /* of a message */

/* User Data, Next User Data (2.3.11, 2.3.12). */
struct rtmfp_user_data {
    bool next;                  /* as Next User Data */
    bool has_options, abandoned, final;
    enum rtmfp_place place;
    uint64_t flow, seq;
    uint64_t offset;            /* the sender has given up all up to seq - offset */
    struct rtmfp_bytes options; /* without the marker */
    struct rtmfp_bytes data;
};
static inline uint64_t rtmfp_user_data_fsn(const struct rtmfp_user_data *c)
{
    return c->seq - c->offset;
}
bool rtmfp_user_data_read(struct rtmfp_user_data *c, struct rtmfp_bytes body);
/* `inout` is what came in the chunk in front of it, and becomes this one. */
bool rtmfp_user_data_read_next(struct rtmfp_user_data *inout, struct rtmfp_bytes body);
/* As either of them, as c->next says. */
bool rtmfp_user_data_write(struct wr *w, const struct rtmfp_user_data *c);
/* The same but for c->data: the caller then writes c->data.n bytes himself (wr_reserve() and
 * w->len), there is room for them. */
bool rtmfp_user_data_write_head(struct wr *w, const struct rtmfp_user_data *c);
/* Bytes of it, head of the chunk included, without its data. */
size_t rtmfp_user_data_head_size(const struct rtmfp_user_data *c);

/* Acks, as ranges and as bitmap (2.3.13, 2.3.14). */
struct rtmfp_ack {
    bool bitmap;
    uint64_t flow;
    uint64_t window;            /* room of the receiver, in blocks of 1024 bytes */
    uint64_t cumulative;        /* all up to it came, or were given up */
    struct rtmfp_bytes rest;    /* what came above that, for the below */
};
bool rtmfp_ack_read(struct rtmfp_ack *c, struct rtmfp_bytes body, bool bitmap);
/* As either of them, `rest` as it is. */
bool rtmfp_ack_write(struct wr *w, const struct rtmfp_ack *c);

struct rtmfp_range {
    uint64_t first, last;       /* both in it */
};
struct rtmfp_ack_reader {
    struct rd r;
    bool bitmap, wrong;         /* wrong: numbers that would not exist; rtmfp_ack_read() knows */
    uint64_t at;                /* that is looked at next; of ranges: the end of the last one */
    unsigned bit;               /* of the byte at r.p */
};
void rtmfp_ack_begin(struct rtmfp_ack_reader *r, const struct rtmfp_ack *c);
/* What came above the cumulative ack, in order, never one beside the other; so a list of any size
 * is read in pieces. False: no more. */
bool rtmfp_ack_next(struct rtmfp_ack_reader *r, struct rtmfp_range *out);
/* One with as many of these ranges as there is room for: all above `cumulative`, in order, none
 * beside the one in front of it. */
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
