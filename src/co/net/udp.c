/* SPDX-License-Identifier: MIT */
/* udp.c - datagrams: addresses, and the loop of a protocol over them. */
#include "co/net/udp.h"

#include "base/iov.h"
#include "co/sock.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OUT = 32 }; /* maximum output entries per call of a protocol */

static const uint8_t v4_prefix[12] = { [10] = 0xff, [11] = 0xff };

/* ---- addresses */

bool udp_addr_same(const struct udp_addr *a, const struct udp_addr *b)
{
    return a->port == b->port && memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

uint64_t udp_addr_hash(const struct udp_addr *a, const uint8_t key[SIPHASH_KEY])
{
    uint8_t text[sizeof(a->ip) + sizeof(a->port)];

    memcpy(text, a->ip, sizeof(a->ip));
    memcpy(text + sizeof(a->ip), &a->port, sizeof(a->port));
    return siphash(key, text, sizeof(text));
}

bool udp_addr_is_any(const struct udp_addr *a)
{
    static const uint8_t zeros[16];
    size_t known = udp_addr_is_v4(a) ? sizeof(v4_prefix) : 0; /* 0.0.0.0 counts as any, too */

    return memcmp(a->ip + known, zeros, sizeof(a->ip) - known) == 0;
}

bool udp_addr_is_v4(const struct udp_addr *a)
{
    return memcmp(a->ip, v4_prefix, sizeof(v4_prefix)) == 0;
}

void udp_addr_from(struct udp_addr *out, const struct sockaddr_in6 *addr)
{
    struct sockaddr_storage any = { 0 };
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)addr;

    memcpy(&any, addr, sizeof(*addr));
    *out = (struct udp_addr){ 0 };
    sock_bytes(&any, out->ip);
    out->port = ntohs(addr->sin6_family == AF_INET ? v4->sin_port : addr->sin6_port);
    if (addr->sin6_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&addr->sin6_addr))
        out->zone = addr->sin6_scope_id;
}

socklen_t udp_addr_to(const struct udp_addr *a, bool v6, struct sockaddr_in6 *out)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)out;

    memset(out, 0, sizeof(*out));
    if (v6) {
        out->sin6_family = AF_INET6;
        out->sin6_port = htons(a->port);
        out->sin6_scope_id = a->zone;
        memcpy(&out->sin6_addr, a->ip, sizeof(a->ip));
        return sizeof(*out);
    }
    if (!udp_addr_is_v4(a))
        return 0;
    v4->sin_family = AF_INET;
    v4->sin_port = htons(a->port);
    memcpy(&v4->sin_addr, a->ip + 12, 4);
    return sizeof(*v4);
}

err_t udp_addr_parse(struct udp_addr *out, const char *ip, int port)
{
    struct sockaddr_storage addr;
    socklen_t size;
    err_t err = sock_addr(&addr, &size, ip && *ip ? ip : "::", port);

    if (!err)
        udp_addr_from(out, (const struct sockaddr_in6 *)(const void *)&addr);
    return err;
}

const char *udp_addr_text(const struct udp_addr *a, char *buf, size_t size)
{
    char ip[INET6_ADDRSTRLEN] = "", zone[16] = "";
    bool v4 = udp_addr_is_v4(a);

    (void)inet_ntop(v4 ? AF_INET : AF_INET6, a->ip + (v4 ? 12 : 0), ip, sizeof(ip));
    if (a->zone)
        (void)snprintf(zone, sizeof(zone), "%%%u", a->zone);
    (void)snprintf(buf, size, v4 ? "%s%s:%u" : "[%s%s]:%u", ip, zone, a->port);
    return buf;
}

/* ---- protocols */

void udp_close(struct udp *u)
{
    if (u)
        u->ops->close(u);
}

static co_usec deadline_of(const struct udp_proto *p, void *me)
{
    return p->deadline ? p->deadline(me) : CO_FOREVER;
}

static void feed(const struct udp_proto *p, void *me, const struct udp_in *v, size_t n, co_usec now)
{
    co_usec due;

    if (n > 0)
        p->input(me, v, n, now);
    due = deadline_of(p, me);
    if (due != CO_FOREVER && due <= now)
        p->tick(me, now);
}

/* Returns the number of datagrams in these entries. */
static size_t datagrams(const struct udp_out *v, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        size_t size = iov_size(v[i].iov, v[i].count);

        sum += v[i].segment && size > 0 ? (size + v[i].segment - 1) / v[i].segment : 1;
    }
    return sum;
}

static size_t get_output(struct udp *u, const struct udp_proto *p, void *me, struct udp_out v[OUT])
{
    return p->output ? p->output(me, v, OUT, udp_now(u)) : 0;
}

/* Sends entries, and retries after a while when the buffer is full: the kernel does not report when
 * a datagram has left. */
static err_t send_patiently(struct udp *u, const struct udp_out *v, size_t n)
{
    co_usec until = co_clock() + UDP_PATIENCE;
    err_t err = NULL;

    for (size_t put = 0; !err; err = co_sleep(CO_MS(1))) {
        put += udp_send(u, v + put, n - put);
        if (put == n)
            break;
        if (co_clock() >= until) {
            u->stat.drops += datagrams(v + put, n - put);
            break;
        }
    }
    return err;
}

static err_t send_all(struct udp *u, const struct udp_proto *p, void *me)
{
    struct udp_out v[OUT];
    err_t err = NULL;
    size_t n;

    while (!err && (n = get_output(u, p, me, v)) > 0) {
        err = send_patiently(u, v, n);
        co_yield_if_due();
    }
    return err;
}

static err_t wait_turn(struct udp *u, co_usec due)
{
    co_usec left = due == CO_FOREVER ? CO_FOREVER : due - udp_now(u);

    if (due != CO_FOREVER && left <= 0)
        co_yield_if_due();
    else if (udp_wait(u, left) == CO_STOPPED)
        return err_new(ERR_STOPPED, "wait for datagrams");
    return co_check();
}

err_t udp_drive(struct udp *u, const struct udp_proto *p, void *me)
{
    err_t err = co_check();

    while (!err) {
        const struct udp_in *v = NULL;
        size_t n;

        err = udp_recv_now(u, &v, &n);
        if (err)
            return err;
        feed(p, me, v, n, udp_now(u));
        err = send_all(u, p, me);
        if (!err && n == 0)
            err = wait_turn(u, deadline_of(p, me));
        else if (!err)
            err = co_check();
        co_yield_if_due();
    }
    return err;
}

/* ---- sockets that share an address, each read by a separate thread: SO_REUSEPORT, with a program
 * that chooses the socket of each datagram. */

static err_t share(int fd)
{
    int on = 1;

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0)
        return err_sys(ERR_SOCKET_BIND, "SO_REUSEPORT");
    return NULL;
}

static int port_of(int fd)
{
    struct sockaddr_in6 addr; /* the port of IPv4 is at the same offset */
    socklen_t size = sizeof(addr);

    return getsockname(fd, (struct sockaddr *)&addr, &size) < 0 ? 0 : ntohs(addr.sin6_port);
}

/* Binds the first socket exclusively, which fails if the address is in use, and only then allows
 * more of our own. */
static err_t bind_all(int *fds, unsigned n, const char *ip, int port)
{
    err_t err = udp_bind(&fds[0], ip, port, false);

    if (!err)
        err = share(fds[0]);
    for (unsigned i = 1; i < n && !err; i++)
        err = udp_bind(&fds[i], ip, port ? port : port_of(fds[0]), true);
    return err;
}

static err_t close_all(int *fds, unsigned n, err_t err)
{
    for (unsigned i = 0; i < n && err; i++) {
        if (fds[i] >= 0)
            (void)close(fds[i]);
        fds[i] = -1;
    }
    return err;
}

err_t udp_bind_more(int *fds, unsigned n, const char *ip, int port)
{
    err_t err = NULL;

    for (unsigned i = 0; i < n; i++)
        fds[i] = -1;
    for (unsigned i = 0; i < n && !err; i++)
        err = udp_bind(&fds[i], ip, port, true);
    return close_all(fds, n, err);
}

err_t udp_bind_group(int *fds, unsigned n, const char *ip, int port,
                     const struct sock_fprog *choice, bool *chosen)
{
    err_t err;

    for (unsigned i = 0; i < n; i++)
        fds[i] = -1;
    err = close_all(fds, n, bind_all(fds, n, ip, port));
    *chosen = !err && n > 1 && choice &&
              setsockopt(fds[0], SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, choice,
                         sizeof(*choice)) == 0;
    return err;
}
