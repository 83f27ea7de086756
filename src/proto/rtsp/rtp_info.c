/* SPDX-License-Identifier: MIT */
/* rtp_info.c - the field RTP-Info: the start of each track's media. */
#include "proto/rtsp/rtp_info.h"

#include <string.h>
#include <strings.h>

/* Returns the next "url=" at which an entry may start, or NULL. URLs may contain commas, so a URL
 * ends at the next entry or at ";seq=" and the like. */
static const char *next_entry(const char *p)
{
    while (*p) {
        p += strspn(p, ", \t");
        if (strncasecmp(p, "url=", 4) == 0)
            return p;
        p += strcspn(p, ",");
    }
    return NULL;
}

static bool number(const char *p, const char *end, uint64_t most, uint64_t *out)
{
    uint64_t v = 0;
    const char *begin = p;

    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        v = v * 10 + (uint64_t)(*p - '0');
        if (v > most)
            return false;
    }
    *out = v;
    return p > begin;
}

static void set_param(struct rtsp_rtp_info *e, const char *p, const char *end)
{
    uint64_t v;

    if (strncasecmp(p, "seq=", 4) == 0 && number(p + 4, end, UINT16_MAX, &v)) {
        e->has_seq = true;
        e->seq = (uint16_t)v;
    } else if (strncasecmp(p, "rtptime=", 8) == 0 && number(p + 8, end, UINT32_MAX, &v)) {
        e->has_time = true;
        e->time = (uint32_t)v;
    }
}

/* Checks whether ";seq=" or the like starts here. */
static bool is_param(const char *p)
{
    if (*p++ != ';')
        return false;
    p += strspn(p, " \t");
    return strncasecmp(p, "seq=", 4) == 0 || strncasecmp(p, "rtptime=", 8) == 0;
}

/* Parses "url=...;seq=1;rtptime=2", up to `end`. */
static void parse_entry(const char *p, const char *end, struct rtsp_rtp_info *e)
{
    const char *stop = p + 4;

    *e = (struct rtsp_rtp_info){ .url = p + 4 };
    while (stop < end && !is_param(stop))
        stop++;
    e->url_size = (size_t)(stop - e->url);
    while (e->url_size > 0 && strchr(", \t", e->url[e->url_size - 1]))
        e->url_size--;
    if (e->url_size >= 2 && *e->url == '"' && e->url[e->url_size - 1] == '"') {
        e->url++;
        e->url_size -= 2;
    }
    for (p = stop; p < end; p += strcspn(p, ";")) {
        p += strspn(p, "; \t");
        set_param(e, p, end);
    }
}

size_t rtsp_rtp_info_parse(const char *text, struct rtsp_rtp_info out[RTSP_RTP_INFO_MAX])
{
    const char *p = next_entry(text);
    size_t n = 0;

    while (p && n < RTSP_RTP_INFO_MAX) {
        const char *next = next_entry(p + 4);

        parse_entry(p, next ? next : p + strlen(p), &out[n++]);
        p = next;
    }
    return n;
}

void rtsp_rtp_info_put(struct wr *w, const struct rtsp_rtp_info *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct rtsp_rtp_info *e = &entries[i];

        wr_text(w, i ? ",url=" : "url=");
        wr_bytes(w, e->url, e->url_size);
        if (e->has_seq)
            wr_printf(w, ";seq=%u", e->seq);
        if (e->has_time)
            wr_printf(w, ";rtptime=%u", e->time);
    }
}
