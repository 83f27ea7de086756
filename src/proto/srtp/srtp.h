/* SPDX-License-Identifier: MIT */
/* srtp.h - encryption and authentication of RTP and RTCP packets: [SRTP] RFC 3711 with AES-CM and
 * HMAC-SHA1-80, [GCM] RFC 7714 with AES-128-GCM. No I/O, no clock.
 *
 * Each direction of a connection has its own key and its own context here. The sender knows the
 * full index of each packet (including rollovers) and may create the same packet again, with the
 * same index and the same bytes. Two different packets with the same index and source would reveal
 * their content, and with GCM the key of the tags (RFC 7714, section 8.1), so the second one is
 * refused here. The receiver keeps a rollover counter and a replay window per source.
 */
#ifndef PROTO_SRTP_SRTP_H
#define PROTO_SRTP_SRTP_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum srtp_profile { /* numbers in the use_srtp extension, RFC 5764 and RFC 7714 */
    SRTP_NONE = 0,  /* no encryption: only for tests on one machine */
    SRTP_AES128_CM_SHA1_80 = 0x0001,
    SRTP_AEAD_AES_128_GCM = 0x0007,
};

enum {
    SRTP_KEY = 16, SRTP_SALT = 14, /* GCM uses 12 bytes of the salt */
    SRTP_TAIL = 16,                /* most bytes that an RTP packet grows by */
    SRTCP_TAIL = 20,               /* most bytes that an RTCP packet grows by */
    SRTP_SOURCES = 8,              /* limit of a receiver */
    SRTP_SENT_SOURCES = 16,        /* limit of a sender during the life of its keys */
};

struct srtp_keys { /* keys of one direction */
    enum srtp_profile profile;
    uint8_t key[SRTP_KEY], salt[SRTP_SALT];
};
void srtp_keys_wipe(struct srtp_keys *k);

/* ---- sending */

struct srtp_out; /* owned by its creator */
err_t srtp_out_new(struct srtp_out **out, const struct srtp_keys *keys)
    __attribute__((warn_unused_result));
void srtp_out_free(struct srtp_out *s); /* wipes its keys; NULL is allowed */
/* Announces a source whose packets are retransmitted or sent out of order, up to `kept` indices
 * behind the highest; a power of two, 4 bytes of memory each. Indices of sources that are not
 * announced must only increase. Returns false if the source exists or there are too many. */
bool srtp_out_source(struct srtp_out *s, uint32_t ssrc, uint32_t kept);
/* Writes a packet to `to`, which has room for all of it and SRTP_TAIL. Header (with its extension)
 * and payload may be separate and shared. `index` is rollovers << 16 | sequence number. Returns its
 * size, or 0 if it must not be sent: it failed, the index had another packet, or it is too old to
 * tell. */
size_t srtp_protect(struct srtp_out *s, uint8_t *to, const uint8_t *head, size_t head_size,
                    const uint8_t *payload, size_t size, uint64_t index);
/* Same for a compound of RTCP, whose index is assigned here, once for all sources. Needs room for
 * SRTCP_TAIL more. */
size_t srtcp_protect(struct srtp_out *s, uint8_t *to, const uint8_t *rtcp, size_t size);
uint64_t srtp_out_refused(const struct srtp_out *s); /* packets refused because of their index */

/* ---- receiving */

struct srtp_in;
struct srtp_in_stat {
    uint64_t forged;   /* wrong tag, or too short to have one */
    uint64_t replayed; /* duplicate, or too old to tell */
    uint64_t sources;  /* packets of a source beyond the limit */
};
err_t srtp_in_new(struct srtp_in **out, const struct srtp_keys *keys)
    __attribute__((warn_unused_result));
void srtp_in_free(struct srtp_in *s); /* NULL is allowed */
/* Decrypts in place; *size becomes that of the plain packet. Returns false if the packet must be
 * dropped; it was counted. Do not read the packet before this. */
bool srtp_unprotect(struct srtp_in *s, uint8_t *packet, size_t *size);
bool srtcp_unprotect(struct srtp_in *s, uint8_t *packet, size_t *size);
const struct srtp_in_stat *srtp_in_stat(const struct srtp_in *s);

#endif
