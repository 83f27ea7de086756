/* SPDX-License-Identifier: MIT */
/* child.c - child processes: start, output, end. */
#include "co/os/child.h"

#include "base/err.h"
#include "base/must.h"
#include "co/sock.h"
#include "co/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <st.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct child_exec {
    const char *const *argv, *const *env; /* env NULL: empty */
    char *path;       /* path of the program; malloc'ed, freed by the caller */
    int in, out, err; /* become its descriptors 0, 1 and 2; all are at least 3 */
};

/* ---- running a program in a child process.
 *
 * The child shares our memory until it runs the program: a copy, as fork makes it, would take tens
 * of milliseconds on a server with gigabytes of streams. It has its own stack and makes only system
 * calls.
 */

enum { STACK = 64 * 1024 };

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Finds the program like execvp(). */
static err_t child_exec_find(struct child_exec *x)
{
    const char *name = x->argv[0];
    const char *folders = getenv("PATH");

    x->path = NULL;
    if (!name || !*name)
        return err_new(ERR_NO_FILE, "no program is named");
    if (strchr(name, '/')) {
        x->path = must_dup(name);
        if (is_program(name))
            return NULL;
    }
    if (!folders || !*folders)
        folders = "/usr/local/bin:/usr/bin:/bin";
    while (!x->path && *folders) {
        size_t n = strcspn(folders, ":");

        x->path = must_print("%.*s/%s", n ? (int)n : 1, n ? folders : ".", name);
        if (is_program(x->path))
            return NULL;
        free(x->path);
        x->path = NULL;
        folders += n + (folders[n] == ':');
    }
    free(x->path);
    x->path = NULL;
    return err_new(ERR_NO_FILE, "%.200s is no program that can be run", name);
}

/* Data shared with the child. */
struct child_start {
    const struct child_exec *x;
    pid_t parent;
    int error; /* errno */
};

/* Same as dup2(), but hidden from ThreadSanitizer, which would take it for a descriptor of ours. */
__attribute__((no_sanitize("address", "thread", "undefined")))
static int duplicate(int fd, int to)
{
    return fd == to ? to : (int)syscall(SYS_dup3, fd, to, 0);
}

/* Runs in the child, in our memory. Ignores errors of optional steps. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static int child_main(void *arg)
{
    struct child_start *b = arg;
    const struct child_exec *x = b->x;
    static const char *const nothing[] = { NULL };
    static const unsigned long usual[4]; /* the kernel's struct sigaction: SIG_DFL, no flags */
    sigset_t none;

    /* Not with sigaction(): the C library reserves the signals of its threads, and one that was
     * ignored when we were started would stay ignored. */
    for (int sig = 1; sig < _NSIG; sig++)
        (void)syscall(SYS_rt_sigaction, sig, usual, NULL, sizeof(usual[0]));
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != b->parent) /* the parent died before PR_SET_PDEATHSIG was set */
        _exit(127);
    if (duplicate(x->in, 0) < 0 || duplicate(x->out, 1) < 0 || duplicate(x->err, 2) < 0) {
        b->error = errno;
        _exit(127);
    }
    /* ours are close-on-exec, a library's may not be */
    (void)syscall(SYS_close_range, 3u, ~0u, 0u);
    co_unpin();
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execve(x->path, (char *const *)(uintptr_t)x->argv,
                 (char *const *)(uintptr_t)(x->env ? x->env : nothing));
    b->error = errno;
    _exit(127);
}

#if defined(__SANITIZE_THREAD__)
/* ThreadSanitizer treats clone() like fork, and the state that it resets in the child is our
 * memory, too. */
int __clone(int (*fn)(void *arg), void *stack, int flags, void *arg);
#define clone __clone
#endif

/* Starts the program in its own process group, which is killed when this thread ends. Returns when
 * it runs. ERR_NO_FILE: the system cannot execute it; ERR_SYSTEM. */
static err_t child_exec_start(struct child_exec *x, pid_t *pid)
{
    struct child_start b = { .x = x, .parent = getpid() };
    const struct sigaction usual = { .sa_flags = 0 }; /* SIG_DFL */
    char *stack = must(malloc(STACK));
    sigset_t all, old;
    err_t err = NULL;

    /* A process that ignores SIGCHLD cannot wait for its children, and it may be ignored from our
     * own start. */
    (void)sigaction(SIGCHLD, &usual, NULL);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &old); /* no handler of ours may run in the child */
    *pid = clone(child_main, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &b);
    if (*pid < 0)
        err = err_sys(ERR_SYSTEM, "start %.200s", x->path);
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
    free(stack);
    if (!err && b.error) {
        siginfo_t info;

        (void)waitid(P_PID, (id_t)*pid, &info, WEXITED);
        errno = b.error;
        err = err_sys(ERR_NO_FILE, "run %.200s", x->path);
    }
    return err;
}

/* How often to poll where the kernel has no descriptor for a process; how long a killed process may
 * take (one that is in disk I/O dies only after it); and how much of a talkative child's output to
 * read before others run. */
#define POLL_TIME CO_MS(50)
#define KILL_TIME CO_SECONDS(2)
enum { PIECE = 4096, PIECES = 16, LAST_READS = 16 };

struct co_child {
    pid_t pid;
    struct sock end;   /* its pidfd; .st is NULL where there is none */
    struct sock output; /* .st is NULL once no more output follows */
    void (*said)(void *arg, const char *text, size_t size);
    void *arg;
    bool ended;
    int code, status; /* si_code and si_status of its end */
};

static _Thread_local long live; /* children of this thread */

long co_child_live(void)
{
    return live;
}

/* ---- start */

/* Returns the descriptor of the file, or of the pipe that both outputs share. */
static err_t open_output(const char *path, int pipe, int *fd)
{
    *fd = pipe;
    if (!path)
        return NULL;
    /* Does not wait for the reader of a fifo; afterwards restores blocking mode for the child. */
    *fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644);
    if (*fd < 0)
        return err_sys(ERR_NO_FILE, "open %.300s", path);
    (void)fcntl(*fd, F_SETFL, O_APPEND);
    return NULL;
}

static void close_output(const char *path, int fd)
{
    if (path && fd >= 0)
        (void)close(fd);
}

/* Kills a child that can no longer be watched. */
static void destroy(pid_t pid)
{
    siginfo_t info;

    (void)kill(-pid, SIGKILL);
    while (waitid(P_PID, (id_t)pid, &info, WEXITED) < 0 && errno == EINTR)
        continue;
}

static err_t follow(struct co_child *c, int pipe)
{
    int fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    err_t err = sock_open(&c->output, pipe);

    if (err) {
        (void)close(pipe);
    } else if (fd >= 0) {
        err = sock_open(&c->end, fd);
        if (err)
            sock_close(&c->output);
        fd = err ? fd : -1;
    }
    if (fd >= 0)
        (void)close(fd);
    return err;
}

static err_t start(struct co_child *c, const struct co_child_setup *setup)
{
    struct child_exec x = { .argv = setup->argv, .env = setup->env,
                            .in = -1, .out = -1, .err = -1 };
    int pipe[2] = { -1, -1 };
    err_t err = child_exec_find(&x);

    if (err)
        return err;
    x.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (x.in < 0 || pipe2(pipe, O_CLOEXEC) < 0)
        err = err_sys(ERR_SYSTEM, "pipe for %.200s", setup->argv[0]);
    if (!err)
        err = open_output(setup->out, pipe[1], &x.out);
    if (!err)
        err = open_output(setup->err, pipe[1], &x.err);
    if (!err)
        err = child_exec_start(&x, &c->pid);
    if (!err) {
        err = follow(c, pipe[0]); /* takes over the pipe */
        pipe[0] = -1;
        if (err)
            destroy(c->pid);
    }
    close_output(setup->out, x.out);
    close_output(setup->err, x.err);
    for (int i = 0; i < 2; i++)
        close_output("", pipe[i]);
    close_output("", x.in);
    free(x.path);
    return err;
}

err_t co_child_start(struct co_child **out, const struct co_child_setup *setup)
{
    struct co_child *c = must(calloc(1, sizeof(*c)));
    err_t err;

    c->said = setup->said;
    c->arg = setup->arg;
    err = start(c, setup);
    if (err) {
        free(c);
        return err;
    }
    live++;
    *out = c;
    return NULL;
}

/* ---- while it runs */

static void stop_input(struct co_child *c)
{
    sock_close(&c->output);
    c->output.st = NULL;
}

/* Reads output. Returns whether more may be available now. */
static bool read_output(struct co_child *c)
{
    char buf[PIECE];
    ssize_t n = 1;

    for (int i = 0; c->output.st && i < PIECES; i++) {
        n = read(c->output.fd, buf, sizeof(buf));
        if (n > 0) {
            if (c->said)
                c->said(c->arg, buf, (size_t)n);
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            st_netfd_unready(c->output.st, POLLIN);
        else
            stop_input(c);
        return false;
    }
    return c->output.st && n > 0;
}

/* Checks whether it has ended. It stays a zombie, so that its id is not reused while we may signal
 * it. */
static bool check_end(struct co_child *c)
{
    siginfo_t info = { 0 };

    if (c->ended)
        return true;
    if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
        if (info.si_pid == 0) {
            if (c->end.st)
                st_netfd_unready(c->end.st, POLLIN);
            return false;
        }
        c->code = info.si_code;
        c->status = info.si_status;
    } else if (errno == EINTR) {
        return false;
    } /* otherwise its status was already collected, and is not known */
    c->ended = true;
    return true;
}

static bool is_ready(const struct sock *s)
{
    return s->st && sock_ready(s, POLLIN);
}

/* Waits for either descriptor. */
static enum co_wake wait_both(struct co_child *c, co_usec timeout)
{
    enum co_wake wake;

    if (is_ready(&c->end) || is_ready(&c->output))
        return CO_WOKEN;
    c->end.waiter = c->output.waiter = co_self();
    c->end.wanted = c->output.wanted = POLLIN;
    wake = co_park(timeout);
    c->end.waiter = c->output.waiter = NULL;
    return wake;
}

static co_usec least(co_usec a, co_usec b)
{
    return a == CO_FOREVER || (b != CO_FOREVER && b < a) ? b : a;
}

err_t co_child_wait(struct co_child *c, co_usec timeout, bool *ended)
{
    co_usec until = timeout == CO_FOREVER ? CO_FOREVER : co_clock() + timeout;

    for (;;) {
        bool more = read_output(c);
        co_usec left = until == CO_FOREVER ? CO_FOREVER : until - co_clock();

        *ended = check_end(c);
        if (*ended) {
            for (int i = 0; i < LAST_READS && read_output(c); i++)
                co_yield(); /* bounded: it may have left a process that keeps writing */
            return NULL;
        }
        if (until != CO_FOREVER && left <= 0)
            return NULL;
        if (more) {
            err_t err = co_check();

            if (err)
                return err;
            co_yield();
        } else if (wait_both(c, c->end.st ? left : least(left, POLL_TIME)) == CO_STOPPED) {
            return err_wrap(co_stop_why(), "waiting for process %d", (int)c->pid);
        }
    }
}

/* ---- end */

/* Same for a coroutine that must keep waiting although it was asked to stop. */
static bool wait_held(struct co_child *c, co_usec timeout, bool *stop)
{
    co_usec until = co_clock() + timeout;
    bool ended = false;
    err_t err;

    do {
        co_usec left = until - co_clock();

        *stop |= co_stop_hold();
        err = co_child_wait(c, left > 0 ? left : 0, &ended);
        err_free(&err);
    } while (!ended && co_clock() < until);
    return ended;
}

static void forget(struct co_child *c)
{
    if (c->output.st)
        sock_close(&c->output);
    if (c->end.st)
        sock_close(&c->end);
    free(c);
    live--;
}

/* Writes "runs", "ended", "status 1" or "signal 9"; returns buf. */
static const char *how_it_is(const struct co_child *c, char *buf, size_t size)
{
    bool by_signal = c->code == CLD_KILLED || c->code == CLD_DUMPED;

    if (!c->ended || c->code == 0)
        (void)snprintf(buf, size, "%s", c->ended ? "ended" : "runs");
    else
        (void)snprintf(buf, size, "%s %d", by_signal ? "signal" : "status", c->status);
    return buf;
}

void co_child_end(struct co_child *c, co_usec patience, char *how, size_t size)
{
    bool stop = false;
    siginfo_t info;

    if (!c)
        return;
    if (!check_end(c)) {
        (void)kill(-c->pid, SIGTERM);
        (void)kill(-c->pid, SIGCONT); /* a stopped process does not handle SIGTERM */
        (void)wait_held(c, patience, &stop);
    }
    (void)kill(-c->pid, SIGKILL); /* the child, or the rest of its group */
    (void)wait_held(c, KILL_TIME, &stop);
    if (how)
        (void)how_it_is(c, how, size);
    (void)waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG);
    co_stop_resume(stop);
    forget(c);
}

int co_child_pid(const struct co_child *c)
{
    return (int)c->pid;
}
