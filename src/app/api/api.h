/* SPDX-License-Identifier: MIT */
/* api.h - the HTTP API: routes and the helpers of their functions.
 *
 * A route has a path below /api/v1/, a sentence of help and a function. The common fields ("code",
 * "server", "service", "pid") are written before the function is called; the function adds its own
 * fields, then the object is closed and sent. JSONP, CORS, passwords, methods and permissions are
 * handled before the call.
 */
#ifndef APP_API_API_H
#define APP_API_API_H

#include "app/worker_counters.h"
#include "app/os/machine.h"
#include "app/reload.h"
#include "base/jput.h"
#include "serve/http/http.h"

struct api; /* owned by the server */
struct api_guard;
struct history;
struct watch;
struct sink;
struct sink_ops;

/* The parts of the server that the API shows; borrowed. */
struct api_parts {
    struct session_env *env;
    struct http_mux *mux;
    const struct machine *machine;
    struct reload_report *reload;
    /* Returns the sink of that row on the worker of `env`, on its thread; NULL if there is none. */
    const struct sink *(*sink)(const struct session_env *env, const struct sink_ops *row);
    unsigned (*connections)(void *arg); /* returns the connections of this worker */
    void *arg;
    const struct watch *watch;   /* NULL except on the first worker, and so is */
    const struct history *history;
    struct api_guard *guard; /* owned by the API */
};

struct api_call {
    const struct api_parts *of;
    struct http_exchange *x;
    enum http_verb verb;  /* GET for HEAD */
    const char *rest;     /* the path after that of the row; or "" */
    struct jput j;
    struct wr out;
    char callback[64];    /* function name of JSONP, or "" */
    bool trusted;         /* see api_is_trusted() */
    bool begun;           /* a part of the response was already sent */
};

/* Methods of a route that only reads: scripts use POST and PUT for it, too. DELETE is refused. */
#define API_READ (1u << HTTP_VERB_GET | 1u << HTTP_VERB_POST | 1u << HTTP_VERB_PUT | \
                  1u << HTTP_VERB_PATCH)
/* Methods of a route that has nothing to delete: all methods read. */
#define API_ANY (API_READ | 1u << HTTP_VERB_DELETE | 1u << HTTP_VERB_OTHER)
/* Public addresses may read the route, too, if there is no password. */
#define API_TOLD (1u << 16)

struct api_row {
    const char *path;  /* "summaries", "streams/": a final slash includes all paths below it */
    const char *help;  /* text in the list at /api/v1/; NULL: not listed */
    unsigned methods;  /* 1u << enum http_verb ..., API_TOLD; 0: not in this build */
    err_t (*answer)(struct api_call *c); /* yields */
    /* Returns true if the request changes something, which needs permission. NULL: only DELETE
     * does, and with API_ANY no method does. */
    bool (*changes)(const struct api_call *c);
};

/* Error numbers in responses; they are those of SRS. */
enum api_code {
    API_DENIED = 1053, API_NO_VHOST = 2014, API_NO_STREAM = 2048, API_NO_CLIENT = 2049,
    API_RAW_DISABLED = 1061,
    API_RAW_PARAMS = 1062, API_SYSTEM = 1100, API_EXPORTER_OFF = 1090,
};

struct api *api_new(const struct api_parts *parts);
void api_free(struct api *a);
/* Returns the parts, for others that show the same data. */
const struct api_parts *api_parts_of(const struct api *a);
/* Call it in loops over long lists: sends the buffered part of the response and yields if due.
 * Pointers into shared tables are stale after it. */
err_t api_yield_if_due(struct api_call *c) __attribute__((warn_unused_result));
/* Returns true if the buffered part of the response should be sent. Another worker that writes for
 * this one stops then, because only this worker can send. */
bool api_is_full(const struct api_call *c);
/* Responds with this error number only. Nothing may have been sent before. */
err_t api_error(struct api_call *c, int code) __attribute__((warn_unused_result));
/* Returns a query parameter as a number, or `otherwise`. */
long api_number(const struct api_call *c, const char *key, long otherwise);
const char *api_param(const struct api_call *c, const char *key, char *buf, size_t size);
/* Returns true if the request has the password of http_api.auth. Without a password this is always
 * false, so the API never shows secrets (keys, tokens in parameters) then. */
bool api_is_trusted(const struct api_call *c);
/* Adds a member that may contain URL parameters and credentials. They are only shown to a trusted
 * client, or to all with log_secrets on. */
void api_put_secret(struct api_call *c, const char *key, const char *text);
/* Writes the ports that the console shows: all ports of the server, or, with a vhost, those that
 * serve it, without the port that the page itself uses. */
void api_put_ports(struct jput *j, const struct conf *c, const struct conf_vhost *v);
void api_kbps(struct jput *j, int in, int out);

/* Routes of the other files; each table ends with a row without a path. */
extern const struct api_row api_rows_clients[], api_rows_clusters[], api_rows_doctor[];
extern const struct api_row api_rows_history[], api_rows_live[], api_rows_log[], api_rows_outputs[];
extern const struct api_row api_rows_raw[], api_rows_system[], api_rows_tests[], api_rows_tools[];
extern const struct api_row api_rows_upkeep[], api_rows_workers[];

/* The page of a list: ?start=N&count=M. */
struct api_page {
    size_t start, end;
};
struct api_page api_page_of(const struct api_call *c);

/* Returns the sources of the counters that the API shows. */
struct worker_counters_of api_counters_of(const struct api_parts *of);
/* Writes the member "data" of /summaries; the heartbeat uses it, too. */
void api_put_summaries(struct jput *j, const struct api_parts *of);

#endif
