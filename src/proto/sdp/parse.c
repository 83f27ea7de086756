/* SPDX-License-Identifier: MIT */
/* parse.c - a session description that came. */
#include "proto/sdp/sdp.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NUMBER_MAX = 999999999 };

/* ---- pieces of a line, which is a string */

static char *skip_spaces(char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* The next word; *at is behind it. "" at the end. */
static char *word(char **at)
{
    char *p = skip_spaces(*at), *end = p + strcspn(p, " \t");

    *at = *end ? end + 1 : end;
    *end = '\0';
    return p;
}

/* What is in front of a mark; *at is behind it. */
static char *part(char **at, char mark)
{
    char *p = *at, *end = strchr(p, mark);

    *at = end ? end + 1 : p + strlen(p);
    if (end)
        *end = '\0';
    return p;
}

/* The digits at the begin. False: there are none, or it is too large. */
static bool number(const char *p, uint32_t most, uint32_t *out)
{
    uint64_t v = 0;

    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        v = v * 10 + (unsigned)(*p - '0');
        if (v > most)
            return false;
    }
    *out = (uint32_t)v;
    return true;
}

/* ---- lines */

struct reader {
    struct sdp *s;
    struct sdp_media *m; /* NULL: in front of the first; or in one that cannot be read */
    bool in_media;
    enum sdp_direction direction; /* of the session */
};

static enum sdp_kind kind_of(const char *name)
{
    static const char *const names[] = { [SDP_VIDEO] = "video", [SDP_AUDIO] = "audio",
                                         [SDP_APPLICATION] = "application" };

    for (int i = 0; i < SDP_OTHER; i++) {
        if (strcasecmp(names[i], name) == 0)
            return (enum sdp_kind)i;
    }
    return SDP_OTHER;
}

static void read_formats(struct sdp_media *m, char *p)
{
    while (*(p = skip_spaces(p)) && m->n < SDP_FORMATS_MAX) {
        uint32_t type;

        if (number(word(&p), 127, &type))
            m->formats[m->n++] = (struct sdp_format){ .type = (uint8_t)type, .name = "",
                                                      .fmtp = "" };
    }
}

/* [SDP] 5.14: kind, port, protocol, payload types. */
static err_t read_media(struct reader *r, char *p)
{
    struct sdp *s = r->s;
    char *kind = word(&p), *port = word(&p), *proto = word(&p);
    uint32_t n;

    r->in_media = true;
    r->m = NULL;
    if (s->n == SDP_MEDIA_MAX)
        return err_new(ERR_TOO_MANY, "more than %d media", SDP_MEDIA_MAX);
    if (!number(port, UINT16_MAX, &n)) {
        s->left_out++;
        return s->left_out > SDP_MEDIA_MAX ? err_new(ERR_TOO_MANY, "media without ports") : NULL;
    }
    r->m = &s->media[s->n++];
    *r->m = (struct sdp_media){ .kind = kind_of(kind), .port = n, .proto = proto, .control = "",
                                .address = "", .direction = r->direction };
    read_formats(r->m, p);
    return NULL;
}

static struct sdp_format *format(struct sdp_media *m, const char *type)
{
    uint32_t n;

    if (!m || !number(type, 127, &n))
        return NULL;
    for (unsigned i = 0; i < m->n; i++) {
        if (m->formats[i].type == n)
            return &m->formats[i];
    }
    return NULL;
}

/* "96 MPEG4-GENERIC/48000/2" */
static void read_rtpmap(struct sdp_media *m, char *p)
{
    struct sdp_format *f = format(m, word(&p));
    uint32_t n;
    char *name;

    if (!f)
        return;
    name = word(&p);
    f->name = part(&name, '/');
    if (number(name, NUMBER_MAX, &n))
        f->clock = n;
    (void)part(&name, '/');
    if (number(name, SDP_CHANNELS_MAX, &n))
        f->channels = n;
}

static void read_fmtp(struct sdp_media *m, char *p)
{
    struct sdp_format *f = format(m, word(&p));

    if (f)
        f->fmtp = skip_spaces(p);
}

static bool read_direction(enum sdp_direction *d, const char *name)
{
    static const char *const names[] = { [SDP_SENDRECV] = "sendrecv", [SDP_SENDONLY] = "sendonly",
                                         [SDP_RECVONLY] = "recvonly", [SDP_INACTIVE] = "inactive" };

    for (int i = SDP_SENDRECV; i <= SDP_INACTIVE; i++) {
        if (strcasecmp(names[i], name) == 0) {
            *d = (enum sdp_direction)i;
            return true;
        }
    }
    return false;
}

/* [SDP] 5.13 and 6, [RTSP] C.1.1 and C.1.5. */
static void read_attribute(struct reader *r, char *p)
{
    char *name = part(&p, ':');
    struct sdp_media *m = r->m;

    p = skip_spaces(p);
    if (r->in_media && !m)
        return;
    if (strcasecmp(name, "rtpmap") == 0)
        read_rtpmap(m, p);
    else if (strcasecmp(name, "fmtp") == 0)
        read_fmtp(m, p);
    else if (strcasecmp(name, "control") == 0)
        *(m ? &m->control : &r->s->control) = p;
    else if (strcasecmp(name, "range") == 0 && (!m || !r->s->range[0]))
        r->s->range = p; /* some have it in their media alone */
    else
        (void)read_direction(m ? &m->direction : &r->direction, name);
}

/* "IN IP4 224.2.1.1/127", and without the kind of address, as some write it. */
static void read_address(struct reader *r, char *p)
{
    char *last = "";

    while (*(p = skip_spaces(p)))
        last = word(&p);
    if (r->m)
        r->m->address = part(&last, '/');
}

static void read_bandwidth(struct reader *r, char *p)
{
    char *kind = part(&p, ':');
    uint32_t n;

    if (r->m && strcmp(kind, "AS") == 0 && number(skip_spaces(p), NUMBER_MAX, &n))
        r->m->kbits = n;
}

static err_t read_line(struct reader *r, char *line)
{
    char *value = skip_spaces(line + 2);

    switch (line[0]) {
    case 'm':
        return read_media(r, value);
    case 'a':
        read_attribute(r, value);
        break;
    case 'b':
        read_bandwidth(r, value);
        break;
    case 'c':
        read_address(r, value);
        break;
    case 's':
        if (!r->in_media)
            r->s->name = value;
        break;
    default:
        break;
    }
    return NULL;
}

static void trim(char *line)
{
    size_t n = strlen(line);

    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'))
        line[--n] = '\0';
}

/* Line by line, however they end. */
static err_t read_lines(struct reader *r, char *p, const char *end)
{
    bool any = false;
    err_t err = NULL;

    while (!err && p < end) {
        char *line = p;

        p += strcspn(p, "\r\n");
        *p++ = '\0';
        trim(line);
        line = skip_spaces(line);
        if (line[0] == '\0' || line[1] != '=')
            continue;
        any = true;
        err = read_line(r, line);
    }
    if (!err && !any)
        err = err_new(ERR_MALFORMED, "no line of a description");
    return err;
}

err_t sdp_parse(struct sdp *s, const char *text, size_t size)
{
    struct reader r = { .s = s };
    err_t err;

    *s = (struct sdp){ .name = "", .control = "", .range = "" };
    if (size > SDP_SIZE_MAX)
        return err_new(ERR_TOO_LARGE, "a description of %zu bytes", size);
    s->memory = mem_try(size + 1);
    if (!s->memory)
        return err_new(ERR_NO_MEMORY, "a description of %zu bytes", size);
    memcpy(s->memory, text, size);
    s->memory[size] = '\0';
    err = read_lines(&r, s->memory, s->memory + size);
    if (err)
        sdp_free(s);
    return err;
}

void sdp_free(struct sdp *s)
{
    free(s->memory);
    s->memory = NULL;
    s->n = 0;
}
