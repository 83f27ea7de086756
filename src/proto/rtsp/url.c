/* SPDX-License-Identifier: MIT */
/* url.c - what requests are for, and where tracks are. */
#include "proto/rtsp/url.h"

#include "base/host_port.h"
#include "base/mem.h"
#include "base/must.h"
#include "proto/http/url.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { URL_MAX = 4096, TRACK_MAX = 9999 };

static const char track_word[] = "trackID=";

/* Where the path of a url begins: behind "schema://host:port", or at the begin of what has none. */
static const char *path_of(const char *url)
{
    const char *p = url;

    while ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z'))
        p++;
    if (p == url || strncmp(p, "://", 3) != 0)
        return url;
    p += 3;
    return p + strcspn(p, "/?#");
}

/* ---- at a server */

/* Does "trackID=5" begin here, and end at `end` or with slashes before it? */
static bool is_track(const char *p, const char *end, int *track)
{
    size_t n = strlen(track_word);
    int v = 0;

    if ((size_t)(end - p) <= n || strncasecmp(p, track_word, n) != 0)
        return false;
    for (p += n; p < end && *p >= '0' && *p <= '9'; p++) {
        v = v * 10 + (*p - '0');
        if (v > TRACK_MAX)
            return false;
    }
    if (p[-1] == '=')
        return false;
    while (p < end && *p == '/')
        p++;
    *track = v;
    return p == end;
}

/* The last part of this text may be a track: cut it off, with its slash. */
static size_t cut_track(const char *text, size_t size, int *track)
{
    size_t at = size;

    while (at > 0 && text[at - 1] == '/')
        at--;
    while (at > 0 && text[at - 1] != '/' && text[at - 1] != '?')
        at--;
    if (!is_track(text + at, text + size, track))
        return size;
    return at > 0 ? at - 1 : 0;
}

static err_t set_path(struct rtsp_target *t, char *path)
{
    size_t n;
    err_t err;

    if (*path) {
        err = http_url_path(path);
        if (err) {
            err_free(&err);
            return err_new(ERR_RTSP, "a path with a bad escape, or out of the root");
        }
    }
    n = strlen(path);
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)path[i] < ' ' || path[i] == 0x7f)
            return err_new(ERR_RTSP, "a path with control characters");
    }
    if (n > 0 && path[n - 1] == '/')
        path[n - 1] = '\0';
    t->path = path;
    return NULL;
}

/* `memory` has room for each part of the url once, with a 0 and a slash. */
static err_t split_target(struct rtsp_target *t, const char *url, char *memory)
{
    const char *path = path_of(url);
    size_t n = strcspn(path, "?#"), q;
    const char *query = path[n] == '?' ? path + n + 1 : "";
    char *host = memory, *at;

    q = strcspn(query, "#");
    at = memory;
    if (path > url) {
        const char *name = strstr(url, "://") + 3, *user;

        for (user = name; user < path; user++) {
            if (*user == '@')
                name = user + 1;
        }
        memcpy(at, name, (size_t)(path - name));
        at += path - name;
    }
    *at++ = '\0';
    t->port = http_url_host(host);
    t->host = host;
    q = cut_track(query, q, &t->track);
    if (t->track < 0)
        n = cut_track(path, n, &t->track);
    t->query = memcpy(at, query, q);
    at += q;
    *at++ = '\0';
    if (n > 0 && *path != '/')
        return err_new(ERR_RTSP, "what it asks for is neither a url nor a path");
    memcpy(at, path, n);
    at[n] = '\0';
    return set_path(t, at);
}

err_t rtsp_target_parse(struct rtsp_target *out, const char *url)
{
    size_t size = strlen(url);
    err_t err;

    *out = (struct rtsp_target){ .host = "", .path = "", .query = "", .track = -1 };
    if (strcmp(url, "*") == 0) {
        out->all = true;
        return NULL;
    }
    if (size > URL_MAX)
        return err_new(ERR_RTSP, "a url of %zu bytes", size);
    out->memory = mem_try(size + 8);
    if (!out->memory)
        return err_new(ERR_NO_MEMORY, "a url of %zu bytes", size);
    err = split_target(out, url, out->memory);
    if (err)
        rtsp_target_free(out);
    return err;
}

void rtsp_target_free(struct rtsp_target *t)
{
    free(t->memory);
    *t = (struct rtsp_target){ .host = "", .path = "", .query = "", .track = -1 };
}

static size_t without_slashes(const char *p)
{
    size_t n = strlen(p);

    while (n > 0 && p[n - 1] == '/')
        n--;
    return n;
}

bool rtsp_url_is_track(const char *url, const char *base, const char *control)
{
    char *whole = rtsp_url_join(base, control);
    const char *a = path_of(url), *b = path_of(whole);
    size_t n = without_slashes(a);
    bool same = n == without_slashes(b) && memcmp(a, b, n) == 0;

    free(whole);
    return same;
}

/* ---- at a client */

static char *decoded(const char *p, size_t n)
{
    char *text = must_ndup(p, n);

    if (!http_url_decode(text, &n, false)) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    return text;
}

/* "user:password@" in front of `end`: where the host begins. NULL: a bad escape. */
static const char *split_user(struct rtsp_place *p, const char *begin, const char *end)
{
    const char *at = end, *colon;

    while (at > begin && at[-1] != '@')
        at--;
    if (at == begin) {
        p->user = must_dup("");
        p->password = must_dup("");
        return begin;
    }
    colon = memchr(begin, ':', (size_t)(at - 1 - begin));
    p->user = decoded(begin, (size_t)((colon ? colon : at - 1) - begin));
    p->password = colon ? decoded(colon + 1, (size_t)(at - 1 - (colon + 1))) : must_dup("");
    return p->user && p->password ? at : NULL;
}

static bool split_host(struct rtsp_place *p, const char *begin, const char *end)
{
    struct host_port parts = host_port_split(begin, (size_t)(end - begin));

    p->port = parts.port ? host_port_number(&parts) : p->tls ? 322 : 554;
    p->host = must_ndup(begin, (size_t)(end - begin));
    (void)http_url_host(p->host);
    return !parts.bad && p->port > 0 && p->host[0] != '\0';
}

/* What cannot stand in a request's first line would make two of one. */
static bool is_clean(const char *url)
{
    for (; *url; url++) {
        if ((unsigned char)*url <= ' ' || *url == 0x7f)
            return false;
    }
    return true;
}

static bool split_place(struct rtsp_place *p, const char *url)
{
    const char *begin, *host, *path;

    p->tls = strncasecmp(url, "rtsps://", 8) == 0;
    if (!p->tls && strncasecmp(url, "rtsp://", 7) != 0)
        return false;
    if (strlen(url) > URL_MAX || !is_clean(url))
        return false;
    begin = url + (p->tls ? 8 : 7);
    path = begin + strcspn(begin, "/?#");
    host = split_user(p, begin, path);
    if (!host || !split_host(p, host, path))
        return false;
    p->url = must_print("%s://%.*s%.*s", p->tls ? "rtsps" : "rtsp", (int)(path - host), host,
                        (int)strcspn(path, "#"), path);
    return true;
}

err_t rtsp_place_parse(struct rtsp_place *out, const char *url)
{
    *out = (struct rtsp_place){ .port = 0 };
    if (split_place(out, url))
        return NULL;
    rtsp_place_free(out);
    return err_new(ERR_RTSP, "that is no url of rtsp");
}

void rtsp_place_free(struct rtsp_place *p)
{
    free(p->host);
    free(p->user);
    free(p->password);
    free(p->url);
    *p = (struct rtsp_place){ .port = 0 };
}

char *rtsp_url_join(const char *base, const char *control)
{
    const char *path = path_of(control);
    size_t n = strlen(base);

    if (!*control || strcmp(control, "*") == 0)
        return must_dup(base);
    if (path > control)
        return must_print("%.*s%s", (int)(path_of(base) - base), base, path);
    if (*control == '?')
        return must_print("%s%s", base, control);
    while (n > 0 && base[n - 1] == '/')
        n--;
    return must_print("%.*s/%s", (int)n, base, control + strspn(control, "/"));
}
