/* SPDX-License-Identifier: MIT */
/* fetch.c - files over HTTP for the load tools: RFC 9112. */
#include "tools/load/fetch.h"

#include <stdio.h>
#include <string.h>

#include "co/net/dns.h"

enum { BUFFER = 64 * 1024, REDIRECTS = 5 };

/* One for all clients: what is read is looked at before anything yields. */
static uint8_t buffer[BUFFER];

static co_usec timeout_of(const struct load_client *c)
{
    return (co_usec)(c->run->opts.timeout * 1e6);
}

err_t load_fetch_open(struct load_client *c, const struct load_url *url, const char *bind_ip,
                      co_usec timeout)
{
    return load_connect(&c->talk.io, c->run->ip, url, bind_ip, timeout);
}

static void name_place(char *out, size_t size, bool tls, const char *host, int port)
{
    (void)snprintf(out, size, "%s %s %d", tls ? "https" : "http", host, port);
}

void load_fetch_init(struct load_fetch *f, struct load_client *c, const struct load_url *url)
{
    *f = (struct load_fetch){ .c = c };
    name_place(f->place, sizeof(f->place), url->tls, url->host, url->port);
}

static err_t connect_to(struct load_fetch *f, const struct http_location *to)
{
    struct load_client *c = f->c;
    struct load_url url = { .port = to->port, .tls = to->tls };
    struct co_dns dns;
    char bind_ip[64];
    err_t err = load_opts_bind(&c->run->opts, c->index, bind_ip, sizeof(bind_ip));

    (void)snprintf(url.host, sizeof(url.host), "%s", to->host);
    if (!err)
        err = co_dns_resolve(to->host, timeout_of(c), &dns);
    if (!err)
        err = load_connect(&c->talk.io, dns.ip[0], &url, bind_ip, timeout_of(c));
    if (!err)
        name_place(f->place, sizeof(f->place), to->tls, to->host, to->port);
    return err;
}

static err_t came(void *arg, size_t n)
{
    struct load_fetch *f = arg;
    struct load_client *c = f->c;
    int kbps = c->run->opts.read_kbps;

    f->begun = true;
    c->run->stat.bytes_in += n;
    if (f->media) { /* rates are of media, from burst to burst */
        c->read_at = co_now();
        c->bytes += n;
        if (!c->mark_at)
            c->mark_at = co_clock();
    }
    if (load_is_over(c))
        return err_new(ERR_IO_TIMEOUT, "the session is over");
    return kbps > 0 ? co_sleep((co_usec)(n * 8000 / (size_t)kbps)) : co_check();
}

static err_t talk(struct load_fetch *f, const struct http_location *to, struct http_reply *out,
                  size_t max)
{
    struct load_talk *t = &f->c->talk;
    const struct http_call call = {
        .agent = f->c->run->tool->name, .timeout = load_left(f->c, timeout_of(f->c)),
        .max_reply = max, .keep = true, .drop = max == 0, .buffer = buffer, .buffer_size = BUFFER,
        .came = came, .arg = f,
    };
    char place[sizeof(f->place)];
    err_t err = NULL;

    f->begun = f->kept = false;
    name_place(place, sizeof(place), to->tls, to->host, to->port);
    if (t->io && strcmp(place, f->place) != 0)
        load_talk_close(t);
    if (!t->io)
        err = connect_to(f, to);
    if (!err)
        err = http_client_exchange(out, t->io, to, &call);
    f->status = out->status;
    f->kept = !err && out->keep;
    if (!f->kept)
        load_talk_close(t);
    return err;
}

/* One request and its answer, on a connection that may have been closed meanwhile. */
static err_t once(struct load_fetch *f, const struct http_location *to, struct http_reply *out,
                  size_t max)
{
    bool kept = f->kept;
    err_t err = talk(f, to, out, max);

    if (!kept || f->begun || (err_code(err) != ERR_IO_CLOSED && err_code(err) != ERR_IO_RESET))
        return err;
    err_free(&err);
    return talk(f, to, out, max);
}

static err_t follow(struct load_fetch *f, struct http_reply *out, size_t max)
{
    for (int i = 0; i < REDIRECTS; i++) {
        char next[LOAD_FETCH_URL];
        struct http_location to;
        err_t err = http_location_parse(&to, f->url);

        if (err)
            return err;
        err = once(f, &to, out, max);
        http_location_free(&to);
        if (err || out->status < 301 || out->status > 308 || !out->location)
            return err;
        err = load_url_resolve(next, sizeof(next), f->url, out->location, strlen(out->location));
        http_reply_free(out);
        if (err)
            return err;
        memcpy(f->url, next, sizeof(next));
    }
    return err_new(ERR_HTTP, "more than %d redirects", REDIRECTS);
}

err_t load_fetch_get(struct load_fetch *f, const char *url, struct http_reply *out, size_t max)
{
    struct http_reply dropped = { 0 };
    err_t err;

    if (snprintf(f->url, sizeof(f->url), "%s", url) >= (int)sizeof(f->url))
        return err_new(ERR_HTTP, "a url of over %d bytes", LOAD_FETCH_URL);
    err = follow(f, out ? out : &dropped, out ? max : 0);
    http_reply_free(&dropped);
    return err;
}
