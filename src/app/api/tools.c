/* SPDX-License-Identifier: MIT */
/* tools.c - routes in builds for profilers and tests: tcmalloc statistics, leaks so far, and
 * signals. */
#include "app/api/api.h"
#include "app/dev/heap.h"
#include "base/log.h"
#include "base/must.h"
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 64 * 1024 };

/* ---- tcmalloc */

static err_t answer_text(struct api_call *c)
{
    char *text = must(calloc(1, TEXT_SIZE));
    err_t err;

    (void)heap_text(text, TEXT_SIZE);
    http_response_add(c->x->resp, "Content-Type", "text/plain");
    err = http_response_send(c->x->resp, 200, text, strlen(text));
    free(text);
    return err;
}

static void put_properties(struct jput *j, const char *group, const char *const *names, size_t n)
{
    jput_open(j, group, '{');
    for (size_t i = 0; i < n; i++) {
        char full[96];

        (void)snprintf(full, sizeof(full), "%s.%s", group, names[i]);
        jput_uint(j, names[i], heap_property(full));
    }
    jput_close(j, '}');
}

static err_t tcmalloc(struct api_call *c)
{
    static const char *const generic[] = { "current_allocated_bytes", "heap_size" };
    static const char *const own[] = {
        "pageheap_free_bytes", "pageheap_unmapped_bytes", "slack_bytes",
        "max_total_thread_cache_bytes", "current_total_thread_cache_bytes",
        "central_cache_free_bytes", "transfer_cache_free_bytes", "thread_cache_free_bytes",
    };
    char page[16] = "";

    (void)api_param(c, "page", page, sizeof(page));
    if (strcmp(page, "summary") == 0)
        return answer_text(c);
    jput_open(&c->j, "data", '{');
    jput_open(&c->j, "query", '{');
    jput_text(&c->j, "page", page);
    jput_text(&c->j, "help", "?page=summary|detail");
    jput_close(&c->j, '}');
    jput_real(&c->j, "release_rate", heap_release_rate(), 2);
    put_properties(&c->j, "generic", generic, sizeof(generic) / sizeof(generic[0]));
    put_properties(&c->j, "tcmalloc", own, sizeof(own) / sizeof(own[0]));
    jput_close(&c->j, '}');
    return NULL;
}

/* ---- valgrind: its report goes to its usual output */

#if BUILD_VALGRIND
#include <valgrind/memcheck.h>

static bool check_leaks(const char *how)
{
    if (strcmp(how, "full") == 0)
        VALGRIND_DO_LEAK_CHECK;
    else if (strcmp(how, "quick") == 0)
        VALGRIND_DO_QUICK_LEAK_CHECK;
    else if (strcmp(how, "added") == 0)
        VALGRIND_DO_ADDED_LEAK_CHECK;
    else if (strcmp(how, "changed") == 0 || strcmp(how, "new") == 0)
        VALGRIND_DO_CHANGED_LEAK_CHECK;
    else
        return false;
    return true;
}
#else
static bool check_leaks(const char *how)
{
    (void)how;
    return false;
}
#endif

static err_t leaks(struct api_call *c)
{
    char how[16] = "";
    bool done;

    (void)api_param(c, "check", how, sizeof(how));
    done = check_leaks(how);
    if (done)
        log_always(LOG_TRACE, "valgrind: leak check %s", how);
    jput_open(&c->j, "data", '{');
    jput_text(&c->j, "check", how);
    jput_text(&c->j, "help", "?check=full|added|changed|new|quick");
    jput_text(&c->j, "see", "https://valgrind.org/docs/manual/mc-manual.html");
    jput_text(&c->j, "call", done ? "done" : "");
    jput_close(&c->j, '}');
    return NULL;
}

/* ---- signals, like kill(1) */

static const struct {
    const char *name;
    int sig;
} signals[] = {
    { "SIGHUP", SIGHUP }, { "SIGUSR1", SIGUSR1 }, { "SIGUSR2", SIGUSR2 }, { "SIGINT", SIGINT },
    { "SIGTERM", SIGTERM }, { "SIGQUIT", SIGQUIT },
};

static err_t raise_signal(struct api_call *c)
{
    char name[16] = "";
    int sig = 0;

    (void)api_param(c, "signo", name, sizeof(name));
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (strcmp(name, signals[i].name) == 0)
            sig = signals[i].sig;
    }
    if (sig) {
        log_always(LOG_TRACE, "API: signal %s", name);
        (void)raise(sig); /* handled when this coroutine yields */
    }
    jput_open(&c->j, "data", '{');
    jput_text(&c->j, "signal", sig ? name : "");
    jput_text(&c->j, "help", "?signo=SIGHUP|SIGUSR1|SIGUSR2|SIGINT|SIGTERM|SIGQUIT");
    jput_int(&c->j, "signo", sig);
    jput_close(&c->j, '}');
    return NULL;
}

static bool looks_for_leaks(const struct api_call *c)
{
    char how[16];

    return api_param(c, "check", how, sizeof(how)) != NULL;
}

static bool sends_signal(const struct api_call *c)
{
    char name[16];

    return api_param(c, "signo", name, sizeof(name)) != NULL;
}

const struct api_row api_rows_tools[] = {
    { "tcmalloc", "memory statistics of tcmalloc: ?page=summary|detail", BUILD_GPERF ? API_READ : 0,
      tcmalloc, NULL },
    { "valgrind", "check for leaks: ?check=full|added|changed|new|quick",
      BUILD_VALGRIND ? API_READ : 0, leaks, looks_for_leaks },
    { "signal", "send the server a signal: ?signo=SIGHUP", BUILD_SIGNAL_API ? API_READ : 0,
      raise_signal, sends_signal },
    { .path = NULL },
};
