/* SPDX-License-Identifier: MIT */
/* child_exec.c - how a child process comes to run a program.
 *
 * The child borrows our memory until it runs the program: a copy, as fork makes one, would cost a
 * server with gigabytes of streams tens of milliseconds. It gets a stack of its own and calls
 * nothing there but the system.
 */
#include "co/os/child_exec.h"

#include "base/must.h"
#include "co/pin.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 64 * 1024 };

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As execvp() would. */
err_t child_exec_find(struct child_exec *x)
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

err_t child_exec_start(struct child_exec *x, pid_t *pid)
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
