/* SPDX-License-Identifier: MIT */
/* pull.c - pulls one stream and retries while the configuration or players want it. */
#include "pull/rtsp/pull.h"

#include "base/log.h"
#include "base/log_clean.h"
#include "base/must.h"
#include "base/pace.h"
#include "base/random_id.h"
#include "session/clients.h"
#include "session/stream_owners.h"
#include "session/move.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pauses before the server is called again, doubled each time. After a rejected password the pause
 * is long, because cameras lock accounts. */
#define MIN_PAUSE CO_SECONDS(1)
#define MAX_PAUSE CO_SECONDS(30)
#define LOGIN_PAUSE CO_SECONDS(60)

#define CONNECT CO_SECONDS(5)
#define ANSWER CO_SECONDS(10)

void rtsp_pull_free(struct rtsp_pull *p)
{
    rtsp_pull_spec_free(&p->spec);
    pull_fini(&p->pull);
    free(p->public_url);
    free(p->host);
    free(p);
}

/* ---- players */

static unsigned clients_here(const struct session *s)
{
    struct live_source *src = live_registry_find(s->env->streams, s->names.key->path);

    return src && s->env->clients ? clients_stream(s->env->clients, src)->clients : 0;
}

bool rtsp_pull_has_players(struct rtsp_pull *p)
{
    unsigned n =
        p->pull.owner ? stream_owner_clients(p->pull.owner) : clients_here(&p->pull.session);
    co_usec now = co_now();

    if (!p->spec.on_demand || n > p->publishing) {
        p->missing_since = 0;
        return true;
    }
    if (p->missing_since == 0)
        p->missing_since = now;
    return now - p->missing_since < p->spec.linger;
}

/* ---- retries */

/* Reads the spec of the stream from the current configuration. Returns false if the stream is no
 * longer pulled. */
static bool read_spec(struct rtsp_pull *p)
{
    struct session *s = &p->pull.session;
    struct session_stream *n = &s->names;
    struct rtsp_location location;
    err_t err = session_find_stream(s, n->vhost, n->app, n->name);

    rtsp_pull_spec_free(&p->spec);
    if (err) {
        err_free(&err);
        return false;
    }
    if (!rtsp_pull_spec_of(&p->spec, s->vhost, n->app, n->name))
        return false;
    err = rtsp_location_parse(&location, p->spec.url);
    if (err) {
        log_end("rtsp.pull", &err);
        return false;
    }
    free(p->public_url);
    free(p->host);
    p->public_url = log_hide(location.url); /* some URLs have a password in their parameters */
    p->host = must_dup(location.host);
    rtsp_location_free(&location);
    n->tc_url = p->public_url;
    n->ip = p->host;
    return true;
}

static err_t call(struct rtsp_pull *p)
{
    struct session *s = &p->pull.session;
    co_usec timeout = p->spec.timeout;
    err_t err;

    p->setup = (struct rtsp_call_setup){
        .agent = s->env->signature, .trust = { .any = !p->spec.ca, .ca = p->spec.ca },
        .connect = timeout < CONNECT ? timeout : CONNECT,
        .answer = timeout < ANSWER ? timeout : ANSWER };
    p->packet_at = 0;
    p->try_next = false;
    if (p->transport >= p->spec.transports)
        p->transport = 0;
    err = rtsp_call_init(&p->call, p->spec.url, &p->setup);
    if (err)
        return err;
    err = pull_enter_owner(&p->pull);
    if (!err)
        err = rtsp_pull_session(p);
    session_leave_owner(s);
    rtsp_call_fini(&p->call);
    s->io = NULL;
    return err;
}

/* Varies a pause by up to a fifth, so that a hundred cameras behind one switch are not called at
 * the same time. */
static co_usec spread(co_usec pause)
{
    char random[3];

    random_id(random, sizeof(random) - 1);
    return pause + pause / 5 * ((unsigned char)(random[0] ^ random[1] << 1) % 64 - 32) / 32;
}

static co_usec pause_after(err_t err, struct backoff *again, const struct rtsp_pull *p)
{
    co_usec pause;

    if (err_code(err) == ERR_RTSP_LOGIN)
        return LOGIN_PAUSE + spread(MIN_PAUSE);
    if (p->packet_at && p->packet_at - p->packets_since > MAX_PAUSE)
        backoff_reset(again); /* it ran well for a while */
    pause = spread(again->pause);
    backoff_grow(again);
    return pause;
}

static void log_failed(struct rtsp_pull *p, err_t *err, co_usec pause)
{
    char what[400];

    condition_failed(&p->pull.condition, *err);
    p->retry_at = co_clock() + pause;
    (void)snprintf(what, sizeof(what), "pull %.100s from %.200s, again in %lld ms",
                   p->pull.session.names.key->path, p->public_url, us_to_ms(pause));
    log_end(what, err);
}

/* Waits for the pause, as long as the stream has players. */
static err_t wait_for(struct rtsp_pull *p, co_usec pause)
{
    co_usec until = co_clock() + pause, now;
    err_t err = NULL;

    while (!err && (now = co_clock()) < until && rtsp_pull_has_players(p))
        err = co_sleep(until - now < CO_SECONDS(1) ? until - now : CO_SECONDS(1));
    return err;
}

/* Returns true if the pull continues. A stop means a kick or a new configuration, so it reads the
 * spec again. */
static bool continues(struct rtsp_pull *p)
{
    return co_stop_forget() && !p->pull.all->sink.ending && read_spec(p) &&
           rtsp_pull_has_players(p);
}

err_t rtsp_pull_main(void *pull)
{
    struct rtsp_pull *p = pull;
    struct backoff again = backoff_init(MIN_PAUSE, MAX_PAUSE);

    p->pull.session.co = co_self();
    co_new_cid();
    while (continues(p)) {
        err_t err;
        co_usec pause;

        p->retry_at = 0;
        log_trace("pull %s from %s: connecting", p->pull.session.names.key->path, p->public_url);
        err = call(p);
        if (p->over || err_code(err) == ERR_STOPPED) {
            p->over = false;
            p->transport = 0;
            condition_be(&p->pull.condition, CONDITION_STARTING);
            err_free(&err);
            continue;
        }
        (void)co_stop_forget();
        if (p->try_next && p->transport + 1 < p->spec.transports) {
            log_end("pull over udp failed, trying tcp", &err);
            p->transport++;
            continue;
        }
        if (p->packet_at == 0)
            p->transport = 0; /* all transports have failed */
        pause = pause_after(err, &again, p);
        log_failed(p, &err, pause);
        err = wait_for(p, pause);
        err_free(&err);
    }
    log_trace("pull %s: ended", p->pull.session.names.key->path);
    rtsp_pull_free(p);
    return NULL;
}
