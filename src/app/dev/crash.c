/* SPDX-License-Identifier: MIT */
/* crash.c - logs the reason of a crash. */
#include "app/dev/crash.h"

#include "app/log/file.h"
#include "base/thread_own.h"
#include "co/co.h"
#include "co/trace.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { STACK_SIZE = 64 * 1024 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
enum { ENABLED = 0 };
#else
enum { ENABLED = 1 };
#endif

static char stack[STACK_SIZE] __attribute__((aligned(16)));
static char words[3072];
static atomic_int dying; /* id of the crashing thread; 0: none */

static void add_place(struct co_text *w)
{
    if (co_number() >= 0 && co_schedulers() > 1) {
        co_text_add(w, ", worker ");
        co_text_number(w, (uintptr_t)co_number(), 10);
    }
    co_text_add(w, ", coroutine ");
    co_text_add(w, *co_name() && !co_is_idle() ? co_name() : "scheduler");
}

static void restore_default(int sig)
{
    struct sigaction act = { .sa_handler = SIG_DFL };

    (void)sigemptyset(&act.sa_mask);
    (void)sigaction(sig, &act, NULL);
}

/* Only the first crashing thread logs; another one waits for the end of the process. */
static bool am_first(int sig)
{
    int me = gettid(), first = 0;

    if (atomic_compare_exchange_strong(&dying, &first, me))
        return true;
    if (first == me)
        restore_default(sig); /* crashed again while logging */
    while (first != me)
        (void)nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
    return false;
}

static void on_signal(int sig, siginfo_t *info, void *ucontext)
{
    struct co_text w = { words, sizeof(words), 0 };
    uintptr_t pc[CO_TRACE_MAX];
    int depth;

    if (!am_first(sig))
        return;
    depth = co_trace_from(ucontext, pc, CO_TRACE_MAX);
    co_text_add(&w, "crash: signal ");
    co_text_number(&w, (uintptr_t)sig, 10);
    if (sig != SIGABRT) {
        co_text_add(&w, " at address ");
        co_text_number(&w, (uintptr_t)info->si_addr, 16);
    }
    add_place(&w);
    co_text_add(&w, ", at ");
    (void)co_trace_text(pc, depth, words + w.n, sizeof(words) - w.n);
    log_file_crash(words);
    /* A fault repeats when this returns; a signal sent by a process is raised again. */
    restore_default(sig);
    if (info->si_code <= 0)
        (void)raise(sig);
}

/* Disables core dumps, because they contain keys and passwords. The limit is 1 byte, not 0, since
 * the kernel ignores 0 if core dumps are piped to a program. Debuggers and profilers can still
 * attach. */
static void limit_cores(bool wanted)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_CORE, &r) < 0)
        return;
    r.rlim_cur = wanted ? r.rlim_max : 1;
    if (r.rlim_cur > r.rlim_max)
        r.rlim_cur = 0;
    (void)setrlimit(RLIMIT_CORE, &r);
}

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };

static void use_stack(void *memory)
{
    const stack_t alt = { .ss_sp = memory, .ss_size = STACK_SIZE };

    (void)sigaltstack(&alt, NULL);
}

void crash_init(bool core_dump)
{
    struct sigaction act = { .sa_flags = SA_SIGINFO | SA_ONSTACK };

    limit_cores(core_dump);
    co_trace_init();
    if (!ENABLED)
        return;
    use_stack(stack);
    act.sa_sigaction = on_signal;
    (void)sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++)
        (void)sigaction(signals[i], &act, NULL);
}

static void at_thread_end(void *unused)
{
    const stack_t none = { .ss_flags = SS_DISABLE };

    (void)unused;
    (void)sigaltstack(&none, NULL);
}

void crash_thread_init(void)
{
    sigset_t set;

    if (!ENABLED)
        return;
    use_stack(thread_own(STACK_SIZE, at_thread_end));
    (void)sigemptyset(&set);
    for (size_t i = 0; i < SIGNALS; i++)
        (void)sigaddset(&set, signals[i]);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
