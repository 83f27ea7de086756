/* SPDX-License-Identifier: MIT */
/* session_keepalive.c - timestamps, pings, and peers whose address changes (RFC 7016, sections
 * 3.5.2.2, 3.5.4).
 */
#include "proto/rtmfp/session_impl.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

enum {
    MS = 1000, SECOND = 1000000, TICK = 4 * MS, ECHO_FOR = 128 * SECOND, RTT_TICKS_MAX = 32767,
    PINGS_MAX = 3,
    MOVE_ASK_EVERY = SECOND, MOVE_FOR = 120 * SECOND, /* limits for a move that is proven */
    /* limits for a move that an empty response confirms */
    MOVE_PLAIN_WITHIN = 5 * SECOND, MOVE_PLAIN_EVERY = 10 * SECOND,
    MOVE_MARK = 0x4d, PROOF = 17, /* mark, time, MAC */
};

/* ---- timestamps */

static uint16_t ticks_at(co_usec now)
{
    return (uint16_t)(now / TICK);
}

void rtmfp_keepalive_head(struct rtmfp_session *s, const struct rtmfp_head *head, co_usec now)
{
    uint16_t ticks;

    if (head->has_time && (!s->has_time || head->time != s->peer_time)) {
        s->has_time = true;
        s->peer_time = head->time;
        s->peer_time_at = now;
    }
    if (!head->has_echo || (s->has_peer_echo && head->echo == s->peer_echo))
        return;
    s->has_peer_echo = true;
    s->peer_echo = head->echo;
    ticks = (uint16_t)(ticks_at(now) - head->echo);
    if (ticks <= RTT_TICKS_MAX)
        rtmfp_congestion_rtt(&s->congestion, (co_usec)ticks * TICK);
}

/* Computes the current echo; returns false if no timestamp was received recently (3.5.2.2). */
static bool echo_now(const struct rtmfp_session *s, co_usec now, uint16_t *echo)
{
    co_usec age = now - s->peer_time_at;

    *echo = (uint16_t)(s->peer_time + age / TICK);
    return s->has_time && age >= 0 && age < ECHO_FOR;
}

void rtmfp_keepalive_begin(struct rtmfp_session *s, struct wr *w, bool critical, co_usec now)
{
    struct rtmfp_head head = { .mode = s->set->mode, .has_time = true, .time = ticks_at(now) };

    if (critical)
        head.flags |= RTMFP_TIME_CRITICAL;
    head.has_echo = echo_now(s, now, &head.echo) &&
                    (!s->has_echo_sent || head.echo != s->echo_sent);
    rtmfp_packet_begin(w, &head);
}

/* Records the echo of a packet that is sent for certain. */
void rtmfp_keepalive_sent(struct rtmfp_session *s, co_usec now)
{
    uint16_t echo;

    if (!echo_now(s, now, &echo))
        return;
    s->has_echo_sent = true;
    s->echo_sent = echo;
}

/* ---- pings */

void rtmfp_keepalive_ping(struct rtmfp_session *s, struct rtmfp_arrival *a, struct rtmfp_bytes body)
{
    if (a->ponged || s->replies || body.n > RTMFP_PING_MAX)
        return;
    a->ponged = s->replies = true;
    s->reply_size = (uint16_t)body.n;
    if (body.n == 0)
        return;
    s->reply = must(malloc(body.n));
    memcpy(s->reply, body.p, body.n);
}

static void write_reply(struct rtmfp_session *s, struct wr *w)
{
    if (!rtmfp_plain_write(w, RTMFP_PING_REPLY, rtmfp_bytes(s->reply, s->reply_size)))
        return; /* the next packet has room */
    free(s->reply);
    s->reply = NULL;
    s->replies = false;
}

static co_usec ping_at(const struct rtmfp_session *s)
{
    return s->ping_now ? 0 : s->received_at + s->set->ping * (s->pings + 1);
}

void rtmfp_session_ping(struct rtmfp_session *s)
{
    s->ping_now = true;
}

static void write_ping(struct rtmfp_session *s, struct wr *w)
{
    if (s->pings >= PINGS_MAX) {
        s->stat.pings_lost += s->pings;
        if (s->set->sums)
            s->set->sums->pings_lost += s->pings;
        rtmfp_session_end(s, RTMFP_ENDED_UNANSWERED, RTMFP_CLOSED);
        return;
    }
    if (!rtmfp_plain_write(w, RTMFP_PING, rtmfp_bytes(NULL, 0)))
        return;
    s->ping_now = false;
    s->pings++;
}

/* ---- Forwarded IHello, 3.5.1.5 */

struct rtmfp_forward {
    struct rtmfp_forward *next;
    size_t n;
    uint8_t body[];
};

bool rtmfp_session_forward(struct rtmfp_session *s, struct rtmfp_bytes body)
{
    struct rtmfp_forward **at = &s->forwards, *f;

    for (unsigned n = 0; *at; at = &(*at)->next) {
        if (++n == RTMFP_FORWARDS_MAX)
            return false;
    }
    if (s->state != RTMFP_OPEN || body.n > RTMFP_FORWARD_MAX)
        return false;
    f = must(malloc(sizeof(*f) + body.n));
    f->next = NULL;
    f->n = body.n;
    if (body.n > 0)
        memcpy(f->body, body.p, body.n);
    *at = f;
    return true;
}

static void drop_forward(struct rtmfp_session *s)
{
    struct rtmfp_forward *f = s->forwards;

    s->forwards = f->next;
    free(f);
}

/* Writes as many as fit. */
static void write_forwards(struct rtmfp_session *s, struct wr *w)
{
    while (s->forwards && rtmfp_plain_write(w, RTMFP_FORWARDED_IHELLO,
                                            rtmfp_bytes(s->forwards->body, s->forwards->n)))
        drop_forward(s);
}

void rtmfp_keepalive_free(struct rtmfp_session *s)
{
    free(s->reply);
    s->reply = NULL;
    s->replies = false;
    free(s->move);
    s->move = NULL;
    while (s->forwards)
        drop_forward(s);
}

void rtmfp_keepalive_write(struct rtmfp_session *s, struct wr *w, co_usec now)
{
    write_forwards(s, w);
    if (s->replies)
        write_reply(s, w);
    if (now >= ping_at(s))
        write_ping(s, w);
}

/* ---- moves, 3.5.4.2: a peer has moved only when it responds from its new address, because anyone
 * could replay a packet from elsewhere */

struct rtmfp_move {
    struct udp_addr to;
    co_usec pinged_at;           /* 0: not yet */
    bool ping_due;
};

static void proof(const struct rtmfp_session *s, const struct udp_addr *at, co_usec when,
                  uint8_t out[PROOF])
{
    struct siphash h;
    uint8_t head[9] = { MOVE_MARK };
    uint64_t mac;

    for (unsigned i = 0; i < 8; i++)
        head[1 + i] = (uint8_t)((uint64_t)when >> (56 - 8 * i));
    siphash_begin(&h, s->set->key);
    siphash_more(&h, head, sizeof(head));
    siphash_more(&h, at->ip, sizeof(at->ip));
    siphash_more(&h, &at->port, sizeof(at->port));
    siphash_more(&h, &s, sizeof(s)); /* invalid in other sessions */
    mac = siphash_end(&h);
    memcpy(out, head, sizeof(head));
    memcpy(out + sizeof(head), &mac, sizeof(mac));
}

void rtmfp_keepalive_from(struct rtmfp_session *s, const struct udp_addr *from, co_usec now)
{
    if (udp_addr_same(from, &s->peer))
        return;
    if (!s->move)
        s->move = must(calloc(1, sizeof(*s->move)));
    if (s->move->pinged_at && now - s->move->pinged_at < MOVE_ASK_EVERY)
        return;
    s->move->to = *from;
    s->move->ping_due = true;
}

bool rtmfp_keepalive_move(struct rtmfp_session *s, struct wr *w, struct udp_addr *to, co_usec now)
{
    struct rtmfp_move *m = s->move;
    uint8_t body[PROOF];

    if (!m)
        return false;
    if (!m->ping_due && now - m->pinged_at >= MOVE_FOR) {
        free(m);
        s->move = NULL;
        return false;
    }
    if (!m->ping_due)
        return false;
    m->ping_due = false;
    m->pinged_at = now;
    *to = m->to;
    proof(s, to, now, body);
    rtmfp_keepalive_begin(s, w, false, now);
    return rtmfp_plain_write(w, RTMFP_PING, rtmfp_bytes(body, sizeof(body)));
}

static bool is_proof(const struct rtmfp_session *s, const struct rtmfp_arrival *a,
                     struct rtmfp_bytes body)
{
    uint8_t right[PROOF];
    uint64_t when = 0;

    if (body.n != PROOF || body.p[0] != MOVE_MARK)
        return false;
    for (unsigned i = 0; i < 8; i++)
        when = when << 8 | body.p[1 + i];
    if ((co_usec)when > a->now || a->now - (co_usec)when > MOVE_FOR)
        return false;
    proof(s, a->from, (co_usec)when, right);
    return memcmp(right, body.p, PROOF) == 0;
}

/* Older clients respond to each ping without its bytes. Their response only has to come from that
 * address, soon, and not often. */
static bool is_plain_answer(const struct rtmfp_session *s, const struct rtmfp_arrival *a,
                            struct rtmfp_bytes body)
{
    const struct rtmfp_move *m = s->move;

    if (!m || !m->pinged_at || !udp_addr_same(&m->to, a->from))
        return false;
    if ((s->hmac && body.n > 0) || a->now - m->pinged_at > MOVE_PLAIN_WITHIN)
        return false;
    return !s->moved_at || a->now - s->moved_at >= MOVE_PLAIN_EVERY;
}

void rtmfp_keepalive_reply(struct rtmfp_session *s, const struct rtmfp_arrival *a,
                        struct rtmfp_bytes body)
{
    struct udp_addr was = s->peer;

    if (udp_addr_same(a->from, &s->peer))
        return; /* nothing new: it is at its known address */
    if (!is_proof(s, a, body) && !is_plain_answer(s, a, body))
        return;
    s->peer = *a->from;
    s->moved_at = a->now;
    s->stat.moves++;
    if (s->set->sums)
        s->set->sums->moves++;
    free(s->move);
    s->move = NULL;
    if (s->set->ops->moved)
        s->set->ops->moved(s, &was);
}

co_usec rtmfp_keepalive_deadline(const struct rtmfp_session *s)
{
    if (s->replies || s->forwards || (s->move && s->move->ping_due))
        return 0;
    return ping_at(s);
}
