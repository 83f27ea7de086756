/* SPDX-License-Identifier: MIT */
/* env.h - the environment of sessions: everything that a session needs from its server.
 *
 * app/ owns it and fills it in; sessions borrow it. Sinks, which start and end with a stream, are
 * called through functions here, so serve/ does not depend on them.
 */
#ifndef SESSION_ENV_H
#define SESSION_ENV_H

#include "session/sampled.h"
#include "co/co.h"
#include "conf/conf.h"
#include "live/source.h"
#include "session/reject_counters.h"
#include "session/stream_key.h"

struct address_limits;
struct guard;
struct clients;
struct hls;
struct hooks;
struct http_packs;
struct tokens;
struct replicas;
struct rtmp_in_pool;
struct workers;
struct vod;

/* The stream that a client requests, resolved, and the client's identity. Strings are borrowed. */
struct session_stream {
    const char *vhost, *app, *name; /* the same as in the key */
    const char *param;  /* "?token=x" or "" */
    const char *tc_url, *page_url;
    const char *ip;
    const char *swf_url; /* URL of its Flash player; NULL means "" */
    struct stream_key *key; /* NULL: not needed so far */
    char *who;           /* in a copy: memory of the client's identity */
};
/* Copies it with a reference to the key and its own strings; session_stream_free() frees them. */
struct session_stream session_stream_copy(const struct session_stream *s);
void session_stream_free(struct session_stream *copy); /* zero is fine */
/* Returns the key of the stream, with a reference for the caller. */
struct stream_key *session_stream_key(const struct session_stream *s);
/* Sets the stream: vhost, app and name are the key's. Takes over the reference to the key and
 * releases that to the old one. */
void session_stream_set_key(struct session_stream *s, struct stream_key *key);

struct session_env {
    struct conf *conf;    /* configuration in force; take a reference to keep it */
    unsigned generation;  /* changes with each new configuration */
    struct live_registry *streams;
    struct rtmp_in_pool *messages; /* incomplete messages of RTMP peers; NULL: no limit for all */
    size_t whole_memory, whole_messages; /* limits of the process; this worker has a share */
    struct clients *clients; /* list of clients; NULL: none is kept */
    struct hooks *hooks;   /* callbacks; NULL: disabled */
    struct http_packs *packs; /* compressed files; NULL: files are sent uncompressed */
    struct address_limits *peers; /* connections by address; NULL: not counted */
    struct guard *guard;   /* addresses with wrong secrets; NULL: not counted */
    struct reject_counters reject_counters;
    struct hls *hls;       /* HLS and DASH of its streams and their players; or NULL */
    struct tokens *tokens; /* token keys from files; or NULL */
    const char *signature, *version; /* server name and version, for clients */
    const char *server_id, *service_id; /* ids of the server and of this run */
    struct workers *workers; /* all workers of the process; NULL: this is the only one */
    unsigned worker;         /* index of this worker, from 0 */
    struct replicas *replicas; /* replicas of other workers' streams; or NULL */
    unsigned connected;    /* clients if this is the only worker, see workers_connections() */
    struct co_group *connections; /* all connections of this worker, also moved ones */
    struct co_group *helpers;     /* coroutines that serve no single connection; ends after the
                                   * connections; or NULL */
    struct vod *vod;              /* files on demand of this worker; or NULL */
    void *service[PROTOCOLS];     /* services of this worker, private to each protocol; or NULL */
    struct sampled sampled;              /* sample lines of the log */
    unsigned publishers, players;    /* current numbers */
    void *arg;            /* argument of the functions: */
    void (*on_publish)(void *arg, const struct conf_vhost *vhost, const struct session_stream *s,
                       struct live_source *src);
    void (*on_unpublish)(void *arg, struct live_source *src);
    /* A player requests a stream without a publisher. Returns true if it is being pulled. May be
     * NULL. */
    bool (*on_wanted)(void *arg, const struct session_stream *s);
};

/* Returns the live settings of a vhost. */
struct live_settings session_live_settings(const struct conf *conf, const struct conf_vhost *vhost);

#endif
