/* SPDX-License-Identifier: MIT */
/* startup.c - packets under the default key, [RTMFP] 3.5.1. */
#include "proto/rtmfp/startup.h"

bool rtmfp_startup_init(struct rtmfp_startup *s)
{
    *s = (struct rtmfp_startup){ .cipher = rtmfp_cipher_new() };
    memcpy(s->out.key.aes, rtmfp_default_key, RTMFP_KEY);
    s->in.key = s->out.key;
    return s->cipher != NULL;
}

void rtmfp_startup_fini(struct rtmfp_startup *s)
{
    rtmfp_cipher_free(s->cipher);
    s->cipher = NULL;
}

bool rtmfp_startup_open(struct rtmfp_startup *s, const uint8_t *datagram, size_t size,
                        struct rtmfp_packet *out)
{
    struct rtmfp_bytes plain;

    return rtmfp_open(s->cipher, &s->in, datagram, size, s->plain, &plain) == RTMFP_OPENED &&
           rtmfp_packet_read(out, plain) && out->head.mode == RTMFP_STARTUP;
}

/* The timestamp is always there: one of the older clients reads it without looking at the flag. */
struct wr rtmfp_startup_begin_within(struct rtmfp_startup *s, uint8_t *datagram, size_t most,
                                     co_usec now)
{
    struct rtmfp_head head = { .mode = RTMFP_STARTUP, .has_time = true, .time = rtmfp_clock(now) };
    size_t room = most < RTMFP_SEALED_MAX ? most : RTMFP_SEALED_MAX;
    struct wr w = rtmfp_seal_begin(&s->out, datagram, room, RTMFP_PLAIN_MAX);

    rtmfp_packet_begin(&w, &head);
    return w;
}

struct wr rtmfp_startup_begin(struct rtmfp_startup *s, uint8_t *datagram, co_usec now)
{
    return rtmfp_startup_begin_within(s, datagram, RTMFP_SEALED_MAX, now);
}

size_t rtmfp_startup_seal(struct rtmfp_startup *s, uint32_t id, struct wr *w)
{
    return rtmfp_seal(s->cipher, &s->out, id, w);
}
