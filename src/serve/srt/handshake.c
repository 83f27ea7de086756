/* SPDX-License-Identifier: MIT */
/* handshake.c - incoming handshakes: cookies, limits, repeats, and the start of admission.
 *
 * An induction leaves no state. A conclusion is only read if its cookie is right, which proves its
 * source address.
 */
#include "serve/srt/admit.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/mem.h"

enum { HEADER_TIME = 8, RENDEZVOUS = 0 };

static int64_t minute_of(co_usec now)
{
    return now / CO_SECONDS(60);
}

static unsigned key_length(const struct conf_srt_server *conf)
{
    return *conf->passphrase ? (unsigned)conf->pbkeylen : 0;
}

static void answer_induction(struct srt_endpoint *e, const struct udp_in *in,
                             const struct srt_packet *p)
{
    struct srt_service *s = e->service;
    const struct conf_srt_server *conf = &s->base.env->conf->srt_server;
    uint8_t out[SRT_HANDSHAKE_MAX];
    size_t size = srt_respond_induction(p, s->shared->cookie_key, &in->path.peer,
                                       minute_of(in->at), key_length(conf), (uint32_t)in->at, out);

    s->stat.inductions++;
    if (size > 0)
        srt_endpoint_send(e, &in->path, out, size);
}

/* ---- refusals */

/* Refuses a caller because of its request or a limit. */
static void refuse_at_once(struct srt_endpoint *e, const struct udp_in *in,
                           const struct srt_handshake *h, enum srt_refusal code)
{
    char text[UDP_TEXT];

    log_warn("SRT client %s is refused with %u: %s",
             udp_addr_text(&in->path.peer, text, sizeof(text)), (unsigned)code,
             srt_refusal_text(code));
    srt_refuse(e, &in->path, h, code);
}

/* ---- known callers */

/* The conclusion was repeated: repeats the response with the current time. */
static void respond_again(struct srt_peer *p, co_usec now)
{
    uint32_t time = (uint32_t)(now - p->zero);

    if (!p->answer)
        return;
    for (int i = 0; i < 4; i++)
        p->answer[HEADER_TIME + i] = (uint8_t)(time >> (24 - 8 * i));
    srt_peer_send(p, p->answer, p->answer_size);
}

static struct srt_peer *peer_of(struct srt_caller *c)
{
    return container_of(c, struct srt_peer, caller);
}

/* Returns true if it belongs to a caller of this or another worker. */
static bool is_repeat(struct srt_endpoint *e, const struct udp_in *in,
                      const struct srt_handshake *h)
{
    struct srt_service *s = e->service;
    struct srt_caller *c = srt_callers_find(&s->callers, &in->path.peer, h->id);
    unsigned worker;

    if (c && c->first_seq == h->first_seq) {
        respond_again(peer_of(c), co_clock());
        return true;
    }
    if (c) { /* the same socket starts a new call */
        srt_callers_remove(&s->callers, c);
        datagram_client_close(&peer_of(c)->base, err_new(ERR_IO_CLOSED, "the client reconnected"));
        return false;
    }
    if (!srt_callers_away(&s->callers, &in->path.peer, h, in->at, &worker))
        return false;
    datagram_pass(&e->base, worker, in, DATAGRAM_MAILS);
    return true;
}

/* ---- new callers */

static bool is_slow_enough(struct srt_service *s, const struct udp_in *in,
                           struct address_slot *place, enum srt_refusal *why)
{
    const struct conf *conf = s->base.env->conf;
    const uint8_t *ip = in->path.peer.ip;
    const struct address_limits_config limits = {
        (unsigned)conf_protocol_per_address(conf, PROTOCOL_SRT, address_is_private(ip)),
        (unsigned)conf->srt_server.handshakes,
    };
    enum address_answer answer =
        address_limits_enter(s->base.shared->peers, place, ip, &limits, in->at);

    if (answer == ADDRESS_TOO_MANY)
        *why = SRT_REFUSED_OVERLOAD;
    if (answer == ADDRESS_TOO_FAST)
        s->stat.dropped++;
    return answer != ADDRESS_TOO_FAST;
}

static enum srt_refusal room(const struct srt_service *s)
{
    unsigned most = (unsigned)s->base.env->conf->srt_server.max_connections;

    if (s->base.refuses)
        return SRT_REFUSED_CLOSING;
    if (atomic_load(&s->shared->connections) >= most)
        return SRT_REFUSED_BACKLOG;
    return mem_left() ? SRT_WELCOME : SRT_REFUSED_RESOURCES;
}

static void begin(struct srt_endpoint *e, const struct udp_in *in, const struct srt_packet *packet,
                  const struct srt_handshake *h, struct address_slot *place)
{
    struct srt_service *s = e->service;
    struct srt_peer *p = srt_peer_new(e, in, h);
    err_t err;

    p->base.place = *place;
    *place = (struct address_slot){ 0 };
    p->request->time = packet->time;
    err = srt_peer_enter(p, s) ? co_go(s->base.env->connections, "srt", srt_admit_main, p)
                               : err_new(ERR_TOO_MANY, "SRT ids");
    if (!err)
        return;
    log_end("accept", &err);
    srt_send_refusal(e, &in->path, h, SRT_REFUSED_RESOURCES);
    srt_peer_free(p);
}

static void conclude(struct srt_endpoint *e, const struct udp_in *in,
                     const struct srt_packet *packet, const struct srt_handshake *h,
                     enum srt_refusal why)
{
    struct srt_service *s = e->service;
    struct address_slot place = { 0 };
    uint32_t before;

    if (is_repeat(e, in, h))
        return;
    before = srt_callers_refused(&s->callers, &in->path.peer, h, in->at);
    if (before) {
        srt_send_refusal(e, &in->path, h, before);
        return;
    }
    if (!is_slow_enough(s, in, &place, &why))
        return;
    if (!why)
        why = room(s);
    if (why)
        refuse_at_once(e, in, h, why);
    else
        begin(e, in, packet, h, &place);
    address_limits_leave(&place, in->at);
}

/* In rendezvous mode both sides call with their own cookies. The response is as large as the
 * request. */
static void refuse_rendezvous(struct srt_endpoint *e, const struct udp_in *in,
                              const struct srt_handshake *h)
{
    char text[UDP_TEXT];

    log_warn("SRT client %s requests rendezvous mode: it must connect as a caller",
             udp_addr_text(&in->path.peer, text, sizeof(text)));
    srt_send_refusal(e, &in->path, h, SRT_REFUSED_MALFORMED);
}

void srt_handshake_input(struct srt_endpoint *e, const struct udp_in *in,
                         const struct srt_packet *p)
{
    struct srt_service *s = e->service;
    struct srt_handshake h;
    enum srt_refusal why;

    if (datagram_endpoint_refuses(&e->base, &in->path) || !p->control || p->type != SRT_HANDSHAKE ||
        p->size < SRT_HANDSHAKE_BODY) {
        s->stat.strangers++;
        return;
    }
    why = srt_handshake_read(&h, p);
    if (h.kind == SRT_INDUCTION) {
        answer_induction(e, in, p);
        return;
    }
    if (h.kind == RENDEZVOUS) {
        refuse_rendezvous(e, in, &h);
        return;
    }
    if (h.kind != SRT_CONCLUSION) {
        s->stat.strangers++;
        return;
    }
    s->stat.handshakes++;
    if (srt_cookie_is_valid(s->shared->cookie_key, &in->path.peer, minute_of(in->at), h.cookie))
        conclude(e, in, p, &h, why);
    else
        s->stat.bad_cookies++;
}
