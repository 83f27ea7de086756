/* SPDX-License-Identifier: MIT */
/* log.c - log lines; every line of a connection carries its id. */
#include "base/log.h"

#include "base/log_clean.h"
#include "base/thread_own.h"
#include "base/units.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 8192, UNTRUSTED_LINE = 1024, CLIENTS_TIMES = 50 };
#define REPORT_AGAIN 1000000 /* microseconds */

static const char *const level_names[] = { "DEBUG", "TRACE", "INFO", "WARN", "ERROR", "NONE" };

static const enum log_level class_level[] = {
    [ERR_CLASS_PEER] = LOG_TRACE,  [ERR_CLASS_STOP] = LOG_TRACE, [ERR_CLASS_TIME] = LOG_WARN,
    [ERR_CLASS_PROTO] = LOG_WARN,  [ERR_CLASS_LIMIT] = LOG_WARN, [ERR_CLASS_DENIED] = LOG_WARN,
    [ERR_CLASS_SYS] = LOG_ERROR,
};

static const char *no_cid(void)
{
    return "-";
}

static void to_stderr(enum log_level level, const char *line, size_t size)
{
    (void)level;
    (void)fwrite(line, 1, size, stderr);
}

static struct log_setup setup = { LOG_TRACE, false, no_cid, to_stderr, NULL };

/* Threads read these while another thread may change them; each value is atomic by itself. */
static struct {
    atomic_bool secrets;
    _Atomic uint64_t one, all, address; /* rates, see pack() */
} rules = { .secrets = true };

static atomic_uint sharers; /* threads that called log_thread_begin(); 0: there is one thread */

/* Token buckets that all threads share. */
enum shared { UNTRUSTED, CLIENTS, ERRORS, N_SHARED };
static _Atomic int64_t shared_full_at[N_SHARED];

/* The buffers of a thread that writes log lines, allocated with its first line. They are not on the
 * stack, because stacks of coroutines are small and each touched page stays allocated. Writing a
 * line never yields. */
struct log_state {
    char line[LINE_SIZE], raw[LINE_SIZE]; /* the current line, and its text */
    char text[1024], frame[256];          /* for an error */
    int64_t time;                         /* time of the line: wall clock, microseconds */
    bool is_public;                       /* the text has no secrets, see log_public() */
    struct log_addresses addresses;       /* budgets of publishers and players, by address */
};
static _Thread_local struct log_state *log_state;

static struct log_state *own(void)
{
    if (!log_state)
        log_state = thread_own(sizeof(*log_state), NULL);
    return log_state;
}

/* Omitted lines of this thread's untrusted clients. */
static _Thread_local struct {
    int64_t reported_at;
    unsigned long left_out;
} untrusted;

/* Omitted lines of its clients whose address was over its budget. */
static _Thread_local struct {
    int64_t reported_at;
    unsigned long left_out;
    uint8_t last[IP_SIZE];
} crowds;

void log_init(const struct log_setup *s)
{
    setup = *s;
    if (!setup.cid)
        setup.cid = no_cid;
    if (!setup.write)
        setup.write = to_stderr;
}

bool log_enabled(enum log_level level)
{
    return level >= setup.min;
}

/* Writes "[2026-01-02 03:04:05.678]"; returns its length. The part up to the seconds is formatted
 * once a second. */
static size_t stamp(char *to, size_t size)
{
    static _Thread_local time_t last = -1;
    static _Thread_local bool last_utc;
    static _Thread_local char date[32];
    struct timeval now;
    struct tm tm;

    (void)gettimeofday(&now, NULL);
    own()->time = (int64_t)now.tv_sec * 1000000 + now.tv_usec;
    if (now.tv_sec != last || last_utc != setup.utc) {
        last = now.tv_sec;
        last_utc = setup.utc;
        if (setup.utc)
            (void)gmtime_r(&last, &tm);
        else
            (void)localtime_r(&last, &tm);
        (void)strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
    }
    return (size_t)snprintf(to, size, "[%s.%03d]", date, (int)(now.tv_usec / 1000));
}

int64_t log_time(void)
{
    return own()->time;
}

static bool shows_secrets(void)
{
    return atomic_load_explicit(&rules.secrets, memory_order_relaxed);
}

/* Truncates a line at the start of a character; returns its new size. */
static size_t cut(char *line, size_t n, size_t limit)
{
    size_t at = limit;

    while (at > 0 && ((unsigned char)line[at] & 0xc0) == 0x80)
        at--;
    return at + (size_t)snprintf(line + at, LINE_SIZE - at, " ... and %zu bytes more", n - at);
}

/* Writes the text in own()->raw as a line of at most `limit` bytes; returns its size. */
static size_t put(enum log_level level, const char *cid, int sys, size_t limit)
{
    struct log_state *m = own();
    char *line = m->line;
    size_t n = stamp(line, LINE_SIZE);

    n += (size_t)snprintf(line + n, LINE_SIZE - n, "[%s][%d][%s]", level_names[level],
                          (int)getpid(), cid);
    if (level >= LOG_WARN)
        n += (size_t)snprintf(line + n, LINE_SIZE - n, "[%d]", sys);
    line[n++] = ' ';
    n += log_clean(line + n, LINE_SIZE - n - 1, m->raw, !shows_secrets() && !m->is_public);
    if (n > limit)
        n = cut(line, n, limit);
    line[n++] = '\n';
    setup.write(level, line, n);
    return n;
}

/* Writes the report of omitted lines. */
static void put_report(const char *cid)
{
    (void)put(LOG_WARN, cid, 0, LINE_SIZE);
}

/* ---- budgets */

static int64_t clock_usec(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

static struct log_budget *budget(void)
{
    struct log_budget *b = setup.budget ? setup.budget() : NULL;

    return b && b->source != LOG_OURS ? b : NULL;
}

static uint64_t pack(struct log_rate r)
{
    return (uint64_t)(uint32_t)r.a_second << 32 | (uint32_t)r.at_once;
}

static struct log_rate rate_of(const _Atomic uint64_t *packed)
{
    uint64_t v = atomic_load_explicit(packed, memory_order_relaxed);

    return (struct log_rate){ (int)(v >> 32), (int)(v & UINT32_MAX) };
}

static struct log_rate rate_of_shared(enum shared of)
{
    struct log_rate rate = rate_of(of == CLIENTS ? &rules.address : &rules.all);

    if (of == CLIENTS) {
        rate.a_second *= CLIENTS_TIMES;
        rate.at_once *= CLIENTS_TIMES;
    }
    return rate;
}

static bool take_shared(enum shared of, int64_t now)
{
    const struct log_rate rate = rate_of_shared(of);
    int64_t old = atomic_load_explicit(&shared_full_at[of], memory_order_relaxed), full_at;

    do {
        full_at = old;
        if (!log_budget_take(&full_at, &rate, now))
            return false;
    } while (!atomic_compare_exchange_weak(&shared_full_at[of], &old, full_at));
    return true;
}

static void charge_shared(enum shared of, size_t bytes)
{
    const struct log_rate rate = rate_of_shared(of);
    int64_t cost = 0;

    log_budget_charge(&cost, &rate, bytes);
    atomic_fetch_add_explicit(&shared_full_at[of], cost, memory_order_relaxed);
}

/* Clients of one address may be on any thread, so each thread gets a share of the address's
 * budget. */
static struct log_rate rate_of_address(const struct log_budget *b)
{
    struct log_rate rate = rate_of(&rules.address);
    int n = (int)atomic_load_explicit(&sharers, memory_order_relaxed);
    int times = b->times ? (int)b->times : 1;

    rate.a_second *= times;
    rate.at_once *= times;
    if (n > 1) {
        rate.a_second = (rate.a_second + n - 1) / n;
        rate.at_once = (rate.at_once + n - 1) / n;
    }
    return rate;
}

static bool take_as_client(const struct log_budget *b, int64_t now)
{
    const struct log_rate rate = rate_of_address(b);

    return log_budget_take(log_addresses_at(&own()->addresses, b->from, now), &rate, now) &&
           take_shared(CLIENTS, now);
}

/* Takes one unit from each budget that applies. */
static bool may_write(struct log_budget *b, int64_t now)
{
    const struct log_rate one = rate_of(&rules.one);

    if (b->source != LOG_UNTRUSTED_ALL && !log_budget_take(&b->full_at, &one, now)) {
        b->left_out++;
        return false;
    }
    if (b->source != LOG_CLIENT && !take_shared(UNTRUSTED, now)) {
        untrusted.left_out++;
        return false;
    }
    if (b->source == LOG_CLIENT && !take_as_client(b, now)) {
        crowds.left_out++;
        memcpy(crowds.last, b->from, IP_SIZE);
        return false;
    }
    return true;
}

/* Errors matter to operators, but a peer that can cause them must not fill the disk. */
static bool may_write_error(int64_t now)
{
    bool yes = take_shared(ERRORS, now);

    untrusted.left_out += !yes;
    return yes;
}

/* Charges the cost of a written line beyond one unit. */
static void charge(struct log_budget *b, enum log_level level, size_t bytes)
{
    const struct log_rate one = rate_of(&rules.one);

    if (bytes <= LOG_UNIT)
        return;
    if (level >= LOG_ERROR) {
        charge_shared(ERRORS, bytes);
        return;
    }
    log_budget_charge(&b->full_at, &one, bytes);
    charge_shared(b->source == LOG_CLIENT ? CLIENTS : UNTRUSTED, bytes);
    if (b->source == LOG_CLIENT) {
        const struct log_rate rate = rate_of_address(b);

        log_budget_charge(log_addresses_at(&own()->addresses, b->from, clock_usec()), &rate, bytes);
    }
}

/* The limit is lower for untrusted clients at the default log level, if the rates are limited. */
static size_t line_limit(const struct log_budget *b)
{
    bool all = setup.min < LOG_TRACE || rate_of(&rules.all).a_second == 0;

    return b && b->source != LOG_CLIENT && !all ? UNTRUSTED_LINE : LINE_SIZE;
}

static void log_crowds(void)
{
    char last[IP_TEXT];

    if (crowds.left_out == 0 || !log_enabled(LOG_WARN))
        return;
    (void)snprintf(own()->raw, LINE_SIZE, "%lu lines more of clients were left out, the last one "
                   "of %s%s: over limits.log_address", crowds.left_out, ip_text(crowds.last, last),
                   ip_is_v4(crowds.last) ? "" : "/64");
    crowds.left_out = 0;
    crowds.reported_at = clock_usec();
    put_report("-");
}

static void log_untrusted(void)
{
    if (untrusted.left_out == 0 || !log_enabled(LOG_WARN))
        return;
    (void)snprintf(own()->raw, LINE_SIZE, "%lu lines more of clients that neither publish nor "
                   "play were left out: over limits.log_strangers", untrusted.left_out);
    untrusted.left_out = 0;
    untrusted.reported_at = clock_usec();
    put_report("-");
}

void log_report_left_out(void)
{
    log_untrusted();
    log_crowds();
}

static void tell_own(struct log_budget *b)
{
    (void)snprintf(own()->raw, LINE_SIZE, "%u lines more of this client were left out: over "
                   "limits.log_lines", b->left_out);
    b->left_out = 0;
    put_report(setup.cid());
}

void log_forget(struct log_budget *b)
{
    untrusted.left_out += b->left_out;
    b->left_out = 0;
}

void log_rule(const struct log_rules *r)
{
    bool all = pack(r->all) != atomic_load(&rules.all);
    bool address = pack(r->address) != atomic_load(&rules.address);

    atomic_store(&rules.one, pack(r->one));
    atomic_store(&rules.all, pack(r->all));
    atomic_store(&rules.address, pack(r->address));
    atomic_store(&rules.secrets, r->secrets);
    for (int i = 0; i < N_SHARED; i++) { /* a new rate starts with a full bucket */
        if (i == CLIENTS ? address : all)
            atomic_store(&shared_full_at[i], 0);
    }
}

void log_thread_begin(void)
{
    atomic_fetch_add(&sharers, 1);
}

void log_thread_end(void)
{
    log_report_left_out();
    atomic_fetch_sub(&sharers, 1);
}

const char *log_param(const char *param)
{
    return !*param || shows_secrets() ? param : "?" LOG_HIDDEN;
}

/* Takes budget for a line; false if there is none. First reports earlier lines that were omitted.
 * */
static bool take(struct log_budget *b, enum log_level level)
{
    int64_t now;

    if (!b && (level >= LOG_ERROR || (!untrusted.left_out && !crowds.left_out)))
        return true;
    now = clock_usec();
    if (b && level >= LOG_ERROR)
        return may_write_error(now);
    if (b && !may_write(b, now))
        return false;
    if (untrusted.left_out && now - untrusted.reported_at > REPORT_AGAIN)
        log_untrusted();
    if (crowds.left_out && now - crowds.reported_at > REPORT_AGAIN)
        log_crowds();
    if (b && b->left_out)
        tell_own(b);
    return true;
}

static void __attribute__((format(printf, 3, 0)))
make(struct log_budget *b, enum log_level level, const char *fmt, va_list ap, int sys)
{
    char *raw = own()->raw;
    size_t size;

    errno = sys; /* for %m */
    if (vsnprintf(raw, LINE_SIZE, fmt, ap) < 0)
        raw[0] = '\0';
    size = put(level, setup.cid(), sys, line_limit(b));
    if (b)
        charge(b, level, size);
}

void log_line(enum log_level level, const char *fmt, ...)
{
    int sys = errno;
    struct log_budget *b;
    va_list ap;

    if (log_enabled(level) && take(b = budget(), level)) {
        va_start(ap, fmt);
        make(b, level, fmt, ap, sys);
        va_end(ap);
    }
    errno = sys;
}

void log_always(enum log_level level, const char *fmt, ...)
{
    int sys = errno;
    va_list ap;

    if (log_enabled(level)) {
        va_start(ap, fmt);
        make(NULL, level, fmt, ap, sys);
        va_end(ap);
    }
    errno = sys;
}

void log_public(const char *fmt, ...)
{
    int sys = errno;
    va_list ap;

    if (log_enabled(LOG_TRACE)) {
        own()->is_public = true;
        va_start(ap, fmt);
        make(NULL, LOG_TRACE, fmt, ap, sys);
        va_end(ap);
        own()->is_public = false;
    }
    errno = sys;
}

void log_end(const char *what, err_t *err)
{
    enum log_level level = class_level[err_class(*err)];
    struct log_state *m = own();

    if (!*err)
        return;
    log_line(level, "%s: %s", what, err_text(*err, m->text, sizeof(m->text)));
    for (int i = 0; level >= LOG_ERROR && err_frame(*err, i, m->frame, sizeof(m->frame)); i++)
        log_line(level, "  thread [%d][%s]: %s", (int)getpid(), setup.cid(), m->frame);
    err_free(err);
}
