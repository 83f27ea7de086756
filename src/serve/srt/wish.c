/* SPDX-License-Identifier: MIT */
/* wish.c - which stream a caller means, and as what: "SRT Access Control". */
#include "base/ip.h"
#include "base/log.h"
#include "base/must.h"
#include "serve/srt/greet.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = SRT_STREAMID_MAX + 1 };

/* The stream id for the log, where secrets are shown only if log_secrets says so. */
static const char *streamid_of(const struct srt_peer *p, char shown[SHOWN])
{
    const char *said = p->greeting->said.streamid;

    if (strcmp(log_param("?"), "?") == 0)
        return said;
    srt_streamid_shown(said, shown, SHOWN);
    return shown;
}

static err_t read_streamid(struct srt_peer *p)
{
    char shown[SHOWN];
    const struct conf_srt_server *conf = &p->base.env->conf->srt_server;
    const struct srt_streamid_defaults defaults = {
        .app = conf->default_app, .streamid = conf->default_streamid,
        .publish = conf->default_mode == CONF_SRT_PUBLISH,
    };
    struct srt_greeting *g = p->greeting;
    enum srt_refusal why = srt_streamid_parse(&g->asked, g->said.streamid, g->said.streamid_size,
                                              &defaults);

    if (why)
        return srt_refusal(p, why, "%s: \"%s\"", srt_refusal_text(why), streamid_of(p, shown));
    if (!g->asked.stream[0] || !g->asked.app[0])
        return srt_refusal(p, SRT_REFUSED_BAD_REQUEST, "it names no stream: \"%s\"",
                           streamid_of(p, shown));
    return NULL;
}

/* Its words, as those of a client of RTMP: "srt://1.2.3.4/live". */
static void set_names(struct srt_peer *p)
{
    const struct srt_streamid *asked = &p->greeting->asked;
    struct session_stream *names = &p->base.names;
    const char *host = asked->vhost;

    free(p->names);
    p->names = must_print("%s%c%s%c%s%csrt://%s/%s", asked->app, '\0', asked->stream, '\0',
                          asked->param, '\0', *host ? host : p->ip, asked->app);
    names->app = p->names;
    names->name = names->app + strlen(names->app) + 1;
    names->param = names->name + strlen(names->name) + 1;
    names->tc_url = names->param + strlen(names->param) + 1;
}

/* None that was named: the address of ours that was called, then that of all others. */
static err_t find_vhost(struct srt_peer *p)
{
    const struct srt_streamid *asked = &p->greeting->asked;
    char text[IP_TEXT];
    const char *vhost = asked->vhost;

    if (!*vhost)
        vhost = ip_text(p->path.local.ip, text);
    return session_find_stream(&p->base, vhost, p->base.names.app, p->base.names.name);
}

static void tell(const struct srt_peer *p)
{
    const struct srt_greeting *g = p->greeting;
    const struct session_stream *n = &p->base.names;
    char shown[SHOWN];

    log_trace("@srt, streamid=%s, stream_url=%s, vhost=%s, app=%s, stream=%s, param=%s, mode=%s",
              streamid_of(p, shown), n->key->path, n->vhost, n->app, n->name, log_param(n->param),
              g->asked.publish ? "publish" : "request");
}

err_t srt_wish(struct srt_peer *p)
{
    err_t err = read_streamid(p);

    if (err)
        return err;
    set_names(p);
    err = find_vhost(p);
    if (err)
        return err;
    tell(p);
    if (!p->base.vhost->srt.enabled)
        return srt_refusal(p, SRT_REFUSED_FORBIDDEN, "vhost %s has no SRT: srt { enabled on; }",
                           p->base.vhost->name);
    return NULL;
}
