/* SPDX-License-Identifier: MIT */
/* http.c - requests of HLS and DASH: finds the stream of the requested file.
 *
 * Files in memory are found by their path. Files that are only on disk, or whose path is spelled
 * differently, are handled by on_any(), before the static files: in vhosts that authorize their
 * players it resolves the path and finds the vhosts that write there.
 *
 * With several workers a file is in the memory of one of them, and a session is at the owner worker
 * of its stream. A request that arrives at another worker moves by its path first, then by its
 * session, so it does not move again once it is at the right worker.
 */
#include "serve/hls/http.h"

#include "base/must.h"
#include "base/text.h"
#include "co/os/file.h"
#include "serve/hls/answer.h"
#include "serve/hls/folder.h"
#include "serve/http/static.h"
#include "session/stream_owners.h"
#include "session/player.h"
#include "session/tokens.h"
#include "sink/hls/store/owner.h"
#include "sink/hls/stream.h"
#include "sink/hls/worker.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDERS = 32 };

static bool is_list(enum hls_sort sort)
{
    return sort == HLS_LIST || sort == HLS_MPD;
}

/* ------------------------------------------------------------ files in memory */

/* Builds the full path as streams write it. Returns false if it does not fit or is hidden. */
static bool full_path(const struct http_exchange *x, struct hls_answer *a, char *buf, size_t size)
{
    a->folder = http_static_locate(x, &a->below);
    a->path = buf;
    return !http_static_is_hidden(a->below) &&
           snprintf(buf, size, "%s%s", a->folder, a->below) < (int)size;
}

/* Distinguishes keys from segments by their template, not by their extension. */
static enum hls_sort media_of(const struct conf_vhost *v, const char *path)
{
    const struct session_stream any = { .vhost = v->name };
    size_t n = strlen(v->hls.key_file_path);
    bool key = v->hls.keys && strncmp(path, v->hls.key_file_path, n) == 0 && path[n] == '/' &&
               hls_match(v->hls.key_file, &any, path + n + 1);

    return key || hls_sort_by_end(path) == HLS_KEY ? HLS_KEY : HLS_MEDIA;
}

/* A path belongs to one stream, for any Host: the rules of the stream's vhost apply. */
static bool in_memory(const struct http_exchange *x, struct hls_answer *a)
{
    bool dash;

    if (!hls_names_of_file(a->h, a->path, &a->names, &dash))
        return false;
    a->vhost = conf_vhost_find(x->conf, a->names.vhost);
    if (!a->vhost)
        return false;
    if (hls_names_of(a->h, a->path, &a->names))
        a->sort = dash ? HLS_MPD : HLS_LIST;
    else
        a->sort = dash ? HLS_DASH_MEDIA : media_of(a->vhost, a->path);
    return true;
}

/* Moves the request to that worker, if it is another one. */
static bool move_to_worker(struct http_exchange *x, int worker)
{
    return worker != HLS_NO_OWNER && (unsigned)worker != x->env->worker &&
           http_exchange_move(x, (unsigned)worker);
}

static bool move_by_path(struct http_exchange *x, const struct hls_answer *a)
{
    return move_to_worker(x, hls_names_owner(a->h, a->path));
}

static bool move_by_session(struct http_exchange *x)
{
    char text[HLS_SESSION_KEY + 2];
    const char *key = hls_session_key(x, text);

    return key && move_to_worker(x, hls_session_owner(x->env, key));
}

/* ---- playlists of streams that start on request */

/* Longest wait: a playlist appears with its first segment, and players have timeouts. */
#define WAIT_MAX CO_SECONDS(20)
#define CHECK CO_MS(100)
/* a waiting client is not a player yet, so the request is repeated */
#define REQUEST_EVERY CO_SECONDS(1)

/* Finds the stream of that vhost that would have a playlist at this path. */
static bool find_names(const struct conf_vhost *v, const char *path, struct hls_matched *out)
{
    const struct session_stream any = { .vhost = v->name };
    struct hls_template t;
    const char *below;

    return hls_template_find(v, &any, path, &t, &below) &&
           (t.sort == HLS_LIST || t.sort == HLS_MPD) &&
           hls_match_names(t.text, v->name, below, out);
}

static bool is_there(const struct hls_answer *a)
{
    struct session_stream names;
    bool dash;

    return hls_names_of_file(a->h, a->path, &names, &dash) ||
           hls_names_owner(a->h, a->path) != HLS_NO_OWNER;
}

static bool request_stream(struct session_env *env, const struct session_stream *names)
{
    return env->on_wanted && env->on_wanted(env->arg, names);
}

/* Returns true if the client may start a stream: untrusted clients may not. */
static bool may_start(const struct http_exchange *x, struct session_stream names)
{
    char *param = must_print("?%s", x->req->query);
    err_t err = conf_security_check(&x->vhost->security, CONF_PLAY, x->ip);

    names.param = param;
    if (!err)
        err = tokens_check(x->env, x->vhost, CONF_PLAY, &names,
                           http_request_field(x->req, "Authorization"), NULL);
    free(param);
    if (!err)
        return true;
    err_free(&err);
    return false;
}

/* Handles a request for the playlist a->path of a missing stream. If the stream is pulled on
 * demand, requests it and waits until its playlist is here or at another worker. Returns false if
 * it is not pulled or did not arrive; the caller still owns a->path. Yields. */
static bool wait_pulled(const struct http_exchange *x, const struct hls_answer *a)
{
    struct session_stream names = { .param = "", .tc_url = "", .page_url = "", .ip = x->ip };
    co_usec until = co_clock() + WAIT_MAX, requested_at = co_clock();
    struct hls_matched found;
    bool there = false;
    err_t err = NULL;

    if (!x->vhost || x->vhost->rtsp.pull.n == 0 || !find_names(x->vhost, a->path, &found))
        return false;
    session_stream_set_key(&names, stream_key_new(x->vhost->name, found.app, found.name));
    if (may_start(x, names) && request_stream(x->env, &names)) {
        while (!err && !(there = is_there(a)) && co_clock() < until) {
            err = co_sleep(CHECK);
            if (co_clock() - requested_at < REQUEST_EVERY)
                continue;
            requested_at = co_clock();
            (void)request_stream(x->env, &names);
        }
    }
    err_free(&err); /* the next wait of the request returns it again */
    (void)stream_key_unref(names.key);
    return there;
}

/* Returns true if the playlist is in the memory of this worker. Waits for a stream that is pulled
 * on demand, and yields then. *moves: another worker answers. */
static bool wait_in_memory(struct http_exchange *x, struct hls_answer *a, bool *moves)
{
    bool here = in_memory(x, a);

    *moves = !here && move_by_path(x, a);
    if (here || *moves || !wait_pulled(x, a))
        return here;
    here = in_memory(x, a);
    *moves = !here && move_by_path(x, a);
    return here;
}

static err_t on_list(struct http_exchange *x, void *arg)
{
    struct hls_answer a = { .h = arg };
    char path[HLS_NAME_MAX];
    bool moves;

    x->declined = !full_path(x, &a, path, sizeof(path));
    if (x->declined)
        return NULL;
    if (!wait_in_memory(x, &a, &moves)) {
        x->declined = !moves;
        return NULL;
    }
    x->declined = !is_list(a.sort);
    if (x->declined)
        return NULL;
    return hls_answer_list(x, &a);
}

/* Returns the session of the request, if it plays the stream of this file. */
static struct hls_session *session_in_memory(const struct http_exchange *x,
                                             const struct hls_answer *a)
{
    char text[HLS_SESSION_KEY + 2];
    const char *key = hls_session_key(x, text);
    struct hls_session *s = key ? hls_session_find(a->h, key) : NULL;

    return s && hls_session_plays(s, &a->names) ? s : NULL;
}

/* Returns the session of the request, if its stream writes this path on disk. Most segments are
 * requested this way. */
static struct hls_session *session_by_name(const struct http_exchange *x, struct hls_answer *a)
{
    char text[HLS_SESSION_KEY + 2];
    const char *key = hls_session_key(x, text);
    struct hls_session *s = key ? hls_session_find(a->h, key) : NULL;
    struct hls_template t;
    const char *below;

    a->vhost = s ? conf_vhost_find(x->conf, s->session.names.vhost) : NULL;
    if (!a->vhost || !hls_template_find(a->vhost, &s->session.names, a->path, &t, &below))
        return NULL;
    a->sort = t.sort;
    return s;
}

/* Init segments have the extension of any MP4 file: returns true if a stream can have written this
 * one. */
static bool is_init(const struct http_exchange *x, const char *path)
{
    size_t n = strlen(path);
    struct hls_template t;
    const char *below;

    if (n < 4 || strcmp(path + n - 4, ".mp4") != 0)
        return false;
    for (size_t i = 0; i < x->conf->vhost.n; i++) {
        const struct conf_vhost *v = &x->conf->vhost.v[i];
        const struct session_stream any = { .vhost = v->name };

        co_yield_if_due();
        if (hls_template_find(v, &any, path, &t, &below) &&
            (t.sort == HLS_MEDIA || t.sort == HLS_DASH_MEDIA))
            return true;
    }
    return false;
}

static err_t on_media(struct http_exchange *x, void *arg)
{
    struct hls_answer a = { .h = arg };
    char path[HLS_NAME_MAX];
    struct hls_session *session = NULL;

    x->declined = !full_path(x, &a, path, sizeof(path));
    if (x->declined)
        return NULL;
    if (in_memory(x, &a)) {
        session = session_in_memory(x, &a);
    } else if (!(session = session_by_name(x, &a))) {
        x->declined = !move_by_path(x, &a) && !move_by_session(x);
        if (x->declined && is_init(x, path))
            x->cache = "max-age=60";
        return NULL;
    }
    return hls_answer_media(x, &a, session);
}

/* ------------------------------------------------------------ any path */

/* A request whose path leads to `real`, and the vhosts that can have written that file. */
struct search {
    struct http_exchange *x;
    struct hls_answer a;
    struct hls_folders *folders;
    struct hls_candidates candidates;
    char real[PATH_MAX];
    char path[HLS_NAME_MAX];   /* buffer of a.path, */
    struct hls_matched names;  /* and of a.names for a file on disk */
    bool list, guarded;        /* it is a playlist; a vhost that authorizes players can have
                                * written it */
    bool open;                 /* a vhost that does not authorize players can have written it too */
    bool moved;                /* another worker answers */
};

/* Finds a file of a stream in memory, by the path as the stream writes it. */
static bool find_in_memory(struct search *s)
{
    struct hls_candidates p = s->candidates;
    struct hls_candidate at;

    while (hls_candidate_next(&p, &at)) {
        s->list |= is_list(at.of.sort);
        s->guarded |= session_play_is_asked(at.vhost);
        s->open |= !session_play_is_asked(at.vhost);
        if (snprintf(s->path, sizeof(s->path), "%s/%s", at.folder, at.below) >=
            (int)sizeof(s->path))
            continue;
        s->moved = move_by_path(s->x, &s->a);
        if (s->moved)
            return true;
        if (!in_memory(s->x, &s->a))
            continue;
        s->list = is_list(s->a.sort);
        s->guarded |= session_play_is_asked(s->a.vhost);
        return true;
    }
    return false;
}

/* Finds a playlist that is no longer written: prefers the requested vhost, else takes another one
 * that authorizes its players. */
static bool find_old_list(struct search *s)
{
    struct hls_candidates p = s->candidates;
    const char *host = s->x->vhost ? s->x->vhost->name : "";
    struct hls_matched names;
    struct hls_candidate at;
    bool found = false;

    while (hls_candidate_next(&p, &at)) {
        if (!is_list(at.of.sort) || !session_play_is_asked(at.vhost) ||
            (found && strcmp(at.vhost->name, host) != 0) ||
            !hls_match_names(at.of.text, at.vhost->name, at.below, &names))
            continue;
        s->names = names;
        s->a.vhost = at.vhost;
        s->a.sort = at.of.sort;
        (void)snprintf(s->path, sizeof(s->path), "%s/%s", at.folder, at.below);
        found = true;
    }
    s->a.names = (struct session_stream){
        .vhost = found ? s->a.vhost->name : "", .app = s->names.app, .name = s->names.name,
        .param = "", .tc_url = "", .page_url = "", .ip = "",
    };
    return found;
}

/* Moves the request to the worker that answers for this playlist, so that each player has one
 * session: the owner worker of the stream, or without one a worker chosen by the hash of its
 * name. */
static bool move_old_list(struct search *s)
{
    struct workers *w = s->x->env->workers;
    struct stream_key *key;
    struct stream_owner *owner;
    unsigned to;

    if (!w)
        return false;
    key = session_stream_key(&s->a.names);
    owner = stream_owners_hold(w, key->path, text_hash(key->path) % w->n);
    to = stream_owner_worker(owner);
    stream_owners_release(w, owner);
    (void)stream_key_unref(key);
    return move_to_worker(s->x, (int)to);
}

/* Returns true if a stream of a vhost that authorizes its players can have this playlist, although
 * its names are ambiguous. */
static bool may_be_guarded(const struct search *s)
{
    struct hls_candidates p = s->candidates;
    struct hls_candidate at;

    while (hls_candidate_next(&p, &at)) {
        if (is_list(at.of.sort) && *at.of.text && session_play_is_asked(at.vhost))
            return true;
    }
    return false;
}

static err_t answer_list(struct search *s)
{
    bool old = !s->a.vhost;
    err_t err = NULL;

    if (old && !find_old_list(s))
        return http_response_status(s->x->resp, may_be_guarded(s) ? 403 : 404);
    if (old && move_old_list(s))
        return NULL;
    if (old)
        err = hls_answer_read(&s->a);
    s->a.missing = err_code(err) == ERR_NO_FILE;
    if (s->a.missing)
        err_free(&err);
    if (err)
        return err;
    err = hls_answer_list(s->x, &s->a);
    (void)hls_file_unref(s->a.file);
    return err;
}

/* Returns the session of the request, if its stream can have such a file. */
static struct hls_session *find_session(struct search *s)
{
    struct hls_candidates p = s->candidates;
    char text[HLS_SESSION_KEY + 2];
    const char *key = hls_session_key(s->x, text);
    struct hls_session *session = key ? hls_session_find(s->a.h, key) : NULL;
    struct hls_candidate at;

    while (session && hls_candidate_next(&p, &at)) {
        const struct session_stream *names = &session->session.names;

        if (strcmp(names->vhost, at.vhost->name) != 0 ||
            (*at.of.text && !hls_match(at.of.text, names, at.below)))
            continue;
        s->a.vhost = at.vhost;
        s->a.sort = at.of.sort;
        (void)snprintf(s->path, sizeof(s->path), "%s/%s", at.folder, at.below);
        return session;
    }
    return NULL;
}

/* Runs on each worker: finds a stream of it that can have this file. The caller waits, so its
 * memory may be read. */
static void find_stream_of(struct session_env *env, void *search)
{
    struct search *s = search;
    struct hls_candidates p = s->candidates;
    struct hls_candidate at;

    while (env->hls && !s->a.vhost && hls_candidate_next(&p, &at)) {
        const struct hls_stream *one = env->hls->streams;

        for (; one && *at.of.text && !s->a.vhost; one = one->next) {
            const struct stream_key *key = one->info.key;
            const struct session_stream names = { .vhost = key->vhost, .app = key->app,
                                                  .name = key->name };

            if (strcmp(key->vhost, at.vhost->name) != 0 ||
                !hls_match(at.of.text, &names, at.below))
                continue;
            s->a.vhost = at.vhost;
            s->a.sort = at.of.sort;
        }
    }
}

/* Finds a live stream on any worker that can have this file, for vhosts that share a folder.
 * Yields. */
static bool find_stream(struct search *s)
{
    workers_each(s->x->env, find_stream_of, s);
    return s->a.vhost;
}

/* Answers for a stream that has ended: the file is denied if any vhost that can have written it
 * denies it. */
static err_t answer_old_media(struct search *s)
{
    struct hls_candidates p = s->candidates;
    struct hls_candidate at;

    while (hls_candidate_next(&p, &at)) {
        err_t err = conf_security_check(&at.vhost->security, CONF_PLAY, s->x->ip);

        if (err)
            return hls_answer_denied(s->x, err);
        if (hls_needs_session(at.vhost, at.of.sort))
            return hls_answer_no_session(s->x, s->a.h);
    }
    s->x->declined = true;
    return NULL;
}

static err_t answer_media(struct search *s)
{
    struct hls_session *session = NULL;

    if (s->a.vhost)
        session = session_in_memory(s->x, &s->a);
    else if (!(session = find_session(s)) && move_by_session(s->x))
        return NULL;
    else if (!session && !(s->open && find_stream(s)))
        return answer_old_media(s);
    return hls_answer_media(s->x, &s->a, session);
}

static err_t search(struct search *s)
{
    if (!find_in_memory(s))
        s->a.vhost = NULL;
    if (s->moved)
        return NULL;
    if (!s->guarded) {
        s->x->declined = true;
        return NULL;
    }
    return s->list ? answer_list(s) : answer_media(s);
}

/* Appends a path to an existing folder, with single slashes between names. */
static void append(char *path, size_t size, const char *rest)
{
    size_t n = strlen(path);

    for (; *rest && n + 1 < size; rest++) {
        if (*rest != '/' || path[n - 1] != '/')
            path[n++] = *rest;
    }
    path[n] = '\0';
}

/* Resolves the path, also if it or folders in it do not exist: the response must not reveal that to
 * a client without authorization. Yields. */
static err_t find_real(struct search *s)
{
    char *there = must_dup(s->a.below), *slash;
    err_t err = co_file_where(s->a.folder, there, s->real, sizeof(s->real));

    for (int i = 0; i < FOLDERS && err_code(err) == ERR_NO_FILE && (slash = strrchr(there, '/'));
         i++) {
        err_free(&err);
        *slash = '\0';
        err = co_file_where(s->a.folder, there, s->real, sizeof(s->real));
        if (!err)
            append(s->real, sizeof(s->real), s->a.below + (slash - there));
    }
    free(there);
    return err;
}

static err_t answer_any(struct search *s)
{
    err_t err = find_real(s);

    s->candidates = hls_candidates(s->folders, s->real);
    if (!err)
        err = search(s);
    if (err_code(err) == ERR_NO_FILE && s->x->resp->status == 0) {
        err_free(&err);
        err = http_response_status(s->x->resp, 404);
    }
    return err;
}

static err_t on_any(struct http_exchange *x, void *arg)
{
    struct hls_folders *folders = hls_folders_get(arg);
    struct search *s;
    const char *below, *folder = http_static_locate(x, &below);
    size_t n = strlen(below);
    err_t err;

    x->declined = !folders || n == 0 || below[n - 1] == '/' || http_static_is_hidden(below);
    if (x->declined) {
        (void)hls_folders_unref(folders);
        return NULL;
    }
    s = must(calloc(1, sizeof(*s)));
    s->x = x;
    s->a = (struct hls_answer){ .h = arg, .path = s->path, .folder = folder, .below = below };
    s->folders = folders;
    err = answer_any(s);
    free(s);
    (void)hls_folders_unref(folders);
    return err;
}

void hls_http_mount(struct hls *h, struct http_mux *mux)
{
    static const char *const lists[] = { "*.m3u8", "*.mpd" };
    static const char *const media[] = { "*.ts", "*.m4s", "*.mp4", "*.key" };
    struct http_mount m = { .methods = HTTP_METHODS_READ, .ports = HTTP_PORT_SERVER,
                            .handler = on_list, .arg = h };

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        m.pattern = lists[i];
        (void)http_mux_add(mux, &m);
    }
    m.handler = on_media;
    for (size_t i = 0; i < sizeof(media) / sizeof(media[0]); i++) {
        m.pattern = media[i];
        (void)http_mux_add(mux, &m);
    }
    m.pattern = "/";
    m.handler = on_any;
    (void)http_mux_add(mux, &m);
}
