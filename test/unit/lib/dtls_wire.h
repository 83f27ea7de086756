/* SPDX-License-Identifier: MIT */
/* dtls_wire.h - two DTLS ends, and an in-memory network that loses, duplicates and reorders; its clock. */
#ifndef DTLS_WIRE_H
#define DTLS_WIRE_H

#include "proto/dtls/own.h"
#include "unit.h"

#include <stdlib.h>
#include <sys/time.h>

enum { CLIENT_HELLO = 1, CERTIFICATE = 11, FLYING = 512 };

/* The network's clock; tests give it to OpenSSL as well, whose timers call gettimeofday(). */
extern co_usec dtls_time;
int dtls_wire_timeofday(struct timeval *tv);

struct dtls_end {
    struct dtls *d;
    unsigned sent, came;
    size_t largest;
};

struct dtls_wire {
    struct dtls_end ends[2]; /* client, server */
    struct {
        co_usec at;
        unsigned to;
        size_t size;
        uint8_t data[DTLS_DATAGRAM_MAX];
    } *flying;
    unsigned n;
    uint32_t seed;
    unsigned loss, twice;   /* per 100 */
    co_usec reorder;        /* maximum additional delay */
    unsigned lose_hellos, lose_certificates; /* the first ones */
    co_usec began;
};

extern struct dtls_identity *ours, *theirs;

int dtls_wire_identities(void **state);
int dtls_wire_no_identities(void **state);
struct dtls_fingerprint dtls_wire_print_of(struct dtls_identity *id, enum dtls_digest kind);
void dtls_wire_init(struct dtls_wire *w, struct dtls_identity *client, struct dtls_identity *server,
                      uint32_t seed);
void dtls_wire_fini(struct dtls_wire *w);
uint32_t dtls_wire_chance(struct dtls_wire *w, uint32_t of);
void dtls_wire_take_output(struct dtls_wire *w);
void dtls_wire_fly(struct dtls_wire *w, unsigned to, const uint8_t *data, size_t size);
bool dtls_wire_step(struct dtls_wire *w);
enum dtls_state dtls_wire_state_of(const struct dtls_wire *w, unsigned i);
co_usec dtls_wire_shake(struct dtls_wire *w);
void dtls_wire_assert_keys(const struct dtls_wire *w, enum srtp_profile profile);

#endif
