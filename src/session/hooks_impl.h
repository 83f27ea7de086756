/* SPDX-License-Identifier: MIT */
/* hooks_impl.h - private to session/hooks*.c. */
#ifndef SESSION_HOOKS_IMPL_H
#define SESSION_HOOKS_IMPL_H

#include "base/ref.h"
#include "base/wr.h"
#include "proto/http/client.h"
#include "session/admission_queue.h"
#include "session/hooks.h"

enum { HOOKS_REPLY_MAX = 64 * 1024, HOOKS_DEPTH = 16, HOOKS_VALUES = 1024 };
enum { HOOKS_GATES = 256 };

struct hooks_line {
    struct ref ref;
    unsigned pending;  /* queued and not yet sent */
    struct co *waiter; /* waits until they are sent */
};

struct hooks_job;

struct hooks_backend { /* one per host and port, exists while it has jobs */
    struct hooks_backend *next;
    struct hooks *hooks;
    char *key;
    struct hooks_job *jobs, **end;
    struct hooks_line *busy[8]; /* lines with a running job */
    unsigned workers;
};

struct hooks {
    struct session_env *env;
    struct hooks_backend *backends;
    struct co_group group;
    unsigned waiting;
    /* running requests: all; by a hash of the address */
    struct admission_queue asks, asks_of[HOOKS_GATES];
    uint64_t number;     /* number of the last callback, with one worker */
    co_usec dropped_at;  /* time of the last log line about drops */
    unsigned dropped;    /* number of drops since then */
    struct hooks_stat stat[HOOKS_KINDS];
};

/* One request to one URL. */
struct hooks_call {
    enum hooks_action action;
    const char *url, *client_id; /* client_id for the log; NULL: the cid of the caller */
    const void *body; /* NULL: GET */
    size_t size;
    uint64_t number;
    unsigned attempt; /* 1 is the first */
    const struct conf_http_hooks *set; /* NULL: the defaults (forward.backend has no block) */
    co_usec timeout;
    size_t max_reply;
};

/* Appends the event as JSON. */
void hooks_body(struct wr *w, const struct session_env *env, enum hooks_action action,
                const struct hooks_event *event);
/* Sends the request and logs the result: NULL for yes, ERR_HOOK_DENIED for no, other errors if
 * there is no response. `reply` may be NULL; else the caller owns its body. Yields. */
err_t hooks_call(struct hooks *h, const struct hooks_call *call, struct http_reply *reply)
    __attribute__((warn_unused_result));
/* Checks a response: yes is "0", or an object whose "code" is 0, with status 200 or 201. */
err_t hooks_verdict(int status, const char *body, size_t size) __attribute__((warn_unused_result));
/* Reads the URLs from a response of forward.backend; an invalid response has none. */
void hooks_forward_urls(const char *body, size_t size, char ***urls, size_t *n);

struct hooks_line *hooks_line_of(struct hooks_line **line); /* creates it if needed */
/* Queues a call; takes over url and body. */
void hooks_queue(struct hooks *h, struct hooks_line *line, struct conf *conf,
                 const struct hooks_call *call, char *url, char *body);

#endif
