/* SPDX-License-Identifier: MIT */
/* session.c - one conversation: configuration, list of clients, callbacks, its end. */
#include "session/session.h"

#include "base/container_of.h"
#include "base/text.h"
#include "session/house.h"
#include "session/move.h"

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
    session_leave_home(s);
    hooks_line_end(&s->line);
    s->names.key = stream_key_unref(s->names.key);
    s->conf = conf_unref(s->conf);
}

/* ---- the configuration */

static err_t find_vhost(struct session *s, const char *name)
{
    struct conf *conf = conf_ref(s->env->conf);
    const struct conf_vhost *vhost = conf_vhost_find(conf, name);

    s->generation = s->env->generation;
    if (!vhost) { /* who is in ends by what it began with */
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

/* ---- among the clients */

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

static void describe(struct client *c, struct clients_info *out)
{
    struct session *s = session_of(c);

    take_rates(s, co_clock());
    *out = (struct clients_info){
        .ip = s->names.ip, .tc_url = s->names.tc_url, .page_url = text_or_empty(s->names.page_url),
        .swf_url = text_or_empty(s->names.swf_url), .began_at = s->began_at, .in = s->in,
        .out = s->out, .in_kbps = s->in_kbps.s30_kbps, .out_kbps = s->out_kbps.s30_kbps,
        .sender = s->sender,
    };
    if (s->srt)
        out->has_srt = s->srt(s, &out->srt);
    if (s->rtc)
        out->has_rtc = s->rtc(s, &out->rtc);
    if (s->rtmfp)
        out->has_rtmfp = s->rtmfp(s, &out->rtmfp);
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
        session_house(s->env, s->src);
}

void session_wait(struct session *s, enum clients_type type)
{
    static const struct clients_kind kind = { describe, kick };

    clients_wait(s->env->clients, &s->entry, &kind, type, s->id, &s->names, s->src);
}

void session_enter(struct session *s)
{
    clients_admit(&s->entry, &s->names);
}

void session_leave(struct session *s, err_t why)
{
    take_rates(s, co_now());
    clients_leave(&s->entry, s->in, s->out, why);
    s->src = live_source_unref(s->src);
    session_leave_home(s);
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
        /* with itself, if it is let in */
        .clients = c->stream ? clients_stream_total(c->stream) + !c->admitted : 0,
    };
}

err_t session_ask(struct session *s, enum hooks_action action)
{
    struct hooks_event event = session_event(s);

    return hooks_ask(s->env, &s->line, s->vhost, action, &event);
}

void session_notify(struct session *s, enum hooks_action action)
{
    struct hooks_event event = session_event(s);

    hooks_notify(s->env, &s->line, s->conf, s->vhost, action, &event);
}
