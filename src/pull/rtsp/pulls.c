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

/* Takes over the reference of the home. */
static void start_here(struct pulls *all, const struct session_stream *names,
                       struct stream_owner *owner)
{
    struct rtsp_pull *p = must(calloc(1, sizeof(*p)));

    pull_init(&p->pull, all, session_stream_key(names), owner);
    if (all->sink.ending || find(all, p->pull.session.names.key->path) ||
        !pull_start(&p->pull, "pull", rtsp_pull_main))
        rtsp_pull_free(p);
}

/* ---- at the stream's home */

struct errand {
    struct co_mail mail;
    struct session_env *to;
    struct session_stream names; /* a copy */
    struct stream_owner *owner;           /* so that it stays where it is */
};

static void on_arrival(struct co_mail *mail)
{
    struct errand *e = container_of(mail, struct errand, mail);

    (void)e->to->on_wanted(e->to->arg, &e->names);
    stream_owners_release(e->to->workers, e->owner);
    session_stream_free(&e->names);
    free(e);
}

static void send_there(struct pulls *all, const struct session_stream *names,
                       struct stream_owner *owner)
{
    struct workers *w = all->sink.env->workers;
    struct session_stream plain = *names;
    struct errand *e;

    plain.key = NULL; /* the copy gets one of its own: this one is of this thread */
    if (atomic_load(&w->ending)) {
        stream_owners_release(w, owner);
        return;
    }
    e = must(calloc(1, sizeof(*e)));
    *e = (struct errand){ .mail.fn = on_arrival, .to = w->v[stream_owner_worker(owner)].env,
                          .names = session_stream_copy(&plain), .owner = owner };
    workers_post(w, stream_owner_worker(owner), &e->mail);
}

/* Who is to see to it that a stream is pulled where it is at home. */
enum sees { ANYBODY_SEES, HOME_SEES };

/* Where its stream is at home; one without a home gets one at worker `likely`. With HOME_SEES it
 * is asked for at all workers: at home it begins, and `likely` tells those that did not know. */
static void start(struct pulls *all, const struct session_stream *names, unsigned likely,
                  enum sees sees)
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
    else if (sees == ANYBODY_SEES || likely == here)
        send_there(all, names, owner);
    else
        stream_owners_release(w, owner);
}

/* At its home: a replica may not know yet. */
static bool is_published(const struct pulls *all, const struct session_stream *names)
{
    struct live_source *src = live_registry_find(all->sink.env->streams, names->key->path);

    return src && live_source_publishing(src);
}

/* Players may ask for any name that fits, and each pull is a connection, too: on demand there are
 * at most a quarter of max_connections. Those that run all the time are the operator's. */
static bool is_full(const struct pulls *all, const char *path)
{
    unsigned most = workers_share(all->sink.env, all->sink.env->conf->max_connections / 4), n = 0;

    for (struct pull *p = all->list; p; p = p->next) /* one that just began has no url yet */
        n += pull_of(p)->want.on_demand || !pull_of(p)->want.url;
    if (n >= most)
        log_warn("pull %s is refused: %u streams are pulled on demand, at most a quarter of "
                 "max_connections", path, n);
    return n >= most;
}

bool rtsp_pulls_wanted(struct sink *sink, const struct session_stream *names)
{
    struct pulls *all = pulls_of(sink);
    const struct conf_vhost *v = conf_vhost_find(all->sink.env->conf, names->vhost);
    struct rtsp_pull *p = find(all, names->key->path);
    struct rtsp_pull_spec want;
    bool full;

    if (p)
        p->missing_since = 0; /* who waits for its list is no player yet */
    if (all->sink.ending || p || !rtsp_pull_spec_of(&want, v, names->app, names->name))
        return p && !all->sink.ending;
    full = want.on_demand && is_full(all, names->key->path);
    if (!full && (!want.on_demand || !is_published(all, names)))
        start(all, names, all->sink.env->worker, ANYBODY_SEES);
    rtsp_pull_spec_free(&want);
    return !full;
}

/* ---- those of all the time: when the server starts, worker 0 spreads them */

static void start_steady(struct pulls *all, const struct conf_vhost *v,
                         const struct conf_rtsp_pull *one, enum sees sees)
{
    const char *app, *name;
    size_t app_size;
    struct session_stream names = { .vhost = v->name, .param = "", .tc_url = "", .page_url = "",
                                    .ip = "" };
    struct stream_key *key;
    char *copy;

    if (!rtsp_pull_is_steady(one, &app, &app_size, &name))
        return;
    copy = must_ndup(app, app_size);
    key = stream_key_new(v->name, copy, name);
    session_stream_set_key(&names, key);
    free(copy);
    start(all, &names, text_hash(key->path) % workers_count(all->sink.env), sees);
    (void)stream_key_unref(key);
}

static void start_all(struct pulls *all, enum sees sees)
{
    struct conf *conf = conf_ref(all->sink.env->conf);

    for (size_t i = 0; i < conf->vhost.n; i++) {
        const struct conf_vhost *v = &conf->vhost.v[i];

        for (size_t j = 0; v->enabled && v->rtsp.enabled && j < v->rtsp.pull.n; j++)
            start_steady(all, v, &v->rtsp.pull.v[j], sees);
    }
    (void)conf_unref(conf);
}

static void begin_all(struct sink *sink)
{
    struct pulls *all = pulls_of(sink);

    if (all->sink.env->worker == 0) /* once for the process */
        start_all(all, ANYBODY_SEES);
}

static bool is_same(const struct pulls *all, const struct rtsp_pull *p)
{
    const struct session_stream *n = &p->pull.session.names;
    struct rtsp_pull_spec want;
    const struct conf_vhost *vhost = conf_vhost_find(all->sink.env->conf, n->vhost);
    bool same = rtsp_pull_spec_of(&want, vhost, n->app, n->name);

    if (!same)
        return false;
    same = p->want.url && rtsp_pull_spec_same(&want, &p->want);
    rtsp_pull_spec_free(&want);
    return same;
}

/* Those that are to do something else begin anew, or end. */
static void reload(struct sink *sink)
{
    struct pulls *all = pulls_of(sink);

    for (struct pull *p = all->list; p; p = p->next) {
        if (!is_same(all, pull_of(p)))
            co_stop(p->session.co, NULL);
    }
    if (!all->sink.ending)
        start_all(all, HOME_SEES); /* the others may not have this configuration yet */
}

/* ---- for those who look */

void rtsp_pulls_each(const struct sink *sink,
                     void (*each)(void *arg, const struct rtsp_pull_info *one), void *arg)
{
    for (struct pull *at = container_of(sink, struct pulls, sink)->list; at; at = at->next) {
        const struct rtsp_pull *p = pull_of(at);

        each(arg, &(struct rtsp_pull_info){
            .id = at->id, .key = at->session.names.key, .url = text_or_empty(p->shown),
            .on_demand = p->want.on_demand, .again_at = p->again_at,
            .udp = p->way < p->want.ways && p->want.way[p->way] == RTSP_PULL_UDP,
            .bytes = p->publishing && at->session.io ? at->session.io->bytes_in : 0,
            .condition = &at->condition });
    }
}

const struct sink_ops rtsp_pulls_sink = {
    .name = "pull", .size = sizeof(struct pulls), .start = begin_all, .reload = reload,
    .drain = sink_interrupt, .interrupt = sink_interrupt,
};
