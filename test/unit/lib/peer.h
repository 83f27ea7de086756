/* SPDX-License-Identifier: MIT */
/* peer.h - fake peers as struct io, in memory.
 *
 * A script sends its lines one after the other, each when a text has arrived: for sessions that
 * take time. A silent peer accepts everything and sends nothing. With a memory io (struct io_mem)
 * all input is there at once.
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
    const char *trigger; /* text to wait for, behind the text of the line before; "": does not
                          * wait */
    void (*callback)(void); /* called before it sends; NULL: none */
    struct wr bytes;      /* data it sends; empty: it closes */
};

struct script_io {
    struct io io;
    struct script_line lines[SCRIPT_LINES];
    unsigned n, at;
    bool triggered;     /* lines[at].trigger has arrived */
    size_t sent;    /* number of bytes of lines[at] that were sent */
    size_t piece;   /* largest number of bytes per read; 0: no limit */
    struct wr out;  /* received bytes */
    size_t seen;    /* end of the text that triggered the last line */
    struct co *waits;
};

void script_init(struct script_io *s);

/* Adds a line: the caller writes its bytes into the result. An empty line closes. */
struct wr *script_put(struct script_io *s, const char *trigger);

/* Waits until the other side closes. */
void script_stay(struct script_io *s);
void script_fini(struct script_io *s);

/* ---- silent */

extern const struct io_ops silent_ops;

/* For peers that differ in one function. */
bool silent_readable(struct io *io);
enum co_wake silent_wait(struct io *io, bool out, co_usec timeout);
err_t silent_send_some(struct io *io, const struct iovec *iov, int count, size_t *n);
/* Returns a peer that never blocks and never fails on writes, and never has input. */
struct io silent_peer(void);

#endif
