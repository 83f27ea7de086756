/* SPDX-License-Identifier: MIT */
/* srt_hub.h - all clients of sb_srt_load over one socket: a coroutine reads, another one for each
 * client waits for what becomes of it.
 */
#ifndef TOOLS_LOAD_SRT_HUB_H
#define TOOLS_LOAD_SRT_HUB_H

#include "proto/srt/call.h"
#include "proto/srt/conn.h"
#include "tools/load/link.h"
#include "tools/load/run.h"
#include "tools/load/srt_source.h"

enum { LOAD_HUB_SOURCES = 8 };

/* What a player sees in packets of MPEG-TS: pictures, key frames, the clock of a publisher of ours,
 * and packets that are missing though nobody told. srt_look.c */
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
    struct co *waiter;     /* whoever waits for a change */
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

/* Call the listener and wait for its answer; *out is the caller's until load_hub_leave(). Yields.
 * ERR_SRT_CONNECT: it was refused; ERR_SRT_TIMEOUT: nobody answered. */
err_t load_hub_join(struct load_peer **out, struct load_client *c, const struct srt_url *url,
                    const char *bind_ip) __attribute__((warn_unused_result));
/* Up to so long; an error when it is over. Yields. */
err_t load_hub_stay(struct load_peer *p, co_usec time) __attribute__((warn_unused_result));
/* Says so, counts, frees. */
void load_hub_leave(struct load_peer *p);

#endif
