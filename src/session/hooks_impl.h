/* SPDX-License-Identifier: MIT */
/* hooks_impl.h - the insides of callbacks, for the files of serve/hooks* alone. */
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
    unsigned pending;  /* told and not yet sent */
    struct co *waiter; /* who wants to ask when they are */
};

struct hooks_job;

struct hooks_backend { /* by host and port; there while it has something to do */
    struct hooks_backend *next;
    struct hooks *hooks;
    char *key;
    struct hooks_job *jobs, **end;
    struct hooks_line *busy[8]; /* lines whose job is under way */
    unsigned workers;
};

struct hooks {
    struct session_env *env;
    struct hooks_backend *backends;
    struct co_group group;
    unsigned waiting;
    /* under way: all; by a hash of the address */
    struct admission_queue asks, asks_of[HOOKS_GATES];
    uint64_t number;     /* of the last callback, with one worker */
    co_usec dropped_at;  /* when the log was told last */
    unsigned dropped;    /* and how many since */
    struct hooks_stat stat[HOOKS_KINDS];
};

/* One call of one url. */
struct hooks_call {
    enum hooks_action action;
    const char *url, *client_id; /* whose it is, for the log; NULL: the cid of who calls */
    const void *body; /* NULL: GET */
    size_t size;
    uint64_t number;
    unsigned attempt; /* 1 is the first */
    const struct conf_http_hooks *set; /* NULL: the defaults (forward.backend has no block) */
    co_usec timeout;
    size_t max_reply;
};

/* Append the event as JSON. */
void hooks_body(struct wr *w, const struct session_env *env, enum hooks_action action,
                const struct hooks_event *event);
/* Call it, and log how it went. The answer is a yes (NULL), a no (ERR_HOOK_DENIED), or there is
 * none. `reply` may be NULL; else its body is the caller's. Yields. */
err_t hooks_call(struct hooks *h, const struct hooks_call *call, struct http_reply *reply)
    __attribute__((warn_unused_result));
/* Is that answer a yes? "0", or an object whose "code" is 0, with status 200 or 201. */
err_t hooks_verdict(int status, const char *body, size_t size) __attribute__((warn_unused_result));
/* The urls of an answer of forward.backend; nothing is one without. */
void hooks_forward_urls(const char *body, size_t size, char ***urls, size_t *n);

struct hooks_line *hooks_line_of(struct hooks_line **line); /* made if there is none */
/* Queue a call; takes the body over. */
void hooks_queue(struct hooks *h, struct hooks_line *line, struct conf *conf,
                 const struct hooks_call *call, char *url, char *body);

#endif
