/* SPDX-License-Identifier: MIT */
/* child.c - child processes: their start, what they say, their end. */
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
    const char *const *argv, *const *env; /* env NULL: nothing is in it */
    char *path;       /* of the program; malloc'ed, the caller frees it */
    int in, out, err; /* what becomes its 0, 1 and 2; none is below 3 */
};

/* ---- how a child process comes to run a program.
 *
 * The child borrows our memory until it runs the program: a copy, as fork makes one, would cost a
 * server with gigabytes of streams tens of milliseconds. It gets a stack of its own and calls
 * nothing there but the system.
 */

enum { STACK = 64 * 1024 };

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As execvp() would. */
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

/* What the child sees of us, and says to us. */
struct birth {
    const struct child_exec *x;
    pid_t parent;
    int error; /* errno */
};

/* As dup2(), but past ThreadSanitizer, which would take this for a descriptor of ours. */
__attribute__((no_sanitize("address", "thread", "undefined")))
static int duplicate(int fd, int to)
{
    return fd == to ? to : (int)syscall(SYS_dup3, fd, to, 0);
}

/* In the child, in our memory. Errors of what is not essential are not looked at. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static int be_born(void *arg)
{
    struct birth *b = arg;
    const struct child_exec *x = b->x;
    static const char *const nothing[] = { NULL };
    static const unsigned long usual[4]; /* the kernel's struct sigaction: SIG_DFL, no flags */
    sigset_t none;

    /* Not by sigaction(): the C library keeps the signals of its threads to itself, and one that
     * came to us ignored would stay so. */
    for (int sig = 1; sig < _NSIG; sig++)
        (void)syscall(SYS_rt_sigaction, sig, usual, NULL, sizeof(usual[0]));
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != b->parent) /* it died before it could be asked for */
        _exit(127);
    if (duplicate(x->in, 0) < 0 || duplicate(x->out, 1) < 0 || duplicate(x->err, 2) < 0) {
        b->error = errno;
        _exit(127);
    }
    (void)syscall(SYS_close_range, 3u, ~0u, 0u); /* ours close by themselves, a library's may not */
    co_unpin();
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execve(x->path, (char *const *)(uintptr_t)x->argv,
                 (char *const *)(uintptr_t)(x->env ? x->env : nothing));
    b->error = errno;
    _exit(127);
}

#if defined(__SANITIZE_THREAD__)
/* ThreadSanitizer takes clone() for a fork, and what the child forgets then is our memory, too. */
int __clone(int (*fn)(void *arg), void *stack, int flags, void *arg);
#define clone __clone
#endif

/* Run it: in a group of its own that is killed when this thread ends. ERR_NO_FILE: the system does
 * not take it as a program; ERR_SYSTEM. Returns when it runs. */
static err_t child_exec_start(struct child_exec *x, pid_t *pid)
{
    struct birth b = { .x = x, .parent = getpid() };
    const struct sigaction usual = { .sa_flags = 0 }; /* SIG_DFL */
    char *stack = must(malloc(STACK));
    sigset_t all, old;
    err_t err = NULL;

    /* Who ignores it is not told how its children end; it may have come to us that way. */
    (void)sigaction(SIGCHLD, &usual, NULL);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &old); /* no handler of ours may run in the child */
    *pid = clone(be_born, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &b);
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

/* How often to look where the kernel has no descriptor for a process; how long one that was
 * killed may take (a process in the middle of disk work is not killed before that is done); and
 * how much to read of one that says a lot before others run. */
#define LOOK CO_MS(50)
#define KILL_TIME CO_SECONDS(2)
enum { PIECE = 4096, PIECES = 16, LAST_WORDS = 16 };

struct co_child {
    pid_t pid;
    struct sock gone;   /* its pidfd; .st is NULL where there is none */
    struct sock output; /* .st is NULL when nothing comes any more */
    void (*said)(void *arg, const char *text, size_t size);
    void *arg;
    bool ended;
    int code, status; /* si_code and si_status of its end */
};

static _Thread_local long live; /* of this thread */

long co_child_live(void)
{
    return live;
}

/* ---- the start */

/* The descriptor of the file, or of the pipe that both outputs share. */
static err_t open_output(const char *path, int pipe, int *fd)
{
    *fd = pipe;
    if (!path)
        return NULL;
    /* Not waiting for the reader of a fifo; then as the child expects it. */
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

/* A child that nobody can follow any more: it must not stay. */
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
        err = sock_open(&c->gone, fd);
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
        err = follow(c, pipe[0]); /* takes it over */
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

/* True: there may be more to read at once. */
static bool hear(struct co_child *c)
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

/* Has it ended? It stays a zombie, so that its id is nobody else's as long as we may signal it. */
static bool look(struct co_child *c)
{
    siginfo_t info = { 0 };

    if (c->ended)
        return true;
    if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
        if (info.si_pid == 0) {
            if (c->gone.st)
                st_netfd_unready(c->gone.st, POLLIN);
            return false;
        }
        c->code = info.si_code;
        c->status = info.si_status;
    } else if (errno == EINTR) {
        return false;
    } /* else somebody took its end from us: how it was is not known */
    c->ended = true;
    return true;
}

static bool is_ready(const struct sock *s)
{
    return s->st && sock_ready(s, POLLIN);
}

/* Wait for either descriptor. */
static enum co_wake wait_both(struct co_child *c, co_usec timeout)
{
    enum co_wake wake;

    if (is_ready(&c->gone) || is_ready(&c->output))
        return CO_WOKEN;
    c->gone.waiter = c->output.waiter = co_self();
    c->gone.wanted = c->output.wanted = POLLIN;
    wake = co_park(timeout);
    c->gone.waiter = c->output.waiter = NULL;
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
        bool more = hear(c);
        co_usec left = until == CO_FOREVER ? CO_FOREVER : until - co_clock();

        *ended = look(c);
        if (*ended) {
            for (int i = 0; i < LAST_WORDS && hear(c); i++)
                co_yield(); /* bounded: it may have left somebody who talks on */
            return NULL;
        }
        if (until != CO_FOREVER && left <= 0)
            return NULL;
        if (more) {
            err_t err = co_check();

            if (err)
                return err;
            co_yield();
        } else if (wait_both(c, c->gone.st ? left : least(left, LOOK)) == CO_STOPPED) {
            return err_wrap(co_stop_why(), "waiting for process %d", (int)c->pid);
        }
    }
}

/* ---- the end */

/* The same for who must go on to wait though it was asked to stop. */
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
    if (c->gone.st)
        sock_close(&c->gone);
    free(c);
    live--;
}

/* "runs", "ended", "status 1" or "signal 9"; gives buf. */
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
    if (!look(c)) {
        (void)kill(-c->pid, SIGTERM);
        (void)kill(-c->pid, SIGCONT); /* one that was stopped does not hear */
        (void)wait_held(c, patience, &stop);
    }
    (void)kill(-c->pid, SIGKILL); /* it, or what it left */
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
