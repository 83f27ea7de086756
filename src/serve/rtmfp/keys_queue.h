/* SPDX-License-Identifier: MIT */
/* keys_queue.h - keys of handshakes, by helper threads ([RTMFP] 3.5.1, [PROFILE] 4.6).
 *
 * A bounded queue of a worker, and so many coroutines as there are threads: each has a helper make
 * the keys of some handshakes at once, and pairs for later ones while nobody waits. What a helper
 * has is its own until it is done: copies, a struct rtmfp_dh and its pairs.
 */
#ifndef SERVE_RTMFP_KEYS_QUEUE_H
#define SERVE_RTMFP_KEYS_QUEUE_H

#include "serve/rtmfp/table.h"

enum { RTMFP_KEY_JOBS = 1024 };  /* that wait, or are under way */

/* What a helper does for a handshake. */
struct rtmfp_work {
    struct rtmfp_job job;
    struct rtmfp_keyed keyed;
    bool ok;
};

struct rtmfp_key_queue;
struct rtmfp_key_queue *rtmfp_keys_new(struct rtmfp_service *s, unsigned threads);
/* Coroutines in the service's group. Of an error none is there. */
err_t rtmfp_keys_begin(struct rtmfp_key_queue *k) __attribute__((warn_unused_result));
void rtmfp_keys_free(struct rtmfp_key_queue *k); /* the coroutines have ended */
bool rtmfp_keys_full(const struct rtmfp_key_queue *k);
/* Takes over the handshake, which is in the table from now on: until it is a session
 * (rtmfp_peer_open()), or is forgotten. It was not full. Does not yield. */
void rtmfp_keys_add(struct rtmfp_key_queue *k, struct rtmfp_handshake *h);

#endif
