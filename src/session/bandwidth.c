/* SPDX-License-Identifier: MIT */
/* bandwidth.c - how much a vhost and each of its connections may send and take in. */
#include "session/bandwidth.h"

#include "base/log.h"
#include "co/net/io_tcp.h"
#include "session/clients.h"

enum { BURST = 5 }; /* seconds of its rate that a publisher may be ahead: key frames, a start */

void session_pace(struct io *io, int kbps)
{
    io_tcp_pace(io, (uint64_t)kbps * 1000 / 8);
}

/* Kbit/s times microseconds are thousandths of a bit. */
co_usec session_meter_wait(struct serve_meter *m, uint64_t bytes, int kbps, co_usec now)
{
    int64_t burst = (int64_t)kbps * CO_SECONDS(BURST);

    if (m->at) /* else it begins now */
        m->ahead += (int64_t)(bytes - m->bytes) * 8000 - (now - m->at) * kbps;
    m->bytes = bytes;
    m->at = now;
    if (m->ahead < 0)
        m->ahead = 0;
    return m->ahead > burst ? (m->ahead - burst) / kbps : 0;
}

/* ---- a vhost */

static err_t full(struct session_env *s, enum refusal kind, const struct conf_vhost *v, int64_t now,
                  int most)
{
    bool in = kind == REFUSAL_VHOST_IN;
    unsigned n = refusals_add(&s->refusals, kind, co_now());

    if (n > 0)
        log_always(LOG_WARN, "refused %u %s: vhost %s %s %lld kbps, %s of bandwidth is %d", n,
                   in ? "publishers" : "players", v->name, in ? "takes in" : "sends",
                   (long long)now, in ? "in_kbps" : "out_kbps", most);
    return err_new(ERR_TOO_MANY, "the vhost %s %lld kbps of %d", in ? "takes in" : "sends",
                   (long long)now, most);
}

/* What comes in is known a second late. Who came meanwhile will send what the others do. */
static int64_t taken_in(const struct clients_vhost *v)
{
    int64_t now = v->in_kbps.now_kbps;

    return v->publishing > 0 ? now + now / v->publishing * v->fresh : now;
}

err_t session_room_in(struct session_env *s, const struct conf_vhost *v)
{
    const struct clients_vhost *known;
    int most = v->bandwidth.in_kbps;
    int64_t now;

    if (most == 0 || !s->clients || !(known = clients_vhost_find(s->clients, v->name)))
        return NULL;
    now = taken_in(known);
    if (now >= most)
        return full(s, REFUSAL_VHOST_IN, v, now, most);
    clients_vhost_expect(s->clients, v->name);
    return NULL;
}

/* What a player of it will take. */
static int rate_of(struct session_env *s, const struct session_stream *names)
{
    struct stream_key *key = session_stream_key(names);
    struct live_source *src = live_registry_find(s->streams, key->path);

    (void)stream_key_unref(key);
    return src ? clients_stream_kbps(clients_stream(s->clients, src)) : 0;
}

/* What is sent is known some seconds late. So many may join meanwhile that what those who are here
 * will take counts, too. */
err_t session_room_out(struct session_env *s, const struct conf_vhost *v,
                       const struct session_stream *names)
{
    const struct clients_vhost *known;
    int most = v->bandwidth.out_kbps;
    int64_t now;

    if (most == 0 || !s->clients || !(known = clients_vhost_find(s->clients, v->name)))
        return NULL;
    now = known->wanted_kbps > known->out_kbps.now_kbps ? known->wanted_kbps
                                                        : known->out_kbps.now_kbps;
    if (now + rate_of(s, names) <= most)
        return NULL;
    return full(s, REFUSAL_VHOST_OUT, v, now, most);
}
