/* SPDX-License-Identifier: MIT */
/* srt_link.c - two SRT connections, one sends and one receives, over an in-memory network: each
 * has its own clock, and packets may be corrupted. */
#include "srt_link.h"

static struct srt_burst link_burst; /* it is large, and used at once */

static uint64_t link_random(struct link *l)
{
    l->random ^= l->random << 13;
    l->random ^= l->random >> 7;
    l->random ^= l->random << 17;
    return l->random >> 8;
}

static co_usec link_local(const struct link_end *e, co_usec net)
{
    co_usec t = net - e->link->began;

    return e->offset + t + t * e->drift / 1000000;
}

/* Not before that. */
static co_usec link_global(const struct link_end *e, co_usec local)
{
    co_usec t, net;

    if (local == CO_FOREVER)
        return CO_FOREVER;
    t = local - e->offset;
    net = e->link->began + t - t * e->drift / 1000000;
    while (link_local(e, net) < local)
        net++;
    return net;
}

size_t link_size(unsigned n)
{
    return n % 7 ? 188 : 24 + n * 37 % 1000;
}

static void link_feed(struct link *l, co_usec now)
{
    uint8_t data[SRT_PAYLOAD_MAX];

    while (l->fed < l->rules->packets && now >= l->feed_at) {
        size_t size = link_size(l->fed);

        memset(data, (int)l->fed, size);
        memcpy(data, &l->fed, sizeof(l->fed));
        memcpy(data + 8, &now, sizeof(now));
        if (l->on_feed)
            l->on_feed(l, l->fed, now);
        if (!srt_log_put(&l->log, data, size, l->fed % 100 == 0, link_local(&l->send, now)))
            abort();
        l->fed++;
        l->feed_at += l->rules->every / 2 + (co_usec)(link_random(l) % (uint64_t)l->rules->every);
    }
    srt_log_trim(&l->log, link_local(&l->send, now) - 2 * l->rules->latency - CO_SECONDS(1),
                 UINT64_MAX, SIZE_MAX);
}

/* Corrupted so that it cannot be taken for anything else. */
static size_t link_damage(struct link *l, const struct udp_in *in, uint8_t *out)
{
    size_t size = in->size < 2048 ? in->size : 2048;

    memcpy(out, in->data, size);
    l->damaged++;
    switch (link_random(l) % 3) {
    case 0:
        return link_random(l) % SRT_HEADER; /* truncated */
    case 1:
        out[12] ^= 0x55; /* for another connection */
        return size;
    default:
        out[0] = 0x80 | 0x10; /* an unknown type */
        return size;
    }
}

static void link_play(struct link *l, co_usec now)
{
    struct srt_message m;

    while (srt_conn_next(&l->recv.conn, &m, link_local(&l->recv, now)))
        l->on_message(l, &m, now);
}

static void link_input(void *me, const struct udp_in *v, size_t n, co_usec now)
{
    struct link_end *e = me;
    struct link *l = e->link;

    for (size_t i = 0; i < n; i++) {
        uint8_t damaged[2048];
        const uint8_t *data = v[i].data;
        size_t size = v[i].size;
        struct srt_packet p;

        if (link_random(l) % 1000 < l->rules->damage) {
            size = link_damage(l, &v[i], damaged);
            data = damaged;
        }
        if (!srt_packet_read(&p, data, size) || p.to != e->conn.agreed.id)
            continue;
        if (!p.control && l->on_data)
            l->on_data(l, &p, now);
        srt_conn_input(&e->conn, &p, link_local(e, now));
    }
    if (e == &l->recv)
        link_play(l, now);
}

static size_t link_output(void *me, struct udp_out *v, size_t most, co_usec now)
{
    struct link_end *e = me;
    co_usec local = link_local(e, now);
    size_t size = srt_conn_control(&e->conn, e->control, local);

    (void)most;
    if (size) {
        e->iov = (struct iovec){ e->control, size };
        *v = (struct udp_out){ .iov = &e->iov, .count = 1, .path = &e->path };
        return 1;
    }
    if (!e->conn.sends)
        return 0;
    link_feed(e->link, now);
    if (!srt_conn_burst(&e->conn, &link_burst, local))
        return 0;
    *v = (struct udp_out){ .iov = link_burst.iov, .count = link_burst.pieces,
                           .segment = link_burst.segment, .path = &e->path };
    return 1;
}

static co_usec link_deadline(void *me)
{
    struct link_end *e = me;
    struct link *l = e->link;
    co_usec at = link_global(e, srt_conn_deadline(&e->conn));

    if (e == &l->send && l->fed < l->rules->packets && (at == CO_FOREVER || l->feed_at < at))
        at = l->feed_at;
    return at;
}

static void link_tick(void *me, co_usec now)
{
    struct link_end *e = me;

    if (e == &e->link->recv)
        link_play(e->link, now);
}

static const struct udp_proto link_proto = { link_input, link_output, link_deadline, link_tick };

static struct srt_conn_opts link_opts(struct link *l, struct link_end *e, bool sends)
{
    const struct link_rules *r = l->rules;
    co_usec now = link_local(e, udp_net_now(l->net));
    struct srt_conn_opts o = {
        .agreed = { .id = sends ? LINK_SENDER : LINK_RECEIVER, .peer_version = SRT_VERSION,
                    .peer_id = sends ? LINK_RECEIVER : LINK_SENDER,
                    .first_seq = SRT_SEQ_MASK - 99, /* 100 before they wrap */
                    .payload = 1316, .window = 8192,
                    .recv_latency = r->latency, .send_latency = r->latency },
        .now = now, .zero = now, .idle_timeout = CO_SECONDS(10),
        .tsbpd = !r->no_tsbpd, .drop_late = !r->no_drop, .log = &l->log, .maxbw = 125000000,
        .renew_after = r->renew_after, .renew_before = r->renew_before,
    };

    if (r->secret) {
        o.secret = malloc(sizeof(*o.secret));
        assert(o.secret);
        *o.secret = *r->secret;
    }
    return o;
}

static void link_open(struct link *l, struct link_end *e, const char *ip, const char *peer)
{
    static const struct udp_opts usual = { 0 };
    err_t err = udp_net_open(l->net, &e->udp, ip, 9, &usual);

    if (!err)
        err = udp_addr_parse(&e->path.peer, peer, 9);
    assert(!err);
    e->link = l;
    udp_net_attach(e->udp, &link_proto, e);
}

void link_begin(struct link *l, const struct link_rules *rules)
{
    const co_usec wire = (co_usec)UINT32_MAX - CO_SECONDS(30);
    struct srt_conn_opts send, recv;
    bool ok;

    l->rules = rules;
    l->random = rules->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    l->net = udp_net_new(rules->seed, &rules->net);
    l->began = l->feed_at = udp_net_now(l->net);
    srt_log_init(&l->log);
    link_open(l, &l->send, "10.0.0.1", "10.0.0.2");
    link_open(l, &l->recv, "10.0.0.2", "10.0.0.1");
    l->send.drift = rules->drift;
    l->send.offset = CO_SECONDS(100000);
    l->recv.offset = CO_SECONDS(5);
    l->first_delay = rules->net.delay + rules->net.jitter / 2;
    send = link_opts(l, &l->send, true);
    recv = link_opts(l, &l->recv, false);
    send.zero -= wire;
    recv.peer_zero = recv.now + l->first_delay - wire;
    ok = srt_conn_send_begin(&l->send.conn, &send) && srt_conn_receive_begin(&l->recv.conn, &recv);
    assert(ok);
}

void link_end(struct link *l)
{
    udp_close(l->send.udp);
    udp_close(l->recv.udp);
    udp_net_free(l->net);
    srt_conn_fini(&l->send.conn);
    srt_conn_fini(&l->recv.conn);
    srt_log_fini(&l->log);
}
