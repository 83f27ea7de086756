/* SPDX-License-Identifier: MIT */
/* endpoint.c - texts of addresses. */
#include "conf/endpoint.h"

#include "base/ip.h"

#include <string.h>

static bool parse_uint(const char *s, size_t size, int max, int *out)
{
    int v = 0;

    if (size == 0 || size > 5)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        v = v * 10 + (s[i] - '0');
    }
    *out = v;
    return v <= max;
}

static err_t parse_port(const char *s, int *port)
{
    if (!parse_uint(s, strlen(s), 65535, port) || *port == 0)
        return err_new(ERR_CONF, "\"%.20s\" is no port: 1 to 65535", s);
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

/* Split at the last colon, brackets off. *port is "" when there is none. */
static err_t split(struct conf_arena *a, const char *text, const char **host, const char **port)
{
    const char *colon = strrchr(text, ':');
    const char *close;

    *port = "";
    if (*text == '[') {
        close = strchr(text, ']');
        if (!close || (close[1] != ':' && close[1] != '\0'))
            return err_new(ERR_CONF, "\"%.40s\" is not [v6]:port", text);
        *host = conf_arena_str(a, text + 1, (size_t)(close - text - 1));
        if (close[1])
            *port = conf_arena_dup(a, close + 2);
    } else if (!colon || strchr(text, ':') != colon) { /* a name, or a bare IPv6 address */
        *host = conf_arena_dup(a, text);
    } else {
        *host = conf_arena_str(a, text, (size_t)(colon - text));
        *port = conf_arena_dup(a, colon + 1);
    }
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
        err = err_new(ERR_CONF, "\"%.40s\" is no address to listen on", text);
    return err ? err : parse_port(port, &out->port);
}

/* "rtsp://[user:password@]host[:port][/path]" */
static err_t rtsp_host(struct conf_arena *a, const char *text, struct conf_endpoint *out)
{
    const char *begin = strchr(text, '/') + 2, *end = begin + strcspn(begin, "/?"), *port, *host;
    err_t err;

    out->rtsp = out->text;
    out->tls = strncmp(text, "rtsps", 5) == 0;
    out->port = out->tls ? 322 : 554;
    for (const char *p = begin; p < end; p++) {
        if (*p == '@')
            begin = p + 1;
    }
    host = conf_arena_str(a, begin, (size_t)(end - begin));
    err = split(a, host, &out->host, &port);
    if (!err && !*out->host)
        err = err_new(ERR_CONF, "an address of rtsp:// has no host");
    return err || !*port ? err : parse_port(port, &out->port);
}

/* "srt://host:port[?streamid=...&...]" */
static err_t srt_host(struct conf_arena *a, const char *text, struct conf_endpoint *out)
{
    const char *begin = strchr(text, '/') + 2, *port;
    const char *host = conf_arena_str(a, begin, strcspn(begin, "/?"));
    err_t err = split(a, host, &out->host, &port);

    out->srt = out->text;
    if (!err && (!*out->host || !*port))
        err = err_new(ERR_CONF, "\"%.40s\" is not srt://host:port", text);
    return err ? err : parse_port(port, &out->port);
}

err_t conf_endpoint_host(struct conf_arena *a, const char *text, int default_port,
                         struct conf_endpoint *out)
{
    const char *port;
    err_t err;

    *out = (struct conf_endpoint){ .text = conf_arena_dup(a, text), .port = default_port };
    if (strncmp(text, "rtsp://", 7) == 0 || strncmp(text, "rtsps://", 8) == 0)
        return rtsp_host(a, text, out);
    if (strncmp(text, "srt://", 6) == 0)
        return srt_host(a, text, out);
    out->tls = strncmp(text, "rtmps://", 8) == 0;
    if (out->tls)
        out->port = 443;
    if (out->tls || strncmp(text, "rtmp://", 7) == 0)
        text = strchr(text, '/') + 2;
    if (strchr(text, '/'))
        return err_new(ERR_CONF, "\"%.40s\" is not host:port", text);
    err = split(a, text, &out->host, &port);
    if (!err && !*out->host)
        err = err_new(ERR_CONF, "\"%.40s\" has no host", text);
    return err || !*port ? err : parse_port(port, &out->port);
}

/* "all", an address, or address/bits. */
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
        return err_new(ERR_CONF, "\"%.50s\" is neither all, an address nor a CIDR", text);
    bits = v4 ? 32 : 128;
    if (slash && !parse_uint(slash + 1, strlen(slash + 1), bits, &bits))
        return err_new(ERR_CONF, "\"%.50s\" has a wrong prefix length", text);
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
        return err_new(ERR_CONF, "a rule is: publish or play, then all, an address or a CIDR");
    out->action = strcmp(what, "publish") == 0 ? CONF_PUBLISH : CONF_PLAY;
    out->text = conf_arena_printf(a, "%s %s", what, words->v[1]);
    return parse_network(words->v[1], out->addr, &out->bits);
}
