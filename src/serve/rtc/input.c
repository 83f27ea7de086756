/* SPDX-License-Identifier: MIT */
/* input.c - classifies incoming datagrams (RFC 7983) and finds their sessions. From unknown
 * addresses only ICE checks are accepted. */
#include "serve/rtc/impl.h"

#include "base/log.h"

#include <limits.h>
#include <string.h>

enum { STUN_END = 4, DTLS_FIRST = 20, DTLS_END = 64, RTP_FIRST = 128, RTP_END = 192 };
enum { RTCP_FIRST = 192, RTCP_END = 224 }; /* values of the second byte */
enum { RTP_LEAST = 12, RTCP_LEAST = 8, BINDING = 1 };
enum { RTCP_RATE = 200, BAD_RATE = 1000 };

#define DEAF CO_SECONDS(1)
#define TELL_EVERY CO_SECONDS(10)

/* ---- ICE checks */

static void on_unknown(struct rtc_service *s, const struct udp_in *in, co_usec now)
{
    char text[UDP_TEXT];

    s->unknown++;
    s->stat.strangers++;
    if (s->strangers_logged && now - s->strangers_logged < TELL_EVERY)
        return;
    s->strangers_logged = now;
    log_warn("RTC: %llu ICE checks for unknown sessions, the last one from %s",
             (unsigned long long)(s->unknown - s->unknown_logged),
             udp_addr_text(&in->path.peer, text, sizeof(text)));
    s->unknown_logged = s->unknown;
}

/* Records that p sends from this address; `sure`: it also receives there. Returns false while the
 * address belongs to another session. */
static bool know_address(struct rtc_endpoint *e, struct rtc_peer *p, const struct udp_in *in,
                         unsigned via, bool sure, co_usec now)
{
    struct rtc_service *s = e->service;
    struct rtc_route *r = rtc_table_find(&s->table, e, &in->path.peer);
    struct rtc_route *spare = r && r->peer == p ? NULL : rtc_table_spare(p);
    bool was_sure = r && r->peer == p && r->worker == via && r->sure;

    e->proven = true;
    if (spare && spare != r)
        rtc_pass_drop(s, spare); /* notifies the worker that passes it on, whose table would fill
                                  * up */
    r = rtc_table_own(&s->table, p, e, &in->path.peer, via, sure, now);
    if (r && !was_sure)
        rtc_pass_claim(s, via, e->base.number, &in->path.peer, sure ? RTC_PROVEN : RTC_MINE);
    return r && (r->sure || via == s->base.env->worker);
}

static void on_way(struct rtc_peer *p, co_usec now)
{
    const struct ice_path *way = ice_path(&p->ice);
    const struct rtc_endpoint *e = way->link;
    char text[UDP_TEXT];

    (void)udp_addr_text(&way->path.peer, text, sizeof(text));
    if (p->base.state == DATAGRAM_WAITING) {
        log_trace("RTC: STUN done, %s by %s, %lld ms after the answer", text,
                  e->base.socket ? "UDP" : "TCP", us_to_ms(now - p->answered));
        return;
    }
    p->address_changes++;
    p->service->stat.address_changes++;
    log_trace("RTC: session address change to %s over %s", text,
              e->base.socket ? "UDP" : "TCP");
}

static void on_check(struct rtc_endpoint *e, struct rtc_peer *p, const struct stun_message *m,
                     const struct udp_in *in, unsigned via, co_usec now)
{
    const struct ice_path way = { .path = in->path, .link = e };
    uint8_t out[STUN_MAX];
    size_t size = 0;
    enum ice_result result = ice_input(&p->ice, m, &way, now, out, &size);
    bool known, mine;

    if (result == ICE_DROPPED) {
        e->service->stat.forged_checks++;
        return;
    }
    e->service->stat.checks++;
    e->service->stat.checks_answered += size > 0;
    rtc_peer_came(p, in->size);
    known = ice_knows(&p->ice, &way); /* false for a peer that got a role conflict error */
    mine = known && know_address(e, p, in, via, false, now);
    if (size > 0) {
        p->base.session.out += size;
        rtc_peer_send_on(&way, out, size);
    }
    if (known && (!mine || ice_needs_check(&p->ice, &way, now)))
        rtc_probe(e, p, in, now);
    if (result == ICE_MOVED)
        on_way(p, now);
    if (p->base.state == DATAGRAM_WAITING && ice_path(&p->ice))
        rtc_peer_checked(p, now);
}

/* Handles the answer to our check: the peer receives at this address, so media may be sent
 * there. */
static void on_answer(struct rtc_endpoint *e, const struct stun_message *m,
                      const struct udp_in *in, unsigned via, co_usec now)
{
    struct rtc_service *s = e->service;
    const struct ice_path way = { .path = in->path, .link = e };
    unsigned self = s->base.env->worker, worker = m->id[0];
    struct rtc_peer *p = worker == self ? rtc_probed(s, m->id) : NULL;
    enum ice_result result;
    struct co_cid own;

    if (!p) {
        s->stat.strangers++;
        if (via == self && worker != self && worker < s->base.shared->workers)
            rtc_pass(e, worker, in, RTC_MAILS_STRANGE);
        return;
    }
    result = ice_answer(&p->ice, m, &way, p->agreed.peer_pwd, now);
    if (result == ICE_DROPPED) {
        s->stat.forged_checks++;
        return;
    }
    rtc_peer_came(p, in->size);
    (void)know_address(e, p, in, via, true, now);
    own = co_swap_cid(p->base.cid);
    if (result == ICE_MOVED)
        on_way(p, now);
    co_set_cid(own.text);
}

/* Passes a check to the worker that its ufrag names, unless it was already passed on. */
static void pass_check(struct rtc_endpoint *e, const struct udp_in *in, const char *ufrag,
                       size_t size, unsigned via, co_usec now)
{
    struct rtc_service *s = e->service;
    unsigned worker = via == s->base.env->worker ? rtc_worker_of(s, ufrag, size) : UINT_MAX;

    if (worker != UINT_MAX && worker != via) {
        rtc_table_hint(&s->table, e, &in->path.peer, worker, now);
        rtc_pass(e, worker, in, RTC_MAILS_STRANGE);
    } else {
        on_unknown(s, in, now);
    }
}

static void on_stun(struct rtc_endpoint *e, const struct udp_in *in, unsigned via, co_usec now)
{
    struct rtc_service *s = e->service;
    struct stun_message m;
    struct rtc_peer *p;
    const char *colon;
    struct co_cid own;

    if (in->size > STUN_MAX || !stun_parse(&m, in->data, in->size)) {
        s->stat.strangers++;
        return;
    }
    if (m.class == STUN_SUCCESS || m.class == STUN_ERROR) {
        on_answer(e, &m, in, via, now);
        return;
    }
    if (m.class != STUN_REQUEST || m.method != BINDING)
        return; /* keepalive for NAT */
    colon = m.username ? memchr(m.username, ':', m.username_size) : NULL;
    if (!colon || colon == m.username) {
        s->stat.forged_checks++;
        return;
    }
    p = rtc_table_named(&s->table, RTC_NAME_CHECKS, m.username,
                        (size_t)(colon - m.username));
    s->stat.by_name += p != NULL;
    if (!p) {
        pass_check(e, in, m.username, (size_t)(colon - m.username), via, now);
        return;
    }
    rtc_mirror(s, in->data, in->size);
    own = co_swap_cid(p->base.cid);
    on_check(e, p, &m, in, via, now);
    co_set_cid(own.text);
}

/* ---- packets of a session */

static void on_bad(struct rtc_peer *p, co_usec now)
{
    if (rtc_rate_take(&p->bad_rate, BAD_RATE, now))
        return;
    p->deaf_until = now + DEAF;
    p->bad_rate.n = 0;
    log_warn("RTC: %u bad packets from %s within a second: its packets are ignored for a second",
             (unsigned)BAD_RATE, p->base.ip);
}

static bool is_rtcp(const struct udp_in *in)
{
    return in->data[1] >= RTCP_FIRST && in->data[1] < RTCP_END;
}

static bool open_packet(struct rtc_peer *p, bool rtcp, uint8_t *packet, size_t *size)
{
    const struct srtp_in_stat *seen = srtp_in_stat(p->srtp_in), before = *seen;
    struct rtc_service_stat *sum = &p->service->stat;
    bool done = rtcp ? srtcp_unprotect(p->srtp_in, packet, size)
                     : srtp_unprotect(p->srtp_in, packet, size);

    if (done)
        return true;
    sum->forged += seen->forged - before.forged;
    sum->replayed += seen->replayed - before.replayed;
    return false;
}

/* Decrypts a packet into service->plain. */
static bool unprotect(struct rtc_peer *p, const struct udp_in *in, size_t *size, co_usec now)
{
    uint8_t *plain = p->service->plain;
    bool done;

    if (in->size > RTC_DATAGRAM_MAX || (!p->srtp_in && !p->clear))
        return false;
    memcpy(plain, in->data, in->size);
    *size = in->size;
    if (!p->srtp_in)
        return true;
    done = open_packet(p, is_rtcp(in), plain, size);
    if (!done)
        on_bad(p, now);
    return done;
}

static void mark_received(struct rtc_route *r, struct rtc_peer *p, const struct udp_in *in,
                          co_usec now)
{
    const struct ice_path way = { .path = in->path, .link = (void *)(uintptr_t)r->endpoint };

    rtc_peer_came(p, in->size);
    r->used = now;
    if (ice_received(&p->ice, &way, now))
        on_way(p, now);
}

static void on_rtcp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now)
{
    if (!rtc_rate_take(&p->rtcp_rate, RTCP_RATE, now))
        return;
    p->service->stat.rtcp_in++;
    if (p->base.publishes)
        rtc_publish_rtcp(p, data, size, now);
    else
        rtc_play_rtcp(p, data, size, now);
}

static void on_rtp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now)
{
    int drop = p->base.session.vhost->rtc.drop_for_pt;

    if (!p->base.publishes || (drop > 0 && (data[1] & 127) == drop))
        return;
    p->received++;
    if (!p->first_packet) {
        p->first_packet = now;
        log_trace("RTC: first packet of %s, %lld ms after the answer", p->base.ip,
                  us_to_ms(now - p->answered));
    }
    rtc_publish_rtp(p, data, size, now);
}

static void on_media(struct rtc_route *r, struct rtc_peer *p, const struct udp_in *in,
                     co_usec now)
{
    const uint8_t *plain = p->service->plain;
    bool rtcp;
    size_t size;

    if (p->base.state != DATAGRAM_ACTIVE || in->size < RTCP_LEAST ||
        (!(rtcp = is_rtcp(in)) && in->size < RTP_LEAST)) {
        on_bad(p, now);
        return;
    }
    if (!unprotect(p, in, &size, now) || size < (size_t)(rtcp ? RTCP_LEAST : RTP_LEAST))
        return;
    mark_received(r, p, in, now);
    rtc_mirror(p->service, plain, size);
    if (rtcp)
        on_rtcp(p, plain, size, now);
    else
        on_rtp(p, plain, size, now);
}

/* The end of the handshake proves that the peer got our packets, if it came from the current
 * address. */
static void on_handshake(struct rtc_endpoint *e, struct rtc_peer *p, const struct udp_in *in,
                         unsigned via, co_usec now)
{
    const struct ice_path way = { .path = in->path, .link = e };
    bool was_handshaking = p->base.state == DATAGRAM_HANDSHAKING;

    rtc_peer_dtls(p, in->data, in->size, now);
    if (!was_handshaking || p->base.state != DATAGRAM_ACTIVE)
        return;
    ice_reached(&p->ice, &way);
    if (p->ice.sure)
        (void)know_address(e, p, in, via, true, now);
}

static void on_packet(struct rtc_endpoint *e, struct rtc_route *r, const struct udp_in *in,
                      unsigned via, co_usec now)
{
    struct rtc_peer *p = r->peer;
    uint8_t first = in->data[0];
    struct co_cid own;

    if (now < p->deaf_until)
        return;
    own = co_swap_cid(p->base.cid);
    if (first >= RTP_FIRST && first < RTP_END)
        on_media(r, p, in, now);
    else if (first >= DTLS_FIRST && first < DTLS_END)
        on_handshake(e, p, in, via, now);
    else
        on_bad(p, now);
    co_set_cid(own.text);
}

void rtc_input(struct rtc_endpoint *e, const struct udp_in *in, unsigned via, co_usec now)
{
    struct rtc_service *s = e->service;
    struct rtc_route *r;
    unsigned worker;

    if (in->size > 0 && in->data[0] < STUN_END) {
        on_stun(e, in, via, now);
        return;
    }
    r = in->size > 1 ? rtc_table_find(&s->table, e, &in->path.peer) : NULL;
    if (r && r->peer) {
        s->stat.by_address++;
        on_packet(e, r, in, via, now);
    } else if (r && via == s->base.env->worker) {
        r->used = now;
        rtc_pass(e, r->worker, in, DATAGRAM_MAILS);
    } else if (!r && in->size > 1 && via == s->base.env->worker &&
               rtc_table_hinted(&s->table, e, &in->path.peer, now, &worker)) {
        rtc_pass(e, worker, in, RTC_MAILS_STRANGE);
    } else {
        s->stat.strangers++;
    }
}
