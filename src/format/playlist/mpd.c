/* SPDX-License-Identifier: MIT */
/* mpd.c - the playlist of MPEG-DASH. */
#include "format/playlist/mpd.h"

#include "format/playlist/m3u8.h"

#include <inttypes.h>
#include <string.h>

enum { URLS = 2 /* URLs of a segment template */ };

static const char tail[] = "</MPD>\n";

static void put_span(struct wr *w, const char *name, int64_t ms)
{
    wr_printf(w, "%s=\"PT%" PRId64 ".%03dS\"", name, ms / 1000, (int)(ms % 1000));
}

/* Escapes a URL for an attribute; "$" would start a variable, [DASH] 5.3.9.4.4. */
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
    playlist_date(w, "availabilityStartTime=\"", mpd->available);
    playlist_date(w, "\" publishTime=\"", mpd->published);
    put_span(w, "\"\n     minimumUpdatePeriod", mpd->update);
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

/* Writes rates like 30000/1001 as a fraction. */
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

/* Writes the location, which must be the first element, [DASH] 5.3.1.3. */
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

/* ------------------------------------------------------------ changing a playlist for one player
 * */

void mpd_cut_begin(struct mpd_cut *c, const char *text, size_t size)
{
    size_t n = strlen(tail);
    bool ends = size >= n && memcmp(text + size - n, tail, n) == 0;

    *c = (struct mpd_cut){ .at = text, .url = URLS, .body_end = text + size - (ends ? n : 0) };
    c->once[MPD_LOCATION] = memmem(text, (size_t)(c->body_end - text), "  <Period ", 10);
    c->once[MPD_TIME] = ends ? c->body_end : NULL;
    c->once[MPD_NOTHING] = text + size;
    c->line_end = c->once[MPD_LOCATION] ? c->once[MPD_LOCATION] : text;
}

/* Returns the end of the next URL in a line of a segment template, `initialization="s/init.mp4"` or
 * `media="..."`; NULL: no more. */
static const char *next_url(struct mpd_cut *c)
{
    static const char *const names[URLS] = { " initialization=\"", " media=\"" };

    for (;;) {
        while (c->url < URLS) {
            const char *name = names[c->url++];
            const char *at = memmem(c->line, (size_t)(c->line_end - c->line), name, strlen(name));

            at = at ? at + strlen(name) : NULL;
            at = at ? memchr(at, '"', (size_t)(c->line_end - at)) : NULL;
            if (at)
                return c->line = at;
        }
        c->line = c->line_end;
        if (c->line == c->body_end)
            return NULL;
        c->line_end = memchr(c->line, '\n', (size_t)(c->body_end - c->line));
        c->line_end = c->line_end ? c->line_end + 1 : c->body_end;
        if (memmem(c->line, (size_t)(c->line_end - c->line), "<SegmentTemplate ", 17))
            c->url = 0;
    }
}

bool mpd_cut_next(struct mpd_cut *c)
{
    while (c->next < MPD_PLACES) {
        const char *to = c->next == MPD_QUERY ? next_url(c) : c->once[c->next];

        c->place = c->next;
        if (c->next != MPD_QUERY || !to)
            c->next++;
        if (to) {
            c->text = c->at;
            c->size = (size_t)(to - c->at);
            c->at = to;
            return true;
        }
    }
    return false;
}

void mpd_put_own(struct wr *w, enum mpd_place place, const struct mpd_personal *p)
{
    if (place == MPD_LOCATION && p->location)
        put_location(w, p->location);
    if (place == MPD_QUERY && p->query)
        wr_printf(w, "?%s", p->query);
    if (place != MPD_TIME)
        return;
    wr_text(w, "  <UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:direct:2014\"");
    playlist_date(w, " value=\"", p->now);
    wr_text(w, "\"/>\n");
}

void mpd_put_personal(struct wr *w, const char *text, size_t size, const struct mpd_personal *p)
{
    struct mpd_cut c;

    for (mpd_cut_begin(&c, text, size); mpd_cut_next(&c);) {
        wr_bytes(w, c.text, c.size);
        mpd_put_own(w, c.place, p);
    }
}
