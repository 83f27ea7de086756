/* SPDX-License-Identifier: MIT */
/* m3u8.c - writes HLS media playlists. */
#include "format/playlist/m3u8.h"

#include <string.h>
#include <time.h>

enum { CLOCK = 90000 };

unsigned m3u8_seconds(int64_t duration)
{
    return duration > 0 ? (unsigned)((duration + CLOCK / 2) / CLOCK) : 0;
}

void playlist_date(struct wr *w, const char *before, int64_t ms)
{
    time_t t = (time_t)(ms / 1000);
    struct tm tm;

    (void)gmtime_r(&t, &tm);
    wr_printf(w, "%s%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", before, tm.tm_year + 1900, tm.tm_mon + 1,
              tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(ms % 1000));
}

static double seconds(int64_t duration)
{
    return (double)duration / CLOCK;
}

unsigned m3u8_advance_parts(int64_t part_target)
{
    return part_target > 0 && part_target < CLOCK ? (unsigned)(3 * CLOCK / part_target) : 3;
}

/* PART-HOLD-BACK: at least three times PART-TARGET. */
static void put_control(struct wr *w, const struct m3u8 *list)
{
    const char *comma = "";

    if (list->part_target == 0 && list->skip_until == 0)
        return;
    wr_text(w, "#EXT-X-SERVER-CONTROL:");
    if (list->part_target > 0) {
        wr_printf(w, "CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=%.3f", seconds(list->part_target) * 3);
        comma = ",";
    }
    if (list->skip_until > 0)
        wr_printf(w, "%sCAN-SKIP-UNTIL=%.3f", comma, seconds(list->skip_until));
    wr_text(w, "\n");
    if (list->part_target > 0)
        wr_printf(w, "#EXT-X-PART-INF:PART-TARGET=%.3f\n", seconds(list->part_target));
}

void m3u8_head(struct wr *w, const struct m3u8 *list)
{
    wr_printf(w, "#EXTM3U\n#EXT-X-VERSION:%d\n#EXT-X-MEDIA-SEQUENCE:%llu\n", list->version,
              (unsigned long long)list->sequence);
    if (list->discontinuities > 0)
        wr_printf(w, "#EXT-X-DISCONTINUITY-SEQUENCE:%llu\n",
                  (unsigned long long)list->discontinuities);
    wr_printf(w, "#EXT-X-TARGETDURATION:%u\n", list->target);
    if (list->independent)
        wr_text(w, "#EXT-X-INDEPENDENT-SEGMENTS\n");
    put_control(w, list);
    if (list->skipped > 0)
        wr_printf(w, "#EXT-X-SKIP:SKIPPED-SEGMENTS=%llu\n", (unsigned long long)list->skipped);
}

static bool differs(const char *a, const char *b)
{
    return a != b && (!a || !b || strcmp(a, b) != 0);
}

static void put_map(struct wr *w, const char *uri)
{
    wr_text(w, "#EXT-X-MAP:URI=\"");
    wr_text(w, uri);
    wr_text(w, "\"\n");
}

static void put_key(struct wr *w, const struct m3u8_segment *s)
{
    if (!s->key) {
        wr_text(w, "#EXT-X-KEY:METHOD=NONE\n");
        return;
    }
    wr_text(w, "#EXT-X-KEY:METHOD=AES-128,URI=\"");
    wr_text(w, s->key);
    wr_text(w, "\",IV=0x");
    for (int i = 0; i < 16; i++)
        wr_printf(w, "%02x", s->iv[i]);
    wr_text(w, "\n");
}

/* A map must come while no key applies: the file that it names is not encrypted, [HLS] 4.3.2.5. */
static void put_map_and_key(struct wr *w, const struct m3u8_segment *s,
                            const struct m3u8_segment *before)
{
    const char *key = before ? before->key : NULL;
    bool iv = s->key && before && memcmp(s->iv, before->iv, sizeof(s->iv)) != 0;

    if (s->map && differs(s->map, before ? before->map : NULL)) {
        if (key)
            wr_text(w, "#EXT-X-KEY:METHOD=NONE\n");
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
        wr_text(w, "#EXT-X-DISCONTINUITY\n");
    put_map_and_key(w, s, before);
    if (s->wall > 0) {
        playlist_date(w, "#EXT-X-PROGRAM-DATE-TIME:", s->wall);
        wr_text(w, "\n");
    }
    for (size_t i = 0; i < s->n_parts; i++) {
        wr_printf(w, "#EXT-X-PART:DURATION=%.5f,URI=\"", seconds(s->parts[i].duration));
        wr_text(w, s->parts[i].uri);
        wr_text(w, s->parts[i].independent ? "\",INDEPENDENT=YES\n" : "\"\n");
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
        wr_text(w, "#EXT-X-GAP\n");
    wr_printf(w, "#EXTINF:%.3f,\n", seconds(s->duration));
    wr_text(w, s->uri);
    wr_text(w, "\n");
}

void m3u8_tail(struct wr *w, const struct m3u8 *list)
{
    if (list->breaks)
        wr_text(w, "#EXT-X-DISCONTINUITY\n");
    if (!list->hint)
        return;
    wr_text(w, "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"");
    wr_text(w, list->hint);
    wr_text(w, "\"\n");
}

void m3u8_master(struct wr *w, const char *uri, unsigned bandwidth, const char *codecs,
                 uint32_t width, uint32_t height)
{
    wr_printf(w, "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=%u,AVERAGE-BANDWIDTH=%u", bandwidth,
              bandwidth);
    if (codecs[0])
        wr_printf(w, ",CODECS=\"%.100s\"", codecs);
    if (width > 0 && height > 0)
        wr_printf(w, ",RESOLUTION=%ux%u", width, height);
    wr_text(w, "\n");
    wr_text(w, uri);
    wr_text(w, "\n");
}
