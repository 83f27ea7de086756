/* SPDX-License-Identifier: MIT */
/* conn.c - an SRT connection after its handshake: dispatches packets, renews keys, and closes. */
#include "proto/srt/conn.h"

#include "base/be.h"
#include "base/mem.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

enum { SRT_ACKACKS = 8 };

enum srt_renewal { SRT_KEY_CALM, SRT_KEY_ANNOUNCED, SRT_KEY_SWITCHED };

/* A key message in wire format. */
struct srt_km_bytes {
    uint8_t data[SRT_KM_MAX];
    size_t size;       /* 0: none */
};

struct srt_conn_pending {
    uint32_t ackacks[SRT_ACKACKS];
    unsigned n_ackacks, shutdowns;
    bool closed;
    /* keys of the peer: */
    bool km_due;       /* the peer's last key message needs a response */
    struct srt_km_bytes theirs, answer;
    /* our keys: */
    enum srt_renewal step;
    uint64_t step_at;  /* the sender's packet at which the next step is due */
    uint64_t began;    /* first packet encrypted with the current key */
    uint64_t after, before;
    struct srt_km_bytes ours;
    bool agreed;       /* the peer has the new key */
    co_usec request_at;
};

static size_t srt_conn_write(const struct srt_conn *c, const struct srt_packet *like, size_t body,
                             uint8_t *out, co_usec now);

/* ---- key renewal in both directions: "Key Material Refresh"
 * A sender announces the other key some packets before its use, until the receiver confirms it;
 * only then it is used. The previous key is wiped the same number of packets later. */

#define REQUEST_INTERVAL CO_MS(20)

static void srt_conn_keys_init(struct srt_conn *c, const struct srt_conn_opts *o)
{
    struct srt_conn_pending *a = c->pending;

    a->after = o->renew_after ? o->renew_after : 1 << 24;
    a->before = o->renew_before ? o->renew_before : 4000;
    a->step_at = a->after - a->before;
}

/* ---- the peer's keys */

static bool install(struct srt_conn *c, const struct srt_packet *p)
{
    struct srt_km km;

    return srt_km_read(&km, p->body, p->size) && srt_km_unwrap_known(c->secret, &km) &&
           srt_cipher_set(c->cipher, c->secret);
}

/* Stores the response, which consists of the same bytes, each time the message arrives. */
static void answer(struct srt_conn *c, const struct srt_packet *p)
{
    struct srt_conn_pending *a = c->pending;
    bool known = p->size == a->theirs.size && memcmp(p->body, a->theirs.data, p->size) == 0;

    a->km_due = true;
    if (known || install(c, p)) {
        memmove(a->theirs.data, p->body, p->size);
        a->theirs.size = p->size;
        a->answer = a->theirs;
    } else {
        (void)be_put32(a->answer.data, SRT_KM_BAD_SECRET);
        a->answer.size = 4;
    }
}

/* Handles a key message. Returns false if it is useless. */
static bool srt_conn_keys_input(struct srt_conn *c, const struct srt_packet *p)
{
    struct srt_conn_pending *a = c->pending;

    if (!c->secret || p->size == 0 || p->size > SRT_KM_MAX)
        return false;
    if (p->subtype == SRT_KM_REQUEST && !c->sends) {
        answer(c, p);
        return true;
    }
    if (p->subtype != SRT_KM_RESPONSE || a->step != SRT_KEY_ANNOUNCED)
        return false;
    a->agreed |= p->size == a->ours.size && memcmp(p->body, a->ours.data, p->size) == 0;
    return a->agreed;
}

/* ---- our keys */

static enum srt_key other(enum srt_key key)
{
    return key == SRT_EVEN ? SRT_ODD : SRT_EVEN;
}

static bool make_key(struct srt_conn *c)
{
    struct srt_conn_pending *a = c->pending;
    struct srt_km km;

    if (!srt_secret_renew(c->secret, other(c->sender.key)) ||
        !srt_cipher_set(c->cipher, c->secret) || !srt_secret_wrap(c->secret, &km))
        return false;
    a->ours.size = srt_km_write(&km, a->ours.data);
    return true;
}

static void announce(struct srt_conn *c, co_usec now)
{
    struct srt_conn_pending *a = c->pending;

    if (!make_key(c)) {
        a->step_at += a->before; /* try again later */
        return;
    }
    a->agreed = false;
    a->request_at = now;
    a->step = SRT_KEY_ANNOUNCED;
    a->step_at = a->began + a->after;
}

static void switch_key(struct srt_conn *c)
{
    struct srt_conn_pending *a = c->pending;

    c->sender.key = other(c->sender.key);
    a->began = c->sender.next;
    a->step = SRT_KEY_SWITCHED;
    a->step_at = a->began + a->before;
}

static void wipe_old_key(struct srt_conn *c)
{
    struct srt_conn_pending *a = c->pending;

    c->secret->which = (uint8_t)c->sender.key;
    OPENSSL_cleanse(c->secret->key[other(c->sender.key) - 1], SRT_KEY_MAX);
    a->step = SRT_KEY_CALM;
    a->step_at = a->began + a->after - a->before;
}

/* Called after packets were sent: performs the next step of the renewal when it is due. */
static void srt_conn_keys_sent(struct srt_conn *c, co_usec now)
{
    struct srt_conn_pending *a = c->pending;

    if (!c->secret || c->sender.next < a->step_at)
        return;
    if (a->step == SRT_KEY_CALM)
        announce(c, now);
    else if (a->step == SRT_KEY_SWITCHED)
        wipe_old_key(c);
    else if (a->agreed)
        switch_key(c);
}

/* ---- sending key messages */

static size_t put_key(const struct srt_conn *c, uint16_t subtype, const struct srt_km_bytes *km,
                  uint8_t *out, co_usec now)
{
    struct srt_packet p = { .type = SRT_EXTENSION, .subtype = subtype };

    memcpy(out + SRT_HEADER, km->data, km->size);
    return srt_conn_write(c, &p, km->size, out, now);
}

static bool must_request(const struct srt_conn_pending *a)
{
    return a->step == SRT_KEY_ANNOUNCED && !a->agreed;
}

static size_t srt_conn_keys_output(struct srt_conn *c, uint8_t *out, co_usec now)
{
    struct srt_conn_pending *a = c->pending;
    co_usec every = c->sender.rtt + c->sender.rtt / 2;

    if (a->km_due) {
        a->km_due = false;
        return put_key(c, SRT_KM_RESPONSE, &a->answer, out, now);
    }
    if (!must_request(a) || now < a->request_at)
        return 0;
    a->request_at = now + (every > REQUEST_INTERVAL ? every : REQUEST_INTERVAL);
    return put_key(c, SRT_KM_REQUEST, &a->ours, out, now);
}

static co_usec srt_conn_keys_deadline(const struct srt_conn *c)
{
    const struct srt_conn_pending *a = c->pending;

    return a->km_due ? 0 : must_request(a) ? a->request_at : CO_FOREVER;
}

#define KEEPALIVE CO_SECONDS(1)
enum { SHUTDOWNS = 3 };

/* ---- creation and closing */

static bool begin(struct srt_conn *c, const struct srt_conn_opts *o)
{
    *c = (struct srt_conn){ .agreed = o->agreed, .zero = o->zero, .received_at = o->now,
                            .sent_at = o->now, .idle_timeout = o->idle_timeout,
                            .drop_late = o->drop_late, .secret = o->secret };
    c->pending = mem_may(sizeof(*c->pending)) ? calloc(1, sizeof(*c->pending)) : NULL;
    if (o->secret)
        c->cipher = srt_cipher_new(o->secret);
    if (!c->pending || (o->secret && !c->cipher))
        return false;
    srt_conn_keys_init(c, o);
    return true;
}

bool srt_conn_send_begin(struct srt_conn *c, const struct srt_conn_opts *o)
{
    struct srt_sender_opts s = {
        .log = o->log, .from = o->from, .lead = o->lead, .peer_id = o->agreed.peer_id,
        .first_seq = o->agreed.first_seq, .zero = o->zero, .latency = o->agreed.send_latency,
        .maxbw = o->maxbw, .window = o->agreed.window,
    };

    if (!begin(c, o)) {
        srt_conn_fini(c);
        return false;
    }
    c->sends = true;
    s.cipher = c->cipher;
    srt_sender_init(&c->sender, &s);
    return true;
}

bool srt_conn_receive_begin(struct srt_conn *c, const struct srt_conn_opts *o)
{
    struct srt_receiver_opts r = {
        .first_seq = o->agreed.first_seq, .peer_id = o->agreed.peer_id,
        .window = o->agreed.window, .base = o->peer_zero, .zero = o->zero,
        .latency = o->agreed.recv_latency, .tsbpd = o->tsbpd, .drop_late = o->drop_late,
    };

    if (begin(c, o)) {
        r.cipher = c->cipher;
        c->receiver = srt_receiver_new(&r);
    }
    if (!c->receiver)
        srt_conn_fini(c);
    return c->receiver != NULL;
}

void srt_conn_fini(struct srt_conn *c)
{
    srt_receiver_free(c->receiver);
    srt_cipher_free(c->cipher);
    if (c->secret)
        OPENSSL_cleanse(c->secret, sizeof(*c->secret));
    free(c->secret);
    free(c->pending);
    c->receiver = NULL;
    c->cipher = NULL;
    c->secret = NULL;
    c->pending = NULL;
}

void srt_conn_close(struct srt_conn *c)
{
    if (c->pending->closed)
        return;
    c->pending->closed = true;
    c->pending->shutdowns = SHUTDOWNS;
}

static bool is_over(const struct srt_conn *c)
{
    return c->end != SRT_OPEN || c->pending->closed;
}

/* ---- receiving */

static void end_if(struct srt_conn *c, bool good, enum srt_end why)
{
    if (!good)
        c->end = why;
}

static void ack(struct srt_conn *c, const struct srt_packet *p, co_usec now)
{
    struct srt_conn_pending *a = c->pending;
    struct srt_ack ack;

    if (!srt_ack_read(&ack, p->body, p->size)) {
        c->ignored++;
        return;
    }
    end_if(c, srt_sender_ack(&c->sender, &ack, now), SRT_ENDED_HOSTILE);
    if (srt_sender_wants_ackack(&c->sender, p->info, now) && a->n_ackacks < SRT_ACKACKS)
        a->ackacks[a->n_ackacks++] = p->info;
}

/* Handles a control packet of a peer that receives from us. */
static void on_receiver_control(struct srt_conn *c, const struct srt_packet *p, co_usec now)
{
    if (p->type == SRT_ACK)
        ack(c, p, now);
    else if (p->type == SRT_NAK)
        end_if(c, srt_sender_nak(&c->sender, p->body, p->size, now), SRT_ENDED_HOSTILE);
    else
        c->ignored++;
}

/* Handles a control packet of a peer that sends to us. */
static void on_sender_control(struct srt_conn *c, const struct srt_packet *p, co_usec now)
{
    struct srt_range range;

    if (p->type == SRT_ACKACK)
        srt_receiver_ackack(c->receiver, p->info, p->time, now);
    else if (p->type == SRT_DROP && srt_drop_read(&range, p->body, p->size))
        srt_receiver_drop(c->receiver, &range, now);
    else
        c->ignored++;
}

static void control(struct srt_conn *c, const struct srt_packet *p, co_usec now)
{
    switch (p->type) {
    case SRT_KEEPALIVE:
        break;
    case SRT_SHUTDOWN:
        c->end = SRT_ENDED_SHUTDOWN;
        break;
    case SRT_EXTENSION:
        c->ignored += !srt_conn_keys_input(c, p);
        break;
    default:
        if (c->sends)
            on_receiver_control(c, p, now);
        else
            on_sender_control(c, p, now);
    }
}

void srt_conn_input(struct srt_conn *c, const struct srt_packet *p, co_usec now)
{
    if (is_over(c))
        return;
    c->received_at = now;
    if (p->control)
        control(c, p, now);
    else if (c->sends)
        c->ignored++;
    else
        end_if(c, srt_receiver_put(c->receiver, p, now),
               c->drop_late ? SRT_ENDED_HOSTILE : SRT_ENDED_STUCK);
}

/* ---- sending */

/* Writes the header of a control packet; returns its size including the body. */
static size_t srt_conn_write(const struct srt_conn *c, const struct srt_packet *like, size_t body,
                             uint8_t *out, co_usec now)
{
    struct srt_packet p = *like;

    p.control = true;
    p.to = c->agreed.peer_id;
    p.time = (uint32_t)(now - c->zero);
    srt_packet_write(&p, out);
    return SRT_HEADER + body;
}

/* A packet without content has four bytes of body, as in libsrt. */
static size_t write_control(const struct srt_conn *c, uint16_t type, uint32_t info, uint8_t *out,
                            co_usec now)
{
    struct srt_packet p = { .type = type, .info = info };

    memset(out + SRT_HEADER, 0, 4);
    return srt_conn_write(c, &p, 4, out, now);
}

static uint32_t first_ackack(struct srt_conn_pending *a)
{
    uint32_t number = a->ackacks[0];

    a->n_ackacks--;
    memmove(a->ackacks, a->ackacks + 1, a->n_ackacks * sizeof(a->ackacks[0]));
    return number;
}

static size_t write_next(struct srt_conn *c, uint8_t *out, co_usec now)
{
    size_t n;

    if (c->pending->n_ackacks)
        return write_control(c, SRT_ACKACK, first_ackack(c->pending), out, now);
    n = srt_conn_keys_output(c, out, now);
    if (n == 0 && !c->sends)
        n = srt_receiver_output(c->receiver, out, now);
    if (n == 0 && now - c->sent_at >= KEEPALIVE)
        n = write_control(c, SRT_KEEPALIVE, 0, out, now);
    return n;
}

size_t srt_conn_control(struct srt_conn *c, uint8_t out[SRT_PACKET_MAX], co_usec now)
{
    size_t n;

    if (c->pending->shutdowns) {
        c->pending->shutdowns--;
        return write_control(c, SRT_SHUTDOWN, 0, out, now);
    }
    if (!is_over(c) && now - c->received_at >= c->idle_timeout)
        c->end = SRT_ENDED_IDLE;
    if (is_over(c))
        return 0;
    n = write_next(c, out, now);
    if (n)
        c->sent_at = now;
    return n;
}

bool srt_conn_burst(struct srt_conn *c, struct srt_burst *out, co_usec now)
{
    if (is_over(c) || !srt_sender_output(&c->sender, out, now))
        return false;
    c->sent_at = now;
    srt_conn_keys_sent(c, now);
    return true;
}

static co_usec sooner(co_usec a, co_usec b)
{
    if (a == CO_FOREVER || b == CO_FOREVER)
        return a == CO_FOREVER ? b : a;
    return a < b ? a : b;
}

co_usec srt_conn_deadline(const struct srt_conn *c)
{
    const struct srt_conn_pending *a = c->pending;
    co_usec at = sooner(c->received_at + c->idle_timeout, c->sent_at + KEEPALIVE);

    if (a->shutdowns || (!is_over(c) && a->n_ackacks))
        return 0;
    if (is_over(c))
        return CO_FOREVER;
    at = sooner(at, srt_conn_keys_deadline(c));
    return sooner(at, c->sends ? srt_sender_deadline(&c->sender)
                               : srt_receiver_deadline(c->receiver));
}
