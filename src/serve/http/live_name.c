/* SPDX-License-Identifier: MIT */
/* live_name.c - finds the stream that a path names by matching the mount backwards. */
#include "serve/http/live.h"

#include <string.h>
#include <strings.h>

/* The part of the path that is not matched yet, and the result. */
struct match {
    const char *path;
    size_t left;
    struct http_live_name *name;
};

static bool end_is(const struct match *m, const char *text, size_t size)
{
    return m->left >= size && memcmp(m->path + m->left - size, text, size) == 0;
}

/* Position of the last occurrence of text; -1: none. */
static long last_of(const struct match *m, const char *text, size_t size)
{
    for (size_t at = m->left + 1; at-- > 0;) {
        if (size <= m->left - at && memcmp(m->path + at, text, size) == 0)
            return (long)at;
    }
    return -1;
}

/* Takes a variable: everything back to the text before it. The nearest occurrence counts, or for
 * the first variable the start of the path (an app may contain slashes). */
static bool take(struct match *m, const char **at, size_t *size, const char *before, size_t n,
                 bool first)
{
    long from = 0;

    if (first && (m->left < n || memcmp(m->path, before, n) != 0))
        return false;
    if (!first)
        from = last_of(m, before, n);
    if (from < 0)
        return false;
    *at = m->path + from + n;
    *size = m->left - (size_t)from - n;
    m->left = (size_t)from + n;
    return *size > 0;
}

/* Matches the path part of the mount, from its end to its start. */
static bool match_back(struct match *m, const char *mount)
{
    size_t end = strlen(mount);

    while (end > 0) {
        const char *open, *text = mount + end;
        bool app;

        if (mount[end - 1] != ']') { /* text: back to the variable before it */
            while (text > mount && text[-1] != ']')
                text--;
            if (!end_is(m, text, (size_t)(mount + end - text)))
                return false;
            m->left -= (size_t)(mount + end - text);
            end = (size_t)(text - mount);
            continue;
        }
        for (open = text - 1; open > mount && *open != '[';)
            open--;
        app = strncmp(open, "[app]", 5) == 0;
        if (!app && strncmp(open, "[stream]", 8) != 0)
            return false;
        for (text = open; text > mount && text[-1] != ']';)
            text--;
        if (!take(m, app ? &m->name->app : &m->name->stream,
                  app ? &m->name->app_size : &m->name->stream_size, text, (size_t)(open - text),
                  text == mount))
            return false;
        end = (size_t)(open - mount);
    }
    return m->left == 0;
}

bool http_live_match(const char *mount, const char *host, const char *path,
                     struct http_live_name *out)
{
    struct match m = { path, strlen(path), out };
    size_t n = strcspn(mount, "/");
    bool any = n == 0 || (n == 7 && strncmp(mount, "[vhost]", 7) == 0);

    *out = (struct http_live_name){ 0 };
    if (!any && (strlen(host) != n || strncasecmp(mount, host, n) != 0))
        return false;
    return match_back(&m, mount + n) && out->stream;
}
