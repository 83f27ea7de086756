/* SPDX-License-Identifier: MIT */
/* session.h - players of HLS and DASH: sessions, identified by the key in their URLs.
 *
 * With hls_ctx, a player that requests a playlist gets a master playlist with one entry, whose URL
 * has a key: this starts a session. With dash_ctx, in a vhost that authorizes its players, the URLs
 * of an MPD have a key, and so has the Location of the next MPD; players that ignore the Location
 * are recognized by the headers of their requests. A session is a client like others: a backend
 * authorizes it and is notified when it stops, it is in the list of clients and can be kicked. It
 * stops after no request for twice hls_window, or twice the length of the DASH list.
 *
 * The key (hls_ctx in URLs) is the id of the client plus a secret. The id is public: it is in the
 * log, the API and callbacks. Only a client with the secret can play.
 */
#ifndef SERVE_HLS_SESSION_H
#define SERVE_HLS_SESSION_H

#include "serve/hls/session_limits.h"
#include "serve/http/http.h"
#include "session/session.h"
#include "sink/hls/hls.h"

enum {
    HLS_SESSION_ID = 8,       /* length of the client's id, letters and digits */
    HLS_SESSION_SECRET = 24,  /* length of the random secret: 124 bits */
    HLS_SESSION_KEY = HLS_SESSION_ID + HLS_SESSION_SECRET,
    HLS_SESSION_MARK = 32,
    HLS_SESSION_BUCKETS = 4096,
    HLS_LIST_FILES = 8,
};

struct hls_session {
    struct hls_session *next; /* next in its bucket */
    struct hls_session *next_marked; /* next in its bucket by mark */
    struct hls *hls;
    char id[HLS_SESSION_ID + 1], key[HLS_SESSION_KEY + 1];
    struct hls_session_slot slot;
    struct session session;   /* has a coroutine only while the player is being authorized */
    bool playing;             /* authorized, and not stopped yet */
    bool refused;             /* kicked, or its token expired: no more files */
    bool dash;
    bool by_id;               /* DASH: it requests the Location with its key */
    uint8_t mark[HLS_SESSION_MARK]; /* DASH: hash of what its requests have in common */
    unsigned busy;            /* number of its requests in progress */
    co_usec requested_at;
    co_usec idle_limit;       /* longest time without a request */
    co_usec first_idle_limit; /* the same until it has fetched a segment */
    uint64_t requests;
};

/* A playlist that is only on disk, cached in memory. */
struct hls_list_file {
    struct hls_file *file; /* NULL: free slot */
    uint64_t device, inode;
    int64_t mtime_ns;
};

/* The players of one worker, and the playlists on disk that they request. */
struct hls_sessions {
    struct hls_session *buckets[HLS_SESSION_BUCKETS];
    struct hls_session *marked[HLS_SESSION_BUCKETS]; /* DASH sessions, by mark */
    struct hls_session_limits *limits;
    unsigned all;                /* all sessions, including those being authorized or kicked */
    bool sweeping;
    co_usec full_at, denied_at;  /* time of the last log line about too many sessions; about a
                                  * request without one */
    struct hls_folders *folders; /* cached for a moment; NULL: not needed yet */
    struct hls_list_file lists[HLS_LIST_FILES]; /* the last ones that were read */
    unsigned next_list;
};

void hls_sessions_begin(struct hls *h); /* no sessions at first */
void hls_sessions_free(struct hls *h); /* stops the sessions and notifies the backend */

struct hls_session *hls_session_find(struct hls *h, const char *key); /* may return NULL */
/* Returns the worker that has the session, or HLS_NO_OWNER: see sink/hls/owner.h. */
int hls_session_owner(const struct session_env *env, const char *key);
/* Finds the session of a request for a playlist or MPD: by the key in its URL if that session plays
 * this stream, or for DASH by the headers of earlier requests. Returns NULL if there is none. */
struct hls_session *hls_session_of(struct hls *h, const struct http_exchange *x,
                                   const struct session_stream *names, bool dash);
bool hls_session_plays(const struct hls_session *s, const struct session_stream *names);

/* Starts a session for this request if the client may play. `key`: the key in its URL, of a session
 * that was removed; NULL: a new key. ERR_DENIED, ERR_HOOK_DENIED and other errors of authorization;
 * ERR_TOO_MANY; ERR_MALFORMED: it cannot have this key. Yields. */
err_t hls_session_begin(struct hls *h, const struct http_exchange *x,
                        const struct session_stream *names, bool dash, const char *key,
                        struct hls_session **out) __attribute__((warn_unused_result));
/* Marks the session as used: it fetched a segment, or did something else that only a player does.
 * It is then not evicted for new sessions. */
void hls_session_used(struct hls_session *s);
/* Removes a session that was started for a missing stream or a HEAD request. */
void hls_session_undo(struct hls_session *s);

/* Returns the key in the request's URL, or NULL. */
const char *hls_session_key(const struct http_exchange *x, char key[HLS_SESSION_KEY + 2]);

/* Call before and after each request of a session: between them it is not removed, even across
 * yields. hold returns false if the request is not allowed. */
bool hls_session_hold(struct hls_session *s);
/* Status for a request that is not allowed: 403, or 503 while a backend authorizes the session. */
int hls_session_denied_status(const struct hls_session *s);
void hls_session_release(struct hls_session *s, uint64_t bytes);

/* Writes the query without the key of a session: each "key=value" behind an '&'. */
void hls_session_query(const char *query, struct wr *w);

#endif
