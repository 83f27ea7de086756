/* SPDX-License-Identifier: MIT */
/* name.c - what files of HLS are called, on disk and in playlists. */
#include "base/must.h"
#include "base/text.h"
#include "conf/expand.h"
#include "sink/hls/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

err_t hls_name(const struct hls_stream *s, const char *folder, const char *text, uint64_t seq,
               int64_t duration, char *path, size_t size)
{
    char seq_text[24], duration_text[24], floor_text[24];
    int n = snprintf(path, size, "%s/", folder);
    const struct conf_variable vars[] = {
        { "vhost", s->key->vhost }, { "app", s->key->app }, { "stream", s->key->name },
        { "seq", seq_text }, { "duration", duration_text }, { "timestamp", floor_text },
    };
    struct conf_expand with = {
        .v = vars, .n = sizeof(vars) / sizeof(vars[0]), .file = true, .utc = s->conf->utc_time,
        .msec = s->now ? s->now->wall : co_wall_ms(),
    };

    (void)snprintf(seq_text, sizeof(seq_text), "%llu", (unsigned long long)seq);
    (void)snprintf(duration_text, sizeof(duration_text), "%lld", av_to_ms(duration));
    (void)snprintf(floor_text, sizeof(floor_text), "%lld",
                   (long long)(s->set.ts_floor ? s->segmenter.floor_name : with.msec));
    return conf_expand(text, &with, path + n, size - (size_t)n);
}

/* ------------------------------------------------------------ urls */

/* How much of two paths is the same folder. */
static size_t common_folder(const char *a, const char *b)
{
    size_t n = 0;

    for (size_t i = 0; a[i] && a[i] == b[i]; i++) {
        if (a[i] == '/')
            n = i + 1;
    }
    return n;
}

/* From the folder of the playlist to the file. */
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

/* hls_entry_prefix is the root of the urls, as hls_path is the root of the files. */
char *hls_uri(const struct hls_stream *s, const char *path)
{
    const char *prefix = s->set.entry_prefix;
    size_t root = strlen(s->set.path), n = strlen(prefix);

    if (!*prefix || strncmp(path, s->set.path, root) != 0)
        return relative(s->m3u8_path, path);
    return must_print("%s%s%s", prefix, n && prefix[n - 1] == '/' ? "" : "/",
                      path + root + strspn(path + root, "/"));
}

char *hls_url(const struct hls_stream *s, const char *path)
{
    size_t root = strlen(s->set.path);

    if (*s->set.entry_prefix || strncmp(path, s->set.path, root) != 0)
        return hls_uri(s, path);
    return must_dup(path + root + strspn(path + root, "/"));
}

/* hls_key_url and then the name of the key; what comes behind a "?" stays behind. */
char *hls_key_uri(const struct hls_stream *s, const char *path)
{
    const char *base = s->set.key_url, *query = strchr(base, '?');
    size_t root = strlen(s->set.key_file_path), n = query ? (size_t)(query - base) : strlen(base);
    char *uri;

    if (!*base || strcmp(base, s->set.path) == 0)
        return relative(s->m3u8_path, path);
    uri = must_print("%.*s%s%s%s", (int)n, base, n && base[n - 1] == '/' ? "" : "/",
                     path + root + strspn(path + root, "/"), text_or_empty(query));
    return uri;
}

/* ------------------------------------------------------------ files of a track, and parts */

/* Of all but the MPD: of "live/s.mpd" it is "live/s". malloc'ed. */
static char *folder_of(const struct hls_stream *s)
{
    size_t n = strlen(s->m3u8_path);
    bool mpd = n > 4 && strcmp(s->m3u8_path + n - 4, ".mpd") == 0;

    return must_ndup(s->m3u8_path, mpd ? n - 4 : n);
}

/* "live/s/video-" and what follows. */
char *hls_track_path(const struct hls_stream *s, bool video, const char *rest)
{
    char *folder = folder_of(s), *made;

    made = must_print("%s/%s-%s", folder, video ? "video" : "audio", rest);
    free(folder);
    return made;
}

char *hls_track_uri(const struct hls_stream *s, const struct hls_segment *seg)
{
    char rest[32], *path, *uri;

    (void)snprintf(rest, sizeof(rest), "%lld-", (long long)seg->period);
    path = hls_track_path(s, seg->init->track.video, rest);
    uri = hls_uri(s, path);
    free(path);
    return uri;
}

/* "live/s-12.3.m4s": the parts have names of their own, known before they are there. */
char *hls_part_path(const struct hls_stream *s, uint64_t seq, size_t part)
{
    size_t n = strlen(s->m3u8_path);

    if (n > 5 && strcmp(s->m3u8_path + n - 5, ".m3u8") == 0)
        n -= 5;
    return must_print("%.*s-%llu.%zu.m4s", (int)n, s->m3u8_path, (unsigned long long)seq, part);
}
