/* SPDX-License-Identifier: MIT */
/* srt_hub.c - all clients of sb_srt_load over one socket. */
#include "tools/load/srt_hub.h"

#include "base/must.h"

#include <string.h>

enum {
    BUFFERS = 64 << 20, MSS = 1500, WINDOW = 8192,
};
#define TURN CO_MS(2) /* between two looks at all clients */
#define IDLE CO_SECONDS(10)

static struct hub {
    struct load_hub_set set;
    struct load_socket socket;
    struct co_group group;
    struct load_slots peers;
    struct load_srt_source sources[LOAD_HUB_SOURCES];
    struct load_peer *heard;                 /* since the last turn */
    struct srt_burst burst;
} hub;

/* ------------------------------------------------------------ out */

static uint8_t *room(void)
{
    return load_socket_room(&hub.socket);
}

/* What room() was filled with. */
static void say(const struct load_peer *p, size_t size, co_usec now)
{
    load_socket_say(&hub.socket, &p->path, room(), size, now);
}

static void say_burst(const struct load_peer *p, co_usec now)
{
    const struct srt_burst *b = &hub.burst;
    const struct udp_out out = { b->iov, b->pieces, b->packets > 1 ? b->segment : 0, &p->path,
                                 UDP_NOT_ECT };

    p->c->bytes += b->bytes;
    p->c->run->stat.bytes_out += b->bytes;
    if (!hub.socket.bad) {
        load_socket_flush(); /* what was said before it comes before it */
        (void)udp_send(hub.socket.udp, &out, 1);
        return;
    }
    for (unsigned i = 0; i < b->packets; i++)
        load_link_put(&hub.socket.link, LOAD_LINK_OUT, &p->path, &b->iov[2 * i], 2, now);
}

/* ------------------------------------------------------------ clients */

static void play(struct load_peer *p, co_usec now)
{
    struct load_client *c = p->c;
    struct srt_message m;

    while (srt_conn_next(&p->conn, &m, now)) {
        c->bytes += m.size;
        c->read_at = now;
        c->run->stat.bytes_in += m.size;
        load_poll(&p->look, c, &m);
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
    load_wake(p->waiter);
}

static void call(struct load_peer *p, co_usec now)
{
    size_t n = srt_call_output(&p->call, room(), now);

    if (n > 0)
        say(p, n, now);
    if (p->call.state >= SRT_CALL_REFUSED)
        load_wake(p->waiter);
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
        load_wake(p->waiter);
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
    for (unsigned i = 0; i < hub.peers.top; i++) {
        struct load_peer *p = hub.peers.at[i];

        if (p && !p->failed && is_due(p, now))
            turn(p, now);
    }
}

/* ------------------------------------------------------------ in */

static void hear(void *arg, const uint8_t *data, size_t size, const struct udp_path *path,
                 co_usec now)
{
    struct load_peer *p;
    struct srt_packet packet;

    (void)arg;
    (void)path;
    if (!srt_packet_read(&packet, data, size))
        return;
    p = hub.peers.at[packet.to % LOAD_SLOTS];
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

static void turn_hub(co_usec now, bool due)
{
    while (hub.heard) {
        struct load_peer *p = hub.heard;

        hub.heard = p->next_heard;
        p->heard = false;
        if (!p->failed)
            turn(p, now);
    }
    if (due)
        turn_all(now);
}

/* ------------------------------------------------------------ for the clients */

err_t load_hub_init(const struct load_hub_set *set)
{
    bool marker = !set->opts->no_marker;
    char bind_ip[64] = "";
    err_t err = NULL;

    hub.set = *set;
    if (set->opts->bind && !strchr(set->opts->bind, '-'))
        err = load_opts_bind(set->opts, 0, bind_ip, sizeof(bind_ip));
    for (int i = 0; set->file && i < LOAD_HUB_SOURCES; i++)
        load_srt_source_init(&hub.sources[i], set->file, (size_t)set->opts->payload, marker);
    hub.socket = (struct load_socket){ .heard = hear, .turn = turn_hub, .every = TURN };
    if (!err)
        err = load_socket_open(&hub.socket, bind_ip, BUFFERS, set->opts);
    co_group_init(&hub.group);
    return err ? err : co_go(&hub.group, "socket", load_socket_run, &hub.socket);
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
    if (!err && !(set.id = load_slots_take(&hub.peers, p)))
        err = err_new(ERR_TOO_MANY, "over %d clients", LOAD_SLOTS - 1);
    if (!err)
        srt_call_begin(&p->call, &set, co_clock());
    return err;
}

err_t load_hub_join(struct load_peer **out, struct load_client *c, const struct srt_url *url,
                    const char *bind_ip)
{
    struct load_peer *p = must(calloc(1, sizeof(*p)));
    err_t err;

    p->c = c;
    if (hub.set.file)
        p->source = &hub.sources[c->index % LOAD_HUB_SOURCES];
    err = begin(p, url, bind_ip);
    if (!err) {
        call(p, co_clock());
        load_socket_flush();
        while (!err && !p->open && !p->failed && p->call.state < SRT_CALL_DONE)
            err = load_wait(&p->waiter, CO_FOREVER);
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
    s->repeated += now.retransmitted - p->in.retransmitted;
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
    s->repeated += now->retransmitted - p->out.retransmitted;
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
    p->c->run->stat.srt.overflow = hub.socket.udp->stat.overflow + hub.socket.udp->stat.drops;
}

err_t load_hub_stay(struct load_peer *p, co_usec time)
{
    err_t err = NULL;

    if (p->conn.end == SRT_OPEN)
        err = load_wait(&p->waiter, time);
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
    unsigned at = p->call.set.id % LOAD_SLOTS;
    co_usec now = co_clock();
    size_t n;

    if (p->open) {
        if (p->conn.end == SRT_OPEN)
            srt_conn_close(&p->conn);
        while ((n = srt_conn_control(&p->conn, room(), now)) > 0)
            say(p, n, now);
        srt_conn_fini(&p->conn);
    }
    load_socket_flush();
    forget_heard(p);
    if (hub.peers.at[at] == p)
        hub.peers.at[at] = NULL;
    free(p);
}
