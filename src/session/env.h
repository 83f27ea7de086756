/* SPDX-License-Identifier: MIT */
/* env.h - what every conversation with a peer needs of the server it is part of.
 *
 * The program (app/) owns it and fills it in; conversations borrow it for their life. Sinks that
 * begin and end with a stream are called by the functions here, so serve/ need not know them.
 */
#ifndef SESSION_ENV_H
#define SESSION_ENV_H

#include "session/sampled.h"
#include "co/co.h"
#include "conf/conf.h"
#include "live/source.h"
#include "session/reject_counters.h"
#include "session/stream_key.h"

struct peers;
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

/* A client's stream, what was asked for, resolved; and who the client is. Borrowed strings. */
struct session_stream {
    const char *vhost, *app, *name; /* those of the key */
    const char *param;  /* "?token=x" or "" */
    const char *tc_url, *page_url;
    const char *ip;
    const char *swf_url; /* of its player program; NULL is "" */
    struct stream_key *key; /* NULL: nobody needs one so far */
    char *who;           /* of a copy: memory of what says who the client is */
};
/* The copy has a reference of the key and its own strings; session_stream_free() frees them. */
struct session_stream session_stream_copy(const struct session_stream *s);
void session_stream_free(struct session_stream *copy); /* zeroed is fine */
/* The key of its stream, with a reference for the caller. */
struct stream_key *session_stream_key(const struct session_stream *s);
/* It is about that stream from now on: vhost, app and name are the key's, whose reference it takes
 * over; that of the key of before is given back. */
void session_stream_set_key(struct session_stream *s, struct stream_key *key);

struct session_env {
    struct conf *conf;    /* the snapshot in force: take a reference to keep it */
    unsigned generation;  /* changes with each new snapshot */
    struct live_registry *streams;
    struct rtmp_in_pool *messages; /* incomplete messages of RTMP peers; NULL: no limit for all */
    size_t whole_memory, whole_messages; /* of the process: both of these have a part of it */
    struct clients *clients; /* who is on; NULL: nobody asks */
    struct hooks *hooks;   /* callbacks; NULL: none are made */
    struct http_packs *packs; /* texts of files, compressed; NULL: they are sent as they are */
    struct peers *peers;   /* connections by address; NULL: nobody counts them */
    struct guard *guard;   /* addresses that show wrong secrets; NULL: nobody counts them */
    struct reject_counters reject_counters;
    struct hls *hls;       /* HLS and DASH of its streams, and who plays them; NULL: none */
    struct tokens *tokens; /* keys of tokens that are in files; NULL: none */
    const char *signature, *version; /* who we are, for those who ask */
    const char *server_id, *service_id; /* which server, and which run of it */
    struct workers *workers; /* all of the process; NULL: this is the only one */
    unsigned worker;         /* which of them this is, from 0 */
    struct replicas *replicas; /* of streams that are at home at others; NULL: there are none */
    unsigned connected;    /* clients, where it is the only worker: workers_connections() */
    struct co_group *connections; /* all of this worker: those that come from others join it */
    struct co_group *helpers;     /* what serves no one connection; ends after those;
                                   * NULL: there is none */
    struct vod *vod;              /* files on demand of this worker; NULL: none */
    void *service[PROTOCOLS];     /* of this worker, by protocol: its files know what; or NULL */
    struct sampled sampled;              /* sample lines of the log */
    unsigned publishers, players;    /* at this moment */
    void *arg;            /* for these: */
    void (*on_publish)(void *arg, const struct conf_vhost *vhost, const struct session_stream *s,
                       struct live_source *src);
    void (*on_unpublish)(void *arg, struct live_source *src);
    /* Somebody is there to play that stream, and nobody publishes it. True: it is fetched. NULL: no
     * matter. */
    bool (*on_wanted)(void *arg, const struct session_stream *s);
};

/* The live settings that a vhost's configuration asks for. */
struct live_settings session_live_settings(const struct conf *conf, const struct conf_vhost *vhost);

#endif
