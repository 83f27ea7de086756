/* SPDX-License-Identifier: MIT */
/* fragment.c - what a client sends when it has more candidates, or begins ICE again: RFC 8840. */
#include "proto/sdp/answer.h"

#include <string.h>

/* The value of that attribute, up to the end of the line. */
static bool attribute(const char *line, size_t size, const char *name, const char **value,
                      size_t *n)
{
    size_t k = strlen(name);

    if (size < k || memcmp(line, name, k) != 0)
        return false;
    *value = line + k;
    *n = size - k;
    return true;
}

static bool keep(char *out, size_t room, const char *text, size_t n)
{
    if (n == 0 || n >= room || memchr(text, ':', n))
        return false;
    memcpy(out, text, n);
    out[n] = '\0';
    return true;
}

/* The first ones count: those of the session, or of the section that stands for all. */
static bool read_line(struct sdp_fragment *f, const char *line, size_t size)
{
    const char *value;
    size_t n;

    if (attribute(line, size, "a=ice-ufrag:", &value, &n))
        return f->ufrag[0] || keep(f->ufrag, sizeof(f->ufrag), value, n);
    if (attribute(line, size, "a=ice-pwd:", &value, &n))
        return f->pwd[0] || keep(f->pwd, sizeof(f->pwd), value, n);
    if (attribute(line, size, "a=candidate:", &value, &n))
        f->candidates++;
    return size >= 2 && line[1] == '=';
}

bool sdp_fragment_parse(struct sdp_fragment *f, const char *text, size_t size)
{
    const char *end = text + size;
    bool any = false;

    memset(f, 0, sizeof(*f));
    if (size > SDP_OFFER_MAX || memchr(text, 0, size))
        return false;
    while (text < end) {
        const char *line = text, *lf = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((lf ? lf : end) - line);

        text = lf ? lf + 1 : end;
        while (n > 0 && strchr("\r \t", line[n - 1]))
            n--;
        if (n == 0)
            continue;
        if (n > SDP_LINE_MAX || !read_line(f, line, n))
            return false;
        any = true;
    }
    return any;
}

/* Section 9: what is new, and a section for the candidates. */
void sdp_fragment_write(struct wr *w, const struct sdp_agreed *a, const struct sdp_answer *ours)
{
    const struct sdp_place *p = a->places;

    while (p < a->places + a->n && !p->taken)
        p++;
    wr_printf(w, "a=ice-lite\r\na=ice-ufrag:%s\r\na=ice-pwd:%s\r\n", ours->ufrag, ours->pwd);
    if (p < a->places + a->n)
        wr_printf(w, "m=%s 9 %s %u\r\na=mid:%s\r\n", p->media, p->proto,
                  a->tracks[p->track].type, p->mid);
    sdp_put_candidates(w, ours);
    wr_text(w, "a=end-of-candidates\r\n");
}
