/* SPDX-License-Identifier: MIT */
/* udp_sock.c - datagrams over a kernel socket: many per call, segmented and merged by the kernel.
 *
 * The memory for reading and for collecting output exists once per thread, for all its sockets: a
 * reader finishes a batch before another socket is read.
 */
#include "co/net/udp.h"

#include "base/iov.h"
#include "base/must.h"
#include "co/net/io_sys.h"
#include "co/sock.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <st.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Room for all control messages of one datagram. */
enum { UDP_CONTROL = 192 };

/* The control messages of a received datagram. */
struct udp_info {
    struct udp_addr local; /* without the port */
    struct timespec at;    /* wall clock; zeros: unknown */
    size_t segment;        /* 0: one datagram */
    uint32_t overflow;     /* datagrams dropped by the socket since it was opened */
    enum udp_ecn ecn;
};

/* ---- control messages */

enum { ECN_BITS = 3 };

static void mapped(uint8_t ip[16], const struct in_addr *v4)
{
    memset(ip, 0, 10);
    ip[10] = ip[11] = 0xff;
    memcpy(ip + 12, v4, 4);
}

static void read_v4(const struct cmsghdr *c, struct udp_info *out)
{
    struct in_pktinfo info;
    uint8_t tos;

    if (c->cmsg_type == IP_TOS) { /* one byte, unlike IPv6 */
        memcpy(&tos, CMSG_DATA(c), sizeof(tos));
        out->ecn = tos & ECN_BITS;
    } else if (c->cmsg_type == IP_PKTINFO) {
        memcpy(&info, CMSG_DATA(c), sizeof(info));
        mapped(out->local.ip, &info.ipi_spec_dst); /* our address, also for broadcasts */
    }
}

/* Checks for multicast: an answer must not use such an address as its source. */
static bool is_multicast(const struct in6_addr *ip)
{
    if (IN6_IS_ADDR_V4MAPPED(ip))
        return ip->s6_addr[12] >= 224;
    return IN6_IS_ADDR_MULTICAST(ip);
}

static void read_v6(const struct cmsghdr *c, struct udp_info *out)
{
    struct in6_pktinfo info;
    int class;

    if (c->cmsg_type == IPV6_TCLASS) {
        memcpy(&class, CMSG_DATA(c), sizeof(class));
        out->ecn = class & ECN_BITS;
    } else if (c->cmsg_type == IPV6_PKTINFO) {
        memcpy(&info, CMSG_DATA(c), sizeof(info));
        if (is_multicast(&info.ipi6_addr))
            return;
        memcpy(out->local.ip, &info.ipi6_addr, sizeof(out->local.ip));
        if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
            out->local.zone = info.ipi6_ifindex;
    }
}

static void read_one(const struct cmsghdr *c, struct udp_info *out)
{
    int segment;

    if (c->cmsg_level == IPPROTO_IP) {
        read_v4(c, out);
    } else if (c->cmsg_level == IPPROTO_IPV6) {
        read_v6(c, out);
    } else if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
        memcpy(&segment, CMSG_DATA(c), sizeof(segment));
        out->segment = segment > 0 ? (size_t)segment : 0;
    } else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
        memcpy(&out->at, CMSG_DATA(c), sizeof(out->at));
    } else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
        memcpy(&out->overflow, CMSG_DATA(c), sizeof(out->overflow));
    }
}

static void udp_msg_read(const struct msghdr *msg, struct udp_info *out)
{
    struct msghdr *m = (struct msghdr *)(uintptr_t)msg;

    *out = (struct udp_info){ 0 };
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
        read_one(c, out);
}

static void put(struct msghdr *msg, int level, int type, const void *data, size_t size)
{
    struct cmsghdr *c =
        (struct cmsghdr *)(void *)((uint8_t *)msg->msg_control + msg->msg_controllen);

    *c = (struct cmsghdr){ .cmsg_level = level, .cmsg_type = type, .cmsg_len = CMSG_LEN(size) };
    memcpy(CMSG_DATA(c), data, size);
    msg->msg_controllen += CMSG_SPACE(size);
}

static void put_local(struct msghdr *msg, const struct udp_addr *local, bool v4)
{
    struct in_pktinfo four = { 0 };
    struct in6_pktinfo six = { .ipi6_ifindex = local->zone };

    if (v4) {
        memcpy(&four.ipi_spec_dst, local->ip + 12, sizeof(four.ipi_spec_dst));
        put(msg, IPPROTO_IP, IP_PKTINFO, &four, sizeof(four));
    } else {
        memcpy(&six.ipi6_addr, local->ip, sizeof(local->ip));
        put(msg, IPPROTO_IPV6, IPV6_PKTINFO, &six, sizeof(six));
    }
}

/* Fills in msg->msg_control, which has UDP_CONTROL bytes, and its length; without control messages
 * both are zero. segment 0: none. */
static void udp_msg_write(struct msghdr *msg, const struct udp_out *v, size_t segment)
{
    bool v4 = udp_addr_is_v4(&v->path->peer);
    uint16_t each = (uint16_t)segment;
    int class = (int)v->ecn;

    msg->msg_controllen = 0;
    if (!udp_addr_is_any(&v->path->local) && udp_addr_is_v4(&v->path->local) == v4)
        put_local(msg, &v->path->local, v4);
    if (class)
        put(msg, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_TOS : IPV6_TCLASS, &class, sizeof(class));
    if (segment)
        put(msg, SOL_UDP, UDP_SEGMENT, &each, sizeof(each));
    if (msg->msg_controllen == 0)
        msg->msg_control = NULL;
}

enum {
    SLOTS = 64,            /* read by one call, if they are small */
    MERGED_SLOTS = 16,     /* if the kernel merges datagrams */
    MERGED = 64,           /* datagrams in a merged one; UDP_GRO_CNT_MAX */
    BYTES = 1024 * 1024,   /* for all slots */
    MOST_IN = MERGED_SLOTS * MERGED,
    MSGS = 64, PIECES = 1024, /* sent by one call */
    /* datagrams in a segmented one; UDP_MAX_SEGMENTS of older kernels */
    CUT = 64, CUT_BYTES = 65000,
    USUAL = 2048,
};

_Static_assert((int)UDP_PIECES <= (int)PIECES, "a datagram fits");

/* One message for the kernel. */
struct piece {
    const struct udp_out *v;
    size_t row, at, size; /* index in v, offset, bytes */
    size_t segment;       /* 0: one datagram */
    bool last;            /* the last one of its entry */
};

struct room {
    struct mmsghdr in_msgs[SLOTS];
    struct iovec in_iov[SLOTS];
    struct sockaddr_in6 in_names[SLOTS];
    _Alignas(struct cmsghdr) uint8_t in_control[SLOTS][UDP_CONTROL];
    struct udp_in in[MOST_IN];
    uint8_t *bytes;

    struct mmsghdr out_msgs[MSGS];
    struct piece out_pieces[MSGS];
    struct iovec out_iov[PIECES];
    struct sockaddr_in6 out_names[MSGS];
    _Alignas(struct cmsghdr) uint8_t out_control[MSGS][UDP_CONTROL];
};

struct udp_sock {
    struct udp udp;
    struct sock sock;
    size_t most;         /* maximum bytes of a datagram */
    size_t slot;         /* size of a slot for reading */
    unsigned slots;
    bool v6, cuts, merges;
    uint32_t overflow;   /* the kernel's last count */
};

static _Thread_local struct room *room;
static _Thread_local unsigned users;

static struct udp_sock *sock_of(struct udp *u)
{
    return (struct udp_sock *)u;
}

/* ---- reading */

static void prepare(const struct udp_sock *s)
{
    for (unsigned i = 0; i < s->slots; i++) {
        room->in_iov[i] = (struct iovec){ room->bytes + i * s->slot, s->slot };
        room->in_msgs[i].msg_hdr = (struct msghdr){
            .msg_name = &room->in_names[i], .msg_namelen = sizeof(room->in_names[i]),
            .msg_iov = &room->in_iov[i],    .msg_iovlen = 1,
            .msg_control = room->in_control[i], .msg_controllen = UDP_CONTROL,
        };
    }
}

/* Converts a wall clock time to our clock; a time that is not within the last ten seconds is
 * ignored. */
static co_usec arrival_time(const struct timespec *at, co_usec now, int64_t wall_us)
{
    int64_t age = wall_us - timespec_us(at);

    return age > 0 && age < CO_SECONDS(10) ? now - age : now;
}

static int64_t wall_now(void)
{
    return clock_us(CLOCK_REALTIME);
}

static size_t split(struct udp_sock *s, struct udp_in *v, size_t n, const uint8_t *data,
                    size_t size, size_t segment)
{
    struct udp_in first = v[n];
    size_t at = 0;

    do {
        size_t left = size - at, each = segment && left > segment ? segment : left;

        if (each <= s->most && n < MOST_IN) {
            v[n] = first;
            v[n].data = data + at;
            v[n++].size = each;
        } else {
            s->udp.stat.truncated++;
        }
        at += each;
    } while (at < size);
    return n;
}

static size_t take(struct udp_sock *s, const struct mmsghdr *m, size_t n, co_usec now, int64_t wall)
{
    const struct msghdr *h = &m->msg_hdr;
    struct udp_in *v = &room->in[n];
    struct udp_info info;

    udp_msg_read(h, &info);
    if (info.overflow) {
        s->udp.stat.overflow += info.overflow - s->overflow;
        s->overflow = info.overflow;
    }
    if ((h->msg_flags & MSG_TRUNC) || n == MOST_IN) {
        s->udp.stat.truncated++;
        return n;
    }
    *v = (struct udp_in){ .at = arrival_time(&info.at, now, wall), .ecn = info.ecn };
    udp_addr_from(&v->path.peer, h->msg_name);
    v->path.local = info.local;
    v->path.local.port = s->udp.at.port;
    return split(s, room->in, n, h->msg_iov->iov_base, m->msg_len, info.segment);
}

/* Errors from ICMP answers to what we sent: the next call may succeed. */
static bool is_passing(int e)
{
    return e == EINTR || e == ECONNREFUSED || e == EHOSTUNREACH || e == ENETUNREACH ||
           e == ENETDOWN || e == EHOSTDOWN || e == ENOMEM || e == ENOBUFS || e == EPROTO ||
           e == EMSGSIZE || e == ENOPROTOOPT || e == EACCES || e == EPERM;
}

static err_t read_failed(struct udp_sock *s)
{
    if (errno == EAGAIN) {
        st_netfd_unready(s->sock.st, POLLIN);
        return NULL;
    }
    if (!is_passing(errno))
        return err_sys(ERR_IO_SYSTEM, "read datagrams");
    s->udp.stat.errors++;
    st_netfd_unready(s->sock.st, POLLERR);
    return NULL;
}

static err_t sock_recv_now(struct udp *u, const struct udp_in **v, size_t *n)
{
    struct udp_sock *s = sock_of(u);
    co_usec now;
    int64_t wall;
    int got;

    *n = 0;
    *v = room->in;
    if (!sock_ready(&s->sock, POLLIN))
        return NULL;
    prepare(s);
    got = io_sys_recvmmsg(s->sock.fd, room->in_msgs, s->slots, MSG_DONTWAIT);
    if (got <= 0)
        return read_failed(s);
    if ((unsigned)got < s->slots)
        st_netfd_unready(s->sock.st, POLLIN);
    now = co_clock();
    wall = wall_now();
    for (int i = 0; i < got; i++)
        *n = take(s, &room->in_msgs[i], *n, now, wall);
    for (size_t i = 0; i < *n; i++)
        u->stat.in_bytes += room->in[i].size;
    u->stat.in += *n;
    u->stat.in_calls++;
    return NULL;
}

/* ---- sending */

static size_t size_of(const struct udp_out *v)
{
    return iov_size(v->iov, v->count);
}

/* Returns the piece that starts here: as many datagrams as one message can hold. */
static struct piece piece_at(const struct udp_sock *s, const struct udp_out *v, size_t row,
                             size_t at, size_t total)
{
    size_t each = v->segment ? v->segment : total;
    size_t most = s->cuts && each > 0 ? CUT_BYTES / each : 1;
    struct piece p = { .v = v, .row = row, .at = at };

    if (most > CUT)
        most = CUT;
    if (most < 1)
        most = 1;
    p.size = total - at < each * most ? total - at : each * most;
    if (p.size > each)
        p.segment = each;
    p.last = at + p.size >= total;
    return p;
}

/* Collects the bytes of a piece as ranges; returns their number, 0 if there are more than
 * `most`. */
static size_t collect(const struct piece *p, struct iovec *iov, size_t most)
{
    size_t skip = p->at, left = p->size, n = 0;

    for (int i = 0; i < p->v->count && left > 0; i++) {
        const struct iovec *from = &p->v->iov[i];
        size_t off = skip < from->iov_len ? skip : from->iov_len, size = from->iov_len - off;

        skip -= off;
        if (size == 0)
            continue;
        if (n == most)
            return 0;
        if (size > left)
            size = left;
        iov[n++] = (struct iovec){ (uint8_t *)from->iov_base + off, size };
        left -= size;
    }
    return n;
}

static void fill(const struct udp_sock *s, unsigned i, const struct piece *p, struct iovec *iov,
                 size_t pieces)
{
    struct msghdr *h = &room->out_msgs[i].msg_hdr;

    *h = (struct msghdr){ .msg_name = &room->out_names[i], .msg_iov = iov, .msg_iovlen = pieces,
                          .msg_control = room->out_control[i] };
    h->msg_namelen = udp_addr_to(&p->v->path->peer, s->v6, &room->out_names[i]);
    udp_msg_write(h, p->v, p->segment);
    room->out_pieces[i] = *p;
}

static void count_out(struct udp_sock *s, const struct piece *p)
{
    s->udp.stat.out += p->segment ? (p->size + p->segment - 1) / p->segment : 1;
    s->udp.stat.out_bytes += p->size;
}

/* Sends the datagrams of a message one by one, for a device or path that does not support
 * segmentation: slow and rare; if it is the device, segmentation is switched off for good. */
static void send_singly(struct udp_sock *s, unsigned i)
{
    struct piece whole = room->out_pieces[i];
    struct msghdr *h = &room->out_msgs[i].msg_hdr;
    struct iovec iov[UDP_PIECES];

    h->msg_iov = iov;
    h->msg_control = room->out_control[i];
    udp_msg_write(h, whole.v, 0);
    for (size_t at = 0; at < whole.size; at += whole.segment) {
        struct piece p = { .v = whole.v, .at = whole.at + at };

        p.size = whole.size - at < whole.segment ? whole.size - at : whole.segment;
        h->msg_iovlen = collect(&p, iov, UDP_PIECES);
        if (h->msg_iovlen > 0 && io_sys_sendmsg(s->sock.fd, h, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
            count_out(s, &p);
        else if (errno == EAGAIN || errno == ENOBUFS)
            s->udp.stat.drops++;
        else
            s->udp.stat.errors++;
    }
}

/* Marks the socket full: a waiter is also woken when there is space again. */
static void becomes_full(struct udp_sock *s)
{
    s->udp.full = true;
    st_netfd_unready(s->sock.st, POLLOUT);
    if (s->sock.waiter)
        s->sock.wanted |= POLLOUT;
}

/* Handles a refused message. Returns false if no other can be sent now either. */
static bool refused(struct udp_sock *s, unsigned i)
{
    if (errno == EAGAIN || errno == ENOBUFS) {
        becomes_full(s);
        return false;
    }
    if (room->out_pieces[i].segment) {
        s->cuts &= errno != EIO; /* the device does not compute checksums */
        send_singly(s, i);
    } else {
        s->udp.stat.errors++;
    }
    return true;
}

/* Sends n messages; returns how many were sent. */
static unsigned send_msgs(struct udp_sock *s, unsigned n)
{
    unsigned from = 0;

    while (from < n) {
        int put = io_sys_sendmmsg(s->sock.fd, room->out_msgs + from, n - from,
                                  MSG_DONTWAIT | MSG_NOSIGNAL);

        s->udp.stat.out_calls++;
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && !refused(s, from))
            return from;
        for (int i = 0; i < put; i++)
            count_out(s, &room->out_pieces[from + (unsigned)i]);
        from += put < 0 ? 1 : (unsigned)put;
    }
    return n;
}

/* Returns the number of finished entries. A partly sent entry counts as sent: the rest is
 * dropped. */
static size_t rows_done(struct udp_sock *s, unsigned n, unsigned went, size_t rows)
{
    const struct piece *p = &room->out_pieces[went];

    if (went == n)
        return rows;
    if (p->at == 0)
        return p->row;
    s->udp.stat.drops += (size_of(p->v) - p->at + p->v->segment - 1) / p->v->segment;
    return p->row + 1;
}

struct fill_state {
    size_t row, at; /* position of the next piece */
    unsigned n;
    size_t iov;
};

/* Fills in as many messages as fit. */
static void fill_all(const struct udp_sock *s, const struct udp_out *v, size_t rows,
                     struct fill_state *f)
{
    f->n = 0;
    f->iov = 0;
    while (f->row < rows && f->n < MSGS) {
        size_t total = size_of(&v[f->row]), pieces;
        struct piece p = piece_at(s, &v[f->row], f->row, f->at, total);
        struct iovec *iov = &room->out_iov[f->iov];

        pieces = collect(&p, iov, PIECES - f->iov);
        if (pieces == 0 && p.size > 0 && f->n > 0)
            return;
        if (pieces == 0 && p.segment) { /* it consists of many small pieces */
            p.size = p.segment;
            p.segment = 0;
            p.last = f->at + p.size >= total;
            pieces = collect(&p, iov, PIECES - f->iov);
        }
        assert(pieces > 0 || p.size == 0);
        fill(s, f->n++, &p, iov, pieces);
        f->iov += pieces;
        f->at = p.last ? 0 : f->at + p.size;
        f->row += p.last;
    }
}

static size_t sock_send(struct udp *u, const struct udp_out *v, size_t n)
{
    struct udp_sock *s = sock_of(u);
    struct fill_state f = { 0 };

    while (f.row < n) {
        unsigned went;

        fill_all(s, v, n, &f);
        went = send_msgs(s, f.n);
        if (went < f.n)
            return rows_done(s, f.n, went, n);
    }
    return n;
}

/* ---- life */

static enum co_wake sock_wait_in(struct udp *u, co_usec timeout)
{
    struct sock *s = &sock_of(u)->sock;
    enum co_wake wake = sock_wait(s, u->full ? POLLIN | POLLOUT : POLLIN, timeout);

    u->full &= !sock_ready(s, POLLOUT);
    return wake;
}

static void sock_wake(struct udp *u)
{
    struct co *waiter = sock_of(u)->sock.waiter;

    if (waiter) /* otherwise it asks for output before it waits */
        co_unpark(waiter);
}

static co_usec sock_now(const struct udp *u)
{
    (void)u;
    return co_clock();
}

static void room_begin(void)
{
    if (users++ > 0)
        return;
    room = must(malloc(sizeof(*room)));
    room->bytes = must(malloc(BYTES));
}

static void room_end(void)
{
    if (--users > 0)
        return;
    free(room->bytes);
    free(room);
    room = NULL;
}

static void sock_end(struct udp *u)
{
    sock_close(&sock_of(u)->sock);
    room_end();
    free(u);
}

static const struct udp_ops ops = { "socket",  sock_recv_now, sock_send, sock_wait_in,
                                    sock_wake, sock_now,      sock_end };

static bool set(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

/* Enables control messages. Those that the kernel does not support are missing. */
static void enable_info(int fd, bool v6)
{
    (void)set(fd, IPPROTO_IP, IP_RECVTOS, 1);
    (void)set(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
    (void)set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
    if (v6) {
        (void)set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
        (void)set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
    } else {
        (void)set(fd, IPPROTO_IP, IP_PKTINFO, 1);
    }
}

/* Sets the buffer sizes, beyond the system's limits if we are privileged. */
static void size_buffers(int fd, const struct udp_opts *opts)
{
    if (opts->rcvbuf && !set(fd, SOL_SOCKET, SO_RCVBUFFORCE, opts->rcvbuf))
        (void)set(fd, SOL_SOCKET, SO_RCVBUF, opts->rcvbuf);
    if (opts->sndbuf && !set(fd, SOL_SOCKET, SO_SNDBUFFORCE, opts->sndbuf))
        (void)set(fd, SOL_SOCKET, SO_SNDBUF, opts->sndbuf);
}

static void set_up(struct udp_sock *s, int fd, const struct udp_opts *opts)
{
    s->most = opts->most ? opts->most : USUAL;
    s->slot = s->most < UDP_MOST ? s->most : UDP_MOST;
    s->cuts = !opts->plain && set(fd, SOL_UDP, UDP_SEGMENT, 0);
    s->merges = !opts->plain && set(fd, SOL_UDP, UDP_GRO, 1);
    if (s->merges)
        s->slot = BYTES / MERGED_SLOTS;
    s->slots = s->merges ? MERGED_SLOTS : SLOTS;
    if (s->slots > BYTES / s->slot)
        s->slots = (unsigned)(BYTES / s->slot);
    if (opts->multicast_ttl) {
        (void)set(fd, IPPROTO_IP, IP_MULTICAST_TTL, opts->multicast_ttl);
        (void)set(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 1);
    }
    enable_info(fd, s->v6);
    size_buffers(fd, opts);
}

/* V4_TOO: an IPv6 socket that also handles IPv4. */
enum family { V4, V6, V4_TOO };

static err_t bind_it(int fd, const struct udp_addr *at, enum family family, bool shares)
{
    struct sockaddr_in6 addr;
    socklen_t size = udp_addr_to(at, family != V4, &addr);
    char text[UDP_TEXT];

    if (family != V4)
        (void)set(fd, IPPROTO_IPV6, IPV6_V6ONLY, family == V6);
    if (shares && !set(fd, SOL_SOCKET, SO_REUSEPORT, 1))
        return err_sys(ERR_SOCKET_BIND, "SO_REUSEPORT");
    if (bind(fd, (struct sockaddr *)&addr, size) < 0)
        return err_sys(ERR_SOCKET_BIND, "bind UDP %s", udp_addr_text(at, text, sizeof(text)));
    return NULL;
}

static err_t bind_at(int *fd, const struct udp_addr *at, enum family family, bool shares)
{
    int one = socket(family == V4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                     0);
    err_t err;

    if (one < 0)
        return err_sys(ERR_SOCKET_CREATE, "socket for UDP");
    err = bind_it(one, at, family, shares);
    if (err)
        (void)close(one);
    else
        *fd = one;
    return err;
}

err_t udp_bind(int *fd, const char *ip, int port, bool shares)
{
    bool any = !ip || !*ip;
    struct udp_addr at;
    err_t err = udp_addr_parse(&at, ip, port);

    if (!err)
        err = bind_at(fd, &at, any ? V4_TOO : udp_addr_is_v4(&at) ? V4 : V6, shares);
    if (any && (err_code(err) == ERR_SOCKET_CREATE || (err && errno == EADDRNOTAVAIL))) {
        err_free(&err); /* a machine without IPv6 */
        err = udp_addr_parse(&at, "0.0.0.0", port);
        if (!err)
            err = bind_at(fd, &at, V4, shares);
    }
    return err;
}

err_t udp_adopt(struct udp **out, int fd, const struct udp_opts *opts)
{
    struct udp_sock *s = must(calloc(1, sizeof(*s)));
    struct sockaddr_in6 addr;
    socklen_t size = sizeof(addr);
    err_t err = getsockname(fd, (struct sockaddr *)&addr, &size) < 0
                    ? err_sys(ERR_SOCKET_BIND, "where a socket is bound") : NULL;

    s->udp.ops = &ops;
    if (!err) {
        udp_addr_from(&s->udp.at, &addr);
        s->v6 = addr.sin6_family == AF_INET6;
        set_up(s, fd, opts);
        err = sock_open(&s->sock, fd);
    }
    if (err) {
        free(s);
        return err;
    }
    room_begin();
    *out = &s->udp;
    return NULL;
}

err_t udp_open(struct udp **out, const char *ip, int port, const struct udp_opts *opts)
{
    int fd;
    err_t err = udp_bind(&fd, ip, port, opts->reuseport);

    if (err)
        return err;
    err = udp_adopt(out, fd, opts);
    if (err)
        (void)close(fd);
    return err;
}

static err_t open_both(struct udp *out[2], const char *ip, int port, const struct udp_opts *opts)
{
    err_t err = udp_open(&out[0], ip, port, opts);

    if (err)
        return err;
    err = udp_open(&out[1], ip, port + 1, opts);
    if (err)
        udp_close(out[0]);
    return err;
}

err_t udp_open_pair(struct udp *out[2], const char *ip, int low, int high,
                    const struct udp_opts *opts)
{
    int first = low + low % 2, pairs = (high + 1 - first) / 2;
    int start = pairs > 0 ? (int)(co_clock() % pairs) : 0; /* vary the first pair */

    for (int i = 0; i < pairs; i++) {
        err_t err = open_both(out, ip, first + 2 * ((start + i) % pairs), opts);

        if (err_code(err) != ERR_SOCKET_BIND)
            return err;
        err_free(&err);
    }
    return err_new(ERR_SOCKET_BIND, "no two free ports for UDP in %d to %d", low, high);
}
