/* SPDX-License-Identifier: MIT */
/* pulls.c - all streams that a worker pulls. */
#include "pull/rtsp/pulls.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "pull/rtsp/pull.h"
#include "session/homes.h"

#include <stdlib.h>
#include <string.h>

struct rtsp_pulls {
    struct sink sink;
    struct session_env *env;
    struct co_group group;
    struct rtsp_pull *list;
    bool ending;
};

static struct rtsp_pulls *pulls_of(struct sink *sink)
{
    return container_of(sink, struct rtsp_pulls, sink);
}

static struct sink *new(const struct sink_setup *setup)
{
    struct rtsp_pulls *all = must(calloc(1, sizeof(*all)));

    all->env = setup->env;
    co_group_init(&all->group);
    return &all->sink;
}

/* ---- one that begins and ends */

static bool may(const struct rtsp_pull *p)
{
    return !((const struct rtsp_pulls *)p->arg)->ending;
}

static void gone(struct rtsp_pull *p, void *arg)
{
    struct rtsp_pulls *all = arg;
    struct rtsp_pull **at = &all->list;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
}

static struct rtsp_pull *find(const struct rtsp_pulls *all, const char *path)
{
    struct rtsp_pull *p = all->list;

    while (p && strcmp(p->session.names.key->path, path) != 0)
        p = p->next;
    return p;
}

/* Takes over the reference of the home. */
static void start_here(struct rtsp_pulls *all, const struct session_stream *names,
                       struct home *home)
{
    struct rtsp_pull *p = rtsp_pull_new(all->env, names, home);
    err_t err;

    if (all->ending || find(all, p->session.names.key->path)) {
        rtsp_pull_free(p);
        return;
    }
    p->may = may;
    p->gone = gone;
    p->arg = all;
    err = co_go(&all->group, "pull", rtsp_pull_main, p);
    if (err) {
        rtsp_pull_free(p);
        log_end("pull", &err);
        return;
    }
    p->session.co = co_newest(&all->group);
    p->next = all->list;
    all->list = p;
}

/* ---- at the stream's home */

struct errand {
    struct co_mail mail;
    struct session_env *to;
    struct session_stream names; /* a copy */
    struct home *home;           /* so that it stays where it is */
};

static void on_arrival(struct co_mail *mail)
{
    struct errand *e = container_of(mail, struct errand, mail);

    (void)e->to->on_wanted(e->to->arg, &e->names);
    homes_release(e->to->workers, e->home);
    session_stream_free(&e->names);
    free(e);
}

static void send_there(struct rtsp_pulls *all, const struct session_stream *names,
                       struct home *home)
{
    struct workers *w = all->env->workers;
    struct session_stream plain = *names;
    struct errand *e;

    plain.key = NULL; /* the copy gets one of its own: this one is of this thread */
    if (atomic_load(&w->ending)) {
        homes_release(w, home);
        return;
    }
    e = must(calloc(1, sizeof(*e)));
    *e = (struct errand){ .mail.fn = on_arrival, .to = w->v[home_worker(home)].env,
                          .names = session_stream_copy(&plain), .home = home };
    workers_post(w, home_worker(home), &e->mail);
}

/* Who is to see to it that a stream is pulled where it is at home. */
enum sees { ANYBODY_SEES, HOME_SEES };

/* Where its stream is at home; one without a home gets one at worker `likely`. With HOME_SEES it
 * is asked for at all workers: at home it begins, and `likely` tells those that did not know. */
static void start(struct rtsp_pulls *all, const struct session_stream *names, unsigned likely,
                  enum sees sees)
{
    unsigned here = all->env->worker;
    struct workers *w = all->env->workers;
    struct stream_key *key;
    struct home *home;

    if (!w) {
        start_here(all, names, NULL);
        return;
    }
    key = session_stream_key(names);
    home = homes_hold(w, key->path, likely);
    (void)stream_key_unref(key);
    if (home_worker(home) == here)
        start_here(all, names, home);
    else if (sees == ANYBODY_SEES || likely == here)
        send_there(all, names, home);
    else
        homes_release(w, home);
}

/* At its home: a replica may not know yet. */
static bool is_published(const struct rtsp_pulls *all, const struct session_stream *names)
{
    struct live_source *src = live_registry_find(all->env->streams, names->key->path);

    return src && live_source_publishing(src);
}

/* Players may ask for any name that fits, and each pull is a connection, too: on demand there are
 * at most a quarter of max_connections. Those that run all the time are the operator's. */
static bool is_full(const struct rtsp_pulls *all, const char *path)
{
    unsigned most = workers_share(all->env, all->env->conf->max_connections / 4), n = 0;

    for (const struct rtsp_pull *p = all->list; p; p = p->next)
        n += p->want.on_demand || !p->want.url; /* one that just began has none yet */
    if (n >= most)
        log_warn("pull %s is refused: %u streams are pulled on demand, at most a quarter of "
                 "max_connections", path, n);
    return n >= most;
}

bool rtsp_pulls_wanted(struct sink *sink, const struct session_stream *names)
{
    struct rtsp_pulls *all = pulls_of(sink);
    const struct conf_vhost *v = conf_vhost_find(all->env->conf, names->vhost);
    struct rtsp_pull *p = find(all, names->key->path);
    struct rtsp_pull_spec want;
    bool full;

    if (p)
        p->alone_since = 0; /* who waits for its list is no player yet */
    if (all->ending || p || !rtsp_pull_spec_of(&want, v, names->app, names->name))
        return p && !all->ending;
    full = want.on_demand && is_full(all, names->key->path);
    if (!full && (!want.on_demand || !is_published(all, names)))
        start(all, names, all->env->worker, ANYBODY_SEES);
    rtsp_pull_spec_free(&want);
    return !full;
}

/* ---- those of all the time: when the server starts, worker 0 spreads them */

static void start_steady(struct rtsp_pulls *all, const struct conf_vhost *v,
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
    start(all, &names, text_hash(key->path) % workers_count(all->env), sees);
    (void)stream_key_unref(key);
}

static void start_all(struct rtsp_pulls *all, enum sees sees)
{
    struct conf *conf = conf_ref(all->env->conf);

    for (size_t i = 0; i < conf->vhost.n; i++) {
        const struct conf_vhost *v = &conf->vhost.v[i];

        for (size_t j = 0; v->enabled && v->rtsp.enabled && j < v->rtsp.pull.n; j++)
            start_steady(all, v, &v->rtsp.pull.v[j], sees);
    }
    (void)conf_unref(conf);
}

static void begin_all(struct sink *sink)
{
    struct rtsp_pulls *all = pulls_of(sink);

    if (all->env->worker == 0) /* once for the process */
        start_all(all, ANYBODY_SEES);
}

static bool is_same(const struct rtsp_pulls *all, const struct rtsp_pull *p)
{
    const struct session_stream *n = &p->session.names;
    struct rtsp_pull_spec want;
    const struct conf_vhost *vhost = conf_vhost_find(all->env->conf, n->vhost);
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
    struct rtsp_pulls *all = pulls_of(sink);

    for (struct rtsp_pull *p = all->list; p; p = p->next) {
        if (!is_same(all, p))
            co_stop(p->session.co, NULL);
    }
    if (!all->ending)
        start_all(all, HOME_SEES); /* the others may not have this configuration yet */
}

/* ---- for those who look */

void rtsp_pulls_each(const struct sink *sink,
                     void (*each)(void *arg, const struct rtsp_pull_info *one), void *arg)
{
    for (const struct rtsp_pull *p = container_of(sink, struct rtsp_pulls, sink)->list; p;
         p = p->next)
        each(arg, &(struct rtsp_pull_info){
            .id = p->id, .key = p->session.names.key, .url = text_or_empty(p->shown),
            .on_demand = p->want.on_demand, .again_at = p->again_at,
            .udp = p->way < p->want.ways && p->want.way[p->way] == RTSP_PULL_UDP,
            .bytes = p->publishing && p->session.io ? p->session.io->bytes_in : 0,
            .condition = &p->condition });
}

/* ---- the end */

static void interrupt(struct sink *sink)
{
    struct rtsp_pulls *all = pulls_of(sink);

    all->ending = true;
    co_group_interrupt(&all->group);
}

void rtsp_pulls_end(struct sink *sink)
{
    struct rtsp_pulls *all = pulls_of(sink);
    err_t err;

    all->ending = true;
    err = co_group_stop(&all->group);
    err_free(&err); /* each was logged where it ended */
}

static void free_all(struct sink *sink)
{
    free(pulls_of(sink));
}

static unsigned count(const struct sink *sink)
{
    return (unsigned)container_of(sink, struct rtsp_pulls, sink)->group.count;
}

const struct sink_ops rtsp_pulls_sink = {
    .name = "pull", .new = new, .start = begin_all,
    .reload = reload, .drain = interrupt, .interrupt = interrupt, .stop = rtsp_pulls_end,
    .free = free_all, .count = count,
};
