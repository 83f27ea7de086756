/* SPDX-License-Identifier: MIT */
/* process.c - the life cycle of the process: start, reloads, quit. */
#include "app/os/process.h"

#include "app/addresses.h"
#include "app/autoreload.h"
#include "app/dev/crash.h"
#include "app/dev/fault_injection.h"
#include "app/dev/heap.h"
#include "app/dev/profile.h"
#include "app/identity.h"
#include "app/log/file.h"
#include "app/os/daemon.h"
#include "app/os/docker.h"
#include "app/os/pid_file.h"
#include "app/os/signals.h"
#include "app/os/stat_stall.h"
#include "app/os/stat_proc.h"
#include "app/quit.h"
#include "app/reload.h"
#include "app/server.h"
#include "app/start.h"
#include "base/log.h"
#include "co/co.h"
#include "co/stalls.h"
#include "co/thread.h"
#include "co/watchdog.h"
#include "session/jwks_files.h"

#include <stdio.h>
#include <unistd.h>

enum { QUIT_SECONDS = 10, HELPERS_MS = 500 };

#define LOOK CO_SECONDS(1)

struct process {
    struct start start;
    struct pid_file pid;
    struct server *server;
    struct co_group group; /* coroutines outside the server: statistics, watchdog */
    struct autoreload watch;
    pid_t parent;
    bool signals;
    char id[IDENTITY_SIZE];
};

/* Returns the exit code that scripts check: the error number, truncated by the system. */
static int exit_code(err_t err)
{
    int code = (int)err_code(err) & 0xff;

    return err && code == 0 ? 0xff : code;
}

int process_test(const struct options *o)
{
    const char *name = o->env_only || !o->conf ? "(environment)" : o->conf;
    struct conf *c = NULL;
    struct start s;
    char text[1024];
    int code;
    err_t err;

    err = start_begin(&s, o);
    if (!err)
        err = start_load(&s, &c);
    if (!err)
        start_paths_check(&s, c);
    if (!err)
        err = jwks_files_test(c);
    if (err)
        fprintf(stderr, "%s\n", start_error_text(err, text, sizeof(text)));
    for (size_t i = 0; i < s.odd_count; i++)
        fprintf(stderr, "srs: warning: %s\n", s.odd[i]);
    if (!err)
        fprintf(stderr, "the config file %s syntax is ok\n", name);
    fprintf(stderr, "the config file %s test %s\n", name, err ? "failed" : "is successful");
    code = exit_code(err);
    err_free(&err);
    conf_unref(c);
    start_end(&s);
    return code;
}

static bool in_docker(const struct conf *c)
{
    return c->in_docker || docker_inside();
}

static err_t detach(const struct conf *c)
{
    if (!c->daemon)
        return NULL;
    if (c->disable_daemon_for_docker && in_docker(c)) {
        log_trace("in a container: staying in the foreground");
        if (!log_file_is_console())
            fprintf(stderr, "srs: daemon is on, but this is a container: staying in the foreground "
                    "(disable_daemon_for_docker off changes that), the log is %s\n",
                    c->srs_log_file);
        return NULL;
    }
    return daemon_fork();
}

static void find_id(struct process *p, const struct conf *c)
{
    char text[256];
    err_t err = identity_get(c->server_id, c->pid, p->id);

    if (err)
        log_warn("%s", err_text(err, text, sizeof(text)));
    err_free(&err);
    log_trace("server id %s, pid %d", p->id, (int)getpid());
}

static err_t start_coroutines(struct process *p, const struct conf *c)
{
    err_t err = co_init();

    if (err)
        return err;
    co_new_cid();
    start_read_by_thread(&p->start);
    err = signals_init();
    if (err)
        return err;
    p->signals = true;
    err = co_watchdog_start(c->watchdog);
    if (!err)
        err = co_go(&p->group, "watchdog", co_watchdog_run, NULL);
    if (!err)
        err = fault_injection_start(&p->group);
    return err;
}

static err_t start_server(struct process *p, struct conf *c)
{
    err_t err;

    p->server = server_new(c, p->id);
    err = server_listen(p->server);
    if (!err)
        err = co_go(&p->group, "stat", stat_proc_run, p->server);
    if (!err && server_workers(p->server))
        err = co_go(&p->group, "held", stat_stall_run, p->server);
    return err;
}

static void watch_file(struct process *p, const struct conf *c)
{
    bool wanted = c->inotify_auto_reload || (c->auto_reload_for_docker && in_docker(c));
    char text[256];
    err_t err;

    if (!wanted || !p->start.path)
        return;
    err = autoreload_open(&p->watch, p->start.path);
    if (err)
        log_warn("%s", err_text(err, text, sizeof(text)));
    else
        log_trace("changes of %s are reloaded", p->start.path);
    err_free(&err);
}

/* Runs all steps of the start, in SRS's order. */
static err_t start(struct process *p, const struct options *o)
{
    struct conf *c = NULL;
    err_t err;

    err = start_begin(&p->start, o);
    if (!err)
        err = start_load(&p->start, &c);
    if (!err)
        start_paths_check(&p->start, c);
    if (!err)
        err = start_log(&p->start, c);
    if (!err)
        err = detach(c);
    p->parent = getppid();
    if (!err)
        err = pid_file_lock(&p->pid, c->pid);
    if (!err)
        err = log_file_start();
    if (!err) {
        crash_init(c->core_dump);
        find_id(p, c);
        heap_init(c->tcmalloc_release_rate);
        profile_start();
        err = start_coroutines(p, c);
    }
    if (!err)
        err = start_server(p, c);
    if (!err) {
        watch_file(p, c);
        addresses_log(c);
    }
    conf_unref(c);
    return err;
}

static void reload(struct process *p)
{
    if (reload_now(p->server, &p->start.src)) {
        co_watchdog_set(server_conf(p->server)->watchdog);
        log_file_rule(server_conf(p->server));
    }
}

/* Handles signals. Returns true if the process must quit; *grace: after all clients have left. */
static bool handle(struct process *p, unsigned got, bool *grace)
{
    const struct conf *c = server_conf(p->server);

    if (got & SIGNALS_REOPEN) {
        log_file_reopen();
        log_trace("the log was reopened");
    }
    if (got & SIGNALS_FAST) {
        *grace = c->force_grace_quit && !(got & SIGNALS_INT);
        log_trace("quit: SIG%s", got & SIGNALS_INT ? "INT" : "TERM");
        return true;
    }
    if (got & SIGNALS_GRACE) {
        *grace = true;
        return true;
    }
    if (c->asprocess && getppid() != p->parent) {
        log_trace("quit: the parent %d is gone", (int)p->parent);
        return true;
    }
    if (got & SIGNALS_RELOAD)
        autoreload_forget(&p->watch);
    if ((got & SIGNALS_RELOAD) || autoreload_due(&p->watch, co_clock()))
        reload(p);
    return false;
}

static void serve(struct process *p)
{
    bool grace = false;
    unsigned got = 0;

    co_stalls_start();
    while (!handle(p, got, &grace)) {
        bool look = p->watch.fd >= 0 || server_conf(p->server)->asprocess;

        got = signals_wait(look ? co_to_second(LOOK, co_clock()) : CO_FOREVER);
        if (got)
            co_rouse(); /* a reload counts as activity */
    }
    if (grace)
        quit_gracefully(p->server);
    co_stalls_stop();
}

static void end(struct process *p)
{
    err_t err;

    if (p->signals)
        signals_deadline(QUIT_SECONDS);
    if (p->signals) {
        err = co_group_stop(&p->group);
        err_free(&err);
        co_watchdog_stop();
    }
    if (p->server)
        server_free(p->server);
    co_threads_end(CO_MS(HELPERS_MS));
    autoreload_close(&p->watch);
    pid_file_unlock(&p->pid);
    start_end(&p->start);
}

/* Reports a failed start to the log or to the terminal. */
static void report_failure(err_t err)
{
    char text[1024], frame[256];

    if (!log_file_is_console())
        fprintf(stderr, "%s\n", start_error_text(err, text, sizeof(text)));
    if (!log_file_is_open())
        return;
    (void)err_text(err, text, sizeof(text));
    log_error("start: %s", text);
    for (int i = 0; err_frame(err, i, frame, sizeof(frame)); i++)
        log_debug("  %s", frame);
}

int process_run(const struct options *o)
{
    struct process p = { .pid.fd = -1, .watch.fd = -1 };
    int code;
    err_t err;

    daemon_keep_stdio();
    signals_ignore_pipe();
    signals_hold();
    co_group_init(&p.group);
    err = start(&p, o);
    code = exit_code(err);
    if (err)
        report_failure(err);
    err_free(&err);
    daemon_ready(code);
    if (!code)
        serve(&p);
    profile_stop();
    end(&p);
    log_report_left_out();
    if (!code)
        log_trace("quit: done");
    log_file_close();
    return code;
}
