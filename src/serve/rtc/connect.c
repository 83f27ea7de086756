/* SPDX-License-Identifier: MIT */
/* connect.c - from the first ICE check to SRTP keys: DTLS of a session; and the session timer. */
#include "serve/rtc/impl.h"

#include "base/container_of.h"
#include "base/log.h"

enum { DTLS_RATE = 100 };

#define CONNECT_TIME CO_SECONDS(30)
#define TOKEN_CHECK CO_SECONDS(10) /* interval of token checks */

/* ---- connected */

static const char *profile_name(enum srtp_profile profile)
{
    return profile == SRTP_AEAD_AES_128_GCM ? "AES128-GCM" : "AES128-CM";
}

static void connected(struct rtc_peer *p, co_usec now)
{
    datagram_client_state(&p->base, DATAGRAM_ACTIVE);
    p->base.session.in += p->in_before;
    p->connected = now;
    address_limits_leave(&p->pending, now);
    if (p->base.publishes)
        rtc_publish_connected(p, now);
    else
        rtc_play_connected(p, now);
}

static err_t take_keys(struct rtc_peer *p)
{
    struct srtp_keys send, receive;
    err_t err;

    if (!dtls_keys(p->dtls, &send, &receive))
        return err_new(ERR_RTC_DTLS, "%s offers no SRTP profile that the server supports",
                       p->base.ip);
    p->profile = send.profile;
    err = srtp_out_new(&p->srtp_out, &send);
    if (!err)
        err = srtp_in_new(&p->srtp_in, &receive);
    srtp_keys_wipe(&send);
    srtp_keys_wipe(&receive);
    return err;
}

static void handshake_done(struct rtc_peer *p, co_usec now)
{
    err_t err = p->clear ? NULL : take_keys(p);

    if (err) {
        p->service->stat.failed_handshakes++;
        datagram_client_close(&p->base, err);
        return;
    }
    p->service->stat.handshakes++;
    log_trace("RTC: DTLS done as %s, cipher=%s, srtp=%s, %lld ms after the answer",
              p->agreed.active ? "client" : "server", dtls_cipher(p->dtls),
              p->clear ? "off" : profile_name(p->profile), us_to_ms(now - p->answered));
    connected(p, now);
}

/* ---- DTLS */

static void send_flights(struct rtc_peer *p)
{
    const uint8_t *data;
    size_t size;

    while (dtls_output(p->dtls, &data, &size))
        rtc_peer_send(p, data, size);
}

/* Called after each input and timer. */
static void check_dtls(struct rtc_peer *p, co_usec now)
{
    send_flights(p);
    switch (dtls_state(p->dtls)) {
    case DTLS_DONE:
        if (p->base.state == DATAGRAM_HANDSHAKING)
            handshake_done(p, now);
        break;
    case DTLS_CLOSED:
        datagram_client_close(&p->base, err_new(ERR_IO_CLOSED, "%s sent close_notify", p->base.ip));
        break;
    case DTLS_FAILED:
        p->service->stat.failed_handshakes += p->base.state == DATAGRAM_HANDSHAKING;
        datagram_client_close(&p->base, err_new(ERR_RTC_DTLS, "%s: %s", p->base.ip,
                                                dtls_why(p->dtls)));
        break;
    default:
        break;
    }
}

void rtc_peer_on_handshake(struct rtc_peer *p, co_usec now)
{
    check_dtls(p, now);
    rtc_peer_set_timer(p, now);
}

void rtc_peer_dtls(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now)
{
    if ((!p->dtls && !p->handshake) || p->base.state < DATAGRAM_HANDSHAKING ||
        p->base.state > DATAGRAM_ACTIVE || !rtc_rate_take(&p->dtls_rate, DTLS_RATE, now))
        return;
    rtc_mirror(p->service, data, size);
    rtc_peer_came(p, size);
    if (p->handshake || p->base.state == DATAGRAM_HANDSHAKING) {
        rtc_handshake_put(p, data, size);
        return;
    }
    dtls_input(p->dtls, data, size, now);
    rtc_peer_on_handshake(p, now);
}

/* Creates the DTLS state only now: a client that never connects must not cost memory. */
void rtc_peer_checked(struct rtc_peer *p, co_usec now)
{
    const struct dtls_opts opts = { .client = p->agreed.active, .peer = p->agreed.fingerprint };
    err_t err;

    datagram_client_state(&p->base, DATAGRAM_HANDSHAKING);
    p->checked = now;
    if (p->no_dtls) {
        connected(p, now);
        rtc_peer_set_timer(p, now);
        return;
    }
    err = dtls_new(&p->dtls, p->identity, &opts);
    if (err) {
        datagram_client_close(&p->base, err);
        return;
    }
    dtls_start(p->dtls, now);
    check_dtls(p, now);
    rtc_peer_set_timer(p, now);
}

/* ---- timer */

static err_t silence_of(const struct rtc_peer *p)
{
    if (p->base.state == DATAGRAM_ACTIVE)
        return err_new(ERR_RTC_TIMEOUT, "no packet from %s for stun_timeout, %lld ms", p->base.ip,
                       us_to_ms(p->base.session.vhost->rtc.stun_timeout));
    return err_new(ERR_RTC_TIMEOUT, "%s did not connect within %lld ms of the answer: %s",
                   p->base.ip, us_to_ms(CONNECT_TIME), p->base.state == DATAGRAM_WAITING ?
                   "no ICE check arrived; can the client reach the candidate address?" :
                   "the DTLS handshake did not finish");
}

/* Returns when the session times out. */
static co_usec end_of(const struct rtc_peer *p)
{
    co_usec received_at = p->ice.received_at > p->connected ? p->ice.received_at : p->connected;

    return p->base.state == DATAGRAM_ACTIVE ? received_at + p->base.session.vhost->rtc.stun_timeout
                                     : p->answered + CONNECT_TIME;
}

void rtc_peer_turn(struct datagram_client *client, co_usec now)
{
    struct rtc_peer *p = container_of(client, struct rtc_peer, base);

    if (now >= end_of(p)) {
        p->service->stat.timeouts++;
        datagram_client_close(&p->base, silence_of(p));
    } else if (session_has_expired(p->base.session.ends)) {
        datagram_client_close(&p->base, session_expiry_error());
    } else {
        if (p->dtls && dtls_deadline(p->dtls) != CO_FOREVER && dtls_deadline(p->dtls) <= now) {
            dtls_tick(p->dtls, now);
            check_dtls(p, now);
        }
        rtc_peer_set_timer(p, now);
    }
}

void rtc_peer_set_timer(struct rtc_peer *p, co_usec now)
{
    co_usec due = end_of(p), dtls = p->dtls ? dtls_deadline(p->dtls) : CO_FOREVER;

    if (p->base.state == DATAGRAM_ADMITTING || p->base.state == DATAGRAM_ENDING)
        return;
    if (dtls != CO_FOREVER && dtls < due)
        due = dtls;
    if (p->base.session.ends > 0 && due > now + TOKEN_CHECK)
        due = now + TOKEN_CHECK;
    datagram_client_timer(&p->base, due, now);
}
