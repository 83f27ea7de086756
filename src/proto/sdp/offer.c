/* SPDX-License-Identifier: MIT */
/* offer.c - parses the session description of a WebRTC client: lines, sections, and limits. */
#include "proto/sdp/offer.h"

#include "base/mem.h"
#include "proto/sdp/tokens.h"

#include <stdlib.h>

struct sdp_offer_reader {
    struct sdp_offer *o;
    struct sdp_section session;  /* defaults for sections */
    struct sdp_section *section; /* NULL: before the first section */
    bool own_fingerprint;        /* the current section, or the session, has its own fingerprint */
    unsigned ssrc_lines;
    unsigned all_feedback;   /* "a=rtcp-fb:*" of the section */
    uint8_t type_index[128]; /* index of each payload type in the section, plus 1; 0: not in it */
    char *bundle;            /* mids in the first a=group:BUNDLE, or NULL */
};

/* ---- attributes of an offer: one function for each row of the table below */

enum { CLOCK_MAX = 999999999 };

/* ---- attributes of the session and of sections */

static err_t read_ufrag(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    (void)r;
    s->ufrag = sdp_word(&p);
    return NULL;
}

static err_t read_pwd(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    (void)r;
    s->pwd = sdp_word(&p);
    return NULL;
}

static int strength(const char *fingerprint)
{
    static const char *const names[] = { "sha-256 ", "sha-384 ", "sha-512 " };

    for (int i = 0; i < 3; i++) {
        if (strncasecmp(fingerprint, names[i], strlen(names[i])) == 0)
            return i + 1;
    }
    return 0;
}

/* A certificate may have several fingerprints; those of a section replace those of the session. */
static err_t read_fingerprint(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    int n = strength(p);

    if (n > (r->own_fingerprint ? strength(s->fingerprint) : 0)) {
        s->fingerprint = p;
        r->own_fingerprint = true;
    }
    return NULL;
}

static err_t read_setup(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    static const char *const names[] = { [SDP_ACTIVE] = "active", [SDP_PASSIVE] = "passive",
                                         [SDP_ACTPASS] = "actpass", [SDP_HOLDCONN] = "holdconn" };
    const char *name = sdp_word(&p);

    (void)r;
    for (int i = SDP_ACTIVE; i <= SDP_HOLDCONN; i++) {
        if (strcasecmp(names[i], name) == 0)
            s->setup = (enum sdp_setup)i;
    }
    return NULL;
}

/* "3 uri", "3/recvonly uri": RFC 8285, section 5. */
static err_t read_extmap(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    const char *id = sdp_word(&p), *uri = sdp_word(&p);
    uint32_t n;

    (void)r;
    if (!sdp_number(id, 255, &n))
        return NULL;
    for (int e = 0; e < SDP_EXTS; e++) {
        if (strcmp(sdp_ext_uri((enum sdp_ext)e), uri) == 0)
            s->ext[e] = (uint8_t)n;
    }
    return NULL;
}

static err_t read_mixed(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    (void)s;
    (void)p;
    r->o->mixed = true;
    return NULL;
}

/* RFC 8839, section 5.1: foundation, component, transport, priority, address, port. */
static err_t read_candidate(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    const char *transport, *port, **first;
    char *address;
    uint32_t n;
    bool tcp, passive;

    (void)s;
    r->o->candidates++;
    (void)sdp_word(&p);
    (void)sdp_word(&p);
    transport = sdp_word(&p);
    (void)sdp_word(&p);
    address = sdp_word(&p);
    port = sdp_word(&p);
    tcp = strcasecmp(transport, "tcp") == 0;
    passive = strstr(p, "tcptype passive") != NULL;
    first = tcp ? &r->o->first_tcp : &r->o->first_udp;
    if ((*first)[0] || (!tcp && strcasecmp(transport, "udp") != 0) || (tcp && !passive) ||
        !sdp_number(port, UINT16_MAX, &n))
        return NULL;
    memset(address + strlen(address), ' ', (size_t)(port - address) - strlen(address));
    *first = address;
    return NULL;
}

/* ---- attributes of the session */

static err_t read_group(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    const char *name = sdp_word(&p);

    (void)s;
    if (!r->section && !r->bundle && strcmp(name, "BUNDLE") == 0)
        r->bundle = p;
    return NULL;
}

static err_t read_lite(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    (void)s;
    (void)p;
    r->o->lite = true;
    return NULL;
}

/* ---- attributes of sections */

static err_t read_mid(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    (void)r;
    s->mid = sdp_word(&p);
    return NULL;
}

static err_t read_msid(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    (void)r;
    s->msid = p;
    return NULL;
}

static err_t read_mux(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    (void)r;
    (void)p;
    s->rtcp_mux = true;
    return NULL;
}

static err_t read_bundle_only(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    (void)r;
    (void)p;
    s->bundle_only = true;
    return NULL;
}

/* A table lookup instead of a search, because an offer may have thousands of lines. */
static struct sdp_type *type_of(const struct sdp_offer_reader *r, struct sdp_section *s,
                                const char *type)
{
    uint32_t n;

    if (!sdp_number(type, 127, &n) || r->type_index[n] == 0)
        return NULL;
    return &s->types[r->type_index[n] - 1];
}

/* "111 opus/48000/2" */
static err_t read_rtpmap(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    struct sdp_type *t = type_of(r, s, sdp_word(&p));
    uint32_t n;
    char *name;

    if (!t)
        return NULL;
    name = sdp_word(&p);
    t->name = sdp_part(&name, '/');
    if (sdp_number(name, CLOCK_MAX, &n))
        t->clock = n;
    (void)sdp_part(&name, '/');
    if (sdp_number(name, SDP_CHANNELS_MAX, &n))
        t->channels = n;
    return NULL;
}

static err_t read_fmtp(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    struct sdp_type *t = type_of(r, s, sdp_word(&p));
    const char *apt;
    uint32_t n;

    if (!t)
        return NULL;
    t->fmtp = sdp_skip_spaces(p);
    apt = sdp_param(t->fmtp, "apt");
    if (apt && sdp_number(apt, 127, &n))
        t->apt = (int)n;
    return NULL;
}

static unsigned feedback_of(const char *what, const char *more)
{
    if (strcmp(what, "nack") == 0)
        return !more[0] ? SDP_FB_NACK : strcmp(more, "pli") == 0 ? SDP_FB_PLI : 0;
    if (strcmp(what, "ccm") == 0)
        return strcmp(more, "fir") == 0 ? SDP_FB_FIR : 0;
    if (strcmp(what, "transport-cc") == 0)
        return SDP_FB_TWCC;
    if (strcmp(what, "rrtr") == 0)
        return SDP_FB_RRTR;
    return strcmp(what, "goog-remb") == 0 ? SDP_FB_REMB : 0;
}

/* "96 nack pli", "* nack": RFC 4585, section 4.2. */
static err_t read_feedback(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    const char *type = sdp_word(&p), *what = sdp_word(&p), *more = sdp_word(&p);
    unsigned feedback = feedback_of(what, more);
    struct sdp_type *t = type_of(r, s, type);

    if (t)
        t->feedback |= feedback;
    else if (strcmp(type, "*") == 0 && (feedback & ~r->all_feedback) != 0) {
        r->all_feedback |= feedback;
        for (unsigned i = 0; i < s->n_types; i++)
            s->types[i].feedback |= feedback;
    }
    return NULL;
}

/* RFC 5576: each source may have several lines. */
static err_t read_ssrc(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    uint32_t n;

    if (++r->ssrc_lines > SDP_SSRCS_MAX)
        return err_new(ERR_TOO_MANY, "more than %d a=ssrc in a section", SDP_SSRCS_MAX);
    if (!sdp_number(sdp_word(&p), UINT32_MAX, &n))
        return NULL;
    for (unsigned i = 0; i < s->n_ssrcs; i++) {
        if (s->ssrcs[i] == n)
            return NULL;
    }
    if (!s->ssrcs)
        s->ssrcs = mem_try(SDP_SSRCS_MAX * sizeof(*s->ssrcs));
    if (!s->ssrcs)
        return err_new(ERR_NO_MEMORY, "a=ssrc");
    s->ssrcs[s->n_ssrcs++] = n;
    return NULL;
}

/* "FID 1 2": a source, and the source of its retransmissions. */
static err_t read_ssrc_group(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    const char *name = sdp_word(&p), *source = sdp_word(&p), *retransmissions = sdp_word(&p);
    uint32_t n[2];

    (void)r;
    if (strcmp(name, "FID") == 0 && s->rtx[0] == 0 && sdp_number(source, UINT32_MAX, &n[0]) &&
        sdp_number(retransmissions, UINT32_MAX, &n[1]))
        memcpy(s->rtx, n, sizeof(n));
    return NULL;
}

/* "send h;m,x;~l recv 1": RFC 8853. Takes the first of several alternatives; "~" marks a paused
 * one. */
static err_t read_simulcast(struct sdp_offer_reader *r, struct sdp_section *s, char *p)
{
    char *list;

    (void)r;
    while (*(p = sdp_skip_spaces(p)) && strcmp(sdp_word(&p), "send") != 0)
        ;
    list = sdp_word(&p);
    while (*list && s->n_rids < SDP_RIDS_MAX) {
        char *one = sdp_part(&list, ';');
        const char *rid = sdp_part(&one, ',');

        rid += *rid == '~';
        if (*rid)
            s->rids[s->n_rids++] = rid;
    }
    return NULL;
}

static const struct {
    const char *name;
    err_t (*read)(struct sdp_offer_reader *r, struct sdp_section *s, char *p);
    bool of_section; /* only valid in sections */
} rows[] = {
    { "ice-ufrag", read_ufrag, false },
    { "ice-pwd", read_pwd, false },
    { "fingerprint", read_fingerprint, false },
    { "setup", read_setup, false },
    { "extmap", read_extmap, false },
    { "extmap-allow-mixed", read_mixed, false },
    { "candidate", read_candidate, false },
    { "group", read_group, false },
    { "ice-lite", read_lite, false },
    { "mid", read_mid, true },
    { "msid", read_msid, true },
    { "rtcp-mux", read_mux, true },
    { "bundle-only", read_bundle_only, true },
    { "rtpmap", read_rtpmap, true },
    { "fmtp", read_fmtp, true },
    { "rtcp-fb", read_feedback, true },
    { "ssrc", read_ssrc, true },
    { "ssrc-group", read_ssrc_group, true },
    { "simulcast", read_simulcast, true },
};

/* Parses "name:value"; modifies the string. */
static err_t sdp_offer_attribute(struct sdp_offer_reader *r, char *line)
{
    const char *name = sdp_part(&line, ':');
    struct sdp_section *s = r->section ? r->section : &r->session;

    line = sdp_skip_spaces(line);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (sdp_is(name, rows[i].name))
            return rows[i].of_section && !r->section ? NULL : rows[i].read(r, s, line);
    }
    (void)sdp_read_direction(&s->direction, name);
    return NULL;
}

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
            ("https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-"
             "rtp-header-extension"),
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
        if (!sdp_number(sdp_word(&p), 127, &type) || r->type_index[type] > 0)
            continue;
        s->types[s->n_types++] = (struct sdp_type){ .type = (uint8_t)type, .name = "",
                                                    .fmtp = "", .apt = -1 };
        r->type_index[type] = (uint8_t)s->n_types;
    }
    return NULL;
}

/* [SDP] 5.14. A section that cannot be parsed could not be answered in its position, so the
 * description is refused. */
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
    memset(r->type_index, 0, sizeof(r->type_index));
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
            return err_new(ERR_TOO_LARGE, "line of %zu bytes", n);
        if (++lines > SDP_LINES_MAX)
            return err_new(ERR_TOO_MANY, "over %d lines", SDP_LINES_MAX);
        if (lines == 1 && strncmp(line, "v=", 2) != 0)
            return err_new(ERR_MALFORMED, "the description does not begin with v=");
        err = read_line(r, line);
    }
    return err || lines > 0 ? err : err_new(ERR_MALFORMED, "the description has no lines");
}

/* RFC 8843: marks the sections with the group's mids. */
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
        return err_new(ERR_TOO_LARGE, "description of %zu bytes", size);
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
        return err_new(ERR_NO_MEMORY, "description of %zu bytes", size);
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
