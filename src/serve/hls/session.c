/* SPDX-License-Identifier: MIT */
/* session.c - the players of HLS and DASH: sessions by the key in their urls. */
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
#define TOLD CO_SECONDS(10)
#define FIRST_LEAST CO_SECONDS(10)

void hls_sessions_begin(struct hls *h)
{
    h->sessions = must(calloc(1, sizeof(*h->sessions)));
    h->sessions->room = hls_session_limits_new();
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

/* Of a key that is as long as all are. */
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

/* What it is called there. */
struct place {
    char name[HLS_SESSION_ID + 2];
};

static struct place place_of(const char *id)
{
    struct place p;

    (void)snprintf(p.name, sizeof(p.name), "?%.*s", HLS_SESSION_ID, id);
    return p;
}

int hls_session_owner(const struct session_env *env, const char *key)
{
    return strlen(key) == HLS_SESSION_KEY ? hls_owner_of(env, place_of(key).name) : HLS_NO_OWNER;
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

/* ------------------------------------------------------------ known again */

static void put(EVP_MD_CTX *c, const char *text)
{
    text = text_or_empty(text);
    must_be(EVP_DigestUpdate(c, text, strlen(text) + 1) == 1);
}

/* A digest of who asks, for which stream and with what words: it is the same player, or one that
 * has the same permission. */
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

/* One that asks by its id is another player. */
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

static void mark_it(struct hls_session *s, const struct http_exchange *x)
{
    struct hls_session **at;

    make_mark(x, &s->session.names, s->mark);
    at = marked(s->hls, s->mark);
    s->next_marked = *at;
    *at = s;
}

static void unmark(struct hls_session *s)
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

/* ------------------------------------------------------------ the end */

static const char *what(const struct hls_session *s)
{
    return s->dash ? "DASH" : "HLS";
}

/* Why it stopped, for the log. */
static const char *reason(const struct hls_session *s, err_t why, char *text, size_t size)
{
    if (why)
        return err_text(why, text, size);
    if (s->refused)
        return "kicked";
    if (s->hls->stopping)
        return "the server stops";
    (void)snprintf(text, size, "no request for %lld s", us_to_s(co_now() - s->asked_at));
    return text;
}

/* It plays no more: told once, whatever comes later. What a backend is told is by what the vhost
 * says now; by what it said if it went. */
static void stop(struct hls_session *s, err_t why)
{
    char text[200];
    bool changed;
    err_t gone;

    if (!s->playing)
        return;
    s->playing = false;
    gone = session_apply(&s->session, &changed);
    err_free(&gone);
    session_play_end(&s->session, why);
    log_trace("client finished: %s, %llu requests, session %s: %s", text_or_empty(s->session.did),
              (unsigned long long)s->requests, s->id, reason(s, why, text, sizeof(text)));
}

/* It gets nothing more, whatever it asks for. */
static void expire(struct hls_session *s)
{
    err_t err = session_expiry_error();
    char text[128];

    s->refused = true;
    log_warn("%s session %s: %s", what(s), s->id, err_text(err, text, sizeof(text)));
    stop(s, err);
    err_free(&err);
}

static void forget(struct hls_session **at)
{
    struct hls_session *s = *at;

    *at = s->next;
    if (s->dash)
        unmark(s);
    stop(s, NULL);
    s->hls->sessions->all--;
    hls_session_limits_leave(s->hls->sessions->room, &s->place);
    hls_owner_clear(s->hls->env, place_of(s->id).name);
    session_fini(&s->session);
    session_stream_free(&s->session.names);
    free(s);
}

static void forget_one(struct hls_session *s)
{
    struct hls_session **at = bucket(s->hls, s->id);

    while (*at != s)
        at = &(*at)->next;
    forget(at);
}

static void look_at_term(struct hls_session *s)
{
    if (s->playing && session_has_expired(s->session.ends)) {
        co_set_cid(s->id);
        expire(s);
    }
}

static co_usec patience_with(const struct hls_session *s)
{
    return hls_session_limits_is_used(&s->place) ? s->patience : s->first_patience;
}

/* Those who ask no more. A kicked one that goes on asking stays, so its id stays refused. */
static void sweep_bucket(struct hls_session **at, co_usec now)
{
    while (*at) {
        struct hls_session *s = *at;

        look_at_term(s);
        if (s->busy || s->session.co || now - s->asked_at <= patience_with(s)) {
            at = &s->next;
            continue;
        }
        co_set_cid(s->id);
        forget(at);
    }
}

static err_t sweep(void *hls)
{
    struct hls_sessions *t = ((struct hls *)hls)->sessions;
    err_t err = NULL;

    co_log_as(LOG_UNTRUSTED_ALL); /* one connection may have begun thousands */
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
        log_end("HLS sessions", &err); /* the next one starts it */
}

void hls_sessions_free(struct hls *h)
{
    for (size_t i = 0; i < HLS_SESSION_BUCKETS; i++) {
        while (h->sessions->buckets[i])
            forget(&h->sessions->buckets[i]);
    }
    hls_session_limits_free(h->sessions->room);
    (void)hls_folders_unref(h->sessions->folders);
    for (size_t i = 0; i < HLS_LIST_FILES; i++)
        (void)hls_file_unref(h->sessions->lists[i].file);
    free(h->sessions);
}

/* ------------------------------------------------------------ among the clients */

static void on_kick(struct session *session)
{
    struct hls_session *s = container_of(session, struct hls_session, session);

    s->refused = true;
    hls_session_used(s); /* it stays, so that its key stays refused */
    stop(s, NULL);
}

/* ------------------------------------------------------------ the begin */

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

/* ... and of no client of another worker. */
struct question {
    const char *id;
    bool taken;
};

static void ask_taken(struct session_env *env, void *question)
{
    struct question *q = question;

    q->taken |= env->clients && clients_find(env->clients, q->id);
}

/* The id was given by the url. Yields. */
static bool is_free_everywhere(struct hls *h, const char *id)
{
    struct question q = { .id = id };

    workers_each(h->env, ask_taken, &q);
    return !q.taken && is_free(h, id);
}

/* ------------------------------------------------------------ room for one more */

static void log_full(struct hls_sessions *t, err_t why, bool made)
{
    char text[200];

    if (!t->full_at || co_now() - t->full_at > TOLD)
        log_warn("%s; %s", err_text(why, text, sizeof(text)),
                 made ? "the oldest session that fetched no segment makes room" :
                 "more players are refused");
    t->full_at = co_now();
}

/* The oldest session that nobody uses is to go: of that address, or NULL. */
struct eviction {
    const char *ip;
    bool done;
};

static struct hls_session *session_at(struct hls_session_slot *p)
{
    return container_of(p, struct hls_session, place);
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
    p = hls_session_limits_oldest(env->hls->sessions->room, e->ip);
    while (p && !is_evictable(session_at(p)))
        p = hls_session_limits_next(p, e->ip);
    e->done = p != NULL;
    if (!p)
        return;
    cid = co_swap_cid(session_at(p)->id); /* its log lines have its own id */
    forget_one(session_at(p));
    co_set_cid(cid.text);
}

/* Here, else at another worker. Yields then. */
static bool make_room(struct hls *h, const char *ip)
{
    struct eviction e = { .ip = ip };

    evict(h->env, &e);
    if (!e.done)
        workers_each(h->env, evict, &e);
    return e.done;
}

/* A place for a session of that address. Yields. */
static err_t enter(struct hls *h, const char *ip, struct hls_session_slot *place)
{
    bool own, made = true;
    err_t err = hls_session_limits_enter(h->sessions->room, place, h->env, ip, &own);

    for (int i = 0; err && made && i < TRIES; i++) {
        made = make_room(h, own ? ip : NULL);
        log_full(h->sessions, err, made);
        if (!made)
            break;
        err_free(&err);
        err = hls_session_limits_enter(h->sessions->room, place, h->env, ip, &own);
    }
    return err;
}

/* The names as all protocols tell them, of the stream that the playlist is of. */
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

static co_usec longer(co_usec a, co_usec b)
{
    return a > b ? a : b;
}

/* A session without a request for so long has stopped: players ask more often. A session that never
 * fetched a segment lasts for two updates of the list: most of these are a single request. */
static void set_patience(struct hls_session *s, const struct conf_vhost *v, bool dash)
{
    co_usec fragment = dash ? v->dash.fragment : v->hls.fragment;
    co_usec turn = dash ? longer(fragment, v->dash.update_period) : fragment;
    co_usec window = dash ? longer(fragment * v->dash.window_size, turn) : v->hls.window;
    co_usec first = longer(FIRST_LEAST, turn * 2);

    s->patience = longer(window * 2, fragment * 3);
    s->first_patience = first < s->patience ? first : s->patience;
}

/* Its id and its secret: as the url has them, or new ones. */
static void name_it(struct hls_session *s, const char *key)
{
    do {
        if (key)
            (void)snprintf(s->key, sizeof(s->key), "%s", key);
        else
            random_id(s->key, HLS_SESSION_KEY);
        id_of(s->key, s->id);
    } while (!key && !is_free(s->hls, s->id));
}

/* It has a place already. */
static void add(struct hls *h, struct hls_session *s, const struct http_exchange *x,
                const struct session_stream *names, bool dash, const char *key)
{
    struct hls_session **at;

    s->hls = h;
    name_it(s, key);
    session_init(&s->session, h->env, NULL);
    s->session.id = s->id;
    s->session.on_kick = on_kick;
    set_names(s, x, *names);
    session_begin(&s->session);
    s->asked_at = co_now();
    set_patience(s, x->vhost, dash);
    s->dash = dash;
    if (dash)
        mark_it(s, x);
    at = bucket(h, s->id);
    s->next = *at;
    *at = s;
    h->sessions->all++;
    hls_owner_set(h->env, place_of(s->id).name);
}

static err_t ask(struct hls_session *s, const struct http_exchange *x)
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
        log_trace("%s session %s of %s/%s, ip=%s", what(s), s->id, names->app, names->name,
                  names->ip);
    co_set_cid(cid.text);
    return err;
}

/* Another request of it may have come while others were asked. */
static err_t same(struct hls *h, const struct session_stream *names, bool dash, const char *key,
                  struct hls_session **out)
{
    struct hls_session *s = hls_session_find(h, key);

    *out = s && s->dash == dash && hls_session_plays(s, names) ? s : NULL;
    return *out ? NULL : err_new(ERR_MALFORMED, "an id of another client");
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
        return err_new(ERR_MALFORMED, "no key of ours");
    if (key)
        id_of(key, id);
    if (key && !is_free_everywhere(h, id))
        return same(h, names, dash, key, out);
    s = must(calloc(1, sizeof(*s)));
    err = enter(h, x->ip, &s->place);
    if (err) {
        free(s);
        return err;
    }
    if (key && find_id(h, id)) { /* it came meanwhile */
        hls_session_limits_leave(h->sessions->room, &s->place);
        free(s);
        return same(h, names, dash, key, out);
    }
    add(h, s, x, names, dash, key);
    start_sweep(h);
    err = ask(s, x);
    if (err)
        forget_one(s);
    else
        *out = s;
    return err;
}

void hls_session_used(struct hls_session *s)
{
    hls_session_limits_used(s->hls->sessions->room, &s->place);
}

void hls_session_undo(struct hls_session *s)
{
    if (!s->busy && !s->session.co)
        forget_one(s);
}

/* ------------------------------------------------------------ its requests */

bool hls_session_hold(struct hls_session *s)
{
    s->asked_at = co_now();
    if (s->refused || s->session.co || session_has_expired(s->session.ends))
        return false;
    s->busy++;
    return true;
}

int hls_session_refusal(const struct hls_session *s)
{
    return s->session.co ? 503 : 403;
}

void hls_session_release(struct hls_session *s, uint64_t bytes)
{
    s->busy--;
    s->asked_at = co_now();
    s->session.out += bytes;
    s->requests++;
    session_count(&s->session, co_now());
}
