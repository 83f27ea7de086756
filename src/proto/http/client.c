/* SPDX-License-Identifier: MIT */
/* client.c - HTTP client (RFC 9110, RFC 9112). */
#include "proto/http/client.h"

#include "base/must.h"
#include "base/url.h"
#include "base/wr.h"
#include "co/net/dns.h"
#include "proto/http/basic.h"
#include "proto/http/url.h"

#include <http_parser.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_MAX = 64 * 1024, READ_SIZE = 4096, URL_MAX = 8192, USERINFO_MAX = 512 };

/* ---- URLs */

static char *part(const char *url, const struct http_parser_url *u, enum http_parser_url_fields f)
{
    if (!(u->field_set & 1u << f))
        return must_dup("");
    return must_ndup(url + u->field_data[f].off, u->field_data[f].len);
}

static char *target_of(const char *url, const struct http_parser_url *u)
{
    bool path = u->field_set & 1u << UF_PATH, query = u->field_set & 1u << UF_QUERY;

    return must_print("%.*s%s%.*s", path ? u->field_data[UF_PATH].len : 1,
                      path ? url + u->field_data[UF_PATH].off : "/", query ? "?" : "",
                      query ? u->field_data[UF_QUERY].len : 0,
                      query ? url + u->field_data[UF_QUERY].off : "");
}

static bool decode_userinfo(char *text)
{
    size_t size = strlen(text);

    if (size > USERINFO_MAX || !http_url_decode(text, &size, false))
        return false;
    text[size] = '\0';
    return true;
}

err_t http_location_parse(struct http_location *out, const char *url)
{
    struct http_parser_url u;
    char *schema;
    bool known;

    *out = (struct http_location){ .port = 80 };
    http_parser_url_init(&u);
    if (strlen(url) > URL_MAX || !url_is_clean(url) ||
        http_parser_parse_url(url, strlen(url), 0, &u) != 0 || !(u.field_set & 1u << UF_HOST))
        return err_new(ERR_HTTP, "\"%.200s\" is not a URL", url);
    schema = part(url, &u, UF_SCHEMA);
    out->tls = strcasecmp(schema, "https") == 0;
    known = out->tls || strcasecmp(schema, "http") == 0;
    free(schema);
    if (!known)
        return err_new(ERR_HTTP, "\"%.200s\" is neither http nor https", url);
    out->port = u.field_set & 1u << UF_PORT ? u.port : out->tls ? 443 : 80;
    out->host = part(url, &u, UF_HOST);
    out->target = target_of(url, &u);
    out->userinfo = part(url, &u, UF_USERINFO);
    if (out->port > 0 && decode_userinfo(out->userinfo))
        return NULL;
    http_location_free(out);
    return err_new(ERR_HTTP, "\"%.200s\" is not a URL", url);
}

void http_location_free(struct http_location *p)
{
    free(p->host);
    free(p->target);
    free(p->userinfo);
    *p = (struct http_location){ 0 };
}

/* ---- the request */

static void put_host(struct wr *w, const struct http_location *to)
{
    bool v6 = strchr(to->host, ':') != NULL;

    wr_printf(w, "Host: %s%s%s", v6 ? "[" : "", to->host, v6 ? "]" : "");
    if (to->port != (to->tls ? 443 : 80))
        wr_printf(w, ":%d", to->port);
    wr_printf(w, "\r\n");
}

/* RFC 7617 */
static void put_userinfo(struct wr *w, const char *userinfo)
{
    if (!*userinfo)
        return;
    wr_text(w, "Authorization: ");
    http_basic_put(w, userinfo);
    wr_text(w, "\r\n");
}

static void put_head(struct wr *w, const struct http_location *to, const struct http_call *call)
{
    const char *method = call->method ? call->method : call->body ? "POST" : "GET";

    wr_printf(w, "%s %s HTTP/1.1\r\n", method, to->target);
    put_host(w, to);
    if (call->agent)
        wr_printf(w, "User-Agent: %s\r\n", call->agent);
    wr_printf(w, "Accept: */*\r\n");
    put_userinfo(w, to->userinfo);
    for (unsigned i = 0; i < call->n_fields; i++)
        wr_printf(w, "%s: %s\r\n", call->fields[i].name, call->fields[i].value);
    if (call->body)
        wr_printf(w, "Content-Type: %s\r\n", call->type ? call->type : "application/json");
    if (call->body || strcmp(method, "POST") == 0)
        wr_printf(w, "Content-Length: %zu\r\n", call->size);
    wr_printf(w, "%s\r\n", call->keep ? "" : "Connection: close\r\n");
}

static err_t send_request(struct io *io, const struct http_location *to,
                          const struct http_call *call)
{
    struct wr head;
    err_t err;

    wr_init(&head, HEAD_MAX);
    put_head(&head, to, call);
    err = wr_err(&head, "head of a request");
    if (!err) {
        struct iovec iov[2] = { { head.buf, head.len },
                                { (void *)(uintptr_t)call->body, call->size } };

        err = io_writev(io, iov, call->size > 0 ? 2 : 1);
    }
    wr_free(&head);
    return err;
}

/* ---- the response */

struct reading {
    http_parser parser;
    struct wr body, location;
    size_t head;       /* bytes of the head so far */
    char name[sizeof("Location")]; /* first bytes of the field's name */
    size_t name_size;
    bool in_value, in_body, drop, keep, done, full;
};

static int on_field(http_parser *p, const char *at, size_t size)
{
    struct reading *r = p->data;

    if (r->in_value)
        r->name_size = 0;
    r->in_value = false;
    for (size_t i = 0; i < size && r->name_size < sizeof(r->name); i++)
        r->name[r->name_size++] = at[i];
    return 0;
}

static int on_value(http_parser *p, const char *at, size_t size)
{
    struct reading *r = p->data;

    r->in_value = true;
    if (r->name_size == strlen("Location") && strncasecmp(r->name, "Location", r->name_size) == 0)
        wr_bytes(&r->location, at, size);
    return r->location.bad;
}

static int on_head(http_parser *p)
{
    struct reading *r = p->data;

    r->in_body = p->status_code >= 200;
    r->keep = http_should_keep_alive(p);
    return 0;
}

static int on_body(http_parser *p, const char *at, size_t size)
{
    struct reading *r = p->data;
    size_t room = r->body.limit - r->body.len;

    if (r->drop)
        return 0;
    r->full = size > room;
    wr_bytes(&r->body, at, r->full ? room : size);
    return r->full || r->body.bad;
}

static int on_end(http_parser *p)
{
    struct reading *r = p->data;

    if (p->status_code < 200) /* 100 Continue and the like: the response follows */
        return 0;
    r->done = true;
    http_parser_pause(p, 1);
    return 0;
}

static const http_parser_settings settings = {
    .on_header_field = on_field, .on_header_value = on_value, .on_headers_complete = on_head,
    .on_body = on_body, .on_message_complete = on_end,
};

static err_t feed(struct reading *r, const char *data, size_t size, const struct http_call *call)
{
    enum http_errno bad;
    size_t used;

    if (!r->in_body)
        r->head += size;
    used = http_parser_execute(&r->parser, &settings, data, size);
    bad = HTTP_PARSER_ERRNO(&r->parser);
    if (r->body.bad)
        return wr_err(&r->body, "response");
    if (r->done && call->keep && used < size)
        return err_new(ERR_HTTP, "%zu bytes after the response", size - used);
    if (r->done || (r->full && call->cut))
        return NULL;
    if (r->full)
        return err_new(ERR_TOO_LARGE, "response of over %zu bytes", call->max_reply);
    if (r->head > HEAD_MAX)
        return err_new(ERR_TOO_LARGE, "head of over %d bytes", HEAD_MAX);
    return bad == HPE_OK ? NULL : err_new(ERR_HTTP, "response: %s", http_errno_description(bad));
}

static err_t read_response(struct reading *r, struct io *io, const struct http_call *call,
                         co_usec until)
{
    char own[READ_SIZE], *buf = call->buffer ? call->buffer : own;
    size_t size = call->buffer ? call->buffer_size : sizeof(own), n;
    err_t err = NULL;

    while (!err && !r->done && !(r->full && call->cut) && !(r->in_body && call->head)) {
        co_usec left = until - co_clock();

        if (left <= 0)
            return err_new(ERR_IO_TIMEOUT, "no response in %lld ms", us_to_ms(call->timeout));
        io->read_timeout = left;
        err = io_read(io, buf, size, &n);
        if (err && err_code(err) == ERR_IO_CLOSED) { /* can be the end of the body */
            err_t short_of = feed(r, NULL, 0, call);

            if (r->done)
                err_free(&err);
            err_free(&short_of);
        } else if (!err) {
            err = feed(r, buf, n, call);
            if (!err && call->came) {
                err = call->came(call->arg, n);
                until = co_clock() + call->timeout;
            }
        }
    }
    return err;
}

err_t http_client_exchange(struct http_reply *out, struct io *io, const struct http_location *to,
                           const struct http_call *call)
{
    co_usec until = co_clock() + call->timeout;
    struct reading r = { .drop = call->drop };
    err_t err;

    *out = (struct http_reply){ 0 };
    http_parser_init(&r.parser, HTTP_RESPONSE);
    r.parser.data = &r;
    wr_init(&r.body, call->max_reply);
    wr_init(&r.location, URL_MAX);
    io->write_timeout = call->timeout;
    err = send_request(io, to, call);
    if (!err)
        err = read_response(&r, io, call, until);
    if (!err) {
        out->status = r.parser.status_code;
        out->size = r.body.len;
        out->keep = r.keep;
        r.body.limit++; /* for the terminating zero */
        wr_u8(&r.body, '\0');
        if (r.location.len > 0)
            wr_u8(&r.location, '\0');
        err = wr_err(&r.body, "response");
    }
    if (!err)
        err = wr_err(&r.location, "Location field");
    if (err) {
        wr_free(&r.body);
        wr_free(&r.location);
        return err;
    }
    out->body = (char *)r.body.buf;
    out->location = (char *)r.location.buf;
    return NULL;
}

void http_reply_free(struct http_reply *r)
{
    free(r->body);
    free(r->location);
    *r = (struct http_reply){ 0 };
}

static err_t connect_to(struct io **io, const struct http_location *to,
                        const struct http_call *call, co_usec until)
{
    err_t err = co_dns_connect(io, to->host, to->port, NULL, call->timeout);
    co_usec left = until - co_clock();

    if (err || !to->tls)
        return err;
    err = left > 0 ? io_tls_connect(io, to->host, &call->trust, left)
                   : err_new(ERR_IO_TIMEOUT, "no time left for the TLS handshake");
    if (err) {
        io_close(*io);
        *io = NULL;
    }
    return err;
}

err_t http_client_call(struct http_reply *out, const char *url, const struct http_call *call)
{
    co_usec until = co_clock() + call->timeout;
    struct http_call rest = *call;
    struct http_location to;
    struct io *io = NULL;
    err_t err = http_location_parse(&to, url);

    *out = (struct http_reply){ 0 };
    if (err)
        return err;
    err = connect_to(&io, &to, call, until);
    if (!err) {
        rest.timeout = until - co_clock();
        err = rest.timeout > 0 ? http_client_exchange(out, io, &to, &rest)
                               : err_new(ERR_IO_TIMEOUT, "no time left to send the request");
        io_close(io);
    }
    if (err)
        err = err_wrap(err, "%s:%d", to.host, to.port);
    http_location_free(&to);
    return err;
}
