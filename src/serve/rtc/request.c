/* SPDX-License-Identifier: MIT */
/* request.c - sends a request to the worker that serves its stream, and the answer back. */
#include "serve/rtc/request.h"

#include "base/must.h"
#include "serve/rtc/impl.h"
#include "session/stream_owners.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Longer than the limit of all callbacks together. */
#define TIMEOUT CO_SECONDS(30)

/* A request in transit between workers. */
struct job {
    struct rtc_request req;
    struct workers *workers;
    struct stream_owner *owner;   /* registered in it while in transit; or NULL */
    bool plays;
};

void rtc_request_free(struct rtc_request *a)
{
    free(a->vhost);
    free(a->app);
    free(a->stream);
    free(a->param);
    free(a->tc_url);
    free(a->page_url);
    free(a->user_agent);
    free(a->ip);
    free(a->bearer);
    free(a->host);
    free(a->eip);
    free(a->offer);
    free(a->text);
    free(a->answer);
    *a = (struct rtc_request){ .kind = a->kind };
}

static void leave_owner(struct job *j)
{
    if (j->owner)
        stream_owners_leave(j->workers, j->owner, j->plays);
    j->owner = NULL;
}

static void drop(void *job)
{
    struct job *j = job;

    leave_owner(j);
    rtc_request_free(&j->req);
    free(j);
}

/* workers_fn */
static void at_worker(struct session_env *env, void *job)
{
    struct job *j = job;
    err_t err;

    if (rtc_service_of(env)) {
        rtc_admit(rtc_service_of(env), &j->req, &j->owner);
        return;
    }
    err = err_new(ERR_RTC_DISABLED, "there is no rtc_server");
    rtc_refuse(&j->req, &err);
}

/* Selects the worker: a player of a WebRTC publisher goes to the publisher's worker. */
static err_t choose(struct session_env *env, const struct rtc_request *a, struct job *j,
                    unsigned *to)
{
    struct session s;
    err_t err;

    *to = env->worker;
    session_init(&s, env, NULL);
    err = session_find_stream(&s, a->vhost ? a->vhost : "", a->app ? a->app : "",
                              a->stream ? a->stream : "");
    if (!err && env->workers && !atomic_load(&env->workers->ending)) {
        const struct stream_owners_client guest = {
            .path = s.names.key->path, .here = env->worker, .publishes = !j->plays,
            .spread = (unsigned)s.conf->workers_spread, .gathered = true,
        };

        j->workers = env->workers;
        j->owner = stream_owners_enter(env->workers, &guest, to);
    }
    session_fini(&s);
    return err;
}

/* Returns the worker named by the session; without one this worker, which reports it as unknown. */
static unsigned worker_named(const struct session_env *env, const struct rtc_request *a)
{
    const struct rtc_service *s = rtc_service_of(env);
    unsigned worker = s ? rtc_worker_of(s, a->session, strcspn(a->session, ":")) : UINT_MAX;

    return worker != UINT_MAX ? worker : env->worker;
}

static void send_to(struct session_env *env, struct rtc_request *a, struct job *j, unsigned to)
{
    err_t err;

    j->req = *a;
    if (workers_ask(env, to, at_worker, j, drop, TIMEOUT)) {
        *a = j->req;
        leave_owner(j);
        free(j);
    } else { /* the job has its contents now and frees them */
        *a = (struct rtc_request){ .kind = a->kind };
        err = err_new(ERR_TOO_MANY, "worker %u does not answer", to);
        rtc_refuse(a, &err);
    }
}

void rtc_request_answer(struct session_env *env, struct rtc_request *a)
{
    struct job *j = must(calloc(1, sizeof(*j)));
    unsigned to;
    err_t err = NULL;

    j->plays = a->kind == RTC_REQUEST_PLAY;
    if (a->kind == RTC_REQUEST_PUBLISH || a->kind == RTC_REQUEST_PLAY)
        err = choose(env, a, j, &to);
    else
        to = worker_named(env, a);
    if (err) {
        rtc_refuse(a, &err);
        free(j);
    } else {
        send_to(env, a, j, to);
    }
}
