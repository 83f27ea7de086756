/* SPDX-License-Identifier: MIT */
/* service.c - WebRTC of one worker: begun, reloaded, ended, counted. */
#include "base/log.h"
#include "base/must.h"
#include "serve/rtc/impl.h"

#include <stdlib.h>

/* How long to wait for clients to go, before whoever did not is looked at again. */
#define LOOK CO_MS(100)

/* ---- our certificate */

static bool is_old(const struct dtls_identity *id)
{
    return co_wall_ms() / 1000 >= dtls_identity_ends(id);
}

err_t rtc_service_identity(struct rtc_service *s, bool dtls1_0, struct dtls_identity **out)
{
    const struct dtls_identity_opts opts = { .rsa = s->rsa, .dtls1_0 = dtls1_0 };
    struct dtls_identity **id = &s->identity[dtls1_0], *fresh;
    err_t err;

    if (!*id || is_old(*id)) {
        err = dtls_identity_new(&fresh, &opts);
        if (err)
            return err;
        dtls_identity_unref(*id);
        *id = fresh;
    }
    *out = dtls_identity_ref(*id);
    return NULL;
}

static void forget_identities(struct rtc_service *s)
{
    for (int i = 0; i < 2; i++) {
        dtls_identity_unref(s->identity[i]);
        s->identity[i] = NULL;
    }
    s->rsa = !s->env->conf->rtc_server.ecdsa;
}

void rtc_service_reload(struct rtc_service *s)
{
    if (!s)
        return;
    rtc_black_open(s);
    if (s->rsa == s->env->conf->rtc_server.ecdsa)
        forget_identities(s); /* who is here keeps what it has */
}

/* ---- begun */

static err_t start(struct rtc_service *s, struct rtc_sockets *sockets)
{
    unsigned worker = s->env->worker;
    err_t err = co_go(&s->group, "rtc-end", rtc_leave_main, s);

    s->ender = err ? NULL : co_newest(&s->group);
    for (size_t i = 0; i < sockets->n && !err; i++) {
        int *fd = &sockets->fds[i * sockets->workers + worker];
        struct rtc_endpoint *e = &s->endpoints[i];

        e->service = s;
        e->number = (unsigned)i;
        err = rtc_endpoint_open(e, *fd);
        if (err)
            return err;
        *fd = -1;
        s->n_endpoints++;
        err = co_go(&s->group, "rtc", rtc_endpoint_main, e);
    }
    return err;
}

static void tell(const struct rtc_service *s)
{
    const struct conf_rtc_server *conf = &s->env->conf->rtc_server;

    if (s->env->worker > 0)
        return;
    for (size_t i = 0; i < s->n_endpoints; i++)
        log_trace("listening on %s of WebRTC (UDP)", conf->listen.v[i].text);
}

err_t rtc_service_new(struct rtc_service **out, struct session_env *env,
                      struct rtc_sockets *sockets)
{
    struct rtc_service *s = must(calloc(1, sizeof(*s)));
    err_t err;

    s->env = env;
    s->shared = sockets->shared;
    atomic_fetch_add(&s->shared->refs, 1);
    s->leaving_end = &s->leaving;
    s->rsa = !env->conf->rtc_server.ecdsa;
    rtc_table_init(&s->table);
    co_group_init(&s->group);
    s->endpoints = must(calloc(sockets->n + 1, sizeof(*s->endpoints)));
    err = start(s, sockets);
    if (err) {
        rtc_service_free(s);
        return err_wrap(err, "WebRTC");
    }
    env->rtc = s;
    rtc_black_open(s);
    tell(s);
    *out = s;
    return NULL;
}

/* ---- ended */

void rtc_service_refuse(struct rtc_service *s)
{
    if (s)
        s->refuses = true;
}

static void end_peers(struct rtc_service *s)
{
    for (struct rtc_peer *p = s->peers, *next; p; p = next) {
        next = p->all_next; /* who is asked again has its reason already */
        rtc_peer_leave(p, err_new(ERR_STOPPED, "the server quits"));
    }
}

static void close_all(struct rtc_service *s)
{
    for (unsigned i = 0; i < s->n_endpoints; i++)
        udp_close(s->endpoints[i].socket);
    udp_close(s->black);
    forget_identities(s);
    rtc_candidates_free(s);
    rtc_table_fini(&s->table);
    rtc_shared_unref(s->shared);
    free(s->endpoints);
    free(s);
}

void rtc_service_free(struct rtc_service *s)
{
    err_t err;

    if (!s)
        return;
    s->refuses = s->ending = true;
    s->waiter = co_self();
    while (s->n_peers > 0) {
        bool held = co_stop_hold();

        end_peers(s);
        (void)!co_park(LOOK);
        co_stop_resume(held);
    }
    err = co_group_stop(&s->group);
    err_free(&err);
    if (s->env->rtc == s)
        s->env->rtc = NULL;
    close_all(s);
}

/* ---- counted */

static void count_states(const struct rtc_peer *p, struct rtc_service_stat *out)
{
    out->publishers += p->publishes && p->state == RTC_CONNECTED;
    out->players += !p->publishes && p->state == RTC_CONNECTED;
    out->waiting += p->state < RTC_CONNECTED;
}

void rtc_service_stat(const struct rtc_service *s, struct rtc_service_stat *out)
{
    *out = s->stat;
    out->sessions = s->n_peers;
    out->drops += s->tcp_drops;
    for (const struct rtc_peer *p = s->peers; p; p = p->all_next) {
        count_states(p, out);
        rtc_peer_sum(p, out);
    }
    for (unsigned i = 0; i < s->n_endpoints; i++) {
        const struct udp_stat *u = &s->endpoints[i].socket->stat;

        out->in += u->in;
        out->in_calls += u->in_calls;
        out->out += u->out;
        out->out_calls += u->out_calls;
        out->overflow += u->overflow;
        out->drops += u->drops;
    }
}
