/* SPDX-License-Identifier: MIT */
/* talk.h - a load client's connection, and what it says over it to an RTMP server. */
#ifndef TOOLS_LOAD_TALK_H
#define TOOLS_LOAD_TALK_H

#include "co/net/io.h"
#include "proto/rtmp/client.h"
#include "tools/load/flv.h"
#include "tools/load/url.h"

struct load_talk {
    struct io *io;
    /* of RTMP */
    struct rtmp_conn conn;
    struct rtmp_url url;
    uint32_t stream_id;
    load_tag_fn *media; /* may be NULL */
    void *arg;
    bool over;        /* the server said that what is played is at its end */
};

/* The connection alone: TCP, and TLS with any certificate. On an error *io is NULL. */
err_t load_connect(struct io **io, const char *ip, const struct load_url *url, const char *bind_ip,
                   co_usec timeout) __attribute__((warn_unused_result));
/* Connect to ip, shake hands, send `connect`. On an error the talk is closed. */
err_t load_talk_open(struct load_talk *t, const struct load_url *url, const char *ip,
                     const char *bind_ip, co_usec timeout) __attribute__((warn_unused_result));
/* Acknowledge what comes at once, as a client does that mostly listens, until something is sent. */
void load_talk_acknowledge(const struct load_talk *t);
void load_talk_close(struct load_talk *t); /* one that is closed is fine */

/* Play a recording from `from` s, or all that there is (< 0). */
err_t load_talk_play(struct load_talk *t, double from) __attribute__((warn_unused_result));
err_t load_talk_publish(struct load_talk *t, uint32_t chunk_size)
    __attribute__((warn_unused_result));

/* Read what there is, waiting for it as io->read_timeout says; media goes to t->media; pings and
 * acknowledgements are answered. */
err_t load_talk_read(struct load_talk *t) __attribute__((warn_unused_result));

/* For clients that do not read what the server says: a ping answered and so many bytes
 * acknowledged, unasked. */
err_t load_talk_alive(struct load_talk *t, uint64_t bytes) __attribute__((warn_unused_result));

#endif
