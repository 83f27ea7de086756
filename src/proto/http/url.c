/* SPDX-License-Identifier: MIT */
/* url.c - parses the target of a request. */
#include "proto/http/url.h"

#include "base/text.h"
#include "base/url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool http_url_decode(char *text, size_t *size, bool plus)
{
    size_t n = *size, out = 0;

    for (size_t i = 0; i < n; i++) {
        char c = text[i];

        if (c == '%') {
            int byte = i + 2 < n ? text_hex_byte(text + i + 1) : -1;

            if (byte <= 0)
                return false;
            c = (char)byte;
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        text[out++] = c;
    }
    *size = out;
    return true;
}

/* Resolves segment by segment, in place. Returns false if the path goes above the root. */
static bool resolve(char *path, size_t size)
{
    size_t out = 1, i = 1; /* the first slash stays */

    while (i < size) {
        const char *slash = memchr(path + i, '/', size - i);
        size_t n = slash ? (size_t)(slash - (path + i)) : size - i;
        bool last = !slash;

        if (n == 2 && path[i] == '.' && path[i + 1] == '.') {
            if (out == 1)
                return false;
            for (out--; path[out - 1] != '/';)
                out--;
        } else if (n > 0 && !(n == 1 && path[i] == '.')) {
            memmove(path + out, path + i, n);
            out += n;
            if (!last)
                path[out++] = '/';
        }
        i += n + 1;
    }
    path[out] = '\0';
    return true;
}

err_t http_url_path(char *path)
{
    size_t size = strlen(path);

    if (path[0] != '/')
        return err_new(ERR_HTTP, "the path \"%.40s\" does not begin with a slash", path);
    if (!http_url_decode(path, &size, false))
        return err_new(ERR_HTTP, "invalid escape in the path");
    if (!resolve(path, size))
        return err_new(ERR_HTTP, "path leaves the root");
    return NULL;
}

/* Finds the next "key=value" or "key" in *query, returns its value, and moves *query past it. */
static const char *next_value(const char **query, const char *key, size_t *size)
{
    size_t want = strlen(key);

    for (const char *p = *query; *p;) {
        size_t n = strcspn(p, "&");
        const char *eq = memchr(p, '=', n);
        size_t name = eq ? (size_t)(eq - p) : n;
        bool same = name == want && strncmp(p, key, want) == 0;
        const char *value = eq ? eq + 1 : p + n;

        *size = (size_t)(p + n - value);
        p += n + (p[n] == '&');
        *query = p;
        if (same)
            return value;
    }
    return NULL;
}

const char *http_url_param_raw(const char *query, const char *key, size_t *size)
{
    const char *value;

    query += *query == '?';
    do
        value = next_value(&query, key, size);
    while (value && *size == 0);
    return value;
}

const char *http_url_param(const char *query, const char *key, char *buf, size_t size)
{
    size_t n;
    const char *value = next_value(&query, key, &n);

    if (!value)
        return NULL;
    if (n >= size)
        n = size - 1;
    memcpy(buf, value, n);
    if (!http_url_decode(buf, &n, true))
        return NULL;
    buf[n] = '\0';
    return buf;
}

void http_url_put_path(struct wr *w, const char *path)
{
    static const char digits[] = "0123456789ABCDEF";

    for (const char *p = path; *p; p++) {
        unsigned char c = (unsigned char)*p;

        if (isalnum(c) || strchr("/-._~!$&'()*+,;=:@", c)) {
            wr_u8(w, c);
        } else {
            wr_u8(w, '%');
            wr_u8(w, (uint8_t)digits[c >> 4]);
            wr_u8(w, (uint8_t)digits[c & 15]);
        }
    }
}

int http_url_host(char *host)
{
    struct host_port parts = host_port_split(host, strlen(host));
    int port = host_port_number(&parts);

    memmove(host, parts.host, parts.host_n);
    host[parts.host_n] = '\0';
    for (char *p = host; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return port;
}
