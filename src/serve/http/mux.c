/* SPDX-License-Identifier: MIT */
/* mux.c - finds the handler of a request. */
#include "serve/http/mux.h"

#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind { KIND_EXACT, KIND_END, KIND_BELOW }; /* in the order of matching */

struct http_entry {
    struct http_entry *next;
    struct http_mount mount;
    char *pattern;
    char *host;       /* "": all hosts */
    const char *path; /* points into pattern: "/x", "/x/", ".flv" */
    size_t size;
    enum kind kind;
    unsigned id;
};

struct http_mux {
    struct http_entry *list; /* in the order of addition */
    unsigned ids;
};

struct http_mux *http_mux_new(void)
{
    return must(calloc(1, sizeof(struct http_mux)));
}

static void entry_free(struct http_entry *e)
{
    free(e->pattern);
    free(e->host);
    free(e);
}

void http_mux_free(struct http_mux *mux)
{
    while (mux->list) {
        struct http_entry *e = mux->list;

        mux->list = e->next;
        entry_free(e);
    }
    free(mux);
}

struct http_entry *http_mux_add(struct http_mux *mux, const struct http_mount *mount)
{
    struct http_entry *e = must(calloc(1, sizeof(*e))), **at = &mux->list;
    size_t host;

    e->mount = *mount;
    e->pattern = must_dup(mount->pattern);
    e->mount.pattern = e->pattern;
    e->id = ++mux->ids;
    host = strcspn(e->pattern, "/*");
    e->host = must_ndup(e->pattern, host);
    e->path = e->pattern + host + (e->pattern[host] == '*');
    e->size = strlen(e->path);
    e->kind = e->pattern[host] == '*' ? KIND_END
              : e->size > 0 && e->path[e->size - 1] == '/' ? KIND_BELOW : KIND_EXACT;
    while (*at)
        at = &(*at)->next;
    *at = e;
    return e;
}

/* ---- matching */

/* Position of a mount in the order of matching; smaller ones come first. It holds values only, so
 * the search can go on after a handler that yielded. */
struct rank {
    enum kind kind;
    size_t size;
    bool any_host;
    unsigned id;
};

static struct rank rank_of(const struct http_entry *e)
{
    return (struct rank){ e->kind, e->size, e->host[0] == '\0', e->id };
}

static bool is_before(const struct rank *a, const struct rank *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->size != b->size)
        return a->size > b->size;
    if (a->any_host != b->any_host)
        return b->any_host;
    return a->id < b->id;
}

struct found {
    struct http_mount mount; /* a copy: the entry may be removed while the handler runs */
    struct rank rank;
    bool slash;              /* the path is this folder without its slash */
};

static bool matches(const struct http_entry *e, const struct http_exchange *x, bool *slash)
{
    const char *path = x->req->path;
    size_t size;

    if (!(e->mount.ports & x->ports))
        return false;
    if (e->host[0] && strcasecmp(e->host, x->req->host) != 0)
        return false;
    *slash = false;
    switch (e->kind) {
    case KIND_EXACT:
        return strcmp(path, e->path) == 0;
    case KIND_END:
        size = strlen(path);
        return size > e->size && strcmp(path + size - e->size, e->path) == 0;
    case KIND_BELOW:
        *slash = strncmp(path, e->path, e->size - 1) == 0 && path[e->size - 1] == '\0';
        return *slash || strncmp(path, e->path, e->size) == 0;
    }
    return false;
}

/* Finds the next matching mount after rank `after`. */
static bool find(const struct http_mux *mux, const struct http_exchange *x,
                 const struct rank *after, struct found *out)
{
    bool any = false;

    for (const struct http_entry *e = mux->list; e; e = e->next) {
        struct rank rank = rank_of(e);
        bool slash;

        if ((after && !is_before(after, &rank)) || (any && !is_before(&rank, &out->rank)) ||
            !matches(e, x, &slash))
            continue;
        *out = (struct found){ e->mount, rank, slash };
        any = true;
    }
    return any;
}

/* ---- responses */

static bool allows(const struct http_mount *m, enum http_verb verb)
{
    unsigned methods = m->methods;

    if (methods & 1u << HTTP_VERB_GET)
        methods |= 1u << HTTP_VERB_HEAD;
    return methods == HTTP_METHODS_ANY || (methods & 1u << verb);
}

static err_t reply_no_handler(struct http_exchange *x, unsigned methods)
{
    static const char *const names[] = { "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH",
                                         "OPTIONS" };
    char text[80] = "";
    size_t n = 0;

    if (x->reserved) {
        http_response_add(x->resp, "Retry-After", "5");
        return http_response_status(x->resp, 503);
    }
    if (!methods)
        return http_response_status(x->resp, 404);
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (methods & 1u << i)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "", names[i]);
    }
    http_response_add(x->resp, "Allow", "%s", text);
    return http_response_status(x->resp, 405);
}

err_t http_mux_to_slash(struct http_exchange *x)
{
    char *path = must_print("%s/", x->req->path);
    err_t err = http_response_redirect(x->resp, path, x->req->query);

    free(path);
    return err;
}

err_t http_mux_serve(struct http_mux *mux, struct http_exchange *x)
{
    struct found f = { 0 };
    struct rank last, *after = NULL;
    unsigned methods = 0;

    while (find(mux, x, after, &f)) {
        last = f.rank;
        after = &last;
        if (!allows(&f.mount, x->req->verb)) {
            methods |= f.mount.methods;
            continue;
        }
        if (f.slash)
            return http_mux_to_slash(x);
        if (f.mount.first_worker && http_exchange_move(x, 0))
            return NULL;
        x->declined = false;
        err_t err = f.mount.handler(x, f.mount.arg);

        if (err || !x->declined)
            return err;
    }
    return reply_no_handler(x, methods);
}
