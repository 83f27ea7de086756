/* SPDX-License-Identifier: MIT */
/* talk.h - what a load client says to an RTMP server: connect, and play or publish.
 *
 * The conversation reads over a load_skim, so its state is small and goes on into the media
 * without a change of hands: media that comes behind the answer to `play` is seen like any other.
 */
#ifndef TOOLS_LOAD_TALK_H
#define TOOLS_LOAD_TALK_H

#include "base/err.h"
#include "co/net/io.h"
#include "tools/load/answer.h"
#include "tools/load/skim.h"
#include "tools/load/url.h"

struct load_talk {
    struct io *io;
    struct load_skim skim;
    void (*media)(void *arg, const struct load_skim_msg *msg); /* may be NULL */
    void *arg;
    uint32_t ping; /* to answer */
    bool have_ping;
    bool over;        /* the server said that what is played is at its end */
    double from;      /* s, where play begins; < 0: not said */
    struct load_answer answer;
};

/* Connect to ip, shake hands, send `connect` and `createStream`. On an error the talk is closed. */
err_t load_talk_open(struct load_talk *t, const struct load_url *url, const char *ip,
                     const char *bind_ip, co_usec timeout) __attribute__((warn_unused_result));
/* The connection alone: TCP, and TLS with any certificate. On an error *io is NULL. */
err_t load_connect(struct io **io, const char *ip, const struct load_url *url, const char *bind_ip,
                   co_usec timeout) __attribute__((warn_unused_result));
/* Acknowledge what comes at once, as one does who mostly listens, until something is sent. */
void load_talk_acknowledge(const struct load_talk *t);
void load_talk_close(struct load_talk *t); /* one that is closed is fine */

/* ERR_RTMP_REJECTED with the server's code when it says no. */
err_t load_talk_play(struct load_talk *t, const struct load_url *url)
    __attribute__((warn_unused_result));
/* Sets our chunk size too. */
err_t load_talk_publish(struct load_talk *t, const struct load_url *url, uint32_t chunk_size)
    __attribute__((warn_unused_result));

/* Read what there is, waiting for it as io->read_timeout says; media goes to t->media; pings and
 * acknowledgements are answered. */
err_t load_talk_read(struct load_talk *t) __attribute__((warn_unused_result));

/* For those who do not read what the server says: a ping answered and bytes acknowledged, unasked.
 * t->skim.bytes says how many there were. */
err_t load_talk_alive(struct load_talk *t) __attribute__((warn_unused_result));

#endif
