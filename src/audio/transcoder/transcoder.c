/* SPDX-License-Identifier: MIT */
/* transcoder.c - converts the audio of a stream in the background. */
#include "audio/transcoder/transcoder.h"

#include "base/log.h"
#include "base/must.h"
#include "base/wr.h"
#include "co/thread.h"
#include "audio/lib.h"

#include <time.h>

enum { WAITING_MAX = 192, BYTES_MAX = 128 << 10, AT_ONCE = 8, OUT_MAX = 1 << 20,
       IN_PLACE = 10 }; /* transcoders that a coroutine thread runs itself */

/* Limits how often a stream that keeps changing its configuration opens decoders, which is slow. */
#define OPEN_EVERY CO_MS(100)
#define HELPER_TIME CO_SECONDS(20)

struct item {
    struct item *next;
    struct audio_in in;
    uint8_t data[];
};

/* Header of each output frame. */
struct piece {
    int64_t time;
    size_t size;
};

/* The data of a helper thread: other threads must not use it meanwhile. */
struct job {
    struct audio_convert *convert;
    struct item *first;
    struct wr out;
    struct timespec begun;
    uint64_t micros;
};

struct transcoder {
    struct transcoder_opts opts;
    char *name;
    struct co *co;    /* its coroutine; NULL: ended */
    bool closed;
    bool waits;
    struct item *first, **end;
    unsigned n;
    size_t bytes;
    struct job *job;  /* NULL: a helper thread kept it */
    struct item *config; /* the converter's last codec configuration, or NULL */
    struct audio_counts seen; /* counts of the converter already added to the statistics */
    co_usec opened_at;
};

static _Thread_local struct transcoder_stat worker_counters;
static _Thread_local bool told;

void transcoder_stat(struct transcoder_stat *out)
{
    *out = worker_counters;
}

/* ---- libraries */

static void load(void *arg)
{
    (void)arg;
    (void)audio_lib_load();
}

static void load_done(void *arg)
{
    (void)arg;
}

bool transcoder_prepare(void)
{
    err_t err;

    if (audio_lib_ready() || audio_lib_lacks())
        return audio_lib_ready();
    err = co_thread_run(CO_POOL_AUDIO, load, NULL, load_done, HELPER_TIME);
    if (err && !co_stop_asked())
        log_end("audio libraries", &err);
    err_free(&err);
    return audio_lib_ready();
}

void transcoder_lacks(const char *stream, const char *what)
{
    const char *lacks = audio_lib_lacks();

    if (!told && lacks)
        log_warn("%s: %s: %s", stream, what, lacks);
    told |= lacks != NULL;
}

/* ---- a job, on any thread */

static uint64_t micros_since(const struct timespec *from)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)((now.tv_sec - from->tv_sec) * 1000000 +
                      (now.tv_nsec - from->tv_nsec) / 1000);
}

static void begin_to_count(struct job *j)
{
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &j->begun);
}

static void end_to_count(struct job *j)
{
    j->micros += micros_since(&j->begun);
}

static void put_out(struct job *j, const struct audio_out *out)
{
    const struct piece p = { .time = out->time, .size = out->size };

    if (out->size == 0)
        return;
    wr_bytes(&j->out, &p, sizeof(p));
    wr_bytes(&j->out, out->data, out->size);
}

static void drop_first(struct job *j)
{
    struct item *i = j->first;

    j->first = i->next;
    free(i);
}

static void convert_all(void *arg)
{
    struct job *j = arg;
    struct audio_out out;

    begin_to_count(j);
    while (j->first) {
        audio_convert_put(j->convert, &j->first->in);
        while (audio_convert_step(j->convert, &out))
            put_out(j, &out);
        drop_first(j);
    }
    end_to_count(j);
}

static void job_free(void *arg)
{
    struct job *j = arg;

    while (j->first)
        drop_first(j);
    audio_convert_free(j->convert);
    wr_free(&j->out);
    free(j);
}

static struct job *job_new(const struct transcoder_opts *opts)
{
    struct job *j = must(calloc(1, sizeof(*j)));

    j->convert = audio_convert_new(opts->to, opts->bitrate);
    wr_init(&j->out, OUT_MAX);
    return j;
}

/* ---- on the coroutine thread */

static void convert_here(struct job *j)
{
    struct audio_out out;

    while (j->first) {
        bool more = true;

        begin_to_count(j);
        audio_convert_put(j->convert, &j->first->in);
        while (more) {
            more = audio_convert_step(j->convert, &out);
            put_out(j, &out);
            if (!more || !co_slice_over())
                continue;
            end_to_count(j);
            co_yield_if_due();
            begin_to_count(j);
        }
        end_to_count(j);
        drop_first(j);
    }
}

/* ---- the coroutine of a transcoder */

static int direction(const struct transcoder *l)
{
    return l->opts.to == AV_OPUS ? 0 : 1;
}

static struct item *take_first(struct transcoder *l)
{
    struct item *i = l->first;

    l->first = i->next;
    l->end = l->first ? l->end : &l->first;
    l->n--;
    l->bytes -= i->in.size;
    i->next = NULL;
    return i;
}

static struct item *item_new(const struct audio_in *in)
{
    struct item *i = must(malloc(sizeof(*i) + in->size));

    *i = (struct item){ .in = *in };
    memcpy(i->data, in->data, in->size);
    i->in.data = i->data;
    return i;
}

static void keep_config(struct transcoder *l, const struct item *i)
{
    free(l->config);
    l->config = item_new(&i->in);
}

/* Takes some input, up to a configuration. Returns true if codecs must be opened for it. */
static bool take_some(struct transcoder *l, struct job *j)
{
    struct item **end = &j->first;
    bool config = false;

    for (int i = 0; i < AT_ONCE && l->first && !config; i++) {
        bool opens = audio_convert_opens(j->convert, &l->first->in);

        if (opens && j->first)
            break; /* it goes to a helper thread separately */
        if (opens && l->opened_at && co_now() - l->opened_at < OPEN_EVERY) {
            free(take_first(l));
            worker_counters.dropped++;
            continue;
        }
        config = l->first->in.config;
        if (config)
            keep_config(l, l->first);
        *end = take_first(l);
        end = &(*end)->next;
        if (opens) {
            l->opened_at = co_now();
            return true;
        }
    }
    return false;
}

static void count(struct transcoder *l)
{
    struct job *j = l->job;
    const struct audio_counts *c = audio_convert_counts(j->convert);

    worker_counters.frames[direction(l)] += c->out - l->seen.out;
    worker_counters.bad += c->bad + c->early - l->seen.bad - l->seen.early;
    worker_counters.silence += (c->silence - l->seen.silence) / (AUDIO_RATE / 1000);
    worker_counters.micros[direction(l)] += j->micros;
    j->micros = 0;
    if (c->bad > 0 && l->seen.bad == 0)
        log_warn("%s: audio that cannot be decoded", l->name);
    l->seen = *c;
}

static void give(struct transcoder *l)
{
    struct wr *w = &l->job->out;
    struct piece p;

    for (size_t at = 0; !l->closed && at + sizeof(p) < w->len; at += sizeof(p) + p.size) {
        struct audio_out out;

        memcpy(&p, w->buf + at, sizeof(p));
        out = (struct audio_out){ .data = w->buf + at + sizeof(p), .size = p.size, .time = p.time };
        l->opts.on_frame(l->opts.arg, &out);
    }
    w->len = 0;
    if (!l->closed && !l->first && l->opts.on_rest)
        l->opts.on_rest(l->opts.arg);
}

/* The job hangs in a helper thread: continues with a new one. */
static void restart(struct transcoder *l, err_t *why)
{
    log_end("audio conversion on a helper thread", why);
    l->job = job_new(&l->opts);
    l->seen = (struct audio_counts){ 0 };
    if (!l->config)
        return;
    l->config->next = l->first;
    l->end = l->first ? l->end : &l->config->next;
    l->first = l->config;
    l->n++;
    l->bytes += l->config->in.size;
    l->config = NULL;
}

static err_t convert_there(struct transcoder *l)
{
    struct job *j = l->job;
    err_t err;

    l->job = NULL;
    err = co_thread_run(CO_POOL_AUDIO, convert_all, j, job_free, HELPER_TIME);
    if (!err)
        l->job = j;
    else if (!co_stop_asked())
        restart(l, &err);
    return err;
}

static err_t convert_some(struct transcoder *l)
{
    bool opens = take_some(l, l->job);
    err_t err = NULL;

    if (opens || worker_counters.running[0] + worker_counters.running[1] > IN_PLACE)
        err = convert_there(l);
    else
        convert_here(l->job);
    if (err)
        return err;
    count(l);
    give(l);
    return co_check();
}

static err_t rest(struct transcoder *l)
{
    l->waits = true;
    (void)!co_park(CO_FOREVER);
    l->waits = false;
    return co_check();
}

static void lane_free(struct transcoder *l)
{
    while (l->first)
        free(take_first(l));
    free(l->config);
    free(l->name);
    free(l);
}

static err_t lane_main(void *lane)
{
    struct transcoder *l = lane;
    err_t err = NULL;

    if (!transcoder_prepare())
        transcoder_lacks(l->name, "its audio is not converted");
    else
        err = co_check();
    while (!err && !l->closed && audio_lib_ready())
        err = l->first ? convert_some(l) : rest(l);
    err_free(&err);
    worker_counters.running[direction(l)]--;
    if (l->job)
        job_free(l->job);
    l->job = NULL;
    l->co = NULL;
    if (l->closed)
        lane_free(l);
    co_stack_trim();
    return NULL;
}

/* ---- open and close */

struct transcoder *transcoder_open(const struct transcoder_opts *opts)
{
    struct transcoder *l = must(calloc(1, sizeof(*l)));
    err_t err;

    l->opts = *opts;
    l->name = must_dup(opts->name);
    l->end = &l->first;
    l->job = job_new(opts);
    err = co_go_deep(opts->group, "sound", lane_main, l);
    if (err) {
        log_end("audio is not converted", &err);
        job_free(l->job);
        lane_free(l);
        return NULL;
    }
    l->co = co_newest(opts->group);
    worker_counters.running[direction(l)]++;
    worker_counters.opened[direction(l)]++;
    return l;
}

void transcoder_close(struct transcoder *l)
{
    if (!l)
        return;
    l->closed = true;
    if (!l->co)
        lane_free(l);
    else
        co_unpark(l->co);
}

/* Drops pending input, which belongs to another configuration. */
static void forget_all(struct transcoder *l)
{
    while (l->first) {
        free(take_first(l));
        worker_counters.dropped++;
    }
}

void transcoder_put(struct transcoder *l, const struct audio_in *in)
{
    bool full = l->n >= WAITING_MAX || l->bytes > BYTES_MAX;

    if (!l->co || in->size == 0 || in->size > AUDIO_CODED_MAX)
        return;
    if (full && in->config) {
        forget_all(l);
    } else if (full) {
        worker_counters.dropped++;
        return;
    }
    *l->end = item_new(in);
    l->end = &(*l->end)->next;
    l->n++;
    l->bytes += in->size;
    if (l->waits)
        co_unpark(l->co);
}
