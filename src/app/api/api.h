/* SPDX-License-Identifier: MIT */
/* api.h - the HTTP API: what a row of it is, and how it is answered.
 *
 * A row has a path below /api/v1/, a sentence of help and a function. Who is called finds the
 * common fields written ("code", "server", "service", "pid") and adds its own; the object is closed
 * and sent behind it. JSONP, CORS, passwords, wrong methods and who may change something are seen
 * to before.
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

/* What it tells about; borrowed. */
struct api_parts {
    struct session_env *env;
    struct http_mux *mux;
    const struct machine *machine;
    struct reload_report *reload;
    /* The one of that row at the worker of that env, on its thread; NULL: there are none. */
    const struct sink *(*sink)(const struct session_env *env, const struct sink_ops *row);
    unsigned (*connections)(void *arg); /* of this worker */
    void *arg;
    const struct watch *watch;   /* NULL: not of this worker; and so is */
    const struct history *history;
    struct api_guard *guard; /* the API's own */
};

struct api_call {
    const struct api_parts *of;
    struct http_exchange *x;
    enum http_verb verb;  /* GET for HEAD */
    const char *rest;     /* of the path, behind that of the row; "" without */
    struct jput j;
    struct wr out;
    char callback[64];    /* of JSONP, or "" */
    bool trusted;         /* see api_is_trusted() */
    bool begun;           /* a part of the answer is on its way */
};

/* Scripts post to what only reads, or put; to delete what cannot be deleted is refused. */
#define API_READ (1u << HTTP_VERB_GET | 1u << HTTP_VERB_POST | 1u << HTTP_VERB_PUT | \
                  1u << HTTP_VERB_PATCH)
/* The same of what is no thing that could be deleted: no method changes it. */
#define API_ANY (API_READ | 1u << HTTP_VERB_DELETE | 1u << HTTP_VERB_OTHER)
/* And told to public addresses, too, where there is no password. */
#define API_TOLD (1u << 16)

struct api_row {
    const char *path;  /* "summaries", "streams/": with a slash also all below it */
    const char *help;  /* in the list at /api/v1/; NULL: not listed */
    unsigned methods;  /* 1u << enum http_verb ..., API_TOLD; 0: it is not built in */
    err_t (*answer)(struct api_call *c); /* yields */
    /* Would it change something? Not everybody may then. NULL: a DELETE would,
     * unless methods is API_ANY. */
    bool (*changes)(const struct api_call *c);
};

/* Numbers of errors in answers, as users of such servers know them. */
enum api_code {
    API_DENIED = 1053, API_NO_VHOST = 2014, API_NO_STREAM = 2048, API_NO_CLIENT = 2049,
    API_RAW_DISABLED = 1061,
    API_RAW_PARAMS = 1062, API_SYSTEM = 1100, API_EXPORTER_OFF = 1090,
};

struct api *api_new(const struct api_parts *parts);
void api_free(struct api *a);
/* What it was made with: for others that tell the same. */
const struct api_parts *api_parts_of(const struct api *a);
/* In a loop over what may be many: sends what has gathered, lets others run. Pointers into shared
 * tables are stale behind it. */
err_t api_yield_if_due(struct api_call *c) __attribute__((warn_unused_result));
/* Has so much gathered that a part should be sent? What another worker writes for us ends then, for
 * it is ours to send. */
bool api_is_full(const struct api_call *c);
/* The answer is this number and nothing else. Nothing may have been sent. */
err_t api_error(struct api_call *c, int code) __attribute__((warn_unused_result));
/* A parameter of the query as a number, or `otherwise`. */
long api_number(const struct api_call *c, const char *key, long otherwise);
const char *api_param(const struct api_call *c, const char *key, char *buf, size_t size);
/* Did this request prove the password of http_api.auth? Where none is in force nobody has: what is
 * a secret (keys, tokens in params) is shown to nobody then. */
bool api_is_trusted(const struct api_call *c);
/* A member that may have parameters and credentials of addresses in it: they are shown to who is
 * trusted, and with log_secrets on to all. */
void api_put_secret(struct api_call *c, const char *key, const char *text);
/* The ports that the console shows: all of the server; with a vhost those that serve it, and none
 * that the page itself comes by. */
void api_put_ports(struct jput *j, const struct conf *c, const struct conf_vhost *v);
void api_kbps(struct jput *j, int in, int out);

/* Rows of the other files, a row without a path behind the last. */
extern const struct api_row api_rows_clients[], api_rows_clusters[], api_rows_doctor[];
extern const struct api_row api_rows_history[], api_rows_live[], api_rows_log[], api_rows_outputs[];
extern const struct api_row api_rows_raw[], api_rows_system[], api_rows_tests[], api_rows_tools[];
extern const struct api_row api_rows_upkeep[], api_rows_workers[];

/* ?start=N&count=M of a list. */
struct api_page {
    size_t start, end;
};
struct api_page api_page_of(const struct api_call *c);

/* Whose figures the API shows. */
struct worker_counters_of api_counters_of(const struct api_parts *of);
/* What summaries show, as the member "data"; also for the heartbeat. */
void api_put_summaries(struct jput *j, const struct api_parts *of);

#endif
