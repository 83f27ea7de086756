/* SPDX-License-Identifier: MIT */
/* sender.h - send a live stream to one peer: the loop of every player and every forward.
 *
 * Merged write: sleep until mw_latency is up, then send all that came meanwhile with one writev.
 * The timer is the player's own, so players spread over the interval and nobody is woken by a
 * packet; only one that has nothing to send when its time is up waits for the next packet.
 */
#ifndef LIVE_SENDER_H
#define LIVE_SENDER_H

#include "co/io.h"
#include "live/consumer.h"

#define LIVE_MW_AUTO ((co_usec)-1)

struct live_sender_settings {
    co_usec mw_latency;    /* how long to collect; 0: send at once; LIVE_MW_AUTO: at once while
                            * the core is idle, more and more as it fills, up to 350 ms */
    unsigned mw_msgs;      /* and at least so many packets, but never longer than 350 ms for it */
    co_usec send_interval; /* > 0: one packet at a time, so far apart */
};

struct live_sender {
    struct io *io; /* its write_timeout is how long a peer may take nothing */
    struct live_consumer consumer;
    struct live_sender_settings set;
    bool paused;
    bool done;       /* somebody said that it is over: run() returns NULL */
    co_usec sent_at; /* the last turn */
    co_usec merge;   /* how long this turn collects */
    unsigned turns;  /* since the start */
    void *arg;       /* for these, which may change `set`, `paused`, `done`, and the consumer: */
    err_t (*on_readable)(void *arg); /* the peer said something, or left: read it now */
    err_t (*on_turn)(void *arg);     /* once each turn, before it sends */
};

/* Send until it is done, or the peer leaves or somebody stops the coroutine: the error says which.
 * The consumer is open already and stays open. Yields. */
err_t live_sender_run(struct live_sender *s) __attribute__((warn_unused_result));

/* Send what is there as far as the peer takes it at once: the last words of a stream that ended,
 * also from a coroutine that was asked to stop. Does not yield. */
void live_sender_flush(struct live_sender *s);

#endif
