/* SPDX-License-Identifier: MIT */
/* multicast.c - multicast groups and their senders. */
#include "serve/rtsp/multicast.h"

#include "base/ip.h"
#include "base/list.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "serve/rtsp/udp.h"
#include "session/player.h"
#include "session/workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACKS = RTP_WIRE_VIDEO | RTP_WIRE_AUDIO,
    RESERVED = 256, /* groups used by routers, 224.0.0.0/24: RFC 5771 section 4 */
};

struct rtsp_multicast {
    struct rtsp_multicast *next, **prev;
    struct live_source *src;
    uint32_t param[LIVE_PARAMS];
    struct udp_addr group, local;
    int port, ttl;
    struct rtsp_udp_peer *peer;
    struct live_sender sender;
    struct co_group *helpers;
    struct co *co;    /* the sending coroutine; NULL: not started yet, or failed */
    unsigned users;   /* clients that have it set up, and how many of them play */
    unsigned playing;
    bool opened;      /* the sender's cursor is positioned */
    bool failed;
};

static _Thread_local struct rtsp_multicast *senders; /* all senders of this worker */

/* ---- groups */

/* The same in every run: receivers and routers remember the groups. */
static uint32_t hash_of(const char *stream)
{
    uint64_t hash = text_hash_more(TEXT_HASH_BEGIN, stream, strlen(stream));

    return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t v4_of(const uint8_t ip[16])
{
    return (uint32_t)ip[12] << 24 | (uint32_t)ip[13] << 16 | (uint32_t)ip[14] << 8 | ip[15];
}

bool rtsp_multicast_group(struct udp_addr *out, const struct conf_network *range,
                          const char *stream, unsigned worker, unsigned workers, unsigned attempt)
{
    uint32_t all = UINT32_C(1) << (128 - range->bits), first = v4_of(range->addr) & ~(all - 1);
    uint32_t own = all > worker ? (all - worker + workers - 1) / workers : 0, at;

    if (attempt >= own)
        return false;
    at = first + worker + workers * ((hash_of(stream) % own + attempt) % own);
    *out = (struct udp_addr){ .ip = { [10] = 0xff, [11] = 0xff,
        [12] = (uint8_t)(at >> 24), [13] = (uint8_t)(at >> 16), [14] = (uint8_t)(at >> 8),
        [15] = (uint8_t)at } };
    return true;
}

static bool is_taken(const struct udp_addr *group)
{
    const struct rtsp_multicast *m = senders;

    while (m && !udp_addr_same(&m->group, group))
        m = m->next;
    return m || v4_of(group->ip) >> 8 == 0xe00000;
}

static bool find_group(const struct session_env *env, const char *stream, struct udp_addr *out)
{
    const struct conf_network *range = env->conf->rtsp_server.multicast.range.v;
    unsigned workers = workers_count(env), attempt = 0;

    while (attempt <= RTSP_MULTICAST_MAX + RESERVED &&
           rtsp_multicast_group(out, range, stream, env->worker, workers, attempt)) {
        if (!is_taken(out))
            return true;
        attempt++;
    }
    return false;
}

/* ---- sending */

/* RTP sequence numbers continue after a pause, see play.c. */
static void open_wire(struct rtsp_multicast *m)
{
    (void)live_consumer_reopen(&m->sender.consumer, m->src, &rtp_wire, m->param);
    m->opened = true;
}

static void destroy(struct rtsp_multicast *m)
{
    live_consumer_close(&m->sender.consumer);
    rtsp_udp_peer_free(m->peer);
    (void)live_source_unref(m->src);
    free(m);
}

static err_t send_main(void *multicast)
{
    struct rtsp_multicast *m = multicast;
    err_t err = NULL;

    while (!err) {
        if (m->playing == 0) {
            m->opened = false;
            if (co_park(CO_FOREVER) == CO_STOPPED)
                err = co_stop_why();
            continue;
        }
        if (!m->opened)
            open_wire(m);
        m->sender.done = m->opened = false;
        err = live_sender_run(&m->sender);
    }
    m->co = NULL;
    m->failed = true;
    if (err_class(err) == ERR_CLASS_STOP)
        err_free(&err);
    else
        log_end("multicast ended", &err);
    if (m->users == 0)
        destroy(m);
    return NULL;
}

err_t rtsp_multicast_play(struct rtsp_multicast *m, struct rtp_wire_start start[RTP_WIRE_N])
{
    bool starts = !m->co;
    err_t err = NULL;

    memset(start, 0, RTP_WIRE_N * sizeof(*start));
    if (m->failed)
        return err_new(ERR_IO_CLOSED, "the multicast sender has failed");
    if (starts) {
        open_wire(m);
        rtp_wire_start(&m->sender.consumer, TRACKS, start);
        err = co_go(m->helpers, "multicast", send_main, m);
        if (!err)
            m->co = co_newest(m->helpers);
    }
    if (err)
        return err;
    if (m->playing++ == 0 && !starts)
        co_unpark(m->co);
    return NULL;
}

void rtsp_multicast_pause(struct rtsp_multicast *m)
{
    if (--m->playing > 0 || !m->co)
        return;
    m->sender.done = true;
    co_unpark(m->co);
}

const struct live_sender *rtsp_multicast_sender(const struct rtsp_multicast *m)
{
    return &m->sender;
}

bool rtsp_multicast_failed(const struct rtsp_multicast *m)
{
    return m->failed;
}

/* ---- creation and end */

/* Opens the peer without input: reports to a group reach only its members. */
static err_t open_peer(struct rtsp_multicast *m, struct session_env *env, const char *local)
{
    char ip[IP_TEXT];
    struct rtsp_udp *udp;
    err_t err = rtsp_udp_of(&udp, env);

    if (!err)
        err = rtsp_udp_peer_new(&m->peer, udp, ip_text(m->group.ip, ip), local, NULL, NULL);
    for (int i = 0; !err && i < RTP_WIRE_N; i++)
        err = rtsp_udp_add(m->peer, (unsigned)i,
                           (struct rtsp_pair){ m->port + 2 * i, m->port + 2 * i + 1 });
    return err;
}

static void set_sender(struct rtsp_multicast *m, const struct session *s)
{
    m->sender = (struct live_sender){
        .io = rtsp_udp_io(m->peer, NULL),
        .set = { .mw_latency = session_player_merge(s->vhost, true),
                 .mw_msgs = (unsigned)s->vhost->play.mw_msgs },
    };
    m->param[RTP_WIRE_MTU] = (uint32_t)s->conf->rtsp_server.mtu;
    m->param[RTP_WIRE_SEED] = rtp_wire_seed(live_source_name(m->src));
    m->param[RTP_WIRE_TRACKS] = TRACKS;
}

static err_t create(struct rtsp_multicast **out, const struct session *s, const char *local,
                    const struct udp_addr *at)
{
    const struct conf_rtsp_multicast *conf = &s->env->conf->rtsp_server.multicast;
    const char *name = live_source_name(s->src);
    struct rtsp_multicast *m = must(calloc(1, sizeof(*m)));
    char text[IP_TEXT];
    err_t err;

    *m = (struct rtsp_multicast){ .src = live_source_ref(s->src), .local = *at, .port = conf->port,
                                  .ttl = conf->ttl, .helpers = s->env->helpers };
    err = find_group(s->env, name, &m->group)
              ? open_peer(m, s->env, local)
              : err_new(ERR_TOO_MANY, "all multicast groups are in use");
    if (err) {
        destroy(m);
        return err;
    }
    set_sender(m, s);
    LIST_PUT(&senders, m);
    log_trace("multicast of %s: group %s, ports from %d, local address %s", name,
              ip_text(m->group.ip, text), m->port, local);
    *out = m;
    return NULL;
}

err_t rtsp_multicast_join(struct rtsp_multicast **out, const struct session *s, const char *local)
{
    struct rtsp_multicast *m = senders;
    struct udp_addr at;
    unsigned n = 0;
    err_t err = udp_addr_parse(&at, local, 0);

    if (!err && (udp_addr_is_any(&at) || !udp_addr_is_v4(&at)))
        err = err_new(ERR_DENIED, "multicast needs a connection over IPv4");
    while (!err && m && (m->failed || m->src != s->src || !udp_addr_same(&m->local, &at))) {
        m = m->next;
        n++;
    }
    if (!err && !m)
        err = n < RTSP_MULTICAST_MAX
                  ? create(&m, s, local, &at)
                  : err_new(ERR_TOO_MANY, "%u multicast senders exist, the limit", n);
    if (err)
        return err;
    m->users++;
    *out = m;
    return NULL;
}

void rtsp_multicast_leave(struct rtsp_multicast *m)
{
    if (!m || --m->users > 0)
        return;
    log_trace("multicast of %s ends, sent %llu bytes", live_source_name(m->src),
              (unsigned long long)m->sender.io->bytes_out);
    LIST_TAKE(m);
    if (m->co)
        co_stop(m->co, NULL);
    else
        destroy(m);
}

void rtsp_multicast_put(const struct rtsp_multicast *m, unsigned track, struct rtsp_transport *t)
{
    int port = m->port + 2 * (int)track;
    char text[IP_TEXT];

    (void)snprintf(t->destination, sizeof(t->destination), "%s", ip_text(m->group.ip, text));
    t->port = (struct rtsp_pair){ port, port + 1 };
    t->ttl = m->ttl;
    t->has_ssrc = true;
    t->ssrc = rtp_wire_ssrc(m->param[RTP_WIRE_SEED], track);
}
