/* SPDX-License-Identifier: MIT */
/* udp.h - datagrams in batches: a socket, or a network in memory for tests (test/lib/udp_net.h).
 *
 * A protocol over datagrams does no I/O: it takes what came and says what is to be sent, and when
 * it wants to be asked again. So it runs the same over a socket and over a network in memory that
 * loses, reorders and delays by a seed, on a clock of its own.
 */
#ifndef CO_NET_UDP_H
#define CO_NET_UDP_H

#include "base/err.h"
#include "base/siphash.h"
#include "co/co.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum {
    UDP_TEXT = 72,     /* "[ip%zone]:port" and the '\0' */
    UDP_MOST = 65507,  /* bytes of a datagram */
};

/* RFC 3168, section 5. */
enum udp_ecn { UDP_NOT_ECT, UDP_ECT1, UDP_ECT0, UDP_CE };

struct udp_addr {
    uint8_t ip[16];  /* IPv4 mapped; zeros: any */
    uint32_t zone;   /* the interface of a link-local address, else 0 */
    uint16_t port;
};

/* Who it is, and which of our addresses he speaks to: an answer by the path on which the question
 * came leaves from the address that was asked. A local address of zeros lets the system choose. */
struct udp_path {
    struct udp_addr peer, local;
};

/* A datagram that came. Borrowed for the call. */
struct udp_in {
    const uint8_t *data;
    size_t size; /* may be 0 */
    struct udp_path path;
    co_usec at;  /* when the kernel had it */
    enum udp_ecn ecn;
};

/* One or more that are to be sent. The pieces one after the other are cut into datagrams of
 * `segment` bytes, the last one may be shorter; 0: all of it is one. Where the kernel can it is
 * given many at once, so those of one turn for one peer belong together. */
struct udp_out {
    const struct iovec *iov;
    int count; /* of pieces; a datagram has at most UDP_PIECES of them */
    size_t segment;
    const struct udp_path *path;
    enum udp_ecn ecn;
};

enum { UDP_PIECES = 256 };

struct udp_stat {
    uint64_t in, in_bytes, in_calls; /* datagrams; system calls that gave some */
    uint64_t out, out_bytes, out_calls;
    uint64_t truncated; /* came and were larger than asked for: dropped */
    uint64_t overflow;  /* came while the receive buffer was full: dropped by the kernel */
    uint64_t drops;     /* were to go while the send buffer was full */
    uint64_t errors;    /* the system refused to send them, or told of a fault when we read */
};

struct udp;

struct udp_ops {
    const char *name;
    /* What is there now; *n is 0 when nothing is. It stays until the thread reads from any other,
     * so the caller is through with it before it yields. Never yields. */
    err_t (*recv_now)(struct udp *u, const struct udp_in **v, size_t *n);
    /* How many of them went, from the first: fewer than n when the send buffer is full. What
     * cannot go at all counts as gone, in stat.errors. Never yields. */
    size_t (*send)(struct udp *u, const struct udp_out *v, size_t n);
    /* Wait for datagrams, room to send in one that is full, udp_wake(), the timeout or a stop.
     * Yields. */
    enum co_wake (*wait)(struct udp *u, co_usec timeout);
    void (*wake)(struct udp *u);
    co_usec (*now)(const struct udp *u);
    void (*close)(struct udp *u);
};

struct udp {
    const struct udp_ops *ops;
    struct udp_addr at; /* where it is bound */
    bool full; /* a send was cut short, and no udp_wait() has seen room since */
    struct udp_stat stat;
};

static inline err_t udp_recv_now(struct udp *u, const struct udp_in **v, size_t *n)
{
    return u->ops->recv_now(u, v, n);
}

static inline size_t udp_send(struct udp *u, const struct udp_out *v, size_t n)
{
    return u->ops->send(u, v, n);
}

static inline enum co_wake udp_wait(struct udp *u, co_usec timeout)
{
    return u->ops->wait(u, timeout);
}

/* Whoever waits there goes on: there is something to send. Does not yield. */
static inline void udp_wake(struct udp *u)
{
    u->ops->wake(u);
}

static inline co_usec udp_now(const struct udp *u)
{
    return u->ops->now(u);
}

void udp_close(struct udp *u); /* may be NULL; closes and frees */

/* ---- protocols */

/* None of them yields. Those that a protocol does not need are NULL. */
struct udp_proto {
    void (*input)(void *me, const struct udp_in *v, size_t n, co_usec now);
    /* What is to be sent, at most `most` of them, valid until the next call; 0: no more. Asked
     * after each of the others, and after udp_wake(). */
    size_t (*output)(void *me, struct udp_out *v, size_t most, co_usec now);
    co_usec (*deadline)(void *me); /* when tick() is to be called; CO_FOREVER: never */
    void (*tick)(void *me, co_usec now);
};

/* Read and send for a protocol until an error or a stop; a coroutine per socket calls it. While the
 * send buffer is full it waits up to UDP_PATIENCE for each batch of output, then drops and counts
 * what does not fit, as a full queue in the network would. Yields. */
#define UDP_PATIENCE CO_MS(5)
err_t udp_drive(struct udp *u, const struct udp_proto *p, void *me)
    __attribute__((warn_unused_result));

/* ---- addresses */

bool udp_addr_same(const struct udp_addr *a, const struct udp_addr *b); /* zones do not count */
uint64_t udp_addr_hash(const struct udp_addr *a, const uint8_t key[SIPHASH_KEY]); /* the same */
bool udp_addr_is_any(const struct udp_addr *a);
bool udp_addr_is_v4(const struct udp_addr *a);
/* A numeric address; "" or NULL: any. */
err_t udp_addr_parse(struct udp_addr *out, const char *ip, int port)
    __attribute__((warn_unused_result));
const char *udp_addr_text(const struct udp_addr *a, char *buf, size_t size); /* "1.2.3.4:5" */
/* As the system has them; out is of IPv6 if `v6`, and 0 is what it cannot say. */
socklen_t udp_addr_to(const struct udp_addr *a, bool v6, struct sockaddr_in6 *out);
void udp_addr_from(struct udp_addr *out, const struct sockaddr_in6 *addr);

/* ---- sockets */

struct udp_opts {
    size_t most;        /* datagrams above it are dropped and counted; 0: 2048 */
    int rcvbuf, sndbuf; /* bytes; the system may give less; 0: as it has them */
    bool reuseport;     /* several sockets have the same address, each a part of the peers */
    bool plain;         /* as where the kernel can neither segment nor merge */
    int multicast_ttl;  /* of what goes to groups of IPv4, which this machine hears, too; 0: 1 */
};

/* Bound to ip ("" or NULL: any, IPv6 and IPv4; "::": any of IPv6 alone) and port (0: any that is
 * free). */
err_t udp_open(struct udp **out, const char *ip, int port, const struct udp_opts *opts)
    __attribute__((warn_unused_result));
/* The same in two steps: a socket may be bound by one thread, and read by another. `shares`: others
 * of ours may have the address, too. */
err_t udp_bind(int *fd, const char *ip, int port, bool shares) __attribute__((warn_unused_result));
/* Takes fd over; on an error it stays the caller's. */
err_t udp_adopt(struct udp **out, int fd, const struct udp_opts *opts)
    __attribute__((warn_unused_result));

struct sock_fprog;
/* So many sockets of one address, bound as the only ones there; of each datagram the program says
 * which of them gets it, by its bytes (classic BPF: it gives the number, from 0). NULL, or where
 * the system does not take it: the kernel chooses by the addresses. *chosen: the program counts.
 * Does not yield. */
err_t udp_bind_group(int *fds, unsigned n, const char *ip, int port,
                     const struct sock_fprog *choice, bool *chosen)
    __attribute__((warn_unused_result));
/* So many more of an address that a group has. */
err_t udp_bind_more(int *fds, unsigned n, const char *ip, int port)
    __attribute__((warn_unused_result));
/* Two with an even port and the next one, out of low..high: RTP and RTCP (RFC 3550, section 11).
 * ERR_SOCKET_BIND: there are none left. */
err_t udp_open_pair(struct udp *out[2], const char *ip, int low, int high,
                    const struct udp_opts *opts) __attribute__((warn_unused_result));

#endif
