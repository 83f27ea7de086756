/* SPDX-License-Identifier: MIT */
/* packet.h - packets of SRT and what is in them: one reader and one writer for each.
 *
 * draft-sharabayko-srt, "Packet Structure". All numbers are big-endian. Readers check every length;
 * what they give points into the datagram. Writers never write more than they say.
 */
#ifndef PROTO_SRT_PACKET_H
#define PROTO_SRT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SRT_SEQ_MASK 0x7fffffffu

static inline uint32_t srt_seq_add(uint32_t seq, int64_t n)
{
    return (uint32_t)((int64_t)seq + n) & SRT_SEQ_MASK;
}

/* How far b is ahead of a: negative if it is behind. */
static inline int32_t srt_seq_distance(uint32_t a, uint32_t b)
{
    return (int32_t)((b - a) << 1) >> 1;
}

enum {
    SRT_HEADER = 16,
    SRT_PACKET_MAX = 1472,              /* of what we send: with headers of IP and UDP 1500 */
    SRT_PAYLOAD_MAX = SRT_PACKET_MAX - SRT_HEADER,
    SRT_NAK_MAX = 300,                  /* entries that we write into one NAK */
};

enum srt_type {
    SRT_HANDSHAKE = 0, SRT_KEEPALIVE = 1, SRT_ACK = 2, SRT_NAK = 3, SRT_CONGESTION = 4,
    SRT_SHUTDOWN = 5, SRT_ACKACK = 6, SRT_DROP = 7, SRT_PEER_ERROR = 8, SRT_EXTENSION = 0x7fff,
};

enum { SRT_KM_REQUEST = 3, SRT_KM_ANSWER = 4 }; /* subtypes of SRT_EXTENSION */
enum srt_key { SRT_CLEAR, SRT_EVEN, SRT_ODD };

/* A header, and where the rest is. */
struct srt_packet {
    bool control;
    uint32_t time;      /* microseconds of the sender's clock; wraps */
    uint32_t to;        /* id of the connection; 0: handshake */
    /* data */
    uint32_t seq;       /* 31 bits */
    uint32_t message;   /* 26 bits, from 1 */
    uint8_t place;      /* PP: 3 is a message of one packet, as all of live mode */
    bool in_order;      /* O */
    bool repeated;      /* R */
    uint8_t key;        /* enum srt_key; 3 is wrong */
    /* control */
    uint16_t type, subtype;
    uint32_t info;
    const uint8_t *body;
    size_t size;
};

/* False: too short. */
bool srt_packet_read(struct srt_packet *p, const uint8_t *data, size_t size);
void srt_packet_write(const struct srt_packet *p, uint8_t out[SRT_HEADER]);

/* ACK; a light one has `next` alone, a small one four numbers. */
struct srt_ack {
    unsigned words;     /* 1, 4 or 7 */
    uint32_t next;      /* sequence that is wanted next */
    uint32_t rtt, variance; /* microseconds */
    uint32_t room;      /* packets that the receiver has room for */
    uint32_t packets, link; /* a second */
    uint32_t bytes;     /* a second */
};
bool srt_ack_read(struct srt_ack *a, const uint8_t *body, size_t size);
size_t srt_ack_write(const struct srt_ack *a, uint8_t out[28]);

/* NAK: ranges of sequences, walked one by one, so a list of any size is read in pieces. */
struct srt_range {
    uint32_t first, last; /* both in it */
};
struct srt_nak_reader {
    const uint8_t *at, *end;
};
void srt_nak_begin(struct srt_nak_reader *r, const uint8_t *body, size_t size);
/* False: no more, or it is wrong there: then `at` is not at the end. */
bool srt_nak_next(struct srt_nak_reader *r, struct srt_range *out);
/* Append a range: bytes written, 4 or 8; 0: no room. */
size_t srt_nak_put(const struct srt_range *r, uint8_t *out, size_t room);

bool srt_drop_read(struct srt_range *out, const uint8_t *body, size_t size);
size_t srt_drop_write(const struct srt_range *r, uint8_t out[8]);

#endif
