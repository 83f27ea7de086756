/* SPDX-License-Identifier: MIT */
/* url.c - parses URLs of requests and tracks. */
#include "proto/rtsp/url.h"

#include "base/mem.h"
#include "base/must.h"
#include "base/url.h"
#include "proto/http/url.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { URL_MAX = 4096, TRACK_MAX = 9999 };

static const char track_word[] = "trackID=";

/* Returns the path of a URL, or the whole text if it has no scheme and host. */
static const char *path_of(const char *url)
{
    return url_split(url, strlen(url)).path;
}

/* ---- server */

/* Returns whether "trackID=5" starts here and ends at `end`, possibly followed by slashes. */
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

/* Cuts a track at the end of this text, with its slash; returns the remaining size. */
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
            return err_new(ERR_RTSP, "path has an invalid escape or leaves the root");
        }
    }
    n = strlen(path);
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)path[i] < ' ' || path[i] == 0x7f)
            return err_new(ERR_RTSP, "path contains control characters");
    }
    if (n > 0 && path[n - 1] == '/')
        path[n - 1] = '\0';
    t->path = path;
    return NULL;
}

/* Writes the host name in lower case, an IPv6 address without brackets; returns the end. */
static char *put_host(char *to, const struct url *u)
{
    for (size_t i = 0; i < u->at.host_n; i++)
        *to++ = (char)tolower((unsigned char)u->at.host[i]);
    *to++ = '\0';
    return to;
}

/* `memory` has room for each part of the URL, with a zero and a slash. */
static err_t split_target(struct rtsp_target *t, const char *url, char *memory)
{
    struct url u = url_split(url, strlen(url));
    const char *path = u.path;
    size_t n = strcspn(path, "?#"), q;
    const char *query = path[n] == '?' ? path + n + 1 : "";
    char *at = put_host(memory, &u);

    q = strcspn(query, "#");
    t->port = host_port_number(&u.at);
    t->host = memory;
    q = cut_track(query, q, &t->track);
    if (t->track < 0)
        n = cut_track(path, n, &t->track);
    t->query = memcpy(at, query, q);
    at += q;
    *at++ = '\0';
    if (n > 0 && *path != '/')
        return err_new(ERR_RTSP, "the target is neither a URL nor a path");
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
        return err_new(ERR_RTSP, "URL of %zu bytes", size);
    out->memory = mem_try(size + 8);
    if (!out->memory)
        return err_new(ERR_NO_MEMORY, "URL of %zu bytes", size);
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

/* ---- client */

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

/* Returns false for an invalid escape. */
static bool split_user(struct rtsp_location *p, const struct url *u)
{
    const char *colon = u->user_n ? memchr(u->user, ':', u->user_n) : NULL;
    size_t n = colon ? (size_t)(colon - u->user) : u->user_n;

    p->user = decoded(u->user, n);
    p->password = colon ? decoded(colon + 1, u->user_n - n - 1) : must_dup("");
    return p->user && p->password;
}

static bool split_location(struct rtsp_location *p, const char *url)
{
    struct url u = url_split(url, strlen(url));

    p->tls = url_is(&u, "rtsps");
    if ((!p->tls && !url_is(&u, "rtsp")) || strlen(url) > URL_MAX || !url_is_clean(url) ||
        !split_user(p, &u))
        return false;
    p->port = u.at.port ? host_port_number(&u.at) : p->tls ? 322 : 554;
    p->host = must(malloc(u.at.host_n + 1));
    (void)put_host(p->host, &u);
    p->url = must_print("%s://%.*s%.*s", p->tls ? "rtsps" : "rtsp", (int)(u.path - u.authority),
                        u.authority, (int)strcspn(u.path, "#"), u.path);
    return !u.at.bad && p->port > 0 && p->host[0] != '\0';
}

err_t rtsp_location_parse(struct rtsp_location *out, const char *url)
{
    *out = (struct rtsp_location){ .port = 0 };
    if (split_location(out, url))
        return NULL;
    rtsp_location_free(out);
    return err_new(ERR_RTSP, "not an rtsp URL");
}

void rtsp_location_free(struct rtsp_location *p)
{
    free(p->host);
    free(p->user);
    free(p->password);
    free(p->url);
    *p = (struct rtsp_location){ .port = 0 };
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
