/* SPDX-License-Identifier: MIT */
/* peer.c - one session: made, known, counted, freed. */
#include "serve/rtc/peer.h"

#include "base/container_of.h"
#include "base/must.h"
#include "base/random_id.h"
#include "serve/rtc/impl.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAM_MAX = 64 * 1024 };

_Static_assert(offsetof(struct rtc_peer, base) == 0, "a peer begins with its session");

static void on_kick(struct session *s)
{
    struct rtc_peer *p = container_of(s, struct rtc_peer, base);

    rtc_peer_leave(p, err_new(ERR_KICKED, "%s", p->ip));
}

/* As the value of a parameter. */
static void put_value(struct wr *w, const char *text)
{
    for (; *text; text++) {
        if (strchr("&#%+ \"<>", *text))
            wr_printf(w, "%%%02X", (unsigned char)*text);
        else
            wr_u8(w, (uint8_t)*text);
    }
}

/* A token in the header counts as one among the parameters, unless there is one. */
static char *param_of(const struct rtc_ask *ask)
{
    const char *param = ask->param ? ask->param : "";
    bool has = strstr(param, "?token=") || strstr(param, "&token=");
    struct wr w;

    if (!ask->bearer || has)
        return must_dup(param);
    wr_init(&w, PARAM_MAX);
    wr_printf(&w, "%s%ctoken=", param, *param ? '&' : '?');
    put_value(&w, ask->bearer);
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

/* Its words, behind each other in one block. */
static void set_names(struct rtc_peer *p, const struct rtc_ask *ask)
{
    struct session_stream *names = &p->base.names;
    char *param = param_of(ask);
    const char *at;

    p->names = must_print("%s%c%s%c%s%c%s%c%s%c%s%c%s", text_of(ask->vhost), '\0',
                          text_of(ask->app), '\0', text_of(ask->stream), '\0', param, '\0',
                          text_of(ask->tc_url), '\0', text_of(ask->page_url), '\0',
                          text_of(ask->bearer));
    free(param);
    at = p->names;
    names->vhost = at;
    names->app = at += strlen(at) + 1;
    names->name = at += strlen(at) + 1;
    names->param = at += strlen(at) + 1;
    names->tc_url = at += strlen(at) + 1;
    names->page_url = at += strlen(at) + 1;
    p->base.token = ask->bearer ? at + strlen(at) + 1 : NULL;
    names->ip = p->ip;
}

/* How many there are of each kind is asked once a second: nobody walks them all for that. */
static void count(const struct rtc_peer *p, uint64_t by)
{
    struct rtc_service_stat *stat = &p->service->stat;

    stat->waiting += p->state < RTC_CONNECTED ? by : 0;
    stat->publishers += p->state == RTC_CONNECTED && p->publishes ? by : 0;
    stat->players += p->state == RTC_CONNECTED && !p->publishes ? by : 0;
}

void rtc_peer_state(struct rtc_peer *p, enum rtc_state state)
{
    count(p, UINT64_MAX); /* one less */
    p->state = state;
    count(p, 1);
}

static void enter(struct rtc_peer *p, struct rtc_service *s)
{
    p->service = s;
    p->all_next = s->peers;
    p->all_prev = &s->peers;
    if (s->peers)
        s->peers->all_prev = &p->all_next;
    s->peers = p;
    datagram_service_enter(&s->base);
    count(p, 1);
    atomic_fetch_add(&s->shared->sessions, 1);
    workers_connected(s->base.env);
}

struct rtc_peer *rtc_peer_new(struct rtc_service *s, struct rtc_ask *ask)
{
    struct rtc_peer *p = must(calloc(1, sizeof(*p)));

    session_init(&p->base, s->base.env, NULL);
    p->base.on_kick = on_kick;
    p->base.id = p->cid;
    p->base.detail = &rtc_client_detail;
    p->location.kind = RTC_NAME_LOCATION;
    p->publishes = ask->kind == RTC_ASK_PUBLISH;
    (void)snprintf(p->ip, sizeof(p->ip), "%s", text_of(ask->ip));
    set_names(p, ask);
    random_id(p->token, sizeof(p->token) - 1);
    enter(p, s);
    return p;
}

/* Nothing finds it any more. */
static void part(struct rtc_peer *p)
{
    struct rtc_service *s = p->service;

    rtc_table_unname(&s->table, &p->name);
    rtc_table_unname(&s->table, &p->location);
    rtc_reach_forget(p);
    if (p->asked_name)
        rtc_names_leave(s, p->ufrag);
    while (p->routes)
        rtc_pass_drop(s, p->routes);
    *p->all_prev = p->all_next;
    if (p->all_next)
        p->all_next->all_prev = p->all_prev;
    count(p, UINT64_MAX);
    atomic_fetch_sub(&s->shared->sessions, 1);
    workers_disconnected(s->base.env);
    datagram_service_part(&s->base);
}

void rtc_peer_free(struct rtc_peer *p)
{
    co_timer_cancel(&p->timer);
    peers_leave(&p->place, co_now());
    peers_leave(&p->pending, co_now());
    rtc_shake_forget(p);
    dtls_free(p->dtls);
    srtp_out_free(p->srtp_out);
    srtp_in_free(p->srtp_in);
    dtls_identity_unref(p->identity);
    session_fini(&p->base);
    err_free(&p->why);
    free(p->names);
    part(p);
    OPENSSL_cleanse(&p->ice, sizeof(p->ice));
    free(p);
}
