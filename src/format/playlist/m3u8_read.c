/* SPDX-License-Identifier: MIT */
/* m3u8_read.c - reads HLS media playlists like those of m3u8.c. */
#include "format/playlist/m3u8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLOCK = 90000, DURATION_MAX = 24 * 3600 };

static struct m3u8_text next_line(struct m3u8_reader *r)
{
    struct m3u8_text t = { r->p, 0 };
    const char *nl = memchr(r->p, '\n', (size_t)(r->end - r->p));

    t.n = (size_t)((nl ? nl : r->end) - r->p);
    r->p = nl ? nl + 1 : r->end;
    while (t.n > 0 && (t.p[t.n - 1] == '\r' || t.p[t.n - 1] == ' '))
        t.n--;
    return t;
}

/* Returns the text after the name of a tag; p is NULL if it is another tag. */
static struct m3u8_text after(struct m3u8_text l, const char *tag)
{
    size_t n = strlen(tag);

    if (l.n < n || memcmp(l.p, tag, n) != 0)
        return (struct m3u8_text){ NULL, 0 };
    return (struct m3u8_text){ l.p + n, l.n - n };
}

/* Returns the value of an attribute without its quotes. */
static struct m3u8_text attribute(struct m3u8_text l, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i + n + 1 < l.n; i++) {
        struct m3u8_text v = { l.p + i + n + 1, l.n - i - n - 1 };
        bool quoted = v.n > 0 && *v.p == '"';
        const char *end;

        if ((i > 0 && l.p[i - 1] != ',') || memcmp(l.p + i, name, n) != 0 || l.p[i + n] != '=')
            continue;
        if (quoted) {
            v.p++;
            v.n--;
        }
        end = memchr(v.p, quoted ? '"' : ',', v.n);
        v.n = end ? (size_t)(end - v.p) : v.n;
        return v;
    }
    return (struct m3u8_text){ NULL, 0 };
}

/* Copies the start of the text, which has no final 0, to parse a number. */
static void copy(struct m3u8_text t, char *buf, size_t size)
{
    size_t n = t.n < size - 1 ? t.n : size - 1;

    if (n > 0)
        memcpy(buf, t.p, n);
    buf[n] = '\0';
}

static uint64_t number(struct m3u8_text t)
{
    char buf[24];

    copy(t, buf, sizeof(buf));
    return buf[0] == '-' ? 0 : strtoull(buf, NULL, 10);
}

static int64_t duration(struct m3u8_text t)
{
    char buf[24];
    double v;

    copy(t, buf, sizeof(buf));
    v = strtod(buf, NULL);
    return v > 0 && v < DURATION_MAX ? (int64_t)(v * CLOCK + 0.5) : 0;
}

static void read_iv(struct m3u8_reader *r, struct m3u8_text t)
{
    char byte[3] = "";

    memset(r->segment.iv, 0, sizeof(r->segment.iv));
    if (t.n != 34)
        return;
    for (size_t i = 0; i < 16; i++) {
        memcpy(byte, t.p + 2 + 2 * i, 2);
        r->segment.iv[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
}

static int64_t wall(struct m3u8_text t)
{
    struct tm tm = { 0 };
    char buf[40];
    const char *rest;
    double part;

    copy(t, buf, sizeof(buf));
    rest = strptime(buf, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!rest)
        return 0;
    part = *rest == '.' ? strtod(rest, NULL) : 0;
    return (int64_t)timegm(&tm) * 1000 + (part > 0 && part < 1 ? (int64_t)(part * 1000 + 0.5) : 0);
}

static void read_key(struct m3u8_reader *r, struct m3u8_text v)
{
    r->key = attribute(v, "URI");
    read_iv(r, attribute(v, "IV"));
}

static bool is_yes(struct m3u8_text v)
{
    return v.n == 3 && memcmp(v.p, "YES", 3) == 0;
}

static void read_control(struct m3u8_reader *r, struct m3u8_text v)
{
    r->can_block = is_yes(attribute(v, "CAN-BLOCK-RELOAD"));
    r->hold_back = duration(attribute(v, "HOLD-BACK"));
    r->part_hold_back = duration(attribute(v, "PART-HOLD-BACK"));
    r->list.skip_until = duration(attribute(v, "CAN-SKIP-UNTIL"));
}

/* [HLS] bis 4.4.4.9 */
static enum m3u8_item read_part(struct m3u8_reader *r, struct m3u8_text v)
{
    r->uri = attribute(v, "URI");
    r->part.duration = duration(attribute(v, "DURATION"));
    r->part.independent = is_yes(attribute(v, "INDEPENDENT"));
    return r->uri.n > 0 ? M3U8_PART : M3U8_END;
}

/* [HLS] bis 4.4.5.3 */
static enum m3u8_item read_hint(struct m3u8_reader *r, struct m3u8_text v)
{
    struct m3u8_text type = attribute(v, "TYPE");

    r->uri = attribute(v, "URI");
    return type.n == 4 && memcmp(type.p, "PART", 4) == 0 && r->uri.n > 0 ? M3U8_HINT : M3U8_END;
}

static void read_head(struct m3u8_reader *r, struct m3u8_text l)
{
    struct m3u8_text v;

    if ((v = after(l, "#EXT-X-MEDIA-SEQUENCE:")).p)
        r->list.sequence = number(v);
    else if ((v = after(l, "#EXT-X-DISCONTINUITY-SEQUENCE:")).p)
        r->list.discontinuities = number(v);
    else if ((v = after(l, "#EXT-X-TARGETDURATION:")).p)
        r->list.target = number(v) < DURATION_MAX ? (unsigned)number(v) : 0;
    else if ((v = after(l, "#EXT-X-PART-INF:")).p)
        r->list.part_target = duration(attribute(v, "PART-TARGET"));
    else if ((v = after(l, "#EXT-X-SERVER-CONTROL:")).p)
        read_control(r, v);
    else if ((v = after(l, "#EXT-X-SKIP:")).p)
        r->list.skipped = number(attribute(v, "SKIPPED-SEGMENTS"));
    else if (after(l, "#EXT-X-ENDLIST").p)
        r->over = true;
}

static void read_tag(struct m3u8_reader *r, struct m3u8_text l)
{
    struct m3u8_text v;

    if ((v = after(l, "#EXTINF:")).p)
        r->segment.duration = duration(v);
    else if ((v = after(l, "#EXT-X-PROGRAM-DATE-TIME:")).p)
        r->segment.wall = wall(v);
    else if ((v = after(l, "#EXT-X-MAP:")).p)
        r->map = attribute(v, "URI");
    else if ((v = after(l, "#EXT-X-KEY:")).p)
        read_key(r, v);
    else if ((v = after(l, "#EXT-X-STREAM-INF:")).p) {
        uint64_t n = number(attribute(v, "BANDWIDTH"));

        r->bandwidth = n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
        r->variant = true;
    } else if (after(l, "#EXT-X-GAP").p)
        r->segment.gap = true;
    else if (after(l, "#EXT-X-DISCONTINUITY").p && !after(l, "#EXT-X-DISCONTINUITY-").p)
        r->segment.discontinuity = true;
    else
        read_head(r, l);
}

/* M3U8_END: the line has no URI. */
static enum m3u8_item read_line(struct m3u8_reader *r, struct m3u8_text l)
{
    struct m3u8_text v;
    bool variant = r->variant;

    if (l.n == 0)
        return M3U8_END;
    if (*l.p != '#') {
        r->uri = l;
        r->variant = false;
        return variant ? M3U8_VARIANT : M3U8_SEGMENT;
    }
    if ((v = after(l, "#EXT-X-PART:")).p)
        return read_part(r, v);
    if ((v = after(l, "#EXT-X-PRELOAD-HINT:")).p)
        return read_hint(r, v);
    read_tag(r, l);
    return M3U8_END;
}

err_t m3u8_open(struct m3u8_reader *r, const char *text, size_t size)
{
    *r = (struct m3u8_reader){ .p = text, .end = text + size };
    if (!after(next_line(r), "#EXTM3U").p)
        return err_new(ERR_MALFORMED, "no playlist");
    return NULL;
}

enum m3u8_item m3u8_item(struct m3u8_reader *r)
{
    enum m3u8_item item = M3U8_END;

    if (r->given) {
        r->segment.duration = 0;
        r->segment.wall = 0;
        r->segment.discontinuity = r->segment.gap = false;
    }
    while (r->p < r->end && item == M3U8_END)
        item = read_line(r, next_line(r));
    r->given = item == M3U8_SEGMENT;
    return item;
}
