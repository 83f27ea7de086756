/* SPDX-License-Identifier: MIT */
/* link.h - datagrams of clients: a socket with a bad network behind it, and what is sent, gathered
 * for one system call.
 *
 * The network loses in runs, sends twice, delays, and lets some overtake, both ways, by a seed.
 */
#ifndef TOOLS_LOAD_LINK_H
#define TOOLS_LOAD_LINK_H

#include "co/net/udp.h"
#include "tools/load/opts.h"

enum load_link_way { LOAD_LINK_OUT, LOAD_LINK_IN };

struct load_link_item {
    struct load_link_item *next;
    co_usec due;
    struct udp_path path;
    size_t size;
    uint8_t data[];
};

struct load_link {
    double loss, twice, reorder; /* parts of 1 */
    unsigned run;                /* so many are lost in a row */
    co_usec delay;               /* one way */
    co_usec loss_from, loss_to;  /* `loss` of them are lost meanwhile */
    co_usec cut_from, cut_to;    /* all are lost meanwhile */
    uint64_t random;
    struct load_link_way_state {
        struct load_link_item *first, *last; /* by when they are due */
        unsigned losing;
        uint64_t came, lost;
    } way[2];
};

void load_link_init(struct load_link *l, const struct load_opts *o, co_usec now);
void load_link_fini(struct load_link *l);
/* Does it do anything at all? */
bool load_link_is_on(const struct load_link *l);
void load_link_put(struct load_link *l, enum load_link_way way, const struct udp_path *path,
                   const struct iovec *iov, int count, co_usec now);
/* One that is through by now, for the caller to free; NULL: none. */
struct load_link_item *load_link_take(struct load_link *l, enum load_link_way way, co_usec now);

/* ------------------------------------------------------------ a socket behind it */

enum { LOAD_DATAGRAM = 1500, LOAD_SLOTS = 1 << 16 };

struct load_socket {
    /* set before it is opened; arg of heard() */
    void (*heard)(void *arg, const uint8_t *data, size_t size, const struct udp_path *path,
                  co_usec now);
    void *arg;
    /* of load_socket_run(): after each read; `due`: `every` has passed, too */
    void (*turn)(co_usec now, bool due);
    co_usec every;
    struct udp *udp;
    struct load_link link;
    bool bad;                    /* the link does something */
};

err_t load_socket_open(struct load_socket *s, const char *ip, int buffers,
                       const struct load_opts *o) __attribute__((warn_unused_result));
void load_socket_close(struct load_socket *s); /* all zero is fine */
/* LOAD_DATAGRAM bytes to make the next datagram in, which then need not be copied. */
uint8_t *load_socket_room(const struct load_socket *s);
/* Sent by load_socket_flush() at the latest, which must be called before anything yields. */
void load_socket_say(struct load_socket *s, const struct udp_path *path, const void *data,
                     size_t size, co_usec now);
void load_socket_flush(void);
/* What has come, and what the link lets through by now, either way. */
err_t load_socket_read(struct load_socket *s) __attribute__((warn_unused_result));
/* A coroutine that reads it until it is stopped, of struct load_socket. */
err_t load_socket_run(void *socket) __attribute__((warn_unused_result));

/* Clients by the low bits of their ids. 0 is nobody's. */
struct load_slots {
    void *at[LOAD_SLOTS];
    unsigned top, next; /* none from there on; where to look first */
};

/* An id that says where p is, and is another one each time; 0: there is no room. */
uint32_t load_slots_take(struct load_slots *s, void *p);

/* Wait until it is woken, or for so long. Yields. */
err_t load_wait(struct co **waiter, co_usec time) __attribute__((warn_unused_result));
static inline void load_wake(struct co *waiter) /* NULL is fine */
{
    if (waiter)
        co_unpark(waiter);
}

#endif
