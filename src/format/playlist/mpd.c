/* SPDX-License-Identifier: MIT */
/* mpd.c - the playlist of MPEG-DASH. */
#include "format/playlist/mpd.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static const char tail[] = "</MPD>\n";

static void put_date(struct wr *w, const char *name, int64_t ms)
{
    time_t t = (time_t)(ms / 1000);
    struct tm tm;

    (void)gmtime_r(&t, &tm);
    wr_printf(w, "%s=\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"", name, tm.tm_year + 1900,
              tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(ms % 1000));
}

static void put_span(struct wr *w, const char *name, int64_t ms)
{
    wr_printf(w, "%s=\"PT%" PRId64 ".%03dS\"", name, ms / 1000, (int)(ms % 1000));
}

/* In an attribute; and "$" begins a variable, [DASH] 5.3.9.4.4. */
static void put_url(struct wr *w, const char *url)
{
    for (; *url; url++) {
        switch (*url) {
        case '&':
            wr_text(w, "&amp;");
            break;
        case '<':
            wr_text(w, "&lt;");
            break;
        case '"':
            wr_text(w, "&quot;");
            break;
        case '$':
            wr_text(w, "$$");
            break;
        case ' ': case '#': case '%': case '?':
            wr_printf(w, "%%%02X", *url);
            break;
        default:
            wr_u8(w, (uint8_t)*url);
        }
    }
}

void mpd_begin(struct mpd_writer *m, struct wr *w, const struct mpd *mpd)
{
    *m = (struct mpd_writer){ .w = w };
    wr_text(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" "
               "profiles=\"urn:mpeg:dash:profile:isoff-live:2011\" type=\"dynamic\"\n     ");
    put_date(w, "availabilityStartTime", mpd->available);
    put_date(w, " publishTime", mpd->published);
    put_span(w, "\n     minimumUpdatePeriod", mpd->update);
    put_span(w, " timeShiftBufferDepth", mpd->shift);
    put_span(w, "\n     maxSegmentDuration", mpd->longest);
    put_span(w, " minBufferTime", mpd->longest);
    put_span(w, " suggestedPresentationDelay", mpd->delay);
    wr_text(w, ">\n");
}

void mpd_period(struct mpd_writer *m, int64_t name, int64_t start)
{
    wr_printf(m->w, "  <Period id=\"%" PRId64 "\"", name);
    put_span(m->w, " start", start);
    wr_text(m->w, ">\n");
}

void mpd_set(struct mpd_writer *m, const struct mpd_track *t)
{
    const char *kind = t->video ? "video" : "audio";
    struct wr *w = m->w;

    wr_printf(w, "    <AdaptationSet id=\"%d\" contentType=\"%s\" mimeType=\"%s/mp4\" "
                 "segmentAlignment=\"true\" startWithSAP=\"1\">\n", t->video ? 1 : 2, kind, kind);
    if (!t->video && t->channels > 0)
        wr_printf(w, "      <AudioChannelConfiguration schemeIdUri="
                     "\"urn:mpeg:dash:23003:3:audio_channel_configuration:2011\" value=\"%u\"/>\n",
                  t->channels);
    wr_printf(w, "      <SegmentTemplate timescale=\"%u\" initialization=\"", t->timescale);
    put_url(w, t->init);
    wr_text(w, "\" media=\"");
    put_url(w, t->media);
    wr_text(w, "$Time$.m4s\">\n        <SegmentTimeline>\n");
    m->open = m->written = false;
}

static void put_open(struct mpd_writer *m)
{
    if (!m->open)
        return;
    wr_text(m->w, "          <S");
    if (!m->written || m->end != m->begin)
        wr_printf(m->w, " t=\"%" PRIu64 "\"", m->begin);
    wr_printf(m->w, " d=\"%" PRIu64 "\"", m->duration);
    if (m->repeat > 0)
        wr_printf(m->w, " r=\"%" PRIu64 "\"", m->repeat);
    wr_text(m->w, "/>\n");
    m->written = true;
    m->end = m->next;
    m->open = false;
}

void mpd_segment(struct mpd_writer *m, uint64_t begin, uint64_t duration)
{
    if (m->open && begin == m->next && duration == m->duration) {
        m->repeat++;
    } else {
        put_open(m);
        m->open = true;
        m->begin = begin;
        m->duration = duration;
        m->repeat = 0;
    }
    m->next = begin + duration;
}

/* Rates like 30000/1001 are written as they are. */
static void put_fps(struct wr *w, double fps)
{
    unsigned whole = (unsigned)(fps + 0.5), milli = (unsigned)(fps * 1000 + 0.5);

    if (fps < 1 || fps > 1000)
        return;
    if (milli == whole * 1000)
        wr_printf(w, " frameRate=\"%u\"", whole);
    else if ((unsigned)(whole * 1000000.0 / 1001 + 0.5) == milli)
        wr_printf(w, " frameRate=\"%u/1001\"", whole * 1000);
    else
        wr_printf(w, " frameRate=\"%u/1000\"", milli);
}

void mpd_set_end(struct mpd_writer *m, const struct mpd_track *t)
{
    struct wr *w = m->w;

    put_open(m);
    wr_printf(w, "        </SegmentTimeline>\n      </SegmentTemplate>\n"
                 "      <Representation id=\"%s\" bandwidth=\"%u\"", t->video ? "video" : "audio",
              t->bandwidth > 0 ? t->bandwidth : 1);
    if (t->codecs[0])
        wr_printf(w, " codecs=\"%s\"", t->codecs);
    if (t->video && t->width > 0 && t->height > 0)
        wr_printf(w, " width=\"%u\" height=\"%u\"", t->width, t->height);
    if (t->video)
        put_fps(w, t->fps);
    else if (t->rate > 0)
        wr_printf(w, " audioSamplingRate=\"%u\"", t->rate);
    wr_text(w, "/>\n    </AdaptationSet>\n");
}

void mpd_period_end(struct mpd_writer *m)
{
    wr_text(m->w, "  </Period>\n");
}

void mpd_end(struct mpd_writer *m)
{
    wr_text(m->w, tail);
}

/* One line; behind its urls goes the query: `initialization="s/init.mp4"`, `media="..."`. */
static void put_line(struct wr *w, const char *line, size_t n, const char *query)
{
    static const char *const names[] = { " initialization=\"", " media=\"" };
    const char *end = line + n;
    bool has = memmem(line, n, "<SegmentTemplate ", 17) != NULL;

    for (size_t i = 0; has && i < 2; i++) {
        const char *at = memmem(line, (size_t)(end - line), names[i], strlen(names[i]));

        at = at ? memchr(at + strlen(names[i]), '"', (size_t)(end - at) - strlen(names[i])) : NULL;
        if (!at)
            continue;
        wr_bytes(w, line, (size_t)(at - line));
        wr_printf(w, "?%s", query);
        line = at;
    }
    wr_bytes(w, line, (size_t)(end - line));
}

static void put_queries(struct wr *w, const char *mpd, const char *end, const char *query)
{
    while (mpd < end) {
        const char *nl = memchr(mpd, '\n', (size_t)(end - mpd));
        const char *next = nl ? nl + 1 : end;

        put_line(w, mpd, (size_t)(next - mpd), query);
        mpd = next;
    }
}

/* In front of what the MPD has first: [DASH] 5.3.1.3, the order of its elements. */
static void put_location(struct wr *w, const char *url)
{
    wr_text(w, "  <Location>");
    for (; *url; url++) {
        if (*url == '&')
            wr_text(w, "&amp;");
        else if (strchr("<>\"", *url) || (uint8_t)*url >= 0x80)
            wr_printf(w, "%%%02X", (uint8_t)*url);
        else
            wr_u8(w, (uint8_t)*url);
    }
    wr_text(w, "</Location>\n");
}

void mpd_put_personal(struct wr *w, const char *mpd, size_t size, const struct mpd_personal *p)
{
    size_t n = strlen(tail);
    bool ends = size >= n && memcmp(mpd + size - n, tail, n) == 0;
    const char *end = mpd + size - (ends ? n : 0);
    const char *first = memmem(mpd, size, "  <Period ", 10);

    if (p->location && first) {
        wr_bytes(w, mpd, (size_t)(first - mpd));
        put_location(w, p->location);
        mpd = first;
    }
    if (p->query)
        put_queries(w, mpd, end, p->query);
    else
        wr_bytes(w, mpd, (size_t)(end - mpd));
    if (!ends)
        return;
    wr_text(w, "  <UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:direct:2014\"");
    put_date(w, " value", p->now);
    wr_text(w, "/>\n");
    wr_text(w, tail);
}
