/* SPDX-License-Identifier: MIT */
/* srtp.h - packets of RTP and RTCP encrypted and authenticated: [SRTP] RFC 3711 with AES-CM and
 * HMAC-SHA1-80, [GCM] RFC 7714 with AES-128-GCM. No I/O, no clock.
 *
 * A direction of a connection has a key of its own and a context here. Who sends knows the whole
 * number of each packet (rollovers and all), and may make the same packet again: with the same
 * number and the same bytes. Two packets under one number of one source would give away what was
 * sent, and with GCM the key of the tags (RFC 7714, section 8.1), so the second one is refused
 * here, whatever its sender takes for its number. Who receives keeps a rollover counter and a
 * replay window for each source.
 */
#ifndef PROTO_SRTP_SRTP_H
#define PROTO_SRTP_SRTP_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum srtp_profile { /* numbers of the use_srtp extension, RFC 5764 and RFC 7714 */
    SRTP_NONE = 0,  /* in the clear: for tests on this machine alone */
    SRTP_AES128_CM_SHA1_80 = 0x0001,
    SRTP_AEAD_AES_128_GCM = 0x0007,
};

enum {
    SRTP_KEY = 16, SRTP_SALT = 14, /* GCM has 12 of the latter */
    SRTP_TAIL = 16,                /* bytes that a packet of RTP grows by at most */
    SRTCP_TAIL = 20,               /* and one of RTCP */
    SRTP_SOURCES = 8,              /* that a receiver keeps apart */
    SRTP_SENT_SOURCES = 16,        /* that a sender may have, until its keys are gone */
};

struct srtp_keys { /* of one direction */
    enum srtp_profile profile;
    uint8_t key[SRTP_KEY], salt[SRTP_SALT];
};
void srtp_keys_wipe(struct srtp_keys *k);

/* ---- what is sent */

struct srtp_out; /* owned by who made it */
err_t srtp_out_new(struct srtp_out **out, const struct srtp_keys *keys)
    __attribute__((warn_unused_result));
void srtp_out_free(struct srtp_out *s); /* wipes its keys; NULL is fine */
/* The packets of a source are made again, or out of order, up to `kept` numbers behind the highest,
 * 4 bytes of memory each; a power of two. Numbers of sources that are not announced only go up.
 * False: the source is there already, or there are too many. */
bool srtp_out_source(struct srtp_out *s, uint32_t ssrc, uint32_t kept);
/* A packet to `to`, which has room for all of it and SRTP_TAIL: header (with its extension) and
 * payload need not lie behind each other, and may be shared with others. `index` is rollovers << 16
 * | sequence number. Returns its size; 0: it is to be left out, since it failed, the number had
 * another packet, or it is too far behind to tell. */
size_t srtp_protect(struct srtp_out *s, uint8_t *to, const uint8_t *head, size_t head_size,
                    const uint8_t *payload, size_t size, uint64_t index);
/* The same of a compound of RTCP, numbered here, once for all sources. Room for SRTCP_TAIL more. */
size_t srtcp_protect(struct srtp_out *s, uint8_t *to, const uint8_t *rtcp, size_t size);
uint64_t srtp_out_refused(const struct srtp_out *s); /* packets, for their numbers */

/* ---- what comes */

struct srtp_in;
struct srtp_in_stat {
    uint64_t forged;   /* wrong tags, and what is too short to have one */
    uint64_t replayed; /* came before, or too late to tell */
    uint64_t sources;  /* of a source too many */
};
err_t srtp_in_new(struct srtp_in **out, const struct srtp_keys *keys)
    __attribute__((warn_unused_result));
void srtp_in_free(struct srtp_in *s); /* NULL is fine */
/* In place; *size is that of the plain packet. False: it is to be dropped, and was counted.
 * Nothing of it may be looked at before. */
bool srtp_unprotect(struct srtp_in *s, uint8_t *packet, size_t *size);
bool srtcp_unprotect(struct srtp_in *s, uint8_t *packet, size_t *size);
const struct srtp_in_stat *srtp_in_stat(const struct srtp_in *s);

#endif
