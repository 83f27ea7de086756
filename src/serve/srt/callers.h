/* SPDX-License-Identifier: MIT */
/* callers.h - known callers by address and socket id, so that repeated requests are recognized,
 * also those of callers that moved to another worker; and recent refusals, which are repeated from
 * memory.
 *
 * Hashes have a secret key, so an attacker cannot choose collisions. Entries that live for seconds
 * only are in tables of fixed size: a newer entry replaces an older one in the same slot.
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
        uint64_t hash; /* hash of address and request */
        uint32_t code;
        co_usec until;
    } refused[SRT_REFUSED];
};

void srt_callers_init(struct srt_callers *t);
void srt_callers_fini(struct srt_callers *t);

/* Adds a caller with c->from and c->id set, which is in no table. */
void srt_callers_add(struct srt_callers *t, struct srt_caller *c);
/* fine if it is not in a table */
void srt_callers_remove(struct srt_callers *t, struct srt_caller *c);
struct srt_caller *srt_callers_find(const struct srt_callers *t, const struct udp_addr *from,
                                    uint32_t id); /* or NULL */

/* Remembers for some seconds that a caller moved to another worker, which gets its repeats. */
void srt_callers_went(struct srt_callers *t, const struct srt_caller *c, unsigned worker,
                      co_usec now);
bool srt_callers_away(const struct srt_callers *t, const struct udp_addr *from,
                      const struct srt_handshake *h, co_usec now, unsigned *worker);

/* Remembers a refusal for a second. */
void srt_callers_refuse(struct srt_callers *t, const struct udp_addr *from,
                        const struct srt_handshake *h, uint32_t code, co_usec now);
uint32_t srt_callers_refused(const struct srt_callers *t, const struct udp_addr *from,
                             const struct srt_handshake *h, co_usec now); /* 0: not refused */

/* Returns a number below `n` for an address; all of an IPv6 network share one. */
unsigned srt_callers_place(const struct srt_callers *t, const struct udp_addr *from, unsigned n);

#endif
