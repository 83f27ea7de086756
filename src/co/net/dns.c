/* SPDX-License-Identifier: MIT */
/* dns.c - resolves names to addresses on a helper thread. */
#include "co/net/dns.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "base/must.h"
#include "co/sock.h"
#include "co/thread.h"

struct question {
    char host[CO_DNS_NAME_MAX + 1];
    struct co_dns answer;
    int failed; /* result of getaddrinfo */
    int sys;    /* errno, if failed is EAI_SYSTEM */
    bool noted; /* counted in `lookups` */
    co_usec began_at;
};

/* A name whose server is silent occupies threads until the resolver gives up. So each name gets a
 * limited number of threads, even if many clients request it, and others stay free for other
 * names. */
enum { NAMES = 64, SAME_NAME = 4, SAME_SILENT = 1 };
#define SILENT CO_MS(300)
#define AGAIN CO_MS(100)

/* Names that threads are resolving, even if their coroutine no longer waits, and some recent ones.
 * Protected by its lock. */
static struct lookup {
    char host[CO_DNS_NAME_MAX + 1];
    unsigned threads; /* 0: the entry can be reused for another name */
    co_usec since;    /* when the first of them began */
    bool silent;      /* the last answer was missing or late */
} lookups[NAMES];
static pthread_mutex_t lookups_lock = PTHREAD_MUTEX_INITIALIZER;

/* Any thread. */
static co_usec now_here(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

static struct lookup *find_lookup(const char *host)
{
    struct lookup *free = NULL;

    for (int i = 0; i < NAMES; i++) {
        if (strcasecmp(lookups[i].host, host) == 0)
            return &lookups[i];
        if (lookups[i].threads == 0 && (!free || (free->silent && !lookups[i].silent)))
            free = &lookups[i];
    }
    if (free)
        *free = (struct lookup){ 0 };
    if (free)
        memcpy(free->host, host, strlen(host) + 1);
    return free; /* or NULL: with this many names none is limited */
}

static unsigned most_of(const struct lookup *a)
{
    bool waits = a->threads > 0 && now_here() - a->since >= SILENT;

    return a->silent || waits ? SAME_SILENT : SAME_NAME;
}

/* Returns false if enough threads already resolve this name. */
static bool try_begin(struct question *q)
{
    struct lookup *a;
    bool may;

    (void)pthread_mutex_lock(&lookups_lock);
    a = find_lookup(q->host);
    may = !a || a->threads < most_of(a);
    if (a && may) {
        q->began_at = now_here();
        if (a->threads++ == 0)
            a->since = q->began_at;
        q->noted = true;
    }
    (void)pthread_mutex_unlock(&lookups_lock);
    return may;
}

/* Runs on any thread, after the lookup or when it was never started. */
static void question_free(void *arg)
{
    struct question *q = arg;

    if (q->noted) {
        struct lookup *a;

        (void)pthread_mutex_lock(&lookups_lock);
        a = find_lookup(q->host);
        assert(a); /* the entry stays while a thread waits */
        a->threads--;
        a->silent = now_here() - q->began_at >= SILENT;
        if (!a->silent)
            a->since = now_here();
        (void)pthread_mutex_unlock(&lookups_lock);
    }
    free(q);
}

/* RFC 6761, section 6.3: this name is the loopback, even if no file and no server has it. */
static bool is_localhost(const char *host)
{
    size_t n = strlen(host), m = strlen("localhost");

    return n >= m && strcasecmp(host + n - m, "localhost") == 0 &&
           (n == m || host[n - m - 1] == '.');
}

/* Runs on a helper thread. */
static void resolve(void *arg)
{
    struct question *q = arg;
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;

    hints.ai_flags = AI_ADDRCONFIG;
    q->failed = getaddrinfo(q->host, NULL, &hints, &list);
    q->sys = errno;
    if (q->failed && is_localhost(q->host)) {
        q->answer = (struct co_dns){ .ip = { "127.0.0.1", "::1" }, .count = 2 };
        q->failed = 0;
    }
    if (q->failed || !list)
        return;
    for (struct addrinfo *a = list; a && q->answer.count < CO_DNS_MAX; a = a->ai_next) {
        struct sockaddr_storage addr = { 0 };
        int port;

        memcpy(&addr, a->ai_addr, a->ai_addrlen);
        sock_text(&addr, q->answer.ip[q->answer.count], IO_ADDR_SIZE, &port);
        if (q->answer.ip[q->answer.count][0])
            q->answer.count++;
    }
    freeaddrinfo(list);
}

static bool is_numeric(const char *host, struct co_dns *out)
{
    struct sockaddr_storage addr;
    socklen_t size;
    err_t err = sock_addr(&addr, &size, host, 0);
    bool ok = !err && strlen(host) < IO_ADDR_SIZE;

    err_free(&err);
    if (ok) {
        memcpy(out->ip[0], host, strlen(host) + 1);
        out->count = 1;
    }
    return ok;
}

/* Copies the name, without the brackets of "[::1]". Returns false if it is longer than any name. */
static bool strip(char out[CO_DNS_NAME_MAX + 1], const char *host)
{
    size_t n = strlen(host);

    if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
        host++;
        n -= 2;
    }
    if (n > CO_DNS_NAME_MAX)
        return false;
    memcpy(out, host, n);
    out[n] = '\0';
    return true;
}

static err_t answer(struct question *q, struct co_dns *out)
{
    errno = q->sys;
    if (q->failed == EAI_SYSTEM)
        return err_sys(ERR_DNS, "%.200s", q->host);
    if (q->failed)
        return err_new(ERR_DNS, "%.200s: %s", q->host, gai_strerror(q->failed));
    if (q->answer.count == 0)
        return err_new(ERR_DNS, "%.200s has no address", q->host);
    *out = q->answer;
    return NULL;
}

/* Waits until the name may be resolved; reduces *timeout by the time spent. */
static err_t wait_turn(struct question *q, co_usec *timeout)
{
    co_usec until = co_clock() + *timeout;
    err_t err = NULL;

    while (!err && !try_begin(q)) {
        if (co_clock() >= until)
            return err_new(ERR_IO_TIMEOUT, "the name server does not answer");
        err = co_sleep(AGAIN);
    }
    if (*timeout > until - co_clock())
        *timeout = until - co_clock() > 0 ? until - co_clock() : 1;
    return err;
}

err_t co_dns_resolve(const char *host, co_usec timeout, struct co_dns *out)
{
    struct question *q = must(calloc(1, sizeof(*q)));
    err_t err;

    *out = (struct co_dns){ 0 };
    if (!strip(q->host, host) || !q->host[0]) {
        question_free(q);
        return err_new(ERR_DNS, "\"%.80s\" is no name", host);
    }
    if (is_numeric(q->host, out)) {
        question_free(q);
        return NULL;
    }
    err = wait_turn(q, &timeout);
    if (err)
        question_free(q);
    else
        err = co_thread_run(CO_POOL_DNS, resolve, q, question_free, timeout);
    if (err)
        return err_wrap(err, "resolve %.80s", host); /* we no longer own q */
    err = answer(q, out);
    question_free(q);
    return err;
}

err_t co_dns_connect(struct io **out, const char *host, int port, const char *bind_ip,
                     co_usec timeout)
{
    co_usec until = co_now() + timeout;
    struct co_dns names;
    err_t err = co_dns_resolve(host, timeout, &names);

    if (err)
        return err;
    for (int i = 0; i < names.count; i++) {
        co_usec left = until - co_now();

        err_free(&err);
        if (left <= 0)
            return err_new(ERR_IO_TIMEOUT, "%s has %d addresses, %d were tried", host,
                           names.count, i);
        /* leave time for the others: the first may be of a family without a route */
        err = io_tcp_connect(out, names.ip[i], port, bind_ip,
                             i + 1 < names.count ? left / 2 : left);
        if (!err || co_stop_asked())
            break;
    }
    return err;
}
