/* SPDX-License-Identifier: MIT */
/* rtp_seed.c - computes a stream's RTP numbers, the same on all workers. */
#include "base/random_id.h"
#include "wire/rtp.h"

#include <pthread.h>
#include <stdio.h>

enum { KEY = 24 };

static char key[KEY + 1];
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
    random_id(key, KEY);
}

/* Mixes the bits of v: each input bit changes half of the output bits, and different inputs have
 * different outputs. */
static uint32_t mix(uint32_t v)
{
    v = (v ^ v >> 16) * 0x7feb352d;
    v = (v ^ v >> 15) * 0x846ca68b;
    return v ^ v >> 16;
}

static uint64_t add(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return hash;
}

uint32_t rtp_wire_seed(const char *stream)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    (void)pthread_once(&key_once, make_key);
    hash = add(add(add(hash, key), stream), key);
    return mix((uint32_t)(hash ^ hash >> 32));
}

uint32_t rtp_wire_ssrc(uint32_t seed, unsigned track)
{
    return mix(mix(seed) + track);
}

uint32_t rtp_wire_base(uint32_t seed, unsigned track)
{
    return mix(mix(seed ^ 0x5bd1e995) + track);
}

void rtp_wire_cname(uint32_t seed, char out[RTP_WIRE_CNAME])
{
    (void)snprintf(out, RTP_WIRE_CNAME, "%08x", mix(seed + 1));
}
