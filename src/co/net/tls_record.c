/* SPDX-License-Identifier: MIT */
/* tls_record.c - the records of a TLS 1.3 connection whose handshake is done (RFC 8446 sections
 * 4.6.3, 5 and 6). */
#include "co/net/tls_record.h"

#include <stdlib.h>

enum { ALERT = 21, HANDSHAKE = 22, DATA = 23 }; /* types of records */
enum { KEY_UPDATE = 24, WARNING = 1, FATAL = 2 };

/* ---- reading */

static struct tls_got got(enum tls_kind kind)
{
    return (struct tls_got){ .kind = kind };
}

static struct tls_got bad(struct tls_records *r, enum tls_alert alert)
{
    r->ended = true;
    return (struct tls_got){ .kind = TLS_BAD, .alert = (uint8_t)alert };
}

static struct tls_got quiet(struct tls_records *r, enum tls_kind kind)
{
    return ++r->quiet > TLS_QUIET ? bad(r, TLS_UNEXPECTED_MESSAGE) : got(kind);
}

/* What is encrypted in the record that begins here, without a look at whether it is there. */
static size_t length(const uint8_t *in)
{
    return (size_t)in[3] << 8 | in[4];
}

/* What is wrong with a head: the number of an alert, or 0. */
static enum tls_alert wrong_head(const uint8_t *in)
{
    if (in[0] != DATA)
        return TLS_UNEXPECTED_MESSAGE; /* all is encrypted by now */
    if (length(in) > TLS_RECORD - TLS_HEAD)
        return TLS_RECORD_OVERFLOW;
    return length(in) > TLS_TAG ? 0 : TLS_DECODE_ERROR;
}

bool tls_records_whole(const uint8_t *in, size_t size)
{
    return size >= TLS_HEAD && (wrong_head(in) || size - TLS_HEAD >= length(in));
}

/* New keys are all that a client may still ask for. It is the last message of its record, and no
 * library cuts its five bytes in two. */
static struct tls_got handshake(struct tls_records *r, const uint8_t *p, size_t n)
{
    if (n == 0 || p[0] != KEY_UPDATE)
        return bad(r, TLS_UNEXPECTED_MESSAGE);
    if (n != 5 || p[1] || p[2] || p[3] != 1)
        return bad(r, TLS_DECODE_ERROR);
    if (p[4] > 1)
        return bad(r, TLS_ILLEGAL_PARAMETER);
    if (!tls_key_next(&r->in))
        return bad(r, TLS_INTERNAL_ERROR);
    return quiet(r, p[4] ? TLS_ASKS : TLS_NOTHING);
}

static struct tls_got alert(struct tls_records *r, const uint8_t *p, size_t n)
{
    if (n != 2)
        return bad(r, TLS_DECODE_ERROR);
    if (p[1] == TLS_USER_CANCELED)
        return quiet(r, TLS_NOTHING); /* it says good bye next */
    r->ended = true;
    if (p[1] == TLS_CLOSE_NOTIFY)
        return got(TLS_ENDED);
    r->mute = true;
    return (struct tls_got){ .kind = TLS_REFUSED, .alert = p[1] };
}

static struct tls_got inside(struct tls_records *r, uint8_t type, uint8_t *p, size_t n)
{
    switch (type) {
    case DATA:
        if (n == 0)
            return quiet(r, TLS_NOTHING);
        r->quiet = 0;
        return (struct tls_got){ .kind = TLS_DATA, .data = p, .size = n };
    case HANDSHAKE:
        return handshake(r, p, n);
    case ALERT:
        return alert(r, p, n);
    default:
        return bad(r, TLS_UNEXPECTED_MESSAGE);
    }
}

struct tls_got tls_records_read(struct tls_records *r, uint8_t *in, size_t size)
{
    struct tls_got is;
    uint8_t *p;
    size_t n;

    if (r->ended)
        return got(TLS_ENDED);
    if (!tls_records_whole(in, size))
        return got(TLS_PARTIAL);
    if (wrong_head(in))
        return bad(r, wrong_head(in));
    p = in + TLS_HEAD;
    n = length(in) - TLS_TAG;
    if (!tls_key_open(&r->in, in, TLS_HEAD + length(in)))
        return bad(r, TLS_BAD_RECORD_MAC);
    if (n > TLS_CONTENT + 1)
        return bad(r, TLS_RECORD_OVERFLOW);
    while (n > 0 && p[n - 1] == 0) /* padding, behind the type */
        n--;
    if (n == 0)
        return bad(r, TLS_UNEXPECTED_MESSAGE);
    is = inside(r, p[n - 1], p, n - 1);
    is.taken = TLS_HEAD + length(in);
    return is;
}

/* ---- writing */

static size_t seal(struct tls_records *r, uint8_t type, struct tls_from *from, size_t size,
                   uint8_t *out)
{
    if (!r->mute && tls_key_seal(&r->out, type, from, size, out))
        return size + TLS_MORE;
    r->mute = true;
    return 0;
}

static size_t say(struct tls_records *r, uint8_t type, const void *data, size_t size, uint8_t *out)
{
    const struct iovec iov = { (void *)(uintptr_t)data, size };
    struct tls_from from = { &iov, 1, 0 };

    return seal(r, type, &from, size, out);
}

size_t tls_records_update(struct tls_records *r, uint8_t out[TLS_UPDATE])
{
    static const uint8_t message[5] = { KEY_UPDATE, 0, 0, 1, 0 };
    size_t n = say(r, HANDSHAKE, message, sizeof(message), out);

    if (n > 0 && tls_key_next(&r->out))
        return n;
    r->mute = true;
    return 0;
}

size_t tls_records_data(struct tls_records *r, struct tls_from *from, size_t size, uint8_t *out)
{
    size_t before = 0, n;

    if (r->out.seq >= TLS_KEY_RECORDS) {
        before = tls_records_update(r, out);
        if (before == 0)
            return 0;
    }
    n = seal(r, DATA, from, size, out + before);
    return n > 0 ? before + n : 0;
}

size_t tls_records_alert(struct tls_records *r, uint8_t alert, uint8_t out[TLS_ALERT])
{
    const uint8_t message[2] = { alert == TLS_CLOSE_NOTIFY ? WARNING : FATAL, alert };
    size_t n = say(r, ALERT, message, sizeof(message), out);

    r->mute = true;
    return n;
}

void tls_records_leave(const struct tls_records *r)
{
    tls_key_leave(&r->in);
    tls_key_leave(&r->out);
}

void tls_records_free(struct tls_records *r)
{
    if (r) {
        tls_key_wipe(&r->in);
        tls_key_wipe(&r->out);
    }
    free(r);
}
