/* SPDX-License-Identifier: MIT */
/* bandwidth.c - bandwidth limits of vhosts and of their connections. */
#include "session/bandwidth.h"

#include "base/log.h"
#include "co/net/io_tcp.h"
#include "session/clients.h"
#include "session/vhost_loads.h"
#include "session/workers.h"

enum { BURST = 5 }; /* seconds of its rate that a publisher may send at once, such as key frames */

void session_pace(struct io *io, int kbps)
{
    io_tcp_pace(io, (uint64_t)kbps * 1000 / 8);
}

/* Kbit/s times microseconds gives thousandths of a bit. */
co_usec session_meter_wait(struct session_meter *m, uint64_t bytes, int kbps, co_usec now)
{
    int64_t burst = (int64_t)kbps * CO_SECONDS(BURST);

    if (m->at) /* not the first call */
        m->ahead += (int64_t)(bytes - m->bytes) * 8000 - (now - m->at) * kbps;
    m->bytes = bytes;
    m->at = now;
    if (m->ahead < 0)
        m->ahead = 0;
    return m->ahead > burst ? (m->ahead - burst) / kbps : 0;
}

/* ---- a vhost */

static err_t full(struct session_env *s, enum reject_reason kind, const struct conf_vhost *v,
                  int64_t now, int most)
{
    bool in = kind == REJECT_VHOST_IN;
    unsigned n = reject_counters_add(&s->reject_counters, kind, co_now());

    if (n > 0)
        log_always(LOG_WARN, "refused %u %s: vhost %s %s %lld kbps, %s of bandwidth is %d", n,
                   in ? "publishers" : "players", v->name, in ? "receives" : "sends",
                   (long long)now, in ? "in_kbps" : "out_kbps", most);
    return err_new(ERR_TOO_MANY, "the vhost %s %lld kbps of %d", in ? "receives" : "sends",
                   (long long)now, most);
}

static struct vhost_load own_load(const struct session_env *s, const char *vhost)
{
    const struct clients_vhost *v = clients_vhost_find(s->clients, vhost);

    if (!v)
        return (struct vhost_load){ 0 }; /* it had no clients yet */
    return (struct vhost_load){ v->in_kbps.now_kbps, v->out_kbps.now_kbps, v->wanted_kbps,
                                v->publishing, v->fresh };
}

/* Returns the load of all workers as last published, and publishes this worker's. */
static struct vhost_load load_of(const struct session_env *s, const char *vhost)
{
    struct vhost_load own = own_load(s, vhost);

    return s->workers ? vhost_loads_publish(s->workers->loads, vhost, s->worker, &own) : own;
}

static bool is_bound(const struct conf_vhost *v)
{
    return v->bandwidth.in_kbps > 0 || v->bandwidth.out_kbps > 0;
}

bool session_bandwidth_is_limited(const struct conf *c)
{
    for (size_t i = 0; i < c->vhost.n; i++) {
        if (is_bound(&c->vhost.v[i]))
            return true;
    }
    return false;
}

void session_bandwidth_report(const struct session_env *s)
{
    for (size_t i = 0; s->workers && i < s->conf->vhost.n; i++) {
        if (is_bound(&s->conf->vhost.v[i]))
            (void)load_of(s, s->conf->vhost.v[i].name);
    }
}

/* The input rate is known a second late. New publishers count with the mean of the others. */
static int64_t taken_in(const struct vhost_load *l)
{
    int64_t now = l->in_kbps;

    return l->publishing > 0 ? now + now / l->publishing * l->fresh : now;
}

err_t session_bandwidth_in(struct session_env *s, const struct conf_vhost *v)
{
    int most = v->bandwidth.in_kbps;
    struct vhost_load known;
    int64_t now;

    if (most == 0 || !s->clients)
        return NULL;
    known = load_of(s, v->name);
    now = taken_in(&known);
    if (now >= most)
        return full(s, REJECT_VHOST_IN, v, now, most);
    clients_vhost_expect(s->clients, v->name);
    if (s->workers)
        (void)load_of(s, v->name);
    return NULL;
}

/* Returns the expected rate of a player. With several workers the stream may be on another one, or
 * too new here: then it counts like the others. */
static int64_t rate_of(struct session_env *s, const struct session_stream *names,
                       const struct vhost_load *known)
{
    struct stream_key *key = session_stream_key(names);
    struct live_source *src = live_registry_find(s->streams, key->path);
    int64_t kbps = src ? clients_stream_kbps(clients_stream(s->clients, src)) : 0;

    (void)stream_key_unref(key);
    if (kbps == 0 && s->workers && known->publishing > 0)
        kbps = known->in_kbps / known->publishing;
    return kbps;
}

/* The output rate is known some seconds late, and many players may join meanwhile, so the expected
 * rates of existing players count, too. */
err_t session_bandwidth_out(struct session_env *s, const struct conf_vhost *v,
                       const struct session_stream *names)
{
    int most = v->bandwidth.out_kbps;
    struct vhost_load known;
    int64_t now;

    if (most == 0 || !s->clients)
        return NULL;
    known = load_of(s, v->name);
    now = known.wanted_kbps > known.out_kbps ? known.wanted_kbps : known.out_kbps;
    if (now + rate_of(s, names, &known) <= most)
        return NULL;
    return full(s, REJECT_VHOST_OUT, v, now, most);
}
