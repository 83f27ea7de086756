/* SPDX-License-Identifier: MIT */
/* hooks_queue.c - notifications: a queue for each backend and its workers. */
#include "base/pace.h"
#include "base/list.h"
#include "base/log.h"
#include "base/must.h"
#include "session/hooks_impl.h"
#include "session/workers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = sizeof(((struct hooks_backend *)0)->busy) / sizeof(struct hooks_line *) };

#define FIRST_PAUSE CO_SECONDS(1)
#define LONGEST_PAUSE CO_SECONDS(30)
#define LAST_WORDS CO_SECONDS(3) /* time for pending callbacks when the server quits */

struct hooks_job {
    struct hooks_job *next;
    struct hooks_line *line;
    struct conf *conf; /* the configuration that `call` points into, with a reference */
    struct hooks_call call;
    char *url, *body;
    char cid[9];
};

/* ---- lines */

struct hooks_line *hooks_line_of(struct hooks_line **line)
{
    if (!*line) {
        *line = must(calloc(1, sizeof(**line)));
        ref_init(&(*line)->ref);
    }
    return *line;
}

static void line_unref(struct hooks_line *line)
{
    if (ref_put(&line->ref))
        free(line);
}

void hooks_line_end(struct hooks_line **line)
{
    if (*line)
        line_unref(*line);
    *line = NULL;
}

/* ---- jobs */

static void job_free(struct hooks *h, struct hooks_job *job)
{
    struct hooks_line *line = job->line;

    h->waiting--;
    if (--line->pending == 0 && line->waiter)
        co_unpark(line->waiter);
    line_unref(line);
    (void)conf_unref(job->conf);
    free(job->url);
    free(job->body);
    free(job);
}

static bool is_busy(const struct hooks_backend *b, const struct hooks_line *line)
{
    for (int i = 0; i < WORKERS; i++) {
        if (b->busy[i] == line)
            return true;
    }
    return false;
}

/* Takes the oldest job of a client without a running job. */
static struct hooks_job *take(struct hooks_backend *b, struct hooks_line **busy)
{
    for (struct hooks_job **at = &b->jobs; *at; at = &(*at)->next) {
        struct hooks_job *job = *at;

        if (is_busy(b, job->line))
            continue;
        *at = job->next;
        if (b->end == &job->next)
            b->end = at;
        *busy = job->line;
        return job;
    }
    return NULL;
}

/* Retries until it succeeds or the attempts are used up. A stop ends it immediately. */
static err_t deliver(struct hooks *h, struct hooks_job *job)
{
    struct backoff again = backoff_init(FIRST_PAUSE, LONGEST_PAUSE);

    for (;;) {
        err_t err = hooks_call(h, &job->call, NULL);

        if (!err || co_stop_asked() ||
            job->call.attempt > (unsigned)job->call.set->retries)
            return err;
        log_warn("%s: next attempt in %lld s", hooks_name(job->call.action), us_to_s(again.pause));
        err_free(&err);
        err = co_sleep(again.pause);
        if (err)
            return err;
        job->call.attempt++;
        h->stat[job->call.action].retried++;
        backoff_grow(&again);
    }
}

static void backend_free(struct hooks_backend *b)
{
    LIST_CUT(&b->hooks->backends, b);
    free(b->key);
    free(b);
}

/* Drops the jobs of a backend without a worker. */
static void drop_jobs(struct hooks *h, struct hooks_backend *b)
{
    while (b->jobs) {
        struct hooks_line *line = NULL;
        struct hooks_job *job = take(b, &line);

        assert(job); /* there is one whose line is not busy */
        job_free(h, job);
    }
}

static err_t worker_main(void *backend)
{
    struct hooks_backend *b = backend;
    struct hooks *h = b->hooks;
    struct hooks_line **busy = b->busy;
    struct hooks_job *job;
    err_t err = NULL;

    while (*busy) /* finds a free slot; taken before anything can yield */
        busy++;
    while (!err && (job = take(b, busy))) {
        co_log_as(LOG_UNTRUSTED_ALL); /* clients decide how often it works */
        co_set_cid(job->cid);
        err = deliver(h, job);
        *busy = NULL;
        if (err && !co_stop_asked())
            log_end("callback", &err);
        job_free(h, job);
    }
    err_free(&err);
    if (--b->workers == 0) {
        if (h->group.stopping)
            drop_jobs(h, b);
        if (!b->jobs)
            backend_free(b);
    }
    return NULL;
}

/* ---- queueing */

static struct hooks_backend *backend_of(struct hooks *h, const char *url)
{
    const char *host = strstr(url, "://");
    size_t n = host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/?#") : strlen(url);
    struct hooks_backend *b = h->backends;

    while (b && (strncmp(b->key, url, n) != 0 || b->key[n]))
        b = b->next;
    if (b)
        return b;
    b = must(calloc(1, sizeof(*b)));
    b->hooks = h;
    b->key = must_ndup(url, n);
    b->end = &b->jobs;
    b->next = h->backends;
    h->backends = b;
    return b;
}

/* Logs dropped callbacks of a dead backend only once in a while. */
static void drop(struct hooks *h, const struct hooks_call *call)
{
    h->stat[call->action].dropped++;
    h->dropped++;
    if (h->dropped_at && co_now() - h->dropped_at < CO_SECONDS(10))
        return;
    log_warn("%u callbacks dropped, the last one %s to %s: over limits.hooks_queue", h->dropped,
             hooks_name(call->action), call->url);
    h->dropped = 0;
    h->dropped_at = co_now();
}

static void start_worker(struct hooks *h, struct hooks_backend *b)
{
    err_t err;

    if (b->workers == WORKERS)
        return;
    b->workers++;
    err = co_go(&h->group, "callback", worker_main, b);
    if (!err)
        return;
    b->workers--;
    log_end("callback", &err); /* the next one starts it */
}

void hooks_queue(struct hooks *h, struct hooks_line *line, struct conf *conf,
                 const struct hooks_call *call, char *url, char *body)
{
    unsigned most = workers_share(h->env, h->env->conf->limits.hooks_queue);
    struct hooks_backend *b;
    struct hooks_job *job;

    if (h->waiting >= most || h->group.stopping) {
        drop(h, call);
        free(url);
        free(body);
        return;
    }
    job = must(calloc(1, sizeof(*job)));
    *job = (struct hooks_job){ .line = line, .conf = conf_ref(conf), .call = *call, .url = url,
                               .body = body };
    job->call.url = url;
    job->call.body = body;
    job->call.attempt = 1;
    job->call.client_id = NULL;
    (void)snprintf(job->cid, sizeof(job->cid), "%s", call->client_id ? call->client_id : co_cid());
    ref_get(&line->ref);
    line->pending++;
    h->waiting++;
    b = backend_of(h, url);
    *b->end = job;
    b->end = &job->next;
    start_worker(h, b);
}

/* ---- shutdown */

void hooks_free(struct hooks *h)
{
    co_usec until = co_clock() + LAST_WORDS;
    err_t err;

    while (h->waiting > 0 && co_clock() < until) {
        err = co_sleep(CO_MS(20));
        err_free(&err);
    }
    err = co_group_stop(&h->group);
    err_free(&err);
    while (h->backends) { /* their workers could not be started */
        drop_jobs(h, h->backends);
        backend_free(h->backends);
    }
    free(h);
}

unsigned hooks_waiting(const struct hooks *h)
{
    return h->waiting;
}
