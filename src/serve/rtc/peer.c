/* SPDX-License-Identifier: MIT */
/* peer.c - one session: creation, lookup, close. */
#include "serve/rtc/peer.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "base/random_id.h"
#include "serve/rtc/impl.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAM_MAX = 64 * 1024 };

_Static_assert(offsetof(struct rtc_peer, base) == 0, "a peer begins with its session");

/* Writes text as the value of a URL parameter. */
static void put_value(struct wr *w, const char *text)
{
    for (; *text; text++) {
        if (strchr("&#%+ \"<>", *text))
            wr_printf(w, "%%%02X", (unsigned char)*text);
        else
            wr_u8(w, (uint8_t)*text);
    }
}

/* Adds a token from the header to the parameters, unless they contain one. */
static char *param_of(const struct rtc_request *req)
{
    const char *param = req->param ? req->param : "";
    bool has = strstr(param, "?token=") || strstr(param, "&token=");
    struct wr w;

    if (!req->bearer || has)
        return must_dup(param);
    wr_init(&w, PARAM_MAX);
    wr_printf(&w, "%s%ctoken=", param, *param ? '&' : '?');
    put_value(&w, req->bearer);
    wr_u8(&w, 0);
    if (!w.bad)
        return (char *)w.buf;
    wr_free(&w);
    return must_dup(param);
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* Copies all its strings into one block. */
static void set_names(struct rtc_peer *p, const struct rtc_request *req)
{
    struct session_stream *names = &p->base.session.names;
    char *param = param_of(req);
    const char *at;

    p->base.names = must_print("%s%c%s%c%s%c%s%c%s%c%s%c%s", text_of(req->vhost), '\0',
                          text_of(req->app), '\0', text_of(req->stream), '\0', param, '\0',
                          text_of(req->tc_url), '\0', text_of(req->page_url), '\0',
                          text_of(req->bearer));
    free(param);
    at = p->base.names;
    names->vhost = at;
    names->app = at += strlen(at) + 1;
    names->name = at += strlen(at) + 1;
    names->param = at += strlen(at) + 1;
    names->tc_url = at += strlen(at) + 1;
    names->page_url = at += strlen(at) + 1;
    p->base.session.token = req->bearer ? at + strlen(at) + 1 : NULL;
    names->ip = p->base.ip;
}

static void enter(struct rtc_peer *p, struct rtc_service *s)
{
    p->service = s;
    datagram_client_enter(&p->base, &s->base);
    datagram_service_enter(&s->base);
    atomic_fetch_add(&s->shared->sessions, 1);
    workers_connected(s->base.env);
}

struct rtc_peer *rtc_peer_new(struct rtc_service *s, struct rtc_request *req)
{
    struct rtc_peer *p = must(calloc(1, sizeof(*p)));

    datagram_client_init(&p->base, s->base.env);
    p->base.session.detail = &rtc_client_detail;
    p->location.kind = RTC_NAME_LOCATION;
    p->base.publishes = req->kind == RTC_REQUEST_PUBLISH;
    (void)snprintf(p->base.ip, sizeof(p->base.ip), "%s", text_of(req->ip));
    set_names(p, req);
    random_id(p->token, sizeof(p->token) - 1);
    enter(p, s);
    return p;
}

/* Removes it from all tables. */
static void part(struct rtc_peer *p)
{
    struct rtc_service *s = p->service;

    rtc_table_unname(&s->table, &p->name);
    rtc_table_unname(&s->table, &p->location);
    rtc_probe_forget(p);
    if (p->chosen_name)
        rtc_names_leave(s, p->ufrag);
    while (p->routes)
        rtc_pass_drop(s, p->routes);
    atomic_fetch_sub(&s->shared->sessions, 1);
    workers_disconnected(s->base.env);
    datagram_client_part(&p->base);
    datagram_service_part(&s->base);
}

void rtc_peer_free(struct rtc_peer *p)
{
    address_limits_leave(&p->pending, co_now());
    rtc_handshake_forget(p);
    dtls_free(p->dtls);
    srtp_out_free(p->srtp_out);
    srtp_in_free(p->srtp_in);
    dtls_identity_unref(p->identity);
    part(p);
    datagram_client_fini(&p->base);
    OPENSSL_cleanse(&p->ice, sizeof(p->ice));
    free(p);
}

/* So that a page in a browser notices the end at once. */
static void send_close_notify(struct rtc_peer *p)
{
    const uint8_t *data;
    size_t size;

    if (!p->dtls)
        return;
    dtls_close(p->dtls);
    while (dtls_output(p->dtls, &data, &size))
        rtc_peer_send(p, data, size);
}

static void log_end_of(const struct rtc_peer *p)
{
    const struct srtp_in_stat *in = p->srtp_in ? srtp_in_stat(p->srtp_in) : NULL;

    log_trace("RTC: session %s of %s ends after %lld ms, bytes in=%llu, out=%llu, packets in=%llu, "
              "out=%llu, checks=%llu, refused=%llu, forged=%llu, replayed=%llu, address "
              "changes=%u", p->ufrag, p->base.session.names.name,
              us_to_ms(co_clock() - p->answered),
              (unsigned long long)p->base.session.in, (unsigned long long)p->base.session.out,
              (unsigned long long)p->received, (unsigned long long)p->sent,
              (unsigned long long)p->ice.checks, (unsigned long long)p->ice.refused,
              (unsigned long long)(in ? in->forged : 0),
              (unsigned long long)(in ? in->replayed : 0), p->address_changes);
}

void rtc_peer_close(struct rtc_peer *p, err_t why)
{
    co_timer_cancel(&p->base.timer);
    send_close_notify(p);
    log_end_of(p);
    session_log_end(&p->base.session, &why);
    rtc_peer_free(p);
}
