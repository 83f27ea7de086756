/* SPDX-License-Identifier: MIT */
/* offer.c - the session description of a WebRTC client: lines, sections, and their bounds. */
#include "proto/sdp/offer.h"

#include "base/mem.h"
#include "proto/sdp/offer_lines.h"
#include "proto/sdp/words.h"

#include <stdlib.h>

const char *sdp_ext_uri(enum sdp_ext e)
{
    static const char *const uris[SDP_EXTS] = {
        [SDP_EXT_MID] = "urn:ietf:params:rtp-hdrext:sdes:mid",
        [SDP_EXT_RID] = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id",
        [SDP_EXT_RRID] = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id",
        [SDP_EXT_SEND_TIME] = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time",
        [SDP_EXT_TWCC] =
            "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
        [SDP_EXT_PLAYOUT_DELAY] = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay",
        [SDP_EXT_AUDIO_LEVEL] = "urn:ietf:params:rtp-hdrext:ssrc-audio-level",
        [SDP_EXT_ORIENTATION] = "urn:3gpp:video-orientation",
        [SDP_EXT_DEPENDENCY] =
            "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-"
            "rtp-header-extension",
    };

    return uris[e];
}

static unsigned count_words(const char *p)
{
    unsigned n = 0;

    for (p += strspn(p, " \t"); *p; n++) {
        p += strcspn(p, " \t");
        p += strspn(p, " \t");
    }
    return n;
}

static err_t read_types(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    unsigned n = count_words(p);
    uint32_t type;

    if (n > SDP_TYPES_MAX)
        return err_new(ERR_TOO_MANY, "%u payload types in a section", n);
    if (n == 0)
        return NULL;
    s->types = mem_try(n * sizeof(*s->types));
    if (!s->types)
        return err_new(ERR_NO_MEMORY, "%u payload types", n);
    for (; n > 0; n--) {
        if (!sdp_number(sdp_word(&p), 127, &type) || r->places[type] > 0)
            continue;
        s->types[s->n_types++] = (struct sdp_type){ .type = (uint8_t)type, .name = "",
                                                    .fmtp = "", .apt = -1 };
        r->places[type] = (uint8_t)s->n_types;
    }
    return NULL;
}

/* [SDP] 5.14. What cannot be read cannot be answered in its place, so it is no description. */
static err_t read_media(struct sdp_offer_reader *r, char *p)
{
    struct sdp_offer *o = r->o;
    char *media = sdp_word(&p), *port = sdp_word(&p), *proto = sdp_word(&p);
    struct sdp_section *s;
    uint32_t n;

    if (o->n == SDP_SECTIONS_MAX)
        return err_new(ERR_TOO_MANY, "more than %d sections", SDP_SECTIONS_MAX);
    if (!proto[0] || !sdp_number(port, UINT16_MAX, &n))
        return err_new(ERR_MALFORMED, "m= without port or protocol");
    s = r->section = &o->sections[o->n++];
    *s = r->session;
    s->kind = sdp_kind_of(media);
    s->media = media;
    s->port = n;
    s->proto = proto;
    r->own_fingerprint = false;
    r->ssrc_lines = r->all_feedback = 0;
    memset(r->places, 0, sizeof(r->places));
    return read_types(r, s, p);
}

static err_t read_line(struct sdp_offer_reader *r, char *line)
{
    if (line[0] == 'm' && line[1] == '=')
        return read_media(r, line + 2);
    if (line[0] == 'a' && line[1] == '=')
        return sdp_offer_attribute(r, line + 2);
    return NULL;
}

static err_t read_lines(struct sdp_offer_reader *r, char *p, const char *end)
{
    unsigned lines = 0;
    err_t err = NULL;
    size_t n;
    char *line;

    while (!err && (line = sdp_line(&p, end, &n))) {
        if (n > SDP_LINE_MAX)
            return err_new(ERR_TOO_LARGE, "a line of %zu bytes", n);
        if (++lines > SDP_LINES_MAX)
            return err_new(ERR_TOO_MANY, "over %d lines", SDP_LINES_MAX);
        if (lines == 1 && strncmp(line, "v=", 2) != 0)
            return err_new(ERR_MALFORMED, "it does not begin with v=");
        err = read_line(r, line);
    }
    return err || lines > 0 ? err : err_new(ERR_MALFORMED, "it has no lines");
}

/* RFC 8843: the mids of the group. */
static void read_bundle(struct sdp_offer *o, char *p)
{
    while (*(p = sdp_skip_spaces(p))) {
        const char *mid = sdp_word(&p);

        for (unsigned i = 0; i < o->n; i++)
            o->sections[i].bundled |= strcmp(o->sections[i].mid, mid) == 0;
    }
}

static err_t check_bytes(const char *text, size_t size)
{
    if (size > SDP_OFFER_MAX)
        return err_new(ERR_TOO_LARGE, "a description of %zu bytes", size);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];

        if ((c < ' ' && c != '\t' && c != '\r' && c != '\n') || c == 127)
            return err_new(ERR_MALFORMED, "byte %d in a description", c);
    }
    return NULL;
}

err_t sdp_offer_parse(struct sdp_offer *o, const char *text, size_t size)
{
    struct sdp_offer_reader r = {
        .o = o, .session = { .media = "", .mid = "", .proto = "", .ufrag = "", .pwd = "",
                             .fingerprint = "", .msid = "" } };
    err_t err = check_bytes(text, size);
    char *copy;

    memset(o, 0, sizeof(*o));
    o->first_udp = o->first_tcp = "";
    if (err)
        return err;
    copy = o->memory = mem_try(size + 1);
    if (!copy)
        return err_new(ERR_NO_MEMORY, "a description of %zu bytes", size);
    memcpy(copy, text, size);
    copy[size] = '\0';
    err = read_lines(&r, copy, copy + size);
    if (!err && r.bundle)
        read_bundle(o, r.bundle);
    if (err)
        sdp_offer_free(o);
    return err;
}

void sdp_offer_free(struct sdp_offer *o)
{
    for (unsigned i = 0; i < o->n; i++) {
        free(o->sections[i].types);
        free(o->sections[i].ssrcs);
    }
    free(o->memory);
    memset(o, 0, sizeof(*o));
}
