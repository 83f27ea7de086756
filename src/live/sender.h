/* SPDX-License-Identifier: MIT */
/* sender.h - send a live stream to one peer: the loop of every player and every forward. One that
 * plays a file is sent a feed (feed.h) by the same loop.
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
#include "live/feed.h"

#define LIVE_MW_AUTO ((co_usec)-1)

struct live_sender_settings {
    co_usec mw_latency;    /* how long to collect; 0: send at once; LIVE_MW_AUTO: at once while
                            * the core is idle, more and more as it fills, up to 350 ms */
    unsigned mw_msgs;      /* and at least so many packets, but never longer than 350 ms for it */
    co_usec send_interval; /* > 0: one packet at a time, so far apart */
};

/* What a sender does now. */
enum live_sender_state {
    LIVE_WAIT_KEY,    /* for a key frame to start at, or to go on at */
    LIVE_COLLECT,     /* packets, until mw_latency is up, or until one comes */
    LIVE_SEND,        /* in its own turn, between the packets of it */
    LIVE_WINDOW_FULL, /* the peer takes less than there is, or nothing */
    LIVE_PAUSED,
    LIVE_SENDER_STATES,
};
const char *live_sender_state_name(enum live_sender_state state); /* "WAIT_KEY" */

struct live_sender_stat {
    enum live_sender_state state;
    co_usec since;       /* how long it has been in it */
    co_usec lag;         /* from what it sends next to the newest packet of the stream */
    co_usec window_full; /* all the time that its window was full */
    uint64_t dropped;    /* packets that it was too slow for */
};

struct live_sender {
    struct io *io; /* its write_timeout is how long a peer may take nothing */
    struct live_consumer consumer;
    struct live_feed *feed;      /* what it sends instead of that; NULL: nothing else. It is done
                                  * when the feed has ended. */
    struct live_sender_settings set;
    bool paused;     /* see live_sender_pause() */
    bool done;       /* somebody said that it is over: run() returns NULL */
    unsigned turns;  /* since the start */
    co_usec merge;   /* how long this turn collects */
    void *arg;       /* for these, which may change `set`, `paused`, `done`: */
    err_t (*on_readable)(void *arg); /* the peer said something, or left: read it now. It may open
                                      * another consumer. NULL: its pipe is for writing alone. */
    err_t (*on_turn)(void *arg);     /* before a turn of the coroutine: every few seconds at least,
                                      * also while the window is full, and soon after *epoch
                                      * changed. It must not send. NULL: nothing to do. */
    co_usec look_every;              /* what a few seconds are; 0: five */
    const unsigned *epoch;           /* such as the number of the configuration; NULL: none */

    /* live/'s own */
    struct co *co;
    struct co_timer timer;
    co_usec sent_at, due; /* the last turn, and the next one */
    co_usec looked_at;
    unsigned epoch_seen;
    bool look; /* the coroutine has to take the next turn, or to finish this one */
    bool sending;          /* it is in it */
    co_usec paused_at;
    co_usec full_at;       /* its window is full since then; 0: it is not */
    co_usec full_before;   /* for how long it was, before that */
};

/* Send until it is done, or the peer leaves or somebody stops the coroutine: the error says which.
 * The consumer is open already and stays open. Yields. */
err_t live_sender_run(struct live_sender *s) __attribute__((warn_unused_result));

void live_sender_pause(struct live_sender *s, bool paused);
/* All of it is worked out when it is asked for. */
void live_sender_stat(const struct live_sender *s, struct live_sender_stat *out);

/* Of one that sends a feed. False: it sends none, or that has nothing to tell. */
bool live_sender_feed_info(const struct live_sender *s, struct live_feed_info *out);

/* Packets, or frames, that are due and not sent yet. */
uint64_t live_sender_pending(const struct live_sender *s);

/* Send what is there as far as the peer takes it at once: the last words of a stream that ended,
 * also from a coroutine that was asked to stop. Does not yield. */
void live_sender_flush(struct live_sender *s);

#endif
