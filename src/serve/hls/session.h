/* SPDX-License-Identifier: MIT */
/* session.h - the players of HLS and DASH: sessions by the key in their urls.
 *
 * With hls_ctx, a player that asks for a playlist gets a list of one list, whose url has an id:
 * that is a session. With dash_ctx, in a vhost that asks its players, the urls in an MPD have one,
 * and so has the location of the next MPD; players that ignore it are known again by the headers
 * of their requests. It is a client as others are: a backend is asked whether it may play and is
 * notified when it stops, it is in the list of clients, and can be kicked. It stops when nothing
 * was asked by its id for twice hls_window, or what DASH has in its list.
 *
 * The key, hls_ctx in urls, is the id of the client and a secret. The id is in the log, in the API
 * and in callbacks, which others may see; only who has the secret plays.
 */
#ifndef SERVE_HLS_SESSION_H
#define SERVE_HLS_SESSION_H

#include "serve/hls/session_limits.h"
#include "serve/http/http.h"
#include "session/session.h"
#include "sink/hls/hls.h"

enum {
    HLS_SESSION_ID = 8,       /* letters and digits of the client's id */
    HLS_SESSION_SECRET = 24,  /* and of what nobody guesses: 124 bits */
    HLS_SESSION_KEY = HLS_SESSION_ID + HLS_SESSION_SECRET,
    HLS_SESSION_MARK = 32,
    HLS_SESSION_BUCKETS = 4096,
    HLS_LIST_FILES = 8,
};

struct hls_session {
    struct hls_session *next; /* in a bucket */
    struct hls_session *next_marked; /* in one of those by mark */
    struct hls *hls;
    char id[HLS_SESSION_ID + 1], key[HLS_SESSION_KEY + 1];
    struct hls_session_slot place;
    struct session session;   /* with a coroutine while it is asked whether it may play */
    bool playing;             /* it was let in, and did not stop */
    bool refused;             /* it was kicked, or its token is over: it gets nothing more */
    bool dash;
    bool by_id;               /* DASH: it asks where it was told to, by its id */
    uint8_t mark[HLS_SESSION_MARK]; /* DASH: of all that its requests have in common */
    unsigned busy;            /* requests of it that are being answered */
    co_usec asked_at;
    co_usec patience;         /* how long it may ask nothing */
    co_usec first_patience;   /* the same until it fetched a segment */
    uint64_t requests;
};

/* A list that is on disk alone, as it was read. */
struct hls_list_file {
    struct hls_file *file; /* NULL: none */
    uint64_t device, inode;
    int64_t mtime_ns;
};

/* The players of one worker, and files on disk that they request. */
struct hls_sessions {
    struct hls_session *buckets[HLS_SESSION_BUCKETS];
    struct hls_session *marked[HLS_SESSION_BUCKETS]; /* those of DASH once more */
    struct hls_session_limits *room;
    unsigned all;                /* with those that ask, and those that were kicked */
    bool sweeping;
    co_usec full_at, denied_at;  /* it was logged that there are too many; that one has none */
    struct hls_folders *folders; /* as they were a moment ago; NULL: no request needed them */
    struct hls_list_file lists[HLS_LIST_FILES]; /* the last that were read */
    unsigned next_list;
};

void hls_sessions_begin(struct hls *h); /* nobody plays yet */
void hls_sessions_free(struct hls *h); /* those that play stop, and a backend is told */

struct hls_session *hls_session_find(struct hls *h, const char *key); /* or NULL */
/* The worker that has the session, or HLS_NO_OWNER: sink/hls/owner.h. */
int hls_session_owner(const struct session_env *env, const char *key);
/* The session of a request for the playlist or the MPD of a stream: the one by the id of its url if
 * that is of this stream, else of DASH one that such requests were of before. NULL: it has none. */
struct hls_session *hls_session_of(struct hls *h, const struct http_exchange *x,
                                   const struct session_stream *names, bool dash);
bool hls_session_plays(const struct hls_session *s, const struct session_stream *names);

/* A new one for this request of a stream, if it may play. `key`: the one that its url has, from
 * before it was forgotten; NULL: any. ERR_DENIED, ERR_HOOK_DENIED and what asking ends by;
 * ERR_TOO_MANY; ERR_MALFORMED: it cannot have this key. Yields. */
err_t hls_session_begin(struct hls *h, const struct http_exchange *x,
                        const struct session_stream *names, bool dash, const char *key,
                        struct hls_session **out) __attribute__((warn_unused_result));
/* It fetched a segment, or what proves as much that it plays: it does not make room for others. */
void hls_session_used(struct hls_session *s);
/* Forget one that was begun for a stream that is not there. */
void hls_session_undo(struct hls_session *s);

/* The key in the request's url, or NULL. */
const char *hls_session_key(const struct http_exchange *x, char key[HLS_SESSION_KEY + 2]);

/* Around each request of a session: it stays meanwhile, also over yields. False: it may not. */
bool hls_session_hold(struct hls_session *s);
/* What it is told then: 403, or 503 while a backend is asked. */
int hls_session_refusal(const struct hls_session *s);
void hls_session_release(struct hls_session *s, uint64_t bytes);

/* The query without the id of a session: each "key=value" behind an '&'. */
void hls_session_query(const char *query, struct wr *w);

#endif
