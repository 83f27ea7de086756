/* SPDX-License-Identifier: MIT */
/* pulls.c - all streams that a worker pulls. */
#include "pull/rtsp/pulls.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "pull/rtsp/pull.h"
#include "session/stream_owners.h"

#include <stdlib.h>
#include <string.h>

static struct pulls *pulls_of(struct sink *sink)
{
    return container_of(sink, struct pulls, sink);
}

static struct rtsp_pull *pull_of(struct pull *p)
{
    return container_of(p, struct rtsp_pull, pull);
}

static struct rtsp_pull *find(const struct pulls *all, const char *path)
{
    struct pull *p = all->list;

    while (p && strcmp(p->session.names.key->path, path) != 0)
        p = p->next;
    return p ? pull_of(p) : NULL;
}

/* Takes ownership of the owner reference. */
static void start_here(struct pulls *all, const struct session_stream *names,
                       struct stream_owner *owner)
{
    struct rtsp_pull *p = must(calloc(1, sizeof(*p)));

    pull_init(&p->pull, all, session_stream_key(names), owner);
    if (all->sink.ending || find(all, p->pull.session.names.key->path) ||
        !pull_start(&p->pull, "pull", rtsp_pull_main))
        rtsp_pull_free(p);
}

/* ---- moving a request to the owner worker */

struct forwarded_request {
    struct co_mail mail;
    struct session_env *to;
    struct session_stream names; /* a copy */
    struct stream_owner *owner;  /* held so that the owner does not change */
};

static void on_forwarded(struct co_mail *mail)
{
    struct forwarded_request *e = container_of(mail, struct forwarded_request, mail);

    (void)e->to->on_wanted(e->to->arg, &e->names);
    stream_owners_release(e->to->workers, e->owner);
    session_stream_free(&e->names);
    free(e);
}

static void forward(struct pulls *all, const struct session_stream *names,
                    struct stream_owner *owner)
{
    struct workers *w = all->sink.env->workers;
    struct session_stream plain = *names;
    struct forwarded_request *e;

    plain.key = NULL; /* the copy gets its own key: keys belong to one thread */
    if (atomic_load(&w->ending)) {
        stream_owners_release(w, owner);
        return;
    }
    e = must(calloc(1, sizeof(*e)));
    *e = (struct forwarded_request){ .mail.fn = on_forwarded,
                                     .to = w->v[stream_owner_worker(owner)].env,
                                     .names = session_stream_copy(&plain),
                                     .owner = owner };
    workers_post(w, stream_owner_worker(owner), &e->mail);
}

/* How a worker handles a request for a stream that another worker owns. */
enum forwarding { FORWARD_ALWAYS, FORWARD_IF_LIKELY };

/* Starts the pull on the owner worker of the stream; without an owner, worker `likely` becomes it.
 * With FORWARD_IF_LIKELY all workers call this: the owner starts the pull, and only worker `likely`
 * forwards the request to it. */
static void start(struct pulls *all, const struct session_stream *names, unsigned likely,
                  enum forwarding forwarding)
{
    unsigned here = all->sink.env->worker;
    struct workers *w = all->sink.env->workers;
    struct stream_key *key;
    struct stream_owner *owner;

    if (!w) {
        start_here(all, names, NULL);
        return;
    }
    key = session_stream_key(names);
    owner = stream_owners_hold(w, key->path, likely);
    (void)stream_key_unref(key);
    if (stream_owner_worker(owner) == here)
        start_here(all, names, owner);
    else if (forwarding == FORWARD_ALWAYS || likely == here)
        forward(all, names, owner);
    else
        stream_owners_release(w, owner);
}

/* Call on the owner worker: a replica may not know it yet. */
static bool is_published(const struct pulls *all, const struct session_stream *names)
{
    struct live_source *src = live_registry_find(all->sink.env->streams, names->key->path);

    return src && live_source_publishing(src);
}

/* Limits pulls on demand to a quarter of max_connections, as players can request any matching name
 * and each pull uses a connection. Permanent pulls are the operator's choice and not limited. */
static bool is_full(const struct pulls *all, const char *path)
{
    unsigned limit = workers_share(all->sink.env, all->sink.env->conf->max_connections / 4), n = 0;

    for (struct pull *p = all->list; p; p = p->next) /* a pull that has just started has no URL
                                                      * yet */
        n += pull_of(p)->spec.on_demand || !pull_of(p)->spec.url;
    if (n >= limit)
        log_warn("pull %s is refused: %u streams are pulled on demand, at most a quarter of "
                 "max_connections", path, n);
    return n >= limit;
}

bool rtsp_pulls_request(struct sink *sink, const struct session_stream *names)
{
    struct pulls *all = pulls_of(sink);
    const struct conf_vhost *v = conf_vhost_find(all->sink.env->conf, names->vhost);
    struct rtsp_pull *p = find(all, names->key->path);
    struct rtsp_pull_spec spec;
    bool full;

    if (p)
        p->missing_since = 0; /* a client that waits for its playlist is not a player yet */
    if (all->sink.ending || p || !rtsp_pull_spec_of(&spec, v, names->app, names->name))
        return p && !all->sink.ending;
    full = spec.on_demand && is_full(all, names->key->path);
    if (!full && (!spec.on_demand || !is_published(all, names)))
        start(all, names, all->sink.env->worker, FORWARD_ALWAYS);
    rtsp_pull_spec_free(&spec);
    return !full;
}

/* ---- permanent pulls: worker 0 distributes them when the server starts */

static void start_permanent(struct pulls *all, const struct conf_vhost *v,
                            const struct conf_rtsp_pull *one, enum forwarding forwarding)
{
    const char *app, *name;
    size_t app_size;
    struct session_stream names = { .vhost = v->name, .param = "", .tc_url = "", .page_url = "",
                                    .ip = "" };
    struct stream_key *key;
    char *copy;

    if (!rtsp_pull_is_permanent(one, &app, &app_size, &name))
        return;
    copy = must_ndup(app, app_size);
    key = stream_key_new(v->name, copy, name);
    session_stream_set_key(&names, key);
    free(copy);
    start(all, &names, text_hash(key->path) % workers_count(all->sink.env), forwarding);
    (void)stream_key_unref(key);
}

static void start_all(struct pulls *all, enum forwarding forwarding)
{
    struct conf *conf = conf_ref(all->sink.env->conf);

    for (size_t i = 0; i < conf->vhost.n; i++) {
        const struct conf_vhost *v = &conf->vhost.v[i];

        for (size_t j = 0; v->enabled && v->rtsp.enabled && j < v->rtsp.pull.n; j++)
            start_permanent(all, v, &v->rtsp.pull.v[j], forwarding);
    }
    (void)conf_unref(conf);
}

static void begin_all(struct sink *sink)
{
    struct pulls *all = pulls_of(sink);

    if (all->sink.env->worker == 0) /* once per process */
        start_all(all, FORWARD_ALWAYS);
}

static bool is_same(const struct pulls *all, const struct rtsp_pull *p)
{
    const struct session_stream *n = &p->pull.session.names;
    struct rtsp_pull_spec spec;
    const struct conf_vhost *vhost = conf_vhost_find(all->sink.env->conf, n->vhost);
    bool same = rtsp_pull_spec_of(&spec, vhost, n->app, n->name);

    if (!same)
        return false;
    same = p->spec.url && rtsp_pull_spec_same(&spec, &p->spec);
    rtsp_pull_spec_free(&spec);
    return same;
}

/* Restarts pulls whose spec has changed, and ends removed ones. */
static void reload(struct sink *sink)
{
    struct pulls *all = pulls_of(sink);

    for (struct pull *p = all->list; p; p = p->next) {
        if (!is_same(all, pull_of(p)))
            co_stop(p->session.co, NULL);
    }
    if (!all->sink.ending)
        start_all(all, FORWARD_IF_LIKELY); /* other workers may not have this configuration yet */
}

/* ---- lists of pulls */

void rtsp_pulls_each(const struct sink *sink,
                     void (*each)(void *arg, const struct rtsp_pull_info *one), void *arg)
{
    for (struct pull *at = container_of(sink, struct pulls, sink)->list; at; at = at->next) {
        const struct rtsp_pull *p = pull_of(at);

        each(arg, &(struct rtsp_pull_info){
                      .id = at->id,
                      .key = at->session.names.key,
                      .url = text_or_empty(p->public_url),
                      .on_demand = p->spec.on_demand,
                      .retry_at = p->retry_at,
                      .udp = p->transport < p->spec.transports &&
                             p->spec.transport[p->transport] == RTSP_PULL_UDP,
                      .bytes = p->publishing && at->session.io ? at->session.io->bytes_in : 0,
                      .condition = &at->condition });
    }
}

const struct sink_ops rtsp_pulls_sink = {
    .name = "pull", .size = sizeof(struct pulls), .start = begin_all, .reload = reload,
    .drain = sink_interrupt, .interrupt = sink_interrupt,
};
