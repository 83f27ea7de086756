/* SPDX-License-Identifier: MIT */
/* signals.c - signals, passed to coroutines. */
#include "app/os/signals.h"

#include "app/log/file.h"
#include "co/notify.h"
#include "config.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static const struct {
    int sig;
    unsigned event;
} table[] = {
    { SIGHUP, SIGNALS_RELOAD },
    { SIGUSR1, BUILD_GMC ? SIGNALS_INT : SIGNALS_REOPEN }, /* with gmc SRS stops on SIGUSR1 */
    { SIGTERM, SIGNALS_TERM },
    { SIGINT, SIGNALS_INT },
    { SIGQUIT, SIGNALS_GRACE },
};

enum { SIGNALS = sizeof(table) / sizeof(table[0]) };

/* Static, because signal handlers have no argument and are set per process. */
static atomic_uint pending;
static struct co_notify notify;

static void on_signal(int sig)
{
    for (int i = 0; i < SIGNALS; i++) {
        if (table[i].sig == sig)
            atomic_fetch_or(&pending, table[i].event);
    }
    co_notify_raise(&notify);
}

static void on_alarm(int sig)
{
    (void)sig;
    log_file_crash("quit: something does not end, leaving it");
    _exit(1);
}

static void handle(int sig, void (*fn)(int sig))
{
    struct sigaction act = { .sa_flags = SA_RESTART };

    act.sa_handler = fn;
    (void)sigemptyset(&act.sa_mask);
    (void)sigaction(sig, &act, NULL);
}

void signals_ignore_pipe(void)
{
    handle(SIGPIPE, SIG_IGN);
}

void signals_hold(void)
{
    sigset_t held;

    (void)sigemptyset(&held);
    (void)sigaddset(&held, SIGHUP);
    (void)sigaddset(&held, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &held, NULL);
}

/* Unblocks the held signals, and those that the parent process had blocked, such as SIGTERM. */
static void unblock(void)
{
    sigset_t none;

    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}

err_t signals_init(void)
{
    err_t err = co_notify_open(&notify);

    if (err)
        return err_wrap(err, "signals");
    atomic_store(&pending, 0);
    for (int i = 0; i < SIGNALS; i++)
        handle(table[i].sig, on_signal);
    handle(SIGUSR2, SIG_IGN); /* reserved; must not end the process */
    unblock();
    return NULL;
}

void signals_fini(void)
{
    for (int i = 0; i < SIGNALS; i++)
        handle(table[i].sig, SIG_IGN);
    co_notify_close(&notify);
}

unsigned signals_wait_for(unsigned mask, co_usec timeout)
{
    co_usec until = timeout == CO_FOREVER ? CO_FOREVER : co_clock() + timeout;

    for (;;) {
        unsigned got = atomic_fetch_and(&pending, ~mask) & mask;
        co_usec left = until == CO_FOREVER ? CO_FOREVER : until - co_clock();

        if (got || (until != CO_FOREVER && left <= 0))
            return got;
        if (co_notify_wait(&notify, left) == CO_STOPPED)
            return 0;
    }
}

unsigned signals_wait(co_usec timeout)
{
    return signals_wait_for(~0u, timeout);
}

void signals_raise(unsigned events)
{
    atomic_fetch_or(&pending, events);
    co_notify_raise(&notify);
}

void signals_deadline(unsigned seconds)
{
    handle(SIGALRM, on_alarm);
    (void)alarm(seconds);
}
