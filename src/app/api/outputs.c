/* SPDX-License-Identifier: MIT */
/* outputs.c - forwards and programs of streams in the API, and the URLs of streams for the
 * console. */
#include "app/addresses.h"
#include "app/api/api.h"
#include "co/co.h"
#include "conf/protocol.h"
#include "pull/ingest/ingests.h"
#include "sink/forward/forward.h"
#include "sink/program/children.h"

#include <stdio.h>
#include <string.h>

static int64_t ms_since(co_usec t)
{
    return us_to_ms(co_clock() - t);
}

/* ---- forwards */

static void put_forward(void *arg, const struct forward_info *f)
{
    struct api_call *c = arg;
    struct jput *j = &c->j;

    jput_open(j, NULL, '{');
    jput_text(j, "stream", f->stream);
    jput_text(j, "url", f->url);
    jput_text(j, "state", f->publishing ? "publishing" : "connecting");
    if (f->publishing) {
        jput_int(j, "age_ms", ms_since(f->began_at));
        jput_uint(j, "send_bytes", f->bytes);
        jput_uint(j, "dropped_packets", f->dropped);
    }
    jput_uint(j, "failures", f->failures);
    api_put_secret(c, "error", f->error);
    jput_close(j, '}');
}

static void put_forwards(struct session_env *env, void *arg)
{
    struct api_call *c = arg;

    forwards_each(c->of->sink(env, &forward_sink), put_forward, c);
}

/* Writes the rows of all workers. */
static err_t list(struct api_call *c, const char *key, workers_fn *put)
{
    err_t err = NULL;

    jput_open(&c->j, key, '[');
    for (unsigned w = 0; c->of->sink && w < workers_count(c->of->env) && !err; w++) {
        workers_call(c->of->env, w, put, c);
        if (workers_count(c->of->env) > 1)
            err = api_yield_if_due(c);
    }
    jput_close(&c->j, ']');
    return err;
}

static err_t forwards(struct api_call *c)
{
    return list(c, "forwards", put_forwards);
}

/* ---- programs */

static void put_child(struct api_call *c, const struct job_info *i)
{
    struct jput *j = &c->j;

    jput_open(j, NULL, '{');
    jput_text(j, "kind", job_kind_name(i->kind));
    jput_text(j, "name", i->name);
    jput_text(j, "vhost", i->vhost);
    jput_text(j, "stream", i->stream);
    jput_text(j, "state", job_state_name(i->state));
    jput_int(j, "state_ms", ms_since(i->since));
    if (i->state == JOB_WAITS)
        jput_int(j, "next_ms", -ms_since(i->next));
    jput_int(j, "pid", i->pid);
    jput_uint(j, "starts", i->starts);
    jput_text(j, "ended", i->ended);
    api_put_secret(c, "line", i->line);
    api_put_secret(c, "counter", i->counter);
    api_put_secret(c, "command", i->command);
    jput_close(j, '}');
}

static void put_children(struct session_env *env, void *arg)
{
    struct api_call *c = arg;
    const struct sink *all = c->of->sink(env, &program_sink);
    const struct sink *files = c->of->sink(env, &ingests_sink);
    const struct ingest_run *file = NULL;
    const struct job *job = NULL;
    struct job_info info;

    while ((job = children_next(all, job))) {
        job_poll(job, &info);
        put_child(c, &info);
    }
    while ((file = ingests_next(files, file))) {
        ingests_info(file, &info);
        put_child(c, &info);
    }
}

static err_t children(struct api_call *c)
{
    return list(c, "children", put_children);
}

/* ---- for the console */

void api_put_ports(struct jput *j, const struct conf *c, const struct conf_vhost *v)
{
    const struct conf_served *s = NULL;
    enum protocol_id id = 0;

    while ((s = conf_served_next(s, &id))) {
        bool on = !v || conf_protocol_in(conf_protocol(id), v);
        /* the console uses its own port for it */
        bool known = v && id == PROTOCOL_HTTP && !(s->flags & CONF_SERVED_RESERVE);

        if (s->console && !known)
            jput_int(j, s->console, on ? conf_served_port(s, c) : 0);
    }
}

/* Returns true if the protocol is enabled in the server and in the vhost. */
static bool is_served(const struct conf_protocol *p, const struct conf *c,
                      const struct conf_vhost *v)
{
    return conf_served_is_on(p->served, c) && conf_protocol_in(p, v);
}

/* Writes the URL path of a file written by a vhost; null if it is not served. */
static void put_file(struct api_call *c, const char *key, bool on, const char *path,
                     const char *file)
{
    char name[1024];

    on = on && addresses_file(c->x->conf, path, file, name, sizeof(name));
    jput_text(&c->j, key, on ? name : NULL);
}

/* Writes how the streams of a vhost are mounted; null if the format is off or not served. */
static void put_mounts(struct api_call *c, const struct conf_vhost *v)
{
    struct jput *j = &c->j;
    char mount[512];

    jput_open(j, NULL, '{');
    jput_text(j, "name", v->name);
    jput_text(j, "flv", v->http_remux.enabled ? v->http_remux.mount : NULL);
    jput_text(j, "fmp4", addresses_fmp4(&v->http_remux, mount, sizeof(mount)));
    for (int i = 0; i < PROTOCOLS; i++) {
        const struct conf_protocol *p = conf_protocol((enum protocol_id)i);

        if (p->vhost != CONF_NOWHERE)
            jput_bool(j, p->name, is_served(p, c->x->conf, v));
    }
    jput_bool(j, "rtmp_to_rtc", v->rtc.rtmp_to_rtc);
    jput_bool(j, "rtc_to_rtmp", v->rtc.rtc_to_rtmp);
    jput_text(j, "vod", v->vod.enabled ? v->vod.app : NULL);
    put_file(c, "hls", v->hls.enabled, v->hls.path, v->hls.m3u8_file);
    put_file(c, "dash", v->dash.enabled, v->dash.path, v->dash.mpd_file);
    jput_close(j, '}');
}

static err_t console(struct api_call *c)
{
    const struct conf *conf = c->x->conf;
    struct jput *j = &c->j;
    char address[64];

    jput_open(j, "data", '{');
    jput_text(j, "address", machine_address(conf->stats.network, address, sizeof(address)));
    api_put_ports(j, conf, NULL);
    jput_open(j, "vhosts", '[');
    for (size_t i = 0; i < conf->vhost.n; i++)
        put_mounts(c, &conf->vhost.v[i]);
    jput_close(j, ']');
    jput_close(j, '}');
    return NULL;
}

const struct api_row api_rows_outputs[] = {
    { "forwards", "streams that are forwarded to other servers", API_READ, forwards, NULL },
    { "children", "programs of ingest, transcode and exec; files that are ingested", API_READ,
      children, NULL },
    { "console", "URLs of streams, for the console", API_READ, console, NULL },
    { .path = NULL },
};
