/* SPDX-License-Identifier: MIT */
/* startup.h - packets under the default key ([RTMFP] 3.5.1, [PROFILE] 4.7): both sides of a
 * handshake read and write them by this. One for all that a thread has.
 */
#ifndef PROTO_RTMFP_STARTUP_H
#define PROTO_RTMFP_STARTUP_H

#include "proto/rtmfp/chunks.h"
#include "proto/rtmfp/crypt.h"

struct rtmfp_startup {
    struct rtmfp_cipher *cipher;
    struct rtmfp_sealer out;
    struct rtmfp_opener in;
    uint8_t plain[RTMFP_DATAGRAM_MAX]; /* that was opened last */
};
bool rtmfp_startup_init(struct rtmfp_startup *s); /* false: there is no memory */
void rtmfp_startup_fini(struct rtmfp_startup *s);

/* False: it is no startup packet. */
bool rtmfp_startup_open(struct rtmfp_startup *s, const uint8_t *datagram, size_t size,
                        struct rtmfp_packet *out);
/* A writer into a datagram of RTMFP_SEALED_MAX, with the head of a packet written. */
struct wr rtmfp_startup_begin(struct rtmfp_startup *s, uint8_t *datagram, co_usec now);
/* The same; the sealed datagram is at most `most` bytes long. */
struct wr rtmfp_startup_begin_within(struct rtmfp_startup *s, uint8_t *datagram, size_t most,
                                     co_usec now);
/* `id`: the session of its receiver, or 0. The size of the datagram. */
size_t rtmfp_startup_seal(struct rtmfp_startup *s, uint32_t id, struct wr *w);

/* The clock of timestamps, [RTMFP] 3.5.2.2. */
static inline uint16_t rtmfp_clock(co_usec now)
{
    return (uint16_t)(now / CO_MS(4));
}

#endif
