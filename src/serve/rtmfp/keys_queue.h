/* SPDX-License-Identifier: MIT */
/* keys_queue.h - computes the keys of handshakes on helper threads ([RTMFP] 3.5.1, [PROFILE] 4.6).
 *
 * A bounded queue per worker, and one coroutine per helper thread: each has a helper compute the
 * keys of several handshakes at once, and key pairs in advance while no handshake waits. A helper
 * works on its own data until it is done: copies, a struct rtmfp_dh and its pairs.
 */
#ifndef SERVE_RTMFP_KEYS_QUEUE_H
#define SERVE_RTMFP_KEYS_QUEUE_H

#include "serve/rtmfp/table.h"

enum { RTMFP_KEY_JOBS = 1024 };  /* waiting or running */

/* The work of a helper for one handshake. */
struct rtmfp_work {
    struct rtmfp_job job;
    struct rtmfp_keyed keyed;
    bool ok;
};

struct rtmfp_key_queue;
struct rtmfp_key_queue *rtmfp_keys_new(struct rtmfp_service *s, unsigned threads);
/* Starts the coroutines in the service's group. On error none runs. */
err_t rtmfp_keys_begin(struct rtmfp_key_queue *k) __attribute__((warn_unused_result));
void rtmfp_keys_free(struct rtmfp_key_queue *k); /* the coroutines must have ended */
bool rtmfp_keys_full(const struct rtmfp_key_queue *k);
/* Takes over a handshake and adds it to the table until it becomes a session (rtmfp_peer_open()) or
 * is dropped. The queue must not be full. Does not yield. */
void rtmfp_keys_add(struct rtmfp_key_queue *k, struct rtmfp_handshake *h);

#endif
