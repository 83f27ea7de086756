/* SPDX-License-Identifier: MIT */
/* plan.c - collects the parts of a configuration that depend on the machine. */
#include "app/doctor/plan.h"

#include "app/os/cores.h"
#include "app/os/machine.h"
#include "base/must.h"
#include "base/text.h"
#include "conf/arena.h"
#include "conf/expand.h"
#include "pull/ingest/source.h"
#include "session/player.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns space for another element of an array. */
static void *more(void *array, size_t *n, size_t size)
{
    return must(realloc(array, ++*n * size));
}

#define MORE(p, what) ((p)->what = more((p)->what, &(p)->what##_n, sizeof(*(p)->what)), \
                       &(p)->what[(p)->what##_n - 1])

static void append(struct doctor_plan *p, const char **to, const char *name)
{
    *to = conf_arena_printf(p->arena, "%s, %s", *to, name);
}

/* ---- ports */

static bool overlap(const char *a, const char *b)
{
    return !*a || !*b || strcmp(a, b) == 0;
}

static void add_port(struct doctor_plan *p, const struct conf_endpoint *e,
                     const struct conf_served *s)
{
    bool udp = s->flags & CONF_SERVED_UDP;

    for (size_t i = 0; i < p->port_n; i++) {
        struct doctor_port *port = &p->port[i];

        if (port->port != e->port || !port->remedy == udp || !overlap(port->host, e->host))
            continue;
        port->clash |= !conf_served_share(port->of, s);
        if (port->clash || strcmp(port->host, e->host) == 0) {
            append(p, &port->names, s->name);
            return;
        }
    }
    *MORE(p, port) = (struct doctor_port){ .host = e->host, .port = e->port, .names = s->name,
        .of = s, .n = 1, .remedy = udp ? "write another listen" : NULL };
    p->udp |= udp;
}

static void add_tls(struct doctor_plan *p, const char *where, const char *cert, const char *key)
{
    for (size_t i = 0; i < p->tls_n; i++) {
        if (strcmp(p->tls[i].cert, cert) == 0 && strcmp(p->tls[i].key, key) == 0) {
            append(p, &p->tls[i].where, where);
            return;
        }
    }
    *MORE(p, tls) = (struct doctor_tls){ where, cert, key };
}

/* Adds the ports from the row of each protocol. */
static void add_served(struct doctor_plan *p, const struct conf *c)
{
    const struct conf_served *s = NULL;
    enum protocol_id id = 0;

    while ((s = conf_served_next(s, &id))) {
        const struct conf_endpoints *listen = conf_served_listen(s, c);
        const struct conf_tls *tls = conf_served_tls(s, c);

        if (!conf_served_is_on(s, c))
            continue;
        for (size_t i = 0; i < listen->n; i++)
            add_port(p, &listen->v[i], s);
        if (s->flags & CONF_SERVED_UDP)
            p->sessions += conf_protocol_max(conf_protocol(id), c);
        if (tls)
            add_tls(p, s->name, tls->cert, tls->key);
        for (size_t i = 0; tls && i < tls->certificate.n; i++)
            add_tls(p, tls->certificate.v[i].name, tls->certificate.v[i].cert,
                    tls->certificate.v[i].key);
    }
}

/* Adds ports that are not endpoints. */
static void add_more_ports(struct doctor_plan *p, const struct conf *c)
{
    for (int i = 0; i < PROTOCOLS; i++) {
        const struct conf_protocol *of = conf_protocol((enum protocol_id)i);
        struct doctor_port port = { .host = "", .names = of->name };

        port.n = of->ports ? of->ports(c, p->workers, &port.port, &port.remedy) : 0;
        if (port.n > 0)
            *MORE(p, port) = port;
        p->udp |= port.n > 0;
    }
}

/* ---- paths */

/* Returns the folder of a path up to its first variable. */
static const char *folder_of(struct doctor_plan *p, const char *path)
{
    char folder[PATH_MAX];

    conf_expand_folder(path, conf_expand_is_file(path), folder, sizeof(folder));
    return conf_arena_dup(p->arena, folder);
}

static void add_path(struct doctor_plan *p, enum doctor_path_kind kind, const char *directive,
                     const char *path, bool guarded)
{
    for (size_t i = 0; i < p->path_n; i++) {
        if (p->path[i].kind == kind && strcmp(p->path[i].path, path) == 0) {
            p->path[i].guarded |= guarded;
            return;
        }
    }
    *MORE(p, path) = (struct doctor_path){ kind, directive, path, guarded };
}

/* The paths of a vhost: offset in struct conf_vhost, and the switch that enables them. */
#define AT(field) offsetof(struct conf_vhost, field)
static const struct path_row {
    enum doctor_path_kind kind;
    const char *directive;
    size_t path, on, also;
} rows[] = {
    { DOCTOR_FOLDER, "hls_path", AT(hls.path), AT(hls.enabled), AT(hls.enabled) },
    { DOCTOR_FOLDER, "hls_key_file_path", AT(hls.key_file_path), AT(hls.enabled), AT(hls.keys) },
    { DOCTOR_FOLDER, "dash_path", AT(dash.path), AT(dash.enabled), AT(dash.enabled) },
    { DOCTOR_FOLDER, "dvr_path", AT(dvr.path), AT(dvr.enabled), AT(dvr.enabled) },
    { DOCTOR_READ, "vod.dir", AT(vod.dir), AT(vod.enabled), AT(vod.enabled) },
    { DOCTOR_READ, "http_static.dir", AT(http_static.dir), AT(http_static.enabled),
      AT(http_static.enabled) },
    { DOCTOR_READ, "http_hooks.tls_ca", AT(http_hooks.tls_ca), AT(http_hooks.enabled),
      AT(http_hooks.tls_verify) },
    { DOCTOR_READ, "forward.tls_ca", AT(forward.tls_ca), AT(forward.enabled),
      AT(forward.tls_verify) },
};

/* Returns true if players of the vhost need authorization, which a public folder would bypass. */
static bool is_guarded(const struct path_row *row, const struct conf_vhost *v)
{
    return (row->path == AT(dvr.path) && session_play_is_asked(v)) ||
           (row->path == AT(vod.dir) && (session_play_is_asked(v) || v->rtsp.auth.enabled));
}

static void add_paths_of(struct doctor_plan *p, const struct conf_vhost *v)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct path_row *row = &rows[i];
        const char *at = (const char *)v, *path;

        memcpy(&path, at + row->path, sizeof(path));
        if (*(const bool *)(at + row->on) && *(const bool *)(at + row->also) && *path)
            add_path(p, row->kind, row->directive,
                     row->kind == DOCTOR_FOLDER ? folder_of(p, path) : path, is_guarded(row, v));
    }
    for (size_t i = 0; v->rtsp.enabled && i < v->rtsp.pull.n; i++) {
        const struct conf_rtsp_pull *pull = &v->rtsp.pull.v[i];

        if (pull->enabled && pull->tls_verify && *pull->tls_ca)
            add_path(p, DOCTOR_READ, "rtsp.pull.tls_ca", pull->tls_ca, false);
    }
}

static void add_paths(struct doctor_plan *p, const struct conf *c)
{
    if (c->srs_log_tank == CONF_TANK_FILE)
        add_path(p, DOCTOR_FILE, "srs_log_file", c->srs_log_file, false);
    add_path(p, DOCTOR_FILE, "pid", c->pid, false);
    if (c->http_server.enabled)
        add_path(p, DOCTOR_READ, "http_server.dir", c->http_server.dir, false);
    for (size_t i = 0; i < c->vhost.n; i++) {
        if (c->vhost.v[i].enabled)
            add_paths_of(p, &c->vhost.v[i]);
    }
    if (p->program_n && *c->ff_log_dir && strcmp(c->ff_log_dir, "/dev/null") != 0)
        add_path(p, DOCTOR_FOLDER, "ff_log_dir", c->ff_log_dir, false);
}

/* ---- programs */

static void add_program(struct doctor_plan *p, const char *directive, const char *path,
                        bool ffmpeg)
{
    if (!*path)
        path = "ffmpeg";
    for (size_t i = 0; i < p->program_n; i++) {
        if (strcmp(p->program[i].path, path) == 0 && p->program[i].ffmpeg == ffmpeg)
            return;
    }
    *MORE(p, program) = (struct doctor_program){ directive, path, ffmpeg };
}

static bool needs_ffmpeg(const struct conf *c, const struct conf_vhost *v,
                         const struct conf_ingest *in)
{
    bool needs = false;

    for (size_t i = 0; i < in->engine.n; i++) {
        struct ingest_source file;

        needs |= !ingest_source_of(&file, c, v, in, i);
        ingest_source_free(&file);
    }
    return needs;
}

static void add_programs(struct doctor_plan *p, const struct conf *c, const struct conf_vhost *v)
{
    for (size_t i = 0; i < v->transcode.n; i++) {
        if (v->transcode.v[i].enabled)
            add_program(p, "transcode", v->transcode.v[i].ffmpeg, true);
    }
    for (size_t i = 0; i < v->ingest.n; i++) {
        const struct conf_ingest *in = &v->ingest.v[i];

        if (in->enabled && needs_ffmpeg(c, v, in))
            add_program(p, "ingest", in->ffmpeg, true);
        if (in->enabled && in->input.type == CONF_INGEST_FILE && *in->input.url &&
            !strstr(in->input.url, "://"))
            add_path(p, DOCTOR_READ, "ingest input", in->input.url, false);
    }
    for (size_t i = 0; v->exec.enabled && i < v->exec.publish.n; i++) {
        if (v->exec.publish.v[i].n > 0)
            add_program(p, "exec", v->exec.publish.v[i].v[0], false);
    }
}

/* ---- WebRTC */

static void add_rtc(struct doctor_plan *p, const struct conf *c)
{
    const struct conf_rtc_server *r = &c->rtc_server;

    if (!r->enabled)
        return;
    p->rtc_port = r->listen.n > 0 ? r->listen.v[0].port : 0;
    p->candidates = r->candidate;
    for (size_t i = 0; i < c->vhost.n; i++) { /* whether audio has to be transcoded */
        const struct conf_vhost_rtc *v = &c->vhost.v[i].rtc;

        p->audio |= v->enabled && (v->rtmp_to_rtc || v->rtc_to_rtmp);
    }
    for (; p->own_n < DOCTOR_ADDRESSES; p->own_n++) {
        char *own = p->own[p->own_n];

        (void)machine_address((int)p->own_n, own, DOCTOR_ADDRESS);
        if (!*own || (p->own_n > 0 && strcmp(own, p->own[p->own_n - 1]) == 0))
            break; /* an index past the end returns the last one again */
    }
}

/* ---- the plan */

struct doctor_plan *doctor_plan_new(struct conf *c, const struct doctor_how *how)
{
    struct doctor_plan *p = must(calloc(1, sizeof(*p)));

    p->root = text_or_empty(how->root);
    p->arena = conf_arena_new();
    p->conf = conf_ref(c);
    p->serving = how->serving;
    p->core_dump = c->core_dump;
    p->connections = c->max_connections;
    p->reserve = c->limits.api_reserve;
    p->pid_file = c->pid;
    p->workers = (unsigned)cores_workers(c);
    (void)getrlimit(RLIMIT_NOFILE, &p->files);
    (void)getrlimit(RLIMIT_CORE, &p->core);
    add_more_ports(p, c);
    add_served(p, c);
    add_rtc(p, c);
    for (size_t i = 0; i < c->vhost.n; i++) {
        if (c->vhost.v[i].enabled)
            add_programs(p, c, &c->vhost.v[i]);
    }
    add_paths(p, c);
    return p;
}

void doctor_plan_free(void *plan)
{
    struct doctor_plan *p = plan;

    free(p->port);
    free(p->tls);
    free(p->path);
    free(p->program);
    conf_arena_free(p->arena);
    p->conf = conf_unref(p->conf);
    doctor_report_free(&p->report);
    free(p);
}

/* ---- reading */

bool doctor_file(struct doctor_plan *p, const char *path)
{
    char whole[512];

    (void)snprintf(whole, sizeof(whole), "%s%s", p->root, path);
    return machine_file(whole, p->text, sizeof(p->text)) > 0;
}

const char *doctor_bytes(int64_t n, char buf[16])
{
    static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB", "PB" };
    double v = (double)n;
    size_t i = 0;

    for (; v >= 1000 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
        v /= 1024;
    (void)snprintf(buf, 16, v < 10 && i > 0 ? "%.1f %s" : "%.0f %s", v, units[i]);
    return buf;
}
