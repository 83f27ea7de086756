/* SPDX-License-Identifier: MIT */
/* dns.c - names to addresses on a helper thread. */
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
    int failed; /* of getaddrinfo */
    int sys;    /* errno, if failed is EAI_SYSTEM */
    bool noted; /* in `asked` */
    co_usec began_at;
};

/* A name whose server is silent keeps its threads for as long as the resolver is patient. Those who
 * ask for it again and again get no more of them: others ask for other names. */
enum { NAMES = 64, SAME_NAME = 4, SAME_SILENT = 1 };
#define SILENT CO_MS(300)
#define AGAIN CO_MS(100)

/* Names that threads ask for, until they return, whoever waits; and some of before. All of it is
 * under its lock. */
static struct asked {
    char host[CO_DNS_NAME_MAX + 1];
    unsigned threads; /* 0: the place is free for another name */
    co_usec since;    /* the first of them began */
    bool silent;      /* the last answer was none, or late */
} asked[NAMES];
static pthread_mutex_t asked_lock = PTHREAD_MUTEX_INITIALIZER;

/* On any thread. */
static co_usec now_here(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

static struct asked *find_asked(const char *host)
{
    struct asked *free = NULL;

    for (int i = 0; i < NAMES; i++) {
        if (strcasecmp(asked[i].host, host) == 0)
            return &asked[i];
        if (asked[i].threads == 0 && (!free || (free->silent && !asked[i].silent)))
            free = &asked[i];
    }
    if (free)
        *free = (struct asked){ 0 };
    if (free)
        memcpy(free->host, host, strlen(host) + 1);
    return free; /* or NULL: so many names are nobody's fault */
}

static unsigned most_of(const struct asked *a)
{
    bool waits = a->threads > 0 && now_here() - a->since >= SILENT;

    return a->silent || waits ? SAME_SILENT : SAME_NAME;
}

/* False: enough threads wait for this name. */
static bool may_ask(struct question *q)
{
    struct asked *a;
    bool may;

    (void)pthread_mutex_lock(&asked_lock);
    a = find_asked(q->host);
    may = !a || a->threads < most_of(a);
    if (a && may) {
        q->began_at = now_here();
        if (a->threads++ == 0)
            a->since = q->began_at;
        q->noted = true;
    }
    (void)pthread_mutex_unlock(&asked_lock);
    return may;
}

/* On whichever thread: it was asked, or nobody came to it. */
static void question_free(void *arg)
{
    struct question *q = arg;

    if (q->noted) {
        struct asked *a;

        (void)pthread_mutex_lock(&asked_lock);
        a = find_asked(q->host);
        assert(a); /* with a thread that waits it stays */
        a->threads--;
        a->silent = now_here() - q->began_at >= SILENT;
        if (!a->silent)
            a->since = now_here();
        (void)pthread_mutex_unlock(&asked_lock);
    }
    free(q);
}

/* RFC 6761, section 6.3: this name is the loopback, also where no file and no server knows it. */
static bool is_localhost(const char *host)
{
    size_t n = strlen(host), m = strlen("localhost");

    return n >= m && strcasecmp(host + n - m, "localhost") == 0 &&
           (n == m || host[n - m - 1] == '.');
}

/* On a helper thread. */
static void ask(void *arg)
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

/* "[::1]" as "::1"; everything else as it is. False: longer than any name. */
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

/* *timeout is what is left of it then. */
static err_t wait_turn(struct question *q, co_usec *timeout)
{
    co_usec until = co_clock() + *timeout;
    err_t err = NULL;

    while (!err && !may_ask(q)) {
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
        err = co_thread_run(CO_POOL_DNS, ask, q, question_free, timeout);
    if (err)
        return err_wrap(err, "resolve %.80s", host); /* q is not ours any more */
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
        /* leave something for the others: the first may be of a family that goes nowhere */
        err = io_tcp_connect(out, names.ip[i], port, bind_ip,
                             i + 1 < names.count ? left / 2 : left);
        if (!err || co_stop_asked())
            break;
    }
    return err;
}
