/* SPDX-License-Identifier: MIT */
/* srt_hub.h - all clients of sb_srt_load share one socket: one coroutine reads it, and each client
 * has a coroutine that waits for changes of its session.
 */
#ifndef TOOLS_LOAD_SRT_HUB_H
#define TOOLS_LOAD_SRT_HUB_H

#include "proto/srt/call.h"
#include "proto/srt/conn.h"
#include "tools/load/link.h"
#include "tools/load/run.h"
#include "tools/load/srt_source.h"

enum { LOAD_HUB_SOURCES = 8 };

/* Checks the MPEG-TS that a player receives: video frames, key frames, clock markers, and TS
 * packets that are missing although SRT reported no loss. srt_poll.c */
enum { LOAD_LOOK_PIDS = 8 };

struct load_poll {
    struct load_poll_pid {
        uint16_t pid;
        uint8_t cc;
        bool known;
    } pids[LOAD_LOOK_PIDS];
};

void load_poll(struct load_poll *l, struct load_client *c, const struct srt_message *m);

/* A client, from its call to its end. */
struct load_peer {
    struct load_client *c;
    struct load_srt_source *source; /* of a publisher; else NULL */
    struct udp_path path;
    struct srt_call call;
    struct srt_conn conn;  /* once it is open */
    bool open, failed;
    struct load_poll look;
    struct co *waiter;     /* coroutine that waits for a change */
    struct load_peer *next_heard;
    bool heard;
    struct srt_receiver_stat in;  /* as they were counted last */
    struct srt_sender_stat out;
};

/* Of the process. */
struct load_hub_set {
    const struct load_opts *opts;
    const struct load_srt_file *file; /* of publishers; else NULL */
    const struct srt_secret *secret;  /* NULL: in the clear */
};
err_t load_hub_init(const struct load_hub_set *set) __attribute__((warn_unused_result));

/* Connects to the listener; release *out with load_hub_leave(). Yields. ERR_SRT_CONNECT: rejected;
 * ERR_SRT_TIMEOUT: no answer. */
err_t load_hub_join(struct load_peer **out, struct load_client *c, const struct srt_url *url,
                    const char *bind_ip) __attribute__((warn_unused_result));
/* Waits for `time` at most; returns an error once the session has ended. Yields. */
err_t load_hub_stay(struct load_peer *p, co_usec time) __attribute__((warn_unused_result));
/* Closes the session, adds its counters to the tool's and frees it. */
void load_hub_leave(struct load_peer *p);

#endif
