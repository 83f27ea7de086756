/* SPDX-License-Identifier: MIT */
/* rtc_peer.c - one client of sb_rtc_load: socket, ICE, DTLS, SRTP. */
#include "tools/load/rtc_peer.h"

#include "base/must.h"
#include "base/random_id.h"
#include "proto/dtls/own.h"
#include "proto/rtp/header.h"
#include "tools/load/watch.h"

#include <openssl/rand.h>
#include <string.h>

enum { BUFFER = 1 << 20, PRIORITY = 0x6e7f00ff };
#define CHECK_FIRST CO_MS(50)
#define CHECK_AGAIN CO_MS(2500)
#define SILENCE CO_SECONDS(10)
#define LINK_TURN CO_MS(2)

static struct dtls_identity *identity;
static const struct load_media *source;

err_t load_rtc_init(const struct load_media *from, bool cm)
{
    err_t err = dtls_identity_new(&identity, &(struct dtls_identity_opts){ .rsa = false });

    source = from;
    if (!err && cm && SSL_CTX_set_tlsext_use_srtp(dtls_identity_context(identity),
                                                  "SRTP_AES128_CM_SHA1_80") != 0)
        err = err_new(ERR_RTC_DTLS, "no AES-CM");
    return err;
}

/* ---- out */

void load_rtc_say(struct load_rtc *p, const void *data, size_t size)
{
    if (size > 0)
        load_socket_say(&p->socket, &p->path, data, size, co_now());
}

void load_rtc_report(struct load_rtc *p, const struct wr *rtcp)
{
    uint8_t packet[LOAD_RTC_PACKET];

    if (rtcp->len > 0 && !rtcp->bad && rtcp->len + SRTCP_TAIL <= sizeof(packet))
        load_rtc_say(p, packet, srtcp_protect(p->out, packet, rtcp->buf, rtcp->len));
}

static void say_handshake(struct load_rtc *p)
{
    const uint8_t *data;
    size_t size;

    while (dtls_output(p->dtls, &data, &size))
        load_rtc_say(p, data, size);
}

static void check(struct load_rtc *p, co_usec now)
{
    uint8_t out[STUN_MAX];
    struct stun_check c = { .username = p->username, .password = p->peer_pwd, .controlling = true,
                            .use_candidate = true, .has_priority = true, .priority = PRIORITY,
                            .tie = p->tie };

    /* the answer to an earlier one is as good while it has come to nothing */
    if (p->checked || p->check[0] == 0)
        random_id((char *)p->check, STUN_ID - 1);
    memcpy(c.id, p->check, STUN_ID);
    load_rtc_say(p, out, stun_write_check(out, &c));
    p->check_due = now + (p->checked ? CHECK_AGAIN : CHECK_FIRST);
}

/* ---- in */

static void connect_srtp(struct load_rtc *p, co_usec now)
{
    struct srtp_keys send, receive;

    if (!dtls_keys(p->dtls, &send, &receive)) {
        p->err = err_new(ERR_RTC_DTLS, "no profile of SRTP was agreed on");
        return;
    }
    p->err = srtp_out_new(&p->out, &send);
    if (!p->err)
        p->err = srtp_in_new(&p->in, &receive);
    srtp_keys_wipe(&send);
    srtp_keys_wipe(&receive);
    p->connected = !p->err;
    p->connected_at = p->c->asked = now;
}

static void hear_handshake(struct load_rtc *p, const uint8_t *data, size_t size, co_usec now)
{
    dtls_input(p->dtls, data, size, now);
    if (!p->connected && !p->err && dtls_state(p->dtls) == DTLS_DONE)
        connect_srtp(p, now); /* media may be right behind it */
}

/* The server asks whether we are there. */
static void answer(struct load_rtc *p, const struct stun_message *m)
{
    uint8_t out[STUN_MAX];

    if (stun_is_of(m, p->pwd))
        load_rtc_say(p, out, stun_write_success(out, m, &p->path.peer, p->pwd));
}

static void hear_stun(struct load_rtc *p, const uint8_t *data, size_t size, co_usec now)
{
    struct stun_message m;

    if (!stun_parse(&m, data, size))
        return;
    if (m.class == STUN_REQUEST)
        answer(p, &m);
    if (m.class != STUN_SUCCESS || memcmp(m.id, p->check, STUN_ID) != 0 ||
        !stun_is_of(&m, p->peer_pwd))
        return;
    p->heard = now;
    if (p->checked)
        return;
    p->checked = true;
    p->check_due = now + CHECK_AGAIN;
    dtls_start(p->dtls, now);
}

static void hear_media(struct load_rtc *p, uint8_t *data, size_t size, co_usec now)
{
    bool rtcp = rtp_is_rtcp(data, size);

    if (!p->in || !(rtcp ? srtcp_unprotect : srtp_unprotect)(p->in, data, &size)) {
        p->c->run->stat.rtc.forged++;
        return;
    }
    p->heard = now;
    if (p->send && rtcp)
        load_rtc_send_rtcp(p, data, size);
    else if (rtcp)
        load_rtc_look_rtcp(p, data, size, now);
    else if (!p->send)
        load_rtc_look_rtp(p, data, size, now);
}

/* RFC 7983. */
static void hear(void *arg, const uint8_t *data, size_t size, const struct udp_path *path,
                 co_usec now)
{
    struct load_rtc *p = arg;
    uint8_t copy[LOAD_RTC_PACKET];

    (void)path;
    if (size == 0 || size > sizeof(copy))
        return;
    if (data[0] < 4) {
        hear_stun(p, data, size, now);
    } else if (data[0] >= 20 && data[0] < 64) {
        hear_handshake(p, data, size, now);
    } else if (data[0] >= 128 && data[0] < 192) {
        memcpy(copy, data, size); /* it is decrypted in place */
        hear_media(p, copy, size, now);
    }
}

/* ---- its turns */

static co_usec sooner(co_usec a, co_usec b)
{
    return b != CO_FOREVER && b < a ? b : a;
}

static co_usec next_due(const struct load_rtc *p, co_usec now)
{
    co_usec due = sooner(p->check_due, dtls_deadline(p->dtls));

    if (p->connected)
        due = sooner(due, p->send ? load_rtc_send_due(p) : load_rtc_look_due(p));
    if (p->c->until)
        due = sooner(due, p->c->until);
    if (p->socket.bad)
        due = sooner(due, now + LINK_TURN);
    return due;
}

/* A phone that changes its network: another port from now on. */
static err_t rebind(struct load_rtc *p, co_usec now)
{
    const struct udp_opts opts = { .rcvbuf = BUFFER, .sndbuf = BUFFER };
    struct udp *udp;
    char ip[UDP_TEXT];
    err_t err = load_opts_bind(&p->c->run->opts, p->c->index, ip, sizeof(ip));

    if (!err)
        err = udp_open(&udp, ip, 0, &opts);
    if (err)
        return err;
    load_socket_flush();
    udp_close(p->socket.udp);
    p->socket.udp = udp;
    p->rebound = true;
    check(p, now);
    return NULL;
}

static err_t tick(struct load_rtc *p, co_usec now)
{
    double rebind_at = p->c->run->opts.rebind;

    if (now >= p->check_due)
        check(p, now);
    dtls_tick(p->dtls, now);
    say_handshake(p);
    if (!p->connected)
        return NULL;
    if (p->send)
        load_rtc_send_tick(p, now);
    else
        load_rtc_look_tick(p, now);
    if (rebind_at > 0 && !p->rebound && now - p->connected_at > (co_usec)(rebind_at * 1e6))
        return rebind(p, now);
    return NULL;
}

static err_t ended(struct load_rtc *p, co_usec now)
{
    err_t err = p->err;

    p->err = NULL;
    if (err)
        return err;
    if (dtls_state(p->dtls) == DTLS_CLOSED)
        return err_new(ERR_IO_CLOSED, "close_notify");
    if (dtls_state(p->dtls) == DTLS_FAILED)
        return err_new(ERR_RTC_DTLS, "%s", dtls_why(p->dtls));
    if (p->heard && now - p->heard > SILENCE)
        return err_new(ERR_RTC_TIMEOUT, "nothing came");
    return NULL;
}

static err_t turn(struct load_rtc *p)
{
    co_usec now = co_clock(), due = next_due(p, now);
    err_t err;

    if (now < due && udp_wait(p->socket.udp, due - now) == CO_STOPPED)
        return co_stop_why();
    err = load_socket_read(&p->socket);
    now = co_clock();
    if (!err)
        err = tick(p, now);
    load_socket_flush();
    if (!err)
        err = ended(p, now);
    co_yield_if_due();
    return err ? err : co_check();
}

/* ---- life */

static err_t begin(struct load_rtc *p, const char *url, const char *bind_ip, co_usec timeout)
{
    err_t err = load_rtc_talk(p, identity, source, url, timeout);

    p->socket = (struct load_socket){ .heard = hear, .arg = p };
    if (!err)
        err = load_socket_open(&p->socket, bind_ip, BUFFER, &p->c->run->opts);
    p->socket.link.random += p->c->index * 2;
    if (!err)
        err = dtls_new(&p->dtls, identity, &(struct dtls_opts){ .client = p->active,
                                                                .peer = p->fingerprint });
    return err;
}

err_t load_rtc_join(struct load_rtc **out, struct load_client *c, const char *url,
                    const char *bind_ip, co_usec timeout)
{
    struct load_rtc *p = must(calloc(1, sizeof(*p)));
    co_usec until = co_clock() + timeout;
    err_t err;

    p->c = c;
    load_rtc_look_init(&p->look);
    must_be(RAND_bytes((uint8_t *)&p->tie, sizeof(p->tie)) == 1);
    if (source)
        p->send = load_rtc_send_new(source);
    err = begin(p, url, bind_ip, timeout);
    while (!err && !p->connected) {
        err = turn(p);
        if (!err && !p->connected && co_clock() >= until)
            err = err_new(ERR_RTC_TIMEOUT, p->checked ? "no end of the handshake"
                                                      : "no answer to checks");
    }
    *out = p;
    if (!err) {
        return NULL;
    }
    load_rtc_leave(p);
    *out = NULL;
    return err;
}

err_t load_rtc_stay(struct load_rtc *p)
{
    err_t err = NULL;

    while (!err && !load_is_over(p->c))
        err = turn(p);
    return err;
}

void load_rtc_leave(struct load_rtc *p)
{
    if (!p)
        return;
    if (p->dtls) {
        dtls_close(p->dtls);
        p->socket.bad = false;
        say_handshake(p);
    }
    err_free(&p->err);
    load_rtc_look_fini(&p->look);
    load_rtc_send_free(p->send);
    srtp_out_free(p->out);
    srtp_in_free(p->in);
    dtls_free(p->dtls);
    load_socket_close(&p->socket);
    free(p);
}
