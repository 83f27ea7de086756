/* SPDX-License-Identifier: MIT */
/* sender.h - send a live stream to one peer: the loop of every player and every forward.
 *
 * Merged write: wait until mw_latency is up, then send all that came meanwhile with one writev.
 * The timer is the player's own, so a packet wakes nobody; only a player that has nothing to send
 * when its time is up waits for the next packet.
 *
 * A turn where all goes well is one system call from the timer, or from the source's list of those
 * who wait: the coroutine sleeps on, and its cold stack is not touched. It is woken when there is
 * something to wait for or to think about: the peer speaks, its window is full, it needs
 * configuration, somebody stops it, or a few seconds have passed.
 */
#ifndef LIVE_SENDER_H
#define LIVE_SENDER_H

#include "co/net/io.h"
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
    unsigned turns;  /* since the start */
    co_usec merge;   /* how long this turn collects */
    void *arg;       /* for these, which may change `set`, `paused`, `done`, and the consumer: */
    err_t (*on_readable)(void *arg); /* the peer said something, or left: read it now */
    err_t (*on_turn)(void *arg);     /* before a turn of the coroutine: every few seconds at least,
                                      * and soon after *epoch changed. It must not send. */
    co_usec look_every;              /* what a few seconds are; 0: five */
    const unsigned *epoch;           /* such as the number of the configuration; NULL: none */

    /* live/'s own */
    struct co *co;
    struct co_timer timer;
    co_usec sent_at, due; /* the last turn, and the next one */
    co_usec looked_at;
    unsigned epoch_seen;
    bool look; /* the coroutine has to take the next turn, or to finish this one */
};

/* Send until it is done, or the peer leaves or somebody stops the coroutine: the error says which.
 * The consumer is open already and stays open. Yields. */
err_t live_sender_run(struct live_sender *s) __attribute__((warn_unused_result));

/* Send what is there as far as the peer takes it at once: the last words of a stream that ended,
 * also from a coroutine that was asked to stop. Does not yield. */
void live_sender_flush(struct live_sender *s);

#endif
