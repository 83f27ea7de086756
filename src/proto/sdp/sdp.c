/* SPDX-License-Identifier: MIT */
/* sdp.c - parses and writes session descriptions for RTSP: RFC 8866. */
#include "proto/sdp/sdp.h"

#include "base/mem.h"
#include "proto/sdp/tokens.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing */

enum { NUMBER_MAX = 999999999 };

/* ---- lines */

struct reader {
    struct sdp *s;
    struct sdp_media *m; /* NULL: before the first section, or in an invalid one */
    bool in_media;
    enum sdp_direction direction; /* default for the media */
};

static void read_formats(struct sdp_media *m, char *p)
{
    while (*(p = sdp_skip_spaces(p)) && m->n < SDP_FORMATS_MAX) {
        uint32_t type;

        if (sdp_number(sdp_word(&p), 127, &type))
            m->formats[m->n++] = (struct sdp_format){ .type = (uint8_t)type, .name = "",
                                                      .fmtp = "" };
    }
}

/* [SDP] 5.14: kind, port, protocol, payload types. */
static err_t read_media(struct reader *r, char *p)
{
    struct sdp *s = r->s;
    char *kind = sdp_word(&p), *port = sdp_word(&p), *proto = sdp_word(&p);
    uint32_t n;

    r->in_media = true;
    r->m = NULL;
    if (s->n == SDP_MEDIA_MAX)
        return err_new(ERR_TOO_MANY, "more than %d media", SDP_MEDIA_MAX);
    if (!sdp_number(port, UINT16_MAX, &n)) {
        s->left_out++;
        return s->left_out > SDP_MEDIA_MAX ? err_new(ERR_TOO_MANY, "media without ports") : NULL;
    }
    r->m = &s->media[s->n++];
    *r->m = (struct sdp_media){ .kind = sdp_kind_of(kind), .port = n, .proto = proto, .control = "",
                                .address = "", .direction = r->direction };
    read_formats(r->m, p);
    return NULL;
}

static struct sdp_format *format(struct sdp_media *m, const char *type)
{
    uint32_t n;

    if (!m || !sdp_number(type, 127, &n))
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
    struct sdp_format *f = format(m, sdp_word(&p));
    uint32_t n;
    char *name;

    if (!f)
        return;
    name = sdp_word(&p);
    f->name = sdp_part(&name, '/');
    if (sdp_number(name, NUMBER_MAX, &n))
        f->clock = n;
    (void)sdp_part(&name, '/');
    if (sdp_number(name, SDP_CHANNELS_MAX, &n))
        f->channels = n;
}

static void read_fmtp(struct sdp_media *m, char *p)
{
    struct sdp_format *f = format(m, sdp_word(&p));

    if (f)
        f->fmtp = sdp_skip_spaces(p);
}

/* [SDP] 5.13 and 6, [RTSP] C.1.1 and C.1.5. */
static void read_attribute(struct reader *r, char *p)
{
    char *name = sdp_part(&p, ':');
    struct sdp_media *m = r->m;

    p = sdp_skip_spaces(p);
    if (r->in_media && !m)
        return;
    if (sdp_is(name, "rtpmap"))
        read_rtpmap(m, p);
    else if (sdp_is(name, "fmtp"))
        read_fmtp(m, p);
    else if (sdp_is(name, "control"))
        *(m ? &m->control : &r->s->control) = p;
    else if (sdp_is(name, "range") && (!m || !r->s->range[0]))
        r->s->range = p; /* some descriptions have it only in their media */
    else
        (void)sdp_read_direction(m ? &m->direction : &r->direction, name);
}

/* "IN IP4 224.2.1.1/127"; some cameras omit the address type. */
static void read_address(struct reader *r, char *p)
{
    char *last = "";

    while (*(p = sdp_skip_spaces(p)))
        last = sdp_word(&p);
    if (r->m)
        r->m->address = sdp_part(&last, '/');
}

static void read_bandwidth(struct reader *r, char *p)
{
    char *kind = sdp_part(&p, ':');
    uint32_t n;

    if (r->m && strcmp(kind, "AS") == 0 && sdp_number(sdp_skip_spaces(p), NUMBER_MAX, &n))
        r->m->kbits = n;
}

static err_t read_line(struct reader *r, char *line)
{
    char *value = sdp_skip_spaces(line + 2);

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

static err_t read_lines(struct reader *r, char *p, const char *end)
{
    bool any = false;
    err_t err = NULL;
    size_t size;
    char *line;

    while (!err && (line = sdp_line(&p, end, &size))) {
        line = sdp_skip_spaces(line);
        if (line[0] == '\0' || line[1] != '=')
            continue;
        any = true;
        err = read_line(r, line);
    }
    if (!err && !any)
        err = err_new(ERR_MALFORMED, "not a session description");
    return err;
}

err_t sdp_parse(struct sdp *s, const char *text, size_t size)
{
    struct reader r = { .s = s };
    err_t err;

    *s = (struct sdp){ .name = "", .control = "", .range = "" };
    if (size > SDP_SIZE_MAX)
        return err_new(ERR_TOO_LARGE, "description of %zu bytes", size);
    s->memory = mem_try(size + 1);
    if (!s->memory)
        return err_new(ERR_NO_MEMORY, "description of %zu bytes", size);
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

/* ---- writing: ASCII, CRLF, in the order of [SDP] 5 */

/* Stream names may contain any characters, SDP lines may not: replaces the others. */
static void put_plain(struct wr *w, const char *text)
{
    if (!text[0])
        wr_text(w, "-");
    for (; *text; text++)
        wr_u8(w, *text >= ' ' && *text <= '~' ? (uint8_t)*text : '_');
}

void sdp_put_session(struct wr *w, const struct sdp_session_out *s)
{
    const char *address = s->address ? s->address : "127.0.0.1";
    bool v6 = strchr(address, ':') != NULL;

    wr_printf(w, "v=0\r\no=- %" PRIu64 " %" PRIu64 " IN IP%c %s\r\ns=", s->id, s->version,
              v6 ? '6' : '4', address);
    put_plain(w, s->name);
    wr_printf(w, "\r\nc=IN %s\r\nt=0 0\r\na=control:*\r\n", v6 ? "IP6 ::" : "IP4 0.0.0.0");
    if (s->duration < 0)
        wr_text(w, "a=range:npt=now-\r\n");
    else
        wr_printf(w, "a=range:npt=0-%" PRId64 ".%03d\r\n", s->duration / 1000,
                  (int)(s->duration % 1000));
}

void sdp_put_media(struct wr *w, const struct sdp_media_out *m)
{
    static const char *const kinds[] = { "video", "audio", "application", "data" };

    wr_printf(w, "m=%s 0 RTP/AVP %u\r\n", kinds[m->kind], m->type);
    if (m->kbits > 0)
        wr_printf(w, "b=AS:%u\r\n", m->kbits);
    if (m->name) {
        wr_printf(w, "a=rtpmap:%u %s/%u", m->type, m->name, m->clock);
        if (m->channels > 0)
            wr_printf(w, "/%u", m->channels);
        wr_text(w, "\r\n");
    }
    if (m->fmtp_size > 0) {
        wr_printf(w, "a=fmtp:%u ", m->type);
        wr_bytes(w, m->fmtp, m->fmtp_size);
        wr_text(w, "\r\n");
    }
    if (m->direction)
        wr_printf(w, "a=%s\r\n", m->direction);
    wr_printf(w, "a=control:%s\r\n", m->control);
}
