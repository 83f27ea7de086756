/* SPDX-License-Identifier: MIT */
/* name.c - tells whether the name of a stream is a file. */
#include "vod/vod.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const ends[] = { ".mp4", ".m4v", ".mov", ".flv", ".fmp4" };

static bool has_end(const char *path)
{
    size_t n = strlen(path);

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        size_t k = strlen(ends[i]);

        if (n > k && path[n - k - 1] != '/' && strcasecmp(path + n - k, ends[i]) == 0)
            return true;
    }
    return false;
}

/* Skips the prefix of an RTMP name ("mp4:a"). *end is the extension to add if the name has none. */
static const char *without_kind(const char *name, const char **end)
{
    *end = "";
    if (strncasecmp(name, "mp4:", 4) == 0)
        *end = ".mp4";
    else if (strncasecmp(name, "flv:", 4) == 0)
        *end = ".flv";
    return **end ? name + 4 : name;
}

static bool is_plain(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || strchr("\\%\x7f", *text))
            return false;
    }
    return true;
}

/* Appends the components of a path, without empty ones. False: it has "..", or is too long. */
static bool add(char path[VOD_PATH_MAX], const char *way)
{
    while (*(way += strspn(way, "/"))) {
        size_t n = strcspn(way, "/"), len = strlen(path);

        if (strspn(way, ".") == n || n > 255 || len + n + 2 > VOD_PATH_MAX)
            return false;
        (void)snprintf(path + len, VOD_PATH_MAX - len, "%s%.*s", len ? "/" : "", (int)n, way);
        way += n;
    }
    return true;
}

bool vod_is_file(const struct conf_vhost *vhost, const char *app, const char *name,
                 char path[VOD_PATH_MAX])
{
    size_t n = strlen(vhost->vod.app);
    const char *end;

    path[0] = '\0';
    if (!vhost->vod.enabled || strncmp(app, vhost->vod.app, n) != 0 || (app[n] && app[n] != '/'))
        return false;
    name = without_kind(name, &end);
    if (*name == '/' || !is_plain(app) || !is_plain(name) || !add(path, app + n))
        return false;
    if (!*name || !add(path, name) || strlen(path) + strlen(end) >= VOD_PATH_MAX)
        return false;
    if (*end && !has_end(path))
        (void)snprintf(path + strlen(path), VOD_PATH_MAX - strlen(path), "%s", end);
    return has_end(path);
}
