/* SPDX-License-Identifier: MIT */
/* job.c - runs a program and restarts it when it ends. */
#include "sink/program/job.h"

#include "base/list.h"
#include "base/log.h"
#include "base/log_clean.h"
#include "base/must.h"
#include "base/pace.h"
#include "base/random_id.h"
#include "base/text.h"
#include "co/os/child.h"
#include "sink/program/job_log.h"
#include "sink/program/own_transcodes.h"
#include "sink/program/transcode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pauses before a restart: they grow while the program fails soon after its start, and begin with
 * the first after STEADY or an exit without error. And the time that a program has to end. */
#define FIRST_PAUSE CO_SECONDS(3)
#define LONGEST_PAUSE CO_SECONDS(30)
#define RAN_WELL CO_SECONDS(60)
#define PATIENCE CO_SECONDS(3)
#define TURN CO_SECONDS(2)
#define STEADY CO_SECONDS(10) /* a program that cannot work has usually ended by then */

struct job {
    struct job *next, **prev;
    struct jobs *all;
    int refs;
    struct job_spec *want;
    struct job_log *log;
    struct co *co; /* valid while refs > 1 */
    char **argv;
    char *command, *shown; /* last command line, with and without stream keys */
    enum job_state state;
    co_usec since, until;
    struct backoff again;
    struct co_child *child;
    struct made *made; /* the stream on this server that a transcode produces */
    unsigned starts;
    struct condition condition;
    char how[32];
    char id[9];
};

static void unref(struct job *j)
{
    if (--j->refs > 0)
        return;
    own_transcodes_leave(j->made);
    job_log_close(j->log);
    job_spec_free(j->want);
    job_spec_argv_free(j->argv);
    free(j->command);
    free(j->shown);
    free(j);
}

static void be(struct job *j, enum job_state state)
{
    j->state = state;
    j->since = co_clock();
}

/* ---- one run of the program */

static char *join(char *const *argv)
{
    size_t size = 1;
    char *text, *p;

    for (char *const *a = argv; *a; a++)
        size += strlen(*a) + 1;
    text = p = must(malloc(size));
    for (char *const *a = argv; *a; a++) {
        size_t n = strlen(*a);

        memcpy(p, *a, n);
        p += n;
        *p++ = a[1] ? ' ' : '\0';
    }
    *p = '\0';
    return text;
}

/* Configurations of SRS name the ffmpeg that was built with the server. If it does not exist, uses
 * the system's. */
static void find_ffmpeg(const struct job *j)
{
    const char *slash = strrchr(j->argv[0], '/');
    char *plain;

    if (j->want->kind == JOB_EXEC || !slash || access(j->argv[0], X_OK) == 0)
        return;
    if (j->starts == 0)
        log_trace("%s does not exist, using the system's %s", j->argv[0], slash + 1);
    plain = must(strdup(slash + 1));
    free(j->argv[0]);
    j->argv[0] = plain;
}

/* Registers the stream on this server that its output is. */
static void make(struct job *j)
{
    const struct session_env *env = j->all->env;
    struct made *old = j->made;
    char *target;

    if (!env->workers || j->want->kind != JOB_TRANSCODE)
        return;
    target = transcode_target(env->conf, job_output(j));
    j->made = own_transcodes_enter(env, target, j->want->stream);
    own_transcodes_leave(old);
    free(target);
}

static err_t make_command(struct job *j, char **out, char **err_file)
{
    bool utc = j->all->env->conf->utc_time;
    int64_t now = co_wall_ms();
    err_t err;

    job_spec_argv_free(j->argv);
    err = job_spec_argv(j->want, now, utc, &j->argv);
    if (!err && j->want->out)
        err = job_spec_expand(j->want, j->want->out, now, utc, out);
    if (!err && j->want->err)
        err = job_spec_expand(j->want, j->want->err, now, utc, err_file);
    if (err)
        return err;
    find_ffmpeg(j);
    make(j);
    free(j->command);
    free(j->shown);
    j->command = join(j->argv);
    j->shown = log_hide_keys(j->command, false);
    return NULL;
}

static err_t start(struct job *j)
{
    struct co_child_setup setup = { .said = job_log_said, .arg = j->log };
    char *out = NULL, *err_file = NULL, **env = NULL;
    err_t err = make_command(j, &out, &err_file);

    if (!err) {
        setup.argv = (const char *const *)j->argv;
        env = job_spec_env(j->want, &j->all->env->conf->ff_env);
        setup.env = (const char *const *)env;
        setup.out = out;
        setup.err = err_file;
        job_log_note(j->log, j->command);
        err = co_child_start(&j->child, &setup);
    }
    job_spec_argv_free(env);
    free(out);
    free(err_file);
    j->starts++;
    return err;
}

static enum sampled_kind line_kind(const struct job *j)
{
    switch (j->want->kind) {
    case JOB_EXEC:
        return SAMPLED_EXEC;
    case JOB_INGEST:
        return SAMPLED_INGEST;
    case JOB_TRANSCODE:
        break;
    }
    return SAMPLED_ENCODER;
}

static void tell(const struct job *j)
{
    struct session_env *env = j->all->env;
    enum sampled_kind kind = line_kind(j);

    if (sampled_due(&env->sampled, kind, co_now(), env->conf->sampled_print))
        log_trace("%s time=%lld, pid=%d, starts=%u, %s %s", sampled_name(kind),
                  us_to_ms(co_now() - j->since), co_child_pid(j->child), j->starts,
                  j->want->name, job_log_counter(j->log));
}

/* Runs the program until it ends or the job is stopped. */
static err_t run(struct job *j)
{
    bool ended = false;
    err_t err = start(j);

    if (err)
        return err;
    be(j, JOB_RUNS);
    log_trace("%s %s: started, pid %d: %s", job_kind_name(j->want->kind), j->want->name,
              co_child_pid(j->child), j->shown);
    while (!err && !ended) {
        err = co_child_wait(j->child, TURN, &ended);
        tell(j);
        if (!ended && co_clock() - j->since >= STEADY)
            condition_be(&j->condition, CONDITION_RUNNING);
    }
    if (err)
        be(j, JOB_ENDS);
    co_child_end(j->child, PATIENCE, j->how, sizeof(j->how));
    j->child = NULL;
    job_log_end(j->log);
    return err;
}

/* ---- the loop of restarts */

static void log_ended(struct job *j, err_t *err)
{
    bool well = !*err && strcmp(j->how, "status 0") == 0;
    char text[300];

    if (*err)
        (void)err_text(*err, text, sizeof(text));
    else
        (void)snprintf(text, sizeof(text), "ended with %s after %lld s", j->how,
                       us_to_s(co_clock() - j->since));
    if (*err)
        (void)snprintf(j->how, sizeof(j->how), "did not start");
    log_line(well ? LOG_TRACE : LOG_WARN, "%s %s of %s: %s, again in %lld s. It said: %s",
             job_kind_name(j->want->kind), j->want->name,
             *j->want->stream ? j->want->stream : j->want->vhost, text,
             us_to_s(j->again.pause), job_log_line(j->log));
    if (*err)
        job_log_note(j->log, text);
    if (well)
        condition_be(&j->condition, CONDITION_WAITING);
    else
        condition_failed_text(&j->condition, "%s. It said: %s", text, job_log_line(j->log));
    err_free(err);
}

static err_t keep_running(struct job *j)
{
    err_t err = NULL;

    while (!(err = co_check())) {
        co_usec begin = co_clock();

        err = run(j);
        if (co_stop_asked())
            break;
        if (co_clock() - begin >= RAN_WELL || (!err && strcmp(j->how, "status 0") == 0))
            backoff_reset(&j->again);
        log_ended(j, &err);
        be(j, JOB_WAITS);
        j->until = co_clock() + j->again.pause;
        err = co_sleep(j->again.pause);
        if (err)
            break;
        backoff_grow(&j->again);
    }
    return err;
}

static err_t job_main(void *arg)
{
    struct job *j = arg;
    err_t err;

    co_new_cid();
    err = keep_running(j);
    err_free(&err); /* the job was stopped */
    log_trace("%s %s: ended%s%s", job_kind_name(j->want->kind), j->want->name,
              *j->how ? ", " : "", j->how);
    LIST_TAKE(j);
    unref(j);
    return NULL;
}

struct job *job_start(struct jobs *all, struct job_spec *want)
{
    struct job *j = must(calloc(1, sizeof(*j)));
    err_t err;

    *j = (struct job){ .all = all, .refs = 2, .want = want,
                       .again = backoff_init(FIRST_PAUSE, LONGEST_PAUSE) };
    j->log = job_log_open(all->disk, want->log);
    random_id(j->id, sizeof(j->id) - 1);
    be(j, JOB_STARTING);
    condition_be(&j->condition, CONDITION_STARTING);
    err = job_spec_argv(want, co_wall_ms(), all->env->conf->utc_time, &j->argv);
    if (!err)
        err = co_go(all->group, "job", job_main, j);
    if (err) {
        log_warn("%s %s of %s cannot run", job_kind_name(want->kind), want->name, want->stream);
        log_end(job_kind_name(want->kind), &err);
        j->refs = 1;
        unref(j);
        return NULL;
    }
    make(j);
    j->co = co_newest(all->group);
    LIST_PUT(&all->list, j);
    return j;
}

void job_end(struct job *j)
{
    if (j->refs > 1) {
        j->state = JOB_ENDS;
        co_stop(j->co, NULL);
    }
    unref(j);
}

/* ---- queries */

const struct job_spec *job_spec_of(const struct job *j)
{
    return j->want;
}

const char *job_output(const struct job *j)
{
    return j->argv && j->want->n > 0 ? j->argv[j->want->n - 1] : "";
}

const char *job_input(const struct job *j)
{
    for (size_t i = 0; j->argv && j->argv[i]; i++) {
        if (strcmp(j->argv[i], "-i") == 0)
            return text_or_empty(j->argv[i + 1]);
    }
    return "";
}

void job_poll(const struct job *j, struct job_info *out)
{
    *out = (struct job_info){
        .kind = j->want->kind,
        .state = j->state,
        .vhost = j->want->vhost, .stream = j->want->stream, .name = j->want->name,
        .command = text_or_empty(j->shown),
        .pid = j->child ? co_child_pid(j->child) : 0,
        .starts = j->starts, .since = j->since, .next = j->until, .ended = j->how,
        .line = job_log_line(j->log), .counter = job_log_counter(j->log),
        .id = j->id, .condition = &j->condition,
    };
}

const struct job *job_next(const struct job *j)
{
    return j->next;
}

const char *job_state_name(enum job_state state)
{
    static const char *const names[] = {
        [JOB_STARTING] = "starting", [JOB_RUNS] = "running", [JOB_WAITS] = "waiting",
        [JOB_ENDS] = "ending",
    };

    return names[state];
}
