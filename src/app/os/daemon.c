/* SPDX-License-Identifier: MIT */
/* daemon.c - runs the process in the background. */
#include "app/os/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int ready = -1; /* pipe to the process that the user started */

void daemon_keep_stdio(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        (void)close(fd);
}

/* Runs in the process that the user started: waits for the daemon's exit code of the start. */
__attribute__((noreturn)) static void wait_for_start(int from)
{
    uint8_t code = 1; /* if the daemon died without a report */
    ssize_t n;

    do {
        n = read(from, &code, 1);
    } while (n < 0 && errno == EINTR);
    _exit(code);
}

/* Detaches stdin from the terminal. Output stays there until daemon_ready(). */
static void detach(int target)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0)
        return;
    (void)dup2(null, target);
    if (null > STDERR_FILENO)
        (void)close(null);
}

err_t daemon_fork(void)
{
    int fd[2];
    pid_t pid;

    if (pipe2(fd, O_CLOEXEC) < 0)
        return err_sys(ERR_SYSTEM, "pipe");
    pid = fork();
    if (pid < 0)
        return err_sys(ERR_SYSTEM, "fork");
    if (pid > 0) {
        (void)close(fd[1]);
        (void)waitpid(pid, NULL, 0);
        wait_for_start(fd[0]);
    }
    (void)close(fd[0]);
    (void)setsid();
    pid = fork(); /* no session leader, so it can never get a terminal again */
    if (pid < 0)
        _exit(1);
    if (pid > 0)
        _exit(0);
    ready = fd[1];
    detach(STDIN_FILENO);
    return NULL;
}

void daemon_ready(int code)
{
    if (ready < 0)
        return;
    detach(STDOUT_FILENO);
    detach(STDERR_FILENO);
    (void)!write(ready, &(uint8_t){ (uint8_t)code }, 1);
    (void)close(ready);
    ready = -1;
}
