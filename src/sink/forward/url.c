/* SPDX-License-Identifier: MIT */
/* url.c - where a stream goes, of what the configuration has for all of them. */
#include "sink/forward/session.h"

#include "base/must.h"
#include "base/wr.h"

#include <stdlib.h>
#include <string.h>

enum { URL_MAX = 64 * 1024 };

/* A name goes into the path of the url: whatever would end it is escaped. */
static void put_name(struct wr *w, const char *name)
{
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;

        if (strchr("-._~/", c) || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
            (c >= 'A' && c <= 'Z'))
            wr_u8(w, c);
        else
            wr_printf(w, "%%%02X", c);
    }
}

static const char *put_variable(struct wr *w, const char *at, const struct session_stream *names)
{
    const struct {
        const char *name, *value;
    } rows[] = {
        { "[vhost]", names->vhost }, { "[app]", names->app }, { "[stream]", names->name },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t n = strlen(rows[i].name);

        if (strncmp(at, rows[i].name, n) != 0)
            continue;
        put_name(w, rows[i].value);
        return at + n;
    }
    wr_u8(w, (uint8_t)*at);
    return at + 1;
}

/* What ends the host stays as it is, the rest gets the names. */
static char *make(const char *of, size_t front, const char *path, const struct session_stream *n)
{
    struct wr w;
    char *url;

    wr_init(&w, URL_MAX);
    wr_bytes(&w, of, front);
    while (*path)
        path = put_variable(&w, path, n);
    url = must_ndup((const char *)w.buf, w.len);
    wr_free(&w);
    return url;
}

char *forward_rtsp_url(const char *of, const struct session_stream *names)
{
    const char *at = strchr(strstr(of, "://") + 3, '/');

    return make(of, at ? (size_t)(at - of) : strlen(of), at && at[1] ? at : "/[app]/[stream]",
                names);
}

char *forward_srt_url(const char *of, const struct session_stream *names)
{
    size_t front = (size_t)(strstr(of, "://") + 3 - of);

    front += strcspn(of + front, "/?");
    return make(of, front, of + front, names);
}
