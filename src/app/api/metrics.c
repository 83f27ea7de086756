/* SPDX-License-Identifier: MIT */
/* metrics.c - figures of the server for Prometheus. */
#include "app/api/auth.h"
#include "app/api/metrics_impl.h"
#include "app/version.h"
#include "serve/http/mux.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { LABELS_MAX = 16 * 1024, TEXT_MAX = 256 << 20 };

static void one(struct wr *w, const char *name, const char *type, const char *help, double v)
{
    prom_family(w, name, type, help);
    prom_value(w, name, "", v);
}

/* ---- who and where: one line of labels each */

static void put_uname(struct wr *w)
{
    struct utsname u;
    struct wr labels;

    if (uname(&u) < 0)
        return;
    wr_init(&labels, LABELS_MAX);
    prom_label(&labels, "sysname", u.sysname);
    prom_label(&labels, "nodename", u.nodename);
    prom_label(&labels, "release", u.release);
    prom_label(&labels, "version", u.version);
    prom_label(&labels, "machine", u.machine);
    prom_family(w, "srs_node_uname_info", "gauge", "Labeled system information as of uname.");
    prom_value(w, "srs_node_uname_info", prom_labels_end(&labels), 1);
    wr_free(&labels);
}

static void put_build(struct wr *w, const struct api_parts *of)
{
    const struct conf_exporter *c = &of->env->conf->exporter;
    char pid[16];
    struct wr labels;

    (void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
    wr_init(&labels, LABELS_MAX);
    prom_label(&labels, "server", of->env->server_id);
    prom_label(&labels, "service", of->env->service_id);
    prom_label(&labels, "pid", pid);
    prom_label(&labels, "build_date", version_built());
    prom_label(&labels, "major", "1");
    prom_label(&labels, "version", VERSION_NUMBER);
    prom_label(&labels, "code", VERSION_SIGNATURE);
    if (*c->label)
        prom_label(&labels, "label", c->label);
    if (*c->tag)
        prom_label(&labels, "tag", c->tag);
    prom_family(w, "srs_build_info", "gauge", "Which server this is, and which run of it.");
    prom_value(w, "srs_build_info", prom_labels_end(&labels), 1);
    wr_free(&labels);
}

/* ---- the process */

/* Of the thread that is most so: it is the first that has no more to give. */
static unsigned busiest(const struct session_env *env)
{
    unsigned most = co_load();

    for (unsigned i = 0; i < workers_count(env); i++) {
        unsigned load = 0;

        if (i != env->worker)
            load = atomic_load_explicit(&env->workers->v[i].gauges.load, memory_order_relaxed);
        most = load > most ? load : most;
    }
    return most;
}

static void put_process(struct wr *w, const struct api_parts *of, const struct figures *f)
{
    const struct machine *m = of->machine;

    one(w, "srs_cpu_percent", "gauge", "Percent of one core that the process uses.", m->cpu * 100);
    one(w, "srs_memory", "gauge", "Resident memory in kilobytes (a name of old: it is not bytes).",
        (double)m->rss_kbyte);
    one(w, "process_resident_memory_bytes", "gauge", "Resident memory.",
        (double)m->rss_kbyte * 1024);
    one(w, "process_cpu_seconds_total", "counter", "Processor time used.",
        (double)m->cpu_used / 1e6);
    one(w, "srs_uptime_seconds", "gauge", "Since the server began.",
        (double)(co_clock() - m->began_at) / 1e6);
    one(w, "srs_connections", "gauge", "Connections that are open, of any kind.",
        (double)f->connections);
    one(w, "srs_coroutines", "gauge", "Coroutines that live.", (double)f->coroutines);
    one(w, "srs_switches_total", "counter", "Switches between coroutines.", (double)f->switches);
    one(w, "srs_thread_busy_ratio", "gauge", "How busy the coroutine thread is, 0 to 1.",
        busiest(of->env) / 1000.0);
    one(w, "srs_held_total", "counter", "Times that a coroutine kept the thread for too long.",
        (double)f->held);
}

/* ---- memory that others have a say in */

static void put_memory(struct wr *w, const struct api_parts *of, const struct figures *f)
{
    one(w, "srs_streams_memory_bytes", "gauge", "What all streams remember.", (double)f->memory);
    one(w, "srs_streams_memory_limit_bytes", "gauge", "What they may: limits.memory.",
        (double)of->env->whole_memory);
    one(w, "srs_streams_squeezed_total", "counter",
        "Times that a stream lost its oldest packets, as all were over the limit.",
        (double)f->squeezed);
    one(w, "srs_streams_squeezed_bytes_total", "counter", "Bytes that they lost so.",
        (double)f->squeezed_bytes);
    one(w, "srs_messages_memory_bytes", "gauge",
        "RTMP messages that are not complete, beyond what each connection has for itself.",
        (double)f->messages);
    one(w, "srs_messages_evicted_total", "counter",
        "Connections that were dropped for too much of it.", (double)f->evicted);
}

/* What grows while nobody comes is lost. */
static void put_objects(struct wr *w, const struct figures *f)
{
    const struct {
        const char *kind;
        int64_t n;
    } rows[] = {
        { "error", (int64_t)f->errors }, { "packet", (int64_t)f->packets },
        { "process", (int64_t)f->processes }, { "snapshot", conf_live() },
        { "source", (int64_t)f->sources },
    };

    prom_family(w, "srs_objects", "gauge", "Objects that live, by what they are.");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wr labels;

        wr_init(&labels, LABELS_MAX);
        prom_label(&labels, "kind", rows[i].kind);
        prom_value(w, "srs_objects", prom_labels_end(&labels), (double)rows[i].n);
        wr_free(&labels);
    }
}

/* Who keeps the others waiting: each is a fault of ours or a stranger's success. */
static void put_holds(struct wr *w, const struct figures *f)
{
    const char *name;

    one(w, "srs_holds_total", "counter",
        "Times that a coroutine kept the thread for over 5 ms of processor time.",
        (double)f->holds);
    prom_family(w, "srs_coroutine_holds_total", "counter", "The same, by what the coroutine is.");
    for (size_t i = 0; (name = figures_held_by(f, i)); i++) {
        struct wr labels;

        wr_init(&labels, LABELS_MAX);
        prom_label(&labels, "coroutine", name);
        prom_value(w, "srs_coroutine_holds_total", prom_labels_end(&labels),
                   (double)f->held_by[i].count);
        wr_free(&labels);
    }
}

/* Ticks that should be 20 ms apart tell how late wakes are: the bounds are those of the log's
 * clock=, less the 20. */
static void put_lateness(struct wr *w, const struct figures *f)
{
    static const char *const bounds[] = { NULL, "0", "0.005", "0.01", "0.015", "0.02", "0.06",
                                          "0.14", "+Inf" };
    uint64_t sum = 0;

    prom_family(w, "srs_wake_lateness_seconds", "histogram",
                "How late coroutines wake when their time has come.");
    for (int i = 0; i < 9; i++) {
        char labels[32];

        sum += f->late[i];
        if (!bounds[i])
            continue;
        (void)snprintf(labels, sizeof(labels), "le=\"%s\"", bounds[i]);
        prom_value(w, "srs_wake_lateness_seconds_bucket", labels, (double)sum);
    }
    prom_value(w, "srs_wake_lateness_seconds_sum", "", (double)f->late_us / 1e6);
    prom_value(w, "srs_wake_lateness_seconds_count", "", (double)sum);
}

/* ---- clients: sums, and by protocol */

struct by_type {
    const char *name, *type, *help;
    double (*value)(const struct figures_type *t);
};

static double now_of(const struct figures_type *t)     { return (double)t->now; }
static double clients_of(const struct figures_type *t) { return (double)t->clients; }
static double errors_of(const struct figures_type *t)  { return (double)t->errors; }
static double in_of(const struct figures_type *t)      { return (double)t->in; }
static double out_of(const struct figures_type *t)     { return (double)t->out; }

static const struct by_type by_type[] = {
    { "srs_protocol_clients", "gauge", "Clients that are on, by what they are.", now_of },
    { "srs_protocol_clients_total", "counter", "Clients that came, by what they are.",
      clients_of },
    { "srs_protocol_clients_errs_total", "counter", "Clients that ended by a fault.", errors_of },
    { "srs_protocol_receive_bytes_total", "counter", "Bytes from them.", in_of },
    { "srs_protocol_send_bytes_total", "counter", "Bytes to them.", out_of },
};

static double sum_of(const struct figures *f, double (*value)(const struct figures_type *t))
{
    double sum = 0;

    for (int i = 0; i < CLIENTS_TYPES; i++)
        sum += i == CLIENTS_FORWARD ? 0 : value(&f->types[i]);
    return sum;
}

static void put_clients(struct wr *w, const struct figures *f)
{
    one(w, "srs_send_bytes_total", "counter", "Bytes sent to clients.", sum_of(f, out_of));
    one(w, "srs_receive_bytes_total", "counter", "Bytes received from clients.", sum_of(f, in_of));
    one(w, "srs_clients", "gauge", "Clients that are on.", sum_of(f, now_of));
    one(w, "srs_clients_total", "counter", "Clients that came.", sum_of(f, clients_of));
    one(w, "srs_clients_errs_total", "counter", "Clients that ended by a fault.",
        sum_of(f, errors_of));
    for (size_t k = 0; k < sizeof(by_type) / sizeof(by_type[0]); k++) {
        prom_family(w, by_type[k].name, by_type[k].type, by_type[k].help);
        for (int i = 0; i < CLIENTS_TYPES; i++) {
            char labels[64];

            (void)snprintf(labels, sizeof(labels), "protocol=\"%s\"", clients_type_name(i));
            prom_value(w, by_type[k].name, labels, by_type[k].value(&f->types[i]));
        }
    }
}

/* ---- those of RTP */

static double mean_jitter(const struct figures_type *t)
{
    return t->jitters > 0 ? (double)t->jitter / (double)t->jitters / 1e6 : 0;
}

static void put_rtsp(struct wr *w, const struct figures *f)
{
    static const enum clients_type types[] = { CLIENTS_RTSP_PLAY, CLIENTS_RTSP_PUBLISH,
                                               CLIENTS_RTSP_VOD };
    enum { N = sizeof(types) / sizeof(types[0]) };
    char labels[N][32];

    for (int i = 0; i < N; i++)
        (void)snprintf(labels[i], sizeof(labels[i]), "protocol=\"%s\"",
                       clients_type_name(types[i]));
    prom_family(w, "srs_rtsp_sessions", "gauge", "Clients of RTSP, by how their media go.");
    for (int i = 0; i < N; i++) {
        for (int k = CLIENTS_WAY_NONE + 1; k < CLIENTS_WAYS; k++) {
            char both[128];

            (void)snprintf(both, sizeof(both), "%s,transport=\"%s\"", labels[i],
                           clients_way_name(k));
            prom_value(w, "srs_rtsp_sessions", both, (double)f->types[types[i]].ways[k]);
        }
    }
    prom_family(w, "srs_rtsp_lost_packets_total", "counter",
                "Packets that did not come: from publishers, and by what players report.");
    for (int i = 0; i < N; i++)
        prom_value(w, "srs_rtsp_lost_packets_total", labels[i], (double)f->types[types[i]].lost);
    prom_family(w, "srs_rtsp_jitter_seconds", "gauge",
                "How unevenly packets come, the mean of those that have it.");
    for (int i = 0; i < N; i++)
        prom_value(w, "srs_rtsp_jitter_seconds", labels[i], mean_jitter(&f->types[types[i]]));
}

/* ---- callbacks */

static double ok_of(const struct figures_hooks *s)      { return (double)s->ok; }
static double denied_of(const struct figures_hooks *s)  { return (double)s->denied; }
static double failed_of(const struct figures_hooks *s)  { return (double)s->failed; }
static double dropped_of(const struct figures_hooks *s) { return (double)s->dropped; }

static void put_hooks(struct wr *w, const struct figures *f)
{
    static const struct {
        const char *result;
        double (*value)(const struct figures_hooks *s);
    } results[] = {
        { "ok", ok_of }, { "denied", denied_of }, { "failed", failed_of },
        { "dropped", dropped_of },
    };
    char labels[64];

    one(w, "srs_hooks_waiting", "gauge", "Callbacks that wait for their backend.",
        (double)f->hooks_waiting);
    prom_family(w, "srs_hooks_total", "counter", "Callbacks, by what became of them.");
    for (int a = 0; a < HOOKS_KINDS; a++) {
        for (size_t k = 0; k < sizeof(results) / sizeof(results[0]); k++) {
            (void)snprintf(labels, sizeof(labels), "action=\"%s\",result=\"%s\"", hooks_name(a),
                           results[k].result);
            prom_value(w, "srs_hooks_total", labels, results[k].value(&f->hooks[a]));
        }
    }
    prom_family(w, "srs_hooks_seconds_total", "counter", "Time that backends took to answer.");
    for (int a = 0; a < HOOKS_KINDS; a++) {
        (void)snprintf(labels, sizeof(labels), "action=\"%s\"", hooks_name(a));
        prom_value(w, "srs_hooks_seconds_total", labels, (double)f->hooks[a].micros / 1e6);
    }
}

/* ---- who was refused */

static void put_denied(struct wr *w, const struct api_guard *g)
{
    char labels[64];

    prom_family(w, "srs_api_denied_total", "counter", "Requests of the API that were refused.");
    for (int i = 0; i < API_DENIALS; i++) {
        (void)snprintf(labels, sizeof(labels), "reason=\"%s\"", api_guard_name(i));
        prom_value(w, "srs_api_denied_total", labels, (double)api_guard_denied(g, i));
    }
}

static void put_refusals(struct wr *w, const struct figures *f)
{
    char labels[64];

    prom_family(w, "srs_refused_total", "counter", "What was refused for a limit, by which one.");
    for (int k = 0; k < REFUSAL_KINDS; k++) {
        (void)snprintf(labels, sizeof(labels), "limit=\"%s\"", refusal_name(k));
        prom_value(w, "srs_refused_total", labels, (double)f->refused[k]);
    }
}

/* ---- tokens */

static void put_tokens(struct wr *w, const struct figures *f)
{
    static const char *const actions[] = { [CONF_PUBLISH] = "publish", [CONF_PLAY] = "play" };

    prom_family(w, "srs_tokens_total", "counter",
                "Clients that had to show a token or a key, by what became of them.");
    for (int a = CONF_PUBLISH; a <= CONF_PLAY; a++) {
        char labels[64];

        (void)snprintf(labels, sizeof(labels), "action=\"%s\",result=\"ok\"", actions[a]);
        prom_value(w, "srs_tokens_total", labels, (double)f->tokens[a].ok);
        (void)snprintf(labels, sizeof(labels), "action=\"%s\",result=\"denied\"", actions[a]);
        prom_value(w, "srs_tokens_total", labels, (double)f->tokens[a].denied);
    }
}

/* ---- all of it */

static void put_server(struct wr *w, const struct api_parts *of)
{
    struct figures_of whose = api_figures_of(of);
    struct figures f;

    figures_refresh(&whose);
    figures_sum(&whose, &f);
    put_uname(w);
    put_build(w, of);
    put_process(w, of, &f);
    put_holds(w, &f);
    put_lateness(w, &f);
    put_memory(w, of, &f);
    put_objects(w, &f);
    put_clients(w, &f);
    put_rtsp(w, &f);
    put_refusals(w, &f);
    if (of->env->hooks)
        put_hooks(w, &f);
    if (of->guard)
        put_denied(w, of->guard);
    if (of->env->tokens)
        put_tokens(w, &f);
    metrics_put_outputs(w, &whose, &f);
    metrics_put_workers(w, of);
}

void metrics_put(struct wr *w, const struct api_parts *of)
{
    put_server(w, of);
    metrics_put_upkeep(w, of);
    metrics_put_streams(w, of);
}

static err_t answer(struct http_exchange *x, void *arg)
{
    static const char off[] = "{\"code\":1090}";
    const struct api_parts *of = arg;
    struct wr w;
    enum api_who who;
    err_t err = api_auth_ask(of->guard, x, false, &who);

    if (err || who == API_REFUSED)
        return err;
    if (!x->conf->exporter.enabled) {
        http_response_add(x->resp, "Content-Type", "application/json");
        return http_response_send(x->resp, 200, off, sizeof(off) - 1);
    }
    wr_init(&w, TEXT_MAX);
    metrics_put(&w, of);
    err = wr_err(&w, "metrics");
    http_response_add(x->resp, "Content-Type", PROM_TYPE);
    if (!err)
        err = http_response_send(x->resp, 200, w.buf, w.len);
    wr_free(&w);
    return err;
}

void metrics_mount(const struct api_parts *of)
{
    (void)http_mux_add(of->mux, &(struct http_mount){
        .pattern = "/metrics", .methods = 1u << HTTP_VERB_GET,
        .ports = (enum http_ports)(HTTP_PORT_API | HTTP_PORT_EXPORTER), .first_worker = true,
        .handler = answer, .arg = (void *)(uintptr_t)of });
}
