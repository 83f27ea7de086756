/* SPDX-License-Identifier: MIT */
/* handshake.h - SRT handshake version 5, packets of both sides and responses of the listener.
 *
 * draft-sharabayko-srt, "Caller-Listener Handshake". A listener keeps no state for an induction:
 * its cookie comes back with the conclusion. A conclusion is parsed and checked completely; an
 * unacceptable one is rejected with a code for the reason. No I/O, no clock, no memory.
 */
#ifndef PROTO_SRT_HANDSHAKE_H
#define PROTO_SRT_HANDSHAKE_H

#include "co/net/udp.h"
#include "proto/srt/crypt.h"
#include "proto/srt/packet.h"

enum { SRT_STREAMID_MAX = 512, SRT_HANDSHAKE_BODY = 48, SRT_HANDSHAKE_MAX = 1472 };

/* Reasons for rejecting a caller; the numbers are sent over the wire. */
#define SRT_REFUSALS(XX)                                                                 \
    XX(SYSTEM,      1001, "a system call failed")                                        \
    XX(RESOURCES,   1003, "out of memory or other resources")                            \
    XX(MALFORMED,   1004, "malformed handshake")                                         \
    XX(BACKLOG,     1005, "too many connections")                                        \
    XX(CLOSING,     1007, "the server is shutting down")                                 \
    XX(VERSION,     1008, "SRT versions before 1.3 are not supported")                   \
    XX(PASSPHRASE,  1010, "wrong passphrase")                                            \
    XX(UNSECURE,    1011, "only one side uses a passphrase")                             \
    XX(STREAM_MODE, 1012, "only live mode is supported, not stream or file mode")        \
    XX(CONGESTION,  1013, "only the live congestion control is supported")               \
    XX(FILTER,      1014, "packet filters (FEC) are not supported; remove packetfilter") \
    XX(GROUP,       1015, "groups (bonding) are not supported; connect without")         \
    XX(TIMEOUT,     1016, "a backend or the key derivation did not finish in time")      \
    XX(BAD_REQUEST, 2400, "invalid stream id")                                           \
    XX(NO_AUTH,     2401, "a backend rejected this user")                                \
    XX(OVERLOAD,    2402, "the server or this address is over a limit")                  \
    XX(FORBIDDEN,   2403, "not allowed, or SRT is off for this vhost")                   \
    XX(NOT_FOUND,   2404, "the stream is not published")                                 \
    XX(BAD_MODE,    2405, "unknown mode; use m=request or m=publish")                    \
    XX(CONFLICT,    2409, "the stream is already published")                             \
    XX(MEDIA_TYPE,  2415, "t must be stream")                                            \
    XX(SERVER,      2500, "internal server error")

enum srt_refusal {
    SRT_WELCOME = 0,
#define XX(name, number, text) SRT_REFUSED_##name = number,
    SRT_REFUSALS(XX)
#undef XX
};
#define XX(name, number, text) + 1
enum { SRT_REFUSAL_KINDS = 0 SRT_REFUSALS(XX) };
#undef XX
const char *srt_refusal_text(uint32_t code); /* for any code, including those of peers */
unsigned srt_refusal_index(uint32_t code);   /* index from 0; SRT_REFUSAL_KINDS if the code is
                                              * unknown */

/* Flags in HSREQ and HSRSP. */
enum {
    SRT_FLAG_TSBPD_SEND = 1, SRT_FLAG_TSBPD_RECV = 2, SRT_FLAG_CRYPT = 4, SRT_FLAG_TOO_LATE = 8,
    SRT_FLAG_NAK = 0x10, SRT_FLAG_RETRANSMIT = 0x20, SRT_FLAG_STREAM = 0x40, SRT_FLAG_FILTER = 0x80,
    SRT_FLAGS = 0x3f, /* those that we set */
};

/* A parsed handshake packet of any type. The extension pointers point into the body of the
 * packet. */
struct srt_handshake {
    uint32_t version;
    uint16_t encryption, extensions;
    uint32_t first_seq, mtu, window, kind, id, cookie;
    uint8_t address[16];
    /* extensions of a conclusion and its response; 0 or NULL: missing */
    uint32_t srt_version, flags;     /* from HSREQ or HSRSP */
    uint16_t receiver_latency, sender_latency; /* ms */
    bool has_hs, has_streamid, has_km;
    size_t streamid_size;            /* bytes of the text, without padding */
    char streamid[SRT_STREAMID_MAX + 1];
    char congestion[16];
    const uint8_t *km;               /* key message, or one word with the reason for failure */
    size_t km_size;
    bool filter, group;
};
#define SRT_INDUCTION 1u
#define SRT_CONCLUSION 0xffffffffu
#define SRT_VERSION 0x00010501u

/* Parses a control packet of type SRT_HANDSHAKE; returns the reason to reject it, or
 * SRT_WELCOME. */
enum srt_refusal srt_handshake_read(struct srt_handshake *h, const struct srt_packet *p);
/* Writes header and body; returns their size. `time` is on the sender's clock. */
size_t srt_handshake_write(const struct srt_handshake *h, uint32_t time, uint32_t to,
                           bool is_response, uint8_t out[SRT_HANDSHAKE_MAX]);

/* ---- listener */

enum { SRT_COOKIE_KEY = SIPHASH_KEY };
/* Cookie for an address, a port and a minute; cookies of this minute and the last one are valid. */
uint32_t srt_cookie(const uint8_t key[SRT_COOKIE_KEY], const struct udp_addr *from, int64_t minute);
bool srt_cookie_is_valid(const uint8_t key[SRT_COOKIE_KEY], const struct udp_addr *from,
                         int64_t minute, uint32_t cookie);
/* Writes the response to an induction; returns 0 if the packet is none. It is never longer than the
 * request. */
size_t srt_respond_induction(const struct srt_packet *p, const uint8_t key[SRT_COOKIE_KEY],
                            const struct udp_addr *from, int64_t minute, unsigned key_length,
                            uint32_t time, uint8_t out[SRT_HANDSHAKE_MAX]);

/* Parameters that both sides agreed on. */
struct srt_agreed {
    uint32_t id, peer_id;     /* connection ids: ours, the peer's */
    uint32_t first_seq;       /* initial sequence number in both directions */
    uint32_t peer_version;
    unsigned payload, window; /* largest payload in bytes; most packets in flight */
    co_usec recv_latency, send_latency; /* our latency as receiver; the peer's as receiver */
};
struct srt_terms {            /* parameters of the listener */
    unsigned mss, window;
    co_usec recv_latency, peer_latency;
};
/* Agrees on parameters; the listener decides the latencies, section "Latency". */
void srt_agree(struct srt_agreed *out, const struct srt_handshake *request,
               const struct srt_terms *terms, uint32_t id);
/* Writes the response to a conclusion; `km` is the key message to return, or NULL. */
size_t srt_respond_conclusion(const struct srt_handshake *request, const struct srt_agreed *agreed,
                              const uint8_t *km, size_t km_size, uint32_t time,
                              uint8_t out[SRT_HANDSHAKE_MAX]);
size_t srt_respond_refusal(const struct srt_handshake *request, enum srt_refusal why, uint32_t time,
                           uint8_t out[SRT_HANDSHAKE_MAX]);

#endif
