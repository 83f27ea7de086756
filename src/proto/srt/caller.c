/* SPDX-License-Identifier: MIT */
/* caller.c - an SRT connection to a listener. */
#include "proto/srt/caller.h"

#include "base/must.h"
#include "co/net/dns.h"
#include "co/thread.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

enum { RECEIVE_BUFFER = 2 << 20, HEADERS = 28, WINDOW_MAX = 8192, KEY_SIZE = 16 };

static void send_one(struct srt_caller *c, const uint8_t *data, size_t size)
{
    const struct iovec iov = { (void *)(uintptr_t)data, size };
    const struct udp_out out = { .iov = &iov, .count = 1, .path = &c->path };

    (void)udp_send(c->udp, &out, 1); /* datagrams that do not fit are lost, as in any network */
}

/* ---- the key, generated on a worker thread */

struct key_job {
    char passphrase[SRT_PASSPHRASE_MAX + 1];
    unsigned size;
    struct srt_secret *secret; /* NULL on failure */
};

static void make_key(void *arg)
{
    struct key_job *job = (struct key_job *)arg;
    struct srt_secret *secret = (struct srt_secret *)must(calloc(1, sizeof(*secret)));

    if (srt_secret_new(secret, job->size, job->passphrase))
        job->secret = secret;
    else
        free(secret);
}

static void drop_secret(struct srt_secret *secret)
{
    if (secret)
        OPENSSL_cleanse(secret, sizeof(*secret));
    free(secret);
}

static void drop_key(void *arg)
{
    struct key_job *job = (struct key_job *)arg;

    drop_secret(job->secret);
    OPENSSL_cleanse(job, sizeof(*job));
    free(job);
}

static err_t take_key(struct srt_caller *c)
{
    struct key_job *job;
    err_t err;

    if (!*c->url.passphrase)
        return NULL;
    job = (struct key_job *)must(calloc(1, sizeof(*job)));
    job->size = c->url.key_size ? c->url.key_size : KEY_SIZE;
    memcpy(job->passphrase, c->url.passphrase, sizeof(job->passphrase));
    err = co_thread_run(CO_POOL_KEY, make_key, job, drop_key, c->opts.connect_timeout);
    if (err)
        return err_wrap(err, "key generation");
    c->secret = job->secret;
    job->secret = NULL;
    drop_key(job);
    return c->secret ? NULL : err_new(ERR_SRT, "key generation failed");
}

/* ---- the call */

static err_t wait_until(struct srt_caller *c, co_usec until)
{
    co_usec left = until - udp_now(c->udp);

    if (left <= 0) {
        co_yield_if_due();
        return co_check();
    }
    return udp_wait(c->udp, left) == CO_STOPPED ? co_stop_why() : NULL;
}

/* Passes received datagrams to the call or to the connection. */
static err_t receive(struct srt_caller *c)
{
    const struct udp_in *in;
    struct srt_packet p;
    size_t n;
    err_t err = udp_recv_now(c->udp, &in, &n);

    for (size_t i = 0; !err && i < n; i++) {
        if (!udp_addr_same(&in[i].path.peer, &c->path.peer) ||
            !srt_packet_read(&p, in[i].data, in[i].size) || p.to != c->call.set.id)
            continue;
        if (c->begun)
            srt_conn_input(&c->conn, &p, in[i].at);
        else
            srt_call_input(&c->call, &p, in[i].at);
    }
    return err;
}

static unsigned window_of(const struct srt_caller_opts *opts)
{
    size_t n = opts->receive_buffer / (opts->mss - HEADERS);

    return n < WINDOW_MAX ? (unsigned)n : WINDOW_MAX;
}

static void begin_call(struct srt_caller *c)
{
    co_usec latency = c->url.latency >= 0 ? CO_MS(c->url.latency) : -1;
    struct srt_call_opts o = {
        .streamid = c->url.streamid, .mss = c->opts.mss, .window = window_of(&c->opts),
        .recv_latency = latency >= 0 ? latency : c->opts.recv_latency,
        .peer_latency = latency >= 0 ? latency : c->opts.peer_latency,
        .timeout = c->opts.connect_timeout, .secret = c->secret,
    };

    must_be(RAND_bytes((unsigned char *)&o.id, sizeof(o.id)) == 1);
    must_be(RAND_bytes((unsigned char *)&o.first_seq, sizeof(o.first_seq)) == 1);
    o.id = (o.id & 0x3fffffff) | 1;
    o.first_seq &= SRT_SEQ_MASK;
    srt_call_begin(&c->call, &o, udp_now(c->udp));
}

/* Calls one address. ERR_SRT_TIMEOUT: no response. */
static err_t call_one(struct srt_caller *c, const char *ip)
{
    uint8_t out[SRT_HANDSHAKE_MAX];
    size_t n;
    err_t err = udp_addr_parse(&c->path.peer, ip, c->url.port);

    if (err)
        return err;
    (void)udp_addr_text(&c->path.peer, c->peer, sizeof(c->peer));
    begin_call(c);
    for (;;) {
        if ((n = srt_call_output(&c->call, out, udp_now(c->udp))) > 0)
            send_one(c, out, n);
        if (c->call.state > SRT_CALL_CONCLUSION)
            break;
        err = wait_until(c, srt_call_deadline(&c->call));
        if (!err)
            err = receive(c);
        if (err)
            return err;
    }
    if (c->call.state == SRT_CALL_TIMEOUT)
        return err_new(ERR_SRT_TIMEOUT, "%s does not respond", c->peer);
    if (c->call.state == SRT_CALL_REFUSED)
        return err_new(ERR_SRT_CONNECT, "%s rejected the call with %u: %s", c->peer,
                       c->call.refused, srt_refusal_text(c->call.refused));
    c->agreed = c->call.agreed;
    return NULL;
}

err_t srt_caller_call(struct srt_caller *c, const char *url, const struct srt_caller_opts *opts)
{
    static const struct udp_opts socket = { .rcvbuf = RECEIVE_BUFFER };
    struct co_dns dns;
    err_t err;

    memset(c, 0, sizeof(*c));
    c->opts = *opts;
    if (!srt_url_parse(&c->url, url) || c->url.listener)
        return err_new(ERR_SRT_CONNECT, "not the srt://host:port URL of a listener");
    err = co_dns_resolve(c->url.host, c->opts.connect_timeout, &dns);
    if (!err)
        err = take_key(c);
    if (!err)
        err = udp_open(&c->udp, "", 0, &socket);
    for (int i = 0; !err && i < dns.count; i++) {
        err = call_one(c, dns.ip[i]);
        if (err_code(err) != ERR_SRT_TIMEOUT || i + 1 == dns.count)
            break;
        err_free(&err);
    }
    return err;
}

/* ---- the connection */

static struct srt_conn_opts conn_opts(struct srt_caller *c)
{
    struct srt_conn_opts o = {
        .agreed = c->agreed, .now = udp_now(c->udp), .peer_zero = c->call.peer_zero,
        .zero = c->call.began_at, .idle_timeout = c->opts.idle_timeout,
        .secret = c->secret, .tsbpd = c->opts.tsbpd, .drop_late = c->opts.drop_late,
    };

    c->secret = NULL;
    return o;
}

static err_t begun(struct srt_caller *c, bool good)
{
    c->begun = good;
    return good ? NULL : err_new(ERR_NO_MEMORY, "for an SRT connection");
}

err_t srt_caller_send(struct srt_caller *c, const struct srt_log *log, uint64_t from, bool lead)
{
    struct srt_conn_opts o = conn_opts(c);

    o.log = log;
    o.from = from;
    o.lead = lead;
    o.maxbw = c->opts.max_bandwidth;
    return begun(c, srt_conn_send_begin(&c->conn, &o));
}

err_t srt_caller_receive(struct srt_caller *c)
{
    struct srt_conn_opts o = conn_opts(c);

    return begun(c, srt_conn_receive_begin(&c->conn, &o));
}

static void send_control(struct srt_caller *c)
{
    uint8_t out[SRT_PACKET_MAX];
    size_t n;

    while ((n = srt_conn_control(&c->conn, out, udp_now(c->udp))) > 0)
        send_one(c, out, n);
}

uint64_t srt_caller_burst(struct srt_caller *c, struct srt_burst *b)
{
    uint64_t bytes = 0;

    while (srt_conn_burst(&c->conn, b, udp_now(c->udp))) {
        const struct udp_out out = { .iov = b->iov, .count = b->pieces, .segment = b->segment,
                                     .path = &c->path };

        (void)udp_send(c->udp, &out, 1);
        bytes += b->bytes;
    }
    return bytes;
}

static err_t is_over(const struct srt_caller *c)
{
    switch (c->conn.end) {
    case SRT_OPEN:
        return NULL;
    case SRT_ENDED_SHUTDOWN:
        return err_new(ERR_IO_CLOSED, "%s closed the connection", c->peer);
    case SRT_ENDED_IDLE:
        return err_new(ERR_SRT_TIMEOUT, "%s", c->peer);
    case SRT_ENDED_STUCK:
        return err_new(ERR_SRT, "%s does not retransmit lost packets", c->peer);
    case SRT_ENDED_HOSTILE:
        break;
    }
    return err_new(ERR_SRT, "%s violates the protocol", c->peer);
}

err_t srt_caller_turn(struct srt_caller *c, co_usec until)
{
    co_usec at;
    err_t err;

    send_control(c);
    at = srt_conn_deadline(&c->conn);
    err = wait_until(c, at != CO_FOREVER && at < until ? at : until);
    if (!err)
        err = receive(c);
    send_control(c);
    return err ? err : is_over(c);
}

void srt_caller_close(struct srt_caller *c)
{
    if (c->begun) {
        if (c->conn.end == SRT_OPEN) {
            srt_conn_close(&c->conn);
            send_control(c);
        }
        while (srt_conn_drain(&c->conn))
            co_yield_if_due();
        srt_conn_fini(&c->conn);
    }
    drop_secret(c->secret);
    udp_close(c->udp);
    OPENSSL_cleanse(&c->url, sizeof(c->url));
    memset(c, 0, sizeof(*c));
}
