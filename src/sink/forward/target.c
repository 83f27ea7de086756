/* SPDX-License-Identifier: MIT */
/* target.c - the log lines about destinations that fail. */
#include "sink/forward/target.h"

#include "base/list.h"
#include "base/log.h"
#include "base/must.h"
#include "base/units.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A destination that works or fails for less than that goes up and down: its pauses grow on. */
#define SHORT CO_SECONDS(30)

enum { KINDS = 8 };

static const int pauses[] = { 10, 30, 60, 120, 300, 600 }; /* seconds between its lines */
enum { PAUSES = sizeof(pauses) / sizeof(pauses[0]) };

struct forward_target {
    struct forward_target *next;
    unsigned users, waiting; /* forwards that failed once, and those that fail now */
    unsigned long tries;     /* that failed since it worked */
    co_usec since;           /* it fails; 0: it does not */
    co_usec worked_at;       /* the last time; 0: never */
    co_usec line_at;         /* no line about the same errors before that */
    int pause;               /* index of the next one */
    int kinds[KINDS], n;     /* error codes that were logged */
    bool told;               /* that it fails, but not yet that it works */
    int port;
    char host[];
};

/* What a line says, copied while the lock is held: a log may be slow. */
struct line {
    bool due;
    unsigned waiting;
    unsigned long tries;
    co_usec time; /* the next pause, or how long it failed */
};

static struct forward_target *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *plural(unsigned long n)
{
    return n == 1 ? "" : "s";
}

/* With the lock held, as all below up to the public functions. */
static struct forward_target *get(const char *host, int port)
{
    size_t size = strlen(host) + 1;
    struct forward_target *t = all;

    while (t && (t->port != port || strcmp(t->host, host) != 0))
        t = t->next;
    if (!t) {
        t = must(calloc(1, sizeof(*t) + size));
        memcpy(t->host, host, size);
        t->port = port;
        t->next = all;
        all = t;
    }
    t->users++;
    return t;
}

static void put(struct forward_target *t)
{
    if (--t->users > 0)
        return;
    LIST_CUT(&all, t);
    free(t);
}

static void forget(struct forward_target *t)
{
    t->line_at = 0;
    t->pause = t->n = 0;
}

static bool is_new(struct forward_target *t, int code)
{
    for (int i = 0; i < t->n; i++) {
        if (t->kinds[i] == code)
            return false;
    }
    if (t->n == KINDS)
        return false;
    t->kinds[t->n++] = code;
    return true;
}

static void note_failure(struct forward_target *t, int code, struct line *line)
{
    co_usec now = co_now();
    bool new_kind;

    if (t->worked_at && now - t->worked_at >= SHORT)
        forget(t);
    t->worked_at = 0;
    if (!t->since)
        t->since = now;
    t->tries++;
    new_kind = is_new(t, code);
    line->due = new_kind || now >= t->line_at;
    if (!line->due)
        return;
    line->time = CO_SECONDS(pauses[t->pause]);
    if (t->pause < PAUSES - 1)
        t->pause++;
    t->line_at = now + line->time;
    t->told = true;
    line->waiting = t->waiting;
    line->tries = t->tries;
}

static void note_success(struct forward_target *t, struct line *line)
{
    co_usec now = co_now();

    line->due = t->told;
    line->waiting = t->waiting;
    line->tries = t->tries;
    line->time = t->since ? now - t->since : 0;
    if (line->time >= SHORT)
        forget(t);
    t->since = 0;
    t->tries = 0;
    t->worked_at = now;
    t->told = false;
}

/* ---- by the forwards */

void forward_target_failed(struct forward_at *at, const char *host, int port, err_t why)
{
    struct line line = { 0 };
    char text[400];

    (void)pthread_mutex_lock(&lock);
    if (!at->target)
        at->target = get(host, port);
    if (!at->waits)
        at->target->waiting++;
    at->waits = true;
    note_failure(at->target, err_code(why), &line);
    (void)pthread_mutex_unlock(&lock);
    if (line.due)
        log_warn("forward to %.253s:%d fails: %s; %u stream%s wait%s, %lu tr%s failed, next line "
                 "in %lld s", host, port, err_text(why, text, sizeof(text)), line.waiting,
                 plural(line.waiting), line.waiting == 1 ? "s" : "", line.tries,
                 line.tries == 1 ? "y" : "ies", us_to_s(line.time));
}

void forward_target_works(struct forward_at *at)
{
    struct forward_target *t = at->target;
    struct line line = { 0 };

    if (!at->waits)
        return;
    (void)pthread_mutex_lock(&lock);
    at->waits = false;
    t->waiting--;
    note_success(t, &line);
    (void)pthread_mutex_unlock(&lock);
    /* t stays: this forward is one of its users. Host and port never change. */
    if (line.due)
        log_trace("forward to %.253s:%d works again after %lld s, %lu tr%s failed, %u more "
                  "stream%s wait%s", t->host, t->port, us_to_s(line.time), line.tries,
                  line.tries == 1 ? "y" : "ies", line.waiting, plural(line.waiting),
                  line.waiting == 1 ? "s" : "");
}

void forward_target_leave(struct forward_at *at)
{
    struct forward_target *t = at->target;

    if (!t)
        return;
    (void)pthread_mutex_lock(&lock);
    if (at->waits && --t->waiting == 0) { /* whether it works is not known any more */
        t->since = 0;
        t->tries = 0;
        t->told = false;
        t->worked_at = co_now();
    }
    put(t);
    (void)pthread_mutex_unlock(&lock);
    *at = (struct forward_at){ 0 };
}
