/* SPDX-License-Identifier: MIT */
/* session.c - a session: configuration, registration as a client, callbacks, end. */
#include "session/session.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "session/move.h"
#include "session/replicas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void session_init(struct session *s, struct session_env *env, struct io *io)
{
    *s = (struct session){ .env = env, .io = io, .conf = conf_ref(env->conf),
                           .generation = env->generation };
}

void session_begin(struct session *s)
{
    s->co = co_self();
    s->began_at = co_now();
    kbps_init(&s->in_kbps, s->io ? s->io->bytes_in : 0, s->began_at);
    kbps_init(&s->out_kbps, s->io ? s->io->bytes_out : 0, s->began_at);
}

void session_fini(struct session *s)
{
    session_leave_owner(s);
    hooks_line_end(&s->line);
    s->names.key = stream_key_unref(s->names.key);
    free(s->did);
    s->conf = conf_unref(s->conf);
}

/* ---- expiry of tokens: at_expiry of security.token */

#define EXPIRY_CHECK CO_SECONDS(30) /* the wall clock may be changed meanwhile */

static co_usec left(int64_t ends)
{
    int64_t ms = ends * 1000 - co_wall_ms();

    return ms > us_to_ms(EXPIRY_CHECK) ? EXPIRY_CHECK : CO_MS(ms);
}

bool session_has_expired(int64_t ends)
{
    return ends > 0 && left(ends) <= 0;
}

static void on_term(struct co_timer *timer)
{
    struct session_expiry *t = container_of(timer, struct session_expiry, timer);

    if (!session_has_expired(t->ends)) {
        co_timer_set(&t->timer, co_now() + left(t->ends), on_term);
        return;
    }
    co_stop(t->co, session_expiry_error());
}

void session_expiry_begin(struct session_expiry *t, int64_t ends)
{
    *t = (struct session_expiry){ .co = co_self(), .ends = ends };
    if (ends > 0)
        co_timer_set(&t->timer, co_now() + left(ends), on_term);
}

err_t session_expiry_error(void)
{
    return err_new(ERR_EXPIRED, "at_expiry end");
}

void session_expiry_end(struct session_expiry *t)
{
    co_timer_cancel(&t->timer);
}

/* ---- the configuration */

static err_t find_vhost(struct session *s, const char *name)
{
    struct conf *conf = conf_ref(s->env->conf);
    const struct conf_vhost *vhost = conf_vhost_find(conf, name);

    s->generation = s->env->generation;
    if (!vhost) { /* the vhost was removed: an admitted client keeps its old configuration */
        (void)conf_unref(conf);
        return err_new(ERR_NO_VHOST, "\"%s\", and there is no __defaultVhost__", name);
    }
    (void)conf_unref(s->conf);
    s->conf = conf;
    s->vhost = vhost;
    return vhost->enabled ? NULL : err_new(ERR_VHOST_DISABLED, "%s", vhost->name);
}

err_t session_find_stream(struct session *s, const char *vhost, const char *app, const char *name)
{
    err_t err = find_vhost(s, vhost);

    if (!err)
        session_stream_set_key(&s->names, stream_key_new(s->vhost->name, app, name));
    return err;
}

err_t session_apply(struct session *s, bool *changed)
{
    err_t err;

    *changed = s->generation != s->env->generation;
    if (!*changed)
        return NULL;
    err = find_vhost(s, s->names.vhost);
    return err ? err_wrap(err, "the configuration changed") : NULL;
}

/* ---- the list of clients */

static void take_rates(struct session *s, co_usec now)
{
    if (s->io) {
        s->in = s->io->bytes_in;
        s->out = s->io->bytes_out;
    }
    kbps_sample(&s->in_kbps, s->in, now);
    kbps_sample(&s->out_kbps, s->out, now);
}

static struct session *session_of(struct client *c)
{
    return container_of(c, struct session, entry);
}

bool session_play_stat(const struct session *s, struct live_sender_stat *out)
{
    const struct session_seen *seen = &s->seen;
    co_usec now = co_now();

    if (s->sender)
        live_sender_stat(s->sender, out);
    if (s->sender || !s->playing)
        return s->sender != NULL;
    *out = (struct live_sender_stat){ .lag = 0 };
    s->playing(s, out);
    out->since = out->state == seen->state && seen->at ? now - seen->at : 0;
    out->window_full = seen->full;
    if (seen->at && seen->state == LIVE_WINDOW_FULL)
        out->window_full += now - seen->at;
    return true;
}

static void describe(struct client *c, struct clients_info *out)
{
    struct session *s = session_of(c);

    take_rates(s, co_clock());
    *out = (struct clients_info){
        .ip = s->names.ip, .tc_url = s->names.tc_url, .page_url = text_or_empty(s->names.page_url),
        .swf_url = text_or_empty(s->names.swf_url), .began_at = s->began_at, .in = s->in,
        .out = s->out, .in_kbps = s->in_kbps.s30_kbps, .out_kbps = s->out_kbps.s30_kbps,
        .sender = s->sender, .detail = s->detail, .session = s,
    };
}

static void kick(struct client *c)
{
    struct session *s = session_of(c);

    if (s->co)
        co_stop(s->co, err_new(ERR_KICKED, "%s", s->names.ip));
    else
        s->on_kick(s);
}

void session_source(struct session *s)
{
    struct live_settings set = session_live_settings(s->conf, s->vhost);

    s->src = live_registry_get(s->env->streams, s->names.key->path, &set);
    if (s->env->workers && !s->on_demand)
        replicas_own(s->env, s->src);
}

void session_wait(struct session *s, enum clients_type type)
{
    static const struct clients_kind kind = { describe, kick };

    clients_wait(s->env->clients, &s->entry, &kind, type, s->id, &s->names, s->src);
}

void session_enter(struct session *s)
{
    s->entered_at = co_now();
    take_rates(s, s->entered_at);
    s->entered_in = s->in;
    s->entered_out = s->out;
    s->left_out = 0;
    clients_admit(&s->entry, &s->names);
}

/* Writes ", 18 players" for a publisher, or ", 5 packets left out" for a slow player. */
static void describe_others(const struct session *s, char *text, size_t size)
{
    const struct clients_stream *stream = s->entry.stream;
    unsigned players = stream && clients_stream_total(stream) > 0 ? clients_stream_total(stream) - 1
                                                                  : 0;

    text[0] = '\0';
    if (clients_type_publishes(s->entry.type))
        (void)snprintf(text, size, ", %u player%s", players, players == 1 ? "" : "s");
    else if (s->left_out > 0)
        (void)snprintf(text, size, ", %llu packets left out since it was too slow",
                       (unsigned long long)s->left_out);
    if (s->detail && s->detail->add_losses)
        s->detail->add_losses(s, text, size);
}

/* Writes a summary such as "RTMP publisher of live/show from 192.0.2.7, 312.0 s, 41.2 MB in,
 * 1102 kbit/s, 18 players". */
static void note_what_it_did(struct session *s, co_usec now)
{
    bool publishes = clients_type_publishes(s->entry.type);
    bool called = s->entry.type == CLIENTS_FORWARD;
    uint64_t bytes = publishes ? s->in - s->entered_in : s->out - s->entered_out;
    double seconds = (double)(now - s->entered_at) / (double)CO_SECONDS(1);
    char others[128];

    describe_others(s, others, sizeof(others));
    free(s->did);
    s->did = must_print("%s of %.100s/%.150s %s %.150s, %.1f s, %.*f MB %s, %.0f kbit/s%s",
                        clients_type_text(s->entry.type), text_or_empty(s->names.app),
                        text_or_empty(s->names.name), called ? "to" : "from",
                        text_or_empty(called ? s->names.tc_url : s->names.ip), seconds,
                        bytes < 10000000 ? 3 : 1, (double)bytes / 1e6, publishes ? "in" : "out",
                        seconds > 0 ? (double)bytes * 8 / 1000 / seconds : 0, others);
}

void session_log_end(const struct session *s, err_t *why)
{
    char text[700];

    (void)snprintf(text, sizeof(text), "client finished%s%.650s", s->did ? ": " : "",
                   s->did ? s->did : "");
    log_end(text, why);
}

void session_log_did(struct session *s, err_t why)
{
    char text[300];

    if (s->did)
        log_trace("client finished: %s: %s", s->did,
                  why ? err_text(why, text, sizeof(text)) : "the stream ended");
    free(s->did);
    s->did = NULL;
}

void session_leave(struct session *s, err_t why)
{
    missing_stream_end(s);
    take_rates(s, co_now());
    if (s->entry.admitted)
        note_what_it_did(s, co_now());
    clients_leave(&s->entry, s->in, s->out, why);
    s->src = live_source_unref(s->src);
    session_leave_owner(s);
}

void session_count(struct session *s, co_usec now)
{
    take_rates(s, now);
    clients_count(&s->entry, s->in, s->out);
}

bool session_sample(struct session *s, enum sampled_kind kind, co_usec now)
{
    session_count(s, now);
    return sampled_due(&s->env->sampled, kind, now, s->conf->sampled_print);
}

/* ---- callbacks */

struct hooks_event session_event(const struct session *s)
{
    const struct client *c = &s->entry;

    return (struct hooks_event){
        .names = &s->names, .client_id = s->id, .token = s->token,
        .in = s->io ? s->io->bytes_in : s->in, .out = s->io ? s->io->bytes_out : s->out,
        /* includes itself if it is being admitted */
        .clients = c->stream ? clients_stream_total(c->stream) + !c->admitted : 0,
    };
}

err_t session_ask(struct session *s, enum hooks_action action)
{
    struct hooks_event event = session_event(s);

    return hooks_authorize(s->env, &s->line, s->vhost, action, &event);
}

void session_notify(struct session *s, enum hooks_action action)
{
    struct hooks_event event = session_event(s);

    hooks_notify(s->env, &s->line, s->conf, s->vhost, action, &event);
}
