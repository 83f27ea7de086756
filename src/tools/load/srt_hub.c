/* SPDX-License-Identifier: MIT */
/* srt_hub.c - all clients of sb_srt_load over one socket. */
#include "tools/load/srt_hub.h"

#include "base/must.h"

#include <string.h>

enum {
    BUFFERS = 64 << 20, BATCH = 64, ROUNDS = 16, SLOT_BITS = 16, ID_BITS = 30,
    MSS = 1500, WINDOW = 8192, ID_TRIES = 8,
};
#define TURN CO_MS(2) /* between two looks at all clients */
#define IDLE CO_SECONDS(10)

/* Control packets and what comes off the link, gathered for one system call. */
struct batch {
    struct udp_out out[BATCH];
    struct iovec iov[BATCH];
    struct load_link_item *items[BATCH];
    uint8_t bytes[BATCH][SRT_PACKET_MAX];
    size_t n;
};

static struct hub {
    struct load_hub_set set;
    struct udp *udp;
    struct co_group group;
    struct load_link link;
    bool bad_link, begun;
    struct load_peer *peers[LOAD_HUB_PEERS]; /* by the low bits of their ids */
    unsigned top, next;                      /* none from there on; where to look first */
    struct load_srt_source sources[LOAD_HUB_SOURCES];
    struct load_peer *heard;                 /* since the last turn */
    struct batch batch;
    struct srt_burst burst;
    co_usec turn_at;
} hub;

/* ------------------------------------------------------------ out */

static void flush(void)
{
    struct batch *b = &hub.batch;

    if (b->n > 0)
        (void)udp_send(hub.udp, b->out, b->n); /* what does not fit is lost, as in any network */
    for (size_t i = 0; i < b->n; i++) {
        free(b->items[i]);
        b->items[i] = NULL;
    }
    b->n = 0;
}

static void add(const struct udp_path *path, void *data, size_t size, struct load_link_item *item)
{
    struct batch *b = &hub.batch;

    b->iov[b->n] = (struct iovec){ data, size };
    b->items[b->n] = item;
    b->out[b->n] = (struct udp_out){ &b->iov[b->n], 1, 0, path, UDP_NOT_ECT };
    if (++b->n == BATCH)
        flush();
}

static uint8_t *room(void)
{
    return hub.batch.bytes[hub.batch.n];
}

/* What room() was filled with. */
static void say(const struct load_peer *p, size_t size, co_usec now)
{
    struct iovec iov = { room(), size };

    if (hub.bad_link)
        load_link_put(&hub.link, LOAD_LINK_OUT, &p->path, &iov, 1, now);
    else
        add(&p->path, room(), size, NULL);
}

static void say_burst(const struct load_peer *p, co_usec now)
{
    const struct srt_burst *b = &hub.burst;
    const struct udp_out out = { b->iov, b->pieces, b->packets > 1 ? b->segment : 0, &p->path,
                                 UDP_NOT_ECT };

    p->c->bytes += b->bytes;
    p->c->run->stat.bytes_out += b->bytes;
    if (!hub.bad_link) {
        flush(); /* what was said before it comes before it */
        (void)udp_send(hub.udp, &out, 1);
        return;
    }
    for (unsigned i = 0; i < b->packets; i++)
        load_link_put(&hub.link, LOAD_LINK_OUT, &p->path, &b->iov[2 * i], 2, now);
}

static void deliver_out(co_usec now)
{
    struct load_link_item *item;

    while ((item = load_link_take(&hub.link, LOAD_LINK_OUT, now)))
        add(&item->path, item->data, item->size, item);
}

/* ------------------------------------------------------------ clients */

static void wake(struct load_peer *p)
{
    if (p->waiter)
        co_unpark(p->waiter);
}

static void play(struct load_peer *p, co_usec now)
{
    struct load_client *c = p->c;
    struct srt_message m;

    while (srt_conn_next(&p->conn, &m, now)) {
        c->bytes += m.size;
        c->read_at = now;
        c->run->stat.bytes_in += m.size;
        load_look(&p->look, c, &m);
    }
}

static void open_conn(struct load_peer *p, co_usec now)
{
    struct srt_conn_opts o = {
        .agreed = p->call.agreed, .now = now, .peer_zero = p->call.peer_zero,
        .zero = p->call.began_at, .idle_timeout = IDLE, .tsbpd = true, .drop_late = true,
        .maxbw = 125000000,
    };

    if (hub.set.secret) {
        o.secret = must(malloc(sizeof(*o.secret)));
        *o.secret = *hub.set.secret;
    }
    if (p->source) {
        load_srt_source_run(p->source, now);
        o.log = &p->source->log;
        o.from = o.log->head;
        p->open = srt_conn_send_begin(&p->conn, &o);
    } else {
        p->open = srt_conn_receive_begin(&p->conn, &o);
    }
    p->failed = !p->open;
    p->c->asked = now;
    wake(p);
}

static void call(struct load_peer *p, co_usec now)
{
    size_t n = srt_call_output(&p->call, room(), now);

    if (n > 0)
        say(p, n, now);
    if (p->call.state >= SRT_CALL_REFUSED)
        wake(p);
}

/* Whatever it has to say or to show by now. */
static void turn(struct load_peer *p, co_usec now)
{
    size_t n;

    if (!p->open) {
        call(p, now);
        return;
    }
    if (!p->source)
        play(p, now);
    while ((n = srt_conn_control(&p->conn, room(), now)) > 0)
        say(p, n, now);
    while (p->source && srt_conn_burst(&p->conn, &hub.burst, now))
        say_burst(p, now);
    if (p->conn.end != SRT_OPEN)
        wake(p);
}

static bool is_due(const struct load_peer *p, co_usec now)
{
    co_usec due = p->open ? srt_conn_deadline(&p->conn) : srt_call_deadline(&p->call);

    return p->source || (due != CO_FOREVER && due <= now);
}

static void turn_all(co_usec now)
{
    for (int i = 0; i < LOAD_HUB_SOURCES; i++)
        if (hub.sources[i].from != 0)
            load_srt_source_run(&hub.sources[i], now);
    for (unsigned i = 0; i < hub.top; i++) {
        struct load_peer *p = hub.peers[i];

        if (p && !p->failed && is_due(p, now))
            turn(p, now);
    }
}

/* ------------------------------------------------------------ in */

static void hear(const uint8_t *data, size_t size, co_usec now)
{
    struct load_peer *p;
    struct srt_packet packet;

    if (!srt_packet_read(&packet, data, size))
        return;
    p = hub.peers[packet.to % LOAD_HUB_PEERS];
    if (!p || p->call.set.id != packet.to || p->failed)
        return;
    if (p->open) {
        srt_conn_input(&p->conn, &packet, now);
    } else {
        srt_call_input(&p->call, &packet, now);
        if (p->call.state == SRT_CALL_DONE)
            open_conn(p, now);
    }
    if (!p->heard) {
        p->heard = true;
        p->next_heard = hub.heard;
        hub.heard = p;
    }
}

static void turn_heard(co_usec now)
{
    while (hub.heard) {
        struct load_peer *p = hub.heard;

        hub.heard = p->next_heard;
        p->heard = false;
        if (!p->failed)
            turn(p, now);
    }
}

static void deliver_in(co_usec now)
{
    struct load_link_item *item;

    while ((item = load_link_take(&hub.link, LOAD_LINK_IN, now))) {
        hear(item->data, item->size, now);
        free(item);
    }
}

static err_t read_all(void)
{
    const struct udp_in *v;
    size_t n = 1;
    err_t err = NULL;

    for (int i = 0; !err && n > 0 && i < ROUNDS; i++) {
        co_usec now;

        err = udp_recv_now(hub.udp, &v, &n);
        now = co_clock();
        for (size_t k = 0; !err && k < n; k++) {
            struct iovec iov = { (void *)(uintptr_t)v[k].data, v[k].size };

            if (hub.bad_link)
                load_link_put(&hub.link, LOAD_LINK_IN, &v[k].path, &iov, 1, now);
            else
                hear(v[k].data, v[k].size, now);
        }
        turn_heard(now);
        flush();
    }
    return err;
}

static err_t run(void *arg)
{
    err_t err = NULL;

    (void)arg;
    hub.turn_at = co_clock();
    while (!err) {
        co_usec now = co_clock();

        if (now < hub.turn_at && udp_wait(hub.udp, hub.turn_at - now) == CO_STOPPED)
            return co_stop_why();
        err = read_all();
        now = co_clock();
        if (hub.bad_link) {
            deliver_in(now);
            turn_heard(now);
        }
        if (now >= hub.turn_at) {
            turn_all(now);
            hub.turn_at = now + TURN;
        }
        if (hub.bad_link)
            deliver_out(now);
        flush();
        if (!err)
            err = co_check();
        co_yield_if_due();
    }
    return err;
}

/* ------------------------------------------------------------ for the clients */

err_t load_hub_init(const struct load_hub_set *set)
{
    const struct udp_opts opts = { .rcvbuf = BUFFERS, .sndbuf = BUFFERS };
    bool marker = !set->opts->no_marker;
    char bind_ip[64] = "";
    err_t err = NULL;

    hub.set = *set;
    load_link_init(&hub.link, set->opts, co_clock());
    hub.bad_link = load_link_is_on(&hub.link);
    if (set->opts->bind && !strchr(set->opts->bind, '-'))
        err = load_opts_bind(set->opts, 0, bind_ip, sizeof(bind_ip));
    for (int i = 0; set->file && i < LOAD_HUB_SOURCES; i++)
        load_srt_source_init(&hub.sources[i], set->file, (size_t)set->opts->payload, marker);
    return err ? err : udp_open(&hub.udp, bind_ip, 0, &opts);
}

/* An id says where its client is, and is another one each time. */
static bool take_slot(struct load_peer *p, uint32_t *id)
{
    for (unsigned i = 0; i < LOAD_HUB_PEERS; i++) {
        unsigned at = (hub.next + i) % LOAD_HUB_PEERS;

        if (hub.peers[at] || at == 0)
            continue;
        hub.peers[at] = p;
        hub.next = at + 1;
        if (at >= hub.top)
            hub.top = at + 1;
        *id = ((uint32_t)rand() << SLOT_BITS & ((1u << ID_BITS) - 1)) | at;
        return true;
    }
    return false;
}

static err_t answer(const struct load_peer *p)
{
    struct load_stat *s = &p->c->run->stat;

    if (p->open)
        return NULL;
    if (p->call.state == SRT_CALL_REFUSED) {
        load_stat_refused(s, (int)p->call.refused);
        return err_new(ERR_SRT_CONNECT, "%u: %s", p->call.refused,
                       srt_refusal_text(p->call.refused));
    }
    if (p->failed)
        return err_new(ERR_NO_MEMORY, "a connection");
    return err_new(ERR_SRT_TIMEOUT, "nobody answered");
}

static err_t wait_for(struct load_peer *p, co_usec time)
{
    enum co_wake why;

    p->waiter = co_self();
    why = co_park(time);
    p->waiter = NULL;
    return why == CO_STOPPED ? co_stop_why() : NULL;
}

static err_t begin(struct load_peer *p, const struct srt_url *url, const char *bind_ip)
{
    const struct load_opts *o = hub.set.opts;
    co_usec latency = CO_MS(url->latency >= 0 ? url->latency : o->latency_ms);
    struct srt_call_opts set = {
        .streamid = url->streamid, .first_seq = ((uint32_t)rand() << 8 ^ (uint32_t)rand()) &
                                                SRT_SEQ_MASK,
        .mss = MSS, .window = WINDOW, .recv_latency = latency, .peer_latency = latency,
        .timeout = (co_usec)(o->timeout * 1e6), .secret = hub.set.secret,
    };
    err_t err = udp_addr_parse(&p->path.peer, p->c->run->ip, url->port);

    if (!err && *bind_ip && strchr(o->bind, '-'))
        err = udp_addr_parse(&p->path.local, bind_ip, 0);
    if (!err && !take_slot(p, &set.id))
        err = err_new(ERR_TOO_MANY, "over %d clients", LOAD_HUB_PEERS - 1);
    if (!err)
        srt_call_begin(&p->call, &set, co_clock());
    return err;
}

err_t load_hub_join(struct load_peer **out, struct load_client *c, const struct srt_url *url,
                    const char *bind_ip)
{
    struct load_peer *p = must(calloc(1, sizeof(*p)));
    err_t err = NULL;

    p->c = c;
    if (hub.set.file)
        p->source = &hub.sources[c->index % LOAD_HUB_SOURCES];
    if (!hub.begun) {
        hub.begun = true;
        co_group_init(&hub.group);
        err = co_go(&hub.group, "socket", run, NULL);
    }
    if (!err)
        err = begin(p, url, bind_ip);
    if (!err) {
        call(p, co_clock());
        flush();
        while (!err && !p->open && !p->failed && p->call.state < SRT_CALL_DONE)
            err = wait_for(p, CO_FOREVER);
    }
    if (!err)
        err = answer(p);
    *out = p;
    if (err) {
        load_hub_leave(p);
        *out = NULL;
    }
    return err;
}

/* ------------------------------------------------------------ figures */

static void count_in(struct load_peer *p)
{
    struct load_srt_stat *s = &p->c->run->stat.srt;
    struct srt_receiver_stat now;

    srt_receiver_stat(p->conn.receiver, &now);
    s->packets += now.received - p->in.received;
    s->lost += now.lost - p->in.lost;
    s->repeated += now.repeated - p->in.repeated;
    s->too_late += now.dropped - p->in.dropped;
    s->belated += now.belated - p->in.belated;
    s->doubled += now.doubled - p->in.doubled;
    s->undecrypted += now.undecrypted - p->in.undecrypted;
    p->in = now;
    load_hist_add(&s->rtt, now.rtt);
}

static void count_out(struct load_peer *p)
{
    struct load_srt_stat *s = &p->c->run->stat.srt;
    const struct srt_sender_stat *now = &p->conn.sender.stat;

    s->packets += now->sent - p->out.sent;
    s->lost += now->lost - p->out.lost;
    s->repeated += now->repeated - p->out.repeated;
    s->too_late += now->dropped - p->out.dropped;
    s->skips += now->skips - p->out.skips;
    p->c->run->stat.messages += now->sent - p->out.sent;
    p->out = *now;
    load_hist_add(&s->rtt, p->conn.sender.rtt);
}

static void count(struct load_peer *p)
{
    if (p->source)
        count_out(p);
    else
        count_in(p);
    p->c->run->stat.srt.overflow = hub.udp->stat.overflow + hub.udp->stat.drops;
}

err_t load_hub_stay(struct load_peer *p, co_usec time)
{
    err_t err = NULL;

    if (p->conn.end == SRT_OPEN)
        err = wait_for(p, time);
    count(p);
    if (err)
        return err;
    switch (p->conn.end) {
    case SRT_OPEN:           return NULL;
    case SRT_ENDED_SHUTDOWN: return err_new(ERR_IO_CLOSED, "shutdown");
    case SRT_ENDED_IDLE:     return err_new(ERR_SRT_TIMEOUT, "nothing came");
    default:                 return err_new(ERR_SRT, "it spoke of what cannot be");
    }
}

static void forget_heard(const struct load_peer *p)
{
    struct load_peer **at = &hub.heard;

    while (*at && *at != p)
        at = &(*at)->next_heard;
    if (*at)
        *at = p->next_heard;
}

void load_hub_leave(struct load_peer *p)
{
    unsigned at = p->call.set.id % LOAD_HUB_PEERS;
    co_usec now = co_clock();
    size_t n;

    if (p->open) {
        if (p->conn.end == SRT_OPEN)
            srt_conn_close(&p->conn);
        while ((n = srt_conn_control(&p->conn, room(), now)) > 0)
            say(p, n, now);
        srt_conn_fini(&p->conn);
    }
    flush(); /* it has our path */
    forget_heard(p);
    if (hub.peers[at] == p)
        hub.peers[at] = NULL;
    free(p);
}
