/* SPDX-License-Identifier: MIT */
/* run.c - the life of a load tool. */
#include "tools/load/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "co/net/dns.h"
#include "co/net/io_tcp.h"

enum { SPARE_DESCRIPTORS = 32, TICK_MS = 20, RESOLVE_S = 10 };

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    interrupted = number;
}

static void catch_signals(void)
{
    struct sigaction end = { .sa_handler = on_signal }, ignore = { .sa_handler = SIG_IGN };

    (void)sigaction(SIGINT, &end, NULL);
    (void)sigaction(SIGTERM, &end, NULL);
    (void)sigaction(SIGPIPE, &ignore, NULL);
}

int64_t load_wall(void)
{
    return clock_us(CLOCK_REALTIME);
}

bool load_is_over(const struct load_client *c)
{
    return c->until && co_now() >= c->until;
}

void load_limit_wait(struct load_client *c)
{
    co_usec left = c->until - co_now();

    if (c->until)
        c->talk.io->read_timeout = left > 0 ? left : 0;
}

err_t load_unless_over(const struct load_client *c, err_t err)
{
    if (err_code(err) == ERR_IO_TIMEOUT && load_is_over(c))
        err_free(&err);
    return err;
}

err_t load_count(struct load_client *c, size_t n)
{
    int kbps = c->run->opts.read_kbps;

    c->bytes += n;
    c->read_at = co_now();
    c->run->stat.bytes_in += n;
    return kbps > 0 ? co_sleep((co_usec)(n * 8000 / (size_t)kbps)) : NULL;
}

co_usec load_left(const struct load_client *c, co_usec most)
{
    co_usec left = c->until ? c->until - co_now() : most;

    return left < 0 ? 0 : left < most ? left : most;
}

static co_usec seconds(double s)
{
    return (co_usec)(s * 1e6);
}

double load_cpu_seconds(void)
{
    struct rusage u;

    (void)getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* ---- one client */

static void session_init(struct load_client *c)
{
    const struct load_opts *o = &c->run->opts;
    struct load_client fresh = { .run = c->run, .index = c->index };

    *c = fresh;
    c->began = co_now();
    if (o->churn > 0) /* half to one and a half of it */
        c->until = c->began + seconds(o->churn * (0.5 + (double)rand() / RAND_MAX));
}

/* The address is on the stack only while it is needed: there are many stacks. */
static __attribute__((noinline)) err_t session_url(struct load_client *c, struct load_url *url)
{
    const struct load_opts *o = &c->run->opts;
    unsigned i = o->stream_count > 0 ? c->index % (unsigned)o->stream_count : c->index;
    char text[LOAD_URL_SIZE];
    err_t err = load_url_expand(text, sizeof(text), o->url, i);

    return err ? err : load_url_parse(url, text, c->run->tool->schemes);
}

static err_t session(struct load_client *c)
{
    struct load_run *run = c->run;
    struct load_url *url = malloc(sizeof(*url));
    char bind_ip[64];
    err_t err;

    if (!url)
        return err_new(ERR_NO_MEMORY, "URL");
    err = session_url(c, url);
    if (!err)
        err = load_opts_bind(&run->opts, c->index, bind_ip, sizeof(bind_ip));
    if (!err)
        err = run->tool->open
                  ? run->tool->open(c, url, bind_ip, seconds(run->opts.timeout))
                  : load_talk_open(&c->talk, url, run->ip, bind_ip, seconds(run->opts.timeout));
    if (!err) {
        run->stat.connected++;
        load_hist_add(&run->stat.connect, co_clock() - c->began);
        err = run->tool->session(c, url);
        load_talk_close(&c->talk);
    }
    c->alive = false;
    free(url);
    return err;
}

/* Count how a session ended; true: a good end. */
static bool session_end(struct load_client *c, err_t err)
{
    struct load_stat *s = &c->run->stat;
    enum err_code code = err_code(err);
    bool media = c->mark_at != 0;
    char text[512];

    if (c->run->opts.verbose && code != ERR_STOPPED)
        fprintf(stderr, "client %u: %s\n", c->index,
                err ? err_text(err, text, sizeof(text)) : "its time is over");
    if (code == ERR_STOPPED)
        return true;
    if (!err)
        s->churned++;
    else if (media && code == ERR_IO_CLOSED)
        s->ended++;
    else
        load_stat_fail(s, err);
    return !err || (media && code == ERR_IO_CLOSED);
}

static err_t client_main(void *arg)
{
    struct load_client *c = arg;
    struct load_run *run = c->run;
    err_t err = NULL;

    for (int i = 0; !err && (run->opts.repeat == 0 || i < run->opts.repeat); i++) {
        bool good;

        session_init(c);
        run->stat.sessions++;
        err = session(c);
        good = session_end(c, err);
        err_free(&err);
        if (i + 1 != run->opts.repeat)
            err = co_sleep(seconds(good ? run->opts.delay : run->opts.error));
    }
    run->done++;
    return err;
}

/* ---- all clients */

static err_t start_due(struct load_run *run)
{
    const struct load_opts *o = &run->opts;
    double passed = (double)(co_clock() - run->began) / 1e6;
    double rate = o->spread > 0 ? 1000 / o->spread
                  : o->ramp > 0 ? o->ramp
                  : o->start > 0 ? o->clients / o->start
                                 : 1e9;

    while (run->started < o->clients && passed * rate >= run->started) {
        struct load_client *c = &run->clients[run->started];
        err_t err;

        c->run = run;
        c->index = (unsigned)run->started;
        err = co_go(&run->group, "client", client_main, c);
        if (err)
            return err;
        run->started++;
    }
    return NULL;
}

static bool is_fast(const struct load_run *run)
{
    return run->tool->kind == LOAD_FAST || run->opts.fast;
}

/* Bytes of a session, those that wait in the kernel for a reader of large portions included. */
static uint64_t bytes_now(const struct load_client *c)
{
    bool fast = is_fast(c->run) && c->talk.io;

    return c->bytes + (fast ? io_tcp_pending(c->talk.io) : 0);
}

static void set_mark(struct load_run *run)
{
    run->mark = co_clock();
    run->cpu_at_mark = load_cpu_seconds();
    load_stat_mark(&run->stat);
    for (int i = 0; i < run->started; i++) {
        struct load_client *c = &run->clients[i];

        c->mark_bytes = bytes_now(c);
        c->longest_gap = 0;
        if (c->mark_at)
            c->mark_at = c->read_at ? c->read_at : run->mark;
    }
}

/* kbit/s. Servers send in bursts, so the time ends with the last one, if that was not long ago: one
 * of HLS is a segment. */
static int64_t rate_of(const struct load_client *c, co_usec now)
{
    co_usec burst = c->run->tool->kind == LOAD_HLS ? CO_SECONDS(15) : CO_SECONDS(1);
    co_usec end = c->read_at && now - c->read_at < burst ? c->read_at : now;

    if (end <= c->mark_at)
        return 0;
    return (int64_t)((double)(bytes_now(c) - c->mark_bytes) * 8000 / (double)(end - c->mark_at));
}

static bool is_publisher(const struct load_run *run)
{
    return run->tool->kind & LOAD_PUBLISHERS || run->opts.input;
}

static void make_report(struct load_run *run)
{
    struct load_now *n = &run->stat.now;
    co_usec now = co_clock(), from = run->mark ? run->mark : run->began;
    enum load_tools kind = run->tool->kind;
    struct load_pid me;

    memset(n, 0, sizeof(*n)); /* large: not by way of another one on the stack */
    n->tool = run->tool->name;
    n->url = run->opts.url;
    n->kind = kind;
    n->clients = run->opts.clients;
    n->seconds = (double)(now - from) / 1e6;
    n->total_seconds = (double)(now - run->began) / 1e6;
    if (load_pid_look(&me, getpid())) /* now, not the most there ever was */
        n->rss_kb = (uint64_t)me.kb;
    n->media_kbps = run->media_kbps;
    n->gaps = !is_publisher(run) && kind != LOAD_HLS && !is_fast(run) &&
              (kind != LOAD_RTMFP || run->opts.play);
    n->cpu = 100 * (load_cpu_seconds() - run->cpu_at_mark) / n->seconds;
    for (int i = 0; i < run->started; i++) {
        const struct load_client *c = &run->clients[i];

        if (!c->alive)
            continue;
        n->alive++;
        if (c->mark_at && now > c->mark_at)
            load_hist_add(&n->rate, rate_of(c, now));
        if (n->gaps)
            load_hist_add(&n->gap, c->longest_gap);
    }
    load_stat_sum(&run->stat);
}

static void progress(const struct load_stat *s)
{
    const struct load_now *n = &s->now;

    fprintf(stderr, "\r\033[K%.0f s  alive %d/%d  failed %llu  read %.1f  written %.1f Mbit/s  "
                    "client p50 %llu kbit/s  latency p50 %.0f p99 %.0f ms",
            n->total_seconds, n->alive, n->clients, (unsigned long long)s->failed,
            n->read_mbps, n->write_mbps, (unsigned long long)load_hist_at(&n->rate, 0.5),
            (double)load_hist_at(&s->latency, 0.5) / 1000,
            (double)load_hist_at(&s->latency, 0.99) / 1000);
}

static bool all_over(const struct load_run *run)
{
    co_usec passed = co_clock() - run->began;

    return interrupted || run->done == run->opts.clients ||
           (run->opts.duration > 0 && passed >= seconds(run->opts.duration));
}

/* Until the end: begin clients, mark, report. */
static err_t supervise(struct load_run *run)
{
    const struct load_opts *o = &run->opts;
    bool terminal = isatty(STDERR_FILENO) && !o->json;
    co_usec full_at = 0, shown = run->began, told = run->began;
    err_t err = NULL;

    while (!err && !all_over(run)) {
        co_usec now = co_clock();

        err = start_due(run);
        if (run->started == o->clients && !full_at)
            full_at = now;
        if (o->warmup >= 0 && !run->mark && full_at && now >= full_at + seconds(o->warmup))
            set_mark(run);
        if (now - shown >= CO_SECONDS(1)) {
            make_report(run);
            if (terminal)
                progress(&run->stat);
            if (!o->json && now - told >= seconds(o->summary)) {
                load_report_line(stdout, &run->stat);
                told = now;
            }
            shown = now;
        }
        if (!err)
            err = co_sleep(CO_MS(TICK_MS));
    }
    if (terminal)
        fprintf(stderr, "\r\033[K");
    return err;
}

/* Each client is a descriptor, but for those over one socket, and one for each way up, or for the
 * pairs of two tracks: ask for as many as we may have. */
static err_t raise_limit(const struct load_opts *o)
{
    int each = o->tool & (LOAD_SRT | LOAD_RTMFP) ? 0 : o->udp ? 5 : o->tunnel ? 2 : 1;
    int want = o->clients * each + SPARE_DESCRIPTORS;
    struct rlimit lim;

    (void)getrlimit(RLIMIT_NOFILE, &lim);
    lim.rlim_cur = lim.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &lim);
    if (lim.rlim_cur < (rlim_t)want)
        return err_new(ERR_TOO_MANY, "%d clients need %d descriptors, %llu are allowed: ulimit -n",
                       o->clients, want, (unsigned long long)lim.rlim_cur);
    return NULL;
}

static err_t resolve(struct load_run *run)
{
    struct load_client first = { .run = run };
    struct load_url url;
    struct co_dns dns;
    err_t err = session_url(&first, &url);

    if (!err && url.tls && run->opts.fast) {
        fprintf(stderr, "%s: over TLS all bytes are read: --fast is ignored\n", run->tool->name);
        run->opts.fast = false;
    }
    if (!err)
        err = co_dns_resolve(url.host, CO_SECONDS(RESOLVE_S), &dns);
    if (!err)
        snprintf(run->ip, sizeof(run->ip), "%s", dns.ip[0]);
    return err;
}

/* So many players get packets all the time: to be woken for each would be a cost that the server
 * on the same machine pays. */
enum { MANY = 50 };

static err_t run_all(struct load_run *run)
{
    err_t err, end;

    err = raise_limit(&run->opts);
    if (!err)
        err = co_init();
    if (!err)
        err = resolve(run);
    if (!err && run->tool->prepare)
        err = run->tool->prepare(run);
    if (err)
        return err;
    if (!is_publisher(run) && run->opts.clients >= MANY)
        co_gather_always();
    run->clients = calloc((size_t)run->opts.clients, sizeof(*run->clients));
    if (!run->clients)
        return err_new(ERR_NO_MEMORY, "%d clients", run->opts.clients);
    co_group_init(&run->group);
    run->began = co_clock();
    err = supervise(run);
    make_report(run);
    (run->opts.json ? load_report_json : load_report_text)(stdout, &run->stat);
    end = co_group_stop(&run->group);
    err_free(&end); /* each client told its own */
    if (run->tool->finish)
        run->tool->finish();
    free(run->clients);
    return err;
}

int load_main(const struct load_tool *tool, int argc, char **argv)
{
    static struct load_run run; /* too large for a stack */
    char text[512];
    err_t err;

    log_init(&(struct log_setup){ .min = LOG_ERROR });
    run.tool = tool;
    err = load_opts_parse(&run.opts, tool->kind, argc, argv);
    if (!err && run.opts.help) {
        load_opts_help(&run.opts, tool->name, tool->what);
        return 0;
    }
    srand((unsigned)(load_wall() ^ getpid()));
    catch_signals();
    if (!err)
        err = run_all(&run);
    if (err) {
        fprintf(stderr, "%s: %s\n", tool->name, err_text(err, text, sizeof(text)));
        err_free(&err);
        return 1;
    }
    return run.stat.connected > 0 ? 0 : 2;
}
