/* SPDX-License-Identifier: MIT */
/* plan.c - what of a configuration depends on the machine. */
#include "app/doctor/plan.h"

#include "app/os/cores.h"
#include "app/os/machine.h"
#include "app/services.h"
#include "base/must.h"
#include "base/text.h"
#include "conf/arena.h"
#include "conf/protocol.h"
#include "co/pin.h"
#include "pull/ingest/source.h"
#include "session/admit.h"
#include "sink/program/job_want.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more of an array. */
static void *more(void *array, size_t *n, size_t size)
{
    char *v = must(realloc(array, (*n + 1) * size));

    memset(v + *n * size, 0, size);
    (*n)++;
    return v;
}

#define MORE(p, what) ((p)->what = more((p)->what, &(p)->what##_n, sizeof(*(p)->what)), \
                       &(p)->what[(p)->what##_n - 1])

static char *copy(struct doctor_plan *p, const char *text)
{
    return conf_arena_dup(p->arena, text);
}

/* ---- ports */

static bool overlap(const char *a, const char *b)
{
    return !*a || !*b || strcmp(a, b) == 0;
}

static void append(struct doctor_plan *p, char **to, const char *name)
{
    *to = conf_arena_printf(p->arena, "%s, %s", *to, name);
}

static void add_port(struct doctor_plan *p, const struct conf_endpoint *e, int family,
                     const char *name)
{
    struct doctor_port *port;

    for (size_t i = 0; i < p->port_n; i++) {
        port = &p->port[i];
        if (port->port != e->port || !overlap(port->host, e->host))
            continue;
        port->clash |= port->family != family;
        if (port->clash || strcmp(port->host, e->host) == 0) {
            append(p, &port->names, name);
            return;
        }
    }
    port = MORE(p, port);
    *port = (struct doctor_port){ .host = copy(p, e->host), .port = e->port,
                                  .names = copy(p, name), .family = family };
}

static void add_tls(struct doctor_plan *p, const char *where, const char *cert, const char *key)
{
    struct doctor_tls *tls;

    for (size_t i = 0; i < p->tls_n; i++) {
        if (strcmp(p->tls[i].cert, cert) == 0 && strcmp(p->tls[i].key, key) == 0) {
            append(p, &p->tls[i].where, where);
            return;
        }
    }
    tls = MORE(p, tls);
    *tls = (struct doctor_tls){ copy(p, where), copy(p, cert), copy(p, key) };
}

static void add_services(struct doctor_plan *p, const struct conf *c)
{
    struct listeners_want want[SERVICES];
    size_t n = services_wanted(c, want);

    for (size_t i = 0; i < n; i++) {
        unsigned service = (unsigned)__builtin_ctz(want[i].services);
        const struct conf_tls *tls = services_tls_of(c, service);

        for (size_t k = 0; k < want[i].endpoints->n; k++)
            add_port(p, &want[i].endpoints->v[k], want[i].family, services_name(service));
        if (!tls)
            continue;
        add_tls(p, services_name(service), tls->cert, tls->key);
        for (size_t k = 0; k < tls->certificate.n; k++)
            add_tls(p, tls->certificate.v[k].name, tls->certificate.v[k].cert,
                    tls->certificate.v[k].key);
    }
}

/* ---- paths */

/* The folder that is made of a template: of "a/b/[app]/x.flv" it is "a/b". */
static const char *fixed(struct doctor_plan *p, const char *template, bool file)
{
    char *out = copy(p, template), *end = strchr(out, '[');

    if (end)
        *end = '\0';
    if (!end && !file)
        return out;
    end = strrchr(out, '/');
    if (!end)
        return ".";
    end[end == out] = '\0';
    return out;
}

static struct doctor_path *add_path(struct doctor_plan *p, enum doctor_path_kind kind,
                                    const char *directive, const char *path)
{
    struct doctor_path *one;

    for (size_t i = 0; i < p->path_n; i++) {
        if (p->path[i].kind == kind && strcmp(p->path[i].path, path) == 0)
            return &p->path[i];
    }
    one = MORE(p, path);
    *one = (struct doctor_path){ kind, copy(p, directive), copy(p, path), false };
    return one;
}

static struct doctor_path *add_template(struct doctor_plan *p, const char *directive,
                                        const char *template, bool file)
{
    return add_path(p, DOCTOR_FOLDER, directive, fixed(p, template, file));
}

static bool ends(const char *text, const char *with)
{
    size_t n = strlen(text), m = strlen(with);

    return n >= m && strcmp(text + n - m, with) == 0;
}

static void add_written(struct doctor_plan *p, const struct conf_vhost *v)
{
    bool file = ends(v->dvr.path, ".flv") || ends(v->dvr.path, ".mp4");

    if (v->hls.enabled)
        add_template(p, "hls_path", v->hls.path, false);
    if (v->hls.enabled && v->hls.keys)
        add_template(p, "hls_key_file_path", v->hls.key_file_path, false);
    if (v->dash.enabled)
        add_template(p, "dash_path", v->dash.path, false);
    if (v->dvr.enabled)
        add_template(p, "dvr_path", v->dvr.path, file)->guarded |= session_play_is_asked(v);
}

static void add_read(struct doctor_plan *p, const struct conf_vhost *v)
{
    if (v->vod.enabled)
        add_path(p, DOCTOR_READ, "vod.dir", v->vod.dir)->guarded |=
            session_play_is_asked(v) || v->rtsp.auth.enabled;
    if (v->http_static.enabled)
        add_path(p, DOCTOR_READ, "http_static.dir", v->http_static.dir);
    if (v->http_hooks.enabled && v->http_hooks.tls_verify && *v->http_hooks.tls_ca)
        add_path(p, DOCTOR_READ, "http_hooks.tls_ca", v->http_hooks.tls_ca);
    if (v->forward.enabled && v->forward.tls_verify && *v->forward.tls_ca)
        add_path(p, DOCTOR_READ, "forward.tls_ca", v->forward.tls_ca);
    for (size_t i = 0; v->rtsp.enabled && i < v->rtsp.pull.n; i++) {
        const struct conf_rtsp_pull *pull = &v->rtsp.pull.v[i];

        if (pull->enabled && pull->tls_verify && *pull->tls_ca)
            add_path(p, DOCTOR_READ, "rtsp.pull.tls_ca", pull->tls_ca);
    }
}

static void add_paths(struct doctor_plan *p, const struct conf *c)
{
    if (c->srs_log_tank == CONF_TANK_FILE)
        add_path(p, DOCTOR_FILE, "srs_log_file", c->srs_log_file);
    add_path(p, DOCTOR_FILE, "pid", c->pid);
    if (c->http_server.enabled)
        add_path(p, DOCTOR_READ, "http_server.dir", c->http_server.dir);
    for (size_t i = 0; i < c->vhost.n; i++) {
        if (!c->vhost.v[i].enabled)
            continue;
        add_written(p, &c->vhost.v[i]);
        add_read(p, &c->vhost.v[i]);
    }
    if (p->program_n && *c->ff_log_dir && strcmp(c->ff_log_dir, "/dev/null") != 0)
        add_path(p, DOCTOR_FOLDER, "ff_log_dir", c->ff_log_dir);
}

/* ---- programs */

static struct doctor_program *add_program(struct doctor_plan *p, const char *directive,
                                          const char *path, bool ffmpeg)
{
    struct doctor_program *one;

    for (size_t i = 0; i < p->program_n; i++) {
        if (strcmp(p->program[i].path, path) == 0 && p->program[i].ffmpeg == ffmpeg)
            return &p->program[i];
    }
    one = MORE(p, program);
    *one = (struct doctor_program){ .directive = copy(p, directive), .path = copy(p, path),
                                    .ffmpeg = ffmpeg };
    return one;
}

static void add_codec(struct doctor_plan *p, struct doctor_program *one, const char *codec)
{
    char **to;

    if (!*codec || strcmp(codec, "copy") == 0 || strcmp(codec, "vn") == 0 ||
        strcmp(codec, "an") == 0)
        return;
    for (size_t i = 0; i < one->codec_n; i++) {
        if (strcmp(one->codecs[i], codec) == 0)
            return;
    }
    to = one->codecs = more(one->codecs, &one->codec_n, sizeof(*one->codecs));
    to[one->codec_n - 1] = copy(p, codec);
}

static void add_engines(struct doctor_plan *p, struct doctor_program *one,
                        const struct conf_engines *engines)
{
    for (size_t i = 0; i < engines->n; i++) {
        if (!engines->v[i].enabled)
            continue; /* of an ingest: it copies */
        add_codec(p, one, engines->v[i].vcodec);
        add_codec(p, one, engines->v[i].acodec);
    }
}

static const char *ffmpeg_of(const char *path)
{
    return *path ? path : "ffmpeg";
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
        const struct conf_transcode *t = &v->transcode.v[i];

        if (t->enabled)
            add_engines(p, add_program(p, "transcode", ffmpeg_of(t->ffmpeg), true), &t->engine);
    }
    for (size_t i = 0; i < v->ingest.n; i++) {
        const struct conf_ingest *in = &v->ingest.v[i];

        if (!in->enabled)
            continue;
        if (needs_ffmpeg(c, v, in))
            add_engines(p, add_program(p, "ingest", ffmpeg_of(in->ffmpeg), true), &in->engine);
        if (in->input.type == CONF_INGEST_FILE && *in->input.url && !strstr(in->input.url, "://"))
            add_path(p, DOCTOR_READ, "ingest input", in->input.url);
    }
    for (size_t i = 0; v->exec.enabled && i < v->exec.publish.n; i++) {
        if (v->exec.publish.v[i].n > 0)
            (void)add_program(p, "exec", v->exec.publish.v[i].v[0], false);
    }
}

/* ---- workers */

static void add_workers(struct doctor_plan *p, const struct conf *c)
{
    cpu_set_t set;

    p->workers = (unsigned)cores_workers(c);
    for (unsigned i = 0; i < p->workers; i++) {
        if (!cores_of_worker(c, i, &set))
            continue;
        CPU_AND(&set, &set, co_pin_allowed());
        p->strays += CPU_COUNT(&set) == 0;
    }
}

/* ---- datagrams */

static struct doctor_datagrams *more_datagrams(struct doctor_plan *p)
{
    p->udp = true;
    return p->datagrams_n < DOCTOR_DATAGRAMS ? &p->datagrams[p->datagrams_n++] : NULL;
}

/* Each worker has a pair. */
static void add_rtsp_udp(struct doctor_plan *p, const struct conf_rtsp_server *r)
{
    struct doctor_datagrams *d = more_datagrams(p);

    if (d)
        *d = (struct doctor_datagrams){ .port = r->udp_port, .service = "rtsp",
            .n = 2 * (p->workers ? p->workers : 1),
            .remedy = "write another udp_port, or transports tcp" };
}

/* All workers share them. */
static void add_listens(struct doctor_plan *p, const struct conf *c)
{
    const struct conf_served *s = NULL;
    enum protocol_id id = 0;

    while ((s = conf_served_next(s, &id))) {
        const struct conf_endpoints *listen = conf_served_listen(s, c);

        if (!(s->flags & CONF_SERVED_UDP) || !conf_served_is_on(s, c))
            continue;
        p->sessions += conf_protocol_max(conf_protocol(id), c);
        for (size_t i = 0; i < listen->n; i++) {
            struct doctor_datagrams *d = more_datagrams(p);

            if (!d)
                return;
            *d = (struct doctor_datagrams){ .port = listen->v[i].port, .n = 1, .service = s->name,
                                            .remedy = "write another listen" };
            (void)snprintf(d->host, sizeof(d->host), "%s", listen->v[i].host);
        }
    }
}

/* Some vhost has a bridge between WebRTC and others. */
static bool wants_sound(const struct conf *c)
{
    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost_rtc *r = &c->vhost.v[i].rtc;

        if (r->enabled && (r->rtmp_to_rtc || r->rtc_to_rtmp))
            return true;
    }
    return false;
}

static void add_rtc(struct doctor_plan *p, const struct conf_rtc_server *r)
{
    p->rtc_port = r->listen.n > 0 ? r->listen.v[0].port : 0;
    for (size_t i = 0; i < r->candidate.n && p->candidates_n < DOCTOR_ADDRESSES; i++) {
        if (strcmp(r->candidate.v[i], "*") != 0 && strcmp(r->candidate.v[i], "0.0.0.0") != 0)
            (void)snprintf(p->candidates[p->candidates_n++], DOCTOR_ADDRESS, "%s",
                           r->candidate.v[i]);
    }
    while (p->own_n < DOCTOR_ADDRESSES) {
        char *own = p->own[p->own_n];

        (void)machine_address((int)p->own_n, own, DOCTOR_ADDRESS);
        if (!*own || (p->own_n > 0 && strcmp(own, p->own[p->own_n - 1]) == 0))
            break; /* behind the last there is that one again */
        p->own_n++;
    }
}

static void add_udp(struct doctor_plan *p, const struct conf *c)
{
    if (c->rtsp_server.enabled && c->rtsp_server.udp)
        add_rtsp_udp(p, &c->rtsp_server);
    add_listens(p, c);
    if (c->rtc_server.enabled) {
        add_rtc(p, &c->rtc_server);
        p->sound = wants_sound(c);
    }
}

/* ---- the whole */

struct doctor_plan *doctor_plan_new(const struct conf *c, const struct doctor_how *how)
{
    struct doctor_plan *p = must(calloc(1, sizeof(*p)));

    (void)snprintf(p->root, sizeof(p->root), "%s", text_or_empty(how->root));
    p->arena = conf_arena_new();
    p->serving = how->serving;
    p->core_dump = c->core_dump;
    p->connections = c->max_connections;
    p->reserve = c->limits.api_reserve;
    p->pid_file = copy(p, c->pid);
    p->env = job_want_env(NULL, &c->ff_env);
    if (getrlimit(RLIMIT_NOFILE, &p->files) < 0)
        p->files = (struct rlimit){ 0, 0 };
    if (getrlimit(RLIMIT_CORE, &p->core) < 0)
        p->core = (struct rlimit){ 0, 0 };
    add_workers(p, c);
    add_udp(p, c);
    add_services(p, c);
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

    for (size_t i = 0; i < p->program_n; i++)
        free(p->program[i].codecs);
    free(p->port);
    free(p->tls);
    free(p->path);
    free(p->program);
    conf_arena_free(p->arena);
    job_want_argv_free(p->env);
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

int64_t doctor_number(struct doctor_plan *p, const char *path, int64_t otherwise)
{
    char *end;
    int64_t v;

    if (!doctor_file(p, path))
        return otherwise;
    v = strtoll(p->text, &end, 10);
    return end == p->text ? otherwise : v;
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
