/* SPDX-License-Identifier: MIT */
/* warn_ports.c - two protocols on one port: one of them cannot start. */
#include "conf/warn.h"

#include <stdio.h>
#include <string.h>

#define ALWAYS SIZE_MAX
#define ON(field) offsetof(struct conf, field)

/* Those of one family share a port: the first bytes, or the path, say which is meant. */
enum family { RTMP, RTMPS, HTTP, HTTPS, RTSP, RTSPS, SRT, RTMFP, RTC };

static const struct served {
    const char *path;
    enum family family;
    bool udp;
    size_t enabled, also; /* bools that must be true */
    size_t listen;
} all[] = {
    { "rtmp.listen", RTMP, false, ALWAYS, ALWAYS, ON(rtmp.listen) },
    { "rtmps.listen", RTMPS, false, ON(rtmps.enabled), ALWAYS, ON(rtmps.listen) },
    { "http_server.listen", HTTP, false, ON(http_server.enabled), ALWAYS, ON(http_server.listen) },
    { "http_server.https.listen", HTTPS, false, ON(http_server.enabled),
      ON(http_server.https.enabled), ON(http_server.https.listen) },
    { "http_api.listen", HTTP, false, ON(http_api.enabled), ALWAYS, ON(http_api.listen) },
    { "http_api.https.listen", HTTPS, false, ON(http_api.enabled), ON(http_api.https.enabled),
      ON(http_api.https.listen) },
    { "exporter.listen", HTTP, false, ON(exporter.enabled), ALWAYS, ON(exporter.listen) },
    { "rtsp_server.listen", RTSP, false, ON(rtsp_server.enabled), ALWAYS, ON(rtsp_server.listen) },
    { "rtsp_server.https.listen", RTSPS, false, ON(rtsp_server.enabled),
      ON(rtsp_server.https.enabled), ON(rtsp_server.https.listen) },
    { "rtc_server.tcp.listen", HTTP, false, ON(rtc_server.enabled), ON(rtc_server.tcp.enabled),
      ON(rtc_server.tcp.listen) },
    { "srt_server.listen", SRT, true, ON(srt_server.enabled), ALWAYS, ON(srt_server.listen) },
    { "rtmfp_server.listen", RTMFP, true, ON(rtmfp_server.enabled), ALWAYS,
      ON(rtmfp_server.listen) },
    { "rtc_server.listen", RTC, true, ON(rtc_server.enabled), ALWAYS, ON(rtc_server.listen) },
};

static bool is_on(const struct conf *c, const struct served *s)
{
    const char *base = (const char *)c;

    return (s->enabled == ALWAYS || *(const bool *)(base + s->enabled)) &&
           (s->also == ALWAYS || *(const bool *)(base + s->also));
}

static bool is_any(const char *host)
{
    return !*host || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

/* The port that they cannot both have, or 0. */
static int shared_port(const struct conf_endpoints *a, const struct conf_endpoints *b)
{
    for (size_t i = 0; i < a->n; i++) {
        for (size_t j = 0; j < b->n; j++) {
            const struct conf_endpoint *x = &a->v[i], *y = &b->v[j];

            if (x->port == y->port &&
                (is_any(x->host) || is_any(y->host) || strcmp(x->host, y->host) == 0))
                return x->port;
        }
    }
    return 0;
}

void conf_warn_ports(const struct conf *c, const struct conf_node *root,
                     const struct conf_ctx *ctx)
{
    const char *base = (const char *)c;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        for (size_t j = 0; j < i && is_on(c, &all[i]); j++) {
            char text[256];
            int port = 0;

            if (is_on(c, &all[j]) && all[i].udp == all[j].udp && all[i].family != all[j].family)
                port = shared_port((const void *)(base + all[i].listen),
                                   (const void *)(base + all[j].listen));
            if (port == 0)
                continue;
            (void)snprintf(text, sizeof(text), "%s and %s both have %s port %d: one of them cannot "
                           "start; give it another port", all[j].path, all[i].path,
                           all[i].udp ? "UDP" : "TCP", port);
            conf_warn_at(ctx, conf_warn_node(root, all[i].path), text);
        }
    }
}
