/* SPDX-License-Identifier: MIT */
/* conn_keys.c - new keys, both ways: "Key Material Refresh".
 *
 * A sender announces the other key some packets before it is used, until the receiver has said that
 * it has it; only then it is used. The key of before is forgotten as many packets later.
 */
#include "proto/srt/conn_own.h"
#include "proto/srt/put.h"

#include <openssl/crypto.h>
#include <string.h>

#define ASK_LEAST CO_MS(20)

void srt_conn_keys_init(struct srt_conn *c, const struct srt_conn_opts *o)
{
    struct srt_conn_answers *a = c->answers;

    a->after = o->renew_after ? o->renew_after : 1 << 24;
    a->before = o->renew_before ? o->renew_before : 4000;
    a->step_at = a->after - a->before;
}

/* ---- the peer's */

static bool install(struct srt_conn *c, const struct srt_packet *p)
{
    struct srt_km km;

    return srt_km_read(&km, p->body, p->size) && srt_km_unwrap_known(c->secret, &km) &&
           srt_cipher_set(c->cipher, c->secret);
}

/* It is answered with the same bytes, as often as it comes. */
static void answer(struct srt_conn *c, const struct srt_packet *p)
{
    struct srt_conn_answers *a = c->answers;
    bool known = p->size == a->theirs.size && memcmp(p->body, a->theirs.data, p->size) == 0;

    a->km_due = true;
    if (known || install(c, p)) {
        memmove(a->theirs.data, p->body, p->size);
        a->theirs.size = p->size;
        a->answer = a->theirs;
    } else {
        srt_put32(a->answer.data, SRT_KM_BAD_SECRET);
        a->answer.size = 4;
    }
}

bool srt_conn_keys_input(struct srt_conn *c, const struct srt_packet *p)
{
    struct srt_conn_answers *a = c->answers;

    if (!c->secret || p->size == 0 || p->size > SRT_KM_MAX)
        return false;
    if (p->subtype == SRT_KM_REQUEST && !c->sends) {
        answer(c, p);
        return true;
    }
    if (p->subtype != SRT_KM_ANSWER || a->step != SRT_KEY_ANNOUNCED)
        return false;
    a->agreed |= p->size == a->ours.size && memcmp(p->body, a->ours.data, p->size) == 0;
    return a->agreed;
}

/* ---- ours */

static enum srt_key other(enum srt_key key)
{
    return key == SRT_EVEN ? SRT_ODD : SRT_EVEN;
}

static bool make(struct srt_conn *c)
{
    struct srt_conn_answers *a = c->answers;
    struct srt_km km;

    if (!srt_secret_renew(c->secret, other(c->sender.key)) ||
        !srt_cipher_set(c->cipher, c->secret) || !srt_secret_wrap(c->secret, &km))
        return false;
    a->ours.size = srt_km_write(&km, a->ours.data);
    return true;
}

static void announce(struct srt_conn *c, co_usec now)
{
    struct srt_conn_answers *a = c->answers;

    if (!make(c)) {
        a->step_at += a->before; /* try again later */
        return;
    }
    a->agreed = false;
    a->ask_at = now;
    a->step = SRT_KEY_ANNOUNCED;
    a->step_at = a->began + a->after;
}

static void use(struct srt_conn *c)
{
    struct srt_conn_answers *a = c->answers;

    c->sender.key = other(c->sender.key);
    a->began = c->sender.next;
    a->step = SRT_KEY_SWITCHED;
    a->step_at = a->began + a->before;
}

static void forget(struct srt_conn *c)
{
    struct srt_conn_answers *a = c->answers;

    c->secret->which = (uint8_t)c->sender.key;
    OPENSSL_cleanse(c->secret->key[other(c->sender.key) - 1], SRT_KEY_MAX);
    a->step = SRT_KEY_CALM;
    a->step_at = a->began + a->after - a->before;
}

void srt_conn_keys_sent(struct srt_conn *c, co_usec now)
{
    struct srt_conn_answers *a = c->answers;

    if (!c->secret || c->sender.next < a->step_at)
        return;
    if (a->step == SRT_KEY_CALM)
        announce(c, now);
    else if (a->step == SRT_KEY_SWITCHED)
        forget(c);
    else if (a->agreed)
        use(c);
}

/* ---- what is said */

static size_t say(const struct srt_conn *c, uint16_t subtype, const struct srt_km_bytes *km,
                  uint8_t *out, co_usec now)
{
    struct srt_packet p = { .type = SRT_EXTENSION, .subtype = subtype };

    memcpy(out + SRT_HEADER, km->data, km->size);
    return srt_conn_write(c, &p, km->size, out, now);
}

static bool asks(const struct srt_conn_answers *a)
{
    return a->step == SRT_KEY_ANNOUNCED && !a->agreed;
}

size_t srt_conn_keys_output(struct srt_conn *c, uint8_t *out, co_usec now)
{
    struct srt_conn_answers *a = c->answers;
    co_usec every = c->sender.rtt + c->sender.rtt / 2;

    if (a->km_due) {
        a->km_due = false;
        return say(c, SRT_KM_ANSWER, &a->answer, out, now);
    }
    if (!asks(a) || now < a->ask_at)
        return 0;
    a->ask_at = now + (every > ASK_LEAST ? every : ASK_LEAST);
    return say(c, SRT_KM_REQUEST, &a->ours, out, now);
}

co_usec srt_conn_keys_deadline(const struct srt_conn *c)
{
    const struct srt_conn_answers *a = c->answers;

    return a->km_due ? 0 : asks(a) ? a->ask_at : CO_FOREVER;
}
