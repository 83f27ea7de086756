/* SPDX-License-Identifier: MIT */
/* packet.h - parses and writes SRT packets and their contents.
 *
 * draft-sharabayko-srt, "Packet Structure". All numbers are big-endian. Parsers check each length;
 * their results point into the datagram. Writers never write more than documented.
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

/* Distance from a to b; negative if b is behind a. */
static inline int32_t srt_seq_distance(uint32_t a, uint32_t b)
{
    return (int32_t)((b - a) << 1) >> 1;
}

enum {
    SRT_HEADER = 16,
    SRT_PACKET_MAX = 1472, /* largest packet we send: 1500 bytes with IP and UDP headers */
    SRT_PAYLOAD_MAX = SRT_PACKET_MAX - SRT_HEADER,
    SRT_NAK_MAX = 300,                  /* most entries that we write into one NAK */
};

enum srt_type {
    SRT_HANDSHAKE = 0, SRT_KEEPALIVE = 1, SRT_ACK = 2, SRT_NAK = 3, SRT_CONGESTION = 4,
    SRT_SHUTDOWN = 5, SRT_ACKACK = 6, SRT_DROP = 7, SRT_PEER_ERROR = 8, SRT_EXTENSION = 0x7fff,
};

enum { SRT_KM_REQUEST = 3, SRT_KM_RESPONSE = 4 }; /* subtypes of SRT_EXTENSION */
enum srt_key { SRT_CLEAR, SRT_EVEN, SRT_ODD };

/* A parsed header, and the body. */
struct srt_packet {
    bool control;
    uint32_t time;      /* microseconds on the sender's clock; wraps */
    uint32_t to;        /* id of the connection; 0: handshake */
    /* data packets */
    uint32_t seq;       /* 31 bits */
    uint32_t message;   /* 26 bits, from 1 */
    uint8_t position;   /* PP: 3 is a message of one packet, the only form in live mode */
    bool in_order;      /* O */
    bool retransmitted; /* R */
    uint8_t key;        /* enum srt_key; 3 is invalid */
    /* control packets */
    uint16_t type, subtype;
    uint32_t info;
    const uint8_t *body;
    size_t size;
};

/* Returns false if the datagram is too short. */
bool srt_packet_read(struct srt_packet *p, const uint8_t *data, size_t size);
void srt_packet_write(const struct srt_packet *p, uint8_t out[SRT_HEADER]);

/* ACK. A light one has only `next`, a small one four numbers. */
struct srt_ack {
    unsigned words;     /* 1, 4 or 7 */
    uint32_t next;      /* next sequence number that the receiver expects */
    uint32_t rtt, variance; /* microseconds */
    uint32_t room;      /* packets that fit into the receiver's buffer */
    uint32_t packets, link; /* per second */
    uint32_t bytes;     /* per second */
};
bool srt_ack_read(struct srt_ack *a, const uint8_t *body, size_t size);
size_t srt_ack_write(const struct srt_ack *a, uint8_t out[28]);

/* NAK: ranges of sequence numbers, read one by one, so a list of any size needs no memory. */
struct srt_range {
    uint32_t first, last; /* inclusive */
};
struct srt_nak_reader {
    const uint8_t *at, *end;
};
void srt_nak_begin(struct srt_nak_reader *r, const uint8_t *body, size_t size);
/* Returns false at the end, or at an invalid entry: then `at` is not at the end. */
bool srt_nak_next(struct srt_nak_reader *r, struct srt_range *out);
/* Appends a range; returns the bytes written, 4 or 8, or 0 if it does not fit. */
size_t srt_nak_put(const struct srt_range *r, uint8_t *out, size_t room);

bool srt_drop_read(struct srt_range *out, const uint8_t *body, size_t size);
size_t srt_drop_write(const struct srt_range *r, uint8_t out[8]);

#endif
