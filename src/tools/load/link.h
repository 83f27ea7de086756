/* SPDX-License-Identifier: MIT */
/* link.h - datagram sockets of clients, with a simulated bad network and batched sending.
 *
 * The network loses datagrams in runs, duplicates, delays and reorders them, in both directions. A
 * seed makes this repeatable.
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
    double loss, twice, reorder; /* probabilities, 0 to 1 */
    unsigned run;                /* number of datagrams lost in a row */
    co_usec delay;               /* one way */
    co_usec loss_from, loss_to;  /* time in which `loss` applies */
    co_usec cut_from, cut_to;    /* time in which all datagrams are lost */
    uint64_t random;
    struct load_link_way_state {
        struct load_link_item *first, *last; /* ordered by `due` */
        unsigned losing;
        uint64_t came, lost;
    } way[2];
};

void load_link_init(struct load_link *l, const struct load_opts *o, co_usec now);
void load_link_fini(struct load_link *l);
/* Returns whether the network changes anything. */
bool load_link_is_on(const struct load_link *l);
void load_link_put(struct load_link *l, enum load_link_way way, const struct udp_path *path,
                   const struct iovec *iov, int count, co_usec now);
/* Takes the next datagram that has arrived by now; the caller frees it. NULL if there is none. */
struct load_link_item *load_link_take(struct load_link *l, enum load_link_way way, co_usec now);

/* ------------------------------------------------------------ a socket behind it */

enum { LOAD_DATAGRAM = 1500, LOAD_SLOTS = 1 << 16 };

struct load_socket {
    /* receives each datagram with `arg`; set both before load_socket_open() */
    void (*heard)(void *arg, const uint8_t *data, size_t size, const struct udp_path *path,
                  co_usec now);
    void *arg;
    /* called by load_socket_run() after each read; `due`: the time `every` has also passed */
    void (*turn)(co_usec now, bool due);
    co_usec every;
    struct udp *udp;
    struct load_link link;
    bool bad;                    /* the simulated network is on */
};

err_t load_socket_open(struct load_socket *s, const char *ip, int buffers,
                       const struct load_opts *o) __attribute__((warn_unused_result));
void load_socket_close(struct load_socket *s); /* all zero is fine */
/* Returns LOAD_DATAGRAM bytes in which to write the next datagram; this saves a copy. */
uint8_t *load_socket_room(const struct load_socket *s);
/* Queues a datagram. load_socket_flush() sends it at the latest; call that before you yield. */
void load_socket_say(struct load_socket *s, const struct udp_path *path, const void *data,
                     size_t size, co_usec now);
void load_socket_flush(void);
/* Reads what has arrived, and passes on what the simulated network releases in both directions. */
err_t load_socket_read(struct load_socket *s) __attribute__((warn_unused_result));
/* Coroutine that reads a struct load_socket until it is stopped. */
err_t load_socket_run(void *socket) __attribute__((warn_unused_result));

/* Clients by the low bits of their ids. Id 0 is never used. */
struct load_slots {
    void *at[LOAD_SLOTS];
    unsigned top, next; /* end of the used slots; slot at which the next search starts */
};

/* Stores p and returns a new id with its slot in the low bits; 0 if all slots are used. */
uint32_t load_slots_take(struct load_slots *s, void *p);

/* Waits until load_wake() or for `time`. Yields. */
err_t load_wait(struct co **waiter, co_usec time) __attribute__((warn_unused_result));
static inline void load_wake(struct co *waiter) /* NULL is fine */
{
    if (waiter)
        co_unpark(waiter);
}

#endif
