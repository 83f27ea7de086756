/* SPDX-License-Identifier: MIT */
/* talk.h - what a load client says to an RTMP server: connect, and play or publish.
 *
 * The conversation reads over a bench_skim, so its state is small and goes on into the media
 * without a change of hands: media that comes behind the answer to `play` is seen like any other.
 */
#ifndef BENCH_TALK_H
#define BENCH_TALK_H

#include "base/err.h"
#include "bench/skim.h"
#include "bench/url.h"
#include "co/io.h"

struct bench_talk {
    struct io *io;
    struct bench_skim skim;
    void (*media)(void *arg, const struct bench_skim_msg *msg); /* may be NULL */
    void *arg;
    uint32_t ping; /* to answer */
    bool have_ping;
    bool answered; /* the reply that is waited for is there */
    bool refused;
    double number;    /* of the reply: a stream id */
    char code[64];    /* of the last onStatus or _error */
    int waits_for;    /* transaction id, 0: an onStatus */
};

/* Connect to ip, shake hands, send `connect` and `createStream`. On an error the talk is closed. */
err_t bench_talk_open(struct bench_talk *t, const struct bench_url *url, const char *ip,
                      const char *bind_ip, co_usec timeout) __attribute__((warn_unused_result));
void bench_talk_close(struct bench_talk *t); /* one that is closed is fine */

/* ERR_RTMP_REJECTED with the server's code when it says no. */
err_t bench_talk_play(struct bench_talk *t, const struct bench_url *url)
    __attribute__((warn_unused_result));
/* Sets our chunk size too. */
err_t bench_talk_publish(struct bench_talk *t, const struct bench_url *url, uint32_t chunk_size)
    __attribute__((warn_unused_result));

/* Read what there is, waiting for it as io->read_timeout says; media goes to t->media; pings and
 * acknowledgements are answered. */
err_t bench_talk_read(struct bench_talk *t) __attribute__((warn_unused_result));

/* For those who do not read what the server says: a ping answered and bytes acknowledged, unasked.
 * t->skim.bytes says how many there were. */
err_t bench_talk_alive(struct bench_talk *t) __attribute__((warn_unused_result));

#endif
