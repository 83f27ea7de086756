/* SPDX-License-Identifier: MIT */
/* name.c - names of HLS files, on disk and in playlists. */
#include "base/must.h"
#include "base/text.h"
#include "conf/expand.h"
#include "av/packet.h"
#include "sink/hls/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

err_t hls_name(const struct hls_info *info, const char *folder, const char *text,
               const struct hls_numbers *numbers, char path[HLS_NAME_MAX])
{
    char seq_text[24], duration_text[24], floor_text[24];
    int n = snprintf(path, HLS_NAME_MAX, "%s/", folder);
    const struct conf_variable vars[] = {
        { "vhost", info->key->vhost }, { "app", info->key->app }, { "stream", info->key->name },
        { "seq", seq_text }, { "duration", duration_text }, { "timestamp", floor_text },
    };
    struct conf_expand with = {
        .v = vars, .n = sizeof(vars) / sizeof(vars[0]), .file = true, .utc = info->conf->utc_time,
        .msec = numbers->wall,
    };

    (void)snprintf(seq_text, sizeof(seq_text), "%llu", (unsigned long long)numbers->seq);
    (void)snprintf(duration_text, sizeof(duration_text), "%lld", av_to_ms(numbers->duration));
    (void)snprintf(floor_text, sizeof(floor_text), "%lld",
                   (long long)(info->set.ts_floor ? numbers->floor : numbers->wall));
    return conf_expand(text, &with, path + n, HLS_NAME_MAX - (size_t)n);
}

/* ------------------------------------------------------------ URLs */

/* Returns the length of the common folder of two paths. */
static size_t common_folder(const char *a, const char *b)
{
    size_t n = 0;

    for (size_t i = 0; a[i] && a[i] == b[i]; i++) {
        if (a[i] == '/')
            n = i + 1;
    }
    return n;
}

/* Returns the path from the folder of the playlist to the file. */
static char *relative(const char *from, const char *to)
{
    size_t n = common_folder(from, to), up = 0;
    char *made, *p;

    for (const char *q = from + n; (q = strchr(q, '/')); q++)
        up++;
    made = p = must(malloc(up * 3 + strlen(to + n) + 1));
    for (; up > 0; up--, p += 3)
        memcpy(p, "../", 3);
    memcpy(p, to + n, strlen(to + n) + 1);
    return made;
}

/* hls_entry_prefix is the root of the URLs, corresponding to hls_path for the files. */
char *hls_uri(const struct hls_info *info, const char *path)
{
    const char *prefix = info->set.entry_prefix;
    size_t root = strlen(info->set.path), n = strlen(prefix);

    if (!*prefix || strncmp(path, info->set.path, root) != 0)
        return relative(info->m3u8_path, path);
    return must_print("%s%s%s", prefix, n && prefix[n - 1] == '/' ? "" : "/",
                      path + root + strspn(path + root, "/"));
}

char *hls_url(const struct hls_info *info, const char *path)
{
    size_t root = strlen(info->set.path);

    if (*info->set.entry_prefix || strncmp(path, info->set.path, root) != 0)
        return hls_uri(info, path);
    return must_dup(path + root + strspn(path + root, "/"));
}

/* Inserts the name of the key into hls_key_url, before a "?". */
char *hls_key_uri(const struct hls_info *info, const char *path)
{
    const char *base = info->set.key_url, *query = strchr(base, '?');
    size_t n = query ? (size_t)(query - base) : strlen(base);
    size_t root = strlen(info->set.key_file_path);
    char *uri;

    if (!*base || strcmp(base, info->set.path) == 0)
        return relative(info->m3u8_path, path);
    uri = must_print("%.*s%s%s%s", (int)n, base, n && base[n - 1] == '/' ? "" : "/",
                     path + root + strspn(path + root, "/"), text_or_empty(query));
    return uri;
}

/* ------------------------------------------------------------ files of a track, and parts */

/* Returns the folder for the files of an MPD: "live/s" for "live/s.mpd"; malloc'ed. */
static char *folder_of(const struct hls_info *info)
{
    size_t n = strlen(info->m3u8_path);
    bool mpd = n > 4 && strcmp(info->m3u8_path + n - 4, ".mpd") == 0;

    return must_ndup(info->m3u8_path, mpd ? n - 4 : n);
}

/* Returns a path such as "live/s/video-" with `rest` appended. */
char *hls_track_path(const struct hls_info *info, bool video, const char *rest)
{
    char *folder = folder_of(info), *made;

    made = must_print("%s/%s-%s", folder, video ? "video" : "audio", rest);
    free(folder);
    return made;
}

/* Returns a path such as "live/s-12.3.m4s". */
char *hls_part_path(const struct hls_info *info, uint64_t seq, size_t part)
{
    size_t n = strlen(info->m3u8_path);

    if (n > 5 && strcmp(info->m3u8_path + n - 5, ".m3u8") == 0)
        n -= 5;
    return must_print("%.*s-%llu.%zu.m4s", (int)n, info->m3u8_path, (unsigned long long)seq, part);
}
