/* SPDX-License-Identifier: MIT */
/* peer.h - pipes to fake peers, over memory.
 *
 * A script sends one thing after the other, each when it has received something: for whole conversations
 * that take their time. A silent peer takes all and sends nothing. Over plain memory (struct io_mem) all
 * is there at once.
 */
#ifndef PEER_H
#define PEER_H

#include "base/container_of.h"
#include "base/iov.h"
#include "base/wr.h"
#include "co/net/io.h"
#include "io_mem.h"
#include "unit.h"

#include <string.h>

enum { SCRIPT_LINES = 24 };

struct script_line {
    const char *after; /* what it is told first, behind what the line before it waited for; "": it
                        * does not wait */
    void (*then)(void); /* is done before it says anything; NULL: nothing is */
    struct wr say;      /* nothing: it leaves */
};

struct script_io {
    struct io io;
    struct script_line lines[SCRIPT_LINES];
    unsigned n, at;
    bool heard;     /* what lines[at] waits for was said */
    size_t said;    /* bytes of lines[at].say */
    size_t piece;   /* it says so many at a time; 0: all */
    struct wr out;  /* what it was told */
    size_t seen;    /* of it, by lines before this one */
    struct co *waits;
};

void script_init(struct script_io *s);

/* The next thing that it sends, to be written; nothing: it leaves then. */
struct wr *script_say(struct script_io *s, const char *after);

/* It waits for the other side to end. */
void script_stay(struct script_io *s);
void script_fini(struct script_io *s);

/* ---- silent */

extern const struct io_ops silent_ops;

/* For peers that differ from it in one function. */
bool silent_readable(struct io *io);
enum co_wake silent_wait(struct io *io, bool out, co_usec timeout);
err_t silent_send_some(struct io *io, const struct iovec *iov, int count, size_t *n);
/* It never blocks and never fails; all waits for input last. */
struct io silent_peer(void);

#endif
