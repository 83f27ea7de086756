/* SPDX-License-Identifier: MIT */
/* conn.c - a connection after its handshake: what comes goes to the right part. */
#include "proto/srt/conn_own.h"

#include "base/mem.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#define KEEPALIVE CO_SECONDS(1)
enum { SHUTDOWNS = 3 };

/* ---- life */

static bool begin(struct srt_conn *c, const struct srt_conn_opts *o)
{
    *c = (struct srt_conn){ .agreed = o->agreed, .zero = o->zero, .heard_at = o->now,
                            .sent_at = o->now, .idle_timeout = o->idle_timeout,
                            .drop_late = o->drop_late, .secret = o->secret };
    c->answers = mem_may(sizeof(*c->answers)) ? calloc(1, sizeof(*c->answers)) : NULL;
    if (o->secret)
        c->cipher = srt_cipher_new(o->secret);
    if (!c->answers || (o->secret && !c->cipher))
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
    free(c->answers);
    c->receiver = NULL;
    c->cipher = NULL;
    c->secret = NULL;
    c->answers = NULL;
}

void srt_conn_close(struct srt_conn *c)
{
    if (c->answers->closed)
        return;
    c->answers->closed = true;
    c->answers->shutdowns = SHUTDOWNS;
}

static bool is_over(const struct srt_conn *c)
{
    return c->end != SRT_OPEN || c->answers->closed;
}

/* ---- what comes */

static void end_if(struct srt_conn *c, bool good, enum srt_end why)
{
    if (!good)
        c->end = why;
}

static void ack(struct srt_conn *c, const struct srt_packet *p, co_usec now)
{
    struct srt_conn_answers *a = c->answers;
    struct srt_ack ack;

    if (!srt_ack_read(&ack, p->body, p->size)) {
        c->ignored++;
        return;
    }
    end_if(c, srt_sender_ack(&c->sender, &ack, now), SRT_ENDED_HOSTILE);
    if (srt_sender_wants_ackack(&c->sender, p->info, now) && a->n_ackacks < SRT_ACKACKS)
        a->ackacks[a->n_ackacks++] = p->info;
}

/* Of one that we send to. */
static void heard_of_receiver(struct srt_conn *c, const struct srt_packet *p, co_usec now)
{
    if (p->type == SRT_ACK)
        ack(c, p, now);
    else if (p->type == SRT_NAK)
        end_if(c, srt_sender_nak(&c->sender, p->body, p->size, now), SRT_ENDED_HOSTILE);
    else
        c->ignored++;
}

/* Of one that sends to us. */
static void heard_of_sender(struct srt_conn *c, const struct srt_packet *p, co_usec now)
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
            heard_of_receiver(c, p, now);
        else
            heard_of_sender(c, p, now);
    }
}

void srt_conn_input(struct srt_conn *c, const struct srt_packet *p, co_usec now)
{
    if (is_over(c))
        return;
    c->heard_at = now;
    if (p->control)
        control(c, p, now);
    else if (c->sends)
        c->ignored++;
    else
        end_if(c, srt_receiver_put(c->receiver, p, now),
               c->drop_late ? SRT_ENDED_HOSTILE : SRT_ENDED_STUCK);
}

/* ---- what goes */

size_t srt_conn_write(const struct srt_conn *c, const struct srt_packet *like, size_t body,
                      uint8_t *out, co_usec now)
{
    struct srt_packet p = *like;

    p.control = true;
    p.to = c->agreed.peer_id;
    p.time = (uint32_t)(now - c->zero);
    srt_packet_write(&p, out);
    return SRT_HEADER + body;
}

/* Without content there are four bytes, as libsrt has it. */
static size_t say(const struct srt_conn *c, uint16_t type, uint32_t info, uint8_t *out, co_usec now)
{
    struct srt_packet p = { .type = type, .info = info };

    memset(out + SRT_HEADER, 0, 4);
    return srt_conn_write(c, &p, 4, out, now);
}

static uint32_t first_ackack(struct srt_conn_answers *a)
{
    uint32_t number = a->ackacks[0];

    a->n_ackacks--;
    memmove(a->ackacks, a->ackacks + 1, a->n_ackacks * sizeof(a->ackacks[0]));
    return number;
}

static size_t say_next(struct srt_conn *c, uint8_t *out, co_usec now)
{
    size_t n;

    if (c->answers->n_ackacks)
        return say(c, SRT_ACKACK, first_ackack(c->answers), out, now);
    n = srt_conn_keys_output(c, out, now);
    if (n == 0 && !c->sends)
        n = srt_receiver_output(c->receiver, out, now);
    if (n == 0 && now - c->sent_at >= KEEPALIVE)
        n = say(c, SRT_KEEPALIVE, 0, out, now);
    return n;
}

size_t srt_conn_control(struct srt_conn *c, uint8_t out[SRT_PACKET_MAX], co_usec now)
{
    size_t n;

    if (c->answers->shutdowns) {
        c->answers->shutdowns--;
        return say(c, SRT_SHUTDOWN, 0, out, now);
    }
    if (!is_over(c) && now - c->heard_at >= c->idle_timeout)
        c->end = SRT_ENDED_IDLE;
    if (is_over(c))
        return 0;
    n = say_next(c, out, now);
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
    const struct srt_conn_answers *a = c->answers;
    co_usec at = sooner(c->heard_at + c->idle_timeout, c->sent_at + KEEPALIVE);

    if (a->shutdowns || (!is_over(c) && a->n_ackacks))
        return 0;
    if (is_over(c))
        return CO_FOREVER;
    at = sooner(at, srt_conn_keys_deadline(c));
    return sooner(at, c->sends ? srt_sender_deadline(&c->sender)
                               : srt_receiver_deadline(c->receiver));
}
