/* SPDX-License-Identifier: MIT */
/* endpoint.c - parses addresses. */
#include "conf/endpoint.h"

#include "base/ip.h"
#include "base/text.h"
#include "base/url.h"

#include <string.h>
#include <strings.h>

static err_t parse_port(const char *s, int *port)
{
    *port = (int)text_number(s, strlen(s), 65535);
    if (*port < 1)
        return err_new(ERR_CONF, "\"%.20s\" is not a port (1 to 65535)", s);
    return NULL;
}

bool conf_address_parse(const char *text, size_t size, uint8_t addr[16], bool *is_v4)
{
    const char *zone = memchr(text, '%', size);

    if (!ip_parse(text, zone ? (size_t)(zone - text) : size, addr))
        return false;
    *is_v4 = ip_is_v4(addr);
    return true;
}

/* Splits host and port. Removes brackets of IPv6; *port is "" if missing. */
static err_t split(struct conf_arena *a, const char *text, const char **host, const char **port)
{
    struct host_port parts = host_port_split(text, strlen(text));

    if (parts.bad)
        return err_new(ERR_CONF, "\"%.40s\" is not [v6]:port", text);
    *host = conf_arena_str(a, parts.host, parts.host_n);
    *port = parts.port ? conf_arena_str(a, parts.port, parts.port_n) : "";
    return NULL;
}

err_t conf_endpoint_listen(struct conf_arena *a, const char *text, struct conf_endpoint *out)
{
    const char *port;
    uint8_t addr[16];
    bool v4;
    err_t err;

    *out = (struct conf_endpoint){ .text = conf_arena_dup(a, text), .host = "" };
    if (!strchr(text, ':'))
        return parse_port(text, &out->port);
    err = split(a, text, &out->host, &port);
    if (!err && *out->host && !conf_address_parse(out->host, strlen(out->host), addr, &v4))
        err = err_new(ERR_CONF, "\"%.40s\" is not an address to listen on", text);
    return err ? err : parse_port(port, &out->port);
}

static const struct scheme {
    const char *text;
    int port; /* default port; 0: the port is required */
    enum conf_scheme scheme;
    bool tls;
} schemes[] = {
    { "rtmp://", 1935, CONF_RTMP, false }, { "rtmps://", 443, CONF_RTMP, true },
    { "rtsp://", 554, CONF_RTSP, false }, { "rtsps://", 322, CONF_RTSP, true },
    { "srt://", 0, CONF_SRT, false },
};

/* Parses "host[:port]"; in a URL "user:password@" may precede it. */
static err_t parse_authority(struct conf_arena *a, const char *text, size_t size,
                             struct conf_endpoint *out)
{
    const char *at = memrchr(text, '@', size), *host = at ? at + 1 : text, *port;
    err_t err = split(a, conf_arena_str(a, host, (size_t)(text + size - host)), &out->host, &port);

    if (!err && !*out->host)
        err = err_new(ERR_CONF, "the address has no host");
    if (!err && !*port && out->port == 0)
        err = err_new(ERR_CONF, "srt://%.40s: the port is missing", out->host);
    return err || !*port ? err : parse_port(port, &out->port);
}

/* The path of an RTMP address is "/app/key". With only an app, the stream keeps its name. A
 * parameter may contain the key: "/app?backup=1/key". */
static const char *rtmp_whole(struct conf_arena *a, const char *url, const char *path)
{
    const char *app = path + strspn(path, "/");
    size_t n = strcspn(app, "/?#");
    const char *rest = app + n + strspn(app + n, "/");

    if (n == 0)
        return NULL;
    if ((app[n] == '/' && *rest && !strchr("?#", *rest)) || strchr(rest, '/'))
        return conf_arena_dup(a, url);
    return conf_arena_printf(a, "%.*s/[stream]%s", (int)(app + n - url), url, rest);
}

static err_t parse_url(struct conf_arena *a, const struct scheme *s, struct conf_endpoint *out)
{
    const char *host = out->text + strlen(s->text), *path = host + strcspn(host, "/?#");

    out->port = s->port;
    out->scheme = s->scheme;
    out->tls = s->tls;
    out->url = s->scheme == CONF_RTMP ? rtmp_whole(a, out->text, path) : out->text;
    if (s->scheme == CONF_RTMP && *path && *path != '/')
        return err_new(ERR_CONF, "the rtmp:// address has parameters but no /app");
    return parse_authority(a, host, (size_t)(path - host), out);
}

err_t conf_endpoint_host(struct conf_arena *a, const char *text, int default_port,
                         struct conf_endpoint *out)
{
    *out = (struct conf_endpoint){ .text = conf_arena_dup(a, text), .port = default_port };
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (strncasecmp(text, schemes[i].text, strlen(schemes[i].text)) == 0)
            return parse_url(a, &schemes[i], out);
    }
    if (strchr(text, '/')) { /* not shown: it may contain a key */
        return err_new(ERR_CONF, "expected host:port or an address with rtmp://, rtmps://, "
                       "rtsp://, rtsps:// or srt://");
    }
    return parse_authority(a, text, strlen(text), out);
}

/* Parses "all", an address, or address/bits. */
static err_t parse_network(const char *text, uint8_t addr[16], int *count)
{
    const char *slash = strchr(text, '/');
    size_t size = slash ? (size_t)(slash - text) : strlen(text);
    bool v4;
    int bits;

    *count = 0;
    if (strcmp(text, "all") == 0)
        return NULL;
    if (!conf_address_parse(text, size, addr, &v4))
        return err_new(ERR_CONF, "\"%.50s\" is not all, an address or a CIDR", text);
    bits = v4 ? 32 : 128;
    if (slash)
        bits = (int)text_number(slash + 1, strlen(slash + 1), bits);
    if (bits < 0)
        return err_new(ERR_CONF, "\"%.50s\" has an invalid prefix length", text);
    *count = bits + (v4 ? 96 : 0);
    return NULL;
}

err_t conf_network_parse(struct conf_arena *a, const char *text, struct conf_network *out)
{
    *out = (struct conf_network){ .text = conf_arena_dup(a, text) };
    return parse_network(text, out->addr, &out->bits);
}

err_t conf_rule_parse(struct conf_arena *a, const struct conf_list *words, struct conf_rule *out)
{
    const char *what = words->n ? words->v[0] : "";

    *out = (struct conf_rule){ .bits = 0 };
    if (words->n != 2 || (strcmp(what, "publish") != 0 && strcmp(what, "play") != 0))
        return err_new(ERR_CONF, "expected publish or play, then all, an address or a CIDR");
    out->action = strcmp(what, "publish") == 0 ? CONF_PUBLISH : CONF_PLAY;
    out->text = conf_arena_printf(a, "%s %s", what, words->v[1]);
    return parse_network(words->v[1], out->addr, &out->bits);
}
