/* SPDX-License-Identifier: MIT */
/* identify.c - finds the requested stream and whether the caller publishes: "SRT Access Control".
 * */
#include "base/ip.h"
#include "base/log.h"
#include "base/must.h"
#include "serve/srt/admit.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = SRT_STREAMID_MAX + 1 };

/* Returns the stream id for the log, without secrets unless log_secrets is on. */
static const char *streamid_of(const struct srt_peer *p, char shown[SHOWN])
{
    const char *id = p->request->handshake.streamid;

    if (strcmp(log_param("?"), "?") == 0)
        return id;
    srt_streamid_redact(id, shown, SHOWN);
    return shown;
}

static err_t read_streamid(struct srt_peer *p)
{
    char shown[SHOWN];
    const struct conf_srt_server *conf = &p->base.session.env->conf->srt_server;
    const struct srt_streamid_defaults defaults = {
        .app = conf->default_app, .streamid = conf->default_streamid,
        .publish = conf->default_mode == CONF_SRT_PUBLISH,
    };
    struct srt_request *g = p->request;
    enum srt_refusal why = srt_streamid_parse(&g->streamid, g->handshake.streamid,
                                              g->handshake.streamid_size, &defaults);

    if (why)
        return srt_refusal(p, why, "%s: \"%s\"", srt_refusal_text(why), streamid_of(p, shown));
    if (!g->streamid.stream[0] || !g->streamid.app[0])
        return srt_refusal(p, SRT_REFUSED_BAD_REQUEST, "it names no stream: \"%s\"",
                           streamid_of(p, shown));
    return NULL;
}

/* Sets its names like those of an RTMP client: "srt://1.2.3.4/live". */
static void set_names(struct srt_peer *p)
{
    const struct srt_streamid *id = &p->request->streamid;
    struct session_stream *names = &p->base.session.names;
    const char *host = id->vhost;

    free(p->base.names);
    p->base.names = must_print("%s%c%s%c%s%csrt://%s/%s", id->app, '\0', id->stream, '\0',
                               id->param, '\0', *host ? host : p->base.ip, id->app);
    names->app = p->base.names;
    names->name = names->app + strlen(names->app) + 1;
    names->param = names->name + strlen(names->name) + 1;
    names->tc_url = names->param + strlen(names->param) + 1;
}

/* Without a configured name it uses the called address, then the default vhost. */
static err_t find_vhost(struct srt_peer *p)
{
    const struct srt_streamid *id = &p->request->streamid;
    char text[IP_TEXT];
    const struct session_stream *names = &p->base.session.names;
    const char *vhost = id->vhost;

    if (!*vhost)
        vhost = ip_text(p->path.local.ip, text);
    return session_find_stream(&p->base.session, vhost, names->app, names->name);
}

static void log_identified(const struct srt_peer *p)
{
    const struct srt_request *g = p->request;
    const struct session_stream *n = &p->base.session.names;
    char shown[SHOWN];

    log_trace("@srt, streamid=%s, stream_url=%s, vhost=%s, app=%s, stream=%s, param=%s, mode=%s",
              streamid_of(p, shown), n->key->path, n->vhost, n->app, n->name, log_param(n->param),
              g->streamid.publish ? "publish" : "request");
}

err_t srt_identify(struct srt_peer *p)
{
    err_t err = read_streamid(p);

    if (err)
        return err;
    set_names(p);
    err = find_vhost(p);
    if (err)
        return err;
    log_identified(p);
    if (!p->base.session.vhost->srt.enabled)
        return srt_refusal(p, SRT_REFUSED_FORBIDDEN, "vhost %s has no SRT: srt { enabled on; }",
                           p->base.session.vhost->name);
    return NULL;
}
