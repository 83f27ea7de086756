/* SPDX-License-Identifier: MIT */
/* session.c - players of HLS and DASH: sessions, identified by the key in their URLs. */
#include "serve/hls/session.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "base/random_id.h"
#include "base/text.h"
#include "proto/http/url.h"
#include "serve/hls/folder.h"
#include "session/player.h"
#include "session/workers.h"
#include "sink/hls/store/owner.h"
#include "sink/hls/worker.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUERY_MAX = 64 * 1024, TRIES = 4 };

#define SWEEP CO_SECONDS(1)
#define LOG_EVERY CO_SECONDS(10)
#define FIRST_MIN CO_SECONDS(10)

void hls_sessions_begin(struct hls *h)
{
    h->sessions = must(calloc(1, sizeof(*h->sessions)));
    h->sessions->limits = hls_session_limits_new();
}

static struct hls_session **bucket(struct hls *h, const char *id)
{
    return &h->sessions->buckets[text_hash(id) % HLS_SESSION_BUCKETS];
}

static struct hls_session *find_id(struct hls *h, const char *id)
{
    struct hls_session *s = *bucket(h, id);

    while (s && strcmp(s->id, id) != 0)
        s = s->next;
    return s;
}

/* Copies the id from a key of full length. */
static void id_of(const char *key, char id[HLS_SESSION_ID + 1])
{
    memcpy(id, key, HLS_SESSION_ID);
    id[HLS_SESSION_ID] = '\0';
}

struct hls_session *hls_session_find(struct hls *h, const char *key)
{
    char id[HLS_SESSION_ID + 1];
    struct hls_session *s;

    if (strlen(key) != HLS_SESSION_KEY)
        return NULL;
    id_of(key, id);
    s = find_id(h, id);
    return s && CRYPTO_memcmp(s->key, key, HLS_SESSION_KEY) == 0 ? s : NULL;
}

/* Name of a session in the registry of owners. */
struct owner_name {
    char name[HLS_SESSION_ID + 2];
};

static struct owner_name owner_name_of(const char *id)
{
    struct owner_name p;

    (void)snprintf(p.name, sizeof(p.name), "?%.*s", HLS_SESSION_ID, id);
    return p;
}

int hls_session_owner(const struct session_env *env, const char *key)
{
    return strlen(key) == HLS_SESSION_KEY ? hls_owner_of(env, owner_name_of(key).name)
                                          : HLS_NO_OWNER;
}

const char *hls_session_key(const struct http_exchange *x, char key[HLS_SESSION_KEY + 2])
{
    return http_url_param(x->req->query, "hls_ctx", key, HLS_SESSION_KEY + 2);
}

bool hls_session_plays(const struct hls_session *s, const struct session_stream *names)
{
    const struct session_stream *own = &s->session.names;

    return strcmp(own->vhost, names->vhost) == 0 && strcmp(own->app, names->app) == 0 &&
           strcmp(own->name, names->name) == 0;
}

/* ------------------------------------------------------------ sessions by mark */

static void put(EVP_MD_CTX *c, const char *text)
{
    text = text_or_empty(text);
    must_be(EVP_DigestUpdate(c, text, strlen(text) + 1) == 1);
}

/* Hashes the client address, the stream, the query and identifying headers: equal marks mean the
 * same player, or one with the same permission. */
static void make_mark(const struct http_exchange *x, const struct session_stream *names,
                      uint8_t mark[HLS_SESSION_MARK])
{
    EVP_MD_CTX *c = must(EVP_MD_CTX_new());
    unsigned n = HLS_SESSION_MARK;
    struct wr query;

    wr_init(&query, QUERY_MAX);
    hls_session_query(x->req->query, &query);
    wr_u8(&query, 0);
    must_be(EVP_DigestInit_ex(c, EVP_sha256(), NULL) == 1);
    put(c, names->vhost);
    put(c, names->app);
    put(c, names->name);
    put(c, x->ip);
    put(c, query.bad ? "" : (const char *)query.buf);
    put(c, http_request_field(x->req, "Referer"));
    put(c, http_request_field(x->req, "User-Agent"));
    put(c, http_request_field(x->req, "Authorization"));
    must_be(EVP_DigestFinal_ex(c, mark, &n) == 1);
    EVP_MD_CTX_free(c);
    wr_free(&query);
}

static struct hls_session **marked(struct hls *h, const uint8_t mark[HLS_SESSION_MARK])
{
    return &h->sessions->marked[(mark[0] | mark[1] << 8) % HLS_SESSION_BUCKETS];
}

/* Finds a session by mark. A session that requests with its key is another player. */
static struct hls_session *find_marked(struct hls *h, const struct http_exchange *x,
                                       const struct session_stream *names)
{
    uint8_t mark[HLS_SESSION_MARK];
    struct hls_session *s;

    make_mark(x, names, mark);
    s = *marked(h, mark);
    while (s && (s->by_id || s->session.co || memcmp(s->mark, mark, sizeof(mark)) != 0))
        s = s->next_marked;
    return s;
}

static void add_mark(struct hls_session *s, const struct http_exchange *x)
{
    struct hls_session **at;

    make_mark(x, &s->session.names, s->mark);
    at = marked(s->hls, s->mark);
    s->next_marked = *at;
    *at = s;
}

static void remove_mark(struct hls_session *s)
{
    struct hls_session **at = marked(s->hls, s->mark);

    while (*at != s)
        at = &(*at)->next_marked;
    *at = s->next_marked;
}

struct hls_session *hls_session_of(struct hls *h, const struct http_exchange *x,
                                   const struct session_stream *names, bool dash)
{
    char text[HLS_SESSION_KEY + 2];
    const char *key = hls_session_key(x, text);
    struct hls_session *s = key ? hls_session_find(h, key) : NULL;

    if (!key)
        return dash ? find_marked(h, x, names) : NULL;
    if (!s || !hls_session_plays(s, names))
        return NULL;
    s->by_id = true;
    return s;
}

/* ------------------------------------------------------------ the end of a session */

static const char *protocol_name(const struct hls_session *s)
{
    return s->dash ? "DASH" : "HLS";
}

/* Returns the reason of the end, for the log. */
static const char *reason(const struct hls_session *s, err_t why, char *text, size_t size)
{
    if (why)
        return err_text(why, text, size);
    if (s->refused)
        return "kicked";
    if (s->hls->stopping)
        return "the server stops";
    (void)snprintf(text, size, "no request for %lld s", us_to_s(co_now() - s->requested_at));
    return text;
}

/* Stops the session; the backend is notified once. The callbacks are those of the vhost's current
 * configuration, or of its last one if the vhost was removed. */
static void stop(struct hls_session *s, err_t why)
{
    char text[200];
    bool changed;
    err_t applied;

    if (!s->playing)
        return;
    s->playing = false;
    applied = session_apply(&s->session, &changed);
    err_free(&applied);
    session_play_end(&s->session, why);
    log_trace("client finished: %s, %llu requests, session %s: %s", text_or_empty(s->session.did),
              (unsigned long long)s->requests, s->id, reason(s, why, text, sizeof(text)));
}

/* Ends a session whose token expired: all later requests are denied. */
static void expire(struct hls_session *s)
{
    err_t err = session_expiry_error();
    char text[128];

    s->refused = true;
    log_warn("%s session %s: %s", protocol_name(s), s->id, err_text(err, text, sizeof(text)));
    stop(s, err);
    err_free(&err);
}

static void remove_at(struct hls_session **at)
{
    struct hls_session *s = *at;

    *at = s->next;
    if (s->dash)
        remove_mark(s);
    stop(s, NULL);
    s->hls->sessions->all--;
    hls_session_limits_leave(s->hls->sessions->limits, &s->slot);
    hls_owner_clear(s->hls->env, owner_name_of(s->id).name);
    session_fini(&s->session);
    session_stream_free(&s->session.names);
    free(s);
}

static void remove_session(struct hls_session *s)
{
    struct hls_session **at = bucket(s->hls, s->id);

    while (*at != s)
        at = &(*at)->next;
    remove_at(at);
}

static void check_expiry(struct hls_session *s)
{
    if (s->playing && session_has_expired(s->session.ends)) {
        co_set_cid(s->id);
        expire(s);
    }
}

static co_usec idle_limit_of(const struct hls_session *s)
{
    return hls_session_limits_is_used(&s->slot) ? s->idle_limit : s->first_idle_limit;
}

/* Removes sessions without requests. A kicked session that still sends requests stays, so that its
 * key stays denied. */
static void sweep_bucket(struct hls_session **at, co_usec now)
{
    while (*at) {
        struct hls_session *s = *at;

        check_expiry(s);
        if (s->busy || s->session.co || now - s->requested_at <= idle_limit_of(s)) {
            at = &s->next;
            continue;
        }
        co_set_cid(s->id);
        remove_at(at);
    }
}

static err_t sweep(void *hls)
{
    struct hls_sessions *t = ((struct hls *)hls)->sessions;
    err_t err = NULL;

    co_log_as(LOG_UNTRUSTED_ALL); /* one connection may have started thousands of sessions */
    while (t->all > 0 && !(err = co_sleep(SWEEP))) {
        for (size_t i = 0; i < HLS_SESSION_BUCKETS; i++) {
            sweep_bucket(&t->buckets[i], co_now());
            co_yield_if_due();
        }
    }
    t->sweeping = false;
    return err;
}

static void start_sweep(struct hls *h)
{
    err_t err;

    if (h->sessions->sweeping || h->stopping)
        return;
    err = co_go(&h->sink.group, "hls sessions", sweep, h);
    h->sessions->sweeping = !err;
    if (err)
        log_end("HLS sessions", &err); /* the next session starts it */
}

void hls_sessions_free(struct hls *h)
{
    for (size_t i = 0; i < HLS_SESSION_BUCKETS; i++) {
        while (h->sessions->buckets[i])
            remove_at(&h->sessions->buckets[i]);
    }
    hls_session_limits_free(h->sessions->limits);
    (void)hls_folders_unref(h->sessions->folders);
    for (size_t i = 0; i < HLS_LIST_FILES; i++)
        (void)hls_file_unref(h->sessions->lists[i].file);
    free(h->sessions);
}

/* ------------------------------------------------------------ kick */

static void on_kick(struct session *session)
{
    struct hls_session *s = container_of(session, struct hls_session, session);

    s->refused = true;
    hls_session_used(s); /* keep the session, so that its key stays denied */
    stop(s, NULL);
}

/* ------------------------------------------------------------ the start of a session */

void hls_session_query(const char *query, struct wr *w)
{
    while (query && *query) {
        size_t n = strcspn(query, "&");

        if (n > 0 && strncmp(query, "hls_ctx=", 8) != 0) {
            wr_u8(w, '&');
            wr_bytes(w, query, n);
        }
        query += n + (query[n] == '&');
    }
}

static bool is_key(const char *key)
{
    size_t n = 0;

    while (isalnum((unsigned char)key[n]))
        n++;
    return n == HLS_SESSION_KEY && !key[n];
}

static bool is_free(struct hls *h, const char *id)
{
    const struct clients *r = h->env->clients;

    return !find_id(h, id) && !(r && clients_find(r, id));
}

/* Checks an id against the clients of all workers. */
struct id_check {
    const char *id;
    bool taken;
};

static void check_taken(struct session_env *env, void *id_check)
{
    struct id_check *q = id_check;

    q->taken |= env->clients && clients_find(env->clients, q->id);
}

/* Returns true if no client of any worker has this id, which came from a URL. Yields. */
static bool is_free_everywhere(struct hls *h, const char *id)
{
    struct id_check q = { .id = id };

    workers_each(h->env, check_taken, &q);
    return !q.taken && is_free(h, id);
}

/* ------------------------------------------------------------ eviction */

static void log_full(struct hls_sessions *t, err_t why, bool evicted)
{
    char text[200];

    if (!t->full_at || co_now() - t->full_at > LOG_EVERY)
        log_warn("%s; %s", err_text(why, text, sizeof(text)),
                 evicted ? "the oldest session that fetched no segment makes room" :
                 "more players are refused");
    t->full_at = co_now();
}

/* Evicts the oldest unused session, of this address or (NULL) of any. */
struct eviction {
    const char *ip;
    bool done;
};

static struct hls_session *session_at(struct hls_session_slot *p)
{
    return container_of(p, struct hls_session, slot);
}

static bool is_evictable(const struct hls_session *s)
{
    return !s->busy && !s->session.co;
}

static void evict(struct session_env *env, void *eviction)
{
    struct eviction *e = eviction;
    struct hls_session_slot *p;
    struct co_cid cid;

    if (e->done || !env->hls || !env->hls->sessions)
        return;
    p = hls_session_limits_oldest(env->hls->sessions->limits, e->ip);
    while (p && !is_evictable(session_at(p)))
        p = hls_session_limits_next(p, e->ip);
    e->done = p != NULL;
    if (!p)
        return;
    cid = co_swap_cid(session_at(p)->id); /* its log lines get its own id */
    remove_session(session_at(p));
    co_set_cid(cid.text);
}

/* Evicts a session here, else at another worker, and yields then. */
static bool make_room(struct hls *h, const char *ip)
{
    struct eviction e = { .ip = ip };

    evict(h->env, &e);
    if (!e.done)
        workers_each(h->env, evict, &e);
    return e.done;
}

/* Takes a slot for a session of that address, evicting others if needed. Yields. */
static err_t enter(struct hls *h, const char *ip, struct hls_session_slot *slot)
{
    bool own, evicted = true;
    err_t err = hls_session_limits_enter(h->sessions->limits, slot, h->env, ip, &own);

    for (int i = 0; err && evicted && i < TRIES; i++) {
        evicted = make_room(h, own ? ip : NULL);
        log_full(h->sessions, err, evicted);
        if (!evicted)
            break;
        err_free(&err);
        err = hls_session_limits_enter(h->sessions->limits, slot, h->env, ip, &own);
    }
    return err;
}

/* Sets the names in the form that all protocols use, for the stream of the playlist. */
static void set_names(struct hls_session *s, const struct http_exchange *x,
                      struct session_stream names)
{
    const char *host = http_request_field(x->req, "Host");
    char *tc_url = must_print("http%s://%s/%s", x->tls ? "s" : "", host ? host : names.vhost,
                              names.app);
    struct wr param;

    wr_init(&param, QUERY_MAX);
    hls_session_query(x->req->query, &param);
    if (param.len > 0)
        param.buf[0] = '?';
    wr_u8(&param, 0);
    names.param = param.bad ? "" : (const char *)param.buf;
    names.tc_url = tc_url;
    names.page_url = text_or_empty(http_request_field(x->req, "Referer"));
    names.ip = x->ip;
    s->session.names = session_stream_copy(&names);
    wr_free(&param);
    free(tc_url);
}

static co_usec max_time(co_usec a, co_usec b)
{
    return a > b ? a : b;
}

/* Sets how long a session may be without a request; players request more often. A session that
 * never fetched a segment ends after two updates of the playlist: most of these are a single
 * request. */
static void set_idle_limits(struct hls_session *s, const struct conf_vhost *v, bool dash)
{
    co_usec fragment = dash ? v->dash.fragment : v->hls.fragment;
    co_usec turn = dash ? max_time(fragment, v->dash.update_period) : fragment;
    co_usec window = dash ? max_time(fragment * v->dash.window_size, turn) : v->hls.window;
    co_usec first = max_time(FIRST_MIN, turn * 2);

    s->idle_limit = max_time(window * 2, fragment * 3);
    s->first_idle_limit = first < s->idle_limit ? first : s->idle_limit;
}

/* Sets key and id: from the URL, or random. */
static void set_key(struct hls_session *s, const char *key)
{
    do {
        if (key)
            (void)snprintf(s->key, sizeof(s->key), "%s", key);
        else
            random_id(s->key, HLS_SESSION_KEY);
        id_of(s->key, s->id);
    } while (!key && !is_free(s->hls, s->id));
}

/* Adds a session that has its slot already. */
static void add(struct hls *h, struct hls_session *s, const struct http_exchange *x,
                const struct session_stream *names, bool dash, const char *key)
{
    struct hls_session **at;

    s->hls = h;
    set_key(s, key);
    session_init(&s->session, h->env, NULL);
    s->session.id = s->id;
    s->session.on_kick = on_kick;
    set_names(s, x, *names);
    session_begin(&s->session);
    s->requested_at = co_now();
    set_idle_limits(s, x->vhost, dash);
    s->dash = dash;
    if (dash)
        add_mark(s, x);
    at = bucket(h, s->id);
    s->next = *at;
    *at = s;
    h->sessions->all++;
    hls_owner_set(h->env, owner_name_of(s->id).name);
}

static err_t authorize(struct hls_session *s, const struct http_exchange *x)
{
    const struct session_stream *names = &s->session.names;
    struct co_cid cid = co_swap_cid(s->id);
    err_t err = session_find_stream(&s->session, names->vhost, names->app, names->name);
    if (!err)
        err = session_play_begin(&s->session, s->dash ? CLIENTS_DASH_PLAY : CLIENTS_HLS_PLAY,
                                 http_request_field(x->req, "Authorization"));
    s->session.co = NULL;
    s->playing = !err;
    if (!err)
        log_trace("%s session %s of %s/%s, ip=%s", protocol_name(s), s->id, names->app, names->name,
                  names->ip);
    co_set_cid(cid.text);
    return err;
}

/* Returns the session with this key: another request may have created it meanwhile. */
static err_t find_same(struct hls *h, const struct session_stream *names, bool dash,
                       const char *key, struct hls_session **out)
{
    struct hls_session *s = hls_session_find(h, key);

    *out = s && s->dash == dash && hls_session_plays(s, names) ? s : NULL;
    return *out ? NULL : err_new(ERR_MALFORMED, "the id belongs to another client");
}

err_t hls_session_begin(struct hls *h, const struct http_exchange *x,
                        const struct session_stream *names, bool dash, const char *key,
                        struct hls_session **out)
{
    char id[HLS_SESSION_ID + 1];
    struct hls_session *s;
    err_t err;

    *out = NULL;
    if (key && !is_key(key))
        return err_new(ERR_MALFORMED, "not the key of a session");
    if (key)
        id_of(key, id);
    if (key && !is_free_everywhere(h, id))
        return find_same(h, names, dash, key, out);
    s = must(calloc(1, sizeof(*s)));
    err = enter(h, x->ip, &s->slot);
    if (err) {
        free(s);
        return err;
    }
    if (key && find_id(h, id)) { /* created meanwhile */
        hls_session_limits_leave(h->sessions->limits, &s->slot);
        free(s);
        return find_same(h, names, dash, key, out);
    }
    add(h, s, x, names, dash, key);
    start_sweep(h);
    err = authorize(s, x);
    if (err)
        remove_session(s);
    else
        *out = s;
    return err;
}

void hls_session_used(struct hls_session *s)
{
    hls_session_limits_used(s->hls->sessions->limits, &s->slot);
}

void hls_session_undo(struct hls_session *s)
{
    if (!s->busy && !s->session.co)
        remove_session(s);
}

/* ------------------------------------------------------------ requests of a session */

bool hls_session_hold(struct hls_session *s)
{
    s->requested_at = co_now();
    if (s->refused || s->session.co || session_has_expired(s->session.ends))
        return false;
    s->busy++;
    return true;
}

int hls_session_denied_status(const struct hls_session *s)
{
    return s->session.co ? 503 : 403;
}

void hls_session_release(struct hls_session *s, uint64_t bytes)
{
    s->busy--;
    s->requested_at = co_now();
    s->session.out += bytes;
    s->requests++;
    session_count(&s->session, co_now());
}
