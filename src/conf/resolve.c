/* SPDX-License-Identifier: MIT */
/* resolve.c - values that follow from others, so that readers never compute. */
#include "conf/resolve.h"

#include "conf/arena.h"

#include <string.h>

static bool has_word(const struct conf_list *words, const char *word)
{
    for (size_t i = 0; i < words->n; i++) {
        if (strcmp(words->v[i], word) == 0)
            return true;
    }
    return false;
}

static void resolve_vhost_rtsp(const struct conf_play *play, struct conf_vhost_rtsp *r)
{
    r->mw_latency = r->mw_latency_set != CONF_OUTER ? r->mw_latency_set : play->mw_latency;
    r->auth.basic = has_word(&r->auth.methods, "basic");
    r->auth.md5 = has_word(&r->auth.methods, "digest-md5");
    r->auth.sha256 = has_word(&r->auth.methods, "digest-sha256");
}

static void resolve_vhost(const struct conf *c, struct conf_vhost *v)
{
    if (v->chunk_size == CONF_UNSET)
        v->chunk_size = c->rtmp.chunk_size;
    v->min_latency = v->min_latency_set == CONF_ON;
    v->rtc.min_latency = v->min_latency_set != CONF_OFF;
    v->rtc.mw_msgs = v->play.mw_msgs != CONF_UNSET ? v->play.mw_msgs : v->rtc.min_latency ? 0 : 1;
    if (v->play.mw_msgs == CONF_UNSET)
        v->play.mw_msgs = v->min_latency ? 0 : 8;
    if (v->play.atc)
        v->play.time_jitter = CONF_JITTER_OFF;
    if (!*v->hls.key_file_path)
        v->hls.key_file_path = v->hls.path;
    if (!*v->hls.key_url)
        v->hls.key_url = v->hls.path;
    resolve_vhost_rtsp(&v->play, &v->rtsp);
}

static bool same_listen(const struct conf_endpoints *a, const struct conf_endpoints *b)
{
    return a->n && b->n && a->v[0].port == b->v[0].port;
}

/* The https of the API is where that of the files is, if the two share their http port. */
static void resolve_https(struct conf *c, struct conf_arena *arena)
{
    struct conf_tls *api = &c->http_api.https;
    struct conf_endpoint *own;

    if (api->listen.n)
        return;
    if (same_listen(&c->http_api.listen, &c->http_server.listen)) {
        api->listen = c->http_server.https.listen;
        return;
    }
    own = conf_arena_get(arena, sizeof(*own));
    *own = (struct conf_endpoint){ .text = "1990", .host = "", .port = 1990 };
    api->listen = (struct conf_endpoints){ .v = own, .n = 1 };
}

/* `latency` stands for both; what is written for one of them wins over it. */
static int64_t srt_latency(int64_t own, int64_t both, int64_t usual)
{
    return own >= 0 ? own : both >= 0 ? both : usual;
}

static void resolve_srt(struct conf_srt_server *s)
{
    enum { USUAL_MS = 120, MSS = 1500, HEADERS = 44, TS_PACKET = 188 };
    int most;

    s->recvlatency = srt_latency(s->recvlatency_set, s->latency_set, USUAL_MS * 1000);
    s->peerlatency = srt_latency(s->peerlatency_set, s->latency_set, 0);
    s->mss = s->mss < MSS ? s->mss : MSS;
    most = s->mss - HEADERS;
    s->payloadsize = s->payloadsize < most ? s->payloadsize : most;
    s->payloadsize -= s->payloadsize % TS_PACKET;
}

void conf_resolve(struct conf *c)
{
    /* the new scale counts from 1, 0 being "not given" */
    c->log_level = (enum conf_log_level)(c->srs_log_level_v2 ? c->srs_log_level_v2 - 1
                                                             : c->srs_log_level);
    resolve_srt(&c->srt_server);
    c->rtsp_server.tcp = has_word(&c->rtsp_server.transports, "tcp");
    c->rtsp_server.udp = has_word(&c->rtsp_server.transports, "udp");
    resolve_https(c, c->arena);
    for (size_t i = 0; i < c->vhost.n; i++)
        resolve_vhost(c, (struct conf_vhost *)&c->vhost.v[i]);
}
