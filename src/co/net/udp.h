/* SPDX-License-Identifier: MIT */
/* udp.h - datagrams in batches: over a socket, or over a network in memory for tests
 * (test/lib/udp_net.h).
 *
 * A protocol over datagrams does no I/O: it gets input, returns output, and says when to call it
 * again. So it runs unchanged over a socket and over a simulated network that loses, reorders and
 * delays datagrams, with its own clock.
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
    UDP_MOST = 65507,  /* maximum bytes of a datagram */
};

/* RFC 3168, section 5. */
enum udp_ecn { UDP_NOT_ECT, UDP_ECT1, UDP_ECT0, UDP_CE };

struct udp_addr {
    uint8_t ip[16];  /* IPv4 mapped; zeros: any */
    uint32_t zone;   /* the interface of a link-local address, else 0 */
    uint16_t port;
};

/* The peer, and the address of ours that it uses: an answer must leave from the address that
 * received the request. A local address of zeros lets the system choose. */
struct udp_path {
    struct udp_addr peer, local;
};

/* A received datagram. Borrowed for the call. */
struct udp_in {
    const uint8_t *data;
    size_t size; /* may be 0 */
    struct udp_path path;
    co_usec at;  /* when the kernel received it */
    enum udp_ecn ecn;
};

/* One or more datagrams to send. The pieces are joined and then cut into datagrams of `segment`
 * bytes, of which the last may be shorter; 0: one datagram. The kernel takes many at once where it
 * supports that, so put all datagrams of one turn for one peer into one entry. */
struct udp_out {
    const struct iovec *iov;
    int count; /* number of pieces; a datagram has at most UDP_PIECES of them */
    size_t segment;
    const struct udp_path *path;
    enum udp_ecn ecn;
};

enum { UDP_PIECES = 256 };

struct udp_stat {
    uint64_t in, in_bytes, in_calls; /* datagrams; bytes; system calls that returned some */
    uint64_t out, out_bytes, out_calls;
    uint64_t truncated; /* received but larger than allowed: dropped */
    uint64_t overflow;  /* received while the receive buffer was full: dropped by the kernel */
    uint64_t drops;     /* dropped on sending because the send buffer was full */
    uint64_t errors;    /* the system refused to send, or reported an error on reading */
};

struct udp;

struct udp_ops {
    const char *name;
    /* Returns the datagrams available now; *n is 0 if there are none. They are valid until the
     * thread reads from any socket again, so the caller finishes with them before it yields. Never
     * yields. */
    err_t (*recv_now)(struct udp *u, const struct udp_in **v, size_t *n);
    /* Sends from the first on and returns the number sent: fewer than n when the send buffer is
     * full. Datagrams that can never be sent count as sent, and in stat.errors. Never yields. */
    size_t (*send)(struct udp *u, const struct udp_out *v, size_t n);
    /* Waits for datagrams, for send space if the buffer was full, for udp_wake(), the timeout or a
     * stop. Yields. */
    enum co_wake (*wait)(struct udp *u, co_usec timeout);
    void (*wake)(struct udp *u);
    co_usec (*now)(const struct udp *u);
    void (*close)(struct udp *u);
};

struct udp {
    const struct udp_ops *ops;
    struct udp_addr at; /* bound address */
    bool full; /* a send was cut short, and no udp_wait() has seen space since */
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

/* Wakes the coroutine that waits on u: there is output. Does not yield. */
static inline void udp_wake(struct udp *u)
{
    u->ops->wake(u);
}

static inline co_usec udp_now(const struct udp *u)
{
    return u->ops->now(u);
}

void udp_close(struct udp *u); /* closes and frees; may be NULL */

/* ---- protocols */

/* The functions of a protocol. None may yield. Those that it does not need are NULL. */
struct udp_proto {
    void (*input)(void *me, const struct udp_in *v, size_t n, co_usec now);
    /* Returns output, at most `most` entries, valid until the next call; 0: no more. Called after
     * each of the others, and after udp_wake(). */
    size_t (*output)(void *me, struct udp_out *v, size_t most, co_usec now);
    co_usec (*deadline)(void *me); /* when to call tick(); CO_FOREVER: never */
    void (*tick)(void *me, co_usec now);
};

/* Reads and sends for a protocol until an error or a stop; called by one coroutine per socket.
 * While the send buffer is full it waits up to UDP_PATIENCE for each batch of output, then drops
 * and counts the rest, as a full queue in the network would. Yields. */
#define UDP_PATIENCE CO_MS(5)
err_t udp_drive(struct udp *u, const struct udp_proto *p, void *me)
    __attribute__((warn_unused_result));

/* ---- addresses */

bool udp_addr_same(const struct udp_addr *a, const struct udp_addr *b); /* ignores zones */
/* ignores zones */
uint64_t udp_addr_hash(const struct udp_addr *a, const uint8_t key[SIPHASH_KEY]);
bool udp_addr_is_any(const struct udp_addr *a);
bool udp_addr_is_v4(const struct udp_addr *a);
/* Parses a numeric address; "" or NULL: any. */
err_t udp_addr_parse(struct udp_addr *out, const char *ip, int port)
    __attribute__((warn_unused_result));
const char *udp_addr_text(const struct udp_addr *a, char *buf, size_t size); /* "1.2.3.4:5" */
/* Conversion to and from the system's form; `out` is an IPv6 address if `v6`; returns 0 if it
 * cannot be expressed. */
socklen_t udp_addr_to(const struct udp_addr *a, bool v6, struct sockaddr_in6 *out);
void udp_addr_from(struct udp_addr *out, const struct sockaddr_in6 *addr);

/* ---- sockets */

struct udp_opts {
    size_t most;        /* larger datagrams are dropped and counted; 0: 2048 */
    int rcvbuf, sndbuf; /* bytes; the system may allot less; 0: its default */
    bool reuseport;     /* several sockets share the address, each serves a part of the peers */
    bool plain;         /* behave as if the kernel could neither segment nor merge */
    int multicast_ttl;  /* TTL for IPv4 multicast, which this machine receives too; 0: 1 */
};

/* Opens a socket bound to ip ("" or NULL: any, IPv6 and IPv4; "::": any, IPv6 only) and port (0:
 * any free one). */
err_t udp_open(struct udp **out, const char *ip, int port, const struct udp_opts *opts)
    __attribute__((warn_unused_result));
/* Same in two steps: one thread may bind a socket and another read it. `shares`: other sockets of
 * ours may have the same address. */
err_t udp_bind(int *fd, const char *ip, int port, bool shares) __attribute__((warn_unused_result));
/* Takes over fd; on error the caller still owns it. */
err_t udp_adopt(struct udp **out, int fd, const struct udp_opts *opts)
    __attribute__((warn_unused_result));

struct sock_fprog;
/* Binds n sockets to one address, which no other socket may have. For each datagram the program
 * (classic BPF) returns the index of the socket that gets it. With NULL, or if the system refuses
 * the program, the kernel chooses by the addresses. *chosen: the program is in use. Does not
 * yield. */
err_t udp_bind_group(int *fds, unsigned n, const char *ip, int port,
                     const struct sock_fprog *choice, bool *chosen)
    __attribute__((warn_unused_result));
/* Binds n more sockets to the address of a group. */
err_t udp_bind_more(int *fds, unsigned n, const char *ip, int port)
    __attribute__((warn_unused_result));
/* Opens two sockets with an even port and the next one, within low..high: RTP and RTCP (RFC 3550,
 * section 11). ERR_SOCKET_BIND: none are free. */
err_t udp_open_pair(struct udp *out[2], const char *ip, int low, int high,
                    const struct udp_opts *opts) __attribute__((warn_unused_result));

#endif
