/* SPDX-License-Identifier: MIT */
/* callers.h - who called: by address and the id that a caller gives itself, so its repeats are
 * known, also of those that went to another worker; and refusals, which are repeated from memory.
 *
 * Hashes have a secret, so nobody can choose what collides. What is remembered for seconds only has
 * a fixed number of places: where two want the same, the newer one has it.
 */
#ifndef SERVE_SRT_CALLERS_H
#define SERVE_SRT_CALLERS_H

#include "serve/srt/peer.h"

enum { SRT_AWAY = 1024, SRT_REFUSED = 1024 };

struct srt_callers {
    struct table here;
    uint8_t secret[SIPHASH_KEY];
    struct srt_away {
        struct udp_addr from;
        uint32_t id, first_seq;
        unsigned worker;
        co_usec until;
    } away[SRT_AWAY];
    struct srt_refused {
        uint64_t hash; /* of address and stream id */
        uint32_t code;
        co_usec until;
    } refused[SRT_REFUSED];
};

void srt_callers_init(struct srt_callers *t);
void srt_callers_fini(struct srt_callers *t);

/* c->from, c->id are filled in; it is in no table. */
void srt_callers_add(struct srt_callers *t, struct srt_caller *c);
void srt_callers_remove(struct srt_callers *t, struct srt_caller *c); /* fine if it is in none */
struct srt_caller *srt_callers_find(const struct srt_callers *t, const struct udp_addr *from,
                                    uint32_t id); /* or NULL */

/* It went to another worker, to which its repeats go for some seconds. */
void srt_callers_went(struct srt_callers *t, const struct srt_caller *c, unsigned worker,
                      co_usec now);
bool srt_callers_away(const struct srt_callers *t, const struct udp_addr *from,
                      const struct srt_handshake *h, co_usec now, unsigned *worker);

/* For a second. */
void srt_callers_refuse(struct srt_callers *t, const struct udp_addr *from,
                        const struct srt_handshake *h, uint32_t code, co_usec now);
uint32_t srt_callers_refused(const struct srt_callers *t, const struct udp_addr *from,
                             const struct srt_handshake *h, co_usec now); /* 0: it was not */

/* A number below `n` of an address, that of an IPv6 network for all in it. */
unsigned srt_callers_place(const struct srt_callers *t, const struct udp_addr *from, unsigned n);

#endif
