/* SPDX-License-Identifier: MIT */
/* fetch.c - files over HTTP for the load tools: RFC 9112. */
#include "tools/load/fetch.h"

#include <http_parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "co/net/dns.h"
#include "co/net/io_tcp.h"
#include "proto/http/client.h"

enum { BUFFER = 64 * 1024, HEAD_MAX = 16 * 1024, REDIRECTS = 5, DROP_LEAST = 4096 };

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

static err_t connect_to(struct load_fetch *f, const struct http_place *to)
{
    struct load_client *c = f->c;
    struct load_url url = { .port = to->port, .tls = to->tls };
    struct co_dns dns;
    char bind_ip[64];
    err_t err = load_opts_bind(&c->run->opts, c->index, bind_ip, sizeof(bind_ip));

    f->answers = 0;
    (void)snprintf(url.host, sizeof(url.host), "%s", to->host);
    if (!err)
        err = co_dns_resolve(to->host, timeout_of(c), &dns);
    if (!err)
        err = load_connect(&c->talk.io, dns.ip[0], &url, bind_ip, timeout_of(c));
    if (!err)
        name_place(f->place, sizeof(f->place), to->tls, to->host, to->port);
    return err;
}

static err_t ask(const struct load_fetch *f, const struct http_place *to)
{
    bool v6 = strchr(to->host, ':') != NULL;
    char *text;
    err_t err;
    int n = asprintf(&text, "GET %s HTTP/1.1\r\nHost: %s%s%s:%d\r\nUser-Agent: %s\r\n\r\n",
                     to->target, v6 ? "[" : "", to->host, v6 ? "]" : "", to->port,
                     f->c->run->tool->name);

    if (n < 0)
        return err_new(ERR_NO_MEMORY, "a request");
    err = io_write(f->c->talk.io, text, (size_t)n);
    free(text);
    return err;
}

/* ---- the answer */

struct answer {
    http_parser parser;
    struct load_fetch *f;
    struct wr *body;
    size_t head;
    char location[LOAD_FETCH_URL];
    size_t location_size;
    bool in_location, in_body, done, full, keep, begun;
};

static int on_field(http_parser *p, const char *at, size_t size)
{
    struct answer *a = p->data;

    a->in_location = size == 8 && strncasecmp(at, "Location", 8) == 0;
    if (a->in_location)
        a->location_size = 0;
    return 0;
}

static int on_value(http_parser *p, const char *at, size_t size)
{
    struct answer *a = p->data;

    if (!a->in_location)
        return 0;
    if (size >= sizeof(a->location) - a->location_size)
        return 1;
    memcpy(a->location + a->location_size, at, size);
    a->location_size += size;
    a->location[a->location_size] = '\0';
    return 0;
}

static int on_head(http_parser *p)
{
    struct answer *a = p->data;

    a->in_body = p->status_code >= 200;
    a->keep = http_should_keep_alive(p);
    return 0;
}

static int on_body(http_parser *p, const char *at, size_t size)
{
    struct answer *a = p->data;

    a->f->size += size;
    if (!a->body || p->status_code != 200)
        return 0;
    wr_bytes(a->body, at, size);
    a->full = a->body->bad != ERR_OK;
    return a->full;
}

static int on_end(http_parser *p)
{
    struct answer *a = p->data;

    if (p->status_code < 200)
        return 0;
    a->done = true;
    http_parser_pause(p, 1);
    return 0;
}

static const http_parser_settings settings = {
    .on_header_field = on_field, .on_header_value = on_value, .on_headers_complete = on_head,
    .on_body = on_body, .on_message_complete = on_end,
};

static err_t count(struct answer *a, size_t n)
{
    struct load_client *c = a->f->c;
    int kbps = c->run->opts.read_kbps;

    c->run->stat.bytes_in += n;
    if (a->f->media) { /* rates are of media, from burst to burst */
        c->read_at = co_now();
        c->bytes += n;
        if (!c->mark_at)
            c->mark_at = co_clock();
    }
    return kbps > 0 ? co_sleep((co_usec)(n * 8000 / (size_t)kbps)) : co_check();
}

/* What is left of a body whose size is told and that nobody looks at. */
static bool can_drop(const struct answer *a)
{
    return a->in_body && (!a->body || a->parser.status_code != 200) &&
           strcmp(a->f->c->talk.io->ops->name, "tls") != 0 &&
           !(a->parser.flags & F_CHUNKED) && a->parser.content_length != UINT64_MAX &&
           a->parser.content_length >= DROP_LEAST;
}

static err_t drop_rest(struct answer *a)
{
    struct load_client *c = a->f->c;
    uint64_t left = a->parser.content_length;
    err_t err = NULL;

    while (!err && left > 0) {
        size_t n = 0;

        load_limit_wait(c);
        err = io_tcp_drop(c->talk.io, &n);
        if (!err && n > left)
            return err_new(ERR_HTTP, "%llu bytes behind an answer", (unsigned long long)(n - left));
        left -= n;
        a->f->size += n;
        if (!err)
            err = count(a, n);
    }
    a->done = !err;
    return err;
}

static err_t feed(struct answer *a, const uint8_t *data, size_t size)
{
    size_t used;

    if (!a->in_body && (a->head += size) > HEAD_MAX + BUFFER)
        return err_new(ERR_TOO_LARGE, "a head of over %d bytes", HEAD_MAX);
    used = http_parser_execute(&a->parser, &settings, (const char *)data, size);
    if (a->full)
        return err_new(ERR_TOO_LARGE, "a body of over %zu bytes", a->body->limit);
    if (a->done)
        return used < size ? err_new(ERR_HTTP, "%zu bytes behind an answer", size - used) : NULL;
    if (HTTP_PARSER_ERRNO(&a->parser) != HPE_OK)
        return err_new(ERR_HTTP, "answer: %s",
                       http_errno_description(HTTP_PARSER_ERRNO(&a->parser)));
    return NULL;
}

static err_t read_answer(struct answer *a)
{
    struct load_client *c = a->f->c;
    err_t err = NULL;

    while (!err && !a->done) {
        size_t n = 0;

        if (can_drop(a))
            return drop_rest(a);
        load_limit_wait(c);
        err = io_read(c->talk.io, buffer, sizeof(buffer), &n);
        if (err && err_code(err) == ERR_IO_CLOSED && a->in_body) { /* it may end so */
            err_t short_of = feed(a, NULL, 0);

            if (!short_of && a->done)
                err_free(&err);
            err_free(&short_of);
        } else if (!err) {
            a->begun = true;
            err = feed(a, buffer, n);
            if (!err)
                err = count(a, n);
        }
    }
    return err;
}

static err_t talk(struct answer *a, const struct http_place *to)
{
    struct load_fetch *f = a->f;
    char place[sizeof(f->place)];
    err_t err = NULL;

    name_place(place, sizeof(place), to->tls, to->host, to->port);
    if (f->c->talk.io && strcmp(place, f->place) != 0)
        load_talk_close(&f->c->talk);
    if (!f->c->talk.io)
        err = connect_to(f, to);
    if (!err) {
        f->c->talk.io->read_timeout = timeout_of(f->c);
        err = ask(f, to);
    }
    return err ? err : read_answer(a);
}

static bool is_gone(err_t err)
{
    return err_code(err) == ERR_IO_CLOSED || err_code(err) == ERR_IO_RESET;
}

/* One request and its answer, on a connection that may have been closed meanwhile. */
static err_t once(struct load_fetch *f, const struct http_place *to, struct answer *a,
                  struct wr *body)
{
    bool again = f->answers > 0;
    err_t err;

    for (;;) {
        *a = (struct answer){ .f = f, .body = body };
        http_parser_init(&a->parser, HTTP_RESPONSE);
        a->parser.data = a;
        f->size = 0;
        if (body)
            body->len = 0;
        err = talk(a, to);
        f->status = a->parser.status_code;
        if (err || !a->keep)
            load_talk_close(&f->c->talk);
        if (!err)
            f->answers = a->keep ? f->answers + 1 : 0;
        if (!again || !is_gone(err) || a->begun)
            return err;
        again = false;
        err_free(&err);
    }
}

static err_t follow(struct load_fetch *f, struct answer *a, struct wr *body)
{
    struct http_place to;
    err_t err = NULL;

    for (int i = 0; !err && i < REDIRECTS; i++) {
        char next[LOAD_FETCH_URL];

        err = http_place_parse(&to, f->url);
        if (err)
            return err;
        err = once(f, &to, a, body);
        http_place_free(&to);
        if (err || f->status < 301 || f->status > 308 || !a->location_size)
            return err;
        err = load_url_resolve(next, sizeof(next), f->url, a->location, a->location_size);
        if (!err)
            memcpy(f->url, next, sizeof(next));
    }
    return err ? err : err_new(ERR_HTTP, "more than %d redirects", REDIRECTS);
}

err_t load_fetch_get(struct load_fetch *f, const char *url, struct wr *body)
{
    struct answer *a = malloc(sizeof(*a));
    err_t err;

    if (!a)
        return err_new(ERR_NO_MEMORY, "an answer");
    if (snprintf(f->url, sizeof(f->url), "%s", url) >= (int)sizeof(f->url))
        err = err_new(ERR_HTTP, "a url of over %d bytes", LOAD_FETCH_URL);
    else
        err = follow(f, a, body);
    free(a);
    return err;
}
