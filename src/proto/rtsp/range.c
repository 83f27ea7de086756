/* SPDX-License-Identifier: MIT */
/* range.c - the fields Range, Scale and Speed. */
#include "proto/rtsp/range.h"

#include <string.h>
#include <strings.h>

#define SECOND INT64_C(1000000)
#define MOST (INT64_C(10) * 366 * 24 * 3600 * SECOND)

enum { RATE_ONE = 1000, RATE_MOST = 1000 * RATE_ONE };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses digits, up to `most`. Not strtod(), which accepts "nan", "inf", exponents and
 * locale-dependent commas. */
static bool whole(const char **p, int64_t most, int64_t *out)
{
    int64_t v = 0;

    if (!is_digit(**p))
        return false;
    for (; is_digit(**p); ++*p) {
        v = v * 10 + (**p - '0');
        if (v > most)
            return false;
    }
    *out = v;
    return true;
}

/* Parses ".25" in units of 1/one; a missing fraction is 0. Truncates finer digits. */
static int64_t fraction(const char **p, int64_t one)
{
    int64_t v = 0;

    if (**p != '.')
        return 0;
    for (++*p; is_digit(**p); ++*p) {
        one /= 10;
        v += (**p - '0') * one;
    }
    return v;
}

/* Parses "12.5" or "0:01:12.5". */
static bool npt_time(const char **p, int64_t *out)
{
    int64_t v, part, all = 0;
    int parts = 0;

    do {
        if (!whole(p, MOST / SECOND, &part) || (parts > 0 && part > 59))
            return false;
        all = all * 60 + part;
        parts++;
    } while (parts < 3 && **p == ':' && ++*p);
    if (parts == 2 || all > MOST / SECOND) /* hours require minutes and seconds */
        return false;
    v = all * SECOND + fraction(p, SECOND);
    *out = v;
    return true;
}

static bool npt(const char *p, struct rtsp_range *out)
{
    out->begin = out->end = RTSP_RANGE_OPEN;
    p += strspn(p, " \t");
    if (strncasecmp(p, "now", 3) == 0) {
        out->begin = RTSP_RANGE_NOW;
        p += 3;
    } else if (*p != '-' && !npt_time(&p, &out->begin)) {
        return false;
    }
    p += strspn(p, " \t");
    if (*p == '-') { /* some clients omit it: "npt=0" */
        p++;
        p += strspn(p, " \t");
        if (is_digit(*p) && !npt_time(&p, &out->end))
            return false;
    }
    p += strspn(p, " \t");
    if (*p && *p != ';') /* ";time=" gives the start time, which is ignored: it starts now */
        return false;
    if (out->begin == RTSP_RANGE_OPEN && out->end == RTSP_RANGE_OPEN)
        return false;
    return out->begin < 0 || out->end < 0 || out->begin <= out->end;
}

bool rtsp_range_parse(const char *text, struct rtsp_range *out)
{
    size_t n;

    text += strspn(text, " \t");
    n = strcspn(text, "= \t");
    *out = (struct rtsp_range){ RTSP_RANGE_NPT, RTSP_RANGE_OPEN, RTSP_RANGE_OPEN };
    if (strncasecmp(text, "smpte", 5) == 0 && n >= 5)
        out->unit = RTSP_RANGE_SMPTE; /* includes smpte-25 and smpte-30-drop */
    else if (strncasecmp(text, "clock", n) == 0 && n == 5)
        out->unit = RTSP_RANGE_CLOCK;
    else if (strncasecmp(text, "npt", n) != 0 || n != 3)
        return false;
    text += n;
    text += strspn(text, " \t");
    if (*text != '=')
        return false;
    return out->unit != RTSP_RANGE_NPT || npt(text + 1, out);
}

static void put_time(struct wr *w, int64_t us)
{
    if (us >= 0)
        wr_printf(w, "%lld.%03lld", (long long)(us / SECOND), (long long)(us % SECOND / 1000));
}

void rtsp_range_put(struct wr *w, const struct rtsp_range *range)
{
    wr_text(w, "npt=");
    if (range->begin == RTSP_RANGE_NOW)
        wr_text(w, "now");
    put_time(w, range->begin);
    wr_text(w, "-");
    put_time(w, range->end);
}

bool rtsp_rate_parse(const char *text, int *out)
{
    int64_t v = 0;
    bool minus;

    text += strspn(text, " \t");
    minus = *text == '-';
    text += minus || *text == '+';
    if (!whole(&text, RATE_MOST / RATE_ONE, &v))
        return false;
    v = v * RATE_ONE + fraction(&text, RATE_ONE);
    text += strspn(text, " \t");
    if (*text || v > RATE_MOST)
        return false;
    *out = (int)(minus ? -v : v);
    return true;
}

void rtsp_rate_put(struct wr *w, int rate)
{
    int v = rate < 0 ? -rate : rate;

    wr_printf(w, "%s%d.%03d", rate < 0 ? "-" : "", v / RATE_ONE, v % RATE_ONE);
}
