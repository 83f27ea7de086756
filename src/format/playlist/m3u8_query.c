/* SPDX-License-Identifier: MIT */
/* m3u8_query.c - adds a query to the URLs of a playlist. */
#include "format/playlist/m3u8.h"

#include <string.h>

static bool begins(const char *line, size_t n, const char *with)
{
    return n >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* Returns the end of the URL in this line; NULL: it has no URL of the requested kind. *url is its
 * start. */
static const char *url_end(const char *line, size_t n, unsigned which, const char **url)
{
    bool key = begins(line, n, "#EXT-X-KEY:") || begins(line, n, "#EXT-X-SESSION-KEY:");
    const char *uri;

    if (n == 0 || !(which & (key ? M3U8_URLS_KEYS : M3U8_URLS_MEDIA)))
        return NULL;
    *url = line;
    if (line[0] != '#')
        return line + n - (line[n - 1] == '\r');
    uri = begins(line, n, "#EXT-X-") ? memmem(line, n, "URI=\"", 5) : NULL;
    if (!uri)
        return NULL;
    *url = uri + 5;
    return memchr(*url, '"', (size_t)(line + n - *url));
}

void m3u8_add_query(struct wr *w, const char *text, size_t size, const char *query, unsigned which)
{
    const char *end = text + size;

    for (const char *line = text; line < end;) {
        const char *nl = memchr(line, '\n', (size_t)(end - line));
        size_t n = (size_t)((nl ? nl : end) - line);
        const char *url = line, *at = url_end(line, n, which, &url);

        if (at) {
            wr_bytes(w, line, (size_t)(at - line));
            wr_u8(w, memchr(url, '?', (size_t)(at - url)) ? '&' : '?');
            wr_text(w, query);
            wr_bytes(w, at, (size_t)(line + n - at));
        } else {
            wr_bytes(w, line, n);
        }
        wr_u8(w, '\n');
        line += n + 1;
    }
}
