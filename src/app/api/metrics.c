/* SPDX-License-Identifier: MIT */
/* metrics.c - metrics of the server for Prometheus. */
#include "app/api/auth.h"
#include "app/api/metrics_impl.h"
#include "app/version.h"
#include "serve/http/mux.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { TEXT_MAX = 256 << 20 };

/* ---- build and machine: one line of labels each */

static void put_uname(struct wr *w)
{
    struct utsname u;

    if (uname(&u) < 0)
        return;
    prom_family(w, "srs_node_uname_info", "gauge", "Labeled system information as of uname.");
    prom_line(w, "srs_node_uname_info",
              prom_labels("sysname", u.sysname, "nodename", u.nodename, "release", u.release,
                          "version", u.version, "machine", u.machine, NULL), 1);
}

static void put_build(struct wr *w, const struct api_parts *of)
{
    const struct conf_exporter *c = &of->env->conf->exporter;
    char pid[16];

    (void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
    prom_family(w, "srs_build_info", "gauge", "Identity of the server and of this run.");
    prom_line(w, "srs_build_info",
              prom_labels("server", of->env->server_id, "service", of->env->service_id, "pid", pid,
                          "build_date", version_built(), "major", "1", "version", VERSION_NUMBER,
                          "code", VERSION_SIGNATURE, "label", *c->label ? c->label : NULL, "tag",
                          *c->tag ? c->tag : NULL, NULL), 1);
}

/* ---- the process */

/* Returns the load of the busiest thread, which reaches its limit first. */
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

static void put_process(struct wr *w, const struct api_parts *of)
{
    const struct machine *m = of->machine;

    prom_one(w, "srs_cpu_percent", "gauge", "CPU usage of the process, percent of one core.",
             m->cpu * 100);
    prom_one(w, "srs_memory", "gauge",
             "Resident memory in kilobytes (not bytes, despite its old name).",
             (double)m->rss_kbyte);
    prom_one(w, "process_resident_memory_bytes", "gauge", "Resident memory.",
             (double)m->rss_kbyte * 1024);
    prom_one(w, "process_cpu_seconds_total", "counter", "CPU time used.",
             (double)m->cpu_used / 1e6);
    prom_one(w, "srs_uptime_seconds", "gauge", "Time since the server started.",
             (double)(co_clock() - m->began_at) / 1e6);
    prom_one(w, "srs_thread_busy_ratio", "gauge", "Load of the busiest worker thread, 0 to 1.",
             busiest(of->env) / 1000.0);
    prom_one(w, "srs_streams_memory_limit_bytes", "gauge",
             "Limit of srs_streams_memory_bytes: limits.memory.", (double)of->env->whole_memory);
}

/* ---- sums over all workers */

#define AT(field) .at = offsetof(struct worker_counters, field)
#define BY_TYPE(field) AT(types[0].field), CLIENTS_TYPES, "protocol", .value = clients_type_name, \
                       .step = sizeof(struct clients_total)
#define OF_ALL(field) AT(types[0].field), CLIENTS_FORWARD, .step = sizeof(struct clients_total)
#define OF_RTSP(field) AT(types[CLIENTS_RTSP_PLAY].field), 3, "protocol", .value = rtsp_type, \
                       .step = sizeof(struct clients_total)

_Static_assert(CLIENTS_FORWARD == CLIENTS_TYPES - 1, "all others come before it");
_Static_assert(CLIENTS_RTSP_VOD == CLIENTS_RTSP_PLAY + 2, "these three stand together");

static const char *rtsp_type(unsigned i)
{
    return clients_type_name(CLIENTS_RTSP_PLAY + i);
}

static const char *way(unsigned i)
{
    return clients_transport_name(CLIENTS_TRANSPORT_NONE + 1 + i);
}

static const char *const objects[] = { "error", "packet", "process", "snapshot", "source" };
static const char *const hook_results[] = { "ok", "denied", "failed", "dropped" };
static const char *const token_results[] = { "ok", "denied" };
static const char *const actions[] = { [CONF_PUBLISH] = "publish", [CONF_PLAY] = "play" };
static const char *const forward_states[] = { "connecting", "publishing" };

static const struct counter_row rows[] = {
    { "srs_connections", "Open connections of all kinds.", AT(connections) },
    { "srs_coroutines", "Coroutines.", AT(coroutines) },
    { "srs_switches_total", "Switches between coroutines.", AT(switches) },
    { "srs_held_total", "Times that a coroutine blocked its thread for too long.", AT(held) },
    { "srs_holds_total",
      "Times that a coroutine ran for over 5 ms of CPU time without a yield.", AT(holds) },
    { "srs_streams_memory_bytes", "Memory of all streams.", AT(memory) },
    { "srs_streams_squeezed_total",
      "Times that a stream lost its oldest packets because of the limit.", AT(squeezed) },
    { "srs_streams_squeezed_bytes_total", "Bytes lost because of the limit.", AT(squeezed_bytes) },
    { "srs_messages_memory_bytes",
      "Bytes of incomplete RTMP messages, beyond the allowance of each connection.",
      AT(messages) },
    { "srs_messages_evicted_total", "Connections dropped for too many incomplete messages.",
      AT(evicted) },
    /* a count that grows without new clients is a leak */
    { "srs_objects", "Live objects, by kind.", AT(errors), 5, "kind", objects },
    { "srs_send_bytes_total", "Bytes sent to clients.", OF_ALL(out) },
    { "srs_receive_bytes_total", "Bytes received from clients.", OF_ALL(in) },
    { "srs_clients", "Connected clients.", OF_ALL(now) },
    { "srs_clients_total", "Clients since the start.", OF_ALL(clients) },
    { "srs_clients_errs_total", "Clients that ended with an error.", OF_ALL(errors) },
    { "srs_protocol_clients", "Connected clients, by type.", BY_TYPE(now) },
    { "srs_protocol_clients_total", "Clients since the start, by type.", BY_TYPE(clients) },
    { "srs_protocol_clients_errs_total", "Clients that ended with an error.", BY_TYPE(errors) },
    { "srs_protocol_receive_bytes_total", "Bytes received from clients, by type.", BY_TYPE(in) },
    { "srs_protocol_send_bytes_total", "Bytes sent to clients, by type.", BY_TYPE(out) },
    { "srs_rtsp_sessions", "RTSP clients, by transport.",
      OF_RTSP(ways[CLIENTS_TRANSPORT_NONE + 1]),
      .inner = { "transport", CLIENTS_TRANSPORTS - CLIENTS_TRANSPORT_NONE - 1, .value = way } },
    { "srs_rtsp_lost_packets_total",
      "Lost packets: measured for publishers, reported by players.", OF_RTSP(lost) },
    { "srs_refused_total", "Clients and writes refused, by limit.", AT(refused),
      REJECT_KINDS, "limit", .value = reject_reason_name },
};

static const struct counter_row hook_rows[] = {
    { "srs_hooks_waiting", "Callbacks that wait for their backend.", AT(hooks_waiting) },
    { "srs_hooks_total", "Callbacks, by result.", AT(hooks), HOOKS_KINDS, "action",
      .value = hooks_name, .step = sizeof(struct hooks_stat),
      .inner = { "result", 4, .values = hook_results } },
    { "srs_hooks_seconds_total", "Time that backends took to respond.", AT(hooks[0].micros),
      HOOKS_KINDS, "action", .unit = COUNTER_US, .value = hooks_name,
      .step = sizeof(struct hooks_stat) },
};

static const struct counter_row token_rows[] = {
    { "srs_tokens_total", "Clients that needed a token or a key, by result.",
      AT(tokens), 2, "action", actions, .step = 2 * sizeof(uint64_t),
      .inner = { "result", 2, .values = token_results } },
};

static const struct counter_row child_rows[] = {
    { "srs_children", "Programs of ingest, transcode and exec, by state.", AT(children), JOB_KINDS,
      "kind", .value = job_kind_name, .step = JOB_STATES * sizeof(uint64_t),
      .inner = { "state", JOB_STATES, .value = job_state_name } },
};

static const struct counter_row forward_rows[] = {
    { "srs_forwards", "Forwards to other servers, by state.", AT(forwards), 2,
      "state", forward_states },
};

static const struct counter_row vod_rows[] = {
    { "srs_vod_files", "Files on demand that are being played.", AT(vod.files) },
    { "srs_vod_index_bytes", "Memory of file indexes.", AT(vod.index_bytes) },
    { "srs_vod_index_limit_bytes", "Limit of srs_vod_index_bytes: vod.index_max.",
      AT(vod.index_limit) },
    { "srs_vod_cache_bytes", "Memory of cached parts of files.", AT(vod.cache_bytes) },
    { "srs_vod_cache_limit_bytes", "Limit of srs_vod_cache_bytes: vod.cache.",
      AT(vod.cache_limit) },
    { "srs_vod_parts_made_total", "Parts of files that were read and built.", AT(vod.parts_made) },
    { "srs_vod_parts_shared_total", "Parts that another player found in the cache.",
      AT(vod.parts_shared) },
    { "srs_vod_read_bytes_total", "Bytes read from files.", AT(vod.read_bytes) },
    { "srs_vod_waits_total", "Times that a player waited for a disk.", AT(vod.waited) },
    { "srs_vod_failures_total", "Files that could not be opened, and parts that could not be read.",
      AT(vod.failed) },
    { "srs_vod_refused_total", "Players whose file was refused.", AT(vod.refused) },
};

#define PUT(w, rows, f) prom_rows(w, rows, sizeof(rows) / sizeof((rows)[0]), f)

static void put_counters(struct wr *w, const struct worker_counters_of *of,
                         const struct worker_counters *f)
{
    const struct counter_table *t;
    const void *counters;

    PUT(w, rows, f);
    if (of->env->hooks)
        PUT(w, hook_rows, f);
    if (of->env->tokens)
        PUT(w, token_rows, f);
    if (of->children)
        PUT(w, child_rows, f);
    if (of->forwards)
        PUT(w, forward_rows, f);
    if (of->env->vod)
        PUT(w, vod_rows, f);
    for (unsigned i = 0; (t = worker_counters_table(f, &i, &counters)); i++)
        prom_rows(w, t->rows, t->n_rows, counters);
}

/* ---- values that are not sums */

/* Scheduler stalls by coroutine: each is a bug, or the effect of an attack. */
static void put_stalls(struct wr *w, const struct worker_counters *f)
{
    const char *name;

    prom_family(w, "srs_coroutine_holds_total", "counter",
                "Times that a coroutine ran for over 5 ms of CPU time, by coroutine.");
    for (size_t i = 0; (name = worker_counters_held_by(f, i)); i++)
        prom_line(w, "srs_coroutine_holds_total", prom_labels("coroutine", name, NULL),
                  (double)f->held_by[i].count);
}

/* Lateness of ticks that should be 20 ms apart. The bounds are those of clock= in the log, less
 * 20 ms. */
static void put_lateness(struct wr *w, const struct worker_counters *f)
{
    static const char *const bounds[] = { NULL, "0", "0.005", "0.01", "0.015", "0.02", "0.06",
                                          "0.14", "+Inf" };
    uint64_t sum = 0;

    prom_family(w, "srs_wake_lateness_seconds", "histogram",
                "Lateness of timers.");
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

static double mean_jitter(const struct clients_total *t)
{
    return t->jitters > 0 ? (double)t->jitter / (double)t->jitters / 1e6 : 0;
}

static void put_jitter(struct wr *w, const struct worker_counters *f)
{
    prom_family(w, "srs_rtsp_jitter_seconds", "gauge",
                "Jitter of packets, mean over the clients that report it.");
    for (unsigned i = 0; i < 3; i++) {
        char label[32];

        (void)snprintf(label, sizeof(label), "protocol=\"%s\"", rtsp_type(i));
        prom_value(w, "srs_rtsp_jitter_seconds", label,
                   mean_jitter(&f->types[CLIENTS_RTSP_PLAY + i]));
    }
}

static void put_denied(struct wr *w, const struct api_guard *g)
{
    char labels[64];

    prom_family(w, "srs_api_denied_total", "counter", "API requests that were refused, by reason.");
    for (int i = 0; i < API_DENIALS; i++) {
        (void)snprintf(labels, sizeof(labels), "reason=\"%s\"", api_guard_name(i));
        prom_value(w, "srs_api_denied_total", labels, (double)api_guard_denied(g, i));
    }
}

/* ---- all metrics */

static void put_server(struct wr *w, const struct api_parts *of)
{
    struct worker_counters_of whose = api_counters_of(of);
    struct worker_counters f;

    worker_counters_refresh(&whose);
    worker_counters_sum(&whose, &f);
    put_uname(w);
    put_build(w, of);
    put_process(w, of);
    put_counters(w, &whose, &f);
    put_stalls(w, &f);
    put_lateness(w, &f);
    put_jitter(w, &f);
    if (of->guard)
        put_denied(w, of->guard);
    metrics_put_workers(w, of);
}

void metrics_put(struct wr *w, const struct api_parts *of)
{
    put_server(w, of);
    metrics_put_watch(w, of);
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
