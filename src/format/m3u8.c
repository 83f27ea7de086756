/* SPDX-License-Identifier: MIT */
/* m3u8.c - HLS media playlists, written. */
#include "format/m3u8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CLOCK = 90000, LINE = 200 };

static void text(struct wr *w, const char *s)
{
    wr_bytes(w, s, strlen(s));
}

static void line(struct wr *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* For what is short: names of files go by text(). */
static void line(struct wr *w, const char *fmt, ...)
{
    char buf[LINE];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(buf, sizeof(buf), fmt, ap);
    va_end(ap);
    text(w, buf);
}

unsigned m3u8_seconds(int64_t duration)
{
    return duration > 0 ? (unsigned)((duration + CLOCK / 2) / CLOCK) : 0;
}

static double seconds(int64_t duration)
{
    return (double)duration / CLOCK;
}

void m3u8_head(struct wr *w, const struct m3u8 *list)
{
    line(w, "#EXTM3U\n#EXT-X-VERSION:%d\n#EXT-X-MEDIA-SEQUENCE:%llu\n", list->version,
         (unsigned long long)list->sequence);
    if (list->discontinuities > 0)
        line(w, "#EXT-X-DISCONTINUITY-SEQUENCE:%llu\n", (unsigned long long)list->discontinuities);
    line(w, "#EXT-X-TARGETDURATION:%u\n", list->target);
    if (list->independent)
        text(w, "#EXT-X-INDEPENDENT-SEGMENTS\n");
    if (list->part_target > 0) /* PART-HOLD-BACK: at least three times PART-TARGET */
        line(w, "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=%.3f\n"
                "#EXT-X-PART-INF:PART-TARGET=%.3f\n",
             seconds(list->part_target) * 3, seconds(list->part_target));
}

static bool differs(const char *a, const char *b)
{
    return a != b && (!a || !b || strcmp(a, b) != 0);
}

static void put_map(struct wr *w, const char *uri)
{
    text(w, "#EXT-X-MAP:URI=\"");
    text(w, uri);
    text(w, "\"\n");
}

static void put_key(struct wr *w, const struct m3u8_segment *s)
{
    if (!s->key) {
        text(w, "#EXT-X-KEY:METHOD=NONE\n");
        return;
    }
    text(w, "#EXT-X-KEY:METHOD=AES-128,URI=\"");
    text(w, s->key);
    text(w, "\",IV=0x");
    for (int i = 0; i < 16; i++)
        line(w, "%02x", s->iv[i]);
    text(w, "\n");
}

/* A map stands where no key is in force: what it names is not encrypted, [HLS] 4.3.2.5. */
static void put_map_and_key(struct wr *w, const struct m3u8_segment *s,
                            const struct m3u8_segment *before)
{
    const char *key = before ? before->key : NULL;
    bool iv = s->key && before && memcmp(s->iv, before->iv, sizeof(s->iv)) != 0;

    if (s->map && differs(s->map, before ? before->map : NULL)) {
        if (key)
            text(w, "#EXT-X-KEY:METHOD=NONE\n");
        put_map(w, s->map);
        key = NULL;
    }
    if (differs(s->key, key) || iv)
        put_key(w, s);
}

static void put_begin(struct wr *w, const struct m3u8_segment *s,
                      const struct m3u8_segment *before)
{
    if (s->discontinuity)
        text(w, "#EXT-X-DISCONTINUITY\n");
    put_map_and_key(w, s, before);
    if (s->wall > 0) {
        time_t t = (time_t)(s->wall / 1000);
        struct tm tm;

        (void)gmtime_r(&t, &tm);
        line(w, "#EXT-X-PROGRAM-DATE-TIME:%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\n",
             tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
             (int)(s->wall % 1000));
    }
    for (size_t i = 0; i < s->n_parts; i++) {
        line(w, "#EXT-X-PART:DURATION=%.5f,URI=\"", seconds(s->parts[i].duration));
        text(w, s->parts[i].uri);
        text(w, s->parts[i].independent ? "\",INDEPENDENT=YES\n" : "\"\n");
    }
}

void m3u8_put_parts(struct wr *w, const struct m3u8_segment *s, const struct m3u8_segment *before)
{
    if (s->n_parts > 0)
        put_begin(w, s, before);
}

void m3u8_put(struct wr *w, const struct m3u8_segment *s, const struct m3u8_segment *before)
{
    put_begin(w, s, before);
    if (s->gap)
        text(w, "#EXT-X-GAP\n");
    line(w, "#EXTINF:%.3f,\n", seconds(s->duration));
    text(w, s->uri);
    text(w, "\n");
}

void m3u8_tail(struct wr *w, const struct m3u8 *list)
{
    if (list->breaks)
        text(w, "#EXT-X-DISCONTINUITY\n");
    if (!list->hint)
        return;
    text(w, "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"");
    text(w, list->hint);
    text(w, "\"\n");
}

void m3u8_master(struct wr *w, const char *uri, unsigned bandwidth, const char *codecs,
                 uint32_t width, uint32_t height)
{
    line(w, "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=%u,AVERAGE-BANDWIDTH=%u", bandwidth, bandwidth);
    if (codecs[0])
        line(w, ",CODECS=\"%.100s\"", codecs);
    if (width > 0 && height > 0)
        line(w, ",RESOLUTION=%ux%u", width, height);
    text(w, "\n");
    text(w, uri);
    text(w, "\n");
}
