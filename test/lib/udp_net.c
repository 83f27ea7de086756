/* SPDX-License-Identifier: MIT */
/* udp_net.c - a network in memory. */
#include "udp_net.h"

#include "base/iov.h"
#include "base/must.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 };

/* In flight, or read and borrowed. */
struct packet {
    struct packet *next;
    co_usec due;
    struct udp_path path; /* as its receiver sees it */
    enum udp_ecn ecn;
    size_t size;
    uint8_t data[];
};

struct mem {
    struct udp udp;
    struct mem *next;
    struct udp_net *net;
    size_t most;
    const struct udp_proto *proto; /* NULL: the opener reads */
    void *me;
    bool woken;
    struct packet *taken; /* result of the last recv_now() */
    struct udp_in in[BATCH];
};

struct udp_net {
    struct udp_net_rules rules;
    uint64_t state;
    co_usec now;
    struct mem *sockets;
    struct packet *under_way; /* in order of due time, then of sending */
};

static const struct udp_ops mem_ops;

static struct mem *mem_of(struct udp *u)
{
    assert(u->ops == &mem_ops);
    return (struct mem *)u;
}

/* xorshift64*: reproducible, not secret. */
static uint64_t random_of(struct udp_net *net)
{
    net->state ^= net->state >> 12;
    net->state ^= net->state << 25;
    net->state ^= net->state >> 27;
    return net->state * 0x2545f4914f6cdd1d;
}

/* Each draws a number regardless of its share: another share changes nothing for the others. */
static bool is_one_of(struct udp_net *net, unsigned share)
{
    return (random_of(net) >> 32) % 1000 < share;
}

static struct mem *owner_of(const struct udp_net *net, const struct udp_addr *to)
{
    struct mem *any = NULL;

    for (struct mem *m = net->sockets; m; m = m->next) {
        if (udp_addr_same(&m->udp.at, to))
            return m;
        if (m->udp.at.port == to->port && udp_addr_is_any(&m->udp.at))
            any = m;
    }
    return any;
}

/* ---- sending */

static void enqueue(struct udp_net *net, struct packet *p)
{
    struct packet **at = &net->under_way;

    while (*at && (*at)->due <= p->due)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
}

static void post(struct udp_net *net, const struct packet *like)
{
    const struct udp_net_rules *r = &net->rules;
    struct packet *p = must(malloc(sizeof(*p) + like->size));
    uint64_t jitter = random_of(net) >> 16;

    memcpy(p, like, sizeof(*p) + like->size);
    p->due = net->now + r->delay;
    if (r->jitter > 0)
        p->due += (co_usec)(jitter % ((uint64_t)r->jitter + 1));
    if (is_one_of(net, r->hold))
        p->due += r->held;
    if (is_one_of(net, r->mark) && p->ecn != UDP_NOT_ECT)
        p->ecn = UDP_CE;
    enqueue(net, p);
}

static void send_one(struct mem *m, struct packet *p)
{
    struct udp_net *net = m->net;
    bool lost = is_one_of(net, net->rules.drop), again = is_one_of(net, net->rules.repeat);

    m->udp.stat.out++;
    m->udp.stat.out_bytes += p->size;
    if (lost || (net->rules.mtu && p->size > net->rules.mtu))
        return;
    post(net, p);
    if (again)
        post(net, p);
}

/* Bytes [at, at + size) of the pieces. */
static void copy_out(const struct udp_out *v, size_t at, size_t size, uint8_t *to)
{
    for (int i = 0; i < v->count && size > 0; i++) {
        size_t len = v->iov[i].iov_len, skip = at < len ? at : len, n = len - skip;

        at -= skip;
        if (n > size)
            n = size;
        if (n > 0)
            memcpy(to, (const uint8_t *)v->iov[i].iov_base + skip, n);
        to += n;
        size -= n;
    }
}

/* A socket without an address sends from the loopback address. */
static struct udp_addr leaves_from(const struct mem *m, const struct udp_out *v)
{
    struct udp_addr from = udp_addr_is_any(&m->udp.at) ? v->path->local : m->udp.at;

    if (udp_addr_is_any(&from))
        from = (struct udp_addr){ .ip = { [10] = 0xff, 0xff, 127, 0, 0, 1 } };
    from.port = m->udp.at.port;
    return from;
}

static void send_row(struct mem *m, const struct udp_out *v)
{
    size_t total = iov_size(v->iov, v->count), at = 0, each;

    each = v->segment ? v->segment : total;
    do {
        size_t size = total - at < each ? total - at : each;
        struct packet *p = must(malloc(sizeof(*p) + size));

        *p = (struct packet){ .ecn = v->ecn, .size = size };
        p->path = (struct udp_path){ .peer = leaves_from(m, v), .local = v->path->peer };
        copy_out(v, at, size, p->data);
        send_one(m, p);
        free(p);
        at += size;
    } while (at < total);
}

static size_t mem_send(struct udp *u, const struct udp_out *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        send_row(mem_of(u), &v[i]);
    u->stat.out_calls += n > 0;
    return n;
}

/* ---- receiving */

static void let_go(struct mem *m)
{
    while (m->taken) {
        struct packet *p = m->taken;

        m->taken = p->next;
        free(p);
    }
}

static void take(struct mem *m, struct packet *p, size_t *n)
{
    m->udp.stat.truncated += p->size > m->most;
    p->next = m->taken;
    m->taken = p;
    if (p->size > m->most)
        return;
    m->in[(*n)++] = (struct udp_in){ .data = p->data, .size = p->size, .path = p->path,
                                     .at = p->due, .ecn = p->ecn };
    m->udp.stat.in++;
    m->udp.stat.in_bytes += p->size;
}

static err_t mem_recv_now(struct udp *u, const struct udp_in **v, size_t *n)
{
    struct mem *m = mem_of(u);
    struct packet **at = &m->net->under_way;

    let_go(m);
    *v = m->in;
    *n = 0;
    while (*at && (*at)->due <= m->net->now && *n < BATCH) {
        struct packet *p = *at;
        struct mem *to = owner_of(m->net, &p->path.local);

        if (to && to != m) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        if (to)
            take(m, p, n);
        else
            free(p); /* there is no receiver */
    }
    u->stat.in_calls += *n > 0;
    return NULL;
}

/* ---- time */

/* When the next datagram arrives for m, or for any of them; CO_FOREVER: never. */
static co_usec next_for(const struct udp_net *net, const struct mem *m)
{
    for (const struct packet *p = net->under_way; p; p = p->next) {
        const struct mem *to = owner_of(net, &p->path.local);

        if (to && (!m || to == m))
            return p->due;
    }
    return CO_FOREVER;
}

static co_usec sooner(co_usec a, co_usec b)
{
    if (a == CO_FOREVER || b == CO_FOREVER)
        return a == CO_FOREVER ? b : a;
    return a < b ? a : b;
}

static enum co_wake mem_wait(struct udp *u, co_usec timeout)
{
    struct mem *m = mem_of(u);
    co_usec due = next_for(m->net, m);
    co_usec end = timeout == CO_FOREVER ? CO_FOREVER : m->net->now + timeout;
    bool woken = m->woken;

    m->woken = false;
    if (woken || (due != CO_FOREVER && due <= m->net->now))
        return CO_WOKEN;
    if (sooner(due, end) != CO_FOREVER)
        m->net->now = sooner(due, end);
    return due != CO_FOREVER && due <= m->net->now ? CO_WOKEN : CO_TIMEOUT;
}

static void mem_wake(struct udp *u)
{
    mem_of(u)->woken = true;
}

static co_usec mem_now(const struct udp *u)
{
    return ((const struct mem *)u)->net->now;
}

void udp_net_attach(struct udp *u, const struct udp_proto *p, void *me)
{
    mem_of(u)->proto = p;
    mem_of(u)->me = me;
}

static void feed(struct mem *m, const struct udp_in *v, size_t n)
{
    co_usec now = m->net->now, due;

    if (n > 0)
        m->proto->input(m->me, v, n, now);
    due = m->proto->deadline ? m->proto->deadline(m->me) : CO_FOREVER;
    if (due != CO_FOREVER && due <= now)
        m->proto->tick(m->me, now);
}

/* This socket receives everything. */
static void flush(struct mem *m)
{
    struct udp_out v[BATCH];
    size_t n;

    while (m->proto->output && (n = m->proto->output(m->me, v, BATCH, m->net->now)) > 0)
        (void)udp_send(&m->udp, v, n);
}

/* One turn of each driven protocol; each may cause work for the others. */
static bool turn(struct udp_net *net)
{
    bool any = false;

    for (struct mem *m = net->sockets; m; m = m->next) {
        const struct udp_in *v;
        size_t n;
        err_t err;

        if (!m->proto)
            continue;
        err = mem_recv_now(&m->udp, &v, &n);
        assert(!err);
        feed(m, v, n);
        flush(m);
        any |= n > 0;
    }
    return any;
}

static co_usec next_event(const struct udp_net *net)
{
    co_usec next = CO_FOREVER;

    for (const struct mem *m = net->sockets; m; m = m->next) {
        if (!m->proto)
            continue;
        next = sooner(next, next_for(net, m));
        if (m->proto->deadline)
            next = sooner(next, m->proto->deadline(m->me));
    }
    return next;
}

void udp_net_run(struct udp_net *net, co_usec time)
{
    co_usec end = net->now + time, next;

    do {
        while (turn(net))
            continue;
        next = sooner(end, next_event(net));
        if (next <= net->now) /* a deadline that stays in the past: the clock advances */
            next = net->now + 1;
        net->now = next < end ? next : end;
    } while (net->now < end);
    while (turn(net))
        continue;
}

/* ---- life cycle */

static void mem_close(struct udp *u)
{
    struct mem *m = mem_of(u), **at = &m->net->sockets;

    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    let_go(m);
    free(m);
}

static const struct udp_ops mem_ops = { "memory", mem_recv_now, mem_send, mem_wait,
                                        mem_wake, mem_now,      mem_close };

struct udp_net *udp_net_new(uint64_t seed, const struct udp_net_rules *rules)
{
    struct udp_net *net = must(calloc(1, sizeof(*net)));

    net->state = seed * 0x9e3779b97f4a7c15;
    net->state += net->state == 0; /* it would stay 0 */
    net->now = CO_SECONDS(1000); /* like a machine that has run for a while */
    net->rules = *rules;
    return net;
}

void udp_net_rule(struct udp_net *net, const struct udp_net_rules *rules)
{
    net->rules = *rules;
}

co_usec udp_net_now(const struct udp_net *net)
{
    return net->now;
}

void udp_net_free(struct udp_net *net)
{
    assert(!net->sockets);
    while (net->under_way) {
        struct packet *p = net->under_way;

        net->under_way = p->next;
        free(p);
    }
    free(net);
}

err_t udp_net_open(struct udp_net *net, struct udp **out, const char *ip, int port,
                   const struct udp_opts *opts)
{
    struct mem *m, **at = &net->sockets;
    struct udp_addr addr;
    err_t err = udp_addr_parse(&addr, ip, port);
    char text[UDP_TEXT];

    if (err)
        return err;
    for (; *at; at = &(*at)->next)
        if (udp_addr_same(&(*at)->udp.at, &addr))
            return err_new(ERR_SOCKET_BIND, "%s", udp_addr_text(&addr, text, sizeof(text)));
    m = must(calloc(1, sizeof(*m)));
    m->udp = (struct udp){ .ops = &mem_ops, .at = addr };
    m->net = net;
    m->most = opts->most ? opts->most : 2048;
    *at = m;
    *out = &m->udp;
    return NULL;
}
