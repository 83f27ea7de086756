/* SPDX-License-Identifier: MIT */
/* peer.c - one session: opens it, reads and writes its packets, closes it.
 *
 * At the end it logs one line. Then the session lingers until its peer knows ([RTMFP] 3.5.5) or the
 * time is over, and is freed.
 */
#include "serve/rtmfp/keys_queue.h"

#include "base/container_of.h"
#include "base/ip.h"
#include "base/log.h"
#include "base/must.h"
#include "serve/rtmfp/table.h"
#include "session/address_slot.h"
#include "session/workers.h"

#include <openssl/crypto.h>

#include <stdlib.h>
#include <string.h>

enum { FEW = 4 }; /* sessions between two checks of the time */

/* Limit of buffered data for a peer that neither publishes nor plays: it sends only commands. */
enum { STRANGER_HELD = 256 << 10 };

#define ANSWER_KEPT CO_SECONDS(95) /* [RTMFP] 3.5.1.1.2 */

struct rtmfp_peer *rtmfp_peer_find(const struct rtmfp_service *s, uint32_t id)
{
    return datagram_slots_find(&s->slots, id);
}

const char *rtmfp_peer_ip(const struct rtmfp_peer *p, char buf[UDP_TEXT])
{
    return ip_text(p->session.peer.ip, buf);
}

/* ---- opened */

static void name(struct rtmfp_peer *p)
{
    struct co_cid own = co_swap_cid("");

    co_new_cid();
    memcpy(p->cid, co_cid(), sizeof(p->cid));
    co_set_cid(own.text);
}

static void set_keys(struct rtmfp_peer *p, const struct rtmfp_work *w)
{
    p->sealer.key = w->keyed.send;
    p->opener.key = w->keyed.receive;
    p->far_id = w->job.id;
    memcpy(p->peer_id, w->job.peer, sizeof(p->peer_id));
    memcpy(p->skic, w->job.skic_hash, sizeof(p->skic));
    p->group = rtmfp_group_id(w->job.group);
    p->numbered = w->keyed.receive.numbered;
    p->session.hmac = w->keyed.receive.hmac != 0;
    p->session.older = !w->keyed.send.hmac && !w->keyed.send.numbered;
}

static void send_answer(struct rtmfp_peer *p, const struct rtmfp_work *w, co_usec now)
{
    const struct udp_path path = { p->session.peer, p->local };
    uint8_t body[RTMFP_RIKEYING_MAX];
    size_t size;

    p->answer_size = (uint16_t)rtmfp_rikeying_body(body, p->id, &w->keyed);
    p->answer = must(malloc(p->answer_size));
    memcpy(p->answer, body, p->answer_size);
    size = rtmfp_responder_open_with(&p->service->responder,
                                     rtmfp_bytes(p->answer, p->answer_size), p->far_id, now,
                                     rtmfp_endpoint_room(p->endpoint));
    rtmfp_endpoint_put(p->endpoint, size, &path);
}

static struct rtmfp_endpoint *endpoint_of(const struct rtmfp_service *s,
                                          const struct rtmfp_handshake *h)
{
    struct datagram_endpoint *e = datagram_endpoint_find(&s->base, h->endpoint);

    return e ? container_of(e, struct rtmfp_endpoint, base) : NULL;
}

bool rtmfp_peer_open(struct rtmfp_service *s, struct rtmfp_handshake *h, co_usec now)
{
    struct rtmfp_endpoint *e = endpoint_of(s, h);
    struct rtmfp_peer *p;

    if (!e || s->base.refuses || s->ends)
        return false;
    p = must(calloc(1, sizeof(*p)));
    p->id = datagram_slots_take(&s->slots, p);
    if (p->id == 0) {
        free(p);
        return false;
    }
    p->service = s;
    p->shared = s->shared;
    (void)datagram_shared_ref(&p->shared->base);
    p->endpoint = e;
    p->local = h->path.local;
    p->place = h->place;
    h->place = (struct address_slot){ 0 };
    rtmfp_session_init(&p->session, s->set, &h->path.peer, now);
    p->session.store.most = STRANGER_HELD;
    set_keys(p, h->work);
    name(p);
    rtmfp_table_add(s->table, p);
    datagram_service_enter(&s->base);
    s->stat.opened++;
    send_answer(p, h->work, now);
    p->answer_until = now + ANSWER_KEPT;
    rtmfp_peer_flush(p, now);
    return true;
}

/* ---- input and output */

static void write_all(struct rtmfp_peer *p, co_usec now)
{
    struct rtmfp_cipher *cipher = p->cipher ? p->cipher : p->service->cipher;
    struct udp_path path = { .local = p->local };

    while (true) {
        struct wr w = rtmfp_seal_begin(&p->sealer, rtmfp_endpoint_room(p->endpoint),
                                       RTMFP_SEALED_MAX, RTMFP_PLAIN_MAX);
        size_t size;

        if (!rtmfp_session_output(&p->session, &w, &path.peer, now))
            return;
        size = rtmfp_seal(cipher, &p->sealer, p->far_id, &w);
        p->out += size;
        rtmfp_endpoint_put(p->endpoint, size, &path);
    }
}

static void forget_answer(struct rtmfp_peer *p)
{
    free(p->answer);
    p->answer = NULL;
    p->answer_until = 0;
}

/* The first packet arrived: the peer has the keys. */
static void on_first_packet(struct rtmfp_peer *p)
{
    char from[UDP_TEXT];

    forget_answer(p);
    log_trace("RTMFP client ip=%s, group=%u, hmac=%s, sequence=%s, peer=%s",
              udp_addr_text(&p->session.peer, from, sizeof(from)), p->group,
              p->session.hmac ? "on" : "off", p->numbered ? "on" : "off",
              rtmfp_peer_id_text(p->peer_id));
}

/* Log lines about the content carry the id of the session, not of the reader. */
void rtmfp_peer_take(struct rtmfp_peer *p, struct rtmfp_bytes plain, const struct udp_in *in)
{
    struct co_cid own;

    own = co_swap_cid(p->cid);
    p->in += in->size;
    if (p->answer)
        on_first_packet(p);
    rtmfp_session_input(&p->session, plain, &in->path.peer, in->at);
    if (udp_addr_same(&p->session.peer, &in->path.peer))
        p->local = in->path.local;
    if (rtmfp_session_acks_due(&p->session, in->at))
        write_all(p, in->at);
    rtmfp_peer_touch(p);
    co_set_cid(own.text);
}

/* ---- properties */

void rtmfp_peer_media(struct rtmfp_peer *p, bool on)
{
    if (on) {
        if (p->media++ > 0)
            return;
        p->cipher = must(rtmfp_cipher_new());
        workers_connected(p->service->base.env);
        p->session.store.most = RTMFP_SESSION_HELD;
        return;
    }
    if (p->media == 0 || --p->media > 0)
        return;
    rtmfp_cipher_free(p->cipher);
    p->cipher = NULL;
    workers_disconnected(p->service->base.env);
    p->session.store.most = STRANGER_HELD;
}

void rtmfp_peer_hostile(struct rtmfp_peer *p, const char *why)
{
    rtmfp_session_hostile(&p->session, why);
    rtmfp_peer_touch(p);
}

/* ---- out */

static void queue_end(struct rtmfp_peer *p);

static void on_timer(struct co_timer *t)
{
    rtmfp_peer_touch(container_of(t, struct rtmfp_peer, timer));
}

static void set_timer(struct rtmfp_peer *p, co_usec now)
{
    co_usec due = rtmfp_session_deadline(&p->session);

    if (p->answer && (due == CO_FOREVER || p->answer_until < due))
        due = p->answer_until;
    datagram_timer_set(&p->timer, due, now, on_timer);
}

static err_t end_of(const struct rtmfp_peer *p)
{
    char ip[UDP_TEXT];

    (void)rtmfp_peer_ip(p, ip);
    switch (p->session.end) {
    case RTMFP_ENDED_THERE:
        return err_new(ERR_IO_CLOSED, "%s closed its session", ip);
    case RTMFP_ENDED_SILENT:
        return err_new(ERR_RTMFP_TIMEOUT, "no packet from %s within the timeout", ip);
    case RTMFP_ENDED_UNANSWERED:
        return err_new(ERR_RTMFP_TIMEOUT, "%s does not answer pings", ip);
    case RTMFP_ENDED_HOSTILE:
        return err_new(ERR_RTMFP, "%s: %s", ip, p->session.why ? p->session.why : "over a limit");
    default:
        return err_new(ERR_STOPPED, "%s", ip);
    }
}

void rtmfp_peer_flush(struct rtmfp_peer *p, co_usec now)
{
    if (p->answer && now >= p->answer_until)
        forget_answer(p);
    write_all(p, now);
    if (!p->closing && p->session.end != RTMFP_NOT_ENDED)
        rtmfp_peer_close(p, end_of(p));
    if (p->session.state == RTMFP_CLOSED) {
        co_timer_cancel(&p->timer);
        queue_end(p);
        return;
    }
    p->service->peer_ops->flushed(p);
    set_timer(p, now);
}

static void on_turn(struct co_task *t)
{
    rtmfp_peers_turn(container_of(t, struct rtmfp_service, turn), co_clock());
}

void rtmfp_peer_touch(struct rtmfp_peer *p)
{
    struct rtmfp_service *s = p->service;

    if (p->touched)
        return;
    if (!s->touched)
        s->touched_end = &s->touched;
    co_post(&s->turn, on_turn);
    p->touched = true;
    p->next_touched = NULL;
    *s->touched_end = p;
    s->touched_end = &p->next_touched;
}

/* Works in time slices: timers of thousands of sessions may be due together. */
void rtmfp_peers_turn(struct rtmfp_service *s, co_usec now)
{
    for (unsigned i = 1; s->touched; i++) {
        struct rtmfp_peer *p = s->touched;

        s->touched = p->next_touched;
        p->touched = false;
        rtmfp_peer_flush(p, now);
        if (s->touched && i % FEW == 0 && co_slice_over()) {
            co_post(&s->turn, on_turn);
            return;
        }
    }
}

/* ---- end */

static void on_end(struct datagram_close_item *l);

static void queue_end(struct rtmfp_peer *p)
{
    if (p->queued)
        return;
    p->queued = true;
    datagram_close(&p->service->base, &p->close_item, on_end);
}

void rtmfp_peer_close(struct rtmfp_peer *p, err_t why)
{
    if (p->closing) {
        err_free(&why);
        if (!p->seen || p->service->ends) /* the coroutine it waited for may have ended */
            queue_end(p);
        return;
    }
    p->closing = true;
    p->why = why;
    p->service->peer_ops->closing(p);
    p->service->leaving++;
    rtmfp_table_remove(p->service->table, p, &p->session.peer);
    queue_end(p);
}

/* Frees the session; nothing may use it any more. */
static void peer_free(struct rtmfp_peer *p)
{
    struct rtmfp_service *s = p->service;
    struct rtmfp_shared *shared = p->shared;

    for (struct rtmfp_peer **q = &s->touched; p->touched && *q; q = &(*q)->next_touched) {
        if (*q == p) {
            *q = p->next_touched;
            if (!*q)
                s->touched_end = q;
            break;
        }
    }
    co_timer_cancel(&p->timer);
    rtmfp_session_fini(&p->session);
    rtmfp_cipher_free(p->cipher);
    datagram_slots_give(&s->slots, p->id);
    s->leaving--;
    s->lingering--;
    free(p->answer);
    OPENSSL_cleanse(p, sizeof(*p));
    free(p);
    datagram_service_part(&s->base);
    datagram_shared_unref(&shared->base);
}

/* Releases its slots in the limits: another session may open. */
static void release_slot(struct rtmfp_peer *p)
{
    p->service->lingering++;
    address_limits_leave(&p->place, co_clock());
    atomic_fetch_sub(&p->shared->sessions, 1);
}

static void end(struct rtmfp_peer *p)
{
    char ip[UDP_TEXT];

    co_set_cid(p->cid);
    if (!p->service->peer_ops->end(p, p->why))
        return; /* the end of its last stream calls this again */
    session_log_as_client(p->service->base.env, rtmfp_peer_ip(p, ip));
    p->seen = true;
    release_slot(p);
    if (p->session.state == RTMFP_OPEN)
        rtmfp_session_close(&p->session, co_clock());
    p->service->stat.ended[p->session.end]++;
    log_end("RTMFP client finished", &p->why);
    rtmfp_peer_flush(p, co_clock()); /* this may queue it again */
}

static void on_end(struct datagram_close_item *l)
{
    struct rtmfp_peer *p = container_of(l, struct rtmfp_peer, close_item);

    p->queued = false;
    if (!p->seen)
        end(p);
    if (p->queued || !p->seen)
        return;
    if (p->session.state == RTMFP_CLOSED || p->service->ends ||
        p->service->lingering > RTMFP_LINGER_MAX)
        peer_free(p);
}
