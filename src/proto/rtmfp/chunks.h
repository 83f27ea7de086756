/* SPDX-License-Identifier: MIT */
/* chunks.h - what is in each chunk ([RTMFP] 2.3): one reader and one writer.
 *
 * Readers take the body and say false if it is wrong: then that chunk alone is dropped. What they
 * give points into the packet. Writers add a whole chunk, or nothing and say false: no room.
 */
#ifndef PROTO_RTMFP_CHUNKS_H
#define PROTO_RTMFP_CHUNKS_H

#include "proto/rtmfp/address.h"
#include "proto/rtmfp/option.h"
#include "proto/rtmfp/packet.h"

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
