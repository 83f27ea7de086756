/* SPDX-License-Identifier: MIT */
/* handshake.h - how a connection begins, as listener and as caller: version 5.
 *
 * draft-sharabayko-srt, "Caller-Listener Handshake". A listener keeps nothing of an induction: its
 * cookie comes back with the conclusion. What a conclusion asks for is read as a whole and checked,
 * or it is refused with a code that says why. No I/O, no clock, no memory.
 */
#ifndef PROTO_SRT_HANDSHAKE_H
#define PROTO_SRT_HANDSHAKE_H

#include "co/net/udp.h"
#include "proto/srt/crypt.h"
#include "proto/srt/packet.h"

enum { SRT_STREAMID_MAX = 512, SRT_HANDSHAKE_BODY = 48, SRT_HANDSHAKE_MAX = 1472 };

/* Why a caller is refused: the numbers go over the wire. */
#define SRT_REFUSALS(XX)                                                                    \
    XX(SYSTEM,      1001, "a system call of ours failed")                                   \
    XX(RESOURCES,   1003, "we have no room for it now")                                     \
    XX(MALFORMED,   1004, "its handshake is malformed")                                     \
    XX(BACKLOG,     1005, "there are too many connections")                                 \
    XX(CLOSING,     1007, "the server is quitting")                                         \
    XX(VERSION,     1008, "it speaks a version of SRT before 1.3")                          \
    XX(PASSPHRASE,  1010, "its passphrase is another one")                                  \
    XX(UNSECURE,    1011, "only one of both sides has a passphrase")                        \
    XX(STREAM_MODE, 1012, "it wants stream or file mode; live mode is what there is")       \
    XX(CONGESTION,  1013, "it wants another congestion control than live")                  \
    XX(FILTER,      1014, "it wants a packet filter (FEC); remove packetfilter")            \
    XX(GROUP,       1015, "it wants a group (bonding); connect without")                    \
    XX(TIMEOUT,     1016, "a backend is not there, or it or a key took too long")           \
    XX(BAD_REQUEST, 2400, "its stream id is not understood")                                \
    XX(NO_AUTH,     2401, "a backend did not let this user in")                             \
    XX(OVERLOAD,    2402, "the server, or its address, is over a limit")                    \
    XX(FORBIDDEN,   2403, "it may not, or SRT is off for that vhost")                       \
    XX(NOT_FOUND,   2404, "nobody publishes that stream")                                   \
    XX(BAD_MODE,    2405, "its mode is none that there is; m=request or m=publish")         \
    XX(CONFLICT,    2409, "somebody publishes that stream already")                         \
    XX(MEDIA_TYPE,  2415, "its t is not stream")                                            \
    XX(SERVER,      2500, "our fault")

enum srt_refusal {
    SRT_WELCOME = 0,
#define XX(name, number, text) SRT_REFUSED_##name = number,
    SRT_REFUSALS(XX)
#undef XX
};
#define XX(name, number, text) + 1
enum { SRT_REFUSAL_KINDS = 0 SRT_REFUSALS(XX) };
#undef XX
const char *srt_refusal_text(uint32_t code); /* of any, also those of peers */
unsigned srt_refusal_place(uint32_t code);   /* from 0; SRT_REFUSAL_KINDS: it is none of them */

/* Flags of HSREQ and HSRSP. */
enum {
    SRT_FLAG_TSBPD_SEND = 1, SRT_FLAG_TSBPD_RECV = 2, SRT_FLAG_CRYPT = 4, SRT_FLAG_TOO_LATE = 8,
    SRT_FLAG_NAK = 0x10, SRT_FLAG_REPEAT = 0x20, SRT_FLAG_STREAM = 0x40, SRT_FLAG_FILTER = 0x80,
    SRT_FLAGS = 0x3f, /* ours */
};

/* A handshake packet as it is on the wire, any kind. `body` holds what the extensions point to. */
struct srt_handshake {
    uint32_t version;
    uint16_t encryption, extensions;
    uint32_t first_seq, mtu, window, kind, id, cookie;
    uint8_t address[16];
    /* extensions, of a conclusion and its answer; 0 or NULL: not there */
    uint32_t srt_version, flags;     /* HSREQ, HSRSP */
    uint16_t receiver_latency, sender_latency; /* ms */
    bool has_hs, has_streamid, has_km;
    size_t streamid_size;            /* of the text, without what fills it */
    char streamid[SRT_STREAMID_MAX + 1];
    char congestion[16];
    const uint8_t *km;               /* key message, or one word that says what is wrong */
    size_t km_size;
    bool filter, group;
};
#define SRT_INDUCTION 1u
#define SRT_CONCLUSION 0xffffffffu
#define SRT_VERSION 0x00010501u

/* What is wrong with it, or SRT_WELCOME. `p` is a control packet of SRT_HANDSHAKE. */
enum srt_refusal srt_handshake_read(struct srt_handshake *h, const struct srt_packet *p);
/* Header and body; bytes written. `time` is of the sender's clock. */
size_t srt_handshake_write(const struct srt_handshake *h, uint32_t time, uint32_t to,
                           bool is_answer, uint8_t out[SRT_HANDSHAKE_MAX]);

/* ---- listener */

enum { SRT_COOKIE_KEY = SIPHASH_KEY };
/* Of an address, a port and a minute: that and the last one are valid. */
uint32_t srt_cookie(const uint8_t key[SRT_COOKIE_KEY], const struct udp_addr *from, int64_t minute);
bool srt_cookie_is_valid(const uint8_t key[SRT_COOKIE_KEY], const struct udp_addr *from,
                         int64_t minute, uint32_t cookie);
/* The answer to an induction; 0: it is none, no answer. Never longer than what came. */
size_t srt_answer_induction(const struct srt_packet *p, const uint8_t key[SRT_COOKIE_KEY],
                            const struct udp_addr *from, int64_t minute, unsigned key_length,
                            uint32_t time, uint8_t out[SRT_HANDSHAKE_MAX]);

/* What both sides agreed on. */
struct srt_agreed {
    uint32_t id, peer_id;     /* of the connection: ours, the peer's */
    uint32_t first_seq;       /* both ways begin there */
    uint32_t peer_version;
    unsigned payload, window; /* bytes of a packet at most, packets under way at most */
    co_usec recv_latency, send_latency; /* our own as receiver; the peer's as receiver */
};
struct srt_terms {            /* what a listener has to say */
    unsigned mss, window;
    co_usec recv_latency, peer_latency;
};
/* Which latencies, section "Latency": the listener decides. */
void srt_agree(struct srt_agreed *out, const struct srt_handshake *request,
               const struct srt_terms *terms, uint32_t id);
/* The answer to a conclusion; `km` is the key message to give back, or NULL. */
size_t srt_answer_conclusion(const struct srt_handshake *request, const struct srt_agreed *agreed,
                             const uint8_t *km, size_t km_size, uint32_t time,
                             uint8_t out[SRT_HANDSHAKE_MAX]);
size_t srt_answer_refusal(const struct srt_handshake *request, enum srt_refusal why, uint32_t time,
                          uint8_t out[SRT_HANDSHAKE_MAX]);

#endif
