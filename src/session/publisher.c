/* SPDX-License-Identifier: MIT */
/* publisher.c - the publisher side of a session. */
#include "session/publisher.h"

#include "base/container_of.h"
#include "base/log.h"
#include "session/move.h"
#include "session/address_slot.h"
#include "session/tokens.h"

#include <openssl/evp.h>
#include <string.h>

enum {
    SAMPLE_MESSAGES = 64,
    PATIENCE = 4, /* factor for the required silence: packets may still be in flight */
};

#define CHECK CO_MS(100)           /* interval of checks whether the old publisher has left */
#define HOLD CO_MS(200)            /* longest pause at a time if a publisher sends too much */
#define HELD_AGAIN CO_SECONDS(30)

/* ---- silence */

/* Returns when the next check is due: messages only record their time, and a timer checks it. */
static co_usec silence_allowed(const struct session_publisher *p)
{
    const struct conf_publish *set = &p->s->vhost->publish;

    if (p->silence > 0)
        return p->silence;
    return p->messages ? set->normal_timeout : set->firstpkt_timeout;
}

static bool nobody_watches(const struct session_publisher *p, co_usec now)
{
    co_usec limit = p->s->vhost->publish.kickoff_for_idle;
    co_usec since = live_source_idle_since(p->s->src);

    return limit > 0 && since > 0 && now - since >= limit;
}

static void watch(struct co_timer *t)
{
    struct session_publisher *p = container_of(t, struct session_publisher, timer);
    co_usec now = co_now(), next = p->message_at + silence_allowed(p);

    if (nobody_watches(p, now)) {
        co_stop(p->s->co, err_new(ERR_IDLE, "kickoff_for_idle of %s",
                                  live_source_name(p->s->src)));
    } else if (now >= next) {
        co_stop(p->s->co, err_new(ERR_IO_TIMEOUT, "no %s for %lld ms",
                                  p->messages ? "message" : "first message",
                                  us_to_ms(silence_allowed(p))));
    } else {
        if (p->s->vhost->publish.kickoff_for_idle > 0 && next > now + CO_SECONDS(1))
            next = now + CO_SECONDS(1);
        co_timer_set(t, next, watch);
    }
}

void session_publisher_first(struct session_publisher *p)
{
    if (!p->called)
        watch(&p->timer);
}

void session_publisher_silence(struct session_publisher *p, co_usec allowed)
{
    p->silence = allowed;
    watch(&p->timer);
}

/* ---- turns */

static void sample(struct session_publisher *p)
{
    const struct conf_publish *set = &p->s->vhost->publish;
    struct session *s = p->s;
    co_usec now = p->message_at;

    if (p->messages - p->sampled_at < SAMPLE_MESSAGES)
        return;
    if (p->sampled_at == 0)
        co_stack_trim(); /* the first messages used more stack: log lines, codec configurations */
    p->sampled_at = p->messages;
    if (!session_sample(s, p->log_sample ? p->sampled : SAMPLED_PUBLISH, now))
        return;
    if (p->log_sample) {
        p->log_sample(p, now);
        return;
    }
    log_always(LOG_TRACE,
               "%s time=%lld, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT ", mr=%d/%lld, p1stpt=%lld, "
               "pnt=%lld",
               sampled_name(SAMPLED_PUBLISH), (long long)(now - s->began_at),
               KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps), set->mr,
               us_to_ms(set->mr_latency), us_to_ms(set->firstpkt_timeout),
               us_to_ms(set->normal_timeout));
}

static void warn_held(struct session_publisher *p, co_usec now)
{
    if (p->warned_at && now - p->warned_at < HELD_AGAIN)
        return;
    p->warned_at = now;
    log_warn("publisher of %s sends more than publish_kbps %d of bandwidth: reading is throttled, "
             "the encoder sees a slow network",
             live_source_name(p->s->src), p->s->vhost->bandwidth.publish_kbps);
}

/* The publisher sent too much: stops reading for a while, which does not count as silence. */
static err_t hold(struct session_publisher *p)
{
    co_usec wait = session_meter_wait(&p->meter, p->bytes, p->s->vhost->bandwidth.publish_kbps,
                                      co_now());
    err_t err = NULL;

    if (wait > 0)
        warn_held(p, co_now());
    while (!err && wait > 0) {
        err = co_sleep(wait < HOLD ? wait : HOLD);
        wait -= HOLD;
        p->place.active_at = p->message_at = co_now();
    }
    return err;
}

err_t session_publisher_turn(struct session_publisher *p, bool *changed)
{
    struct session *s = p->s;
    err_t err = session_apply(s, changed);
    uint64_t in = s->io ? s->io->bytes_in : s->in;

    if (p->bytes != in) { /* a large message on a slow link is not silence */
        p->bytes = in;
        p->place.active_at = co_now();
    }
    sample(p);
    co_urgent(live_source_idle_since(s->src) == 0);
    if (!err && s->vhost->bandwidth.publish_kbps > 0)
        err = hold(p);
    return err ? err : co_check();
}

/* ---- takeover of another publisher's stream */

/* Sets the rules by which a new publisher may replace the old one. */
static void claim_rule(const struct conf_publish *set, struct live_takeover *out)
{
    static const enum live_takeover_mode modes[] = {
        [CONF_TAKEOVER_OFF] = LIVE_TAKEOVER_OFF,
        [CONF_TAKEOVER_STALE] = LIVE_TAKEOVER_STALE,
        [CONF_TAKEOVER_ON] = LIVE_TAKEOVER_ON,
    };
    co_usec near = set->takeover_silence_near, far = set->takeover_silence;
    co_usec deaf = set->mr ? set->mr_latency : 0; /* the socket is not read for this time */

    *out = (struct live_takeover){ .mode = modes[set->takeover], .silence = far + deaf,
                                   .silence_near = (near < far ? near : far) + deaf };
}

/* The name of a vhost is not a secret. */
static bool is_public(const char *key, size_t size)
{
    return (size == 5 && memcmp(key, "vhost", size) == 0) ||
           (size == 6 && memcmp(key, "domain", size) == 0);
}

/* Returns true if a query contains anything that could be a secret. */
static bool has_secret(const char *param)
{
    for (const char *p = param + strspn(param, "?&"); *p; p += strspn(p, "?&")) {
        size_t size = strcspn(p, "?&");

        if (!is_public(p, strcspn(p, "=?&")))
            return true;
        p += size;
    }
    return false;
}

/* Returns true if parameters are checked before a publisher is replaced: by the server for a token
 * or key, or by a backend. Only then do they prove an identity. */
static bool is_asked(const struct session *s)
{
    const struct conf_http_hooks *hooks = &s->vhost->http_hooks;

    return (hooks->enabled && hooks->on_publish.n > 0) ||
           tokens_prove(s->env, s->vhost, CONF_PUBLISH, &s->names);
}

/* Sets p->proof to the identity that the client has proved. Parameters are a proof if they contain
 * more than the vhost, and are checked before this client takes the stream: by a backend with
 * on_publish, or by the server for a token or stream key. */
static void claim_proof(const struct session *s, struct live_publisher *p)
{
    const char *const said[] = { s->names.tc_url, s->names.param };
    EVP_MD_CTX *md;
    unsigned size = 0;
    int ok = 1;

    p->has_proof = false;
    if (!has_secret(s->names.param) || !is_asked(s) || !(md = EVP_MD_CTX_new()))
        return;
    ok &= EVP_DigestInit_ex(md, EVP_sha256(), NULL);
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        ok &= EVP_DigestUpdate(md, said[i], strlen(said[i]) + 1);
    ok &= EVP_DigestFinal_ex(md, p->proof, &size);
    p->has_proof = ok && size == LIVE_PROOF;
    EVP_MD_CTX_free(md);
}

/* An encoder may reconnect before its old connection is known to be dead. So a publisher of the
 * same address waits a moment until the old one is silent or has left. Returns NULL in either case.
 * Yields. */
static err_t claim_wait(const struct live_source *src, const struct live_publisher *p,
                                const struct live_takeover *rule)
{
    co_usec until = co_now() + PATIENCE * rule->silence_near;
    err_t err = NULL;

    while (!err) {
        co_usec wait = live_source_wait(src, p, rule);

        if (wait == 0 || wait == CO_FOREVER || co_now() + wait > until)
            break;
        err = co_sleep(wait < CHECK ? wait : CHECK);
    }
    return err;
}

/* ---- admission and end */

/* Cleans up after a publisher that was not admitted. */
static err_t turn_away(struct session_publisher *p, err_t why)
{
    struct session *s = p->s;

    live_source_unclaim(s->src, &p->place);
    session_leave(s, why);
    return why;
}

/* Runs the checks that need no backend, which also apply to a stream without a publisher. */
static err_t ask_here(struct session *s)
{
    err_t err = conf_security_check(&s->vhost->security, CONF_PUBLISH, s->names.ip);

    if (!err)
        err = conf_refer_check(&s->vhost->refer, CONF_PUBLISH, s->names.page_url);
    if (!err)
        err = tokens_check(s->env, s->vhost, CONF_PUBLISH, &s->names, NULL, &s->ends);
    return err;
}

/* Claims the stream, so that the backend is only asked about a publisher that would be admitted. */
static err_t claim(struct session_publisher *p, const struct live_takeover *rule,
                   enum clients_type type)
{
    struct session *s = p->s;
    err_t err = NULL;

    if (!live_source_publishing(s->src))
        err = session_bandwidth_in(s->env, s->vhost);
    if (err)
        return err;
    claim_proof(s, &p->place);
    err = claim_wait(s->src, &p->place, rule);
    if (err)
        return err;
    p->place.active_at = co_now();
    err = live_source_claim(s->src, &p->place, rule);
    if (err)
        return err;
    session_wait(s, type);
    return session_ask(s, HOOKS_PUBLISH);
}

/* The publisher was authorized: takes the stream, unless the old publisher has become active
 * again. */
static err_t take(struct session_publisher *p, const struct live_takeover *rule)
{
    struct session *s = p->s;
    struct session_env *env = s->env;
    struct live_settings set = session_live_settings(s->conf, s->vhost);
    bool replaces;
    err_t err;

    p->place.active_at = p->message_at = co_now();
    replaces = live_source_publishing(s->src);
    live_source_settings(s->src, &set);
    err = live_source_begin(s->src, &p->place, rule);
    if (err)
        return err;
    env->publishers++;
    session_publishes(s, true);
    session_enter(s);
    session_log_as_client(env, s->names.ip);
    if (replaces) {
        log_trace("takes over %s", live_source_name(s->src));
        env->on_unpublish(env->arg, s->src);
    }
    env->on_publish(env->arg, s->vhost, &s->names, s->src);
    return NULL;
}

err_t session_publisher_begin(struct session_publisher *p, struct session *s,
                              enum clients_type type)
{
    struct live_takeover rule;
    err_t err = ask_here(s);

    *p = (struct session_publisher){ .s = s, .place = { .co = s->co, .ip = s->names.ip } };
    if (!err)
        err = session_at_owner(s);
    if (err)
        return err;
    claim_rule(&s->vhost->publish, &rule);
    session_source(s);
    err = claim(p, &rule, type);
    if (!err) {
        err = take(p, &rule);
        if (err)
            session_notify(s, HOOKS_UNPUBLISH);
    }
    if (err)
        return turn_away(p, err);
    watch(&p->timer);
    session_expiry_begin(&s->term, s->ends);
    return NULL;
}

err_t session_publisher_join(struct session_publisher *p, struct session *s,
                             enum clients_type type)
{
    struct live_takeover rule;
    err_t err = session_at_owner(s);

    *p = (struct session_publisher){ .s = s, .place = { .co = s->co, .ip = s->names.ip },
                                     .called = true };
    if (err)
        return err;
    claim_rule(&s->vhost->publish, &rule);
    session_source(s);
    session_wait(s, type);
    err = take(p, &rule);
    if (err)
        return turn_away(p, err);
    session_notify(s, HOOKS_PUBLISH);
    return NULL;
}

void session_publisher_end(struct session_publisher *p, err_t why)
{
    struct session *s = p->s;
    struct session_env *env = s->env;

    co_timer_cancel(&p->timer);
    co_urgent(false);
    session_expiry_end(&s->term);
    env->publishers--;
    session_publishes(s, false);
    live_source_end(s->src, &p->place);
    if (!p->place.replaced)
        env->on_unpublish(env->arg, s->src);
    session_notify(s, HOOKS_UNPUBLISH);
    session_leave(s, why);
}
