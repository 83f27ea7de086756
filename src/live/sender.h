/* SPDX-License-Identifier: MIT */
/* sender.h - sends a live stream to one peer: the loop of each player and forward. For a player of
 * a file the same loop sends a feed (feed.h).
 *
 * Merged write: the sender waits until mw_latency has passed, then sends everything that arrived
 * with one writev. The timer belongs to the player, so a packet wakes no one; only a player with
 * nothing to send when its timer fires waits for the next packet.
 *
 * A normal turn is one system call, made from the timer or from the source's list of waiting
 * cursors. The coroutine keeps sleeping, and its cold stack is not touched. It is woken for the
 * rest: the peer sent data, its window is full, it needs configuration, it is stopped, or a few
 * seconds have passed.
 */
#ifndef LIVE_SENDER_H
#define LIVE_SENDER_H

#include "co/net/io.h"
#include "live/consumer.h"
#include "live/feed.h"

#define LIVE_MW_AUTO ((co_usec)-1)

struct live_sender_settings {
    /* how long to collect packets; 0: send at once; LIVE_MW_AUTO: at once while the core is idle,
     * longer as its load grows, up to 350 ms */
    co_usec mw_latency;
    unsigned mw_msgs;      /* also wait for this many packets, but at most 350 ms */
    co_usec send_interval; /* > 0: send one packet at a time, with this interval */
};

/* The state of a sender. */
enum live_sender_state {
    LIVE_WAIT_KEY,    /* waits for a key frame to start or continue at */
    LIVE_COLLECT,     /* collects packets until mw_latency has passed, or waits for one */
    LIVE_SEND,        /* sends, between the packets of a turn */
    LIVE_WINDOW_FULL, /* the peer takes less than is due, or nothing */
    LIVE_PAUSED,
    LIVE_SENDER_STATES,
};
const char *live_sender_state_name(enum live_sender_state state); /* "WAIT_KEY" */

struct live_sender_stat {
    enum live_sender_state state;
    co_usec since;       /* time in this state */
    co_usec lag;         /* from the next packet to the newest one of the stream */
    co_usec window_full; /* total time with a full window */
    uint64_t dropped;    /* packets skipped because it was too slow */
};

struct live_sender {
    struct io *io; /* its write_timeout limits how long a peer may take nothing */
    struct live_consumer consumer;
    /* sent instead of the consumer's packets; NULL: none. The sender is done when the feed ends. */
    struct live_feed *feed;
    struct live_sender_settings set;
    bool paused;     /* see live_sender_pause() */
    bool done;       /* set to end it: run() returns NULL */
    unsigned turns;  /* turns since the start */
    co_usec merge;   /* merge time of this turn */
    void *arg;       /* argument of the callbacks, which may change `set`, `paused` and `done` */
    /* The socket is readable (data or EOF). It may open another consumer. NULL: the connection is
     * only written to. */
    err_t (*on_readable)(void *arg);
    /* Called before a turn of the coroutine: at least every few seconds, also while the window is
     * full, and soon after *epoch changed. It must not send. NULL: nothing to do. */
    err_t (*on_turn)(void *arg);
    co_usec turn_every;              /* interval of on_turn; 0: five seconds */
    /* for example the generation of the configuration; NULL: none */
    const unsigned *epoch;

    /* private to live/ */
    struct co *co;
    struct co_timer timer;
    co_usec sent_at, due; /* times of the last and the next turn */
    co_usec called_at;
    unsigned epoch_seen;
    bool must_run; /* the coroutine must take the next turn, or finish this one */
    bool sending;          /* the coroutine takes a turn */
    co_usec paused_at;
    co_usec full_at;       /* start of a full window; 0: not full */
    co_usec full_before;   /* total time with a full window before that */
};

/* Sends until it is done, the peer closes the connection, or the coroutine is stopped; the error
 * tells which. The consumer is open before and stays open. Yields. */
err_t live_sender_run(struct live_sender *s) __attribute__((warn_unused_result));

void live_sender_pause(struct live_sender *s, bool paused);
/* Computes the statistics. */
void live_sender_stat(const struct live_sender *s, struct live_sender_stat *out);

/* Describes the feed. Returns false if it sends none, or the feed has nothing to report. */
bool live_sender_feed_info(const struct live_sender *s, struct live_feed_info *out);

/* Returns the number of packets or frames that are due and not sent yet. */
uint64_t live_sender_pending(const struct live_sender *s);

/* Sends what the peer takes at once, such as the end of a stream, even if the coroutine was
 * stopped. Does not yield. */
void live_sender_flush(struct live_sender *s);

#endif
